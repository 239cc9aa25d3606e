"""Three-way merge of texts, by lines: the template's changes in a user's file."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class TemplateChange:
    """A change of the template's text for a file of the user.

    Attributes:
        path: the file.
        base: the old text of the template; if it is unknown, that of the user.
        theirs: the new text.
        merged: the user's text with the change; None: it has changes in the same lines.
    """

    path: str
    base: str
    theirs: str
    merged: str | None

    def diff(self) -> str:
        """Return the change of the template as a unified diff."""
        return unified_diff(self.path, self.base, self.theirs)


def template_changes(
    old: Mapping[str, str], mine: Mapping[str, str], now: Mapping[str, str]
) -> Iterator[TemplateChange]:
    """Yield the changes of the template in the user's files; the user's own edits are left out.

    Args:
        old: path -> old text of the template; a file without one has not changed.
        mine: path -> text of the user's files; a file that is deleted stays so.
        now: path -> new text of the template.
    """
    for path, theirs in now.items():
        base = old.get(path, theirs)
        if path in mine and theirs not in (base, mine[path]):
            yield TemplateChange(path, base, theirs, merged(base, mine[path], theirs))


def unified_diff(path: str, before: str, after: str) -> str:
    """Return the changes of a file as a unified diff."""
    return "".join(
        difflib.unified_diff(
            before.splitlines(keepends=True),
            after.splitlines(keepends=True),
            f"a/{path}",
            f"b/{path}",
        )
    )


@dataclass(frozen=True)
class _Edit:
    """A replacement of the lines from `start` to `end` of the common ancestor."""

    start: int
    end: int
    lines: Sequence[str]


def merged(base: str, mine: str, theirs: str) -> str | None:
    """Return a text with both changes of a common ancestor, or None if they conflict.

    Different changes of the same or of adjacent lines conflict, as for git.
    """
    lines = base.splitlines(keepends=True)
    ours, others = _edits(lines, mine), _edits(lines, theirs)
    if any(a != b and a.start <= b.end and b.start <= a.end for a in ours for b in others):
        return None
    text, position = list[str](), 0
    edits = [*ours, *(edit for edit in others if edit not in ours)]
    for edit in sorted(edits, key=lambda edit: edit.start):
        text += [*lines[position : edit.start], *edit.lines]
        position = edit.end
    return "".join([*text, *lines[position:]])


def _edits(base: Sequence[str], text: str) -> list[_Edit]:
    lines = text.splitlines(keepends=True)
    codes = difflib.SequenceMatcher(None, base, lines, autojunk=False).get_opcodes()
    return [
        _Edit(start, end, lines[first:last])
        for tag, start, end, first, last in codes
        if tag != "equal"
    ]
