"""Parts of libraries: an operator's objects, archives, stubs of a vendor's library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from SCons.Action import Action

from opkit.build.compiler import words
from opkit.build.machinery import FOLDER
from opkit.build.objects import operator_object
from opkit.build.user_cache import user_cache
from opkit.check.sanitizers import INSTRUMENTED, reports_undefined
from opkit.toolchains.compiler import archiver
from opkit.toolchains.warnings import ERRORS, WARNINGS


def kernel_objects(env: Any, sources: Sequence[str], folder: str, **flags: list[str]) -> list[Any]:
    """Return the nodes of the objects, compiled with the flags and folders of op.yml.

    Args:
        env: the environment of an ABI's compiler, compiler_for(env, abi).
        sources: the paths of the sources.
        folder: the folder of the objects.
        flags: appended to construction variables for these objects, such as CCFLAGS.
    """
    operator = env["OPERATOR"]
    kernel_env = env.Clone()
    kernel_env.Append(**flags)
    kernel_env.Append(
        CCFLAGS=[*WARNINGS, *ERRORS, *operator.cflags],
        CFLAGS=env["C_ERRORS"],
        CPPPATH=[f"#{folder.path}" for folder in operator.include],
    )
    return [
        node
        for source in sources
        for node in operator_object(kernel_env, f"{folder}/{source}.o", source)
    ]


_CHECKED_LOOPS = ("-include", f"{FOLDER}/check/harness/memory/checked_loops.h")


def checked_loops(env: Any) -> list[str]:
    """Return the flags for loops of a check, in place of the operator's own threads."""
    return [*_CHECKED_LOOPS] if env["OPERATOR"].has_threads else []


def _with_debug_info(env: Any) -> Any:
    """Return a copy of a compiler's environment that keeps debug information."""
    flags, link_flags = (
        ["-g" if flag in ("-g0", "-s") else flag for flag in env[name]]
        for name in ("CCFLAGS", "LINKFLAGS")
    )
    return env.Clone(CCFLAGS=flags, LINKFLAGS=link_flags)


def instrumented(env: Any) -> Any:
    """Return a copy of a compiler's environment for the check's own build of the kernel.

    Its loops run in as many threads as a run asks for. It keeps debug information, and reports
    undefined behavior unless the options turn that off.
    """
    own_env = _with_debug_info(env)
    own_env.Append(CCFLAGS=checked_loops(env))
    if reports_undefined(env["sanitize"], env["quick"]):
        own_env.Append(CCFLAGS=INSTRUMENTED)
    return own_env


def thread_libraries(env: Any) -> tuple[str, ...]:
    """Return the flags for linking an operator's threads; empty without `threads` in op.yml."""
    # A part of libc since glibc 2.34.
    return ("-lpthread",) if env["OPERATOR"].has_threads else ()


def archive(env: Any, target: str, objects: Sequence[Any]) -> Any:
    """Return the node of a static library, made by the archiver of the compiler."""
    action = Action("$AR rcsD $TARGET $SOURCES", "$SHAREDCOMSTR")
    return env.Command(target, objects, action, AR=words(archiver([*map(str, env["CC"])])))


def stub(env: Any, target: str, source: str) -> Any:
    """Return the node of a stub of a device's library, for linking operators."""
    folder, _, name = target.rpartition("/")
    stub_env = user_cache(env)
    return stub_env.Command(
        target,
        stub_env.SharedObject(f"{folder}/stub.o", source, CPPPATH=[]),
        Action("$SHAREDCOM", "$SHAREDCOMSTR"),
        LIBRARIES=[f"-Wl,-soname,{name}"],
    )
