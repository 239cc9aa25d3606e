"""The choice of a model's nodes: of an operator type, or by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from opkit.errors import OpkitError
from opkit.text import closest, printable
from rknn_op.models.model_graph import Model, Node, plain


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


def nodes_of_type(model: Model, wanted: str) -> list[Node]:
    """Return the nodes of an operator type that change; converters compute the others.

    Args:
        model: the model.
        wanted: `TYPE`, or `domain:TYPE` if two domains have it.

    Raises:
        OpkitError: the model has no such node, or two domains have the type.
    """
    nodes = [
        node
        for node in model.nodes
        if wanted in (node.op_type, type_name(node.domain, node.op_type))
    ]
    if not nodes:
        raise _unknown("--op", wanted, [node.op_type for node in model.nodes], "operators")
    domains = dict.fromkeys(node.domain for node in nodes)
    if len(domains) > 1:
        names = " or ".join(printable(type_name(each, nodes[0].op_type)) for each in domains)
        raise OpkitError(f"--op {plain(wanted)}: the model has it in two domains; write {names}")
    return _changing(nodes, f"--op {plain(wanted)}")


def node_of_name(model: Model, wanted: str) -> list[Node]:
    """Return the node of a name.

    Raises:
        OpkitError: the model has none or several of this name, or the node is constant.
    """
    nodes = [node for node in model.nodes if node.name == wanted]
    if not nodes:
        raise _unknown("--node", wanted, [node.name for node in model.nodes], "nodes")
    if len(nodes) > 1:
        types = ", ".join(plain(name) for name in dict.fromkeys(node.op_type for node in nodes))
        raise OpkitError(
            f"--node {plain(wanted)}: {len(nodes)} nodes have this name ({types}); rename them in "
            "the model, or pass --op TYPE"
        )
    return _changing(nodes, f"--node {plain(wanted)}")


def _changing(nodes: Sequence[Node], option: str) -> list[Node]:
    changing = [node for node in nodes if not node.is_constant]
    if not changing:
        raise OpkitError(
            f"{option}: all inputs are constant; converters compute such nodes themselves"
        )
    return changing


def _unknown(option: str, wanted: str, names: Iterable[str], what: str) -> OpkitError:
    known = [*dict.fromkeys(names)]
    near = closest(wanted, known, count=3)
    quoted = [f"'{plain(each)}'" for each in near]
    hint = f"; did you mean {' or '.join(quoted)}?" if near else ""
    listed = ", ".join(plain(each) for each in sorted(known)[:_MAX_LISTED])
    more = f" and {len(known) - _MAX_LISTED} more" if len(known) > _MAX_LISTED else ""
    return OpkitError(
        f"{option}: the model has no '{plain(wanted)}'{hint} (its {what}: {listed or 'none'}{more})"
    )
