"""The grafted model: nodes of operator repositories in place of its own, checked and written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from opkit.common.errors import OpkitError
from opkit.common.text import printable, shortened
from opkit.runtimes.interface import Runtime
from rknn_op.models.grafting.custom_nodes import (
    Custom,
    GraftedNode,
    check_types,
    custom_of,
    types_of,
)
from rknn_op.models.grafting.grafter import grafter
from rknn_op.models.model_files import required
from rknn_op.models.model_graph import CASTS, Model, Node, domain_of, shape_text
from rknn_op.models.onnx_file import constant_tensor, drop_unread, graphs, nodes_of
from rknn_op.models.running.weights import OpenModel
from rknn_op.models.versions import lowered
from rknn_op.runtimes.models import OperatorList, models_of


@dataclass(frozen=True)
class Graft:
    """A model with the nodes of repositories.

    Attributes:
        model: the grafted model, with the weights of the original.
        nodes: the grafted nodes, in order.
        notes: messages about the model.
    """

    model: OpenModel
    nodes: tuple[GraftedNode, ...]
    notes: tuple[str, ...] = ()


def graft(
    opened: OpenModel, model: Model, found: Sequence[Custom], chip: OperatorList | None = None
) -> Graft:
    """Return a model with the nodes of operators in the form of their converter.

    Args:
        opened: the model.
        model: the same model as values.
        found: the operators.
        chip: the target's operators, with the converter's maximum versions; None: any version.

    Raises:
        OpkitError: a node does not match the description of its operator, an operator has none, or
            the model imports another version of an operator's domain.
    """
    check_types(found, types_of(model))
    proto = required("onnx").ModelProto()
    proto.CopyFrom(opened.proto)
    messages = zip(nodes_of(opened.proto.graph.node), nodes_of(proto.graph.node), strict=True)
    groups: dict[int, list[tuple[Node, Any, Any]]] = {}
    for node, (original, grafted) in zip(model.nodes, messages, strict=True):
        if custom := custom_of(found, node.op_type, node.domain):
            groups.setdefault(id(custom), []).append((node, original, grafted))
    names: set[str] = set()
    for each in graphs(proto.graph):
        names.update(tensor.name for tensor in (*each.input, *each.initializer))
        names.update(name for node in each.node for name in (*node.input, *node.output))
    constants = dict(_constants(opened.proto.graph))
    made = {}
    for custom in found:
        group = groups[id(custom)]
        grafting = grafter(opened, model, custom, [node for node, *_ in group], constants)
        for node, original, grafted in group:
            made[id(node)] = grafting.graft(node, original, grafted, names)
    nodes = tuple(made[id(node)] for node in model.nodes if id(node) in made)
    numpy_helper = required("onnx.numpy_helper")
    for made_node in nodes:
        for name, array in () if made_node.custom.form.keeps_nodes else made_node.added.items():
            proto.graph.initializer.append(numpy_helper.from_array(array, name))
    _insert_casts(proto.graph, nodes)
    _make_initializers(proto.graph)
    drop_unread(proto.graph, {name for each in nodes for name in each.original.input})
    imported = {domain_of(each.domain): each.version for each in proto.opset_import}
    for custom in found:
        domain, versions = custom.form.domain, custom.form.versions
        if domain is None:
            continue
        if domain not in imported:
            imported[domain] = versions[0]
            proto.opset_import.append(required("onnx.helper").make_opsetid(domain, versions[0]))
        elif not versions[0] <= imported[domain] <= versions[1]:
            raise OpkitError(
                f"{opened.file}: imports version {imported[domain]} of the domain "
                f"{printable(domain) or 'of ONNX'}; {custom.operator.root} has the operator for "
                f"{versions[0]} to {versions[1]} (`opset` in its op.yml)"
            )
    notes = lowered(proto, chip) if chip else []
    return Graft(replace(opened, proto=proto), nodes, (*notes,))


def _insert_casts(graph: Any, nodes: Sequence[GraftedNode]) -> None:
    """Insert Casts before and behind grafted nodes whose tensors have another dtype."""
    helper = required("onnx.helper")
    by_message = {id(each.message): each for each in nodes if each.casts}
    for each in graphs(graph) if by_message else ():
        for position in reversed(range(len(each.node))):
            node = by_message.get(id(each.node[position]))
            for name, tensor in reversed([*node.casts.items()]) if node else ():
                is_input = node is not None and name in node.grafted.input
                ends, dtype = ((tensor.name, name), CASTS[tensor.dtype])
                if not is_input:
                    ends, dtype = (name, tensor.name), tensor.dtype
                to = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
                cast = helper.make_node("Cast", ends[:1], ends[1:], name=f"{name}_cast", to=to)
                # Outputs come first, when the node is still at its position.
                each.node.insert(position if is_input else position + 1, cast)


def _make_initializers(graph: Any) -> None:
    """Make initializers of Constant nodes.

    Behind a custom operator a toolkit infers shapes node by node, without the values of Constant
    nodes: an Unsqueeze has no shape there.
    """
    outputs = {each.name for each in graph.output}
    for position in reversed(range(len(graph.node))):
        node = graph.node[position]
        if node.op_type != "Constant" or node.domain or node.output[0] in outputs:
            continue
        if tensor := constant_tensor(node):
            graph.initializer.append(tensor)
            del graph.node[position]


def _constants(graph: Any) -> Iterator[tuple[str, Any]]:
    """Yield name and value of small tensors that the model holds."""
    onnx = required("onnx")
    for each in graphs(graph):
        for tensor in each.initializer:
            if tensor.data_location != onnx.TensorProto.EXTERNAL:
                yield tensor.name, tensor
        for node in each.node:
            if node.op_type == "Constant" and node.attribute and node.attribute[0].HasField("t"):
                yield node.output[0], node.attribute[0].t


# ---- Models that a converter accepts but the runtime cannot run ----------------------------------


def refuse_for_converter(model: Model, runtime: Runtime) -> None:
    """Refuse a model that breaks a rule of its converter.

    Args:
        model: the model.
        runtime: the runtime.

    Raises:
        OpkitError: it breaks one.
    """
    rules = models_of(runtime.name).rules
    if not rules:
        return
    for tensor in model.inputs:
        name = printable(shortened(tensor.name))
        if tensor.is_dynamic:
            raise OpkitError(
                f"{model.file}: input {name!r} has the dynamic shape "
                f"{printable(shape_text(tensor.shape))}; {rules.dynamic_shape}; "
                "export the model with fixed sizes"
            )
        if tensor.dtype not in rules.input_types:
            expected = ", ".join(rules.input_types)
            raise OpkitError(
                f"{model.file}: input {name!r} is {tensor.dtype} (expected {expected})"
            )


def converter_warnings(graft: Graft, runtime: Runtime) -> list[str]:
    """Return warnings about nodes that a converter cannot convert."""
    rules = models_of(runtime.name).rules
    top = {id(message) for message in graft.model.proto.graph.node}
    inside = [each for each in graft.nodes if id(each.message) not in top]
    if not rules or rules.has_subgraphs or not inside:
        return []
    names = ", ".join(repr(printable(shortened(each.node.name))) for each in inside)
    return [
        f"in subgraphs, which {runtime.describe.title} does not convert: {names}; simplify the "
        "model to one without If, Loop and Scan"
    ]
