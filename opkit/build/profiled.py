"""profiled_objects(env, ...): the objects of a kernel's profiled library, for `scons report`.

The library is compiled like the delivered one, from the same sources, but with this header before
them. It includes the headers of timed functions, and then defines a macro of each function's name:
from there on a call of it is a phase of the profile (opkit/check/harness/memory/profile.h). So the
sources have no marks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from SCons.Action import Action

from opkit import atomic_file
from opkit.build.machinery import FOLDER
from opkit.description.spec import OpSpec

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


def math(operator: OpSpec) -> Phase:
    """Return the phase of the user's C."""
    return Phase("math", f'"{operator.compute_header}"', (f"{operator.lower}_compute",))


def text(phases: Sequence[Phase]) -> str:
    """Return the text of the header.

    Args:
        phases: in this order; a header's own calls are counted if their functions come first.
    """
    lines = [
        "/* Generated for `scons report`. */",
        # PROFILE is an extension of GNU C, of which compilers would warn in each macro.
        "#pragma GCC system_header",
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
    env: Any, folder: str, phases: Sequence[Phase], compile_: Callable[[list[str]], list[Any]]
) -> list[Any]:
    """Return the nodes of objects with a profile.

    Args:
        env: the environment.
        folder: the folder of the header.
        phases: of the runtime; those of halves and of the math are added.
        compile_: (additional flags) -> the nodes of the objects.
    """
    every = [HALVES, *phases, math(env["OPERATOR"])]
    # A repository has no headers of opkit that no file of its own includes.
    there = [each for each in every if each.header[0] == "<" or Path(each.header[1:-1]).is_file()]
    content = text(there)
    header = env.Command(f"{folder}/{HEADER}", env.Value(content), Action(_write, None))
    objects = compile_(["-include", f"{folder}/{HEADER}"])
    env.Depends(objects, header)
    return objects


def _write(target: Any, source: Any, env: Any) -> None:
    atomic_file.write(Path(target[0].path), source[0].get_contents())
