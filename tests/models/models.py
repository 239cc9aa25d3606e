"""Models for tests, made by onnx's helpers and tensorboardX's classes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT = TensorProto.FLOAT


def value(name: str, shape: Sequence[int | str | None] | None, dtype: int = FLOAT) -> Any:
    """Return the type of a graph's input or output."""
    return helper.make_tensor_value_info(name, dtype, shape)


def constant(name: str, values: Any) -> Any:
    """Return an initializer."""
    return numpy_helper.from_array(np.asarray(values), name)


def model(
    nodes: Sequence[Any],
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    initializers: Sequence[Any] = (),
    opset: int = 19,
    domains: Sequence[str] = (),
    ir_version: int = 9,
) -> Any:
    """Return a model of nodes; custom domains have version 1."""
    graph = helper.make_graph([*nodes], "graph", [*inputs], [*outputs], [*initializers])
    opsets = [helper.make_opsetid("", opset), *(helper.make_opsetid(each, 1) for each in domains)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=ir_version)


def detection_head() -> Any:
    """Return a head with GridSample and TopK."""
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["features"], name="conv"),
        helper.make_node(
            "GridSample", ["features", "grid"], ["sampled"], name="/head/grid", align_corners=1
        ),
        helper.make_node("TopK", ["sampled", "k"], ["scores", "indices"], name="top"),
    ]
    return model(
        nodes,
        [value("x", [1, 3, 8, 8]), value("grid", [1, 4, 4, 2])],
        [value("scores", None), value("indices", None, TensorProto.INT64)],
        [constant("w", np.zeros((16, 3, 3, 3), np.float32)), constant("k", np.array([2]))],
    )


def saved(proto: Any, folder: Path, name: str = "model.onnx") -> Path:
    """Return the file of a saved model."""
    onnx.save(proto, folder / name)
    return folder / name
