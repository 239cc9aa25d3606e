"""Three-way merge of texts, by lines."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass


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
