"""The cleaned model, which scan, create --from and graft look at."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from click.testing import Result
from onnx import TensorProto, helper

from rknn_op.models import cleaning
from tests.marks import quick_first
from tests.models import test_extra
from tests.models.models import (
    constant,
    detection_head,
    frozen_graph,
    model,
    saved,
    saved_externally,
    saved_graph,
    value,
    weights,
)
from tests.rknn_op.command import assert_error, rknn_op, succeeded

BOOL, FLOAT, INT64 = TensorProto.BOOL, TensorProto.FLOAT, TensorProto.INT64


def node(op_type: str, inputs: str, outputs: str, name: str = "", **attributes: Any) -> Any:
    """Return a node; its inputs and outputs are separated by blanks."""
    return helper.make_node(op_type, inputs.split(), outputs.split(), name, **attributes)


def half_of_size() -> list[Any]:
    """Return nodes that compute `size`, [1, -1, half of axis 2], as PyTorch exports them.

    onnx propagates sizes, but not through floats.
    """
    return [
        node("Shape", "x", "sizes"),
        node("Gather", "sizes two", "last"),
        node("Cast", "last", "float", to=FLOAT),
        node("Mul", "float half", "halved"),
        node("Cast", "halved", "integer", to=INT64),
        node("Unsqueeze", "integer zero", "unsqueezed"),
        node("Concat", "one minus_one unsqueezed", "size", axis=0),
    ]


CONSTANTS = [
    constant("zero", [0]),
    constant("one", [1]),
    constant("two", np.array(2)),
    constant("minus_one", [-1]),
    constant("half", np.float32(0.5)),
]
X = [value("x", [1, 4, 6])]


def reshaped() -> Any:
    """Return a model with a Reshape by a computed size, another size behind it, and a Selu."""
    nodes = [
        *half_of_size(),
        node("Reshape", "x size", "a"),
        node("Shape", "a", "other_size"),
        node("ConstantOfShape", "other_size", "zeros"),
        node("Add", "a zeros", "b"),
        node("Selu", "b", "y"),
    ]
    return model(nodes, X, [value("y", [1, 8, 3])], CONSTANTS)


REMOVED = {
    **dict.fromkeys(("Shape", "Cast"), 2),
    **dict.fromkeys(("Gather", "Mul", "Unsqueeze", "Concat", "ConstantOfShape"), 1),
}
"""The operators of `reshaped` that are constant."""
REMOVED_BEFORE_RESHAPE = {"Cast": 2} | dict.fromkeys(
    ("Shape", "Gather", "Mul", "Unsqueeze", "Concat"), 1
)
"""Those of half_of_size."""


def scan(file: Path, *options: object) -> Result:
    return rknn_op("scan", file, *options)


def scanned(file: Path, *options: object) -> dict[str, Any]:
    """Return the command's JSON."""
    found: dict[str, Any] = json.loads(scan(file, *options, "--json").stdout)
    return found


def cleaned(file: Path, *options: object) -> Any:
    """Return the model that `scan --clean` writes, valid and with the outputs of the file's."""
    output = file.with_name("clean.onnx")
    result = scan(file, "--clean", output, *options)
    assert (result.exit_code in (0, 1), result.stderr) == (True, f"wrote {output}\n"), result.output
    onnx.checker.check_model(output, full_check=True)
    found = onnx.load(output)
    original = onnx.load(file)
    assert found.opset_import == original.opset_import
    assert ports(found) == ports(original)
    assert_equal_outputs(file, output)
    return found


def ports(proto: Any) -> list[tuple[str, int]]:
    """Return the names and the element types of a model's inputs and outputs, in order."""
    return [
        (each.name, each.type.tensor_type.elem_type)
        for each in (*proto.graph.input, *proto.graph.output)
    ]


def assert_equal_outputs(*files: Path) -> None:
    """Check that models compute the same in onnxruntime."""
    random = np.random.default_rng(1)
    sessions = [onnxruntime.InferenceSession(each) for each in files]
    types = {"tensor(float)": np.float32, "tensor(bool)": np.bool_, "tensor(int64)": np.int64}
    feeds = {
        each.name: random.uniform(-1, 1, each.shape).astype(types[each.type])
        for each in sessions[0].get_inputs()
    }
    for expected, actual in zip(*(each.run(None, feeds) for each in sessions), strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-6)


def types(proto: Any) -> list[str]:
    return [each.op_type for each in proto.graph.node]


# ---- What is folded ------------------------------------------------------------------------------


def test_sizes_are_folded(tmp_path: Path) -> None:
    file = saved(reshaped(), tmp_path)
    found = scanned(file)
    assert found["cleaned"] == {"removed": REMOVED, "rewritten": {}, "problem": ""}
    [missing] = found["missing"]
    [selu] = missing["nodes"]
    assert (selu["name"], selu["outputs"][0]["shape"]) == ("Selu_11", [1, 8, 3])
    assert selu["inputs"][0]["shape"] == [1, 8, 3]
    text = scan(file).stdout
    assert "Cleaned: 2 Shape, 2 Cast, 1 Gather, 1 Mul, 1 Unsqueeze, 2 more folded" in text
    proto = cleaned(file)
    names = [(each.op_type, each.name, *each.output) for each in proto.graph.node]
    assert names == [
        ("Reshape", "Reshape_7", "a"),
        ("Add", "Add_10", "b"),
        ("Selu", "Selu_11", "y"),
    ]
    assert [each.name for each in proto.graph.initializer] == ["size", "zeros"]


def test_as_is(tmp_path: Path) -> None:
    found = scanned(saved(reshaped(), tmp_path), "--as-is")
    assert found["cleaned"] is None
    [selu] = next(each for each in found["missing"] if each["op_type"] == "Selu")["nodes"]
    assert selu["name"] == "Selu_11"
    assert not any(isinstance(size, int) for size in selu["inputs"][0]["shape"][1:])


def test_nothing_to_clean(tmp_path: Path) -> None:
    """The text does not mention it, and the model is written as it is."""
    file = saved(detection_head(), tmp_path)
    assert "leaned:" not in scan(file).stdout
    found, original = cleaned(file), onnx.load(file)
    assert (found.graph.node, found.graph.initializer) == (
        original.graph.node,
        original.graph.initializer,
    )
    assert scanned(saved_graph(frozen_graph(), tmp_path))["cleaned"] is None


def branch(*nodes: Any, constants: Any = (), output: str = "") -> Any:
    outputs = [value(output or nodes[-1].output[0], None)]
    return helper.make_graph([*nodes], "branch", [], outputs, [*constants])


def if_by_size(**branches: Any) -> list[Any]:
    """Return an If whose condition, axis 2 == 6, is true."""
    return [
        node("Shape", "x", "if_sizes"),
        node("Gather", "if_sizes two", "if_size"),
        node("Equal", "if_size six", "condition"),
        node("If", "condition", "chosen", "if", **branches),
    ]


SIX = constant("six", np.array(6))


def test_branch_of_a_constant_condition(tmp_path: Path) -> None:
    """Its nodes keep their names; names that the model has elsewhere are changed."""
    then = branch(
        node("Selu", "x", "b", "inner"),
        node("Add", "b one_half", "c"),
        constants=[constant("one_half", np.float32(0.5))],
    )
    nodes = [
        *if_by_size(then_branch=then, else_branch=branch(node("Relu", "x", "c"))),
        node("Abs", "chosen", "b"),
        node(
            "If",
            "flag",
            "y",
            then_branch=branch(node("Neg", "b", "one_half")),
            else_branch=branch(node("Relu", "b", "c")),
        ),
    ]
    inputs = [*X, value("flag", [], BOOL)]
    file = saved(model(nodes, inputs, [value("y", None)], [*CONSTANTS, SIX]), tmp_path)
    assert scanned(file)["cleaned"]["removed"]["If"] == 1
    proto = cleaned(file)
    assert types(proto) == ["Selu", "Add", "Abs", "If"]
    assert [each.name for each in proto.graph.node] == ["inner", "Add_1", "Abs_4", "If_5"]
    selu, add, *_ = proto.graph.node
    assert [*selu.output] == ["b_1"]
    assert ([*add.input], [*add.output]) == (["b_1", "one_half_1"], ["chosen"])


@pytest.mark.parametrize("output", ["x", "c"])
def test_branch_without_nodes(tmp_path: Path, output: str) -> None:
    """The branch gives a tensor of the outer graph, or a constant."""
    values = constant("c", np.ones([1, 4, 6], np.float32))
    then = branch(constants=[values] if output == "c" else [], output=output)
    other = branch(node("Relu", "x", "z"))
    nodes = [*if_by_size(then_branch=then, else_branch=other), node("Selu", "chosen", "y")]
    file = saved(model(nodes, X, [value("y", None)], [*CONSTANTS, SIX]), tmp_path)
    scan(file, "--clean", tmp_path / "clean.onnx")  # onnxruntime refuses the first of the files
    found = onnx.load(tmp_path / "clean.onnx")
    assert types(found) == (["Identity", "Selu"] if output == "x" else ["Selu"])
    onnxruntime.InferenceSession(tmp_path / "clean.onnx")


def test_nested_branches(tmp_path: Path) -> None:
    inner = if_by_size(
        then_branch=branch(node("Selu", "x", "deep")), else_branch=branch(node("Relu", "x", "deep"))
    )
    for each in inner:  # names of its own
        for names in (each.input, each.output):
            names[:] = [name if name in ("x", "two", "six") else f"in_{name}" for name in names]
    outer = if_by_size(then_branch=branch(*inner), else_branch=branch(node("Abs", "x", "z")))
    nodes = [*outer, node("Neg", "chosen", "y")]
    proto = cleaned(saved(model(nodes, X, [value("y", None)], [*CONSTANTS, SIX]), tmp_path))
    assert types(proto) == ["Selu", "Neg"]


def test_outputs_of_the_model_stay_nodes(tmp_path: Path) -> None:
    nodes = [*half_of_size(), node("Selu", "x", "y")]
    outputs = [value("y", None), value("size", [3], INT64)]
    file = saved(model(nodes, X, outputs, CONSTANTS), tmp_path)
    assert types(cleaned(file)) == ["Concat", "Selu"]


def test_unread_nodes_stay(tmp_path: Path) -> None:
    """What nothing reads in the file is not cleaning's business."""
    nodes = [*half_of_size(), node("Reshape", "x size", "y"), node("Selu", "x", "unread", "s")]
    file = saved(model(nodes, X, [value("y", None)], CONSTANTS), tmp_path)
    assert types(cleaned(file)) == ["Reshape", "Selu"]


def test_large_constants_stay_nodes(tmp_path: Path) -> None:
    """What they are made of is folded."""
    nodes = [
        *half_of_size(),
        node("Mul", "size million", "large_size"),
        node("Abs", "large_size", "large"),
        node("Expand", "half large", "halves", "expand"),
        node("ReduceMax", "x", "max"),
        node("Mul", "max halves", "product"),
        node("ReduceMax", "product", "y"),
    ]
    tensors = [*CONSTANTS, constant("million", [1, 1000, 1000])]
    proto = cleaned(saved(model(nodes, X, [value("y", None)], tensors), tmp_path))
    assert types(proto) == ["Expand", "ReduceMax", "Mul", "ReduceMax"]
    assert [each.name for each in proto.graph.initializer] == ["half", "large"]


# ---- What is rewritten ---------------------------------------------------------------------------


def test_blanks_in_an_equation(tmp_path: Path) -> None:
    """An Einsum of another domain keeps them; one in a branch does not."""
    spaced = {"equation": " bqc, bcw -> bqw "}
    conditional = node(
        "If",
        "flag",
        "c",
        then_branch=branch(node("Einsum", "q a", "d", "inner", **spaced)),
        else_branch=branch(node("Einsum", "q a", "e", equation="bqc,bcw->bqw")),
    )
    nodes = [node("Einsum", "q x", "a", "outer", **spaced), conditional, node("Selu", "c", "y")]
    inputs = [value("q", [1, 4, 4]), *X, value("flag", [], BOOL)]
    file = saved(model(nodes, inputs, [value("y", None)]), tmp_path)
    found = scanned(file)
    assert found["cleaned"] == {"removed": {}, "rewritten": {"Einsum": 2}, "problem": ""}
    assert "\nCleaned: 2 Einsum rewritten\n" in scan(file).stdout
    assert scanned(file, "--as-is")["missing"] == found["missing"]
    outer, chosen, _ = cleaned(file).graph.node
    assert (outer.name, *outer.input, *outer.output) == ("outer", "q", "x", "a")
    inner = {each.name: each.g.node[0] for each in chosen.attribute}["then_branch"]
    assert [each.attribute[0].s for each in (outer, inner)] == [b"bqc,bcw->bqw"] * 2

    nodes = [node("Einsum", "q x", "y", domain="com.example", **spaced)]
    other = model(nodes, inputs[:2], [value("y", [1, 4, 6])], domains=["com.example"])
    assert scanned(saved(other, tmp_path))["cleaned"]["rewritten"] == {}


def gathered(indices: Any, **attributes: Any) -> Any:
    """Return a model with a GatherND of x, [1, 4, 6], whose indices are a Constant node."""
    positions = constant("", np.asarray(indices, np.int64))
    nodes = [
        *half_of_size(),
        node("Reshape", "x size", "z"),
        node("Constant", "", "i", value=positions),
        node("GatherND", "x i", "g", "gather", **attributes),
        node("Shape", "x", "g_shape"),
        node("Reshape", "g g_shape", "h"),
        node("Selu", "h", "y"),
    ]
    outputs = [value("y", None), value("z", None), value("g_shape", [3], INT64)]
    return model(nodes, X, outputs, CONSTANTS)


@pytest.mark.parametrize("indices", [[[[[0, row] for row in range(4)]]], [[[0]]]])
def test_a_copy_by_constant_indices_is_a_reshape(tmp_path: Path, indices: Any) -> None:
    file = saved(gathered(indices), tmp_path)
    found = scanned(file)
    assert found["cleaned"]["removed"] == {**REMOVED_BEFORE_RESHAPE, "Constant": 1}
    assert found["cleaned"]["rewritten"] == {"GatherND": 1}
    assert [each["op_type"] for each in found["missing"]] == ["Selu"]
    text = " ".join(scan(file).stdout.split())
    assert "folded or removed; 1 GatherND rewritten" in text
    proto = cleaned(file)
    assert types(proto) == ["Reshape", "Reshape", "Shape", "Reshape", "Selu"]
    copy = proto.graph.node[1]
    assert (copy.name, *copy.input, *copy.output) == ("gather", "x", "g_shape_", "g")


@pytest.mark.parametrize(
    ("indices", "attributes"),
    [
        ([[0, row] for row in (1, 0, 2, 3)], {}),
        ([[0, row] for row in (0, 1, 2, 2)], {}),
        ([[0, row] for row in range(3)] * 4, {}),
        ([[0]], {"batch_dims": 1}),
    ],
)
def test_a_selection_by_constant_indices_stays(
    tmp_path: Path, indices: Any, attributes: dict[str, int]
) -> None:
    proto = gathered(indices, **attributes)
    del proto.graph.output[1:], proto.graph.node[-3:]
    proto.graph.node.append(node("Selu", "g", "y"))
    file = saved(proto, tmp_path)
    found = scanned(file)
    assert [each["op_type"] for each in found["missing"]] == ["GatherND", "Selu"]
    assert found["cleaned"]["rewritten"] == {}
    assert "GatherND" in types(cleaned(file))


# ---- What stays ----------------------------------------------------------------------------------


def test_quantization_stays(tmp_path: Path) -> None:
    nodes = [
        *half_of_size(),
        node("QuantizeLinear", "x scale point", "q", "quantize"),
        node("DequantizeLinear", "q scale point", "d", "dequantize"),
        node("DequantizeLinear", "w scale point", "dw", "weights"),
        node("MatMul", "d dw", "m"),
        node("Reshape", "m size", "y"),
    ]
    tensors = [
        *CONSTANTS,
        constant("scale", np.float32(0.1)),
        constant("point", np.int8(3)),
        constant("w", np.arange(36, dtype=np.int8).reshape(6, 6)),
    ]
    file = saved(model(nodes, X, [value("y", None)], tensors), tmp_path)
    names = [each.name for each in cleaned(file).graph.node]
    assert names == ["quantize", "dequantize", "weights", "MatMul_10", "Reshape_11"]


@pytest.mark.parametrize("op_type", ["RandomNormalLike", "RandomUniformLike"])
def test_random_numbers_stay(tmp_path: Path, op_type: str) -> None:
    nodes = [
        *half_of_size(),
        node(op_type, "half", "noise"),
        node("Mul", "x noise", "a"),
        node("Reshape", "a size", "y"),
    ]
    file = saved(model(nodes, X, [value("y", None)], CONSTANTS), tmp_path)
    result = scan(file, "--clean", tmp_path / "clean.onnx")
    assert f"warning: the cleaned model is not compared with {file}: {op_type}" in result.stderr
    assert types(onnx.load(tmp_path / "clean.onnx")) == [op_type, "Mul", "Reshape"]


def of_domain() -> Any:
    nodes = [
        *half_of_size(),
        node("Affine", "x", "a", domain="com.example", scale=2.0),
        node("Reshape", "a size", "y"),
    ]
    proto = model(nodes, X, [value("y", None)], CONSTANTS, domains=["com.example"])
    proto.graph.value_info.append(value("a", [1, 4, 6]))
    return proto


def test_a_shape_of_another_domain_stays(tmp_path: Path) -> None:
    nodes = [
        node("Shape", "x", "s", domain="com.example"),
        node("Shape", "x", "t"),
        node("Concat", "s t", "u", axis=0),
        node("Reshape", "x u", "y"),
    ]
    file = saved(model(nodes, X, [value("y", [4])], domains=["com.example"]), tmp_path)
    assert scanned(file)["cleaned"]["removed"] == {"Shape": 1}


def test_unknown_domain(tmp_path: Path) -> None:
    file = saved(of_domain(), tmp_path)
    assert scanned(file)["cleaned"]["removed"]["Shape"] == 1
    result = scan(file, "--clean", tmp_path / "clean.onnx")
    assert f"warning: the cleaned model is not compared with {file}: onnxruntime: " in result.stderr
    proto = onnx.load(tmp_path / "clean.onnx")
    assert [each.name for each in proto.graph.node] == ["Affine_7", "Reshape_8"]
    assert proto.opset_import == onnx.load(file).opset_import


def test_a_constant_that_onnxruntime_lacks(tmp_path: Path) -> None:
    """It stays, and the others are folded."""
    nodes = [
        *half_of_size(),
        node("Det", "matrix", "determinant"),  # of float64
        node("Cast", "determinant", "d", to=FLOAT),
        node("Mul", "x d", "a"),
        node("Reshape", "a size", "y"),
    ]
    tensors = [*CONSTANTS, constant("matrix", np.eye(2))]
    file = saved(model(nodes, X, [value("y", None)], tensors), tmp_path)
    assert scan(file, "--clean", tmp_path / "clean.onnx").exit_code in (0, 1)
    assert types(onnx.load(tmp_path / "clean.onnx")) == ["Det", "Cast", "Mul", "Reshape"]


def test_local_functions(tmp_path: Path) -> None:
    opsets = [helper.make_opsetid("", 19), helper.make_opsetid("mine", 1)]
    body = [node("Shape", "a", "s"), node("ConstantOfShape", "s", "z"), node("Add", "a z", "b")]
    proto = model(
        [node("F", "x", "m", domain="mine"), node("Selu", "m", "y")],
        X,
        [value("y", None)],
        domains=["mine"],
    )
    proto.functions.append(helper.make_function("mine", "F", ["a"], ["b"], body, opsets))
    file = saved(proto, tmp_path)
    result = scan(file, "--clean", tmp_path / "clean.onnx")
    assert result.exit_code == 1, result.output
    assert types(onnx.load(tmp_path / "clean.onnx")) == ["Add", "Selu"]


# ---- Files ---------------------------------------------------------------------------------------


def with_weights() -> Any:
    nodes = [
        *half_of_size(),
        node("MatMul", "x w", "a"),
        node("Reshape", "a size", "b"),
        node("Selu", "b", "c", "selu"),
        node("ReduceMax", "c", "y"),
    ]
    return model(nodes, X, [value("y", None)], [*CONSTANTS, weights("w", 6, 6000)])


def test_external_data_stays_external(tmp_path: Path) -> None:
    file = saved_externally(with_weights(), tmp_path)
    assert scan(file, "--clean", tmp_path / "clean.onnx").exit_code == 1
    proto = onnx.load(tmp_path / "clean.onnx")
    assert_equal_outputs(file, tmp_path / "clean.onnx")
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        *("clean.onnx", "clean.onnx.data", "model.onnx", "model.onnx.data")
    ]
    assert (tmp_path / "clean.onnx").stat().st_size < 5000
    [w] = [each for each in proto.graph.initializer if each.name == "w"]
    assert w.raw_data == weights("w", 6, 6000).raw_data


def test_missing_external_data(tmp_path: Path) -> None:
    """A scan does not read it."""
    file = saved_externally(with_weights(), tmp_path)
    (tmp_path / "model.onnx.data").unlink()
    assert scanned(file)["cleaned"]["removed"]["Shape"] == 1
    result = scan(file, "--clean", tmp_path / "clean.onnx")
    assert_error(result, f"{file}: the external data of tensor 'w' is missing", status=2)


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("clean.txt", "invalid file name (expected *.onnx)"),
        ("model.onnx", "is MODEL itself"),
        ("none/clean.onnx", "no such folder"),
        ("other.onnx", "other.onnx: exists; delete it, or pass another --clean"),
    ],
)
def test_output_of_clean(tmp_path: Path, output: str, message: str) -> None:
    file = saved(reshaped(), tmp_path)
    saved(reshaped(), tmp_path, "other.onnx")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    assert_error(scan(file, "--clean", tmp_path / output), message, status=2)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_usage_of_clean(tmp_path: Path) -> None:
    file = saved(reshaped(), tmp_path)
    result = scan(file, "--clean", tmp_path / "clean.onnx", "--as-is")
    assert (result.exit_code, "exclude each other" in result.stderr) == (2, True)
    graph = saved_graph(frozen_graph(), tmp_path)
    assert_error(scan(graph, "--clean", tmp_path / "c.onnx"), "is not an ONNX model", status=2)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["graph.pb", "model.onnx"]


# ---- create and graft ----------------------------------------------------------------------------


def test_create_and_graft(tmp_path: Path) -> None:
    """A node without a name has that of the file; its case is recorded, and it is grafted."""
    file = saved(reshaped(), tmp_path)
    made = succeeded("create", "--from", file, "--node", "Selu_11", "-p", tmp_path / "selu")
    assert "Recorded cases: 1," in made.stdout
    assert f"rknn-op graft {file} -p {tmp_path}/selu -o {tmp_path}/model_grafted.onnx\n" in (
        made.stdout
    )
    done = succeeded("graft", file, "-p", tmp_path / "selu", "-o", tmp_path / "out.onnx")
    assert done.stdout.startswith("Selu_11: cstSelu of selu\n")
    assert types(onnx.load(tmp_path / "out.onnx")) == ["Reshape", "Add", "cstSelu"]
    raw = tmp_path / "raw.onnx"
    succeeded("graft", file, "-p", tmp_path / "selu", "-o", raw, "--as-is")
    assert len(types(onnx.load(raw))) == len(reshaped().graph.node)


def test_create_as_is(tmp_path: Path) -> None:
    file = saved(reshaped(), tmp_path)
    made = succeeded("create", "--from", file, "--op", "Selu", "-p", tmp_path / "s", "--as-is")
    assert "Recorded cases: 1," in made.stdout
    assert made.stdout.endswith("_grafted.onnx --as-is\n")


@pytest.mark.parametrize("verb", ["scan", "create", "graft"])
def test_a_difference_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    nodes = [*half_of_size(), node("Cast", "size", "sizes_", to=FLOAT), node("Selu", "x", "s")]
    nodes += [node("ReduceSum", "sizes_", "sum", keepdims=0), node("Mul", "s sum", "y")]
    file = saved(model(nodes, X, [value("y", None)], CONSTANTS), tmp_path)
    repository = tmp_path / "selu"
    if verb == "graft":
        succeeded("create", "--from", file, "--op", "Selu", "-p", repository)
    of_shape = cleaning._of_shape
    monkeypatch.setattr(
        cleaning, "_of_shape", lambda each, shape: of_shape(each, tuple(2 * x for x in shape))
    )
    arguments: dict[str, list[object]] = {
        "scan": [file, "--clean", tmp_path / "out.onnx"],
        "create": ["--from", file, "--op", "Selu", "-p", repository],
        "graft": [file, "-p", repository, "-o", tmp_path / "out.onnx"],
    }
    before = {*tmp_path.iterdir()}
    result = rknn_op(verb, *arguments[verb])
    message = f"{file}: output 'y' of the cleaned model differs; pass --as-is"
    assert_error(result, message, status=2 if verb == "scan" else 1)
    assert {*tmp_path.iterdir()} == before
    if verb == "scan":
        assert scan(file).exit_code == 1  # it does not run the model
    else:
        succeeded(verb, *arguments[verb], "--as-is")


# ---- Failures ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "problem"),
    quick_first(
        3,
        [
            (
                "import os; os.kill(os.getpid(), 11)",
                "onnxruntime ended by signal 11 at its constants",
            ),
            ("raise ValueError", "onnxruntime cannot compute its constants"),
            ("print('no archive')", "onnxruntime cannot compute its constants"),
            # The limit stops it.
            ("import time; time.sleep(60)", "its constants take more than 0.1 s"),
        ],
    ),
)
def test_failure_of_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, problem: str
) -> None:
    """The model is judged as it is, and the commands go on."""
    script = tmp_path / "script.py"
    script.write_text(program)
    monkeypatch.setattr(cleaning, "_SCRIPT", script)
    if "sleep" in program:  # the others need time to start
        monkeypatch.setattr(cleaning, "_TIMEOUT", 0.1)
    file = saved(reshaped(), tmp_path)
    found = scanned(file)
    assert found["cleaned"] == {"removed": {}, "rewritten": {}, "problem": problem}
    assert found["missing"] == scanned(file, "--as-is")["missing"]
    assert f"Not cleaned: {problem}\n" in scan(file).stdout
    result = scan(file, "--clean", tmp_path / "clean.onnx")
    assert_error(result, f"error: {file}: cannot be cleaned: {problem}", status=2)
    succeeded("create", "--from", file, "--op", "Selu", "-p", tmp_path / "selu")
    succeeded("graft", file, "-p", tmp_path / "selu", "-o", tmp_path / "out.onnx")


@pytest.mark.slow
def test_without_onnxruntime(tmp_path: Path) -> None:
    file = saved(reshaped(), tmp_path)
    done = test_extra.rknn_op("scan", file, libraries=["onnxruntime"])
    assert "Not cleaned: onnxruntime is not installed" in done.stdout
    done = test_extra.rknn_op("scan", saved(detection_head(), tmp_path), libraries=["onnxruntime"])
    assert (done.returncode, "leaned:" in done.stdout) == (1, False)


def test_modules_of_the_current_folder_are_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = saved(reshaped(), tmp_path)
    for name in ("numpy", "onnxruntime", "onnx", "resource"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(1)")
    monkeypatch.chdir(tmp_path)
    assert scanned(file)["cleaned"]["problem"] == ""


@pytest.mark.parametrize("size", [10**6, 10**12, 2**62])
def test_sizes_beyond_memory(tmp_path: Path, size: int) -> None:
    """A constant whose size no inference knows, but its value: the process has a limit."""
    nodes = [
        node("Cast", "huge", "float", to=TensorProto.DOUBLE),
        node("Cast", "float", "integer", to=INT64),
        node("ConstantOfShape", "integer", "zeros"),
        node("ReduceSum", "zeros", "sum", keepdims=0),
        node("Selu", "x", "s"),
        node("Mul", "s sum", "y"),
    ]
    proto = model(nodes, X, [value("y", None)], [constant("huge", [size, 4])])
    found = scanned(saved(proto, tmp_path))
    assert [each["op_type"] for each in found["missing"]] == ["Selu"]
    removed = {"Cast": 2, "ConstantOfShape": 1, "ReduceSum": 1}
    assert found["cleaned"]["removed"] == (removed if size == 10**6 else {"Cast": 2})


@pytest.mark.parametrize(
    "op_type", ["Shape", "Size", "If", "Constant", "ConstantOfShape", "Gather"]
)
def test_nodes_without_inputs(tmp_path: Path, op_type: str) -> None:
    """Invalid nodes have one message, or a result."""
    nodes = [helper.make_node(op_type, [], ["a"]), node("Selu", "x", "y")]
    result = scan(saved(model(nodes, X, [value("y", None)]), tmp_path))
    assert result.exit_code in (1, 2), result.output
    assert "Traceback" not in result.output


def test_conditions_without_a_value(tmp_path: Path) -> None:
    """A constant condition whose value is dropped, or does not fit its type."""
    for changed in ("size", "dtype", "external", "constant"):
        then, other = branch(node("Selu", "x", "a")), branch(node("Relu", "x", "b"))
        nodes = [node("If", "c", "y", then_branch=then, else_branch=other)]
        condition = constant("c", np.array(True))
        if changed == "size":
            condition.dims[:] = [10**12]
        elif changed == "dtype":
            condition.data_type = 99
        else:
            condition.ClearField("raw_data")
            condition.data_location = TensorProto.EXTERNAL
            condition.external_data.add(key="location", value="none")
        if changed == "constant":
            nodes.insert(0, helper.make_node("Constant", [], ["c"], value=condition))
        tensors = [] if changed == "constant" else [condition]
        result = scan(saved(model(nodes, X, [value("y", None)], tensors), tmp_path))
        assert result.exit_code in (1, 2), (changed, result.output, result.exception)
        assert isinstance(result.exception, SystemExit), result.exception


def test_size_beyond_int64(tmp_path: Path) -> None:
    nodes = [node("Size", "x", "n"), node("Cast", "n", "y", to=FLOAT), node("Selu", "x", "z")]
    outputs = [value("y", []), value("z", None)]
    proto = model(nodes, [value("x", [2**40, 2**40])], outputs)
    assert scan(saved(proto, tmp_path)).exit_code == 1


# ---- The toolkit ---------------------------------------------------------------------------------


def test_the_toolkit_gets_the_cleaned_model(tmp_path: Path) -> None:
    """Its message names the user's file."""
    file = saved(reshaped(), tmp_path)
    python = tmp_path / "python"
    python.write_text(
        f"#!{sys.executable}\n"
        "import json, pathlib, shutil, sys\n"
        "[work] = json.loads(pathlib.Path(sys.argv[2]).read_text())['models']\n"
        f"shutil.copy(work['model'], {str(tmp_path / 'seen')!r})\n"
        "pathlib.Path(work['log']).write_text(f'refuses {work[\"model\"]}')\n"
        "print(json.dumps({'version': '9.9', 'statuses': [1]}))\n"
    )
    python.chmod(0o755)
    assert f"refuses {file}" in scan(file, "--toolkit", python, "--json").stdout
    assert types(onnx.load(tmp_path / "seen")) == ["Reshape", "Add", "Selu"]
    scan(file, "--toolkit", python, "--as-is")
    assert (tmp_path / "seen").read_bytes() == file.read_bytes()
