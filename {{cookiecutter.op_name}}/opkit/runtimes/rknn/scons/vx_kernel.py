"""env.VxKernel(): `scons vx` compiles the VX kernel for this PC, `scons vx-gdb` debugs it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from SCons.Action import Action

from opkit.build.reporting import reported
from opkit.errors import OpkitError
from opkit.runtimes.rknn.kernels import require_vx_kernel
from opkit.runtimes.rknn.skeletons import vx_file


def exists(env: Any) -> bool:
    """Whether the tool can be used: always; a missing compiler is named when it is needed."""
    return True


def generate(env: Any) -> None:
    """Add the methods to the environment."""
    env.AddMethod(vx_kernel, "VxKernel")
    env.AddMethod(vx_debugger, "VxDebugger")


def vx_kernel(env: Any) -> Any:
    """Return the alias `vx`: what the compiler says of the .vx file, with the file's own lines."""
    if not env["OPERATOR"].has_vx_kernel:
        return _refusal(env, "vx")
    source = vx_file(env["OPERATOR"])
    alias = env.Alias("vx", source, Action(reported(_compile), f"compile {source}"))
    env.AlwaysBuild(alias)
    return alias


def vx_debugger(env: Any, needed: list[Any]) -> Any:
    """Return the alias `vx-gdb`: the gdb command for the case that `case=` names.

    Args:
        env: the environment.
        needed: the nodes of what the initializer runs on.

    Raises:
        OpkitError: no case is named.
    """
    if not env["OPERATOR"].has_vx_kernel:
        return _refusal(env, "vx-gdb")
    if not env["case"]:
        raise OpkitError(
            "vx-gdb stops in one case; name it with case=, as the table of scons check"
        )
    alias = env.Alias("vx-gdb", needed, Action(_debug, None))
    env.AlwaysBuild(alias)
    return alias


def _refusal(env: Any, name: str) -> Any:
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


def _debug(target: Any, source: Any, env: Any) -> int:
    command = [
        sys.executable,
        "-m",
        "opkit.runtimes.rknn.debug",
        env["case"],
        *(["run"] * env["run"]),
    ]
    return subprocess.run(command, check=False).returncode
