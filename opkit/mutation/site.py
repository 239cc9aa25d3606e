"""A place of the syntax tree, and the edits of its source."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from opkit.mutation.syntax_tree import Node, Span, SyntaxTree

Edit = tuple[Span, bytes]
"""The replaced bytes of a source, and their replacement; empty: a dropped statement."""
COMMENT = re.compile(rb"/\*.*?\*/|//[^\n]*", re.DOTALL)
LITERALS = frozenset(("IntegerLiteral", "FloatingLiteral", "CharacterLiteral"))
_WITHOUT_PARENTHESES = LITERALS | {
    *("DeclRefExpr", "MemberExpr", "ArraySubscriptExpr", "CallExpr", "ParenExpr", "CStyleCastExpr")
}


@dataclass(frozen=True)
class Site:
    """A node, the nodes around it, the innermost last, and its source."""

    node: Node
    above: tuple[Node, ...]
    source: bytes
    tree: SyntaxTree

    @property
    def parent(self) -> Node:
        """The innermost node around it."""
        return self.above[-1]

    def text(self, node: Node) -> bytes:
        """Return the text of a node."""
        begin, end = node.span or (0, 0)
        return self.source[begin:end]

    def replaced(self, node: Node, text: bytes) -> Iterator[Edit]:
        """Yield the edit that replaces a node, if it is in the source."""
        if node.span and is_balanced(self.text(node)):
            yield node.span, text

    def exchanged(self, first: Node, second: Node) -> Iterator[Edit]:
        """Yield the edit that exchanges two parts of the node, if they differ."""
        texts = [self.text(first), self.text(second)]
        if first.span and second.span and texts[0] != texts[1] and all(map(is_balanced, texts)):
            between = self.source[first.span[1] : second.span[0]]
            if self.node.kind == "BinaryOperator":
                texts = [operand(first, texts[0]), operand(second, texts[1])]
            yield (first.span[0], second.span[1]), texts[1] + between + texts[0]


def is_balanced(text: bytes) -> bool:
    """Whether a text is a whole expression; clang's span of a literal vector is not."""
    return text.count(b"(") == text.count(b")")


def operand(node: Node, text: bytes) -> bytes:
    """Return an expression as an operand, in parentheses if it needs them."""
    return text if node.kind in _WITHOUT_PARENTHESES else b"(%s)" % text
