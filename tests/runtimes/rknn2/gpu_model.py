"""Make the model of tests/c/gpu_application.c, in the Python of RKNN-Toolkit2.

    python gpu_model.py SHAPE OUTPUT [K]

SHAPE is that of all tensors, as 6x10. Without K the node's inputs are two of the model; otherwise
the second one is constant: K for all elements, behind another constant.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper
from rknn.api import RKNN


class Add:
    """The operator."""

    op_type = "cstAdd"

    def shape_infer(self, node: Any, in_shapes: Any, in_dtypes: Any) -> Any:
        return [in_shapes[0]], [in_dtypes[0]]

    def compute(self, node: Any, inputs: Any) -> Any:
        return [inputs[0] + inputs[1]]


def main(shape: list[int], output: str, *constant: str) -> None:
    nodes = [helper.make_node("cstAdd", ["a", "b"], ["y"], "node", domain="rknn_cst")]
    constants = []
    if constant:
        add = helper.make_node("cstAdd", ["x", "zero"], ["a"], "first", domain="rknn_cst")
        nodes.insert(0, add)
        for name, k in (("zero", 0.0), ("b", float(constant[0]))):
            elements = np.full(shape, k).ravel()
            constants.append(helper.make_tensor(name, TensorProto.FLOAT, shape, elements))
    names = ("x",) if constant else ("a", "b")
    values = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in (*names, "y")
    ]
    graph = helper.make_graph(nodes, "model", values[:-1], values[-1:], constants)
    opsets = [helper.make_opsetid("", 12), helper.make_opsetid("rknn_cst", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=7), f"{output}.onnx")
    rknn = RKNN(verbose=False)
    rknn.config(target_platform="rk3588")
    assert rknn.reg_custom_op(Add()) == 0
    assert rknn.load_onnx(f"{output}.onnx") == 0
    assert rknn.build(do_quantization=False) == 0
    assert rknn.export_rknn(output) == 0


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1].split("x")], *sys.argv[2:])
