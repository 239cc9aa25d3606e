"""A complaint: one thing that is wrong with the user's files, and where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning"]


@dataclass(frozen=True)
class Complaint:
    """One thing that is wrong with a file.

    Attributes:
        file: its name, as messages have it.
        problem: what is wrong.
        line: of the file, from 1; None: the file as a whole.
        column: of the line, from 1; None: not known.
        field: the part of the operator description.
        hint: what to do about it.
        expected: what could stand there.
        severity: a warning is of what still builds.
    """

    file: str
    problem: str
    line: int | None = None
    column: int | None = None
    field: str = ""
    hint: str = ""
    expected: str = ""
    severity: Severity = "error"

    @property
    def message(self) -> str:
        """What is wrong and what was expected, without the place and the hint."""
        return f"{self.problem} (expected {self.expected})" if self.expected else self.problem

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        hint = f"; {self.hint}" if self.hint else ""
        expected = f" (expected {self.expected})" if self.expected else ""
        return ": ".join(filter(None, (place, self.field, f"{self.problem}{hint}{expected}")))
