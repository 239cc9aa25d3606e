"""Models for tests, made by onnx's helpers and tensorboardX's classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tensorboardX.proto.graph_pb2 import GraphDef

FLOAT = TensorProto.FLOAT
INT64 = TensorProto.INT64


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


def weights(name: str, *shape: int, dtype: type = np.float32) -> Any:
    """Return an initializer of small values, the same for the same name and shape."""
    random = np.random.default_rng([len(name), *map(ord, name), *shape])
    return constant(name, (random.standard_normal(shape) / 4).astype(dtype))


# ---- Models that onnxruntime runs ----------------------------------------------------------------


def detection_head(opset: int = 19) -> Any:
    """Return a head with GridSample and TopK; opset 16 to 19."""
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
        [value("scores", [1, 16, 4, 2]), value("indices", [1, 16, 4, 2], INT64)],
        [weights("w", 16, 3, 3, 3), constant("k", np.array([2]))],
        opset,
    )


def detector() -> Any:
    """Return the README's model: features by Conv and Selu, sampled by GridSample."""
    nodes = [
        helper.make_node("Conv", ["image", "w"], ["features"], "/backbone/conv", pads=[1, 1, 1, 1]),
        helper.make_node("Selu", ["features"], ["active"], "/backbone/act"),
        helper.make_node(
            "GridSample",
            ["active", "grid"],
            ["sampled"],
            "/head/sample",
            align_corners=0,
            padding_mode="border",
        ),
        helper.make_node("Conv", ["sampled", "v"], ["scores"], "/head/conv"),
    ]
    return model(
        nodes,
        [value("image", [1, 3, 32, 32]), value("grid", [1, 16, 16, 2])],
        [value("scores", None)],
        [weights("w", 8, 3, 3, 3), weights("v", 4, 8, 1, 1)],
        opset=16,
    )


def text_encoder() -> Any:
    """Return an encoder of 8 tokens: positions by CumSum of the mask, then an attention."""
    nodes = [
        helper.make_node("Equal", ["ids", "padding"], ["is_padding"]),
        helper.make_node("Not", ["is_padding"], ["is_token"]),
        helper.make_node("Cast", ["is_token"], ["mask"], to=TensorProto.INT32),
        helper.make_node("CumSum", ["mask", "axis"], ["counts"], name="/embeddings/CumSum"),
        helper.make_node("Mul", ["counts", "mask"], ["positions"]),
        helper.make_node("Gather", ["words", "ids"], ["word"]),
        helper.make_node("Gather", ["places", "positions"], ["place"]),
        helper.make_node("Add", ["word", "place"], ["embedding"]),
        helper.make_node("Transpose", ["embedding"], ["transposed"], perm=[0, 2, 1]),
        helper.make_node("MatMul", ["embedding", "transposed"], ["scores"]),
        helper.make_node("Softmax", ["scores"], ["attention"]),
        helper.make_node("MatMul", ["attention", "embedding"], ["y"]),
    ]
    initializers = [
        constant("padding", np.array(1)),
        constant("axis", np.array(1)),
        weights("words", 32, 16),
        weights("places", 9, 16),
    ]
    return model(nodes, [value("ids", [1, 8], INT64)], [value("y", [1, 8, 16])], initializers, 17)


def audio() -> Any:
    """Return the log power spectrum of 256 samples: STFT with a window, then Log."""
    nodes = [
        # onnx infers the shape of a two-sided STFT if the attribute has its default.
        helper.make_node(
            "STFT", ["samples", "step", "window"], ["complex"], name="stft", onesided=1
        ),
        helper.make_node("Mul", ["complex", "complex"], ["squares"]),
        helper.make_node("ReduceSum", ["squares", "axes"], ["power"], keepdims=0),
        helper.make_node("Add", ["power", "epsilon"], ["positive"]),
        helper.make_node("Log", ["positive"], ["y"]),
    ]
    initializers = [
        constant("step", np.array(32)),
        constant("window", np.hanning(64).astype(np.float32)),
        constant("axes", np.array([-1])),
        constant("epsilon", np.float32(1e-6)),
    ]
    inputs = [value("samples", [1, 256, 1])]
    return model(nodes, inputs, [value("y", [1, 7, 33])], initializers, 17)


def spectrum() -> Any:
    """Return the DFT of 16 samples in each of 4 channels, and its inverse."""
    nodes = [
        helper.make_node("DFT", ["x"], ["spectrum"], name="dft", axis=2),
        helper.make_node("Mul", ["spectrum", "filter"], ["filtered"]),
        helper.make_node("DFT", ["filtered"], ["y"], name="inverse", axis=2, inverse=1),
    ]
    initializers = [weights("filter", 1, 1, 16, 2)]
    inputs = [value("x", [1, 4, 16, 1])]
    return model(nodes, inputs, [value("y", [1, 4, 16, 2])], initializers, 17)


def two_missing() -> Any:
    """Return a model that lacks two operators, in series: GridSample, then Selu."""
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["features"], name="conv"),
        helper.make_node("GridSample", ["features", "grid"], ["sampled"], name="sample"),
        helper.make_node("Selu", ["sampled"], ["activated"], name="activate"),
        helper.make_node("GlobalAveragePool", ["activated"], ["y"], name="pool"),
    ]
    inputs = [value("x", [1, 3, 8, 8]), value("grid", [1, 4, 4, 2])]
    return model(nodes, inputs, [value("y", [1, 8, 1, 1])], [weights("w", 8, 3, 3, 3)])


def two_variants() -> Any:
    """Return a model with GridSample of two shapes and sets of attributes; one has defaults."""
    nodes = [
        helper.make_node("GridSample", ["x", "grid"], ["a"], name="smooth"),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node(
            "GridSample",
            ["b", "coarse"],
            ["y"],
            name="nearest",
            align_corners=1,
            mode="nearest",
            padding_mode="border",
        ),
    ]
    inputs = [
        value("x", [1, 2, 6, 6]),
        value("grid", [1, 4, 4, 2]),
        value("coarse", [1, 3, 2, 2]),
    ]
    return model(nodes, inputs, [value("y", [1, 2, 3, 2])])


def branches() -> Any:
    """Return a model with Selu in a branch of an If, which reads a tensor of the outer graph."""

    def branch(*nodes: Any) -> Any:
        output = nodes[-1].output[0]
        return helper.make_graph([*nodes], f"{output}_branch", [], [value(output, [2, 4])])

    then_branch = branch(
        helper.make_node("Selu", ["hidden"], ["activated"], name="inner", alpha=1.5),
        helper.make_node("Neg", ["activated"], ["negative"]),
    )
    else_branch = branch(helper.make_node("Relu", ["hidden"], ["positive"]))
    nodes = [
        helper.make_node("Gemm", ["x", "w"], ["hidden"]),
        helper.make_node(
            "If", ["c"], ["chosen"], "choose", then_branch=then_branch, else_branch=else_branch
        ),
        helper.make_node("Abs", ["chosen"], ["y"]),
    ]
    inputs = [value("c", [], TensorProto.BOOL), value("x", [2, 3])]
    return model(nodes, inputs, [value("y", [2, 4])], [weights("w", 3, 4)])


def half() -> Any:
    """Return a float16 model: Conv, Selu, GlobalAveragePool."""
    float16 = TensorProto.FLOAT16
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["features"]),
        helper.make_node("Selu", ["features"], ["activated"], name="selu"),
        helper.make_node("GlobalAveragePool", ["activated"], ["y"]),
    ]
    return model(
        nodes,
        [value("x", [1, 3, 8, 8], float16)],
        [value("y", [1, 4, 1, 1], float16)],
        [weights("w", 4, 3, 3, 3, dtype=np.float16)],
    )


def classifier(opset: int = 11) -> Any:
    """Return a classifier with Selu; opset 11 to 19."""
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["features"]),
        helper.make_node("Selu", ["features"], ["activated"], name="selu"),
        helper.make_node("GlobalAveragePool", ["activated"], ["pooled"]),
        helper.make_node("Flatten", ["pooled"], ["flat"]),
        helper.make_node("Gemm", ["flat", "v"], ["logits"]),
        helper.make_node("Softmax", ["logits"], ["y"], axis=1),
    ]
    initializers = [weights("w", 4, 3, 3, 3), weights("v", 4, 5)]
    inputs = [value("x", [1, 3, 8, 8])]
    return model(nodes, inputs, [value("y", [1, 5])], initializers, opset, ir_version=7)


def large(nodes: int = 500, weights_size: int = 320) -> Any:
    """Return a chain of MatMul and Relu, with one Selu; by default of 500 nodes and 100 MB."""
    chain = []
    for index in range(nodes - 1):
        names = [f"t{index}", f"w{index}"]
        op_type, inputs = ("Relu", names[:1]) if index % 2 else ("MatMul", names)
        chain.append(helper.make_node(op_type, inputs, [f"t{index + 1}"], name=f"n{index}"))
    chain.append(helper.make_node("Selu", [f"t{nodes - 1}"], ["y"], name="selu"))
    shape = [1, weights_size]
    initializers = [
        weights(each.input[1], weights_size, weights_size)
        for each in chain
        if each.op_type == "MatMul"
    ]
    return model(chain, [value("t0", shape)], [value("y", shape)], initializers)


STANDARD: dict[str, Callable[[], Any]] = {
    "detection_head": detection_head,
    "text_encoder": text_encoder,
    "audio": audio,
    "spectrum": spectrum,
    "two_missing": two_missing,
    "two_variants": two_variants,
    "branches": branches,
    "half": half,
    "opset_11": lambda: classifier(11),
    "opset_19": lambda: classifier(19),
}
"""Name -> model of standard operators, valid for onnx's checker and onnxruntime."""


# ---- Other models --------------------------------------------------------------------------------


def custom_domain() -> Any:
    """Return a model with an operator of the domain com.example: y = scale * x + shift."""
    nodes = [
        helper.make_node("Relu", ["x"], ["positive"]),
        helper.make_node(
            "Affine",
            ["positive"],
            ["scaled"],
            name="affine",
            domain="com.example",
            scale=2.5,
            shift=-1.0,
        ),
        helper.make_node("Neg", ["scaled"], ["y"]),
    ]
    middle = [value("scaled", [1, 4])]
    proto = model(
        nodes, [value("x", [1, 4])], [value("y", [1, 4])], opset=17, domains=["com.example"]
    )
    proto.graph.value_info.extend(middle)
    return proto


def frozen_graph() -> GraphDef:
    """Return a graph in the vendor's style: a TruncateDiv by a constant, then Exp."""
    graph = GraphDef()
    x = graph.node.add(name="x", op="Placeholder")
    x.attr["dtype"].type = 1
    for size in (1, 4):
        x.attr["shape"].shape.dim.add(size=size)
    two = graph.node.add(name="two", op="Const")
    two.attr["dtype"].type = 1
    two.attr["value"].tensor.dtype = 1
    two.attr["value"].tensor.tensor_shape.SetInParent()
    two.attr["value"].tensor.float_val.append(2)
    divided = graph.node.add(name="divided", op="TruncateDiv", input=["x", "two"])
    divided.attr["T"].type = 1
    graph.node.add(name="y", op="Exp", input=["divided", "^two"]).attr["T"].type = 1
    return graph


# ---- Files ---------------------------------------------------------------------------------------


def saved(proto: Any, folder: Path, name: str = "model.onnx") -> Path:
    """Return the file of a saved model."""
    onnx.save(proto, folder / name)
    return folder / name


def saved_externally(proto: Any, folder: Path, name: str = "model.onnx") -> Path:
    """Return the file of a saved model with the values of its initializers in another file."""
    onnx.save(
        proto,
        folder / name,
        save_as_external_data=True,
        location=f"{name}.data",
        size_threshold=64,  # onnxruntime reads sizes, axes and k from the model alone
        convert_attribute=False,
    )
    return folder / name


def saved_graph(graph: GraphDef, folder: Path, name: str = "graph.pb") -> Path:
    """Return the file of a saved frozen graph."""
    (folder / name).write_bytes(graph.SerializeToString())
    return folder / name
