"""Operators that ONNX lacks: against other programs, and in nodes of exports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

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
from tests.models.models import model, saved, value
from tests.operators.conftest import Library
from tests.operators.oracle import Call, run_by_onnxruntime, run_model

pytestmark = [pytest.mark.slow, pytest.mark.nightly]


def grafted(library: Library, op_type: str, proto: Any, folder: Path) -> Any:
    """Return the graph with the only node in the form of RKNN-Toolkit2."""
    root = library(op_type).operator.root
    arguments = ["graft", saved(proto, folder), "-p", root, "-o", folder / "out.onnx"]
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
