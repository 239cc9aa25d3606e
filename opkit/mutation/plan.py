"""What `scons check mutate=N` passes to the process that tries the changes, in a file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Command:
    """A command of the shell that makes a file.

    Attributes:
        target: the file, as seen from the repository.
        line: the command.
    """

    target: str
    line: str


@dataclass(frozen=True)
class Plan:
    """What to change, and how a changed repository is built.

    Attributes:
        count: how many changes to try.
        workers: how many to try side by side.
        arguments: the compiler's, for the math in C.
        commands: compile the math and link what the cases load, in this order.
        built: the files that the cases need, as seen from the repository.
    """

    count: int
    workers: int
    arguments: Sequence[str]
    commands: Sequence[Command]
    built: Sequence[str]

    def write(self, file: Path) -> None:
        """Write the plan to a file, whose folder is created if needed."""
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def read(cls, file: Path) -> Plan:
        """Return the plan that write has written."""
        fields = json.loads(file.read_text(encoding="utf-8"))
        fields["commands"] = [Command(**command) for command in fields["commands"]]
        return cls(**fields)
