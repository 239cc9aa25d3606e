"""The functions and structs of a source, from clang's syntax tree."""

from __future__ import annotations

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
