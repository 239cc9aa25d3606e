"""The .rknn file of one node, for librknn_runtime."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from opkit.runtimes import parse
from opkit.runtimes.invocation import Invocation
from opkit.runtimes.rknn.driver_kernels import model

SPEC = parse(
    """\
name: MyOp
runtimes: [rknn]
inputs: {a: {type: VX_TYPE_TENSOR}, b: {type: VX_TYPE_TENSOR}}
outputs: {y: {type: VX_TYPE_TENSOR}}
params:
  size: {type: VX_TYPE_ARRAY}
  flag: {type: VX_TYPE_BOOL}
  factor: {type: VX_TYPE_FLOAT32}
"""
)
TENSORS = Invocation(
    {"a": np.zeros((2, 3, 5), np.float16), "b": np.zeros(7, np.uint8)},
    {"size": [1, 2], "flag": True, "factor": 0.1},
    {"y": ((4, 6), "float32")},
)


def sections(data: bytes) -> list[bytes]:
    """Return the sections of a .rknn file."""
    assert data[:16] == b"RKNN" + bytes(4) + (2).to_bytes(8, "little")
    found = []
    offset = 16
    while offset < len(data):
        size = int.from_bytes(data[offset : offset + 8], "little")
        found.append(data[offset + 8 : offset + 8 + size])
        offset += 8 + size
    assert offset == len(data)
    return found


def parts(abi: str = "aarch64") -> tuple[dict[str, Any], dict[str, Any], bytes]:
    """Return the graph, the operator and the library of the model."""
    data, graph, operators, library = sections(model(SPEC, TENSORS, abi, b"library"))
    assert data == b""
    assert graph[-1:] == operators[-1:] == b"\0"  # C strings
    (operator,) = json.loads(operators[:-1])
    return json.loads(graph[:-1]), operator, library


def test_tensors_begin_with_fastest_dimension() -> None:
    graph, _, _ = parts()
    tensors = [(each["tensor_id"], each["size"], each["dim_num"]) for each in graph["norm_tensor"]]
    assert tensors == [(0, [5, 3, 2], 3), (1, [7], 1), (2, [6, 4], 2)]
    types = [each["dtype"]["vx_type"] for each in graph["norm_tensor"]]
    assert types == [f"VSI_NN_TYPE_{name}" for name in ("FLOAT16", "UINT8", "FLOAT32")]


def test_node_has_params_under_lower_case_name() -> None:
    graph, operator, _ = parts()
    (node,) = graph["nodes"]
    assert (node["op"], node["input_num"], node["output_num"]) == ("MYOP", 2, 1)
    assert node["nn"] == {"myop": {"size": [1, 2], "flag": 1, "factor": 0.1}}
    assert [*operator["params"].items()] == [
        ("size", {"type": "VX_TYPE_ARRAY"}),
        ("flag", {"type": "VX_TYPE_BOOL"}),
        ("factor", {"type": "VX_TYPE_FLOAT32"}),
    ]


def test_every_tensor_is_connected() -> None:
    graph, _, _ = parts()
    ends = [("input", 0, 0), ("input", 1, 1), ("output", 0, 2)]
    connections = [
        (each["left"], each["left_tensor_id"], each["right_tensor"]["tensor_id"])
        for each in graph["connection"]
    ]
    ports = [
        (each["left"], each["left_tensor_id"], each["right_tensor_id"]) for each in graph["graph"]
    ]
    assert connections == ports == ends
    assert [graph[f"{name}_num"] for name in ("input", "output", "norm_tensor")] == [2, 1, 3]


def test_library_is_that_of_abi() -> None:
    for abi, other in (("aarch64", "armhf"), ("armhf", "aarch64")):
        _, operator, library = parts(abi)
        assert library == b"library"
        assert operator["op_version"] == 2  # otherwise armhf's is not read
        assert (operator[f"op_lib_{abi}_offset"], operator[f"op_lib_{abi}_len"]) == (0, 7)
        assert operator[f"op_lib_{other}_len"] == operator["vx_kernel_bin_len"] == 0
        assert operator["kernel_index"] == 0
