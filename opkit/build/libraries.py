"""Parts of libraries: an operator's objects, also profiled; archives; stubs of a vendor's library.

A profiled library is compiled like the delivered one, from the same sources, but with a header
before them. It includes the headers of timed functions, and then defines a macro of each function's
name: from there on a call of it is a phase of the profile (opkit/check/harness/memory/profile.h).
So the sources have no marks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from SCons.Action import Action

from opkit.build.compile_environment import words
from opkit.build.machinery import FOLDER
from opkit.build.recorded_inputs import operator_object
from opkit.build.user_cache import user_cache
from opkit.check.coverage_mapping import ATOMIC, COUNTED
from opkit.check.sanitizers import INSTRUMENTED, RECORDED_ACCESSES, reports_undefined
from opkit.common import file_io
from opkit.description.spec import OpSpec
from opkit.files.source_check import texts_of_math
from opkit.toolchains.compiler import archiver
from opkit.toolchains.flags import ERRORS, WARNINGS


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


_LOCKS = re.compile(
    r"atomic|_Atomic|__sync_|pthread_(mutex|rwlock|spin|once|cond|barrier)|sem_|mtx_|call_once|asm"
)
"""Parts of loops that access the same memory without a race, which the accesses do not show."""


def checked_loops(env: Any) -> list[str]:
    """Return the flags for loops of a check, in place of the operator's own threads."""
    return [*_CHECKED_LOOPS] if env["OPERATOR"].has_threads else []


def instrumented(env: Any) -> Any:
    """Return a copy of a compiler's environment for the check's own build of the kernel.

    Its loops run in as many threads as a run asks for. It keeps debug information, reports
    undefined behavior unless the options turn that off, and counts the runs of its lines.
    """
    flags, link_flags = (
        ["-g" if flag in ("-g0", "-s") else flag for flag in env[name]]
        for name in ("CCFLAGS", "LINKFLAGS")
    )
    own_env = env.Clone(CCFLAGS=flags, LINKFLAGS=link_flags)
    own_env.Append(CCFLAGS=checked_loops(env))
    if reports_undefined(env["sanitize"], env["quick"]):
        own_env.Append(CCFLAGS=[*INSTRUMENTED, *_recorded_accesses(env)])
    if env["TOOLCHAIN"] == "zig" and not env["quick"]:
        own_env.Append(CCFLAGS=[*COUNTED, *(ATOMIC if env["OPERATOR"].has_threads else ())])
    return own_env


def _recorded_accesses(env: Any) -> list[str]:
    """Return the flag for finding data races in loops; none if the math may have locks."""
    operator = env["OPERATOR"]
    is_recorded = env["TOOLCHAIN"] == "zig" and operator.has_threads
    texts = texts_of_math(Path(), operator).values() if is_recorded else ()
    return [RECORDED_ACCESSES] if is_recorded and not any(map(_LOCKS.search, texts)) else []


def thread_libraries(env: Any) -> tuple[str, ...]:
    """Return the flags for linking an operator's threads; empty without `threads` in op.yml."""
    # A part of libc since glibc 2.34, and on Android.
    in_libc = env["TOOLCHAIN"] == "ndk"
    return ("-lpthread",) if env["OPERATOR"].has_threads and not in_libc else ()


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


HEADER = "profiled.h"


@dataclass(frozen=True)
class Phase:
    """A phase of a kernel's call: the time in some functions.

    Attributes:
        name: one of opkit.check.profile.PHASES.
        header: of the functions, as in an #include in a repository.
        functions: their names.
    """

    name: str
    header: str
    functions: Sequence[str]


HALVES = Phase(
    "conversion",
    '"include/opkit/compute/half.h"',
    ("opkit_halves_to_floats", "opkit_floats_to_halves"),
)


def math_phase(operator: OpSpec) -> Phase:
    """Return the phase of the user's C."""
    return Phase("math", f'"{operator.compute_header}"', (f"{operator.lower}_compute",))


def profile_header(phases: Sequence[Phase], macros: str = "") -> str:
    """Return the text of the header.

    Args:
        phases: in this order; a header's own calls are counted if their functions come first.
        macros: those that precede the first include of the sources.
    """
    lines = [
        "/* Generated for `scons report`. */",
        # PROFILE is an extension of GNU C, of which compilers would warn in each macro.
        "#pragma GCC system_header",
        *macros.splitlines(),
        f'#include "{FOLDER}/check/harness/memory/profile.h"',
    ]
    for phase in phases:
        lines += ["", f"#include {phase.header}"]
        name = f"PROFILE_{phase.name.upper()}"
        lines += [
            f"#define {function}(...) PROFILE({name}, {function}(__VA_ARGS__))"
            for function in phase.functions
        ]
    return "\n".join([*lines, ""])


def profiled_objects(
    env: Any,
    folder: str,
    phases: Sequence[Phase],
    compile_: Callable[[list[str]], list[Any]],
    macros: str = "",
) -> list[Any]:
    """Return the nodes of objects with a profile.

    Args:
        env: the environment.
        folder: the folder of the header.
        phases: of the runtime; those of halves and of the math are added.
        compile_: (additional flags) -> the nodes of the objects.
        macros: those that precede the first include of the sources.
    """
    every = [HALVES, *phases, math_phase(env["OPERATOR"])]
    # A repository has no headers of opkit that no file of its own includes.
    there = [each for each in every if each.header[0] == "<" or Path(each.header[1:-1]).is_file()]
    content = profile_header(there, macros)
    header = env.Command(f"{folder}/{HEADER}", env.Value(content), Action(_write, None))
    objects = compile_(["-include", f"{folder}/{HEADER}"])
    env.Depends(objects, header)
    return objects


def _write(target: Any, source: Any, env: Any) -> None:
    file_io.write_atomically(Path(target[0].path), source[0].get_contents())
