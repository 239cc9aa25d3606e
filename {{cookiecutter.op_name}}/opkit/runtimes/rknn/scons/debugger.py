"""env.Debugger(): `scons gdb` and `scons vx-gdb` stop in a kernel, in one case."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from SCons.Action import Action

from opkit.errors import OpkitError
from opkit.runtimes.rknn.scons.vx_kernel import refusal
from opkit.runtimes.rknn.settings import settings


def exists(env: Any) -> bool:
    """Whether the tool can be used: always; a missing gdb is named when it is needed."""
    return True


def generate(env: Any) -> None:
    """Add the method to the environment."""
    env.AddMethod(debugger, "Debugger")


def debugger(env: Any, name: str, needed: list[Any]) -> Any:
    """Return the alias of a gdb command for the case that `case=` names.

    Args:
        env: the environment.
        name: of the alias, and of the kernel, as opkit.runtimes.rknn.debug knows it.
        needed: the nodes of what the kernel runs on.

    Raises:
        OpkitError: no case is named.
    """
    if name == "vx-gdb" and not settings(env["OPERATOR"]).has_vx_kernel:
        return refusal(env, name)
    if not env["case"]:
        raise OpkitError(
            f"{name} stops in one case; name it with case=, as the table of scons check"
        )
    alias = env.Alias(name, needed, Action(_debug, None), KERNEL=name)
    env.AlwaysBuild(alias)
    return alias


def _debug(target: Any, source: Any, env: Any) -> int:
    module = ["-m", "opkit.runtimes.rknn.debug"]
    command = [sys.executable, *module, env["KERNEL"], env["case"], *(["run"] * env["run"])]
    return subprocess.run(command, check=False).returncode
