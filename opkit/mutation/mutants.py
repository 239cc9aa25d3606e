"""The small changes of a source in C or OpenCL C, without those that no case can notice."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from opkit.mutation.c_source import (
    COMMENT,
    LITERALS,
    Edit,
    Node,
    Site,
    Span,
    SyntaxTree,
    excerpt,
    one_line,
    operand,
)

COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
_ALLOCATION = frozenset(("malloc", "calloc", "realloc", "aligned_alloc", "alloca"))


def is_unnoticed(node: Node, above: Sequence[Node]) -> bool:
    """Whether no case can notice a change in a node.

    Such changes are in an `if` that only returns a text; in the size of allocated memory, which may
    be larger; in a comparison of pointers; in a `sizeof`.

    Args:
        node: the node.
        above: the nodes around it.
    """
    return any(
        each.kind == "UnaryExprOrTypeTraitExpr"
        or each.callee in _ALLOCATION
        or _is_refusal(each)
        or _compares_pointers(each)
        for each in (*above, node)
        if each is not node or not each.callee  # the call itself can be dropped
    )


def chooses_an_operand(site: Site) -> bool:
    """Whether a comparison chooses between its operands, as in `x < 0 ? 0 : x`.

    With equal operands both choices are the same, so `<` may be `<=`.
    """
    child = site.node
    for above in reversed(site.above):
        if above.kind in ("ConditionalOperator", "IfStmt"):
            chosen = _chosen(above)
            operands = {site.text(part) for part in site.node.parts}
            return above.parts[0] is child and {site.text(each) for each in chosen} == operands
        if above.kind != "ParenExpr" and above.fields.get("opcode") != "&&":
            return False
        child = above
    return False


def _chosen(node: Node) -> Sequence[Node]:
    """Return the choices of a conditional expression; or both sides of a lone assignment."""
    if node.kind == "ConditionalOperator":
        return node.parts[1:]
    then = _only_statement(node.parts[1])
    is_lone = len(node.parts) == 2 and then is not None and then.fields.get("opcode") == "="
    return then.parts if is_lone and then is not None else ()


def _only_statement(node: Node) -> Node | None:
    if node.kind != "CompoundStmt":
        return node
    return node.parts[0] if len(node.parts) == 1 else None


def _compares_pointers(node: Node) -> bool:
    is_comparison = node.fields.get("opcode") in COMPARISONS
    return is_comparison and any("*" in part.type for part in node.parts)


def _is_refusal(node: Node) -> bool:
    """Whether this is an `if` that only returns a text."""
    if node.kind != "IfStmt":
        return False
    then = _only_statement(node.parts[1])
    value = then.parts[0] if then and then.kind == "ReturnStmt" and then.parts else None
    return value is not None and value.kind == "StringLiteral"


_ORDERED = ("-", "/", "%", "<<", ">>")
"""The operators that are not commutative."""
_STATEMENTS = frozenset(("CompoundAssignOperator", "CallExpr", "BreakStmt", "ContinueStmt"))
_NOT_STATEMENTS = frozenset(("DeclStmt", "ReturnStmt", "NullStmt"))
_WITH_BODY = frozenset(("IfStmt", "ForStmt", "WhileStmt", "DoStmt"))
_QUALIFIERS = re.compile(r"\b(?:const|volatile|__private)\b|__attribute__\(\(ext_vector_type.*\)\)")
_ARITHMETIC = frozenset("unsigned signed char short int long float double half _Float16".split())
_NUMBER = re.compile(
    r"(0[xX][0-9a-fA-F.]+(?:[pP][-+]?[0-9]+)?|[0-9.]+(?:[eE][-+]?[0-9]+)?)([uUlLfFhH]*)"
)
_OWN_STRUCT = "opkit_"


def _comparison(site: Site) -> Iterator[Edit]:
    node = site.node
    name = node.fields.get("opcode", "")
    if node.kind != "BinaryOperator" or name not in COMPARISONS:
        return
    span = _operator(site, name)
    if span and (name in ("==", "!=") or not chooses_an_operand(site)):
        yield span, COMPARISONS[name].encode()


def _plus_one(site: Site) -> Iterator[Edit]:
    for value in _values(site):
        if value.kind not in LITERALS and _is_arithmetic(value):
            yield from site.replaced(value, operand(value, site.text(value)) + b" + 1")


def _values(site: Site) -> Sequence[Node]:
    """Return the parts of a node for which +1 is a small change."""
    node = site.node
    match node.kind:
        case "ArraySubscriptExpr" | "ReturnStmt":
            return node.parts[-1:]
        case "VarDecl":
            return node.parts[-1:] if "init" in node.fields else ()
        case "BinaryOperator":
            return node.parts[1:] if node.fields["opcode"] == "=" else ()
        case "CallExpr":
            return _arguments_of_own(site)
    return ()


def _swapped_operands(site: Site) -> Iterator[Edit]:
    node = site.node
    match node.kind:
        case "BinaryOperator" if node.fields["opcode"] in _ORDERED:
            pairs = [(node.parts[0], node.parts[1])]
        case "ConditionalOperator":
            pairs = [(node.parts[1], node.parts[2])]
        case "CallExpr":
            arguments = _arguments_of_own(site)
            pairs = list(pairwise(arguments))
        case _:
            return
    for first, second in pairs:
        if _is_arithmetic(first) and _is_arithmetic(second):
            yield from site.exchanged(first, second)


def _dropped_statement(site: Site) -> Iterator[Edit]:
    node, parent = site.node, site.parent
    in_block = parent.kind == "CompoundStmt"
    if not in_block and not (parent.kind in _WITH_BODY and node in parent.children[1:]):
        return
    if node.macro is not None and in_block and node.kind not in _NOT_STATEMENTS:
        end = _end_of_call(site.source, node.macro)
        if end:
            yield (node.macro, end), b""
    is_head_of_for = parent.kind == "ForStmt" and node is not parent.children[-1]
    if _is_statement(node) and not is_head_of_for:
        yield from site.replaced(node, b"")


def _is_statement(node: Node) -> bool:
    operator = node.fields.get("opcode")
    is_step = node.kind == "UnaryOperator" and operator in ("++", "--")
    is_assignment = node.kind == "BinaryOperator" and operator == "="
    return is_step or is_assignment or node.kind in _STATEMENTS


def _constant(site: Site) -> Iterator[Edit]:
    literal = _NUMBER.fullmatch(site.text(site.node).decode(errors="replace"))
    if literal is None:
        return
    if site.node.kind == "IntegerLiteral":
        text = _next_integer(literal[1])
    elif site.node.kind == "FloatingLiteral":
        is_hexadecimal = literal[1][:2].lower() == "0x"
        value = float.fromhex(literal[1]) if is_hexadecimal else float(literal[1])
        text = repr(value + 1 if np.float32(value + 1) != np.float32(value) else 2 * value)
    else:
        return
    yield from site.replaced(site.node, f"{text}{literal[2]}".encode())


def _next_integer(text: str) -> str:
    """Return the next integer, written to the same base."""
    if text[:2].lower() == "0x":
        return f"{text[:2]}{int(text, 16) + 1:X}"
    return f"0{int(text, 8) + 1:o}" if text[0] == "0" and text != "0" else str(int(text) + 1)


def _exchanged_param(site: Site) -> Iterator[Edit]:
    last = site.node.last
    if last is None:
        return
    own = site.source[slice(*last)].decode(errors="replace")
    names = [*_members_of_one_type(site), *_parameters_of_one_type(site)]
    for name in names if own in names else ():
        if name != own:
            yield last, name.encode()


def _members_of_one_type(site: Site) -> list[str]:
    """Return the members of a struct that have the type of this one."""
    members = site.tree.members
    own = members.get(site.node.fields.get("referencedMemberDecl", ""))
    if own is None or own.struct.startswith(_OWN_STRUCT):
        return []
    return [
        each.name for each in members.values() if (each.struct, each.type) == (own.struct, own.type)
    ]


def _parameters_of_one_type(site: Site) -> list[str]:
    """Return the parameters of a function that have the type of this one."""
    if site.node.fields.get("referencedDecl", {}).get("kind") != "ParmVarDecl":
        return []
    return [
        each.fields["name"]
        for each in site.above[0].parts
        if each.kind == "ParmVarDecl"
        and "name" in each.fields
        and _unqualified(each.type) == _unqualified(site.node.type)
    ]


KINDS: dict[str, Callable[[Site], Iterator[Edit]]] = {
    "comparison": _comparison,
    "+1": _plus_one,
    "operands": _swapped_operands,
    "statement": _dropped_statement,
    "constant": _constant,
    "param": _exchanged_param,
}


def _operator(site: Site, name: str) -> Span | None:
    """Return the place of an expression's operator, the only token between its operands."""
    left, right = site.node.parts
    if left.span is None or right.span is None:
        return None
    between = site.source[left.span[1] : right.span[0]]
    blank = COMMENT.sub(lambda comment: b" " * len(comment[0]), between)
    begin = left.span[1] + blank.find(name.encode())
    return (begin, begin + len(name)) if blank.strip() == name.encode() else None


def _end_of_call(source: bytes, begin: int) -> int | None:
    """Return the end of a macro's call; None: it is not a statement."""
    name = re.compile(rb"\w+\s*\(").match(source, begin)
    depth, position = 1, name.end() if name else len(source)
    while depth and position < len(source):
        depth += {b"(": 1, b")": -1}.get(source[position : position + 1], 0)
        position += 1
    is_statement = source[position:].lstrip()[:1] == b";"
    return position if is_statement and not depth else None


def _arguments_of_own(site: Site) -> list[Node]:
    """Return the arguments of a call of one of the source's functions."""
    is_own = site.node.callee in site.tree.functions
    return site.node.parts[1:] if is_own else []


def _unqualified(type_: str) -> str:
    return " ".join(_QUALIFIERS.sub(" ", type_).split())


def _is_arithmetic(node: Node) -> bool:
    """Whether this is a number, or a vector of numbers; not a truth value, nor a pointer."""
    words = _unqualified(node.type).split()
    return bool(words) and _ARITHMETIC.issuperset(words)


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

    Changes that no case can notice are left out where that is obvious: see is_unnoticed.

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
