"""debugger(env): `scons gdb` stops in the math in C at one case."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from SCons.Action import Action
from SCons.Variables import BoolVariable

from opkit.build.harness import debugged_harness
from opkit.build.options import Request
from opkit.common.errors import OpkitError
from opkit.description.spec import OpSpec
from opkit.runtimes.interface import Runtime

COMMAND = "gdb"

USAGE = (
    ("scons gdb case=NAME", "print the gdb command that stops in the math in C; run=1: start it"),
)


def options(variables: Any, operator: OpSpec) -> None:
    """Add the options that select the case and start gdb."""
    variables.AddVariables(
        ("case", "with check and gdb: the name of the only case; verbose=1 check prints all", ""),
        BoolVariable("run", "with gdb: start gdb instead of printing its command", False),
    )


def check(env: Any, request: Request) -> None:
    """Refuse to debug without a case.

    Raises:
        OpkitError: `case=` is missing.
    """
    require_case(env, request, COMMAND)


def require_case(env: Any, request: Request, command: str) -> None:
    """Refuse a requested debugger command without a case.

    Raises:
        OpkitError: `case=` is missing.
    """
    if command in request.commands and not env["case"]:
        raise OpkitError(
            f"{command} stops in one case; pass its name with case=; "
            "scons verbose=1 check prints the names"
        )


def debugger(env: Any, runtimes: Iterable[Runtime]) -> None:
    """Declare the alias `gdb`, which debugs the math as called by the first runtime.

    Raises:
        OpkitError: the first runtime has no program for gdb.
    """
    first, *_ = runtimes
    parts = first.build.harness_parts(env)
    if parts is None:
        raise OpkitError(
            f"{COMMAND}: not available for {first.describe.title}, the first of op.yml's runtimes"
        )
    debug_alias(env, COMMAND, [debugged_harness(env, parts)], "opkit.check.debug")


def debug_alias(env: Any, command: str, needed: Sequence[Any], module: str) -> None:
    """Declare an alias that runs a debugger module with the name of the case.

    Args:
        env: the environment.
        command: the alias.
        needed: the nodes of the libraries and programs that run the kernel.
        module: see opkit.check.debug.main.
    """
    alias = env.Alias(command, needed, Action(_debug, None), DEBUG_MODULE=module)
    env.AlwaysBuild(alias)


def _debug(target: Any, source: Any, env: Any) -> int:
    command = [sys.executable, "-m", env["DEBUG_MODULE"], env["case"], *(["run"] * env["run"])]
    return subprocess.run(command, check=False).returncode
