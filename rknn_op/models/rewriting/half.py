"""A body with all tensors in float16, as the NPU has them, on onnxruntime."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from rknn_op.models.model_files import required
from rknn_op.models.rewriting.body import Body

Array = Any

LARGEST_INTEGER = 2048
"""Integers above it are not all exact in float16."""


def run(model: Any, inputs: Mapping[str, Array], names: list[str] | None = None) -> list[Array]:
    """Return the outputs of a small model, as it is: onnxruntime optimizes nothing.

    Args:
        model: the model.
        inputs: its inputs by name; others are left out.
        names: the tensors to return; None: its outputs.
    """
    onnxruntime = required("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    read = {each.name for each in session.get_inputs()}
    results: list[Array] = session.run(names, {n: a for n, a in inputs.items() if n in read})
    return results


def rounded(array: Array) -> Array:
    """Return an array with floats and integers rounded to float16, in its dtype."""
    if array.dtype.kind not in "iuf":
        return array
    with np.errstate(over="ignore", invalid="ignore"):
        return array.astype(np.float16).astype(array.dtype)


def narrow(inputs: Sequence[Array | None]) -> list[Array | None]:
    """Return the inputs of a node with floats rounded to float16, as the chip gets them."""
    return [
        rounded(each) if each is not None and each.dtype.kind == "f" else each for each in inputs
    ]


def in_half(model: Any) -> Any:
    """Return a model that rounds each tensor: the result of a node, and floating constants.

    Constant integers stay: indices and sizes.
    """
    onnx, helper, numpy_helper = (
        required(name) for name in ("onnx", "onnx.helper", "onnx.numpy_helper")
    )
    float16 = onnx.TensorProto.FLOAT16
    types = {
        each.name: each.type.tensor_type.elem_type
        for each in (*model.graph.value_info, *model.graph.output)
    }
    numbers = {
        getattr(onnx.TensorProto, name)
        for name in "FLOAT DOUBLE FLOAT16 INT8 INT16 INT32 INT64 UINT8 UINT16 UINT32 UINT64".split()
    }
    half = onnx.ModelProto()
    half.CopyFrom(model)
    for each in half.graph.initializer:
        array = numpy_helper.to_array(each)
        if array.dtype.kind == "f":
            each.CopyFrom(numpy_helper.from_array(rounded(array), each.name))
    del half.graph.node[:]
    for node in model.graph.node:
        made = half.graph.node.add()
        made.CopyFrom(node)
        for position, name in enumerate(node.output):
            if types.get(name) in numbers:
                made.output[position] = f"{name} exact"
                half.graph.node.extend(
                    [
                        helper.make_node("Cast", [f"{name} exact"], [f"{name} half"], to=float16),
                        helper.make_node("Cast", [f"{name} half"], [name], to=types[name]),
                    ]
                )
    return half


def beyond(body: Body, inputs: Mapping[str, Array]) -> str:
    """Return the first tensor of a body that float16 cannot hold, as a message; empty: none.

    Args:
        body: the body.
        inputs: its inputs by name.
    """
    model = required("onnx").ModelProto()
    model.CopyFrom(body.model)
    names = [name for node in model.graph.node for name in node.output if name]
    del model.graph.output[:]
    model.graph.output.extend(required("onnx").ValueInfoProto(name=name) for name in names)
    for name, array in zip(names, run(model, inputs, names), strict=True):
        if problem := next(_problems(array), ""):
            return f"{name} has {problem}"
    return ""


def _problems(array: Array) -> Iterator[str]:
    if not array.size or array.dtype.kind not in "iuf":
        return
    largest = np.abs(array.astype(np.float64))
    if array.dtype.kind == "f":
        finite = largest[np.isfinite(largest)]
        if finite.size and finite.max() > np.finfo(np.float16).max:
            yield f"numbers up to {finite.max():.3g}, and float16 ends at 65,504"
    elif largest.max() > LARGEST_INTEGER and not np.array_equal(rounded(array), array):
        yield (
            f"integers up to {int(largest.max()):,}, and float16 is exact to {LARGEST_INTEGER:,}"
        )
