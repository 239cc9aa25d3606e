"""vx_kernel(env): `scons vx` compiles the VX kernel for this PC."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from SCons.Action import Action

from opkit.build.options import Request, print_errors
from opkit.description.spec import OpSpec
from opkit.runtimes.rknn.kernel_skeletons import vx_file
from opkit.runtimes.rknn.settings import settings
from opkit.runtimes.rknn.vx_requirements import require_vx_kernel


def usage(operator: OpSpec) -> Sequence[tuple[str, str]]:
    """Return the command; none for an operator without a VX kernel."""
    if not settings(operator).has_vx_kernel:
        return ()
    return (("scons vx", "compile the VX kernel for this PC and print errors and warnings"),)


def check(env: Any, request: Request) -> None:
    """Refuse to compile a missing VX kernel.

    Raises:
        OpkitError: the operator has no VX kernel.
    """
    if "vx" in request.commands:
        require_vx_kernel(env["OPERATOR"], "scons vx")


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
