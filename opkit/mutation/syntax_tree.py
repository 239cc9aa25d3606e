"""The functions of a source, from the syntax tree that clang writes as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Span = tuple[int, int]
"""Begin and end, as offsets in the bytes of a source."""
_IMPLICIT = frozenset(("ImplicitCastExpr", "ConstantExpr", "ExprWithCleanups"))


@dataclass(frozen=True)
class Node:
    """A node of the tree, without implicit casts.

    Attributes:
        kind: clang's name of it.
        span: where it is in the source, if it is written there in one piece: itself, or as the
            argument of a macro.
        last: where its last token is.
        macro: where the name of the macro is that it begins in, if that is in the source.
        type: its type without typedefs.
        fields: all that clang says of it.
        children: in clang's order; None stands for a part that a statement does not have.
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
        """The children that there are."""
        return [child for child in self.children if child is not None]

    def walk(self, above: tuple[Node, ...] = ()) -> Iterator[tuple[Node, tuple[Node, ...]]]:
        """Yield each node with those that it is in, the innermost last."""
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
    """What a source declares.

    Attributes:
        functions: name -> definition, of those in the source itself.
        members: clang's id of a member -> the member, also of structs in headers.
    """

    functions: Mapping[str, Node]
    members: Mapping[str, Member]

    def reachable(self, root: str) -> list[Node]:
        """Return the functions that one of them calls, directly or not, and itself; in order."""
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
    """Return the tree that clang has written with -ast-dump=json.

    Args:
        tree: the JSON.
        file: the source, as the command line names it.
    """
    top = json.loads(tree, object_hook=_Locations().complete).get("inner", [])
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


class _Locations:
    """Completes locations: clang omits a file that equals the previous one."""

    def __init__(self) -> None:
        self.file = ""

    def complete(self, value: dict[str, Any]) -> dict[str, Any]:
        if "offset" in value and "tokLen" in value:
            self.file = value.setdefault("file", self.file)
        return value


def _node(value: dict[str, Any], file: str) -> Node:
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
    """Return where a token is in the source; None: a header or the body of a macro has it."""
    if location.get("expansionLoc", {}).get("isMacroArgExpansion"):
        location = location["spellingLoc"]
    if location.get("file") != file or "offset" not in location:
        return None
    return location["offset"], location["offset"] + location["tokLen"]


def _type(value: dict[str, Any]) -> str:
    type_ = value.get("type", {})
    text: str = type_.get("desugaredQualType", type_.get("qualType", ""))
    return text
