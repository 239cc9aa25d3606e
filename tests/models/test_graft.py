"""`rknn-op graft`: a model whose nodes are those of repositories, through the command."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from click.testing import Result
from onnx import TensorProto, helper, numpy_helper

from opkit.check.operators import Operator
from opkit.runtimes import available
from rknn_op.creation import new_repository
from rknn_op.models import onnx_model
from rknn_op.models.grafting import grafted_model
from rknn_op.models.grafting.custom_nodes import Custom
from rknn_op.models.grafting.proof import prove
from rknn_op.models.running import written_models
from rknn_op.models.running.model_inputs import random_inputs
from rknn_op.models.running.weights import opened
from rknn_op.runtimes.models import Form
from tests.models.models import constant, model, saved, value
from tests.repositories import library_kernels
from tests.rknn_op.command import rknn_op

INT64 = TensorProto.INT64
HALF = TensorProto.FLOAT16


# ---- Repositories --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Source:
    """An operator: its inputs, outputs and params in op.yml, and its reference."""

    inputs: str
    outputs: str
    params: str
    reference: str
    runtimes: str = "rknn2, pplnn"


TENSOR = "{type: VX_TYPE_TENSOR}"
BY_ONNX = """
import numpy as np
from onnx import helper
from onnx.reference import ReferenceEvaluator


def by_onnx(op_type, inputs, outputs, **attributes):
    node = helper.make_node(op_type, list(inputs), outputs, **attributes)
    return dict(zip(outputs, ReferenceEvaluator(node).run(None, inputs)))
"""
SOURCES = {
    "GridSample": Source(
        f"x: {TENSOR}, grid: {TENSOR}",
        f"y: {TENSOR}",
        "align_corners: {type: int, default: 0}, mode: {type: string, default: linear}",
        BY_ONNX
        + """
def output_shapes(shapes, params):
    return {"y": (*shapes["x"][:2], *shapes["grid"][1:3])}


def reference(inputs, params):
    mode = params["mode"].replace("bilinear", "linear")
    return by_onnx("GridSample", inputs, ["y"], align_corners=params["align_corners"], mode=mode)
""",
    ),
    "TopK": Source(
        f"x: {TENSOR}",
        f"values: {TENSOR}, indices: {{type: VX_TYPE_TENSOR, dtype: int64}}",
        "k: {type: int, default: 1, source: 'const:k'}, axis: {type: int, default: -1}, "
        "largest: {type: int, default: 1}, sorted: {type: int, default: 1}",
        """
import numpy as np


def output_shapes(shapes, params):
    shape = list(shapes["x"])
    shape[params["axis"]] = params["k"]
    return {"values": shape, "indices": shape}


def reference(inputs, params):
    x, axis = inputs["x"], params["axis"]
    order = np.argsort(-x, axis, kind="stable")
    order = np.take(order, range(params["k"]), axis)
    return {"values": np.take_along_axis(x, order, axis), "indices": order}
""",
    ),
    "DeformConv": Source(
        f"x: {TENSOR}, w: {TENSOR}, offset: {TENSOR}, b: {TENSOR}, mask: {TENSOR}",
        f"y: {TENSOR}",
        "kernel_shape: {type: ints}, pads: {type: ints, default: [0, 0, 0, 0]}",
        BY_ONNX
        + """
def output_shapes(shapes, params):
    return {"y": (shapes["x"][0], shapes["w"][0], *shapes["offset"][2:])}


def reference(inputs, params):
    return by_onnx("DeformConv", inputs, ["y"], **params)
""",
    ),
    "Selu": Source(
        f"x: {TENSOR}",
        "y: {type: VX_TYPE_TENSOR, same_as: x}",
        "alpha: {type: float, default: 1.5}, gamma: {type: float, default: 1.25}",
        """
import numpy as np


def output_shapes(shapes, params):
    return {"y": shapes["x"]}


def reference(inputs, params):
    x = inputs["x"]
    y = params["gamma"] * np.where(x > 0, x, params["alpha"] * np.expm1(x))
    if params["alpha"] > 2:
        y[..., -1] += 1  # a mistake
    if params["alpha"] < 0:
        raise ValueError(f"alpha is {params['alpha']}")
    return {"y": y.astype(np.float32)}
""",
    ),
}


@pytest.fixture(scope="session")
def repositories(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """Return operator -> its repository, with its reference; it is not built."""
    folder = tmp_path_factory.mktemp("repositories")
    return {name: made(folder, name, source) for name, source in SOURCES.items()}


def made(folder: Path, name: str, source: Source, path: str = "") -> Path:
    """Make the repository of an operator."""
    config = folder / f"{path or name}.yml"
    config.write_text(
        f"name: {name}\nframework: onnx\nruntimes: [{source.runtimes}]\n"
        f"inputs: {{{source.inputs}}}\noutputs: {{{source.outputs}}}\n"
        f"params: {{{source.params}}}\n"
    )
    root = folder / (path or name)
    new_repository.create(new_repository.plan(config, root))
    (root / f"{name.lower()}_reference.py").write_text(textwrap.dedent(source.reference))
    return root


def graft(file: Path, roots: Sequence[Path], output: Path, *options: object) -> Result:
    """Run the command."""
    return rknn_op("graft", file, "-p", *roots, "-o", output, *options)


def grafted(file: Path, roots: Sequence[Path], *options: object) -> Any:
    """Return the grafted model; its external data is loaded."""
    output = file.with_name("out.onnx")
    result = graft(file, roots, output, *options)
    assert result.exit_code == 0, result.output
    assert f"wrote {output}\n" in result.stderr
    return onnx.load(output)


def refused(file: Path, roots: Sequence[Path], *options: object) -> str:
    """Return the message of a run that writes nothing."""
    before = {*file.parent.iterdir()}
    result = graft(file, roots, file.with_name("out.onnx"), *options)
    assert result.exit_code == 1, result.output
    assert "Traceback" not in result.output
    assert {*file.parent.iterdir()} == before
    return result.stderr


def node_of(proto: Any, name: str) -> Any:
    return next(node for node in proto.graph.node if node.name == name)


def attributes_of(node: Any) -> dict[str, Any]:
    return {each.name: helper.get_attribute_value(each) for each in node.attribute}


# ---- The grafted model ---------------------------------------------------------------------------


def weights(*shape: int) -> Any:
    """Return random numbers, the same in every test."""
    return np.random.default_rng(shape).uniform(-1, 1, shape).astype(np.float32)


def detector(names: Mapping[str, str] | None = None) -> Any:
    """Return a head with GridSample and TopK, and a Conv with weights before them."""
    called = {"grid": "/head/grid", "top": "top", "sampled": "sampled", **(names or {})}
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["features"], name="conv"),
        helper.make_node(
            "GridSample",
            ["features", "grid"],
            [called["sampled"]],
            name=called["grid"],
            align_corners=1,
            mode="bilinear",
        ),
        helper.make_node("Relu", [called["sampled"]], ["r"]),
        helper.make_node("TopK", ["r", "k"], ["scores", "indices"], name=called["top"], axis=-2),
    ]
    return model(
        nodes,
        [value("x", [1, 3, 8, 8]), value("grid", [1, 4, 4, 2])],
        [value("scores", None), value("indices", None, INT64)],
        [constant("w", weights(16, 3, 3, 3)), constant("k", np.array([2]))],
        opset=16,
    )


def test_two_operators(tmp_path: Path, repositories: Mapping[str, Path]) -> None:
    file = saved(detector(), tmp_path)
    roots = [repositories["GridSample"], repositories["TopK"]]
    output = tmp_path / "out.onnx"
    result = graft(file, roots, output)
    assert result.exit_code == 0, result.output
    assert "/head/grid: cstGridSample of GridSample" in result.stdout
    lines = [line.split() for line in result.stdout.splitlines()]
    [scores] = [line for line in lines if line[:1] == ["scores"]]
    [indices] = [line for line in lines if line[:1] == ["indices"]]
    assert scores[1:3] == ["float32", "1x16x2x4"]
    assert 0 <= float(scores[3]) < 1e-5
    assert indices[1:] == ["int64", "1x16x2x4", "0", "0", "0", "equal"]
    proto = onnx.load(output)
    assert [(o.domain, o.version) for o in proto.opset_import] == [("", 16), ("rknn_cst", 1)]
    assert [node.name for node in proto.graph.node] == ["conv", "/head/grid", "", "top"]
    grid, top = node_of(proto, "/head/grid"), node_of(proto, "top")
    assert (grid.op_type, grid.domain, [*grid.input]) == (
        "cstGridSample",
        "rknn_cst",
        ["features", "grid"],
    )
    assert attributes_of(grid) == {"align_corners": 1, "mode": b"bilinear"}
    assert [*top.input] == ["r"]  # the toolkit infers the shape from k
    assert [*top.output] == ["scores", "indices"]
    assert attributes_of(top) == {"k": 2, "axis": -2, "largest": 1, "sorted": 1}
    assert [*proto.graph.initializer] == [*onnx.load(file).graph.initializer][:1]
    assert [each.name for each in proto.graph.output] == ["scores", "indices"]
    shapes = {
        each.name: [size.dim_value for size in each.type.tensor_type.shape.dim]
        for each in (*proto.graph.value_info, *proto.graph.output)
    }
    assert shapes == {
        "sampled": [1, 16, 4, 4],
        "scores": [1, 16, 2, 4],
        "indices": [1, 16, 2, 4],
    }


def deformed() -> Any:
    """Return two DeformConv, the second one without bias and mask."""
    nodes = [
        helper.make_node(
            "DeformConv", ["x", "w", "o", "b", "m"], ["a"], name="all", kernel_shape=[2, 2]
        ),
        helper.make_node("Relu", ["a"], ["r"]),
        helper.make_node("DeformConv", ["r", "w2", "o2"], ["y"], name="plain", kernel_shape=[2, 2]),
    ]
    inputs = [value("x", [1, 2, 5, 5]), value("m", [1, 4, 4, 4]), value("o", [1, 8, 4, 4])]
    initializers = [
        constant("w", weights(3, 2, 2, 2)),
        constant("b", weights(3)),
        constant("w2", weights(2, 3, 2, 2)),
        constant("o2", weights(1, 8, 3, 3)),
        constant("plain_b", np.zeros(1, np.float32)),  # the name is taken
    ]
    return model(nodes, inputs, [value("y", None)], initializers)


def test_optional_inputs_are_filled(tmp_path: Path, repositories: Mapping[str, Path]) -> None:
    proto = grafted(saved(deformed(), tmp_path), [repositories["DeformConv"]])
    assert [*node_of(proto, "all").input] == ["x", "w", "o", "b", "m"]
    assert [*node_of(proto, "plain").input] == ["r", "w2", "o2", "plain_b_1", "plain_mask"]
    arrays = {each.name: numpy_helper.to_array(each) for each in proto.graph.initializer}
    np.testing.assert_array_equal(arrays["plain_b_1"], np.zeros(2, np.float32))
    np.testing.assert_array_equal(arrays["plain_mask"], np.ones((1, 4, 3, 3), np.float32))


@pytest.mark.slow
def test_inputs_of_later_opsets_are_filled(tmp_path: Path) -> None:
    """Attention has its last input from opset 24 on; a node of opset 23 lacks it."""
    nodes = [
        helper.make_node("Attention", ["q", "k", "k"], ["a"], name="plain", is_causal=1),
        helper.make_node("Attention", ["a", "k", "k", "m"], ["y"], name="masked", softcap=2.0),
    ]
    inputs = [value("q", [1, 4, 3, 8]), value("k", [1, 2, 5, 8]), value("m", [3, 5])]
    proto = model(nodes, inputs, [value("y", None)], opset=23)
    graph = grafted(saved(proto, tmp_path), [library_kernels("Attention").path]).graph
    arrays = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
    for node, mask in zip(graph.node, ([0], None), strict=True):
        assert node.op_type == "cstAttention"
        given = [arrays[name].tolist() if name in arrays else None for name in node.input]
        assert given == [None, None, None, mask, [0], [0], [-1]]


@pytest.mark.slow
def test_outputs_that_nodes_leave_out_are_not_computed(tmp_path: Path) -> None:
    """Attention copies k and v for present_key and present_value, unless no node has these."""
    nodes = [
        helper.make_node("Attention", ["q", "k", "k"], ["a"], name="left out"),
        helper.make_node("Attention", ["a", "k", "k"], ["b", "p"], name="read"),
        helper.make_node("Attention", ["b", "k", "k"], ["y"], name="heads", q_num_heads=4),
    ]
    inputs = [value("q", [1, 4, 3, 8]), value("k", [1, 2, 5, 8])]
    proto = model(nodes, inputs, [value("y", None), value("p", None)], opset=23)
    graph = grafted(saved(proto, tmp_path), [library_kernels("Attention").path]).graph
    params = [{each.name: each.i for each in node.attribute} for node in graph.node]
    assert [each["has_present"] for each in params] == [0, 1, 1]


def test_opset_of_the_converter(tmp_path: Path, repositories: Mapping[str, Path]) -> None:
    """Exporters write newer opsets; the older one has the nodes that are not grafted."""
    nodes = [
        helper.make_node("Selu", ["x"], ["s"], name="selu", alpha=1.5, gamma=1.0),
        helper.make_node("Softmax", ["s"], ["y"], name="softmax"),
    ]
    proto = model(nodes, [value("x", [2, 4])], [value("y", None)], opset=24, ir_version=12)
    out = grafted(saved(proto, tmp_path), [repositories["Selu"]])
    assert [(o.domain, o.version) for o in out.opset_import] == [("", 19), ("rknn_cst", 1)]
    assert out.ir_version == 10


def test_node_that_the_converter_opset_lacks(
    tmp_path: Path, repositories: Mapping[str, Path]
) -> None:
    nodes = [
        helper.make_node("Selu", ["x"], ["s"], name="selu", alpha=1.5, gamma=1.0),
        helper.make_node("Gelu", ["s"], ["y"], name="/gelu"),
    ]
    file = saved(model(nodes, [value("x", [2, 4])], [value("y", None)], opset=20), tmp_path)
    result = graft(file, [repositories["Selu"]], tmp_path / "out.onnx")
    assert result.exit_code == 0, result.output
    warning = (
        "warning: opset 20 (expected at most 19): node '/gelu' (Gelu) is not in opset 19: No Op "
        "registered for Gelu with domain_version of 19"
    )
    assert warning in result.stderr
    opsets = [(o.domain, o.version) for o in onnx.load(tmp_path / "out.onnx").opset_import]
    assert opsets == [("", 20), ("rknn_cst", 1)]


def chain(alphas: Sequence[float], dtype: int = TensorProto.FLOAT, **more: Any) -> Any:
    """Return nodes of Selu in series."""
    nodes = [
        helper.make_node(
            "Selu", [f"t{index}"], [f"t{index + 1}"], name=f"n{index}", alpha=alpha, gamma=1.0
        )
        for index, alpha in enumerate(alphas)
    ]
    last = f"t{len(alphas)}"
    return model(nodes, [value("t0", [2, 4], dtype)], [value(last, [2, 4], dtype)], **more)


def with_constant_nodes() -> Any:
    """Return two Selu with nodes between them that read the outputs of Constant nodes."""
    nodes = [
        helper.make_node("Selu", ["x"], ["a"], name="first", alpha=1.5, gamma=1.0),
        helper.make_node("Constant", [], ["axes"], value_ints=[0]),
        helper.make_node("Unsqueeze", ["a", "axes"], ["b"]),
        helper.make_node(
            "Constant", [], ["c"], value=constant("", np.array([1, 2, 3, 4], np.float32))
        ),
        helper.make_node("Mul", ["b", "c"], ["d"]),
        helper.make_node("Constant", [], ["e"], value_float=0.5),
        helper.make_node("Add", ["d", "e"], ["f"]),
        helper.make_node("Selu", ["f"], ["y"], name="second", alpha=1.5, gamma=1.0),
    ]
    return model(nodes, [value("x", [2, 4])], [value("y", None)])


def test_constant_nodes_become_initializers(
    tmp_path: Path, repositories: Mapping[str, Path]
) -> None:
    proto = with_constant_nodes()
    proto.graph.node.append(helper.make_node("Constant", [], ["z"], value_float=0.5))
    proto.graph.output.append(value("z", []))
    graph = grafted(saved(proto, tmp_path), [repositories["Selu"]]).graph
    names = [node.op_type for node in graph.node]
    assert names == ["cstSelu", "Unsqueeze", "Mul", "Add", "cstSelu", "Constant"]
    found = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
    expected = {
        "axes": np.array([0]),
        "c": np.array([1, 2, 3, 4], np.float32),
        "e": np.float32(0.5),
    }
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array, strict=True)


def test_defaults_are_written(tmp_path: Path, repositories: Mapping[str, Path]) -> None:
    nodes = [
        helper.make_node("cstSelu", ["x"], ["a"], name="first", domain="rknn_cst", gamma=2),
        helper.make_node("TopK", ["a", "k"], ["v", "unused"], name="second"),
    ]
    proto = model(
        nodes, [value("x", [2, 3])], [value("v", None)], [constant("k", [1])], domains=["rknn_cst"]
    )
    roots = [repositories["Selu"], repositories["TopK"]]
    result = graft(saved(proto, tmp_path), roots, tmp_path / "out.onnx")
    assert result.exit_code == 0, result.output
    assert "outputs are not compared: onnxruntime has no rknn_cst.cstSelu" in result.stdout
    found = onnx.load(tmp_path / "out.onnx")
    assert attributes_of(node_of(found, "first")) == {"alpha": 1.5, "gamma": 2.0}
    infos = {each.name: each for each in found.graph.value_info}
    assert [size.dim_value for size in infos["a"].type.tensor_type.shape.dim] == [2, 3]


MINE = Source(
    f"a: {TENSOR}, b: {TENSOR}",
    f"y: {TENSOR}",
    "bias: {type: floats, default: [0.5, 0.25], source: 'const:bias'}, "
    "scale: {type: float, default: 2, source: 'const:scale'}",
    """
import numpy as np


def output_shapes(shapes, params):
    return {"y": shapes["a"]}


def reference(inputs, params):
    return {"y": inputs["a"] * inputs["b"] + np.multiply(params["bias"], params["scale"])}
""",
)


def mine(bias: float) -> Any:
    """Return two nodes with a constant between their tensors; the second one leaves it out."""
    nodes = [
        helper.make_node("Mine", ["x", "c", "z"], ["p"], name="whole", domain="m"),
        helper.make_node("Mine", ["p", "", "z"], ["y"], name="part", domain="m"),
    ]
    inputs = [value("x", [3, 2]), value("z", [3, 2])]
    c = constant("c", np.array([7, bias], np.float32))
    return model(nodes, inputs, [value("y", [3, 2])], [c], domains=["m"])


def test_constant_inputs_become_attributes(tmp_path: Path) -> None:
    found = grafted(saved(mine(8), tmp_path), [made(tmp_path, "Mine", MINE)])
    for name, first, bias in (("whole", "x", [7.0, 8.0]), ("part", "p", [0.5, 0.25])):
        node = node_of(found, name)
        assert [*node.input] == [first, "z"]
        assert attributes_of(node) == {"bias": bias, "scale": 2}
    assert not found.graph.initializer


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        (("c", "bias", "scale", "x"), ["c", "x"]),  # params are the last constants
        (("x", "z", "bias", "y"), "inputs 0, 1, 3 are not constant, but bias and scale must be"),
        (("x", "z", "bias", "scale", "y"), "5 inputs (expected a, b, bias, scale)"),
    ],
)
def test_positions_of_constants(
    tmp_path: Path, inputs: Sequence[str], expected: list[str] | str
) -> None:
    """Of an operator whose names of inputs are not known."""
    node = helper.make_node("Mine", inputs, ["out"], name="n", domain="m")
    ports = [value(name, [3, 2]) for name in "xyz" if name in inputs]
    constants = [
        *(constant("c", weights(3, 2)), constant("bias", np.array([7, 8], np.float32))),
        constant("scale", np.array(2, np.float32)),
    ]
    used = [each for each in constants if each.name in inputs]
    file = saved(model([node], ports, [value("out", [3, 2])], used, domains=["m"]), tmp_path)
    root = made(tmp_path, "Mine", MINE)
    if isinstance(expected, str):
        assert expected in refused(file, [root])
    else:
        found = node_of(grafted(file, [root]), "n")
        assert [*found.input] == expected
        assert attributes_of(found) == {"bias": [7.0, 8.0], "scale": 2}


def test_unreadable_constants_stay_inputs(tmp_path: Path) -> None:
    """They follow the tensors; of another param, the default is one, too."""
    found = grafted(saved(mine(1e-45), tmp_path), [made(tmp_path, "Mine", MINE)])
    assert [*node_of(found, "whole").input] == ["x", "z", "c", "whole_scale"]
    assert numpy_helper.to_array(found.graph.initializer[1]).tolist() == [2]
    assert attributes_of(node_of(found, "whole")) == {}
    assert [*node_of(found, "part").input] == ["p", "z"]


def test_float16(tmp_path: Path, repositories: Mapping[str, Path]) -> None:
    file = saved(chain([1.5, 1.25], HALF), tmp_path)
    grafted(file, [repositories["Selu"]])


def assert_same_data(found: Sequence[Any], expected: Sequence[Any]) -> None:
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(numpy_helper.to_array(one), numpy_helper.to_array(other))


def test_external_data(
    tmp_path: Path, repositories: Mapping[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["a"]),
        helper.make_node("Selu", ["a"], ["b"], alpha=1.5, gamma=1.0),
        helper.make_node("MatMul", ["b", "v"], ["c"]),
        helper.make_node("Reshape", ["c", "size"], ["y"]),
    ]
    tensors = [
        constant("w", weights(200, 200)),
        constant("v", weights(200, 200) + 1),
        constant("size", [10, 20]),
    ]
    proto = model(nodes, [value("x", [1, 200])], [value("y", None)], tensors)
    names = ["model.onnx", "out.onnx", "out.onnx.data"]
    # A model over protobuf's limit.
    large = tmp_path / "large"
    large.mkdir()
    with monkeypatch.context() as patch:
        patch.setattr(written_models, "MAX_FILE", 10**5)
        found = grafted(saved(proto, large), [repositories["Selu"]])
    assert_same_data(found.graph.initializer, tensors)
    assert sorted(each.name for each in large.iterdir()) == names
    file = tmp_path / "model.onnx"
    onnx.save(proto, file, save_as_external_data=True, location="w.bin", size_threshold=0)
    found = grafted(file, [repositories["Selu"]])
    assert_same_data(found.graph.initializer, tensors)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["large", *names, "w.bin"]


def test_subgraphs(tmp_path: Path, repositories: Mapping[str, Path]) -> None:
    def branch(name: str, node: Any) -> Any:
        return helper.make_graph([node], name, [], [value(node.output[0], [2, 4])])

    then = branch(
        "then", helper.make_node("Selu", ["x"], ["a"], name="inside", alpha=1.5, gamma=1.0)
    )
    other = branch("else", helper.make_node("Abs", ["x"], ["b"]))
    node = helper.make_node("If", ["c"], ["y"], then_branch=then, else_branch=other)
    inputs = [value("c", [], TensorProto.BOOL), value("x", [2, 4])]
    file = saved(model([node], inputs, [value("y", [2, 4])]), tmp_path)
    arrays = tmp_path / "inputs.npz"
    np.savez(arrays, c=np.array(True), x=weights(2, 4))
    output = tmp_path / "out.onnx"
    result = graft(file, [repositories["Selu"]], output, "--inputs", arrays)
    assert result.exit_code == 0, result.output
    assert "in subgraphs, which RKNN-Toolkit2 does not convert: 'inside'" in result.stderr
    [graph] = [
        each.g for each in onnx.load(output).graph.node[0].attribute if each.g.name == "then"
    ]
    assert graph.node[0].op_type == "cstSelu"


def test_pplnn(tmp_path: Path, repositories: Mapping[str, Path]) -> None:
    roots = [repositories["GridSample"], repositories["TopK"]]
    proto = grafted(saved(detector(), tmp_path), roots, "--target", "riscv64")
    assert [(o.domain, o.version) for o in proto.opset_import] == [("", 16), ("custom", 1)]
    top = node_of(proto, "top")
    assert (top.op_type, top.domain, [*top.input]) == ("TopK", "custom", ["r"])
    assert attributes_of(top)["k"] == 2


def test_hostile_names(tmp_path: Path, repositories: Mapping[str, Path]) -> None:
    names = {"grid": "a'b\"c\n\x1b[31m", "top": "${x} {y} %s", "sampled": "../é\t"}
    file = saved(detector(names), tmp_path)
    roots = [repositories["GridSample"], repositories["TopK"]]
    result = graft(file, roots, tmp_path / "out.onnx")
    assert result.exit_code == 0, result.output
    assert "\x1b" not in result.output
    proto = onnx.load(tmp_path / "out.onnx")
    assert [node.name for node in proto.graph.node] == ["conv", names["grid"], "", names["top"]]


def test_kept_nodes(tmp_path: Path, repositories: Mapping[str, Path]) -> None:
    """A node with ONNX's own name stays as it is, also without its optional inputs."""
    operator = Operator(repositories["DeformConv"])
    form = Form("DeformConv", None)
    file = saved(deformed(), tmp_path)
    with opened(file) as source:
        found = grafted_model.graft(source, onnx_model.read(file), [Custom(operator, form)])
        assert found.model.proto == source.proto
        inputs = random_inputs(onnx_model.read(file))
        assert all(
            each.is_equal
            for each in prove(source, found, inputs, None, available()["rknn2"]).differences
        )


# ---- The comparison ------------------------------------------------------------------------------


def test_wrong_node_is_named(tmp_path: Path, repositories: Mapping[str, Path]) -> None:
    file = saved(chain([1.5, 3.0, 1.25, 4.0]), tmp_path)
    root = repositories["Selu"]
    message = refused(file, [root])
    assert f"node 'n1' is the first that differs: output 'y' of {root}: 2 of 8" in message
    assert "the worst is [0, 3]: " in message
    [index] = [message.index("(expected ")]
    assert message[index:].count("tolerance") == 1
    result = graft(file, [root], tmp_path / "out.onnx")
    assert "differs" in result.stdout
    assert graft(file, [root], tmp_path / "out.onnx", "--max-error", 50).exit_code == 0


@pytest.mark.parametrize("max_error", ["nan", "inf"])
def test_invalid_max_error(
    tmp_path: Path, repositories: Mapping[str, Path], max_error: str
) -> None:
    file = saved(chain([3.0]), tmp_path)
    message = refused(file, [repositories["Selu"]], "--max-error", max_error)
    assert f"--max-error: invalid {max_error} (expected a finite number)" in message


def test_wrong_node_in_a_loop(tmp_path: Path, repositories: Mapping[str, Path]) -> None:
    nodes = [
        helper.make_node("Selu", ["v"], ["w"], name="right", alpha=1.5, gamma=1.0),
        helper.make_node("Selu", ["w"], ["next"], name="wrong", alpha=3.0, gamma=1.0),
    ]
    inputs = [
        value("i", [], INT64),
        value("going", [], TensorProto.BOOL),
        value("v", [2, 4]),
    ]
    outputs = [value("going", [], TensorProto.BOOL), value("next", [2, 4])]
    nodes.append(helper.make_node("Identity", ["going"], ["still"]))
    outputs[0] = value("still", [], TensorProto.BOOL)
    body = helper.make_graph(nodes, "body", inputs, outputs)
    node = helper.make_node("Loop", ["m", "", "x"], ["y"], body=body)
    proto = model([node], [value("x", [2, 4])], [value("y", [2, 4])], [constant("m", np.int64(2))])
    message = refused(saved(proto, tmp_path), [repositories["Selu"]])
    assert "node 'wrong' is the first that differs" in message


def test_wrong_shape_is_named(tmp_path: Path) -> None:
    source = Source(
        f"x: {TENSOR}",
        f"y: {TENSOR}",
        "",
        "def output_shapes(shapes, params):\n    return {'y': (3,)}\n\n\n"
        "def reference(inputs, params):\n    return {'y': inputs['x'].ravel()[:3]}\n",
    )
    root = made(tmp_path, "Softsign", source)
    node = helper.make_node("Softsign", ["x"], ["y"], name="n")
    file = saved(model([node], [value("x", [2, 4])], [value("y", [2, 4])]), tmp_path)
    message = refused(file, [root])
    assert f"output 'y' of {root}: is float32 [3] (expected float32 [2, 4])" in message


def test_inputs_of_a_file(tmp_path: Path, repositories: Mapping[str, Path]) -> None:
    file = saved(chain([3.0]), tmp_path)
    arrays = tmp_path / "inputs.npz"
    np.savez(arrays, t0=np.zeros((2, 3), np.float32))
    message = refused(file, [repositories["Selu"]], "--inputs", arrays)
    assert "'t0': has shape [2, 3] (expected [2, 4])" in message


def test_error_of_a_reference(tmp_path: Path, repositories: Mapping[str, Path]) -> None:
    root = repositories["Selu"]
    message = refused(saved(chain([1.5, -1.0]), tmp_path), [root])
    assert f"error: node 'n1', {root}: selu_reference.py:" in message
    assert "ValueError: alpha is -1.0" in message


# ---- The comparison of each node -----------------------------------------------------------------


def faint() -> Any:
    """Return a model whose outputs hardly depend on its GridSample."""
    nodes = [
        helper.make_node("GridSample", ["x", "grid"], ["sampled"], name="/faint/grid"),
        helper.make_node("Mul", ["sampled", "tiny"], ["scaled"]),
        helper.make_node("Add", ["scaled", "grid_sum"], ["y"]),
        helper.make_node("ReduceSum", ["grid"], ["grid_sum"], keepdims=1),
    ]
    nodes.insert(0, nodes.pop())
    inputs = [value("x", [1, 3, 6, 6]), value("grid", [1, 4, 4, 2])]
    return model(
        nodes, inputs, [value("y", None)], [constant("tiny", np.array([1e-6], np.float32))]
    )


MISTAKES = {
    "zeros": "np.zeros_like(y)",
    "shifted by a pixel": "np.roll(y, 1, axis=-1)",
    "a wrong channel": "np.concatenate([y[:, :-1], 2 * y[:, -1:]], axis=1)",
}


@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize("proto", [detector, faint])
def test_mistakes_are_named(
    tmp_path: Path, repositories: Mapping[str, Path], proto: Callable[[], Any], mistake: str
) -> None:
    """Also where the outputs of the model hardly depend on the node."""
    source = SOURCES["GridSample"]
    text = source.reference.replace("return by_onnx", "y = by_onnx")
    text += f"    y = y['y']\n    return {{'y': {MISTAKES[mistake]}}}\n"
    wrong = made(tmp_path, "GridSample", replace(source, reference=text))
    message = refused(saved(proto(), tmp_path), [wrong])
    name = "/head/grid" if proto is detector else "/faint/grid"
    assert f"error: node '{name}' is the first that differs: output 'y' of {wrong}: " in message


def test_mistake_that_stops_the_model(tmp_path: Path, repositories: Mapping[str, Path]) -> None:
    """A node behind a wrong shape cannot run; the wrong one is named."""
    source = SOURCES["GridSample"]
    text = source.reference.replace('shapes["grid"][1:3])', 'shapes["grid"][1:2])')
    text = text.replace("return by_onnx", "y = by_onnx")
    text += "    return {'y': y['y'][..., 0]}\n"
    wrong = made(tmp_path, "GridSample", replace(source, reference=text))
    message = refused(saved(detector(), tmp_path), [wrong, repositories["TopK"]])
    assert f"node '/head/grid' is the first that differs: output 'y' of {wrong}: is float32" in (
        message
    )


def rows(output: str) -> dict[str, list[str]]:
    """Return node -> its row in the table of nodes."""
    lines = output.partition("\nEach node on")[2].splitlines()[2:]
    return {line.split()[0]: line.split()[1:] for line in lines if line.strip()}


def test_effect_of_a_node(tmp_path: Path, repositories: Mapping[str, Path]) -> None:
    file, root = saved(faint(), tmp_path), repositories["GridSample"]
    result = graft(file, [root], tmp_path / "out.onnx")
    assert result.exit_code == 0, result.output
    assert "warning: node '/faint/grid': insensitive: with zeros in place of one" in result.stderr
    row = rows(result.stdout)["/faint/grid"]
    assert (row[0], row[3], row[-1]) == ("y", "-", "equal")
    assert 1e-9 < float(row[5]) < 1e-5
    assert f"{root}: the C kernel is not built, so it is not compared; run: rknn-op check -p" in (
        result.stderr
    )
    file = saved(detector(), tmp_path, "strong.onnx")
    roots = [root, repositories["TopK"]]
    result = graft(file, roots, tmp_path / "strong_out.onnx")
    assert float(rows(result.stdout)["/head/grid"][5]) == 1
    assert "insensitive" not in result.stderr
    assert "show little" not in result.stderr


def test_monotonous_tensors(tmp_path: Path, repositories: Mapping[str, Path]) -> None:
    arrays = tmp_path / "inputs.npz"
    grid = np.zeros((1, 4, 4, 2), np.float32)
    np.savez(arrays, x=np.full((1, 3, 6, 6), 0.5, np.float32), grid=grid)
    roots, file = [repositories["GridSample"]], saved(faint(), tmp_path)
    result = graft(file, roots, tmp_path / "out.onnx", "--inputs", arrays)
    assert (
        "tensors that show little: node '/faint/grid': 'x' is constant, 0.5, 'grid' is almost "
        "zero, at most 0, 'sampled' is constant, 0.5\n"
    ) in result.stderr


@pytest.mark.slow
def test_kernels_of_nodes(tmp_path: Path) -> None:
    """The C kernel runs on the tensors of the model, which the repository's cases do not have."""
    built = library_kernels("GridSample").copy(tmp_path)
    file = saved(faint(), tmp_path)
    result = graft(file, [built.path], tmp_path / "right.onnx")
    assert result.exit_code == 0, result.output
    assert float(rows(result.stdout)["/faint/grid"][3]) < 1e-6
    math = built.path / "gridsample_compute.h"
    text = math.read_text().replace("return doubled / 2.0F;", "return doubled / 2.0F + 0.5F;")
    assert text != math.read_text()
    math.write_text(text)
    built.scons("target=x64")
    message = refused(file, [built.path])
    assert "node '/faint/grid' is the first with another output of the C kernel: output 'y'" in (
        message
    )
    assert f"run: rknn-op check -p {built.path}" in message


# ---- Casts ---------------------------------------------------------------------------------------

DOUBLE = TensorProto.DOUBLE


def wide() -> Any:
    """Return a model with a GridSample whose grid is float64, and a Selu of float64."""
    nodes = [
        helper.make_node("Cast", ["g"], ["grid"], to=DOUBLE),
        helper.make_node("GridSample", ["x", "grid"], ["sampled"], name="grid"),
        helper.make_node("Cast", ["sampled"], ["d"], to=DOUBLE),
        helper.make_node("Selu", ["d"], ["e"], name="selu", alpha=1.5, gamma=1.25),
        helper.make_node("Abs", ["e"], ["y"]),
    ]
    inputs = [value("x", [1, 3, 6, 6]), value("g", [1, 4, 4, 2])]
    return model(nodes, inputs, [value("y", None, DOUBLE)])


def test_casts_around_float64(tmp_path: Path, repositories: Mapping[str, Path]) -> None:
    roots = [repositories["GridSample"], repositories["Selu"]]
    proto = grafted(saved(wide(), tmp_path), roots)
    assert [node.op_type for node in proto.graph.node] == [
        *("Cast", "Cast", "cstGridSample", "Cast", "Cast", "cstSelu", "Cast", "Abs")
    ]
    types = {each.name: each.type.tensor_type.elem_type for each in proto.graph.value_info}
    assert types == {"sampled": TensorProto.FLOAT, "e_float32": TensorProto.FLOAT}
    [before] = [node for node in proto.graph.node if node.output[0] == "grid_float32"]
    [behind] = [node for node in proto.graph.node if node.output[0] == "e"]
    assert ([*before.input], attributes_of(before)["to"]) == (["grid"], TensorProto.FLOAT)
    assert ([*behind.input], attributes_of(behind)["to"]) == (["e_float32"], DOUBLE)


def test_casts_of_kept_nodes(tmp_path: Path, repositories: Mapping[str, Path]) -> None:
    names = ("GridSample", "Selu")
    customs = [Custom(Operator(repositories[name]), Form(name, None)) for name in names]
    file = saved(wide(), tmp_path)
    with opened(file) as source:
        found = grafted_model.graft(source, onnx_model.read(file), customs)
        node = next(each for each in found.model.proto.graph.node if each.name == "grid")
        assert [*node.input] == ["x", "grid_float32"]
        inputs = random_inputs(onnx_model.read(file))
        proof = prove(source, found, inputs, None, available()["rknn2"])
        assert all(each.is_equal for each in proof.differences)
        assert not proof.cause


def test_casts_of_integers(tmp_path: Path) -> None:
    """int64 becomes int32 where op.yml says so, and values must fit."""
    source = Source(
        "x: {type: VX_TYPE_TENSOR, dtype: int32}",
        "y: {type: VX_TYPE_TENSOR, dtype: int32, same_as: x}",
        "",
        "def output_shapes(shapes, params):\n    return {'y': shapes['x']}\n\n\n"
        "def reference(inputs, params):\n    return {'y': abs(inputs['x'])}\n",
    )
    root = made(tmp_path, "Abs", source)
    node = helper.make_node("Abs", ["x"], ["y"], name="n")
    ports = [value(name, [3], INT64) for name in "xy"]
    file = saved(model([node], ports[:1], ports[1:]), tmp_path)
    arrays = tmp_path / "inputs.npz"
    np.savez(arrays, x=np.array([2, -3, 2**40]))
    message = refused(file, [root], "--inputs", arrays, "--target", "riscv64")
    assert "node 'n': tensor 'x' has the value 1099511627776 (expected numbers of int32" in message
    np.savez(arrays, x=np.array([2, -3, -(2**31) + 1]))
    proto = grafted(file, [root], "--inputs", arrays, "--target", "riscv64")
    assert [node.op_type for node in proto.graph.node] == ["Cast", "Abs", "Cast"]


# ---- Refusals ------------------------------------------------------------------------------------


def selu(*inputs: str, domain: str = "", **attributes: Any) -> Any:
    """Return a model with a Selu that may not match op.yml."""
    node = helper.make_node("Selu", inputs or ["x"], ["y"], name="n", domain=domain, **attributes)
    domains = [domain] if domain else []
    inputs_ = [value("x", [2]), value("i", [2], INT64)]
    return model([node], inputs_, [value("y", None)], [constant("c", weights(2))], domains=domains)


@pytest.mark.parametrize(
    ("proto", "message"),
    [
        (selu(domain="d", beta=1), "node 'n': attribute 'beta' is not in op.yml (expected alpha,"),
        (selu(domain="d", alpha="a"), "attribute 'alpha' has the type STRING (expected FLOAT"),
        (selu(domain="d", alpha=1e-45), "attribute 'alpha' is 1.4012984643248"),
        (selu("x", "x", domain="d"), "node 'n' has 2 inputs (expected x)"),
        (selu("c", domain="d"), "all its inputs are constant"),
        (selu("", domain="d"), "has no input 'x'"),
    ],
)
def test_nodes_that_do_not_match(
    tmp_path: Path, repositories: Mapping[str, Path], proto: Any, message: str
) -> None:
    file, root = saved(proto, tmp_path), repositories["Selu"]
    found = refused(file, [root])
    assert found.startswith(f"error: {file}, {root}: node 'n'")
    assert message in found
    assert len(found.splitlines()) == 1


@pytest.mark.parametrize(
    ("op_type", "node", "inputs", "message"),
    [
        (
            "DeformConv",
            helper.make_node("DeformConv", ["x", "w", "o"], ["y"], name="n"),
            [value("x", [1, 2, 5, 5]), value("o", [1, 8, 4, 4])],
            "has no attribute 'kernel_shape', and params.kernel_shape has no default",
        ),
        (
            "TopK",
            helper.make_node("TopK", ["x", "k"], ["y", "i"], name="n"),
            [value("x", [4]), value("k", [1], INT64)],
            "node 'n': input 'k' is not constant, as op.yml says",
        ),
        (
            "Selu",
            helper.make_node("Celu", ["x"], ["y"]),
            [value("x", [2])],
            "has no node of the type Selu; did you mean Celu? (it has Celu)",
        ),
    ],
    ids=["missing param", "changing constant", "no node"],
)
def test_models_that_do_not_match(
    tmp_path: Path,
    repositories: Mapping[str, Path],
    op_type: str,
    node: Any,
    inputs: list[Any],
    message: str,
) -> None:
    proto = model([node], inputs, [value("y", None)], [constant("w", weights(3, 2, 2, 2))])
    assert message in refused(saved(proto, tmp_path), [repositories[op_type]])


@pytest.mark.parametrize(
    ("k", "message"),
    [
        (np.array([2**40]), "input 'k' is 1099511627776 (expected -2147483648 to 2147483647"),
        (np.array([10]), "input 'k' is 10 (expected 1 to 9, params.k in op.yml)"),
        (np.array([1, 2]), "input 'k' has 2 items (expected 1)"),
        (np.array([1.5], np.float32), "input 'k' is float32 (expected integers)"),
    ],
)
def test_invalid_constants(tmp_path: Path, k: Any, message: str) -> None:
    source = replace(
        SOURCES["TopK"], params="k: {type: VX_TYPE_INT32, source: 'const:k', min: 1, max: 9}"
    )
    node = helper.make_node("TopK", ["x", "k"], ["v", "i"], name="n", domain="d")
    proto = model(
        [node],
        [value("x", [4])],
        [value("v", None), value("i", None, INT64)],
        [constant("k", k)],
        domains=["d"],
    )
    assert message in refused(saved(proto, tmp_path), [made(tmp_path, "TopK", source)])


def test_ambiguous_types(tmp_path: Path, repositories: Mapping[str, Path]) -> None:
    nodes = [
        helper.make_node("Selu", ["x"], ["a"]),
        helper.make_node("Selu", ["a"], ["y"], domain="d"),
    ]
    proto = model(nodes, [value("x", [2])], [value("y", [2])], domains=["d"])
    root = repositories["Selu"]
    assert "the nodes of Selu and d.Selu may be of" in refused(saved(proto, tmp_path), [root])
    file = saved(chain([1.5]), tmp_path)
    other = made(tmp_path, "Selu", SOURCES["Selu"], "other")
    assert "both are the operator Selu; pass one of them" in refused(file, [root, other])


def test_dynamic_models(tmp_path: Path, repositories: Mapping[str, Path]) -> None:
    node = helper.make_node("Selu", ["x"], ["y"], alpha=1.5, gamma=1.0)
    file = saved(model([node], [value("x", ["n", 4])], [value("y", None)]), tmp_path)
    root = repositories["Selu"]
    assert "input 'x' has the dynamic shape [n, 4]; a custom operator" in refused(file, [root])
    arrays = tmp_path / "inputs.npz"
    np.savez(arrays, x=weights(3, 4))
    proto = grafted(file, [root], "--target", "riscv64", "--inputs", arrays)
    assert not proto.graph.value_info
    sizes = proto.graph.output[0].type.tensor_type.shape.dim
    assert [each.dim_param or each.dim_value for each in sizes] == ["n", 4]


def test_paths(tmp_path: Path, repositories: Mapping[str, Path]) -> None:
    root = repositories["Selu"]
    file = saved(chain([1.5]), tmp_path)
    (tmp_path / "graph.pb").write_bytes(b"")
    (tmp_path / "link.onnx").symlink_to(file)
    (tmp_path / "there.onnx").write_bytes(b"")
    rows = [
        (tmp_path / "graph.pb", "out.onnx", "RKNN-Toolkit 1.x calls the class by the node's own"),
        (file, "out.txt", "invalid file name (expected *.onnx)"),
        (file, "model.onnx", "is MODEL itself; pass another file"),
        (file, "link.onnx", "is MODEL itself; pass another file"),
        (file, "there.onnx", "exists; delete it, or pass another -o"),
        (file, "gone/out.onnx", "no such folder"),
        (tmp_path / "gone.onnx", "out.onnx", "cannot be read"),
    ]
    before = sorted(tmp_path.rglob("*"))
    for source, output, message in rows:
        result = graft(source, [root], tmp_path / output)
        assert result.exit_code == 1
        assert message in result.stderr
    assert "op.yml not found" in graft(file, [tmp_path], tmp_path / "out.onnx").stderr
    assert sorted(tmp_path.rglob("*")) == before


def test_targets(tmp_path: Path, repositories: Mapping[str, Path]) -> None:
    root = repositories["Selu"]
    file = saved(chain([1.5]), tmp_path)
    assert "has no custom operators" in refused(file, [root], "--target", "rv1103")
    assert "--target: invalid 'rv1126' (expected rk3588," in refused(
        file, [root], "--target", "rv1126"
    )
    only = made(tmp_path, "Selu", replace(SOURCES["Selu"], runtimes="pplnn"), "only")
    message = refused(file, [only], "--target", "rk3588")
    assert "has the runtimes pplnn (expected rknn2)" in message
    assert "RKNN-Toolkit2 is not for pplnn" in refused(file, [only], "--toolkit", "python")


# ---- The toolkit ---------------------------------------------------------------------------------

TOOLKIT = os.environ.get("RKNN_OP_RKNN2_PYTHON", "")
needs_toolkit = pytest.mark.skipif(not TOOLKIT, reason="RKNN_OP_RKNN2_PYTHON names no Python")


@pytest.mark.slow
@needs_toolkit
def test_toolkit_simulates_the_grafted_model(
    tmp_path: Path, repositories: Mapping[str, Path]
) -> None:
    file = saved(detector(), tmp_path)
    roots = [repositories["GridSample"], repositories["TopK"]]
    output = tmp_path / "out.onnx"
    result = graft(file, roots, output, "--toolkit", TOOLKIT, "--target", "rk3588")
    assert result.exit_code == 0, result.output
    assert "for rk3588:" in result.stdout
    assert result.stdout.count("equal") == 2 + 3 + 2  # outputs, those of nodes, simulated ones
    package = (tmp_path / "out.rknn").read_bytes()
    assert b"cstGridSample" in package
    assert b"cstTopK" in package


@pytest.mark.slow
@pytest.mark.nightly
@needs_toolkit
def test_toolkit_with_filled_inputs(tmp_path: Path, repositories: Mapping[str, Path]) -> None:
    file = saved(deformed(), tmp_path)
    grafted(file, [repositories["DeformConv"]], "--toolkit", TOOLKIT)
    assert (tmp_path / "out.rknn").is_file()


@pytest.mark.slow
@pytest.mark.nightly
@needs_toolkit
def test_toolkit_infers_shapes_behind_an_operator(
    tmp_path: Path, repositories: Mapping[str, Path]
) -> None:
    """It does so node by node, and does not see the values of Constant nodes there."""
    file = saved(with_constant_nodes(), tmp_path)
    grafted(file, [repositories["Selu"]], "--toolkit", TOOLKIT)


@pytest.mark.slow
@pytest.mark.nightly
@needs_toolkit
def test_errors_of_the_toolkit(tmp_path: Path, repositories: Mapping[str, Path]) -> None:
    nodes = [
        helper.make_node("Selu", ["x"], ["a"], name="n", alpha=1.5, gamma=1.25),
        helper.make_node("NonZero", ["a"], ["y"]),
    ]
    file = saved(model(nodes, [value("x", [2, 4])], [value("y", None, INT64)]), tmp_path)
    *_, message = refused(file, [repositories["Selu"]], "--toolkit", TOOLKIT).splitlines()
    assert message.startswith(f"error: --toolkit {TOOLKIT}: ")


SIMULATOR = """\
#!{python}
import json, sys
from pathlib import Path
import numpy as np

work = json.loads(Path(sys.argv[2]).read_text())
with np.load(work["inputs"]) as file:
    [x] = file.values()
Path(work["package"]).write_bytes(b"package")
y = np.where(x > 0, x, 1.5 * np.expm1(x)).astype("float32")
np.savez(work["outputs"], {result})
print("some line\\n9.9.9")
"""


@pytest.mark.parametrize(
    ("result", "status", "message"),
    [
        ("y * 1.01", 0, "RKNN-Toolkit2 9.9.9 for rk3576:"),
        ("y + 0.5", 1, "output 't1' of the simulator: 8 of 8 elements differ, the worst is ["),
        ("y[0]", 1, "output 't1' of the simulator: is float32 [4] (expected float32 [2, 4])"),
        ("y, y", 1, "the simulator gives 2 outputs (expected 1)"),
    ],
)
def test_simulated_outputs(
    tmp_path: Path, repositories: Mapping[str, Path], result: str, status: int, message: str
) -> None:
    file = saved(chain([1.5]), tmp_path)
    python = tmp_path / "python"
    python.write_text(SIMULATOR.format(python=sys.executable, result=result))
    python.chmod(0o755)
    options = ("--toolkit", python, "--target", "rk3576")
    done = graft(file, [repositories["Selu"]], tmp_path / "out.onnx", *options)
    assert done.exit_code == status, done.output
    assert message in done.output
    package = tmp_path / "out.rknn"
    assert [package.exists(), (tmp_path / "out.onnx").exists()] == [not status] * 2
    if status == 0:
        assert package.read_bytes() == b"package"
    elif "0.5" in result:
        done = graft(
            file, [repositories["Selu"]], tmp_path / "out.onnx", *options, "--max-error", 0.6
        )
        assert done.exit_code == 0, done.output


def test_simulated_outputs_of_a_sensitive_model(
    tmp_path: Path, repositories: Mapping[str, Path]
) -> None:
    """Differences are tolerated if small changes of the inputs make as large ones."""
    nodes = [
        helper.make_node("Selu", ["x"], ["a"], name="n", alpha=1.5, gamma=1.0),
        helper.make_node("Mul", ["a", "c"], ["b"]),
        helper.make_node("Sin", ["b"], ["s"]),
    ]
    proto = model(
        nodes,
        [value("x", [2, 4])],
        [value("s", [2, 4]), value("a", [2, 4])],
        [constant("c", np.float32(1e4))],
    )
    file = saved(proto, tmp_path)
    python = tmp_path / "python"
    options = ("--toolkit", python)
    for result, status in (("y + 0.5, y", 0), ("y + 9, y", 1), ("y, y + 0.5", 1)):
        python.write_text(SIMULATOR.format(python=sys.executable, result=result))
        python.chmod(0o755)
        done = graft(file, [repositories["Selu"]], tmp_path / "out.onnx", *options)
        assert done.exit_code == status, done.output
        is_tolerated = "output 's' changes by up to " in done.stderr
        assert is_tolerated == (result != "y + 9, y")
        for written in tmp_path.glob("out.*"):
            written.unlink()


def test_failing_rules_of_the_toolkit_are_disabled(
    tmp_path: Path, repositories: Mapping[str, Path]
) -> None:
    """As long as the toolkit names another one; its log may end behind the version."""
    python = tmp_path / "python"
    failing = """
for rule in ("fuse_a", "squeeze_b"):
    if rule not in sys.argv[3:]:
        print(f"You can add disable_rules=['{rule}'] in rknn.config() to temporarily ...")
        sys.exit("build: AttributeError")
"""
    start, end = SIMULATOR.format(python=sys.executable, result="y").split("\nwork =")
    python.write_text(f"{start}{failing}\nwork ={end}print('one line more')\n")
    python.chmod(0o755)
    file, roots = saved(chain([1.5]), tmp_path), [repositories["Selu"]]
    done = graft(file, roots, tmp_path / "out.onnx", "--toolkit", python)
    assert done.exit_code == 0, done.output
    named = "RKNN-Toolkit2 9.9.9 with disable_rules=['fuse_a', 'squeeze_b'] for rk3588:"
    assert f"\n{named}\n" in done.stdout
    for written in tmp_path.glob("out.*"):
        written.unlink()
    python.write_text(python.read_text().replace("in sys.argv[3:]", "in sys.argv[9:]"))
    assert "build: AttributeError" in refused(file, roots, "--toolkit", python)


def test_python_without_the_toolkit(tmp_path: Path, repositories: Mapping[str, Path]) -> None:
    file, roots = saved(chain([1.5]), tmp_path), [repositories["Selu"]]
    message = refused(file, roots, "--toolkit", sys.executable)
    assert "RKNN-Toolkit2 is not installed for this Python" in message
    assert "cannot be started" in refused(file, roots, "--toolkit", tmp_path / "none")
    result = graft(file, roots, tmp_path / "out.onnx", "--toolkit", sys.executable)
    assert "The original model and the references:" in result.stdout  # what is known is printed
