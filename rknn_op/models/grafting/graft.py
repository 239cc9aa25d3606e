"""Make nodes of a model those of operator repositories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from opkit.errors import OpkitError
from opkit.text import printable
from rknn_op.models.extra import required
from rknn_op.models.grafting.custom_nodes import Custom, check_types, custom_of
from rknn_op.models.grafting.grafted_node import GraftedNode
from rknn_op.models.grafting.rewriting import Names, rewriter
from rknn_op.models.model import Model, Node
from rknn_op.models.onnx_file import subgraphs
from rknn_op.models.running.weights import OpenModel


@dataclass(frozen=True)
class Graft:
    """A model with the nodes of repositories.

    Attributes:
        model: the grafted model, with the weights of the original.
        nodes: the grafted nodes, in order.
    """

    model: OpenModel
    nodes: tuple[GraftedNode, ...]


def graft(opened: OpenModel, model: Model, found: Sequence[Custom]) -> Graft:
    """Return a model with the nodes of operators in the form of their converter.

    Args:
        opened: the model.
        model: the same model as values.
        found: the operators.

    Raises:
        OpkitError: a node does not match the description of its operator, or an operator has none.
    """
    check_types(found, {(node.op_type, node.domain) for node in model.nodes})
    proto = required("onnx").ModelProto()
    proto.CopyFrom(opened.proto)
    messages = zip(_nodes(opened.proto.graph), _nodes(proto.graph), strict=True)
    groups: dict[int, list[tuple[Node, Any, Any]]] = {}
    for node, (original, grafted) in zip(model.nodes, messages, strict=True):
        if custom := custom_of(found, node.op_type, node.domain):
            groups.setdefault(id(custom), []).append((node, original, grafted))
    names = Names({*_all_names(proto.graph)})
    constants = dict(_constants(opened.proto.graph))
    made = {}
    for custom in found:
        group = groups[id(custom)]
        nodes_of = [node for node, *_ in group]
        rewrite = rewriter(opened, model, custom, nodes_of, constants)
        for node, original, grafted in group:
            made[id(node)] = rewrite.graft(node, original, grafted, names)
    nodes = tuple(made[id(node)] for node in model.nodes if id(node) in made)
    numpy_helper = required("onnx.numpy_helper")
    for each in nodes:
        for name, array in () if each.custom.form.keeps_nodes else each.added.items():
            proto.graph.initializer.append(numpy_helper.from_array(array, name))
    _drop_unread(proto.graph, nodes)
    for custom in found:
        _import_domain(proto, custom, opened)
    return Graft(opened.changed(proto), nodes)


def _drop_unread(graph: Any, nodes: Sequence[GraftedNode]) -> None:
    """Drop the initializers that only the original nodes read."""
    before = {name for each in nodes for name in each.original.input}
    read = {each.name for each in (*graph.input, *graph.output)}
    for each in _graphs(graph):
        read.update(output.name for output in each.output)
        read.update(name for node in each.node for name in node.input)
    for position in reversed(range(len(graph.initializer))):
        if graph.initializer[position].name in before - read:
            del graph.initializer[position]


def _import_domain(proto: Any, custom: Custom, opened: OpenModel) -> None:
    """Import the domain of an operator's nodes.

    Raises:
        OpkitError: the model imports another version of it.
    """
    domain, versions = custom.form.domain, custom.form.versions
    if domain is None:
        return
    imported = {
        "" if each.domain == "ai.onnx" else each.domain: each.version for each in proto.opset_import
    }
    if domain not in imported:
        opset = required("onnx.helper").make_opsetid(domain, versions[0])
        proto.opset_import.append(opset)
    elif not versions[0] <= imported[domain] <= versions[1]:
        raise OpkitError(
            f"{opened.file}: imports version {imported[domain]} of the domain "
            f"{printable(domain) or 'of ONNX'}; {custom.operator.root} has the operator for "
            f"{versions[0]} to {versions[1]} (`opset` in its op.yml)"
        )


def _nodes(graph: Any) -> Iterator[Any]:
    """Yield the nodes of a graph and of its subgraphs, in the order of Model."""
    for node in graph.node:
        yield node
        for subgraph in subgraphs(node):
            yield from _nodes(subgraph)


def _graphs(graph: Any) -> Iterator[Any]:
    """Yield a graph and its subgraphs."""
    yield graph
    for node in graph.node:
        for subgraph in subgraphs(node):
            yield from _graphs(subgraph)


def _all_names(graph: Any) -> Iterator[str]:
    """Yield the names of all tensors."""
    for each in _graphs(graph):
        yield from (tensor.name for tensor in (*each.input, *each.initializer))
        for node in each.node:
            yield from (*node.input, *node.output)


def _constants(graph: Any) -> Iterator[tuple[str, Any]]:
    """Yield name and value of small tensors that the model holds."""
    onnx = required("onnx")
    for each in _graphs(graph):
        for tensor in each.initializer:
            if tensor.data_location != onnx.TensorProto.EXTERNAL:
                yield tensor.name, tensor
        for node in each.node:
            if node.op_type == "Constant" and node.attribute and node.attribute[0].HasField("t"):
                yield node.output[0], node.attribute[0].t
