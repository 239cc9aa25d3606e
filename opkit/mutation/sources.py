"""The sources that are changed: their syntax trees, and how a changed one is compiled."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from opkit import toolchains
from opkit.errors import OpkitError
from opkit.mutation.plan import Plan
from opkit.toolchains.abi import ABIS


class MutableSource(Protocol):
    """A source of the user's.

    Attributes:
        path: where it is in the repository.
        root: the function that runs, which may call others; empty: all of them may run.
    """

    path: str
    root: str

    def tree(self, repository: Path) -> str:
        """Return its syntax tree, as clang writes it with -ast-dump=json.

        Raises:
            OpkitError: it cannot be read.
        """
        ...

    def build(self, repository: Path) -> Sequence[Path]:
        """Compile what has it in it, as the cases do; return the libraries.

        Raises:
            OpkitError: it does not compile.
        """
        ...


class ComputeHeader:
    """The math in C. It is a MutableSource.

    Args:
        path: the header.
        plan: how it is compiled.
    """

    root = ""

    def __init__(self, path: str, plan: Plan) -> None:
        self.path = path
        self.plan = plan

    def tree(self, repository: Path) -> str:
        """Return its syntax tree."""
        compiler = toolchains.find("zig", ABIS["x64"])
        # With -E, zig expects no file, and leaves to clang what it writes.
        dump = ("-E", "-x", "c", "-w", "-Xclang", "-ast-dump=json")
        command = [*compiler.command, *compiler.flags, *self.plan.arguments, *dump, self.path]
        run = _run(command, repository)
        if run.returncode:
            raise OpkitError(f"{self.path} cannot be read alone:\n{run.stderr.strip()}")
        return run.stdout

    def build(self, repository: Path) -> Sequence[Path]:
        """Compile the kernel's sources, and link what the cases load."""
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
