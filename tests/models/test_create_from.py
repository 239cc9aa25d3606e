"""`rknn-op create --from`: repositories from a model's nodes, through the command."""

from __future__ import annotations

import json
import re
from pathlib import Path
from runpy import run_path
from typing import Any

import numpy as np
import pytest
from click.testing import Result
from onnx import TensorProto, helper

from opkit.check.operators import Operator
from rknn_op.models import scanning, unsuitable
from rknn_op.models.drafting import library_match, recorded_cases
from rknn_op.models.toolkits import Answer
from tests.check.target_repositories import counts
from tests.marks import quick_first
from tests.models import test_extra
from tests.models.models import constant, detection_head, frozen_graph, model, saved, value
from tests.repositories import Repository
from tests.rknn_op.command import assert_error, rknn_op, snapshot, succeeded
from tests.runtimes.rknn2.test_simulator import toolkit_python


def create(file: Path, *options: object) -> Result:
    """Run the command on a model."""
    return rknn_op("create", "--from", file, *options)


def created(proto: Any, folder: Path, *options: object) -> tuple[Path, str]:
    """Return the path of a new repository, and the command's output."""
    path = folder / "made"
    return path, succeeded("create", "--from", saved(proto, folder), *options, "-p", path).output


def description(path: Path) -> str:
    """Return op.yml without the line for editors."""
    return (path / "op.yml").read_text().partition("\n")[2].strip()


def assert_clean(path: Path) -> None:
    """Check that `rknn-op lint` has no complaint about a repository."""
    result = rknn_op("lint", path)
    assert (result.exit_code, result.output) == (0, "no problems\n")


# ---- Models --------------------------------------------------------------------------------------


def single(op_type: str, shapes: dict[str, Any], opset: int = 17, **attributes: Any) -> Any:
    """Return a model of one node; an input is a shape, or the value of a constant."""
    constants = {name: each for name, each in shapes.items() if isinstance(each, np.ndarray)}
    inputs = [value(name, each) for name, each in shapes.items() if name not in constants]
    node = helper.make_node(op_type, [*shapes], ["out"], name="node", **attributes)
    initializers = [constant(name, each) for name, each in constants.items()]
    return model([node], inputs, [value("out", None)], initializers, opset=opset)


def top_k() -> Any:
    return detection_head()


def sum_of_three() -> Any:
    return single("Sum", {"a": [1, 64, 28, 28], "b": [1, 64, 28, 28], "c": [64, 1, 1]})


def einsum() -> Any:
    return single("Einsum", {"a": [1, 64, 56], "b": [1, 56, 32]}, equation="bij,bjk->bik")


def deform_conv() -> Any:
    weights = np.random.default_rng(0).random((2, 1, 2, 2), np.float32)
    return single("DeformConv", {"x": [1, 1, 20, 20], "w": weights, "o": [1, 8, 19, 19]}, opset=19)


def stft() -> Any:
    window = np.hanning(400).astype(np.float32)
    shapes = {"x": [1, 1600, 1], "step": np.int64(160), "w": window, "size": np.int64(400)}
    return single("STFT", {k: np.asarray(v) if k != "x" else v for k, v in shapes.items()})


def dft() -> Any:
    return single("DFT", {"x": [1, 64, 1]}, axis=1, onesided=1)


def half() -> Any:
    node = helper.make_node("Softplus", ["x"], ["y"], name="node")
    ports = [value(name, [1, 9], TensorProto.FLOAT16) for name in "xy"]
    return model([node], ports[:1], ports[1:])


def two_sets_of_attributes() -> Any:
    nodes = [
        helper.make_node("Hardmax", ["x"], ["a"], name="first", axis=1),
        helper.make_node("Hardmax", ["a"], ["y"], name="second"),
    ]
    return model(nodes, [value("x", [2, 5, 40])], [value("y", [2, 5, 40])])


def normalization() -> Any:
    """Return a LayerNormalization with a bias, and one without."""
    nodes = [
        helper.make_node("LayerNormalization", ["x", "w", "b"], ["a"], name="with", axis=-1),
        helper.make_node("LayerNormalization", ["a", "w"], ["y"], name="without", epsilon=1e-3),
    ]
    weights = [constant(name, np.linspace(0, 1, 24, dtype=np.float32)) for name in "wb"]
    return model(nodes, [value("x", [1, 7, 24])], [value("y", None)], weights)


def in_subgraph() -> Any:
    def branch(op_type: str, **attributes: Any) -> Any:
        node = helper.make_node(op_type, ["x"], [f"of_{op_type}"], name=op_type, **attributes)
        return helper.make_graph([node], op_type, [], [value(f"of_{op_type}", [2, 9])])

    then, other = branch("Softsign"), branch("Relu")
    node = helper.make_node("If", ["c"], ["y"], then_branch=then, else_branch=other)
    inputs = [value("c", [], TensorProto.BOOL), value("x", [2, 9])]
    return model([node], inputs, [value("y", [2, 9])])


def of_domain() -> Any:
    """Return a node of a custom domain behind a Relu."""
    nodes = [
        helper.make_node("Relu", ["x"], ["a"]),
        helper.make_node(
            *("Area", ["a", "box"], ["y"], "area"), domain="com.example", scale=0.1, mode="in"
        ),
    ]
    inputs = [value("x", [1, 4])]
    box = constant("box", np.array([1, 2, 3, 4]))
    return model(nodes, inputs, [value("y", None)], [box], domains=["com.example"])


@pytest.fixture
def no_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the library of operators, which has TopK."""
    monkeypatch.setattr(library_match, "find", lambda *_: (None, ""))


# ---- Descriptions --------------------------------------------------------------------------------


@pytest.mark.usefixtures("no_library")
def test_description_of_top_k(tmp_path: Path) -> None:
    path, output = created(top_k(), tmp_path, "--op", "TopK")
    lines = re.sub(r",? ?\n? *doc: \".*\"", "", description(path)).replace(":\n    ", ": ")
    assert (
        lines
        == """\
# TopK (opset 19), from 1 node of model.onnx.
name: TopK
framework: onnx
target_platform: RK3588
runtimes: [rknn2]
inputs:
  x: {type: VX_TYPE_TENSOR, dtype: float32}
outputs:
  values: type: VX_TYPE_TENSOR
    dtype: float32
  indices: type: VX_TYPE_TENSOR
    dtype: int64
params:
  axis: {type: int, default: -1}
  largest: {type: int, default: 1}
  sorted: {type: int, default: 1}
  # k is constant in the only node, so it is a param; is it constant in every model?
  k: type: int
    source: const:k"""
    )
    assert "- k is constant in the only node" in output


def test_list_of_texts_is_one_text(tmp_path: Path) -> None:
    node = helper.make_node("Odd", ["x"], ["y"], domain="mine", modes=["up", "left"])
    proto = model([node], [value("x", [4])], [value("y", [4])], domains=["mine"])
    path, _ = created(proto, tmp_path, "--op", "Odd")
    assert "modes: {type: string}" in description(path)
    assert "# The nodes have modes = up,left; which values are legal?" in description(path)


def test_description_of_a_custom_domain(tmp_path: Path) -> None:
    path, output = created(of_domain(), tmp_path, "--op", "Area")
    assert (
        description(path)
        == """\
# Area (com.example opset 1), from 1 node of model.onnx.
# The model has no definition of this operator: are the names, dtypes and order of inputs, outputs
# and params right?
name: Area
framework: onnx
target_platform: RK3588
runtimes: [rknn2]
inputs:
  input_0: {type: VX_TYPE_TENSOR, dtype: float32}
outputs:
  output: {type: VX_TYPE_TENSOR, dtype: float32}
params:
  # The nodes have mode = in; which values are legal?
  mode: {type: string}
  # The nodes have scale = 0.1; which values are legal?
  scale: {type: float}
  # box is constant in the only node, so it is a param; is it constant in every model?
  box: {type: ints, source: const:box}"""
    )
    assert "Reference: left to write." in output


@pytest.mark.usefixtures("no_library")
def test_description_of_nodes_with_differences(tmp_path: Path) -> None:
    path, output = created(normalization(), tmp_path, "--op", "LayerNormalization")
    text = re.sub(r",? doc: \".*\"", "", description(path))
    assert "  x: {type: VX_TYPE_TENSOR, dtype: float32}\n" in text
    assert "  b: {type: VX_TYPE_TENSOR, dtype: float32}\n" in text
    assert re.search("  epsilon:\n    type: float\n    default: 1.0e-05\n", text)
    assert "  # 1 of 2 nodes leaves out b, which an operator requires:" in text
    assert "1 of 2 nodes leaves out b" in " ".join(output.split())


@pytest.mark.usefixtures("no_library")
def test_left_out_inputs_are_not_described(tmp_path: Path) -> None:
    path, _ = created(normalization(), tmp_path, "--node", "without")
    assert not re.search("^  b:", description(path), re.MULTILINE)
    assert 'INPUTS = ["x", "scale"]' in (path / "layernormalization_reference.py").read_text()


def test_several_dtypes(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Softplus", ["x"], ["a"]),
        helper.make_node("Cast", ["a"], ["b"], to=TensorProto.FLOAT16),
        helper.make_node("Softplus", ["b"], ["y"]),
    ]
    proto = model(nodes, [value("x", [2])], [value("y", None, TensorProto.FLOAT16)])
    path, _ = created(proto, tmp_path, "--op", "Softplus")
    assert "# x is float16 or float32 in the model, so it has no dtype here." in description(path)
    assert '  x: {type: VX_TYPE_TENSOR, doc: "' in description(path)


def test_reserved_names(tmp_path: Path) -> None:
    node = helper.make_node("Rknn", ["a"], ["y"], domain="mine")
    ports = [value(name, [4]) for name in "ay"]
    proto = model([node], ports[:1], ports[1:], domains=["mine"])
    path, _ = created(proto, tmp_path, "--op", "Rknn")
    assert "# Rknn in the model, a name that the generated code cannot have." in description(path)
    assert "op_type: cstRknn\n" in description(path)
    assert "name: RknnOp\n" in description(path)


def test_words_of_cpp_are_names(tmp_path: Path) -> None:
    node = helper.make_node("Xor", ["a", "b"], ["y"])
    ports = [value(name, [4], TensorProto.BOOL) for name in "aby"]
    path, _ = created(model([node], ports[:2], ports[2:]), tmp_path, "--op", "Xor")
    assert "name: Xor\n" in description(path)
    grafted = succeeded("graft", f"{tmp_path}/model.onnx", "-p", path, "-o", f"{tmp_path}/o.onnx")
    assert "cstXor of made" in grafted.stdout


def test_dynamic_shapes(tmp_path: Path) -> None:
    proto = single("Softplus", {"x": ["n", 4]})
    path, output = created(proto, tmp_path, "--op", "Softplus")
    assert "# The model has dynamic shapes, x: [n, 4]; which sizes" in description(path)
    assert '"x": (5, 3)' in (path / "tests/test_softplus.py").read_text()
    assert "dynamic shapes" in output


# ---- References and cases ------------------------------------------------------------------------

IN_LIBRARY = ["Reference: of the operator library.", "Recorded cases: 1"]


def fused() -> Any:
    """Return a model with operators of onnxruntime."""
    nodes = [
        helper.make_node(
            *("SkipLayerNormalization", ["x", "skip", "gamma"], ["a"], "skip_norm"),
            domain="com.microsoft",
            epsilon=1e-5,
        ),
        helper.make_node("QuickGelu", ["a"], ["y"], "gelu", domain="com.microsoft", alpha=1.7),
    ]
    inputs = [value("x", [1, 3, 32]), value("skip", [1, 3, 32])]
    gamma = constant("gamma", np.linspace(0.5, 1.5, 32, dtype=np.float32))
    outputs = [value("y", [1, 3, 32])]
    return model(nodes, inputs, outputs, [gamma], domains=["com.microsoft"])


RECORDED = {
    "TopK": top_k,
    "Sum": sum_of_three,
    "Einsum": einsum,
    "DeformConv": deform_conv,
    "STFT": stft,
    "DFT": dft,
    "Softplus": half,
    "Hardmax": two_sets_of_attributes,
    "LayerNormalization": normalization,
    "Softsign": in_subgraph,
    "SkipLayerNormalization": fused,
    "QuickGelu": fused,
}


@pytest.mark.usefixtures("no_library")
@pytest.mark.parametrize("op_type", quick_first(3, RECORDED))
def test_reference_equals_onnxruntime(tmp_path: Path, op_type: str) -> None:
    path, output = created(RECORDED[op_type](), tmp_path, "--op", op_type)
    evaluator = "onnxruntime" if RECORDED[op_type] is fused else "onnx's reference evaluator"
    assert f"Reference: by {evaluator}." in output
    operator = Operator(path)
    files = [*(path / "tests/data").glob("*.npz")]
    assert files, output
    for file in files:
        arrays = {name: each for name, each in np.load(file).items() if name != "params"}
        inputs = {
            name.removeprefix("inputs/"): each.astype("f4") if each.dtype == "f2" else each
            for name, each in arrays.items()
            if name.startswith("inputs/")
        }
        params = {each.name: each.default for each in operator.spec.params}
        params |= json.loads(str(np.load(file)["params"]))
        outputs = operator.reference.reference(inputs, params)
        for name, array in outputs.items():
            expected = arrays[f"outputs/{name}"]
            rtol = 1e-3 if expected.dtype == "f2" else 1e-5
            np.testing.assert_allclose(array, expected, rtol, 1e-4 * np.abs(expected).max())
    assert_clean(path)


@pytest.mark.usefixtures("no_library")
def test_reference_has_dtypes_of_the_model(tmp_path: Path) -> None:
    node = helper.make_node("GatherElements", ["x", "i"], ["y"])
    inputs = [value("x", [2, 3]), value("i", [2, 3], TensorProto.INT64)]
    proto = model([node], inputs, [value("y", [2, 3])])
    path, _ = created(proto, tmp_path, "--op", "GatherElements")
    text = (path / "gatherelements_reference.py").read_text()
    assert 'TENSORS = {"data": "float32", "indices": "int64"}' in text


@pytest.mark.usefixtures("no_library")
def test_small_cases_vary_each_param(tmp_path: Path) -> None:
    path, _ = created(top_k(), tmp_path, "--op", "TopK")
    text = (path / "tests/test_topk.py").read_text()
    assert 'shapes=[{"x": (1, 4, 3, 3)}]' in text
    assert 'vary_params({"k": 2}, axis=[1, -2], largest=[0], sorted=[], k=[3, 1])' in text


@pytest.mark.slow
@pytest.mark.usefixtures("no_library")
def test_windows_keep_their_sizes(tmp_path: Path) -> None:
    path, _ = created(deform_conv(), tmp_path, "--op", "DeformConv")
    assert '"w": (2, 1, 2, 2), "offset": (1, 8, ' in (path / "tests/test_deformconv.py").read_text()


@pytest.mark.usefixtures("no_library")
def test_sizes_in_params_shrink_with_the_shapes(tmp_path: Path) -> None:
    path, _ = created(stft(), tmp_path, "--op", "STFT")
    text = (path / "tests/test_stft.py").read_text()
    assert 'shapes=[{"signal": (1, 5, 1), "window": (4,)}]' in text
    assert '{"frame_step": 3, "frame_length": 4}' in text


def attention(*masks: int) -> Any:
    """Return a node of Attention for each mask, of an element type; UNDEFINED: without a mask."""
    nodes = [
        helper.make_node("Attention", ["q", "k", "v", *([f"m{i}"] * bool(kind))], [f"y{i}"])
        for i, kind in enumerate(masks)
    ]
    inputs = [value(name, [1, 2, 5, 8]) for name in "qkv"]
    inputs += [value(f"m{i}", [5, 5], kind) for i, kind in enumerate(masks) if kind]
    outputs = [value(f"y{i}", None) for i in range(len(masks))]
    return model(nodes, inputs, outputs, opset=23)


def test_library_operator_with_a_mask_of_bool(tmp_path: Path) -> None:
    path, output = created(attention(TensorProto.BOOL), tmp_path, "--op", "Attention")
    assert "Reference: of the operator library." in output
    assert "  attn_mask:\n    dtype: bool\n    type: VX_TYPE_TENSOR\n" in description(path)
    case = np.load(next((path / "tests/data").glob("*.npz")))
    assert case["inputs/attn_mask"].dtype == bool
    assert json.loads(str(case["params"])) == {"has_present": 0}  # it has no such outputs


def test_library_operator_with_masks_of_float(tmp_path: Path) -> None:
    masks = attention(TensorProto.FLOAT, TensorProto.UNDEFINED)
    path, output = created(masks, tmp_path, "--op", "Attention")
    assert "Reference: of the operator library." in output
    assert "dtype: bool" not in description(path)


@pytest.mark.parametrize("other", [TensorProto.FLOAT, TensorProto.UNDEFINED])
def test_library_operator_with_masks_of_two_kinds(tmp_path: Path, other: int) -> None:
    _, output = created(attention(TensorProto.BOOL, other), tmp_path, "--op", "Attention")
    assert "'attn_mask' is bool in some nodes only; choose with --node" in " ".join(output.split())


def quantizers(*zeros: int) -> Any:
    """Return a node of QuantizeLinear for each zero point, of an element type."""
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "scale", f"z{i}"], [f"y{i}"])
        for i, _ in enumerate(zeros)
    ]
    inputs = [value("x", [2, 3]), value("scale", [])]
    inputs += [value(f"z{i}", [], kind) for i, kind in enumerate(zeros)]
    outputs = [value(f"y{i}", None, kind) for i, kind in enumerate(zeros)]
    return model(nodes, inputs, outputs, opset=21)


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_library_operator_with_an_output_of_the_dtype_of_nodes(tmp_path: Path, dtype: str) -> None:
    proto = quantizers(TensorProto.DataType.Value(dtype.upper()))
    path, output = created(proto, tmp_path, "--op", "QuantizeLinear", "--runtime", "pplnn")
    assert "Reference: of the operator library." in output
    assert [each.dtype for each in Operator(path).spec.outputs] == [dtype]


def test_library_operator_with_outputs_of_two_dtypes(tmp_path: Path) -> None:
    proto = quantizers(TensorProto.INT8, TensorProto.UINT8)
    _, output = created(proto, tmp_path, "--op", "QuantizeLinear", "--runtime", "pplnn")
    assert "'y' is int8 in some nodes only; choose with --node" in " ".join(output.split())


@pytest.mark.parametrize("runtime", ["pplnn", "rknn2"])
def test_operators_of_the_library_are_unsuitable_for_other_runtimes_alone(
    tmp_path: Path, runtime: str
) -> None:
    node = helper.make_node("MatMulInteger", ["a", "b"], ["y"])
    inputs = [value(name, [3, 3], TensorProto.INT8) for name in "ab"]
    proto = model([node], inputs, [value("y", [3, 3], TensorProto.INT32)])
    options = ["--op", "MatMulInteger", "--runtime", runtime]
    done = create(saved(proto, tmp_path), *options, "-p", tmp_path / "made")
    if runtime == "pplnn":
        assert (done.exit_code, (tmp_path / "made").exists()) == (0, True)
        assert "Reference: of the operator library." in done.stdout
    else:
        assert_error(done, "a custom operator cannot replace MatMulInteger; convert the float")


def test_library_operator(tmp_path: Path) -> None:
    path, output = created(detection_head(), tmp_path, "--op", "GridSample")
    assert "Reference: of the operator library." in output
    assert "runtimes: [rknn2]" in description(path)
    library = Path(__file__).parents[2] / "operators/grid_sample"
    for name in ("gridsample_compute.h", "gridsample_reference.py", "tests/test_gridsample.py"):
        assert (path / name).read_bytes() == (library / name).read_bytes()
    text = (path / "tests/test_gridsample_model.py").read_text()
    assert 'RECORDED = recorded("data", ' in text
    assert 'mode=["nearest", "bicubic"]' in text
    assert [each.name for each in (path / "tests/data").iterdir()] == ["head_grid.npz"]
    assert_clean(path)


@pytest.mark.parametrize("op_type", ["Exp", "Mish", "Selu"])
def test_library_operator_is_for_the_runtime_and_framework(op_type: str, tmp_path: Path) -> None:
    """Of the library some are for RKNN-Toolkit 1.x, too, which takes models of TensorFlow alone."""
    proto = single(op_type, {"x": [2, 3]}, opset=18)
    path, output = created(proto, tmp_path, "--op", op_type)
    assert "Reference: of the operator library." in output
    assert {"framework: onnx", "runtimes: [rknn2]"} < {*description(path).splitlines()}
    assert not [*path.glob("rknn_kernel_*"), *path.glob("tests/test_*_vx.py")]
    assert (path / f"tests/test_{op_type.lower()}.py").is_file()
    assert_clean(path)


@pytest.mark.parametrize("count", quick_first(1, [1, 3, 8]))
@pytest.mark.parametrize("op_type", ["Mean", "Sum"])
def test_library_operator_has_the_inputs_of_the_nodes(
    op_type: str, count: int, tmp_path: Path
) -> None:
    shapes = {f"in{index}": [2, 3] for index in range(count)}
    path, output = created(single(op_type, shapes), tmp_path, "--op", op_type)
    assert "Reference: of the operator library." in output
    assert re.findall("^  (data_.):", description(path), re.MULTILINE) == [
        f"data_{index}" for index in range(count)
    ]
    assert_clean(path)


def group_attention(domain: str, **attributes: Any) -> Any:
    """Return a step of a language model: heads packed, a past of 4 keys, no rotation."""
    names = ["packed", "", "", "past_key", "past_value", "seqlens_k", "total"]
    outputs = ["y", "present_key", "present_value"]
    attributes = {"num_heads": 2, "kv_num_heads": 1, **attributes}
    node = helper.make_node(
        "GroupQueryAttention", names, outputs, "attention", domain=domain, **attributes
    )
    shapes = {"packed": [1, 1, 32], "past_key": [1, 1, 4, 8], "past_value": [1, 1, 4, 8]}
    constants = {"seqlens_k": np.array([4], np.int32), "total": np.array(5, np.int32)}
    return model(
        [node],
        [value(*each) for each in shapes.items()],
        [value(name, None) for name in outputs],
        [constant(*each) for each in constants.items()],
        domains=[domain],
    )


def test_library_operator_of_onnxruntime(tmp_path: Path) -> None:
    # An attribute that the library lacks may have its default.
    proto = group_attention("com.microsoft", qk_output=0)
    path, output = created(proto, tmp_path, "--op", "GroupQueryAttention")
    assert "Reference: of the operator library." in output
    assert "onnxruntime's optimizer" not in output
    library = Path(__file__).parents[2] / "operators/group_query_attention"
    for name in ("groupqueryattention_compute.h", "groupqueryattention_reference.py"):
        assert (path / name).read_bytes() == (library / name).read_bytes()
    with np.load(path / "tests/data/attention.npz") as case:
        assert (case["inputs/key"].tolist(), case["inputs/head_sink"].tolist()) == ([0], [-65504])
        assert json.loads(str(case["params"]))["total_sequence_length"] == 5
    assert_clean(path)


def test_small_cases_of_a_library_operator_are_valid(tmp_path: Path) -> None:
    """Their lengths, seqlens_k, are limited by a param, not by a size of the first input."""
    proto = group_attention("com.microsoft")
    path, _ = created(proto, tmp_path, "--op", "GroupQueryAttention")
    file, operator = path / "tests/test_groupqueryattention_model.py", Operator(path)
    assert "total_sequence_length=[" in file.read_text()
    for case in run_path(str(file))["CASES"]:
        operator.prepare(case)


def test_library_operator_of_another_domain(tmp_path: Path) -> None:
    _, output = created(group_attention("com.example"), tmp_path, "--op", "GroupQueryAttention")
    assert "com.example may mean another operator; if the nodes" in " ".join(output.split())


def test_library_operator_with_a_constant_operand(tmp_path: Path) -> None:
    proto = single("Mod", {"x": [2, 3], "divisor": np.array([3], np.float32)}, fmod=1)
    path, output = created(proto, tmp_path, "--op", "Mod")
    assert "Reference: of the operator library." in output
    assert "  b: {type: VX_TYPE_TENSOR" in description(path)
    assert_clean(path)


def test_left_out_inputs_have_neutral_values(tmp_path: Path) -> None:
    path, _ = created(normalization(), tmp_path, "--op", "LayerNormalization")
    assert sorted(each.name for each in (path / "tests/data").iterdir()) == [
        *("with.npz", "without.npz")
    ]
    with np.load(path / "tests/data/without.npz") as case:
        assert case["inputs/b"].tolist() == [0] * 24


def test_nodes_without_a_case_are_told(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Clip", ["x", "low"], ["a"], name="low"),
        helper.make_node("Clip", ["a", "", "high"], ["y"], name="high"),
    ]
    limits = [constant("low", np.float32(0)), constant("high", np.float32(1))]
    proto = model(nodes, [value("x", [4])], [value("y", [4])], limits)
    _, output = created(proto, tmp_path, "--op", "Clip")
    assert "- low: leaves out max, which other nodes have" in output
    assert "1 of 2 nodes leaves it out: write its default here" in " ".join(output.split())


@pytest.mark.usefixtures("no_library")
def test_requirements(tmp_path: Path) -> None:
    path, _ = created(top_k(), tmp_path, "--op", "TopK")
    assert "\nonnx>=" in (path / "requirements.txt").read_text()
    assert "\nonnx==" in (path / "requirements.lock").read_text()
    before = snapshot(path)
    succeeded("update", path)
    assert snapshot(path) == before


def test_inputs_of_the_user(tmp_path: Path) -> None:
    array = np.arange(9, dtype=np.float32).reshape(1, 9).astype(np.float16)
    np.savez(tmp_path / "in.npz", x=array)
    path, _ = created(half(), tmp_path, "--op", "Softplus", "--inputs", tmp_path / "in.npz")
    with np.load(path / "tests/data/node.npz") as case:
        assert case["inputs/x"].tolist() == array.tolist()


def test_cases_of_int8(tmp_path: Path) -> None:
    """Steps from -1 to 1.55, 255 * 0.01: 0 is a step, and NaN stays."""
    array = np.array([[-1, 1.55, 0.004, 0.0149, 0.0151, np.nan]], np.float32)
    np.savez(tmp_path / "in.npz", x=array)
    options = ("--op", "Softplus", "--inputs", tmp_path / "in.npz", "--quantize")
    path, printed = created(single("Softplus", {"x": [1, 6]}), tmp_path, *options)
    assert "Recorded cases: 2" in printed
    folder = path / "tests/data"
    assert sorted(each.name for each in folder.iterdir()) == ["node.npz", "node_int8.npz"]
    with np.load(folder / "node_int8.npz") as case:
        rounded = case["inputs/x"]
        assert not [name for name in case.files if name.startswith("outputs/")]
    assert rounded.dtype == np.float32
    np.testing.assert_allclose(rounded, [[-1, 1.55, 0, 0.01, 0.02, np.nan]], atol=1e-6)
    with np.load(folder / "node.npz") as case:
        np.testing.assert_array_equal(case["inputs/x"], array)


def test_constants_and_integers_are_not_of_int8(tmp_path: Path) -> None:
    weights = np.linspace(-1, 1, 6, dtype=np.float32).reshape(3, 2, 1, 1)
    shapes = {"x": [1, 2, 5, 5], "w": weights, "offset": [1, 2, 5, 5]}
    path, _ = created(
        single("DeformConv", shapes, 19), tmp_path, "--op", "DeformConv", "--quantize"
    )
    with np.load(path / "tests/data/node_int8.npz") as case:
        np.testing.assert_array_equal(case["inputs/w"], weights)
    indices = single("Gather", {"data": np.eye(2, dtype=np.float32), "indices": [3]})
    indices.graph.input[0].type.tensor_type.elem_type = TensorProto.INT64
    again = tmp_path / "again"
    again.mkdir()
    path, _ = created(indices, again, "--op", "Gather", "--quantize")
    assert [each.name for each in (path / "tests/data").iterdir()] == ["node.npz"]


@pytest.mark.parametrize(
    ("proto", "phrases"),
    [
        (single("HardSwish", {"x": [2, 9]}), ["Reference: by onnx's reference evaluator."]),
        (single("DFT", {"x": [1, 2, 3, 4, 1]}, 20), ["- the library's DFT does not fit: node:"]),
        (
            single("Einsum", {"x": [3, 4]}, equation="ij->i"),
            ["- the library's Einsum does not fit: its input 'input_1' is left out in the model"],
        ),
        (
            single("Sum", {f"in{index}": [2, 3] for index in range(9)}),
            ["- the library's Sum does not fit: it has no input 'data_8'"],
        ),
        (
            single("AffineGrid", {"theta": [1, 2, 3], "size": [4]}, 20),
            ["- the library's AffineGrid does not fit: its param 'size' is not constant in the"],
        ),
        # A constant of one element is a list of the library.
        (single("ReduceProd", {"x": [2, 3], "axes": np.array([-1])}, 18), IN_LIBRARY),
        # The library has neutral values for inputs that nodes leave out.
        (
            single(
                "DeformConv",
                {
                    "x": [1, 2, 5, 5],
                    "w": np.linspace(-1, 1, 6, dtype=np.float32).reshape(3, 2, 1, 1),
                    "offset": np.linspace(-1, 1, 50, dtype=np.float32).reshape(1, 2, 5, 5),
                },
                19,
            ),
            IN_LIBRARY,
        ),
        (
            single("LayerNormalization", {"x": [2, 6], "scale": np.ones(6, np.float32)}),
            IN_LIBRARY,
        ),
    ],
    ids=lambda each: getattr(each, "graph", None) and each.graph.node[0].op_type,
)
def test_source_of_the_reference_and_its_reason(
    tmp_path: Path, proto: Any, phrases: list[str]
) -> None:
    _, output = created(proto, tmp_path, "--node", "node")
    for phrase in phrases:
        assert phrase in " ".join(output.split())


def test_evaluator_without_a_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unsuitable, "remedies", dict)
    _, output = created(single("NonZero", {"x": [3, 4]}), tmp_path, "--node", "node")
    assert "- onnx's reference evaluator rejects all cases of these nodes" in output


def test_operators_of_onnxruntime_have_its_reference(tmp_path: Path) -> None:
    path, output = created(fused(), tmp_path, "--op", "SkipLayerNormalization")
    text = " ".join(output.split())
    assert "Reference: by onnxruntime." in text
    assert "- onnxruntime's optimizer makes this operator of ONNX's own ones" in text
    assert [each.name for each in Operator(path).spec.inputs] == ["input", "skip", "gamma"]
    assert re.findall(r"^onnx\w*", (path / "requirements.txt").read_text(), re.M) == [
        *("onnx", "onnxruntime")
    ]
    assert "\nonnxruntime==" in (path / "requirements.lock").read_text()


def test_operators_of_other_domains_have_a_skeleton(tmp_path: Path) -> None:
    node = helper.make_node("Gelu", ["x"], ["y"], domain="com.example")
    proto = model([node], [value("x", [4])], [value("y", [4])], domains=["com.example"])
    _, output = created(proto, tmp_path, "--op", "Gelu")
    assert "Reference: left to write." in output
    assert "onnxruntime's optimizer" not in output


@pytest.mark.usefixtures("no_library")
def test_slow_references_have_no_large_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorded_cases, "MAX_SECONDS", 0.005)
    path, output = created(deform_conv(), tmp_path, "--op", "DeformConv")
    assert "Recorded cases: none." in output
    assert "- node: the reference takes more than 3 s" in output
    assert "recorded" not in (path / "tests/test_deformconv.py").read_text()


# ---- Choices -------------------------------------------------------------------------------------


def test_all_missing_operators(tmp_path: Path) -> None:
    nodes = [helper.make_node(name, ["x"], [name]) for name in ("Selu", "Acosh", "Relu")]
    outputs = [value(name, [1, 4]) for name in ("Selu", "Acosh", "Relu")]
    path, output = created(model(nodes, [value("x", [1, 4])], outputs), tmp_path, "--all")
    assert sorted(each.name for each in path.iterdir()) == ["Acosh", "Selu"]
    assert output.index("Selu (1 node)") < output.index("Acosh (1 node)")
    assert f"rknn-op graft {tmp_path}/model.onnx -p {path}/Selu {path}/Acosh -o" in output


def test_operators_that_a_custom_one_cannot_replace(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("RandomNormalLike", ["x"], ["noise"], name="draw"),
        helper.make_node("Add", ["x", "noise"], ["sum"]),
        helper.make_node("Selu", ["sum"], ["y"]),
    ]
    file = saved(model(nodes, [value("x", [1, 4])], [value("y", [1, 4])]), tmp_path)
    result = create(file, "--all", "-p", tmp_path / "made")
    assert result.exit_code == 1
    assert [each.name for each in (tmp_path / "made").iterdir()] == ["Selu"]
    text = " ".join(result.stdout.split())
    assert "not made: RandomNormalLike (draw); a custom operator cannot replace it: make" in text
    for option in (["--op", "RandomNormalLike"], ["--node", "draw"]):
        result = create(file, *option, "-p", tmp_path / "one")
        expected = "a custom operator cannot replace RandomNormalLike; make the noise an input"
        assert_error(result, f"{' '.join(option)}: {expected}")
        assert not (tmp_path / "one").exists()


def test_only_operators_that_a_custom_one_cannot_replace(tmp_path: Path) -> None:
    file = saved(single("Shape", {"x": ["n", 4]}), tmp_path)
    result = create(file, "--all", "-p", tmp_path / "made")
    assert (result.exit_code, "has all of its operators" in result.stdout) == (1, False)
    assert "not made: Shape (node)" in result.stdout
    assert not (tmp_path / "made").exists()


def test_nothing_is_missing(tmp_path: Path) -> None:
    file = saved(single("Relu", {"x": [4]}), tmp_path)
    result = create(file, "--all", "-p", tmp_path / "made")
    assert (result.exit_code, result.stdout) == (
        0,
        f"{file}: rk3588 has all of its operators.\n",
    )
    assert not (tmp_path / "made").exists()


def test_two_domains_with_a_type(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Gelu", ["x"], ["a"]),
        helper.make_node("Gelu", ["a"], ["y"], domain="com.microsoft"),
    ]
    ports = [value("x", [4])], [value("y", [4])]
    proto = model(nodes, *ports, opset=20, domains=["com.microsoft"])
    result = create(saved(proto, tmp_path), "--op", "Gelu", "-p", tmp_path / "made")
    assert_error(result, "write ai.onnx:Gelu or com.microsoft:Gelu")
    path, _ = created(proto, tmp_path, "--op", "com.microsoft:Gelu")
    assert "# Gelu (com.microsoft opset 1)" in description(path)


def test_dry_run(tmp_path: Path) -> None:
    file = saved(detection_head(), tmp_path)
    before = snapshot(tmp_path)
    result = create(file, "--all", "-p", tmp_path / "made", "--dry-run")
    assert result.stdout.startswith(f"would be made: {tmp_path}/made/GridSample: GridSample")
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--op", "Gridsample"],
            "did you mean 'GridSample'? (its operators: Conv, GridSample, TopK",
        ),
        (["--op", "\x1b[31m"], "no '\\x1b[31m'"),
        (["--node", "/head/gird"], "did you mean '/head/grid'?"),
        (["--op", "TopK", "--runtime", "rknn"], "a model of onnx; operators of RKNN-Toolkit are"),
        (["--op", "TopK", "--runtime", "rknn3"], "--runtime: unknown 'rknn3' (expected rknn, "),
        (["--all", "--target", "rk358"], "did you mean 'rk3588'"),
        (["--op", "TopK", "--inputs", "missing.npz"], "missing.npz"),
    ],
)
def test_invalid_choices(tmp_path: Path, options: list[str], message: str) -> None:
    file = saved(detection_head(), tmp_path)
    result = create(file, *options, "-p", tmp_path / "made")
    assert_error(result, message)
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (["--node", "twice"], "--node twice: 2 nodes have this name (Relu); rename them in the"),
        (["--op", "Selu"], "--op Selu: all inputs are constant; converters compute such nodes"),
    ],
)
def test_nodes_without_a_choice(tmp_path: Path, option: list[str], message: str) -> None:
    nodes = [
        helper.make_node("Relu", ["x"], ["a"], name="twice"),
        helper.make_node("Relu", ["a"], ["y"], name="twice"),
        helper.make_node("Selu", ["c"], ["z"]),
    ]
    c = constant("c", np.ones(2, np.float32))
    proto = model(nodes, [value("x", [2])], [value("y", [2]), value("z", [2])], [c])
    assert_error(create(saved(proto, tmp_path), *option, "-p", tmp_path / "made"), message)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--from", "m.onnx", "-c", "a.yml", "--all", "-p", "x"], "exclude each other"),
        (["--from", "m.onnx", "-p", "x"], "exactly one of --op TYPE, --node NAME and --all"),
        (["--from", "m.onnx", "--op", "A", "--all", "-p", "x"], "exactly one of"),
        (["--from", "m.onnx", "--all"], "--from needs -p DIR"),
        (["--op", "A", "-c", "a.yml"], "need --from MODEL"),
        (["-c", "a.yml", "--as-is"], "need --from MODEL"),
        (["--from", "m.onnx", "--op", "A", "-p", "x", "--toolkit", "p"], "--toolkit needs --all"),
        (["--quantize", "-c", "a.yml"], "need --from MODEL"),
        ([], "Missing NAME, or option"),
    ],
)
def test_usage(arguments: list[str], message: str) -> None:
    result = rknn_op("create", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.parametrize("library", ["onnx", "onnxruntime"])
def test_missing_library(tmp_path: Path, library: str) -> None:
    arguments = ["--from", saved(top_k(), tmp_path), "--op", "TopK", "-p", tmp_path / "made"]
    done = test_extra.rknn_op("create", *arguments, libraries=[library])
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: {library} is not installed")
    assert "-m pip install onnx onnxruntime onnxscript tensorboardX" in done.stderr
    assert not (tmp_path / "made").exists()


def test_two_domains_with_a_missing_type(tmp_path: Path) -> None:
    """The second one would be in the folder of the first."""
    nodes = [
        helper.make_node("Odd", ["x"], ["a"], domain="one"),
        helper.make_node("Odd", ["a"], ["y"], domain="two"),
    ]
    proto = model(nodes, [value("x", [4])], [value("y", [4])], domains=["one", "two"])
    made = tmp_path / "made"
    result = create(saved(proto, tmp_path), "--all", "-p", made)
    assert result.exit_code == 1
    assert result.stderr == (
        f"error: node 'Odd_1': two:Odd would be in {made}/Odd, as one:Odd; make it with --op and a "
        "folder of its own\nerror: 1 of 2 repositories were not made\n"
    )
    assert "# Odd (one opset 1)" in description(made / "Odd")


def test_existing_folder(tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()
    result = create(saved(top_k(), tmp_path), "--op", "TopK", "-p", tmp_path / "made")
    assert_error(result, "already exists")


def some_invalid() -> Any:
    """Return a model with Selu, and with Odd and Acosh, which cannot be described."""
    tensor = helper.make_tensor("t", TensorProto.FLOAT, [1], [1.0])
    nodes = [
        helper.make_node("Selu", ["x"], ["a"]),
        helper.make_node("Odd", ["a"], ["b"], "first", domain="mine", table=tensor),
        helper.make_node("Odd", ["b"], ["y"], "second", domain="mine", table=tensor),
        helper.make_node("Acosh", ["c"], ["z"], "half"),
    ]
    inputs = [value("x", [4]), value("c", [4], TensorProto.BFLOAT16)]
    outputs = [value("y", [4]), value("z", [4], TensorProto.BFLOAT16)]
    return model(nodes, inputs, outputs, opset=22, domains=["mine"])


@pytest.mark.parametrize("options", [[], ["--dry-run"], ["--dry-run", "--json"]])
def test_invalid_operators_do_not_stop_the_others(tmp_path: Path, options: list[str]) -> None:
    made = tmp_path / "made"
    result = create(saved(some_invalid(), tmp_path), "--all", "-p", made, *options)
    assert result.exit_code == 1
    odd, acosh, summary = result.stderr.splitlines()
    assert odd.startswith("error: nodes 'first' and 1 more: Odd: attribute 'table' is a tensor or")
    assert acosh.startswith("error: node 'half': Acosh: tensor 'input' is bfloat16: ")
    assert summary == "error: 2 of 3 repositories were not made"
    if "--json" in options:
        assert [each["folder"] for each in json.loads(result.stdout)] == [f"{made}/Selu"]
    else:
        assert f"{made}/Selu: Selu (1 node)" in result.stdout
    assert [each.name for each in made.glob("*")] == ([] if options else ["Selu"])


def test_all_operators_are_invalid(tmp_path: Path) -> None:
    proto = some_invalid()
    del proto.graph.node[0]
    proto.graph.node[0].input[0] = "x"
    result = create(saved(proto, tmp_path), "--all", "-p", tmp_path / "made")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.endswith("error: 2 of 2 repositories were not made\n")
    assert not (tmp_path / "made").exists()


def test_existing_repositories_stay(tmp_path: Path) -> None:
    made = tmp_path / "made"
    proto = model(
        [helper.make_node("Selu", ["x"], ["a"]), helper.make_node("Acosh", ["a"], ["y"])],
        [value("x", [4])],
        [value("y", [4])],
    )
    file = saved(proto, tmp_path)
    (made / "Selu").mkdir(parents=True)
    result = create(file, "--all", "-p", made)
    assert result.exit_code == 1
    assert "node 'Selu_0': " in result.stderr
    assert "already exists" in result.stderr
    assert [*(made / "Selu").iterdir()] == []
    assert (made / "Acosh/op.yml").is_file()


def test_unsupported_dtypes(tmp_path: Path) -> None:
    ports = [value(name, [4], TensorProto.INT8) for name in "xy"]
    file = saved(model([helper.make_node("Abs", ["x"], ["y"])], ports[:1], ports[1:]), tmp_path)
    result = create(file, "--op", "Abs", "-p", tmp_path / "made")
    assert_error(result, "Abs: tensor 'x' is int8: RKNN-Toolkit2 has no such tensors")


def test_float64(tmp_path: Path) -> None:
    """The operator and its cases have the dtypes behind the Casts of `rknn-op graft`."""
    node = helper.make_node("GridSample", ["x", "grid"], ["y"], name="sample")
    ports = [value("x", [1, 2, 5, 5]), value("grid", [1, 4, 4, 2], TensorProto.DOUBLE)]
    proto = model([node], ports, [value("y", None)])
    path, printed = created(proto, tmp_path, "--op", "GridSample")
    text = " ".join(printed.split())
    assert "- float64 tensors of the model are float32 here: `rknn-op graft` writes a Cast" in text
    assert "Recorded cases: 1," in text  # onnxruntime has no GridSample of float64
    with np.load(path / "tests/data/sample.npz") as case:
        assert {case[name].dtype for name in case.files if "grid" in name} == {np.dtype("float32")}


def test_different_counts_of_inputs(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Sum", ["x", "x"], ["a"], name="two"),
        helper.make_node("Sum", ["a", "x", "x"], ["y"], name="three"),
    ]
    proto = model(nodes, [value("x", [4])], [value("y", [4])])
    result = create(saved(proto, tmp_path), "--op", "Sum", "-p", tmp_path / "made")
    assert_error(result, "nodes have 2 and 3 inputs", "--node")
    path, _ = created(proto, tmp_path, "--node", "three")
    assert re.findall("^  (data_.):", description(path), re.MULTILINE) == [
        *("data_0", "data_1", "data_2")
    ]


def test_toolkit_decides_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = ["GridSample", "TopK"]
    monkeypatch.setattr(scanning, "build", lambda *_: [Answer("2.5.0", left=frozenset(left))])
    file, options = saved(detection_head(), tmp_path), ("--all", "--toolkit", "python")
    path, _ = created(detection_head(), tmp_path, *options)
    assert [each.name for each in path.iterdir()] == ["GridSample"]
    left.remove("GridSample")
    result = create(file, *options, "-p", tmp_path / "none")
    assert result.stdout == f"{file}: rk3588 has all of its operators.\n"


# ---- TensorFlow ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("op_type", "kernel"), [("TruncateDiv", "vx"), ("Exp", "vx")])
def test_frozen_graph(tmp_path: Path, op_type: str, kernel: str) -> None:
    file = tmp_path / "graph.pb"
    file.write_bytes(frozen_graph().SerializeToString())
    path = tmp_path / "made"
    result = create(file, "--op", op_type, "-p", path)
    assert "Reference: of the operator library." in result.stdout, result.output
    assert "without small shapes" not in result.stdout
    assert (path / f"rknn_kernel_{op_type.lower()}.{kernel}").is_file()
    assert "framework: tensorflow" in description(path)
    assert_clean(path)


def test_frozen_graph_of_an_unknown_operator(tmp_path: Path) -> None:
    graph = frozen_graph()
    size = graph.node.add(name="resize/size", op="Const")
    size.attr["dtype"].type = 3
    size.attr["value"].tensor.dtype = 3
    size.attr["value"].tensor.tensor_shape.dim.add(size=2)
    node = graph.node.add(name="mine", op="Mine", input=["y", "resize/size"])
    node.attr["T"].type = 1
    node.attr["half_pixel"].b = True
    node.attr["data_format"].s = b"NHWC"
    file = tmp_path / "graph.pb"
    file.write_bytes(graph.SerializeToString())
    result = create(file, "--op", "Mine", "-p", tmp_path / "made")
    assert result.exit_code == 0, result.output
    assert (
        description(tmp_path / "made")
        == """\
# Mine, from 1 node of graph.pb.
# The model has no definition of this operator: are the names, dtypes and order of inputs, outputs
# and params right?
# The model has no shapes of inner tensors; the cases have shapes of their own.
# All nodes have data_format = NHWC; it is no param, because the runtime hands no texts to
# operators. Is the math for this value only?
name: Mine
framework: tensorflow
target_platform: RK1808
runtimes: [rknn]
inputs:
  input_0: {type: VX_TYPE_TENSOR, dtype: float32}
outputs:
  output: {type: VX_TYPE_TENSOR, dtype: float32}
params:
  # The nodes have half_pixel = True; which values are legal?
  half_pixel: {type: VX_TYPE_BOOL}
  # size is constant in the only node, so it is a param; is it constant in every model?
  size: {type: ints, source: const:size}"""
    )


# ---- Hostile names -------------------------------------------------------------------------------

NAMES = [
    '"; import os #',
    "'''\"\"\"\\",
    "a\nb: !!python/object/apply:os.system [id]",
    "${name}",
    "\x1b[31mred\x1b[0m",
    "../../x",
    "{{ 7 * 7 }}",
    "%s %d $name",
    "名前",
    "",
]


@pytest.mark.parametrize("name", quick_first(3, NAMES))
def test_hostile_names(tmp_path: Path, name: str) -> None:
    nodes = [
        helper.make_node("Softplus", [f"in{name}"], [f"mid{name}"], name=f"n{name}"),
        helper.make_node(f"T{name}", [f"mid{name}"], [f"out{name}"], domain=f"d{name}", mode=name),
    ]
    ports = [value(f"in{name}", [4])], [value(f"out{name}", [4])]
    proto = model(nodes, *ports, domains=[f"d{name}"])
    file = saved(proto, tmp_path)
    for option in (["--op", "Softplus"], ["--op", f"T{name}"]):
        path = tmp_path / f"made{len([*tmp_path.iterdir()])}"
        result = create(file, *option, "-p", path)
        assert "\x1b" not in result.output
        assert "Traceback" not in result.output
        assert result.exit_code == 0, result.output
        assert_clean(path)
        for script in path.rglob("*.py"):
            compile(script.read_text(), str(script), "exec")
    assert len([*tmp_path.iterdir()]) == 3


@pytest.mark.parametrize("name", ["class", "a-b", "x: y", "\n", "name"])
def test_impossible_attributes(tmp_path: Path, name: str) -> None:
    node = helper.make_node("Odd", ["x"], ["y"], domain="mine")
    node.attribute.append(helper.make_attribute(name, 1))
    proto = model([node], [value("x", [4])], [value("y", [4])], domains=["mine"])
    result = create(saved(proto, tmp_path), "--op", "Odd", "-p", tmp_path / "made")
    assert_error(result, "Odd", "params.")
    assert not (tmp_path / "made").exists()


# ---- Checks --------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.nightly
def test_library_operator_is_green(tmp_path: Path) -> None:
    path, _ = created(detection_head(), tmp_path, "--op", "GridSample", "--quantize")
    result = Repository(path).scons("check", "quick=1")
    assert counts(result.stdout)["reference"] == 1
    assert "head_grid_int8" in (path / "build/check/log.jsonl").read_text()


@pytest.mark.slow
@pytest.mark.usefixtures("no_library")
def test_converter_runs_the_reference(tmp_path: Path) -> None:
    proto = single("Hardmax", {"x": [2, 5]}, axis=1)
    path, _ = created(proto, tmp_path, "--op", "Hardmax")
    python = f"rknn2_python={toolkit_python()}"
    result = Repository(path).scons("check", "quick=1", python, check=False)
    assert re.search(r"^simulator, rk3588 +5 +0 +0 ", result.stdout, re.MULTILINE)


@pytest.mark.slow
@pytest.mark.usefixtures("no_library")
def test_operator_without_library_fails_until_its_math_is_written(tmp_path: Path) -> None:
    path, _ = created(top_k(), tmp_path, "--op", "TopK")
    result = Repository(path).scons("check", "quick=1", check=False)
    assert result.returncode != 0
    assert re.search(r"^reference +1 +0 +0 ", result.stdout, re.MULTILINE)
    assert "TopK: the math is left to write, in topk_compute.h" in result.stdout
