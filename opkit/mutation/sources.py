"""The mutable sources: their syntax trees, and the build of a changed one."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from opkit import toolchains
from opkit.errors import OpkitError
from opkit.mutation.plan import Plan
from opkit.toolchains import clang_ast
from opkit.toolchains.abi import ABIS


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
        compiler = toolchains.find("zig", ABIS["x64"])
        # With -E, zig expects no output file, and passes stdout on.
        dump = ("-E", "-x", "c", *clang_ast.DUMP, self.path)
        command = [*compiler.command, *compiler.flags, *self.plan.arguments, *dump]
        run = _run(command, repository)
        if run.returncode:
            raise OpkitError(f"{self.path} cannot be read alone:\n{run.stderr.strip()}")
        return run.stdout

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


def _run(command: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, capture_output=True, encoding="utf-8", errors="replace", check=False
    )
