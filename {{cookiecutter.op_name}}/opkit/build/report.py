"""env.Report(): what `scons report` runs and writes."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from SCons.Action import Action

from opkit.build.host_check import run_cases

PAGE = Path("build/report.html")
RECORDS = Path("build/results")


def exists(env: Any) -> bool:
    """Whether the tool can be used: always."""
    return True


def generate(env: Any) -> None:
    """Add the method to the environment."""
    env.AddMethod(report, "Report")


def report(env: Any, needed: list[Any], abis: list[str], sanitizers: list[str]) -> Any:
    """Return the alias `report`: the check, and a page of what came of it.

    Args:
        env: the environment.
        needed: the nodes of what the cases use on this PC.
        abis: on which instruction sets they run as well.
        sanitizers: with which sanitizers they run as well.
    """
    return env.HostCheck(needed, abis, sanitizers, "report", Action(_report, f"write {PAGE}"))


def _report(target: Any, source: Any, env: Any) -> int:
    """Run the cases and write the page, which a failing case does not prevent.

    Returns:
        The status of the check.
    """
    # Only the report waits for numpy to be imported.
    from opkit.report.writer import write

    shutil.rmtree(RECORDS, ignore_errors=True)
    status = run_cases(target, source, env, RECORDS)
    print(write(Path(), env["OPERATOR"], RECORDS, status != 0, PAGE))
    return status
