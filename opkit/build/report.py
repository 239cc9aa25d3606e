"""`scons report`: runs the check, and writes a page of its results."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from SCons.Action import Action

from opkit.build.host_check import Check, run_cases

PAGE = Path("build/report.html")
RECORDS = Path("build/results")


USAGE = (("scons report", "run the check and write build/report.html, a page of its results"),)


def report_alias(env: Any, needed: Sequence[Any], check: Check) -> Any:
    """Return the alias `report`, and `check` with it: the cases, and a page of their results.

    Args:
        env: the environment.
        needed: the nodes of what the cases use on this PC.
        check: where else they run.
    """

    def run(target: Any, source: Any, env: Any) -> int:
        return _report(env, check)

    nodes = [*needed, *(program.node for program in check.programs)]
    alias = env.Alias("report", nodes, Action(run, f"write {PAGE}"))
    env.AlwaysBuild(alias)
    env.Alias("check", alias)
    return alias


def _report(env: Any, check: Check) -> int:
    """Run the cases and write the page, also if a case fails; return the status of the check."""
    # Only the report waits for numpy to be imported.
    from opkit.report.writer import write

    shutil.rmtree(RECORDS, ignore_errors=True)
    status = run_cases(env, check, RECORDS)
    print(write(Path(), env["OPERATOR"], RECORDS, status != 0, PAGE))
    return status
