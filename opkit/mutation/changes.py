"""The small changes of a source in C or OpenCL C, from its syntax tree."""

from __future__ import annotations

from dataclasses import dataclass

from opkit.mutation.equivalents import is_unnoticed
from opkit.mutation.excerpt import excerpt, one_line
from opkit.mutation.kinds import KINDS
from opkit.mutation.site import Edit, Site
from opkit.mutation.syntax_tree import Span, SyntaxTree


@dataclass(frozen=True)
class Change:
    """A small change of a source.

    Attributes:
        file: the source.
        kind: one of KINDS.
        line: its first line.
        span: the replaced bytes.
        text: the replacement; empty: a dropped statement.
        before: an excerpt of the source.
        after: the same excerpt, changed.
    """

    file: str
    kind: str
    line: int
    span: Span
    text: bytes
    before: str
    after: str

    def apply(self, source: bytes) -> bytes:
        """Return the changed source."""
        begin, end = self.span
        return source[:begin] + (self.text or b"(void)0") + source[end:]


def changes(tree: SyntaxTree, source: bytes, file: str, root: str = "") -> list[Change]:
    """Return all changes of a source, in its order.

    Changes that no case can notice are left out where that is obvious, by equivalents.py.

    Args:
        tree: its syntax tree.
        source: its bytes.
        file: its name in messages.
        root: the function that runs, and may call others; empty: any may run.
    """
    functions = tree.reachable(root) if root else tree.functions.values()
    found: dict[Edit, Change] = {}
    for function in functions:
        for node, above in function.walk():
            if above and not is_unnoticed(node, above):
                site = Site(node, above, source, tree)
                for kind, edits in KINDS.items():
                    for edit in edits(site):
                        found.setdefault(edit, _change(site, file, kind, edit))
    return sorted(found.values(), key=lambda change: (change.span, change.text))


def _change(site: Site, file: str, kind: str, edit: Edit) -> Change:
    span, text = edit
    scope = excerpt(site, span) if text else span
    before = site.source[slice(*scope)]
    after = site.source[scope[0] : span[0]] + text + site.source[span[1] : scope[1]]
    line = site.source.count(b"\n", 0, span[0]) + 1
    return Change(file, kind, line, span, text, one_line(before), one_line(after) if text else "")
