"""The choice of a model's nodes: of an operator type, or by name."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from opkit.common.errors import OpkitError
from opkit.common.text import closest, printable
from rknn_op.models.model_graph import Model, Node, plain
from rknn_op.models.unsuitable import remedy


@dataclass(frozen=True)
class Selection:
    """The nodes to make repositories for: exactly one attribute must be set.

    Attributes:
        op_type: all nodes of a type.
        node: the node of a name.
        is_all: all nodes of all types that the target lacks.
    """

    op_type: str | None = None
    node: str | None = None
    is_all: bool = False

    @property
    def count(self) -> int:
        """The count of set attributes."""
        return (self.op_type is not None) + (self.node is not None) + self.is_all


_OWN_DOMAIN = "ai.onnx"
_MAX_LISTED = 40


def type_name(domain: str, op_type: str) -> str:
    """Return the name of an operator type that is unique in a model, `domain:TYPE`."""
    return f"{domain or _OWN_DOMAIN}:{op_type}"


def selected_nodes(model: Model, selection: Selection, runtimes: Collection[str]) -> list[Node]:
    """Return the nodes of a type or a name that change; converters compute the others.

    Args:
        model: the model.
        selection: a name, or a type: `TYPE`, or `domain:TYPE` if two domains have it.
        runtimes: the runtimes of the custom operator.

    Raises:
        OpkitError: the model has no such node, two domains have the type, several nodes have the
            name, all of them are constant, or a custom operator cannot replace them.
    """
    by_name = selection.node is not None
    wanted = selection.node or selection.op_type or ""
    option, what = ("--node", "nodes") if by_name else ("--op", "operators")
    nodes = [
        node
        for node in model.nodes
        if wanted
        in ((node.name,) if by_name else (node.op_type, type_name(node.domain, node.op_type)))
    ]
    if not nodes:
        known = [*dict.fromkeys(node.name if by_name else node.op_type for node in model.nodes)]
        near = [f"'{plain(each)}'" for each in closest(wanted, known, count=3)]
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        listed = ", ".join(plain(each) for each in sorted(known)[:_MAX_LISTED]) or "none"
        more = f" and {len(known) - _MAX_LISTED} more" if len(known) > _MAX_LISTED else ""
        raise OpkitError(
            f"{option}: the model has no '{plain(wanted)}'{hint} (its {what}: {listed}{more})"
        )
    where = f"{option} {plain(wanted)}"
    if by_name and len(nodes) > 1:
        types = ", ".join(plain(name) for name in dict.fromkeys(node.op_type for node in nodes))
        raise OpkitError(
            f"{where}: {len(nodes)} nodes have this name ({types}); rename them in the model, or "
            "pass --op TYPE"
        )
    domains = dict.fromkeys(node.domain for node in nodes)
    if len(domains) > 1:
        names = " or ".join(printable(type_name(each, nodes[0].op_type)) for each in domains)
        raise OpkitError(f"{where}: the model has it in two domains; write {names}")
    changing = [node for node in nodes if not node.is_constant]
    if not changing:
        raise OpkitError(
            f"{where}: all inputs are constant; converters compute such nodes themselves"
        )
    if advice := remedy(changing[0].domain, changing[0].op_type, runtimes):
        raise OpkitError(
            f"{where}: a custom operator cannot replace {plain(changing[0].op_type)}; {advice}"
        )
    return changing
