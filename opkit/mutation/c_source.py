"""A source in C or OpenCL C: its syntax tree, the place of a change in it, and an excerpt of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from opkit.toolchains import clang_ast

Span = tuple[int, int]
"""Begin and end, as offsets in the bytes of a source."""
_IMPLICIT = frozenset(("ImplicitCastExpr", "ConstantExpr", "ExprWithCleanups"))


@dataclass(frozen=True)
class Node:
    """A node of the tree, without implicit casts.

    Attributes:
        kind: clang's name of it.
        span: its place in the source; None: it begins or ends in a header or a macro. An argument
            of a macro is in the source.
        last: the place of its last token.
        macro: the offset of the macro's name, if the node begins in a macro and the name is in the
            source.
        type: its type without typedefs.
        fields: clang's fields of the node.
        children: in clang's order; None stands for an absent part of a statement.
    """

    kind: str
    span: Span | None
    last: Span | None
    macro: int | None
    type: str
    fields: Mapping[str, Any]
    children: Sequence[Node | None]

    @property
    def parts(self) -> list[Node]:
        """The children without absent parts."""
        return [child for child in self.children if child is not None]

    @property
    def callee(self) -> str:
        """The name of the called function, or an empty string."""
        if self.kind != "CallExpr" or not self.parts:
            return ""
        name: str = self.parts[0].fields.get("referencedDecl", {}).get("name", "")
        return name

    def walk(self, above: tuple[Node, ...] = ()) -> Iterator[tuple[Node, tuple[Node, ...]]]:
        """Yield each node with the nodes around it, the innermost last."""
        yield self, above
        for child in self.parts:
            yield from child.walk((*above, self))


@dataclass(frozen=True)
class Member:
    """A member of a struct."""

    struct: str
    name: str
    type: str


@dataclass(frozen=True)
class SyntaxTree:
    """The declarations of a source.

    Attributes:
        functions: name -> definition, of functions in the source itself.
        members: clang's id of a member -> the member, also of structs in headers.
    """

    functions: Mapping[str, Node]
    members: Mapping[str, Member]

    def reachable(self, root: str) -> list[Node]:
        """Return a function and all that it calls, directly or not, in the order of the source."""
        reached, pending = set[str](), [root]
        while pending:
            name = pending.pop()
            if name in self.functions and name not in reached:
                reached.add(name)
                pending += [
                    node.fields["referencedDecl"].get("name", "")
                    for node, _ in self.functions[name].walk()
                    if "referencedDecl" in node.fields
                ]
        return [node for name, node in self.functions.items() if name in reached]


def read(tree: str, file: str) -> SyntaxTree:
    """Return the declarations of a source.

    Args:
        tree: the syntax tree, as clang writes it as JSON.
        file: the source, as in clang's command line.
    """
    top = clang_ast.top_level(tree)
    nodes = [_node(each, file) for each in top if each["kind"] == "FunctionDecl"]
    return SyntaxTree(
        {
            node.fields["name"]: node
            for node in nodes
            if node.span and any(part.kind == "CompoundStmt" for part in node.parts)
        },
        {
            field["id"]: Member(struct.get("name", ""), field["name"], _type(field))
            for struct in top
            if struct["kind"] == "RecordDecl"
            for field in struct.get("inner", ())
            if field["kind"] == "FieldDecl" and "name" in field
        },
    )


def _node(value: clang_ast.Node, file: str) -> Node:
    if value["kind"] in _IMPLICIT and len(value.get("inner", ())) == 1:
        return _node(value["inner"][0], file)
    begin, end = (value.get("range", {}).get(side, {}) for side in ("begin", "end"))
    first, last = _token(begin, file), _token(end, file)
    expansion = begin.get("expansionLoc", {})
    return Node(
        value["kind"],
        (first[0], last[1]) if first and last else None,
        last,
        None if first or expansion.get("file") != file else expansion["offset"],
        _type(value),
        value,
        [_node(child, file) if "kind" in child else None for child in value.get("inner", ())],
    )


def _token(location: dict[str, Any], file: str) -> Span | None:
    """Return the place of a token in the source; None: it is in a header or a macro's body."""
    if location.get("expansionLoc", {}).get("isMacroArgExpansion"):
        location = location["spellingLoc"]
    if location.get("file") != file or "offset" not in location:
        return None
    return location["offset"], location["offset"] + location["tokLen"]


def _type(value: clang_ast.Node) -> str:
    type_ = value.get("type", {})
    text: str = type_.get("desugaredQualType", type_.get("qualType", ""))
    return text


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


_SHORT, _WIDE = 36, 60  # characters


def excerpt(site: Site, span: Span) -> Span:
    """Return the span of the source that shows a change.

    That is the widest short expression around it; else the narrowest expression, the call of the
    macro around it, or its line; else itself.
    """
    begin = site.source.rfind(b"\n", 0, span[0]) + 1
    end = site.source.find(b"\n", span[1])
    nodes = [node for node in (*site.above[1:], site.node) if node.kind[-4:] != "Stmt"]
    inner = [node.span for node in nodes if node.span and _is_inside(span, node.span, site)]
    outer = [(begin, end if end >= 0 else len(site.source)), _call_around(site.source, span)]
    scopes = [*outer, *inner]
    texts = [site.source[slice(*scope)] for scope in scopes]
    lengths = [len(one_line(text)) if is_balanced(text) else _WIDE + 1 for text in texts]
    short = [each for each, length in zip(inner, lengths[2:], strict=True) if length <= _SHORT]
    fitting = [each for each, length in zip(scopes, lengths, strict=True) if length <= _WIDE]
    return next(iter(short), fitting[-1] if fitting else span)


def _call_around(source: bytes, span: Span) -> Span:
    """Return the innermost parentheses around a span, with the name before them."""
    begin, end = span
    depth = 0
    while begin > 0 and depth < 1:
        begin -= 1
        depth += {b"(": 1, b")": -1}.get(source[begin : begin + 1], 0)
    while end < len(source) and depth > 0:
        depth += {b"(": 1, b")": -1}.get(source[end : end + 1], 0)
        end += 1
    name = re.search(rb"\w*$", source[:begin])
    return (name.start() if name else begin), end


def _is_inside(span: Span, scope: Span, site: Site) -> bool:
    """Whether a scope contains a change, and more than the one changed word."""
    is_word = b" " not in site.source[slice(*span)]
    return scope[0] <= span[0] and span[1] <= scope[1] and (scope != span or not is_word)


def one_line(source: bytes) -> str:
    """Return a part of a source on one line, without comments."""
    return " ".join(COMMENT.sub(b" ", source).decode(errors="replace").split())
