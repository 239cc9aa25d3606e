"""Changes that make no difference, or none that a case can notice, and are left out."""

from __future__ import annotations

from collections.abc import Sequence

from opkit.mutation.site import Site
from opkit.mutation.syntax_tree import Node

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
