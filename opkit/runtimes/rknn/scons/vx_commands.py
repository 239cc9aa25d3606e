"""The commands for the VX kernel: `scons vx` compiles it for this PC, `scons vx-gdb` debugs it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from SCons.Action import Action

from opkit.build.debugger import debug_alias, require_case
from opkit.build.options import Request, print_errors
from opkit.description.spec import OpSpec
from opkit.runtimes.rknn.kernel_skeletons import vx_file
from opkit.runtimes.rknn.settings import has_vx_kernel
from opkit.runtimes.rknn.vx_requirements import require_vx_kernel

_DEBUG = "vx-gdb"


def usage(operator: OpSpec) -> Sequence[tuple[str, str]]:
    """Return the commands; none for an operator without a VX kernel."""
    if not has_vx_kernel(operator):
        return ()
    return (
        ("scons vx", "compile the VX kernel for this PC and print errors and warnings"),
        (
            f"scons {_DEBUG} case=NAME",
            "print the gdb command that stops in the VX kernel; run=1: start it",
        ),
    )


def check(env: Any, request: Request) -> None:
    """Refuse the commands without a VX kernel, and the debugger without a case.

    Raises:
        OpkitError: the operator has no VX kernel, or no case is named.
    """
    for command in ("vx", _DEBUG):
        if command in request.commands:
            require_vx_kernel(env["OPERATOR"], f"scons {command}")
    require_case(env, request, _DEBUG)


def vx_kernel(env: Any) -> Any:
    """Return the alias `vx`, which prints the compiler's diagnostics for the .vx file."""
    source = vx_file(env["OPERATOR"])
    alias = env.Alias("vx", source, Action(print_errors(_compile), f"compile {source}"))
    env.AlwaysBuild(alias)
    return alias


def _compile(target: Any, source: Any, env: Any) -> None:
    from opkit.runtimes.rknn.vx.drift import unpublished
    from opkit.runtimes.rknn.vx.emulated_kernel import compiled

    spec = env["OPERATOR"]
    program = compiled(Path(), spec, kernels=(spec.lower,))
    text = program.source.read_text(encoding="utf-8", errors="replace")
    for message in (program.diagnostics, *unpublished(text, str(program.source))):
        if message:
            print(message, file=sys.stderr)


def vx_debugger(env: Any, request: Request, needed: Sequence[Any]) -> None:
    """Declare the alias `vx-gdb`, if it is requested.

    Args:
        env: the environment.
        request: what the command line requests.
        needed: the nodes that the VX kernel's initializer needs.
    """
    if _DEBUG in request.commands:
        debug_alias(env, _DEBUG, needed, "opkit.runtimes.rknn.vx.gdb")
