"""env.VxKernel(): `scons vx` compiles the VX kernel for this PC."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from SCons.Action import Action

from opkit.build.reporting import reported
from opkit.runtimes.rknn.kernels import require_vx_kernel
from opkit.runtimes.rknn.settings import settings
from opkit.runtimes.rknn.skeletons import vx_file


def exists(env: Any) -> bool:
    """Whether the tool can be used: always; a missing compiler is named when it is needed."""
    return True


def generate(env: Any) -> None:
    """Add the method to the environment."""
    env.AddMethod(vx_kernel, "VxKernel")


def vx_kernel(env: Any) -> Any:
    """Return the alias `vx`: what the compiler says of the .vx file, with the file's own lines."""
    if not settings(env["OPERATOR"]).has_vx_kernel:
        return refusal(env, "vx")
    source = vx_file(env["OPERATOR"])
    alias = env.Alias("vx", source, Action(reported(_compile), f"compile {source}"))
    env.AlwaysBuild(alias)
    return alias


def refusal(env: Any, name: str) -> Any:
    """Return an alias that fails with a sentence, because the operator has no VX kernel."""

    def refuse(target: Any, source: Any, env: Any) -> None:
        require_vx_kernel(env["OPERATOR"], f"scons {name}")

    alias = env.Alias(name, [], Action(reported(refuse), None))
    env.AlwaysBuild(alias)
    return alias


def _compile(target: Any, source: Any, env: Any) -> None:
    from opkit.runtimes.rknn.vx.kernel import compiled

    program = compiled(Path(), env["OPERATOR"])
    if program.diagnostics:
        print(program.diagnostics, file=sys.stderr)
