"""mutate(env, ...): `scons check mutate=N` runs the cases on changed kernels."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from SCons.Action import Action, FunctionAction

from opkit.build.compile_environment import compiler_for
from opkit.build.machinery import FOLDER as MACHINERY
from opkit.build.options import Request
from opkit.common.errors import OpkitError
from opkit.description.parser import PC
from opkit.description.spec import OpSpec
from opkit.mutation.plan import Command, Plan
from opkit.toolchains.flags import C_LANGUAGE

PLAN = Path("build/check/mutation.json")
_BUILD = "build/"

USAGE = (
    (
        "scons check mutate=N",
        "make N small changes of the kernels, one at a time; list the changes that pass",
    ),
)


def options(variables: Any, operator: OpSpec) -> None:
    """Add the count of changes."""
    text = "with check: the count of small changes of the kernels to try, one at a time"
    variables.Add("mutate", text, "")


def check(env: Any, request: Request) -> None:
    """Refuse an invalid count, and options without effect on it.

    Raises:
        OpkitError: `mutate=` is not a count, or conflicts with the rest of the command line.
    """
    count = env["mutate"]
    if not count:
        return
    if not (count.isascii() and count.isdecimal() and 0 < int(count) < 10_000):
        raise OpkitError(f"mutate: invalid {count!r} (expected a number from 1 to 9999)")
    if "check" not in request.commands or "report" in request.commands:
        raise OpkitError(f"mutate={count} requires check: scons check mutate={count}")
    others = [name for name in ("qemu", "sanitize", "workers") if env[name]]
    others += ["target"] if request.abis else []
    if others:
        names = ", ".join(f"{name}=" for name in others)
        raise OpkitError(f"mutate= runs on all cores of this PC; leave out {names}")


def mutate(env: Any, first: Sequence[Any], needed: Sequence[Any]) -> Any:
    """Return the alias `check`: every case of tests/, on changed kernels.

    Args:
        env: the environment.
        first: the nodes that the cases of the first runtime require on this PC.
        needed: the nodes that all cases require on this PC.
    """
    alias = env.Alias(
        "check",
        needed,
        Action(_mutate, f"check tests/ with {env['mutate']} changes of the kernels"),
        # SCons discards the command of a file once it is built.
        COMMANDS=[(node, *_command_lines(node)) for node in _built(env.Flatten(first))],
        MATH_ARGUMENTS=_arguments(env),
    )
    env.AlwaysBuild(alias)
    return alias


def _mutate(target: Any, source: Any, env: Any) -> int:
    header = env["OPERATOR"].math_file
    plan = Plan(
        int(env["mutate"]),
        os.cpu_count() or 1,
        env["MATH_ARGUMENTS"],
        [
            Command(node.path, line)
            for node, *lines in env["COMMANDS"]
            if _depends_on(node, header)
            for line in lines
        ],
        [MACHINERY, *(node.path for node in _built(source))],
    )
    plan.write(PLAN)
    command = [sys.executable, "-m", "opkit.mutation", str(PLAN)]
    return subprocess.run(command, check=False, pass_fds=env["LOCK"]).returncode


def _arguments(env: Any) -> list[str]:
    """Return the compiler's arguments for the math in C."""
    operator = env["OPERATOR"]
    folders = [env.Dir(folder).path for folder in compiler_for(env, PC)["CPPPATH"]]
    folders += [folder.path for folder in operator.include]
    return [*C_LANGUAGE, *(f"-I{folder}" for folder in folders), *operator.cflags]


def _built(nodes: Sequence[Any]) -> Iterator[Any]:
    """Yield the built files among nodes and their dependencies, each after its own."""
    seen = set[Any]()

    def visit(node: Any) -> Iterator[Any]:
        if node not in seen:
            seen.add(node)
            for child in node.children():
                yield from visit(child)
            if node.has_builder() and node.path.startswith(_BUILD):
                yield node

    for node in nodes:
        yield from visit(node)


def _depends_on(node: Any, source: str) -> bool:
    """Whether a file is built from a source, directly or not."""
    return any(child.path == source or _depends_on(child, source) for child in node.children())


def _command_lines(node: Any) -> list[str]:
    """Return the commands that build a file, as lines for a shell."""
    lines = list[str]()

    def record(shell: str, escape: object, command: str, words: Sequence[str], env: object) -> int:
        lines.append(" ".join(words))
        return 0

    executor = node.get_executor()
    env = executor.get_build_env().Override({"SPAWN": record})
    for action in executor.get_action_list():
        for part in getattr(action, "list", [action]):
            if not isinstance(part, FunctionAction):
                part([node], executor.get_all_sources(), env, show=False, executor=executor)
    return lines
