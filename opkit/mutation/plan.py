"""The file from `scons check mutate=N` for the process that tries the changes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path


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
