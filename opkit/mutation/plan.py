"""The plan of `scons check mutate=N`, and the mutable sources with their builds."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

from opkit import toolchains
from opkit.common.errors import OpkitError
from opkit.toolchains import clang_ast
from opkit.toolchains.abi import ABIS


@dataclass(frozen=True)
class Command:
    """A command that builds a file.

    Attributes:
        target: the path of the file in the repository.
        line: the command, for a shell.
    """

    target: str
    line: str


@dataclass(frozen=True)
class Plan:
    """The count of changes, and the build of a changed repository.

    Attributes:
        count: the count of changes to try.
        workers: the count of changes to try in parallel.
        arguments: the compiler's arguments for the math in C.
        commands: compile the math, and link the libraries of the cases, in this order.
        built: the paths of the built files that the cases require.
    """

    count: int
    workers: int
    arguments: Sequence[str]
    commands: Sequence[Command]
    built: Sequence[str]

    def write(self, file: Path) -> None:
        """Write the plan to a file; create its folder if absent."""
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def read(cls, file: Path) -> Plan:
        """Return the plan in a file of write()."""
        fields = json.loads(file.read_text(encoding="utf-8"))
        fields["commands"] = [Command(**command) for command in fields["commands"]]
        return cls(**fields)


class MutableSource(Protocol):
    """A source that `scons check mutate=` changes.

    Attributes:
        path: its path in the repository.
        root: the function that runs, and may call others; empty: any may run.
    """

    path: str
    root: str

    def tree(self, repository: Path) -> str:
        """Return its syntax tree, as clang writes it as JSON.

        Raises:
            OpkitError: clang cannot read it.
        """
        ...

    def build(self, repository: Path) -> Sequence[Path]:
        """Build the libraries that the source is compiled into; return their paths.

        Raises:
            OpkitError: it does not compile.
        """
        ...


class ComputeHeader:
    """The math in C. It is a MutableSource.

    Args:
        path: the header.
        plan: has the commands that compile it.
    """

    root = ""

    def __init__(self, path: str, plan: Plan) -> None:
        self.path = path
        self.plan = plan

    def tree(self, repository: Path) -> str:
        """Return its syntax tree."""
        return c_tree(self.path, self.plan.arguments, repository)

    def build(self, repository: Path) -> Sequence[Path]:
        """Compile the math, and link the libraries of the cases."""
        for command in self.plan.commands:
            (repository / command.target).unlink(missing_ok=True)
        for command in self.plan.commands:
            run = _run(["/bin/sh", "-c", command.line], repository)
            if run.returncode:
                raise OpkitError(run.stderr.strip())
        targets = [repository / command.target for command in self.plan.commands]
        return [target for target in targets if target.suffix != ".o"]


def c_tree(path: str, arguments: Sequence[str], folder: Path) -> str:
    """Return the syntax tree of a C source, as clang writes it as JSON.

    Args:
        path: the path of the source in the folder.
        arguments: the compiler's arguments.
        folder: the working directory of the compiler.

    Raises:
        OpkitError: clang cannot read the source.
    """
    compiler = toolchains.find("zig", ABIS["x64"])
    # With -E, zig expects no output file, and passes stdout on.
    dump = ("-E", "-x", "c", "-w", *clang_ast.DUMP, path)
    run = _run([*compiler.command, *compiler.flags, *arguments, *dump], folder)
    if run.returncode:
        raise OpkitError(f"{path} cannot be read alone:\n{run.stderr.strip()}")
    return run.stdout


def _run(command: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, capture_output=True, encoding="utf-8", errors="replace", check=False
    )
