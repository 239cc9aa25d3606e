"""vx_debugger(env): `scons vx-gdb` stops in the VX kernel at one case."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opkit.build.debugger import debug_alias, require_case
from opkit.build.options import Request
from opkit.description.spec import OpSpec
from opkit.runtimes.rknn.settings import settings
from opkit.runtimes.rknn.vx_requirements import require_vx_kernel

COMMAND = "vx-gdb"


def usage(operator: OpSpec) -> Sequence[tuple[str, str]]:
    """Return the command; none for an operator without a VX kernel."""
    if not settings(operator).has_vx_kernel:
        return ()
    text = "print the gdb command that stops in the VX kernel; run=1: start it"
    return ((f"scons {COMMAND} case=NAME", text),)


def check(env: Any, request: Request) -> None:
    """Refuse to debug without a case.

    Raises:
        OpkitError: no case is named, or the operator has no VX kernel.
    """
    if COMMAND in request.commands:
        require_vx_kernel(env["OPERATOR"], f"scons {COMMAND}")
    require_case(env, request, COMMAND)


def vx_debugger(env: Any, request: Request, needed: Sequence[Any]) -> None:
    """Declare the alias `vx-gdb`, if it is requested.

    Args:
        env: the environment.
        request: what the command line requests.
        needed: the nodes that the VX kernel's initializer needs.
    """
    if COMMAND in request.commands:
        debug_alias(env, COMMAND, needed, "opkit.runtimes.rknn.vx.gdb")
