"""The forms of reductions, normalizations, transforms and products of tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from onnx import defs

from opkit.runtimes.invocation import Array
from rknn_op.models.rewriting.body_proof import prove
from rknn_op.models.rewriting.form import ConditionError, Form, forms_in
from rknn_op.models.rewriting.forms import normalizations, products, reductions, transforms
from tests.marks import slow_first
from tests.models.rewriting.node_tests import Case, case, outcomes, trial
from tests.models.rewriting.sums_examples import EXAMPLES
from tests.operators.calls import RANDOM
from tests.operators.calls.common import Random, floats
from tests.operators.calls.reductions import reduce_calls
from tests.operators.oracle import Call
from tests.operators.test_random_calls import in_opset

FORMS: dict[str, list[Form]] = {}
for _module in (reductions, normalizations, transforms, products):
    for _form in forms_in(_module):
        FORMS.setdefault(_form.op_type, []).append(_form)

EMPTY = {"data is empty"}
NODE_TESTS: Mapping[str, tuple[int, set[str]]] = {
    "Col2Im": (5, set()),
    "CumSum": (9, set()),
    "DFT": (10, set()),
    "Det": (2, set()),
    "Einsum": (
        6,
        {"model.onnx: onnxruntime: Numpy_type 256 can't be converted to MLDataType."},
    ),
    "GlobalLpPool": (0, set()),
    "GroupNormalization": (2, set()),
    "InstanceNormalization": (2, set()),
    "LayerNormalization": (0, {"output 1 is used"}),
    "LpPool": (8, set()),
    "Mean": (3, set()),
    "MeanVarianceNormalization": (1, set()),
    "RMSNormalization": (19, set()),
    "ReduceL1": (8, EMPTY),
    "ReduceL2": (8, EMPTY),
    "ReduceLogSum": (4, EMPTY),
    "ReduceLogSumExp": (8, EMPTY),
    "ReduceMax": (9, EMPTY),
    "ReduceMean": (8, set()),
    "ReduceMin": (9, EMPTY),
    "ReduceProd": (
        7,
        {*EMPTY, "reduced has numbers up to 4.79e+08, and float16 ends at 65,504"},
    ),
    "ReduceSum": (10, EMPTY),
    "ReduceSumSquare": (8, EMPTY),
    "RotaryEmbedding": (8, set()),
    "STFT": (1, {"input window is not constant"}),
    "Sum": (3, set()),
    "Trilu": (18, set()),
}
"""Operator -> the number of onnx's tests that each of its forms passes, and why not others."""


def problem(form: Form, tried: Case, changing: Sequence[str] | None = None) -> str:
    """Return why a form is not proven for a node; empty: it is."""
    made = trial(form, tried, changing)
    return prove(made.body, made.original, made.inputs).problem


@pytest.mark.slow
def test_node_tests() -> None:
    for op_type, forms in FORMS.items():
        for form in forms:
            results = [reason or (proof and proof.problem) for _, reason, proof in outcomes(form)]
            reasons = {each for each in results if each}
            assert (results.count(""), reasons) == NODE_TESTS[op_type], (op_type, form.name)


@pytest.mark.parametrize("op_type", EXAMPLES)
def test_examples(op_type: str) -> None:
    for form in FORMS[op_type]:
        assert not problem(form, EXAMPLES[op_type]), form.name


def test_every_operator_has_an_example() -> None:
    assert EXAMPLES.keys() == FORMS.keys()


# ---- Random nodes --------------------------------------------------------------------------------

CALLS = {name: each for name, each in RANDOM.items() if name in FORMS} | {
    op_type: Random(reduce_calls(floats(-8, 8)), [11, 18])
    for op_type in ("ReduceL2", "ReduceMax", "ReduceMin", "ReduceSum")
}
VARIADIC = ("Einsum", "Mean", "Sum")
FINITE = (
    *("convolved_scaled_powers", "masked_by_triangle", "mean_of_scaled_powers"),
    "root_of_scaled",
)
"""Forms that an infinity spoils."""


def as_case(op_type: str, call: Call, opset: int) -> Case:
    """Return a node with numbers that float16 has."""
    inputs = {name: in_float16(op_type, array) for name, array in call.inputs.items()}
    attributes = {key: each for key, each in call.attributes.items() if key != "ceil_mode"}
    if op_type in VARIADIC:
        return case(op_type, [*inputs.values()], opset, **attributes)
    names = [each.name for each in defs.get_schema(op_type, opset, "").inputs]
    while names[-1] not in inputs:  # onnxruntime takes an empty name at the end for an input
        names.pop()
    return case(op_type, [inputs.get(name) for name in names], opset, **attributes)


def in_float16(op_type: str, array: Array) -> Array:
    if array.dtype.kind != "f":
        return np.asarray(np.clip(array, -200, 200))
    with np.errstate(invalid="ignore"):
        finite = np.round(np.clip(array, -1000, 1000) * 64) / 64
    if op_type == "ReduceLogSumExp":  # of negative numbers it may be near 0
        finite = np.abs(finite)
    return np.asarray(np.where(np.isfinite(array), finite, array), array.dtype)


@pytest.mark.parametrize("op_type", slow_first(3, sorted(FORMS)))
def test_random_nodes(op_type: str) -> None:
    calls = CALLS[op_type]

    @settings(
        max_examples=20,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )
    @given(call=calls.calls, opset=st.sampled_from(calls.opsets))
    def run(call: Call, opset: int) -> None:
        assume(is_usual(op_type, call))
        # Mul and Add of older opsets do not repeat their inputs.
        opset = max(opset, 7)
        tried = as_case(op_type, in_opset(call, op_type, opset), opset)
        is_finite = all(np.isfinite(each).all() for each in tried.inputs.values())
        for form in FORMS[op_type]:
            if is_finite or form.name not in FINITE:
                changing = ["x0"] if op_type == "STFT" else None
                assert not problem(form, tried, changing), form.name

    run()


def is_usual(op_type: str, call: Call) -> bool:
    """Whether a node is one that the forms are for, and onnxruntime computes by its definition."""
    if op_type.startswith("Reduce") and op_type != "ReduceMax" and op_type != "ReduceMin":
        return all(each.dtype.kind == "f" for each in call.inputs.values())
    if op_type == "Det":
        return bool(call.inputs["X"].shape[-1] <= 3)
    if op_type == "LpPool" and call.attributes["auto_pad"].startswith("SAME"):
        # onnxruntime leaves out the first elements of a longer stride.
        sides = zip(call.attributes["kernel_shape"], call.attributes["strides"], strict=True)
        return all(kernel >= stride for kernel, stride in sides)
    return True


# ---- Equations -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("bqc,bkc,bk->bq", [(2, 5, 4), (2, 6, 4), (2, 6)]),
        ("i,j,ij->", [(3,), (4,), (3, 4)]),
        ("ij,jk,kl,lm->im", [(2, 3), (3, 4), (4, 5), (5, 2)]),
        ("...ij,...jk->...ik", [(3, 1, 2, 3), (1, 4, 3, 2)]),
        ("b...ii->...bi", [(2, 3, 4, 4)]),
        ("iii->i", [(3, 3, 3)]),
        ("ij,ji", [(3, 4), (4, 3)]),
        ("ba,ca", [(3, 4), (2, 4)]),
        ("nctkv,kvw->nctw", [(1, 4, 5, 3, 6), (3, 6, 6)]),
    ],
)
def test_equations(equation: str, shapes: list[tuple[int, ...]]) -> None:
    random = np.random.default_rng(0)
    inputs = [random.uniform(0, 1, shape).astype(np.float32) for shape in shapes]
    [form] = FORMS["Einsum"]
    assert not problem(form, case("Einsum", inputs, 12, equation=equation))


def test_pairs_with_the_smallest_product_come_first() -> None:
    shapes = (2, 50), (50, 60), (60, 1)
    inputs = [np.ones(shape, np.float32) for shape in shapes]
    [form] = FORMS["Einsum"]
    body = trial(form, case("Einsum", inputs, equation="ij,jk,kl->il")).body
    assert body.products == 50 * 60 + 2 * 50


# ---- Conditions ----------------------------------------------------------------------------------


def ones(*shape: int, dtype: Any = np.float32) -> Array:
    return np.ones(shape, dtype)


def integers(*values: int) -> Array:
    return np.array(values, np.int64)


@pytest.mark.parametrize(
    ("op_type", "inputs", "attributes", "reason"),
    [
        (
            "DFT",
            [ones(1, 4096, 1)],
            {"axis": 1},
            "needs 64 MB of constants (expected at most 16 MB)",
        ),
        (
            "DFT",
            [ones(1, 2049, 2)],
            {"axis": 1, "inverse": 1, "onesided": 1},
            "needs 32 MB of constants (expected at most 16 MB)",
        ),
        (
            "CumSum",
            [ones(3000), np.array(0)],
            {},
            "needs 17 MB of constants (expected at most 16 MB)",
        ),
        (
            "STFT",
            [ones(1, 5000, 1), np.array(9), None, np.array(4096)],
            {},
            "needs 32 MB of constants (expected at most 16 MB)",
        ),
        ("Det", [ones(4, 4)], {}, "a matrix is 4 x 4 (expected at most 3 x 3)"),
        (
            "LpPool",
            [ones(1, 1, 5, 5)],
            {"kernel_shape": [2, 2], "ceil_mode": 1},
            "attribute ceil_mode is 1",
        ),
        ("ReduceSum", [ones(3, dtype=np.int64)], {}, "x0 is int64 (expected floats)"),
        ("ReduceMax", [ones(3, 0)], {}, "x0 is empty"),
    ],
)
def test_conditions(
    op_type: str, inputs: list[Array | None], attributes: dict[str, Any], reason: str
) -> None:
    for form in FORMS[op_type]:
        with pytest.raises(ConditionError) as error:
            trial(form, case(op_type, inputs, **attributes))
        assert str(error.value) == reason


@pytest.mark.parametrize(
    ("op_type", "inputs"),
    [
        ("ReduceL1", [ones(2, 3), integers(0)]),
        ("CumSum", [ones(2, 3), np.array(0)]),
        ("Trilu", [ones(3, 3), np.array(0)]),
        ("Col2Im", [ones(1, 4, 4), integers(3, 3), integers(2, 2)]),
        ("DFT", [ones(1, 4, 1), np.array(4)]),
    ],
)
def test_sizes_have_to_be_constant(op_type: str, inputs: list[Array]) -> None:
    tried = case(op_type, inputs)
    for form in FORMS[op_type]:
        with pytest.raises(ConditionError, match=r"^input x1 is not constant$"):
            trial(form, tried, ["x0", "x1"])


def test_shapes_have_to_be_known() -> None:
    for op_type, tried in EXAMPLES.items():
        if op_type in ("Mean", "Sum"):
            continue
        unknown = case(op_type, [tried.inputs.get(name) for name in tried.node.input], 23)
        unknown.model.graph.node[0].CopyFrom(tried.node)
        unknown.model.opset_import[0].CopyFrom(tried.model.opset_import[0])
        unknown.model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "count"
        for form in FORMS[op_type]:
            with pytest.raises(ConditionError, match=r"^the shape of .* is unknown$"):
                trial(form, unknown)


# ---- float16 -------------------------------------------------------------------------------------

FACTOR = 300 * ones(1, 4, 8, 8)
TOO_LARGE = " has numbers up to "


@pytest.mark.parametrize(
    ("op_type", "attributes"),
    [
        ("ReduceL2", {}),
        ("GlobalLpPool", {}),
        ("LpPool", {"kernel_shape": [2, 2]}),
    ],
)
def test_large_squares_need_a_scale(op_type: str, attributes: dict[str, Any]) -> None:
    plain, scaled = FORMS[op_type]
    tried = case(op_type, [FACTOR], **attributes)
    assert TOO_LARGE in problem(plain, tried)
    assert not problem(scaled, tried)


@pytest.mark.parametrize(
    ("op_type", "values"),
    [
        ("ReduceL2", [60.0] * 100),  # a sum of squares of 360,000
        ("ReduceLogSum", [6000.0] * 100),
        ("ReduceLogSumExp", [100.0, 101.0, -50.0]),
    ],
)
def test_sums_stay_in_float16(op_type: str, values: list[float]) -> None:
    tried = case(op_type, [np.array([values], np.float32), integers(1)])
    assert not problem(FORMS[op_type][0], tried)


@pytest.mark.parametrize(
    ("op_type", "parameters", "opset"),
    [("RMSNormalization", 1, 23), ("LayerNormalization", 2, 17), ("InstanceNormalization", 2, 17)],
)
def test_normalizations_of_large_numbers(op_type: str, parameters: int, opset: int) -> None:
    x = np.random.default_rng(0).normal(1000, 500, (1, 8, 8)).astype(np.float32)
    tried = case(op_type, [x, *[ones(8)] * parameters], opset)
    assert not problem(FORMS[op_type][0], tried)


def test_infinities_beside_a_triangle() -> None:
    chosen, masked = FORMS["Trilu"]
    tried = case("Trilu", [np.full((5, 5), -np.inf, np.float32)], upper=0)
    assert not problem(chosen, tried)
    assert "nan (expected 0.0" in problem(masked, tried)


def test_sums_of_integers_that_float16_lacks() -> None:
    [form] = FORMS["CumSum"]
    tried = case("CumSum", [ones(2049, dtype=np.int64) * 1, np.array(0)])
    assert not problem(form, case("CumSum", [ones(2048, dtype=np.int64), np.array(0)]))
    assert "integers up to 2,049" in problem(form, tried)


@pytest.mark.parametrize("op_type", sorted(each for each in FORMS if each.startswith("Reduce")))
def test_each_number_is_reduced_without_axes(op_type: str) -> None:
    x = np.array([[0.5, 2, 3], [4, 5, 6]], np.float32) * (1 if "Log" in op_type else -1)
    for form in FORMS[op_type]:
        assert not problem(form, case(op_type, [x], 18, noop_with_empty_axes=1)), form.name


def test_windows() -> None:
    [form] = FORMS["STFT"]
    window = np.hanning(10).astype(np.float32)
    x = np.random.default_rng(0).normal(size=(2, 64, 1)).astype(np.float32)
    assert not problem(form, case("STFT", [x, np.array(4), window]), ["x0"])
