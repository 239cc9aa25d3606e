"""Operators that ONNX lacks: against other programs, and in nodes of exports."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from opkit.check.cases import Case
from opkit.runtimes.invocation import Array
from rknn_op.cli import main
from rknn_op.models import optional_inputs
from tests.models.models import model, saved, value, weights
from tests.operators.conftest import Library
from tests.operators.oracle import Call, run_by_onnxruntime, run_model

pytestmark = [pytest.mark.slow, pytest.mark.nightly]


def grafted(library: Library, op_type: str, proto: Any, folder: Path, *options: Any) -> Any:
    """Return the graph with the only node in the form of RKNN-Toolkit2."""
    root = library(op_type).operator.root
    arguments = ["graft", saved(proto, folder), "-p", root, "-o", folder / "out.onnx", *options]
    result = CliRunner().invoke(main, [*map(str, arguments)])
    assert result.exit_code == 0, result.output
    return onnx.load(folder / "out.onnx").graph


# ---- SkipSimplifiedLayerNormalization ----

SKIP = "SkipSimplifiedLayerNormalization"
OUTPUTS = ["output", "", "", "input_skip_bias_sum"]


@st.composite
def skip_cases(draw: Any) -> Case:
    """Return sequences with a residual of all batches, or of each."""
    shape = tuple(draw(st.integers(1, limit)) for limit in (3, 5, 40))
    skips = st.sampled_from([shape, shape[1:], (1, *shape[1:])])
    random = np.random.default_rng(draw(st.integers(0, 99)))
    shapes = {"input": shape, "skip": draw(skips), "gamma": shape[2:], "bias": shape[2:]}
    inputs = {name: random.uniform(-2, 2, each).astype(np.float32) for name, each in shapes.items()}
    return Case("random", inputs, {"epsilon": draw(st.sampled_from([1e-5, 0.5]))})


def skip_model(inputs: dict[str, Any], **attributes: Any) -> Any:
    node = helper.make_node(SKIP, [*inputs], OUTPUTS, "n", domain="com.microsoft", **attributes)
    outputs = [value(name, None) for name in OUTPUTS if name]
    types = [value(name, shape) for name, shape in inputs.items()]
    return model([node], types, outputs, domains=["com.microsoft"])


# Both add in float32: a sum near 0 has the rounding of its terms.
@given(case=skip_cases())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_skip_like_onnxruntime(library_operator: Library, case: Case) -> None:
    shapes = {name: array.shape for name, array in case.inputs.items()}
    expected = run_model(skip_model(shapes, **case.params), case.inputs)
    for name, outputs in library_operator(SKIP).results(case).items():
        for found, right in zip(outputs.values(), expected, strict=True):
            np.testing.assert_allclose(found, right, 2e-6, 2e-6, err_msg=name)


def test_graft_of_a_residual(library_operator: Library, tmp_path: Path) -> None:
    """Language models have no bias."""
    shapes = {"x": [2, 3, 8], "s": [2, 3, 8], "g": [8]}
    graph = grafted(library_operator, SKIP, skip_model(shapes, epsilon=1e-6), tmp_path)
    [node] = graph.node
    assert node.op_type == f"cst{SKIP}"
    assert [*node.input] == ["x", "s", "g", "n_bias"]
    assert [*node.output] == [name for name in OUTPUTS if name]
    [bias] = graph.initializer
    np.testing.assert_array_equal(numpy_helper.to_array(bias), np.zeros(8, np.float32))


# ---- GroupQueryAttention ----

GROUPS = "GroupQueryAttention"
GROUP_INPUTS = ["query", "key", "value", "past_key", "past_value", "seqlens_k"]
GROUP_INPUTS += ["total_sequence_length", "cos_cache", "sin_cache", "position_ids"]
GROUP_INPUTS += ["attention_bias", "head_sink"]


@st.composite
def group_calls(draw: Any) -> Call:
    """Return prompts, also padded ones, and steps with a past that grows, or with a buffer."""
    queries, kv_heads, group = (draw(st.integers(1, limit)) for limit in (40, 2, 3))
    kind = draw(st.sampled_from(["prompt", "padded", "grown", "buffer"]))
    # onnxruntime takes several queries with a past of one batch alone.
    rows, batches = draw(st.sampled_from([(1, 3), (queries, 1)]))
    batches = batches if kind in ("grown", "buffer") else 2
    past = draw(st.integers(rows, 150)) if kind in ("grown", "buffer") else 0
    total = past + rows if kind == "grown" else draw(st.integers(rows, max(past, rows)))
    heads, size, flag = kv_heads * group, 16 * draw(st.integers(1, 2)), st.booleans()
    random = np.random.default_rng(draw(st.integers(0, 99)))

    def uniform(*shape: int) -> Array:
        return random.uniform(-2, 2, shape).astype(np.float32)

    inputs = {"query": uniform(batches, rows, (heads + 2 * kv_heads) * size)}
    if draw(flag):
        inputs["query"] = uniform(batches, rows, heads * size)
        inputs |= {name: uniform(batches, rows, kv_heads * size) for name in ("key", "value")}
    if past:
        pasts = ("past_key", "past_value")
        inputs |= {name: uniform(batches, kv_heads, past, size) for name in pasts}
    least = 1 if kind == "padded" else rows
    used = random.integers(least, total, batches, np.int32, endpoint=True)
    inputs |= {"seqlens_k": used - 1, "total_sequence_length": np.array(total, np.int32)}
    attributes = {
        "num_heads": heads,
        "kv_num_heads": kv_heads,
        "causal": draw(st.integers(0, 1)),
        "smooth_softmax": draw(st.integers(-1, 1)),
        "scale": draw(st.sampled_from([0.0, 0.5])),
        "softcap": draw(st.sampled_from([0.0, 1.5])),
    }
    if attributes["causal"] and draw(flag):
        attributes["local_window_size"] = draw(st.integers(1, 9))
    if draw(flag):
        angles = random.uniform(-3, 3, (total + 3, 8 * draw(st.integers(1, size // 16))))
        inputs |= {"cos_cache": np.cos(angles, dtype="f"), "sin_cache": np.sin(angles, dtype="f")}
        attributes |= {"do_rotary": 1, "rotary_interleaved": draw(st.integers(0, 1))}
        if draw(flag):
            inputs["position_ids"] = random.integers(0, 4, (batches, rows))
    if draw(flag):
        inputs["attention_bias"] = uniform(1, draw(st.sampled_from([1, heads])), rows, total)
    if draw(flag):
        inputs["head_sink"] = uniform(heads)
    return Call(inputs, attributes)


def group_model(inputs: Any, **attributes: Any) -> Any:
    """Return a model of one node."""
    names = [name if name in inputs else "" for name in GROUP_INPUTS]
    outputs = ["output", "present_key", "present_value"]
    node = helper.make_node(GROUPS, names, outputs, "n", domain="com.microsoft", **attributes)
    types = [
        value(name, each.shape, helper.np_dtype_to_tensor_dtype(each.dtype))
        for name, each in inputs.items()
    ]
    return model([node], types, [value(each, None) for each in outputs], domains=["com.microsoft"])


# Sums of up to 150 weighted values up to 2; scores are sums of up to 32 products.
@given(call=group_calls())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_group_query_attention_like_onnxruntime(library_operator: Library, call: Call) -> None:
    expected = run_model(group_model(call.inputs, **call.attributes), call.inputs)
    operator = library_operator(GROUPS)
    given: dict[str, Any] = {**call.inputs}
    inputs = {
        name: given[name] if name in given else optional_inputs.value(GROUPS, name, given, {})
        for name in (each.name for each in operator.operator.spec.inputs)
    }
    total = {"total_sequence_length": int(call.inputs["total_sequence_length"])}
    case = Case("random", cast("dict[str, Array]", inputs), {**call.attributes, **total})
    rows = call.inputs["query"].shape[1]
    for name, outputs in operator.results(case).items():
        for batch, last in enumerate(call.inputs["seqlens_k"].tolist()):
            end = last + 1 if last + 1 < rows else None  # rows of padding are not specified
            for found, right in zip(outputs.values(), expected, strict=True):
                assert found.shape == right.shape
                mine, theirs = (each[batch, ..., :end, :] for each in (found, right))
                np.testing.assert_allclose(mine, theirs, 1e-5, 1e-5, err_msg=name)


def group_step() -> Any:
    """Return a step of a language model as exported: lengths from the mask, a buffer of 6 rows."""
    nodes = [
        helper.make_node("ReduceSum", ["mask", "one"], ["used"]),
        helper.make_node("Sub", ["used", "one"], ["before"]),
        helper.make_node("Cast", ["before"], ["seqlens_k"], to=TensorProto.INT32),
        helper.make_node("Shape", ["mask"], ["shape"]),
        helper.make_node("Gather", ["shape", "axis"], ["length"]),
        helper.make_node("Cast", ["length"], ["total"], to=TensorProto.INT32),
        helper.make_node("MatMul", ["x", "w"], ["packed"]),
        helper.make_node(
            GROUPS,
            ["packed", "", "", "past_key", "past_value", "seqlens_k", "total", "cos", "sin"],
            ["attended", "present_key", "present_value"],
            "attention",
            domain="com.microsoft",
            num_heads=2,
            kv_num_heads=1,
            do_rotary=1,
        ),
        helper.make_node("MatMul", ["attended", "v"], ["y"]),
    ]
    shapes = {"x": [1, 1, 8], "past_key": [1, 1, 6, 16], "past_value": [1, 1, 6, 16]}
    constants = {"one": np.array([1]), "axis": np.array(1), "cos": COSINES, "sin": SINES}
    return model(
        nodes,
        [value("mask", [1, 6], TensorProto.INT64), *(value(*each) for each in shapes.items())],
        [value(name, None) for name in ("y", "present_key", "present_value")],
        [
            *(numpy_helper.from_array(each, name) for name, each in constants.items()),
            weights("w", 8, 64),
            weights("v", 32, 8),
        ],
        domains=["com.microsoft"],
    )


ANGLES = np.linspace(0, 3, 64, dtype=np.float32).reshape(8, 8)
COSINES, SINES = np.cos(ANGLES), np.sin(ANGLES)


def test_graft_of_a_step_with_a_buffer(library_operator: Library, tmp_path: Path) -> None:
    """The command compares the outputs with those of onnxruntime."""
    random = np.random.default_rng(0)
    past = {name: random.uniform(-2, 2, (1, 1, 6, 16)) for name in ("past_key", "past_value")}
    floats = {"x": random.uniform(-2, 2, (1, 1, 8)), **past}
    inputs: dict[str, Any] = {name: each.astype(np.float32) for name, each in floats.items()}
    np.savez(tmp_path / "inputs.npz", **inputs, mask=np.array([[1, 1, 1, 1, 0, 0]]))
    options = ("--inputs", tmp_path / "inputs.npz")
    graph = grafted(library_operator, GROUPS, group_step(), tmp_path, *options)
    [node] = [each for each in graph.node if each.op_type == f"cst{GROUPS}"]
    attributes = {each.name: helper.get_attribute_value(each) for each in node.attribute}
    assert attributes["total_sequence_length"] == 6
    sizes = {each.name: [*each.dims] for each in graph.initializer}
    assert [sizes.get(name) for name in node.input[1:3]] == [[1], [1]]


# ---- DetectionOutput ----


def best_of(case: Case, rows: Array, image: int) -> list[tuple[int, int]]:
    """Return box and class of the best rows of onnxruntime's NonMaxSuppression of an image."""
    scores = case.inputs["scores"][image]
    found = [(box, label) for batch, label, box in rows.tolist() if batch == image]
    return sorted(found, key=lambda each: -scores[each])[: case.params["max_output_boxes"]]


@given(seed=st.integers(0, 99), limit=st.integers(1, 60), coding=st.integers(0, 1))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_detections_like_onnxruntime(
    library_operator: Library, seed: int, limit: int, coding: int
) -> None:
    """Its NonMaxSuppression selects boxes class by class; no score is there twice."""
    random = np.random.default_rng(seed)
    boxes = random.uniform(0, 1, (2, 40, 4)).astype(np.float32)
    scores = random.permuted(np.arange(240, dtype=np.float32) / 256).reshape(2, 40, 3)
    call = Call(
        {
            "boxes": boxes,
            "scores": scores.swapaxes(1, 2).copy(),
            "max_output_boxes_per_class": np.array(40),
            "iou_threshold": np.array(0.4, np.float32),
            "score_threshold": np.array(0.249, np.float32),
        },
        {"center_point_box": coding},
    )
    [rows] = run_by_onnxruntime("NonMaxSuppression", call, 11)
    case = Case(
        "random",
        {"boxes": boxes, "scores": scores, "anchors": np.zeros(1, np.float32)},
        {
            "box_coding": coding,
            "iou_threshold": 0.4,
            "max_output_boxes": limit,
            "score_threshold": 0.249,
        },
    )
    for outputs in library_operator("DetectionOutput").results(case).values():
        for image in range(2):
            best = best_of(case, rows, image)
            [count] = outputs["num_detections"][image].tolist()
            assert outputs["detection_classes"][image, :count].tolist() == [at for _, at in best]
            found = outputs["detection_scores"][image, :count].tolist()
            assert found == [scores[image][each] for each in best]


def test_graft_takes_nodes_of_yolo(library_operator: Library, tmp_path: Path) -> None:
    """Exports for TensorRT end with this node, without anchors."""
    attributes: dict[str, Any] = {
        "background_class": -1,
        "box_coding": 1,
        "iou_threshold": 0.45,
        "max_output_boxes": 100,
        "plugin_version": "1",
        "score_activation": 0,
        "score_threshold": 0.25,
    }
    outputs = ["num_dets", "det_boxes", "det_scores", "det_classes"]
    kinds = [TensorProto.INT32, TensorProto.FLOAT, TensorProto.FLOAT, TensorProto.INT32]
    shapes = [[1, 1], [1, 100, 4], [1, 100], [1, 100]]
    node = helper.make_node(
        "EfficientNMS_TRT", ["b", "s"], outputs, "n", domain="TRT", **attributes
    )
    proto = model(
        [node],
        [value("b", [1, 84, 4]), value("s", [1, 84, 8])],
        [value(*each) for each in zip(outputs, shapes, kinds, strict=True)],
        domains=["TRT"],
    )
    graph = grafted(library_operator, "DetectionOutput", proto, tmp_path)
    [found] = graph.node
    assert found.op_type == "cstEfficientNMS_TRT"
    assert [*found.input] == ["b", "s", "n_anchors"]
    assert [*found.output] == outputs
    names = {each.name for each in found.attribute}
    assert names == {*attributes, "class_agnostic"}
