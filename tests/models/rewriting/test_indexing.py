"""Forms of the operators that take and put elements at indices."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rknn_op.models.rewriting.form import ConditionError, Form, forms_in
from rknn_op.models.rewriting.forms import indexing
from rknn_op.runtimes.models import models_of
from tests.marks import slow_first
from tests.models.rewriting import node_tests
from tests.models.rewriting.indexing_examples import EXAMPLES
from tests.models.rewriting.node_tests import Case, case, outcomes, trial

CHIPS = ("rk3562", "rk3566", "rk3568", "rk3576", "rk3588", "rv1126b")
FORMS: dict[str, list[Form]] = {}
for _form in forms_in(indexing):
    FORMS.setdefault(_form.op_type, []).append(_form)

COMPUTED = ("gather_nd_of_computed", "scatter_elements_of_computed")
"""Forms for indices that are not constant."""
ON_CPU = {
    "OneHot": {"Cast"},
    "ScatterElements": {"Equal", "Less"},
    "TopK": {"ArgMax", "Equal", "ReduceMax"},
}
"""Operator -> the operators of its example on a chip's CPU; of others, none."""

_BFLOAT16 = "model.onnx: onnxruntime: Numpy_type 256 can't be converted to MLDataType."
_NO_KERNEL = (
    "model.onnx: onnxruntime: [ONNXRuntimeError] : 9 : NOT_IMPLEMENTED : Could not find an "
    "implementation for OneHot(28) node with name 'it'"
)
NODE_TESTS: dict[str, tuple[int, dict[str, int]]] = {
    "center_crop_pad": (6, {}),
    "compress": (4, {_BFLOAT16: 1}),
    "gather_elements": (3, {}),
    "gather_nd": (3, {}),
    "gather_nd_of_computed": (3, {}),
    "one_hot": (5, {_NO_KERNEL: 1}),
    "reverse_sequence": (2, {_BFLOAT16: 1}),
    "scatter_elements": (7, {}),
    "scatter_elements_of_computed": (7, {}),
    "scatter_nd": (7, {}),
    "space_to_depth": (4, {}),
    "top_k": (3, {"dtype is INT64 (expected floats)": 3, "dtype is UINT64 (expected floats)": 1}),
}
"""Form -> the number of onnx's tests that it passes, and why not others, with their number."""


def problem(tried: Case) -> str:
    """Return why the first form that holds is wrong for a node; empty: it is not."""
    return node_tests.problem(FORMS[tried.node.op_type], tried)


@pytest.mark.slow
@pytest.mark.parametrize("op_type", slow_first(3, FORMS))
def test_node_tests(op_type: str) -> None:
    for form in FORMS[op_type]:
        constants = [] if form.name in COMPUTED else [1]
        results = [
            reason or (proof.problem if proof else "none")
            for _, reason, proof in outcomes(form, constants)
        ]
        reasons = Counter(each for each in results if each)
        assert (results.count(""), reasons) == NODE_TESTS[form.name], form.name


@pytest.mark.parametrize("op_type", FORMS)
def test_examples_run_on_all_chips(op_type: str) -> None:
    assert problem(EXAMPLES[op_type]) == ""
    made = trial(FORMS[op_type][-1 if op_type == "ScatterElements" else 0], EXAMPLES[op_type])
    for chip in CHIPS:
        operators = models_of("rknn2").operators(chip, None)
        assert [each for each in made.body.op_types if operators.missing(each)] == []
        on_cpu = {each for each in made.body.op_types if operators.is_on_cpu(each)}
        assert on_cpu <= ON_CPU.get(op_type, set())


# ---- Random nodes --------------------------------------------------------------------------------


def _shape(draw: st.DrawFn, low: int = 1, high: int = 4) -> list[int]:
    return draw(st.lists(st.integers(1, 5), min_size=low, max_size=high))


def _uniform(random: np.random.Generator, shape: Any) -> Any:
    return random.uniform(-2, 2, shape).astype(np.float32)


def _center_crop_pad(draw: st.DrawFn, random: np.random.Generator) -> Case:
    shape = _shape(draw)
    axes = draw(st.sets(st.sampled_from(range(-len(shape), 0)), min_size=1))
    wanted = random.integers(1, 8, len(axes))
    return case(
        "CenterCropPad", [_uniform(random, shape), wanted], constants=[1], axes=sorted(axes)
    )


def _compress(draw: st.DrawFn, random: np.random.Generator) -> Case:
    shape = _shape(draw)
    axis = draw(st.none() | st.integers(-len(shape), len(shape) - 1))
    length = int(np.prod(shape)) if axis is None else shape[axis]
    condition = random.random(draw(st.integers(1, length))) < 0.5
    condition[-1] = True
    attributes: dict[str, Any] = {} if axis is None else {"axis": axis}
    return case("Compress", [_uniform(random, shape), condition], constants=[1], **attributes)


def _gather_nd(draw: st.DrawFn, random: np.random.Generator) -> Case:
    shape = _shape(draw)
    batches = draw(st.integers(0, len(shape) - 1))
    width = draw(st.integers(1, len(shape) - batches))
    places = [*shape[:batches], *_shape(draw, 1, 2)]
    ranges = np.array(shape[batches : batches + width])
    indices = random.integers(-ranges, ranges, [*places, width])
    return case(
        "GatherND",
        [_uniform(random, shape), indices],
        constants=draw(st.sampled_from(([], [1]))),
        batch_dims=batches,
    )


def _elements(draw: st.DrawFn, random: np.random.Generator) -> tuple[list[int], int, Any, bool]:
    """Draw a shape, an axis, indices in it, and whether they are constant."""
    shape = _shape(draw)
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    is_constant = draw(st.booleans())
    is_full = not is_constant or draw(st.booleans())
    places = [size if is_full else draw(st.integers(1, size)) for size in shape]
    places[axis] = draw(st.integers(1, 4))
    indices = random.integers(-shape[axis], shape[axis], places)
    if is_constant and draw(st.booleans()):
        first = np.take(indices.reshape(-1), np.arange(places[axis]))
        along = [1] * len(shape)
        along[axis] = places[axis]
        indices = np.broadcast_to(first.reshape(along), places).copy()
    return shape, axis, indices, is_constant


def _gather_elements(draw: st.DrawFn, random: np.random.Generator) -> Case:
    shape, axis, indices, _ = _elements(draw, random)
    return case("GatherElements", [_uniform(random, shape), indices], constants=[1], axis=axis)


REDUCTIONS = ("none", "add", "mul", "max", "min")


def _scatter_elements(draw: st.DrawFn, random: np.random.Generator) -> Case:
    shape, axis, indices, is_constant = _elements(draw, random)
    return case(
        "ScatterElements",
        [_uniform(random, shape), indices, _uniform(random, indices.shape)],
        opset=18,
        constants=[1] if is_constant else [],
        axis=axis,
        reduction=draw(st.sampled_from(REDUCTIONS)),
    )


def _scatter_nd(draw: st.DrawFn, random: np.random.Generator) -> Case:
    shape = _shape(draw)
    width = draw(st.integers(1, len(shape)))
    ranges = np.array(shape[:width])
    if draw(st.booleans()):
        grid = [*shape[:width]]
        grid[draw(st.integers(0, width - 1))] = 1
        indices = np.moveaxis(np.indices(grid), 0, -1)
    else:
        indices = random.integers(-ranges, ranges, [*_shape(draw, 1, 2), width])
    updates = _uniform(random, [*indices.shape[:-1], *shape[width:]])
    # Of several updates without a reduction, any one may be the last.
    are_unique = len(np.unique((indices % ranges).reshape(-1, width), axis=0)) * width
    reductions = REDUCTIONS if are_unique == indices.size else REDUCTIONS[1:]
    return case(
        "ScatterND",
        [_uniform(random, shape), indices, updates],
        opset=18,
        constants=[1],
        reduction=draw(st.sampled_from(reductions)),
    )


def _one_hot(draw: st.DrawFn, random: np.random.Generator) -> Case:
    shape, depth = _shape(draw, 1, 3), draw(st.integers(1, 9))
    indices = random.integers(-depth - 2, depth + 2, shape)
    dtype, of_values = draw(
        st.sampled_from((("int64", "int64"), ("int32", "float32"), ("float32", "float32")))
    )
    values = np.array([-3, 7], of_values)
    return case(
        "OneHot",
        [indices.astype(dtype), np.array(depth, dtype), values],
        constants=[1],
        axis=draw(st.integers(-len(shape) - 1, len(shape))),
    )


def _reverse_sequence(draw: st.DrawFn, random: np.random.Generator) -> Case:
    shape, axis = _shape(draw, 2, 4), draw(st.integers(0, 1))
    lengths = random.integers(1, shape[1 - axis] + 1, shape[axis])
    return case(
        "ReverseSequence",
        [_uniform(random, shape), lengths],
        constants=[1],
        batch_axis=axis,
        time_axis=1 - axis,
    )


def _space_to_depth(draw: st.DrawFn, random: np.random.Generator) -> Case:
    size = draw(st.integers(1, 3))
    batch, channels, height, width = _shape(draw, 4, 4)
    shape = [batch, channels, height * size, width * size]
    return case("SpaceToDepth", [_uniform(random, shape)], blocksize=size)


def _top_k(draw: st.DrawFn, random: np.random.Generator) -> Case:
    shape = _shape(draw)
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    many = np.array([draw(st.integers(1, shape[axis]))])
    x = _uniform(random, shape)
    if draw(st.booleans()):
        x = np.round(x)
    largest = draw(st.integers(0, 1))
    return case("TopK", [x, many], outputs=2, constants=[1], axis=axis, largest=largest)


RANDOM: dict[str, Callable[[st.DrawFn, np.random.Generator], Case]] = {
    "CenterCropPad": _center_crop_pad,
    "Compress": _compress,
    "GatherElements": _gather_elements,
    "GatherND": _gather_nd,
    "OneHot": _one_hot,
    "ReverseSequence": _reverse_sequence,
    "ScatterElements": _scatter_elements,
    "ScatterND": _scatter_nd,
    "SpaceToDepth": _space_to_depth,
    "TopK": _top_k,
}


@st.composite
def nodes(draw: st.DrawFn, op_type: str) -> Case:
    """Draw a node of an operator."""
    return RANDOM[op_type](draw, np.random.default_rng(draw(st.integers(0, 1000))))


@pytest.mark.parametrize("op_type", slow_first(3, FORMS))
@settings(max_examples=25, deadline=None, derandomize=True)
@given(data=st.data())
def test_random_nodes(op_type: str, data: st.DataObject) -> None:
    assert problem(data.draw(nodes(op_type))) == ""


def test_last_of_many_updates_wins() -> None:
    x = np.arange(20, dtype=np.float32).reshape(1, 20)
    tried = case(
        "ScatterElements",
        [x, np.array([[3] * 9 + [4]]), -x[:, :10]],
        constants=[1],
        axis=1,
    )
    assert problem(tried) == ""


# ---- Conditions ----------------------------------------------------------------------------------

X = np.zeros((60, 60), np.float32)
NOT_CONSTANT = "input x1 is not constant"


@pytest.mark.parametrize(
    ("tried", "message"),
    [
        (
            case("GatherND", [X, np.zeros((4, 2), np.int64)]),
            f"{NOT_CONSTANT}; 3,600 rows (expected at most 2,048, or constant indices)",
        ),
        (
            case("GatherND", [X, np.array([[60, 0]])], constants=[1]),
            "an index is out of range; 3,600 rows (expected at most 2,048, or constant indices)",
        ),
        (case("GatherElements", [X, np.zeros((4, 2), np.int64)]), NOT_CONSTANT),
        (
            case("ScatterND", [X, np.zeros((1, 2), np.int64), np.zeros(1, np.float32)]),
            NOT_CONSTANT,
        ),
        (
            case("ScatterElements", [X, np.zeros((60, 9), np.int64), X[:, :9]], axis=1),
            f"{NOT_CONSTANT}; 9 updates of an axis (expected at most 8, or constant indices)",
        ),
        (
            case("ScatterElements", [X, np.zeros((4, 2), np.int64), X[:4, :2]], axis=1),
            f"{NOT_CONSTANT}; indices are smaller than data (expected constant indices)",
        ),
        (
            case(
                "ScatterND",
                [X, np.zeros((9, 1), np.int64), X[:9]],
                constants=[1],
                reduction="add",
            ),
            "an element has more than 8 updates",
        ),
        (
            case("Compress", [X, np.zeros(60, np.bool_)], constants=[1], axis=0),
            "condition takes no element",
        ),
        (
            case("OneHot", [np.zeros(2, np.int64), np.array(3000), X[0, :2]], constants=[1]),
            "depth is 3,000 (expected at most 2,048)",
        ),
        (
            case("SpaceToDepth", [np.zeros((1, 800, 2, 2), np.float32)], blocksize=2),
            "needs 20 MB of constants (expected at most 16 MB)",
        ),
        (
            case("TopK", [X, np.array([9])], outputs=2, constants=[1]),
            "k is 9 (expected at most 8)",
        ),
        (
            case("TopK", [np.zeros((1, 8400), np.float32), np.array([1])], outputs=2),
            "axis 1 has 8,400 numbers (expected at most 2,048)",
        ),
        (
            case("TopK", [X.astype(np.int64), np.array([1])], outputs=2),
            "dtype is INT64 (expected floats)",
        ),
    ],
)
def test_conditions(tried: Case, message: str) -> None:
    with pytest.raises(ConditionError, match=f"^{re.escape(message)}$"):
        problem(tried)


@pytest.mark.parametrize("op_type", FORMS)
def test_unknown_shape(op_type: str) -> None:
    tried = EXAMPLES[op_type]
    model = onnx.ModelProto()
    model.CopyFrom(tried.model)
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "n"
    with pytest.raises(ConditionError, match=r"^the shape of x0 is unknown$"):
        trial(FORMS[op_type][-1], replace(tried, model=model))
