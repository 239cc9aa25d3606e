"""report(env): what `scons report` runs and writes."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from SCons.Action import Action

from opkit.build.host_check import host_check, run_cases
from opkit.build.options import Request
from opkit.runtimes.interface import Runtime

PAGE = Path("build/report.html")
RECORDS = Path("build/results")


USAGE = (("scons report", "run the check and write build/report.html, a page of its results"),)


def report(env: Any, needed: Sequence[Any], runtimes: Sequence[Runtime], request: Request) -> Any:
    """Return the alias `report`: the check, and a page of its results; see host_check."""
    action = Action(_report, f"write {PAGE}")
    alias = host_check(env, needed, runtimes, request, "report", action)
    env.Alias("check", alias)
    return alias


def _report(target: Any, source: Any, env: Any) -> int:
    """Run the cases and write the page, also if a case fails.

    Returns:
        The status of the check.
    """
    # Only the report waits for numpy to be imported.
    from opkit.report.writer import write

    shutil.rmtree(RECORDS, ignore_errors=True)
    status = run_cases(target, source, env, RECORDS)
    print(write(Path(), env["OPERATOR"], RECORDS, status != 0, PAGE))
    return status
