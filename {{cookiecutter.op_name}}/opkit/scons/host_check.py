"""env.HostRuntime() and env.HostCheck(): what `scons check` builds and runs on the PC."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

from SCons.Action import Action

HOST_ABI = "x64"


def exists(env: Any) -> bool:
    """Whether the tool can be used: always."""
    return True


def generate(env: Any) -> None:
    """Add the methods to the environment."""
    env.AddMethod(host_runtime, "HostRuntime")
    env.AddMethod(host_check, "HostCheck")


def host_runtime(env: Any) -> Any:
    """Return the node of `build/host/libOpenVX.so`, which plays the board on the PC."""
    host_env = env.CompilerFor(HOST_ABI)
    host_env.Replace(CCFLAGS="-std=c11 -O2 -g -fno-omit-frame-pointer", LINKFLAGS="")
    return host_env.Command(
        "build/host/libOpenVX.so",
        [
            host_env.SharedObject(f"build/host/{source.name[:-2]}.o", source)
            for source in env.Glob("opkit/hostrt/*.c")
        ],
        Action("$SHAREDCOM", "$SHAREDCOMSTR"),
        LIBRARIES=["-Wl,-soname,libOpenVX.so"],
    )


def host_check(env: Any, needed: list[Any]) -> Any:
    """Return the alias `check`: every case of tests/, with what was just built."""
    check = env.Alias("check", needed, Action(_run_cases, "check tests/"))
    env.AlwaysBuild(check)
    return check


def _run_cases(target: Any, source: Any, env: Any) -> int:
    built = {**os.environ, "OPKIT_BUILT": "1"}
    return subprocess.run([sys.executable, "-m", "pytest", "-q"], env=built).returncode
