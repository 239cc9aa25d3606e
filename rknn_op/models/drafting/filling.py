"""Nodes with all inputs of their operator's description: left-out ones have neutral values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from opkit.runtimes.invocation import Array
from rknn_op.models import optional_inputs
from rknn_op.models.drafting.signatures import Signature, at
from rknn_op.models.model import MAX_VALUES, Node, Tensor, Value
from rknn_op.models.optional_inputs import UnknownShapeError


def neutral_inputs(found: Signature, node: Node) -> dict[int, Array]:
    """Return position -> value of each input that a node leaves out, if a neutral one is known."""
    present = {
        each.formal: tensor
        for each in found.inputs
        if each.formal and (tensor := at(node.inputs, each.position)) is not None
    }
    values: dict[int, Array] = {}
    for each in found.inputs:
        if each.formal and each.formal not in present:
            try:
                value = optional_inputs.value(
                    found.op_type, each.formal, present, _attributes(found, node)
                )
            except UnknownShapeError:
                continue
            if value is not None:
                values[each.position] = value
    return values


def _attributes(found: Signature, node: Node) -> Mapping[str, Value]:
    defaults = {each.name: each.default for each in found.attributes if each.default is not None}
    return {**defaults, **node.attributes}


def filled(found: Signature, node: Node) -> Node:
    """Return a node with tensors for the inputs that it leaves out."""
    values = neutral_inputs(found, node)
    if not values:
        return node
    inputs = [
        at(node.inputs, position) for position in range(max(*values, len(node.inputs) - 1) + 1)
    ]
    for position, value in values.items():
        elements = tuple(value.ravel().tolist()) if value.size <= MAX_VALUES else None
        inputs[position] = Tensor("", value.shape, value.dtype.name, True, elements)
    return replace(node, inputs=tuple(inputs))
