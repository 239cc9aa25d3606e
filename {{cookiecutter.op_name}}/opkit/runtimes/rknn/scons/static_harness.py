"""env.TargetHarness(abi) and its like: programs that run the cases elsewhere, or for gdb.

Each is the kernel, the host runtime and the harness in one, in a folder of its own below
`build/check/`; nothing of it is ever packed.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from SCons.Action import Action

from opkit.build.harness import GUARDED_MALLOC, GUARDED_MEMORY, SOURCES
from opkit.check.sanitizers import FLAGS
from opkit.errors import OpkitError
from opkit.runtimes.rknn.scons.host import GUARDED
from opkit.toolchains.abi import ABIS
from opkit.toolchains.compiler import beside
from opkit.toolchains.warnings import C_ERRORS

FOLDER = "build/check"
COMPILE = "-O2 -g0 -DHARNESS_STATIC".split()
# The lines in a report are those of the source only where little is optimized.
SANITIZED = "-O1 -g -fno-omit-frame-pointer -fno-sanitize-recover=all -DHARNESS_STATIC".split()
# Unoptimized, every line can hold a breakpoint, and every variable can be printed.
DEBUGGED = "-O0 -g -fno-omit-frame-pointer -DHARNESS_STATIC".split()


def exists(env: Any) -> bool:
    """Whether the tool can be used: always; a missing compiler is named when it is needed."""
    return True


def generate(env: Any) -> None:
    """Add the methods to the environment."""
    env.AddMethod(target_harness, "TargetHarness")
    env.AddMethod(sanitized_harness, "SanitizedHarness")
    env.AddMethod(debugged_harness, "DebuggedHarness")


def target_harness(env: Any, abi_name: str) -> Any:
    """Return the node of `build/check/<abi>/harness`, a static program for the ABI.

    The kernel in it is compiled as in the device library. zig has no static glibc, so that the
    libc, and with it functions like expf, is musl's there.
    """
    abi = ABIS[abi_name]
    abi_env = env.CompilerFor(abi_name)
    glibc, musl = f"{abi.triple}.{abi.glibc_ceiling}", abi.triple.replace("gnu", "musl")
    for compiler in ("CC", "CXX"):
        abi_env[compiler] = [musl if part == glibc else part for part in abi_env[compiler]]
    abi_env.Replace(
        CCFLAGS=[*abi_env["CCFLAGS"], *COMPILE], LINKFLAGS=[*abi_env["LINKFLAGS"], "-static"]
    )
    return _harness(abi_env, abi_name, GUARDED_MALLOC)


def sanitized_harness(env: Any, names: list[str]) -> Any:
    """Return the node of `build/check/<names>/harness`, a program for this PC with sanitizers.

    Raises:
        OpkitError: there is neither gcc nor clang; zig comes without the sanitizers' libraries.
    """
    compiler = shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        raise OpkitError(
            f"sanitize={','.join(names)} needs gcc or clang, and neither is on PATH; "
            "install one with sudo apt install gcc"
        )
    print(f"sanitize={','.join(names)}: compiled with {compiler}")
    flags = [flag for name in names for flag in FLAGS[name]]
    pc_env = env.CompilerFor("x64")
    pc_env.Replace(CC=[compiler], CXX=[beside(compiler)], C_ERRORS=C_ERRORS)
    pc_env.Replace(CCFLAGS=[*SANITIZED, *flags], LINKFLAGS=flags)
    # AddressSanitizer has guards of its own, which know where memory was allocated.
    malloc = [] if "address" in names else GUARDED_MALLOC
    return _harness(pc_env, ",".join(names), malloc)


def debugged_harness(env: Any) -> Any:
    """Return the node of `build/check/gdb/harness`, a program for this PC and gdb."""
    pc_env = env.CompilerFor("x64")
    # zig leaves debug information out once it has been told to, whatever comes later.
    flags, link_flags = (
        [flag for flag in pc_env[name] if flag not in ("-g0", "-s")]
        for name in ("CCFLAGS", "LINKFLAGS")
    )
    pc_env.Replace(CCFLAGS=[*flags, *DEBUGGED], LINKFLAGS=link_flags)
    return _harness(pc_env, "gdb", GUARDED_MALLOC)


def _harness(env: Any, name: str, malloc: list[str]) -> Any:
    operator = env["OPERATOR"]
    folder = f"{FOLDER}/{name}"

    def object_of(source: str, prefix: str = "", **settings: Any) -> Any:
        return env.SharedObject(f"{folder}/{prefix}{Path(source).stem}.o", source, **settings)

    def objects_of(pattern: str, prefix: str, **settings: Any) -> list[Any]:
        return [object_of(file.path, prefix, **settings) for file in env.Glob(pattern)]

    return env.Command(
        f"{folder}/harness",
        [
            *env.KernelObjects(folder, CCFLAGS=[*GUARDED, *malloc]),
            *objects_of(
                SOURCES,
                "harness-",
                CPPDEFINES={"HARNESS_ENTRY": f"vx_kernel_{operator.name}_list"},
            ),
            *objects_of(GUARDED_MEMORY, ""),
            *objects_of("opkit/runtimes/rknn/host_runtime/*.c", ""),
        ],
        Action("$CC $LINKFLAGS -o $TARGET $SOURCES -lm", "$SHAREDCOMSTR"),
    )
