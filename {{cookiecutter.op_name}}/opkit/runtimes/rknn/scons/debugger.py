"""env.Debugger(): `scons gdb` and `scons vx-gdb` stop in a kernel, in one case."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from SCons.Action import Action
from SCons.Variables import BoolVariable

from opkit.build.options import Request
from opkit.description.spec import OpSpec
from opkit.errors import OpkitError
from opkit.runtimes.rknn.kernels import require_vx_kernel
from opkit.runtimes.rknn.settings import settings

COMMANDS = ("gdb", "vx-gdb")


def options(variables: Any, operator: OpSpec) -> None:
    """Add which case to stop in."""
    variables.AddVariables(
        ("case", "with gdb, vx-gdb: the case to stop in, by its name in the table of check", ""),
        BoolVariable("run", "with gdb, vx-gdb: start gdb instead of printing its command", False),
    )


def usage(operator: OpSpec) -> Sequence[tuple[str, str]]:
    """Return the commands."""
    lines = [
        (
            "scons gdb case=NAME",
            "print the gdb command that stops in the CPU kernel; run=1: start it",
        )
    ]
    if settings(operator).has_vx_kernel:
        lines.append(("scons vx-gdb case=NAME", "... that stops in the VX kernel"))
    return lines


def check(env: Any, request: Request) -> None:
    """Refuse to debug without a case.

    Raises:
        OpkitError: none is named, or the operator has no VX kernel to stop in.
    """
    for name in COMMANDS:
        if name in request.commands:
            if name == "vx-gdb":
                require_vx_kernel(env["OPERATOR"], f"scons {name}")
            if not env["case"]:
                raise OpkitError(
                    f"{name} stops in one case; name it with case=, as the table of scons check"
                )


def exists(env: Any) -> bool:
    """Whether the tool can be used: always; a missing gdb is named when it is needed."""
    return True


def generate(env: Any) -> None:
    """Add the method to the environment."""
    env.AddMethod(debugger, "Debugger")


def debugger(env: Any, request: Request, needed: Sequence[Any]) -> None:
    """Declare the aliases of the requested gdb commands.

    Args:
        env: the environment.
        request: what the command line requests.
        needed: the nodes of what the VX kernel's initializer runs on.
    """
    for name in COMMANDS:
        if name in request.commands:
            nodes = [env.DebuggedHarness()] if name == "gdb" else needed
            env.AlwaysBuild(env.Alias(name, nodes, Action(_debug, None), KERNEL=name))


def _debug(target: Any, source: Any, env: Any) -> int:
    module = ["-m", "opkit.runtimes.rknn.debug"]
    command = [sys.executable, *module, env["KERNEL"], env["case"], *(["run"] * env["run"])]
    return subprocess.run(command, check=False).returncode
