"""Forms of the operators that sample features between pixels."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rknn_op.models.rewriting.body_proof import prove
from rknn_op.models.rewriting.form import ConditionError, forms_in
from rknn_op.models.rewriting.forms import sampling
from rknn_op.runtimes.models import models_of
from tests.marks import slow_first
from tests.models.rewriting.node_tests import Case, case, outcomes, trial
from tests.models.rewriting.sampling_examples import EXAMPLES, boxes

CHIPS = ("rk3562", "rk3566", "rk3568", "rk3576", "rk3588", "rv1126b")
FORMS = {each.op_type: each for each in forms_in(sampling)}
UNPROVEN = {
    "GridSample": {"mode is cubic (expected linear or nearest)": 3},
    "RoiAlign": {"mode is max (expected avg)": 1},
}
"""Operator -> why onnx's tests are not proven, and their count."""
PROVEN = {"AffineGrid": 4, "GridSample": 15, "RoiAlign": 2}


def problem(tried: Case) -> str:
    """Return why the form is not proven for a node; empty: it is."""
    made = trial(FORMS[tried.node.op_type], tried)
    return prove(made.body, made.original, made.inputs).problem


@pytest.mark.slow
@pytest.mark.parametrize("op_type", slow_first(1, FORMS))
def test_node_tests(op_type: str) -> None:
    results = [
        reason or (proof.problem if proof else "none")
        for _, reason, proof in outcomes(FORMS[op_type])
    ]
    assert results.count("") == PROVEN[op_type]
    counts = {each: results.count(each) for each in results if each}
    assert counts == UNPROVEN.get(op_type, {})


@pytest.mark.parametrize("op_type", FORMS)
def test_examples_run_on_all_chips(op_type: str) -> None:
    assert problem(EXAMPLES[op_type]) == ""
    made = trial(FORMS[op_type], EXAMPLES[op_type])
    for chip in CHIPS:
        operators = models_of("rknn2").operators(chip, None)
        assert [each for each in made.body.op_types if operators.missing(each)] == []
        on_cpu = {each for each in made.body.op_types if operators.is_on_cpu(each)}
        assert on_cpu == set()


# ---- Random nodes --------------------------------------------------------------------------------


def _uniform(random: np.random.Generator, limit: float, *shape: int) -> Any:
    return random.uniform(-limit, limit, shape).astype(np.float32)


@st.composite
def grid_samples(draw: st.DrawFn) -> Case:
    """Draw a GridSample whose grid is also outside of the image, and has ties."""
    random = np.random.default_rng(draw(st.integers(0, 1000)))
    rank = draw(st.integers(2, 3))
    opset = draw(st.sampled_from((16, 20))) if rank == 2 else 20
    batch, channels = draw(st.integers(1, 2)), draw(st.sampled_from((1, 5, 40)))
    space = draw(st.lists(st.integers(1, 12), min_size=rank, max_size=rank))
    points = draw(st.lists(st.integers(1, 6), min_size=rank, max_size=rank))
    grid = _uniform(random, draw(st.sampled_from((1.0, 1.5, 4.0))), batch, *points, rank)
    if draw(st.booleans()):
        grid = np.round(grid * 8) / 8
    mode = draw(st.sampled_from(("linear", "nearest")))
    return case(
        "GridSample",
        [_uniform(random, 2, batch, channels, *space), grid],
        opset,
        mode="bilinear" if mode == "linear" and opset == 16 else mode,
        padding_mode=draw(st.sampled_from(("zeros", "border", "reflection"))),
        align_corners=draw(st.integers(0, 1)),
    )


@st.composite
def roi_aligns(draw: st.DrawFn) -> Case:
    """Draw a RoiAlign with boxes in the image."""
    random = np.random.default_rng(draw(st.integers(0, 1000)))
    batch, count = draw(st.integers(1, 2)), draw(st.integers(1, 5))
    height, width = draw(st.integers(2, 20)), draw(st.integers(2, 20))
    stride = draw(st.sampled_from((1, 4, 16)))
    return case(
        "RoiAlign",
        [
            _uniform(random, 2, batch, 3, height, width),
            boxes(random, count, height * stride, width * stride),
            random.integers(0, batch, count),
        ],
        opset=16,
        spatial_scale=1 / stride,
        sampling_ratio=draw(st.integers(1, 3)),
        output_height=draw(st.integers(1, 4)),
        output_width=draw(st.integers(1, 4)),
        coordinate_transformation_mode=draw(st.sampled_from(("half_pixel", "output_half_pixel"))),
    )


@st.composite
def affine_grids(draw: st.DrawFn) -> Case:
    """Draw an AffineGrid."""
    random = np.random.default_rng(draw(st.integers(0, 1000)))
    rank, batch = draw(st.integers(2, 3)), draw(st.integers(1, 3))
    space = draw(st.lists(st.integers(2, 9), min_size=rank, max_size=rank))
    return case(
        "AffineGrid",
        [_uniform(random, 2, batch, rank, rank + 1), np.array([batch, 3, *space])],
        opset=20,
        align_corners=draw(st.integers(0, 1)),
    )


@pytest.mark.slow
@settings(max_examples=60, deadline=None, derandomize=True)
@given(grid_samples())
def test_random_grid_samples(tried: Case) -> None:
    assert problem(tried) == ""


@pytest.mark.slow
@settings(max_examples=25, deadline=None, derandomize=True)
@given(roi_aligns())
def test_random_roi_aligns(tried: Case) -> None:
    assert problem(tried) == ""


@settings(max_examples=15, deadline=None, derandomize=True)
@given(affine_grids())
def test_random_affine_grids(tried: Case) -> None:
    assert problem(tried) == ""


# ---- Sizes of models -----------------------------------------------------------------------------

RANDOM = np.random.default_rng(7)


def _grid_sample(features: list[int], grid: list[int], **attributes: Any) -> Case:
    arrays = [_uniform(RANDOM, 2, *features), _uniform(RANDOM, 1.1, *grid)]
    return case("GridSample", arrays, opset=16, **{"mode": "bilinear", **attributes})


def _roi_align(rois: Any, **attributes: Any) -> Case:
    features = _uniform(RANDOM, 2, 1, 8, 20, 30)
    given = {"sampling_ratio": 2, "output_height": 3, "output_width": 4, **attributes}
    indices = np.zeros(len(rois), np.int64)
    return case("RoiAlign", [features, np.float32(rois), indices], opset=16, **given)


@pytest.mark.parametrize(
    "tried",
    [
        pytest.param(
            _grid_sample([8, 32, 80, 80], [8, 300, 4, 2]),
            id="the largest level of RT-DETR",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            _grid_sample([1, 64, 60, 80], [1, 60, 80, 2], align_corners=1),
            id="RAFT",
            marks=pytest.mark.slow,
        ),
        _grid_sample([1, 128, 30, 40], [1, 30, 40, 2], padding_mode="border"),
        _grid_sample([1, 8, 30, 40], [1, 30, 40, 2], mode="nearest", padding_mode="reflection"),
    ],
)
def test_sizes_of_models(tried: Case) -> None:
    assert problem(tried) == ""


def test_ties_are_rounded_before_they_are_reflected() -> None:
    grid = RANDOM.integers(-48, 48, (1, 20, 20, 2)).astype(np.float32) / 16
    for is_aligned in (0, 1):
        tried = case(
            "GridSample",
            [_uniform(RANDOM, 2, 1, 1, 32, 33), grid],
            opset=16,
            mode="nearest",
            padding_mode="reflection",
            align_corners=is_aligned,
        )
        assert problem(tried) == ""


def test_roi_align_samples_at_the_edges() -> None:
    edges = [(-2, 0), (-2.02, -0.02), (19, 21), (19.02, 21.02)]  # rows: 20; samples between
    rois = [[4, low, 9, high] for low, high in edges]
    tried = _roi_align(
        rois,
        spatial_scale=1.0,
        sampling_ratio=1,
        output_height=1,
        coordinate_transformation_mode="output_half_pixel",
    )
    assert problem(tried) == ""


def test_roi_align_outside_of_the_image() -> None:
    rois = [[-9, -7, 5, 6], [20, 10, 45, 33], [-5, 3, -2, 40], [4, 4, 4.25, 4.5]]
    for mode in ("half_pixel", "output_half_pixel"):
        tried = _roi_align(rois, spatial_scale=1.0, coordinate_transformation_mode=mode)
        assert problem(tried) == ""


# ---- Conditions ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tried", "message"),
    [
        (
            _grid_sample([1, 1, 4, 4], [1, 2, 2, 2], mode="bicubic"),
            "mode is bicubic (expected linear or nearest)",
        ),
        (
            _grid_sample([1, 64, 120, 160], [1, 60, 80, 2]),
            "makes a tensor of 70 MB (expected at most 64 MB)",
        ),
        (
            _roi_align([[0, 0, 4, 4]], sampling_ratio=0),
            "sampling_ratio is 0 (expected a fixed number)",
        ),
        (_roi_align([[0, 0, 4, 4]], mode="max"), "mode is max (expected avg)"),
        (
            _roi_align([[0, 0, 4, 4]] * 30000, output_height=6),
            "makes a tensor of 82 MB (expected at most 64 MB)",
        ),
        (
            case(
                "AffineGrid",
                [np.zeros((1, 2, 3), np.float32), np.array([1, 1, 2000, 2000])],
                opset=20,
            ),
            "needs 23 MB of constants (expected at most 16 MB)",
        ),
    ],
)
def test_conditions(tried: Case, message: str) -> None:
    with pytest.raises(ConditionError, match=f"^{re.escape(message)}$"):
        trial(FORMS[tried.node.op_type], tried)


def test_size_of_the_grid_is_unknown() -> None:
    tried = _grid_sample([1, 1, 4, 4], [1, 2, 2, 2])
    tried.model.graph.input[1].type.tensor_type.shape.dim[1].dim_param = "n"
    with pytest.raises(ConditionError, match=r"^the shape of x1 is unknown$"):
        trial(FORMS["GridSample"], tried)


def test_size_of_the_output_is_not_constant() -> None:
    tried = case("AffineGrid", [np.zeros((1, 2, 3), np.float32), np.array([1, 1, 4, 4])], opset=20)
    with pytest.raises(ConditionError, match=r"^input x1 is not constant$"):
        trial(FORMS["AffineGrid"], tried, changing=["x0", "x1"])
