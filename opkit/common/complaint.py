"""A complaint: one problem of the user's files, with its place."""

from __future__ import annotations

from typing import Literal, NamedTuple

from opkit.common.errors import OpkitError

Severity = Literal["error", "warning", "note"]


class Complaint(NamedTuple):
    """One problem of a file.

    Attributes:
        file: the name of the file, for messages.
        problem: the problem, such as `invalid 'x'`.
        line: the line in the file, from 1; None: the file as a whole.
        column: the column in the line, from 1; None: unknown.
        field: the key in the operator description, such as `params.size.type`.
        hint: the remedy.
        expected: the valid values.
        severity: a warning does not stop the build; a note is no problem, but explains a choice.
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
        """The problem and the expected values, without place and hint."""
        return f"{self.problem} (expected {self.expected})" if self.expected else self.problem

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        hint = f"; {self.hint}" if self.hint else ""
        expected = f" (expected {self.expected})" if self.expected else ""
        return ": ".join(filter(None, (place, self.field, f"{self.problem}{hint}{expected}")))


class SourceError(OpkitError):
    """A file of the user's cannot be used.

    Attributes:
        complaint: the problem and its place.
    """

    def __init__(self, complaint: Complaint) -> None:
        super().__init__(str(complaint))
        self.complaint = complaint
