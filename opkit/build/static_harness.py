"""Static programs that run the cases for a target, with sanitizers, or in gdb.

Each contains the kernel, a runtime's part of the harness and the harness, in its own folder in
`build/check/`. None of them is delivered.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from SCons.Action import Action

from opkit.build.compiler import compiler_for, words
from opkit.build.harness import GUARDED_MALLOC, GUARDED_MEMORY, SOURCES
from opkit.build.libraries import checked_loops
from opkit.build.machinery import INCLUDES
from opkit.build.user_cache import user_cache
from opkit.check.sanitizers import FLAGS
from opkit.errors import OpkitError
from opkit.toolchains.abi import ABIS
from opkit.toolchains.compiler import beside
from opkit.toolchains.warnings import C_ERRORS

FOLDER = "build/check"
SANITIZERS_TOOLCHAIN = "gcc or clang"
COMPILE = "-O2 -g0 -DHARNESS_STATIC".split()
# With more optimization, the lines in a report differ from the source.
SANITIZED = "-O1 -g -fno-omit-frame-pointer -fno-sanitize-recover=all -DHARNESS_STATIC".split()
# Without optimization, every line takes a breakpoint, and every variable can be printed.
DEBUGGED = "-O0 -g -fno-omit-frame-pointer -DHARNESS_STATIC".split()


@dataclass(frozen=True)
class Parts:
    """A runtime's part of the static harness, and its kernel.

    Attributes:
        prefix: the prefix of the names of its folders, except for gdb's.
        entry: the symbol by which the runtime finds the kernel.
        kernel: (environment, folder, additional flags) -> the nodes of the kernel's objects.
        sources: the patterns of the sources of the runtime's part.
        includes: additional folders of headers for these sources.
        cxx: whether the kernel has C++ even if op.yml lists no C++ source.
    """

    prefix: str
    entry: str
    kernel: Callable[[Any, str, list[str]], list[Any]]
    sources: Sequence[str]
    includes: Sequence[str] = ()
    cxx: bool = False


def target_harness(env: Any, abi_name: str, parts: Parts) -> Any:
    """Return the node of a static program for an ABI.

    Its kernel is compiled as for the device. zig has no static glibc, so the program has the libc
    of musl, and its functions such as expf.
    """
    abi = ABIS[abi_name]
    abi_env = compiler_for(env, abi_name, parts.cxx)
    glibc, musl = f"{abi.triple}.{abi.glibc_ceiling}", abi.triple.replace("gnu", "musl")
    for compiler in ("CC", "CXX"):
        abi_env[compiler] = [musl if word == glibc else word for word in abi_env[compiler]]
    abi_env.Replace(
        CCFLAGS=[*abi_env["CCFLAGS"], *COMPILE], LINKFLAGS=[*abi_env["LINKFLAGS"], "-static"]
    )
    return _harness(abi_env, f"{parts.prefix}{abi_name}", parts, GUARDED_MALLOC)


def sanitized_harness(env: Any, names: Sequence[str], parts: Parts) -> Any:
    """Return the node of a program for this PC with sanitizers.

    Raises:
        OpkitError: neither gcc nor clang is on PATH; zig has no libraries of sanitizers.
    """
    compiler = shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        raise OpkitError(
            f"sanitize={','.join(names)} requires gcc or clang, but neither is on PATH; "
            "install gcc with sudo apt install gcc"
        )
    print(f"sanitize={','.join(names)}: compiled with {compiler}")
    if "thread" in names and not env["OPERATOR"].has_threads:
        print("note: sanitize=thread: op.yml has no `threads`, so opkit_parallel_for is serial")
    flags = [flag for name in names for flag in FLAGS[name]]
    pc_env = compiler_for(env, "x64", parts.cxx)
    pc_env.Replace(CC=words([compiler]), CXX=words([beside(compiler)]), C_ERRORS=C_ERRORS)
    pc_env.Replace(TOOLCHAIN=SANITIZERS_TOOLCHAIN, CPPDEFINES={})
    pc_env.Replace(CCFLAGS=[*SANITIZED, *flags], LINKFLAGS=flags)
    # AddressSanitizer has its own guards, which report the line of the allocation.
    malloc = [] if "address" in names else GUARDED_MALLOC
    flags_of_kernel = [*malloc, *checked_loops(env)]
    return _harness(pc_env, f"{parts.prefix}{','.join(names)}", parts, flags_of_kernel)


def debugged_harness(env: Any, parts: Parts) -> Any:
    """Return the node of `build/check/gdb/harness`, a program for this PC and gdb."""
    pc_env = compiler_for(env, "x64", parts.cxx)
    # After -g0 or -s, zig ignores a later -g.
    flags, link_flags = (
        [flag for flag in pc_env[name] if flag not in ("-g0", "-s")]
        for name in ("CCFLAGS", "LINKFLAGS")
    )
    pc_env.Replace(CCFLAGS=[*flags, *DEBUGGED], LINKFLAGS=link_flags)
    return _harness(pc_env, "gdb", parts, [*GUARDED_MALLOC, *checked_loops(env)])


def _harness(env: Any, name: str, parts: Parts, flags: list[str]) -> Any:
    folder = f"{FOLDER}/{name}"
    env_of_main = env.Clone(CPPPATH=[*INCLUDES, *parts.includes])
    own_env = user_cache(env_of_main, by_content=env["TOOLCHAIN"] == SANITIZERS_TOOLCHAIN)
    env_of_main.Append(CPPDEFINES={"HARNESS_ENTRY": parts.entry})

    def objects_of(pattern: str, prefix: str = "") -> list[Any]:
        return [
            (env_of_main if file.name == "main.c" else own_env).SharedObject(
                f"{folder}/{prefix}{Path(file.path).stem}.o", file
            )
            for file in env.Glob(pattern)
        ]

    return env.Command(
        f"{folder}/harness",
        [
            *parts.kernel(env, folder, flags),
            *objects_of(SOURCES, "harness-"),
            *(node for pattern in (GUARDED_MEMORY, *parts.sources) for node in objects_of(pattern)),
        ],
        Action("$CC $LINKFLAGS -o $TARGET $SOURCES -lm -lpthread", "$SHAREDCOMSTR"),
    )
