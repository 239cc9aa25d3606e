"""Forms of operators with one result per element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rknn_op.models.rewriting.body_proof import prove
from rknn_op.models.rewriting.candidates import forms_of
from rknn_op.models.rewriting.form import ConditionError, own_forms
from tests.marks import slow_first
from tests.models.rewriting import node_tests
from tests.models.rewriting.examples import lists
from tests.models.rewriting.node_tests import MAX_OPSET, Case, case, outcomes, trial
from tests.models.rewriting.pointwise_examples import EXAMPLES

DOMAINS: dict[str, tuple[float, float]] = {
    "Acos": (-1, 1),
    "Acosh": (1, 30000),
    "Asin": (-1, 1),
    "Asinh": (-60000, 60000),
    "Atan": (-60000, 60000),
    "Atanh": (-0.99, 0.99),
    "Cosh": (-11, 11),
    "Gelu": (-5000, 5000),
    "Sinh": (-11, 11),
    "Tan": (-1.5, 1.5),
}
"""Operator -> the least and the greatest number; of others, -1000 and 1000."""

ON_CPU = {
    "Acosh": {"Log"},
    "Asinh": {"Log"},
    "Atanh": {"Log"},
    "Ceil": {"Floor"},
    "Cosh": {"Exp"},
    "Gelu": {"Erf"},  # before the toolkit fuses it
    "IsInf": {"Equal"},
    "IsNaN": {"Equal", "Not"},
    "Mod": {"Cast", "Floor"},
    "Or": {"Cast"},
    "Sinh": {"Exp"},
    "Tan": {"Cos", "Sin"},
    "Xor": {"Equal", "Not"},
}
"""Operator -> the operators of its example's form on a chip's CPU; of others, none."""

_NO_NUMBERS = "model.onnx: onnxruntime: Numpy_type 256 can't be converted to MLDataType."
_INFINITE = "output z differs: 4 of 14 elements differ, the worst is [4]: nan (expected inf, "
UNPROVEN = {
    "test_celu_bfloat16": _NO_NUMBERS,
    "test_mod_float_edge_cases_fmod_0_float16": _INFINITE,
    "test_mod_float_edge_cases_fmod_0_float32": _INFINITE,
    "test_mod_float_edge_cases_fmod_0_float64": _INFINITE,
}
"""Node test of onnx -> the begin of the reason why no form is proven."""


def problem(op_type: str, tried: Case) -> str:
    """Return why the first form that holds is wrong for a node; empty: it is not."""
    return node_tests.problem(forms_of("", op_type, MAX_OPSET, own_forms()), tried)


@pytest.mark.slow
@pytest.mark.parametrize("op_type", slow_first(4, EXAMPLES))
def test_node_tests(op_type: str) -> None:
    found: dict[str, str] = {}
    for form in forms_of("", op_type, MAX_OPSET, own_forms()):
        for name, reason, proof in outcomes(form):
            result = proof.problem if proof else reason
            found[name] = result if found.get(name, result) else ""
    assert "" in found.values()
    for name, reason in found.items():
        assert bool(reason) == (name in UNPROVEN), f"{name}: {reason}"
        assert reason.startswith(UNPROVEN.get(name, ""))


@pytest.mark.parametrize("op_type", EXAMPLES)
def test_examples_run_on_all_chips(op_type: str) -> None:
    for operators in lists().values():
        for form in forms_of("", op_type, MAX_OPSET, own_forms()):
            try:
                made = trial(form, EXAMPLES[op_type])
            except ConditionError:
                continue
            break
        assert prove(made.body, made.original, made.inputs).problem == ""
        assert [each for each in made.body.op_types if operators.missing(each)] == []
        on_cpu = {each for each in made.body.op_types if operators.is_on_cpu(each)}
        assert on_cpu == ON_CPU.get(op_type, set())


def test_other_operators_are_on_all_chips() -> None:
    for operators in lists().values():
        for op_type in ("And", "Erf", "Exp", "HardSwish", "Log", "Mish", "Not", "Round", "Sqrt"):
            assert operators.missing(op_type) == ""


# ---- Random nodes --------------------------------------------------------------------------------


@st.composite
def floats(draw: st.DrawFn, op_type: str) -> Any:
    """Draw an array from an operator's domain, often of small numbers."""
    low, high = DOMAINS.get(op_type, (-1000, 1000))
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=4, max_side=6))
    random = np.random.default_rng(draw(st.integers(0, 1000)))
    origin = max(low, 0)
    scale = draw(st.sampled_from((1, 0.1, 1e-3)))
    return (origin + scale * (random.uniform(low, high, shape) - origin)).astype(np.float32)


def _booleans(draw: st.DrawFn) -> list[Any]:
    random = np.random.default_rng(draw(st.integers(0, 1000)))
    shapes = draw(hnp.mutually_broadcastable_shapes(num_shapes=2, min_dims=1, max_dims=4))
    return [np.asarray(random.random(shape) < 0.5) for shape in shapes.input_shapes]


def _quotient(draw: st.DrawFn) -> tuple[list[Any], dict[str, Any]]:
    """Draw a dividend and a divisor whose quotient's floor is right in float16."""
    random = np.random.default_rng(draw(st.integers(0, 1000)))
    first, second = draw(
        hnp.mutually_broadcastable_shapes(num_shapes=2, min_dims=1, max_dims=4)
    ).input_shapes
    divisors = random.choice([-7, -3, -1, 1, 2, 5, 40], second)
    dtype = draw(st.sampled_from(("float32", "int32", "int64")))
    fmod = 1 if dtype == "float32" else draw(st.integers(0, 1))
    dividends = random.integers(-2000, 2000, first)
    return [dividends.astype(dtype), divisors.astype(dtype)], {"fmod": fmod}


def _slope(draw: st.DrawFn) -> float:
    return draw(st.floats(0.125, 4, width=16))


ATTRIBUTES: dict[str, Callable[[st.DrawFn], dict[str, Any]]] = {
    "Celu": lambda draw: {"alpha": _slope(draw)},
    "Gelu": lambda draw: {"approximate": draw(st.sampled_from(("none", "tanh")))},
    "Selu": lambda draw: {"alpha": _slope(draw), "gamma": _slope(draw)},
    "Shrink": lambda draw: draw(
        st.sampled_from(({}, {"lambd": 0.25, "bias": 0.25}, {"lambd": 2.0, "bias": -1.0}))
    ),
    "ThresholdedRelu": lambda draw: {"alpha": draw(st.floats(-4, 4, width=16))},
}


@st.composite
def nodes(draw: st.DrawFn, op_type: str) -> Case:
    """Draw a node of an operator."""
    opset = 20 if op_type == "Gelu" else draw(st.sampled_from((13, 19)))
    if op_type in ("Or", "Xor"):
        return case(op_type, _booleans(draw), opset)
    if op_type == "Mod":
        inputs, attributes = _quotient(draw)
        return case(op_type, inputs, opset, **attributes)
    x = draw(floats(op_type))
    attributes = ATTRIBUTES[op_type](draw) if op_type in ATTRIBUTES else {}
    if op_type in ("IsInf", "IsNaN", "Sign"):
        specials = (np.nan, 0.0) if op_type == "Sign" else (np.inf, -np.inf, np.nan)
        x.flat[0] = draw(st.sampled_from(specials))
    if op_type == "IsInf":
        flags = draw(st.sampled_from(((1, 0), (0, 1), (1, 1))))
        attributes = dict(zip(("detect_negative", "detect_positive"), flags, strict=True))
    return case(op_type, [x], opset, **attributes)


@pytest.mark.parametrize("op_type", slow_first(6, EXAMPLES))
@settings(max_examples=15, deadline=None, derandomize=True)
@given(data=st.data())
def test_random_nodes(op_type: str, data: st.DataObject) -> None:
    assert problem(op_type, data.draw(nodes(op_type))) == ""


# ---- Conditions ----------------------------------------------------------------------------------

X = np.array([-3, -0.5, 0, 0.5, 3], "float32")


@pytest.mark.parametrize(
    "tried",
    [
        case("Sign", [X], opset=9),
        case("Sign", [np.array([-40000, -1, 0, 1, 7], "int32")], opset=13),
        case("Sign", [X.astype("float64")]),
        case("Sign", [X.astype("float16")]),
        case("Atan", [X], opset=8),
        case("Or", [np.array([[True], [False]], "bool"), np.array([True, False], "bool")], opset=7),
        case("IsInf", [np.array([np.inf, 1, -np.inf, np.nan], "float32")], opset=11),
        case("Asin", [np.array([-1, 0, 1], "float32")]),  # the ends of the domain
        case("Acos", [np.array([-1, 0, 1, 1.5], "float32")]),
        case("Acosh", [np.array([1, 1.001, 0.5], "float32")]),
        case("Atanh", [np.array([-1, -0.5, 0.5, 1, 2], "float32")]),
        case("Atan", [np.array([-np.inf, np.inf, np.nan], "float32")]),
    ],
    ids=lambda tried: f"{tried.node.op_type}-{tried.inputs['x0'].dtype}",
)
def test_special_nodes(tried: Case) -> None:
    assert problem(tried.node.op_type, tried) == ""


@pytest.mark.parametrize(
    ("tried", "reason"),
    [
        (case("Shrink", [X], lambd=-1.0), "lambd is -1 (expected 0 or more)"),
        (case("Shrink", [np.array([1, 5], "int32")], lambd=2.0), "x0 is int32 (expected floats)"),
        (case("Gelu", [X], 20, approximate="tanh"), "approximate is tanh (expected none)"),
        (case("Gelu", [X], 20, approximate="none"), "approximate is none (expected tanh)"),
        (
            case("IsInf", [X], detect_negative=0, detect_positive=0),
            "detect_negative and detect_positive are 0 (expected one of them)",
        ),
    ],
)
def test_conditions(tried: Case, reason: str) -> None:
    reasons = []
    for form in own_forms()["", tried.node.op_type]:
        try:
            trial(form, tried)
        except ConditionError as error:
            reasons.append(str(error))
    assert reasons == [reason]


def test_shrink_at_zero() -> None:
    (form,) = own_forms()["", "Shrink"]
    made = trial(form, case("Shrink", [X], lambd=0.0))
    assert prove(made.body, made.original, made.inputs).problem == ""


@pytest.mark.parametrize(
    ("tried", "reason"),
    [
        (case("Cosh", [np.array([12], "float32")]), "it/Exp_2_output_0 has numbers up to 8.14e+04"),
        (
            case("Mod", [np.array([40001], "int32"), np.array([7], "int32")]),
            "output y0 differs in float16: 1 of 1 elements differ",
        ),
    ],
)
def test_numbers_beyond_float16(tried: Case, reason: str) -> None:
    assert problem(tried.node.op_type, tried).startswith(reason)
