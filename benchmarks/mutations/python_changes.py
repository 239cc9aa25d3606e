"""The small changes of a source in Python, from its syntax tree."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable, Iterator
from itertools import pairwise

from opkit.mutation.mutants import Change

_Edit = tuple[ast.AST, str]
"""A replaced node, and its new source."""
_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    operator: other
    for pair in (
        *((ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq)),
        *((ast.Is, ast.IsNot), (ast.In, ast.NotIn)),
    )
    for operator, other in (pair, pair[::-1])
}
_ORDERED = (ast.Add, ast.Sub, ast.Div, ast.FloorDiv, ast.Mod, ast.LShift, ast.RShift)
"""The operators that may not be commutative; `+` concatenates, too."""
_TWINS = {
    name: other
    for pair in (
        *(("all", "any"), ("min", "max"), ("startswith", "endswith"), ("lstrip", "rstrip")),
        *(("find", "rfind"), ("partition", "rpartition"), ("removeprefix", "removesuffix")),
    )
    for name, other in (pair, pair[::-1])
}
_COUNTS = ("len", "count", "find", "index", "rfind")
"""The functions for whose result +1 is a small change."""
_PLACEHOLDER = re.compile(rb"\$(\w+)")
_COMPOUND = (ast.BinOp, ast.BoolOp, ast.IfExp, ast.UnaryOp, ast.Compare)


def changes(source: bytes, file: str) -> list[Change]:
    """Return all changes of a source, in its order.

    Docstrings, annotations, decorators and f-strings are left out.

    Args:
        source: its bytes.
        file: its name in messages.
    """
    offsets = [0]
    for line in source.splitlines(keepends=True):
        offsets.append(offsets[-1] + len(line))
    # A placeholder of a template stands where a name may stand.
    python = _PLACEHOLDER.sub(rb"Q\1", source)
    placeholders = {f"Q{name.decode()}" for name in _PLACEHOLDER.findall(source)}
    found: dict[tuple[tuple[int, int], bytes], Change] = {}
    for node in _walk(ast.parse(python)):
        for kind, edits in KINDS.items():
            for target, text in edits(node):
                assert isinstance(target, (ast.expr, ast.stmt))
                assert target.end_lineno is not None
                assert target.end_col_offset is not None
                begin = offsets[target.lineno - 1] + target.col_offset
                end = offsets[target.end_lineno - 1] + target.end_col_offset
                for name in placeholders:
                    text = text.replace(name, f"${name[1:]}")
                new = f"({text})" if isinstance(target, _COMPOUND) else text
                change = Change(
                    *(file, kind, target.lineno, (begin, end), new.encode()),
                    *(ast.unparse(target), text),
                )
                found.setdefault((change.span, change.text), change)
    return sorted(found.values(), key=lambda change: (change.span, change.text))


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of code that runs."""
    yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_comment"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _is_left_out(child):
                yield from _walk(child)


def _is_left_out(node: ast.AST) -> bool:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True  # a docstring
    if isinstance(node, ast.keyword) and node.arg == "timeout":
        return True
    is_condition = isinstance(node, ast.If) and isinstance(node.test, ast.Name)
    is_for_types = is_condition and ast.unparse(node).startswith("if TYPE_CHECKING")
    # Python before 3.12 has wrong places in f-strings.
    return is_for_types or isinstance(node, (ast.JoinedStr, ast.Import, ast.ImportFrom))


def _comparison(node: ast.AST) -> Iterator[_Edit]:
    if isinstance(node, ast.Compare):
        for index, operator in enumerate(node.ops):
            changed = copy.deepcopy(node)
            changed.ops[index] = _COMPARISONS[type(operator)]()
            yield node, ast.unparse(changed)


def _logic(node: ast.AST) -> Iterator[_Edit]:
    if isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield node, ast.unparse(ast.BoolOp(other, node.values))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node, ast.unparse(node.operand)
    elif isinstance(node, ast.Call):
        changed = copy.deepcopy(node)
        name = _called(node)
        if name in _TWINS and isinstance(changed.func, ast.Name):
            changed.func.id = _TWINS[name]
            yield node, ast.unparse(changed)
        elif name in _TWINS and isinstance(changed.func, ast.Attribute):
            changed.func.attr = _TWINS[name]
            yield node, ast.unparse(changed)


def _called(node: ast.Call) -> str:
    function = node.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _plus_one(node: ast.AST) -> Iterator[_Edit]:
    if isinstance(node, ast.Call) and _called(node) in _COUNTS:
        yield node, f"({ast.unparse(node)} + 1)"


def _swapped_operands(node: ast.AST) -> Iterator[_Edit]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, _ORDERED):
        is_format = isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant)
        if not is_format and ast.dump(node.left) != ast.dump(node.right):
            yield node, ast.unparse(ast.BinOp(node.right, node.op, node.left))
    elif isinstance(node, ast.IfExp):
        yield node, ast.unparse(ast.IfExp(node.test, node.orelse, node.body))
    elif isinstance(node, ast.Call):
        for index, (first, second) in enumerate(pairwise(node.args)):
            is_starred = isinstance(first, ast.Starred) or isinstance(second, ast.Starred)
            if not is_starred and ast.dump(first) != ast.dump(second):
                changed = copy.deepcopy(node)
                changed.args[index : index + 2] = [second, first]
                yield node, ast.unparse(changed)


def _dropped_statement(node: ast.AST) -> Iterator[_Edit]:
    is_call = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    # Without the assignment of a name, any later use of it fails.
    is_stored = isinstance(node, ast.Assign) and not isinstance(node.targets[0], ast.Name)
    is_step = isinstance(node, (ast.AugAssign, ast.Continue, ast.Break, ast.Raise, ast.Delete))
    if is_call or is_stored or is_step:
        yield node, "pass"


def _constant(node: ast.AST) -> Iterator[_Edit]:
    if isinstance(node, ast.Constant):
        if isinstance(node.value, bool):
            yield node, str(not node.value)
        elif isinstance(node.value, int):
            yield node, str(node.value + 1)
    elif isinstance(node, ast.Compare):
        for side in (node.left, *node.comparators):
            if isinstance(side, ast.Constant) and isinstance(side.value, str):
                yield side, repr(f"{side.value}?")


KINDS: dict[str, Callable[[ast.AST], Iterator[_Edit]]] = {
    "comparison": _comparison,
    "logic": _logic,
    "+1": _plus_one,
    "operands": _swapped_operands,
    "statement": _dropped_statement,
    "constant": _constant,
}
