"""The control flow of If, Loop and Scan, around bodies that something else runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from opkit.common.errors import OpkitError
from rknn_op.models.model_files import required

Array = Any
Function = Callable[[Sequence[Array | None]], Sequence[Array]]
"""The node's inputs, then the outer tensors that its bodies read -> the node's outputs."""

_MIN_SCAN_OPSET = 9  # before, Scan had a batch


@dataclass(frozen=True)
class Body:
    """A body of a node.

    Attributes:
        inputs: the ValueInfoProto of each input.
        outputs: the same of the outputs.
        run: runs it: tensors by name, also outer ones -> outputs by name.
    """

    inputs: Sequence[Any]
    outputs: Sequence[Any]
    run: Callable[[Mapping[str, Array]], Mapping[str, Array]]

    def __call__(self, inputs: Sequence[Array], outer: Mapping[str, Array]) -> list[Array]:
        """Run it once; return its outputs by position."""
        names = (each.name for each in self.inputs)
        results = self.run({**outer, **dict(zip(names, inputs, strict=True))})
        return [results[each.name] for each in self.outputs]


def function(node: Any, bodies: Mapping[str, Body], outer: Sequence[str], opset: int) -> Function:
    """Return the function of an If, Loop or Scan.

    Args:
        node: the NodeProto.
        bodies: the node's bodies, by the names of their attributes.
        outer: the names of the outer tensors that follow the node's inputs.
        opset: the version of ONNX's operators.

    Raises:
        OpkitError: the node is a Scan of opset 8.
    """
    if node.op_type == "Scan" and opset < _MIN_SCAN_OPSET:
        raise OpkitError(f"Scan of opset {opset} (expected at least {_MIN_SCAN_OPSET})")
    run = OPERATORS[node.op_type]
    helper = required("onnx.helper")
    attributes = {each.name: helper.get_attribute_value(each) for each in node.attribute}
    inputs = len(node.input)

    def call(values: Sequence[Array | None]) -> list[Array]:
        tensors = dict(zip(outer, values[inputs:], strict=True))
        return run(attributes, bodies, values[:inputs], tensors)

    return call


def _if(
    _: Mapping[str, Any],
    bodies: Mapping[str, Body],
    inputs: Sequence[Array | None],
    outer: Mapping[str, Array],
) -> list[Array]:
    return bodies["then_branch" if _is_true(inputs[0]) else "else_branch"]([], outer)


def _loop(
    _: Mapping[str, Any],
    bodies: Mapping[str, Body],
    inputs: Sequence[Array | None],
    outer: Mapping[str, Array],
) -> list[Array]:
    body = bodies["body"]
    limit, condition = inputs[:2]
    state = [*inputs[2:]]
    collected: list[list[Array]] = [[] for _ in body.outputs[1 + len(state) :]]
    is_going = condition is None or _is_true(condition)
    for iteration in count():
        if not is_going or (limit is not None and iteration >= int(np.ravel(limit)[0])):
            break
        scalars = [
            np.full(_scalar_shape(body.inputs[0]), iteration, np.int64),
            np.full(_scalar_shape(body.inputs[1]), is_going),
        ]
        following, *results = body([*scalars, *state], outer)
        is_going = _is_true(following)
        for items, item in zip(collected, results[len(state) :], strict=True):
            items.append(item)
        state = results[: len(state)]
    stacked = zip(collected, body.outputs[1 + len(state) :], strict=True)
    return [*state, *(_stacked(items, 0, output) for items, output in stacked)]


def _scan(
    attributes: Mapping[str, Any],
    bodies: Mapping[str, Body],
    inputs: Sequence[Array | None],
    outer: Mapping[str, Array],
) -> list[Array]:
    body = bodies["body"]
    scanned = attributes["num_scan_inputs"]
    state, sequences = [*inputs[: len(inputs) - scanned]], inputs[len(inputs) - scanned :]
    axes = attributes.get("scan_input_axes") or [0] * scanned
    backward = attributes.get("scan_input_directions") or [0] * scanned
    items = [
        np.flip(np.moveaxis(np.asarray(each), axis, 0), 0)
        if is_backward
        else np.moveaxis(np.asarray(each), axis, 0)
        for each, axis, is_backward in zip(sequences, axes, backward, strict=True)
    ]
    formal = body.outputs[len(state) :]
    collected: list[list[Array]] = [[] for _ in formal]
    for slices in zip(*items, strict=True):
        results = body([*state, *map(np.ascontiguousarray, slices)], outer)
        for collection, item in zip(collected, results[len(state) :], strict=True):
            collection.append(item)
        state = results[: len(state)]
    axes = attributes.get("scan_output_axes") or [0] * len(formal)
    backward = attributes.get("scan_output_directions") or [0] * len(formal)
    collected = [
        each[::-1] if is_backward else each
        for each, is_backward in zip(collected, backward, strict=True)
    ]
    return [*state, *map(_stacked, collected, axes, formal)]


OPERATORS = {"If": _if, "Loop": _loop, "Scan": _scan}
"""Operator -> its control flow."""


def _is_true(condition: Array | None) -> bool:
    return bool(np.ravel(np.asarray(condition))[0])


def _scalar_shape(formal: Any) -> tuple[int, ...]:
    """Return the shape of an iteration count or a condition: exporters declare [] or [1]."""
    return (1,) * len(formal.type.tensor_type.shape.dim)


def _stacked(items: Sequence[Array], axis: int, formal: Any) -> Array:
    """Return the items of all iterations as one array; without any, one of size 0 on the axis."""
    if items:
        # At a negative axis, np.stack counts the new one too, as ONNX does.
        return np.stack(items, axis)
    type_ = formal.type.tensor_type
    shape = [size.dim_value for size in type_.shape.dim]
    shape.insert(axis if axis >= 0 else axis + len(shape) + 1, 0)
    return np.zeros(shape, required("onnx.helper").tensor_dtype_to_np_dtype(type_.elem_type))
