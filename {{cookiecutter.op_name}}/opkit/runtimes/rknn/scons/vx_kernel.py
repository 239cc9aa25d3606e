"""env.VxKernel(): `scons vx` compiles the VX kernel for this PC."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from SCons.Action import Action

from opkit.build.reporting import reported


def exists(env: Any) -> bool:
    """Whether the tool can be used: always; a missing compiler is named when it is needed."""
    return True


def generate(env: Any) -> None:
    """Add the method to the environment."""
    env.AddMethod(vx_kernel, "VxKernel")


def vx_kernel(env: Any) -> Any:
    """Return the alias `vx`: what the compiler says of the .vx file, with the file's own lines."""
    source = f"rknn_kernel_{env['OPERATOR'].lower}.vx"
    alias = env.Alias("vx", source, Action(reported(_compile), f"compile {source}"))
    env.AlwaysBuild(alias)
    return alias


def _compile(target: Any, source: Any, env: Any) -> None:
    from opkit.runtimes.rknn.vx.kernel import compiled

    program = compiled(Path(), env["OPERATOR"])
    if program.diagnostics:
        print(program.diagnostics, file=sys.stderr)
