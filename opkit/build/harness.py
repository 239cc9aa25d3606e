"""The programs that run kernels.

harness() runs the kernels of this PC, in `build/host/`; runtime_library() links a runtime's part of
it. Static programs run the cases for a target, with sanitizers, or in gdb; vendor_harness() calls a
kernel by a vendor's own runtime, so it is linked with glibc like any application on a device. Each
of these contains a runtime's part of the harness, in its own folder in `build/check/`. None of them
is delivered.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from SCons.Action import Action

from opkit.build.compile_environment import compiler_for, words
from opkit.build.libraries import checked_loops
from opkit.build.machinery import FOLDER, INCLUDES
from opkit.build.user_cache import user_cache
from opkit.check.sanitizers import FLAGS
from opkit.common.errors import OpkitError
from opkit.toolchains.abi import ABIS
from opkit.toolchains.compiler import beside
from opkit.toolchains.flags import C_ERRORS

SOURCES = f"{FOLDER}/check/harness/*.c"
GUARDED_MEMORY = f"{FOLDER}/check/harness/memory/*.c"
GUARDED_MALLOC = ["-include", f"{FOLDER}/check/harness/memory/guarded_malloc.h"]
# Every call of a kernel gets new memory for its tensors, instead of that of the last call.
GUARDED = ["-DOPKIT_GUARDED"]
PROGRAM = "build/host/harness"
COMPILE = "-O2 -g -fno-sanitize=undefined".split()
# By default zig checks for undefined behavior, and compiles a library for it.
RUNTIME_COMPILE = "-O2 -g -fPIC -fno-omit-frame-pointer -fno-sanitize=undefined".split()
RUNTIME_LINK = "-fno-sanitize=undefined -Wl,-z,defs".split()

CHECK_FOLDER = "build/check"
SANITIZERS_TOOLCHAIN = "gcc or clang"
STATIC_COMPILE = "-O2 -g0 -DHARNESS_STATIC".split()
# With more optimization, the lines in a report differ from the source.
SANITIZED = "-O1 -g -fno-omit-frame-pointer -fno-sanitize-recover=all -DHARNESS_STATIC".split()
# Without optimization, every line takes a breakpoint, and every variable can be printed.
DEBUGGED = "-O0 -g -fno-omit-frame-pointer -DHARNESS_STATIC".split()
_VENDOR_COMPILE = ["-O2", "-g0"]


def harness(env: Any) -> Any:
    """Return the node of the harness, which loads a runtime's library and a kernel's."""
    env.SetDefault(HARNESS=[])  # declared once, for all runtimes
    if not env["HARNESS"]:
        env["HARNESS"] += linked(
            env,
            "$PROGRAMCOM",
            target=PROGRAM,
            sources=[SOURCES],
            objects=f"{PROGRAM}-",
            CCFLAGS=COMPILE,
            LINKFLAGS=["-fno-sanitize=undefined"],
            LIBRARIES=["-ldl"],
        )
    return env["HARNESS"]


def runtime_library(env: Any, target: str, sources: str, includes: Sequence[str] = ()) -> Any:
    """Return the node of a runtime's part of the harness, with guarded memory.

    Args:
        env: the environment.
        target: the library; its file name is its soname, which kernels link to.
        sources: the pattern of its C sources.
        includes: additional folders of headers: the vendor's interface.
    """
    folder, _, name = target.rpartition("/")
    return linked(
        env,
        "$SHAREDCOM",
        target=target,
        sources=[sources, GUARDED_MEMORY],
        objects=f"{folder}/",
        CPPPATH=[*INCLUDES, *includes],
        CCFLAGS=RUNTIME_COMPILE,
        LINKFLAGS=RUNTIME_LINK,
        LIBRARIES=[f"-Wl,-soname,{name}", "-lpthread", "-ldl"],
    )


def linked(
    env: Any,
    command: str,
    *,
    target: str,
    sources: Sequence[str],
    objects: str,
    **variables: list[str],
) -> Any:
    """Return the node of a program or a library for this PC, the same for all operators.

    Args:
        env: the environment.
        command: the link command: `$PROGRAMCOM` or `$SHAREDCOM`.
        target: the file.
        sources: the patterns of its C sources.
        objects: the prefix of the paths of the object files.
        **variables: the construction variables that differ from those of a device library.
    """
    link_env = compiler_for(env, "x64")
    link_env.Replace(**{"CPPPATH": INCLUDES, **variables})
    link_env = user_cache(link_env)
    return link_env.Command(
        target,
        [
            link_env.SharedObject(f"{objects}{source.name[:-2]}.o", source)
            for pattern in sources
            for source in env.Glob(pattern)
        ],
        Action(command, "$SHAREDCOMSTR"),
    )


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
        CCFLAGS=[*abi_env["CCFLAGS"], *STATIC_COMPILE], LINKFLAGS=[*abi_env["LINKFLAGS"], "-static"]
    )
    return _static_harness(abi_env, f"{parts.prefix}{abi_name}", parts, GUARDED_MALLOC)


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
    return _static_harness(pc_env, f"{parts.prefix}{','.join(names)}", parts, flags_of_kernel)


def debugged_harness(env: Any, parts: Parts) -> Any:
    """Return the node of `build/check/gdb/harness`, a program for this PC and gdb."""
    pc_env = compiler_for(env, "x64", parts.cxx)
    # After -g0 or -s, zig ignores a later -g.
    flags, link_flags = (
        [flag for flag in pc_env[name] if flag not in ("-g0", "-s")]
        for name in ("CCFLAGS", "LINKFLAGS")
    )
    pc_env.Replace(CCFLAGS=[*flags, *DEBUGGED], LINKFLAGS=link_flags)
    return _static_harness(pc_env, "gdb", parts, [*GUARDED_MALLOC, *checked_loops(env)])


def _static_harness(env: Any, name: str, parts: Parts, flags: list[str]) -> Any:
    folder = f"{CHECK_FOLDER}/{name}"
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


def vendor_harness(
    env: Any,
    abi: str,
    name: str,
    sources: Sequence[str],
    includes: Sequence[str] = (),
    kernel: Sequence[Any] = (),
    entry: str = "harness_runtime",
) -> Any:
    """Return the node of a harness for an ABI.

    Args:
        env: the environment.
        abi: the name of the ABI.
        name: the name of its folder.
        sources: the patterns of the runtime's part, which loads the vendor's library.
        includes: additional folders of headers for these sources.
        kernel: the nodes of the kernel's objects and static libraries, if it is not loaded.
        entry: the kernel's symbol, the first argument of the runtime's `prepare`.
    """
    own_env = compiler_for(env, abi)
    link = own_env["PROGRAMCOM"]
    objects = [
        *_objects(own_env, f"{name}/harness-", [SOURCES], [], {"HARNESS_ENTRY": entry}),
        *_objects(own_env, f"{name}/", sources, includes),
    ]
    return own_env.Command(
        f"{CHECK_FOLDER}/{name}/harness",
        [*objects, *kernel],
        Action(link, "$SHAREDCOMSTR"),
        LIBRARIES=["-lm", "-ldl", "-lpthread"],
    )


def stand_in(
    env: Any, abi: str, target: str, sources: Sequence[Any], link_flags: Sequence[str] = ()
) -> Any:
    """Return the node of a library in place of a vendor's, or before libc's (LD_PRELOAD).

    Args:
        env: the environment.
        abi: the name of the ABI.
        target: the library, in `build/check/`.
        sources: the patterns of its sources, or nodes.
        link_flags: additional flags of the linker, such as the soname.
    """
    own_env = compiler_for(env, abi)
    prefix = target.rpartition("/")[0] + "/"
    return own_env.Command(
        f"{CHECK_FOLDER}/{target}",
        _objects(own_env, prefix, sources, []),
        Action(own_env["SHAREDCOM"], "$SHAREDCOMSTR"),
        LIBRARIES=[*link_flags, "-ldl", "-lpthread"],
    )


def _objects(
    env: Any,
    prefix: str,
    sources: Sequence[Any],
    includes: Sequence[str],
    defines: dict[str, str] | None = None,
) -> list[Any]:
    """Return the nodes of objects, the same for all operators but for the kernel's symbol."""
    object_env = env.Clone(
        CPPPATH=[*INCLUDES, *includes], CCFLAGS=[*env["CCFLAGS"], *_VENDOR_COMPILE]
    )
    object_env.Append(CPPDEFINES=defines or {})
    if not defines:
        object_env = user_cache(object_env)
    files = [
        file
        for source in sources
        for file in (env.Glob(source) if isinstance(source, str) else [source])
    ]
    return [
        object_env.SharedObject(f"{CHECK_FOLDER}/{prefix}{Path(file.path).stem}.o", file)
        for file in files
    ]
