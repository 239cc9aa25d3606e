"""The small changes of a source in C or OpenCL C, from its syntax tree."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from opkit.mutation.syntax_tree import Node, Span, SyntaxTree

_COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
_ORDERED = ("-", "/", "%", "<<", ">>")
"""The operators whose operands cannot be exchanged without a change of the result."""
_ALLOCATION = frozenset(("malloc", "calloc", "realloc", "aligned_alloc", "alloca"))
_STATEMENTS = frozenset(("CompoundAssignOperator", "CallExpr", "BreakStmt", "ContinueStmt"))
_NOT_STATEMENTS = frozenset(("DeclStmt", "ReturnStmt", "NullStmt"))
_WITH_BODY = frozenset(("IfStmt", "ForStmt", "WhileStmt", "DoStmt"))
_SIMPLE = frozenset(
    ("DeclRefExpr", "MemberExpr", "ArraySubscriptExpr", "CallExpr", "ParenExpr", "CStyleCastExpr")
)
"""Expressions that are operands without parentheses."""
_LITERALS = frozenset(("IntegerLiteral", "FloatingLiteral", "CharacterLiteral"))
_COMMENT = re.compile(rb"/\*.*?\*/|//[^\n]*", re.DOTALL)
_QUALIFIERS = re.compile(r"\b(?:const|volatile|__private)\b|__attribute__\(\(ext_vector_type.*\)\)")
_ARITHMETIC = frozenset("unsigned signed char short int long float double half _Float16".split())
_NUMBER = re.compile(r"(0[xX][0-9a-fA-F]+|[0-9.]+(?:[eE][-+]?[0-9]+)?)(\w*)")
_OWN_STRUCT = "opkit_"
_SHORT, _WIDE = 36, 60  # characters of what is shown around a change


@dataclass(frozen=True)
class Change:
    """A small change of a source.

    Attributes:
        file: the source.
        kind: one of KINDS.
        line: the line that it begins in.
        span: the bytes that are replaced.
        text: what replaces them; empty: a statement is dropped.
        before: what is shown of the source.
        after: the same, changed.
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


@dataclass(frozen=True)
class _Place:
    """A node, where it is, and what it is in."""

    node: Node
    above: tuple[Node, ...]
    source: bytes
    tree: SyntaxTree

    @property
    def parent(self) -> Node:
        return self.above[-1]

    def text(self, node: Node) -> bytes:
        begin, end = node.span or (0, 0)
        return self.source[begin:end]

    def replaced(self, node: Node, text: bytes) -> Iterator[_Edit]:
        if node.span and _is_balanced(self.text(node)):
            yield node.span, text

    def exchanged(self, first: Node, second: Node) -> Iterator[_Edit]:
        """Yield the edit that exchanges two parts of the node, if they differ."""
        texts = [self.text(first), self.text(second)]
        if first.span and second.span and texts[0] != texts[1] and all(map(_is_balanced, texts)):
            between = self.source[first.span[1] : second.span[0]]
            if self.node.kind == "BinaryOperator":
                texts = [_operand(first, texts[0]), _operand(second, texts[1])]
            yield (first.span[0], second.span[1]), texts[1] + between + texts[0]


_Edit = tuple[Span, bytes]


def changes(tree: SyntaxTree, source: bytes, file: str, root: str = "") -> list[Change]:
    """Return all changes of a source, by place.

    What no case can notice is left out where that is obvious: refusals, which are an `if` that
    returns a text alone; the size of memory that is allocated; comparisons of pointers; `<` for
    `<=` where equal operands give the same result.

    Args:
        tree: its syntax tree.
        source: its bytes.
        file: its name in messages.
        root: the function that runs, which may call others; empty: all may run.
    """
    functions = tree.reachable(root) if root else tree.functions.values()
    found: dict[_Edit, Change] = {}
    for function in functions:
        for node, above in function.walk():
            if above and not _is_unnoticed(node, above):
                place = _Place(node, above, source, tree)
                for kind, edits in KINDS.items():
                    for edit in edits(place):
                        found.setdefault(edit, _change(place, file, kind, edit))
    return sorted(found.values(), key=lambda change: (change.span, change.text))


def _change(place: _Place, file: str, kind: str, edit: _Edit) -> Change:
    span, text = edit
    scope = _scope(place, span) if text else span
    before = place.source[slice(*scope)]
    after = place.source[scope[0] : span[0]] + text + place.source[span[1] : scope[1]]
    line = place.source.count(b"\n", 0, span[0]) + 1
    return Change(file, kind, line, span, text, _shown(before), _shown(after) if text else "")


def _scope(place: _Place, span: Span) -> Span:
    """Return the part of the source that shows a change.

    That is the widest short expression around it; else the narrowest, the macro's call that it is
    in, or its line; else itself.
    """
    begin = place.source.rfind(b"\n", 0, span[0]) + 1
    end = place.source.find(b"\n", span[1])
    nodes = [node for node in (*place.above[1:], place.node) if node.kind[-4:] != "Stmt"]
    inner = [node.span for node in nodes if node.span and _is_inside(span, node.span, place)]
    outer = [(begin, end if end >= 0 else len(place.source)), _call_around(place.source, span)]
    scopes = [*outer, *inner]
    texts = [place.source[slice(*scope)] for scope in scopes]
    lengths = [len(_shown(text)) if _is_balanced(text) else _WIDE + 1 for text in texts]
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


def _is_inside(span: Span, scope: Span, place: _Place) -> bool:
    """Whether a scope has a change in it, and more than the one word that changes."""
    is_word = b" " not in place.source[slice(*span)]
    return scope[0] <= span[0] and span[1] <= scope[1] and (scope != span or not is_word)


def _is_balanced(text: bytes) -> bool:
    """Whether a node is all of its text; of a literal vector, clang's span has one bracket."""
    return text.count(b"(") == text.count(b")")


def _shown(source: bytes) -> str:
    return " ".join(_COMMENT.sub(b" ", source).decode(errors="replace").split())


# ---- The kinds -----------------------------------------------------------------------------------


def _comparison(place: _Place) -> Iterator[_Edit]:
    node = place.node
    name = node.fields.get("opcode", "")
    if node.kind != "BinaryOperator" or name not in _COMPARISONS:
        return
    span = _operator(place, name)
    if span and (name in ("==", "!=") or not _chooses_an_operand(place)):
        yield span, _COMPARISONS[name].encode()


def _plus_one(place: _Place) -> Iterator[_Edit]:
    for value in _values(place):
        if value.kind not in _LITERALS and _is_arithmetic(value):
            yield from place.replaced(value, _operand(value, place.text(value)) + b" + 1")


def _values(place: _Place) -> Sequence[Node]:
    """Return the parts of a node that +1 makes a small change of."""
    node = place.node
    match node.kind:
        case "ArraySubscriptExpr" | "ReturnStmt":
            return node.parts[-1:]
        case "VarDecl":
            return node.parts[-1:] if "init" in node.fields else ()
        case "BinaryOperator":
            return node.parts[1:] if node.fields["opcode"] == "=" else ()
        case "CallExpr":
            return _arguments_of_own(place)
    return ()


def _swapped_operands(place: _Place) -> Iterator[_Edit]:
    node = place.node
    match node.kind:
        case "BinaryOperator" if node.fields["opcode"] in _ORDERED:
            pairs = [(node.parts[0], node.parts[1])]
        case "ConditionalOperator":
            pairs = [(node.parts[1], node.parts[2])]
        case "CallExpr":
            arguments = _arguments_of_own(place)
            pairs = list(pairwise(arguments))
        case _:
            return
    for first, second in pairs:
        if _is_arithmetic(first) and _is_arithmetic(second):
            yield from place.exchanged(first, second)


def _dropped_statement(place: _Place) -> Iterator[_Edit]:
    node, parent = place.node, place.parent
    in_block = parent.kind == "CompoundStmt"
    if not in_block and not (parent.kind in _WITH_BODY and node in parent.children[1:]):
        return
    if node.macro is not None and in_block and node.kind not in _NOT_STATEMENTS:
        end = _end_of_call(place.source, node.macro)
        if end:
            yield (node.macro, end), b""
    is_head_of_for = parent.kind == "ForStmt" and node is not parent.children[-1]
    if _is_statement(node) and not is_head_of_for:
        yield from place.replaced(node, b"")


def _is_statement(node: Node) -> bool:
    operator = node.fields.get("opcode")
    is_step = node.kind == "UnaryOperator" and operator in ("++", "--")
    is_assignment = node.kind == "BinaryOperator" and operator == "="
    return is_step or is_assignment or node.kind in _STATEMENTS


def _constant(place: _Place) -> Iterator[_Edit]:
    number = _NUMBER.fullmatch(place.text(place.node).decode(errors="replace"))
    if number is None:
        return
    if place.node.kind == "IntegerLiteral":
        text = _next_integer(number[1])
    elif place.node.kind == "FloatingLiteral":
        value = float(number[1])
        text = repr(value + 1 if np.float32(value + 1) != np.float32(value) else 2 * value)
    else:
        return
    yield from place.replaced(place.node, f"{text}{number[2]}".encode())


def _next_integer(text: str) -> str:
    """Return the next integer, written to the same base."""
    if text[:2].lower() == "0x":
        return f"{text[:2]}{int(text, 16) + 1:X}"
    return f"0{int(text, 8) + 1:o}" if text[0] == "0" and text != "0" else str(int(text) + 1)


def _exchanged_param(place: _Place) -> Iterator[_Edit]:
    last = place.node.last
    if last is None:
        return
    own = place.source[slice(*last)].decode(errors="replace")
    names = [*_members_of_one_type(place), *_parameters_of_one_type(place)]
    for name in names if own in names else ():
        if name != own:
            yield last, name.encode()


def _members_of_one_type(place: _Place) -> list[str]:
    """Return the members of a struct that have the type of this one."""
    members = place.tree.members
    own = members.get(place.node.fields.get("referencedMemberDecl", ""))
    if own is None or own.struct.startswith(_OWN_STRUCT):
        return []
    return [
        each.name for each in members.values() if (each.struct, each.type) == (own.struct, own.type)
    ]


def _parameters_of_one_type(place: _Place) -> list[str]:
    """Return the parameters of a function that have the type of this one."""
    if place.node.fields.get("referencedDecl", {}).get("kind") != "ParmVarDecl":
        return []
    return [
        each.fields["name"]
        for each in place.above[0].parts
        if each.kind == "ParmVarDecl"
        and "name" in each.fields
        and _unqualified(each.type) == _unqualified(place.node.type)
    ]


KINDS: dict[str, Callable[[_Place], Iterator[_Edit]]] = {
    "comparison": _comparison,
    "+1": _plus_one,
    "operands": _swapped_operands,
    "statement": _dropped_statement,
    "constant": _constant,
    "param": _exchanged_param,
}


# ---- Questions about nodes -----------------------------------------------------------------------


def _operator(place: _Place, name: str) -> Span | None:
    """Return where the operator of an expression is, which is all between its operands."""
    left, right = place.node.parts
    if left.span is None or right.span is None:
        return None
    between = place.source[left.span[1] : right.span[0]]
    blank = _COMMENT.sub(lambda comment: b" " * len(comment[0]), between)
    begin = left.span[1] + blank.find(name.encode())
    return (begin, begin + len(name)) if blank.strip() == name.encode() else None


def _chooses_an_operand(place: _Place) -> bool:
    """Whether a comparison chooses between its operands, as in `x < 0 ? 0 : x`."""
    child = place.node
    for above in reversed(place.above):
        if above.kind in ("ConditionalOperator", "IfStmt"):
            chosen = _chosen(above)
            operands = {place.text(part) for part in place.node.parts}
            return above.parts[0] is child and {place.text(each) for each in chosen} == operands
        if above.kind != "ParenExpr" and above.fields.get("opcode") != "&&":
            return False
        child = above
    return False


def _chosen(node: Node) -> Sequence[Node]:
    """Return what a conditional expression chooses from; or both sides of a lone assignment."""
    if node.kind == "ConditionalOperator":
        return node.parts[1:]
    then = _only_statement(node.parts[1])
    is_lone = len(node.parts) == 2 and then is not None and then.fields.get("opcode") == "="
    return then.parts if is_lone and then is not None else ()


def _only_statement(node: Node) -> Node | None:
    if node.kind != "CompoundStmt":
        return node
    return node.parts[0] if len(node.parts) == 1 else None


def _is_unnoticed(node: Node, above: Sequence[Node]) -> bool:
    """Whether what is changed in a node makes no difference, or none that a case can see."""
    return any(
        each.kind == "UnaryExprOrTypeTraitExpr"
        or _callee(each) in _ALLOCATION
        or _is_refusal(each)
        or _compares_pointers(each)
        for each in (*above, node)
        if each is not node or not _callee(each)  # the call itself can be dropped
    )


def _compares_pointers(node: Node) -> bool:
    is_comparison = node.fields.get("opcode") in _COMPARISONS
    return is_comparison and any("*" in part.type for part in node.parts)


def _is_refusal(node: Node) -> bool:
    """Whether this is an `if` that returns a text, and nothing else."""
    if node.kind != "IfStmt":
        return False
    then = _only_statement(node.parts[1])
    value = then.parts[0] if then and then.kind == "ReturnStmt" and then.parts else None
    return value is not None and value.kind == "StringLiteral"


def _callee(node: Node) -> str:
    if node.kind != "CallExpr" or not node.parts:
        return ""
    name: str = node.parts[0].fields.get("referencedDecl", {}).get("name", "")
    return name


def _arguments_of_own(place: _Place) -> list[Node]:
    """Return the arguments of a call of one of the source's functions."""
    is_own = _callee(place.node) in place.tree.functions
    return place.node.parts[1:] if is_own else []


def _unqualified(type_: str) -> str:
    return " ".join(_QUALIFIERS.sub(" ", type_).split())


def _is_arithmetic(node: Node) -> bool:
    """Whether this is a number, or a vector of numbers; not a truth value, nor a pointer."""
    words = _unqualified(node.type).split()
    return bool(words) and _ARITHMETIC.issuperset(words)


def _operand(node: Node, text: bytes) -> bytes:
    """Return an expression as an operand, in parentheses if it needs them."""
    return text if node.kind in (*_SIMPLE, *_LITERALS) else b"(%s)" % text


def _end_of_call(source: bytes, begin: int) -> int | None:
    """Return where a macro's call ends that is a statement; None: it is something else."""
    name = re.compile(rb"\w+\s*\(").match(source, begin)
    depth, position = 1, name.end() if name else len(source)
    while depth and position < len(source):
        depth += {b"(": 1, b")": -1}.get(source[position : position + 1], 0)
        position += 1
    is_statement = source[position:].lstrip()[:1] == b";"
    return position if is_statement and not depth else None
