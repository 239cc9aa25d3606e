"""Random calls of the operators of ONNX in the library: kernels against other programs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opkit.check.cases import Case
from opkit.runtimes.invocation import Array
from tests.marks import sampled
from tests.operators.calls import INVALID, RANDOM
from tests.operators.calls.common import InvalidCall
from tests.operators.calls.sampling import grid_sample_calls
from tests.operators.conftest import Library
from tests.operators.oracle import (
    Call,
    assert_all_close,
    run_by_onnx,
    run_by_onnxruntime,
)
from tests.operators.test_node_tests import OPERATORS

pytestmark = pytest.mark.slow


def in_opset(call: Call, op_type: str, opset: int) -> Call:
    """Return a call in the form of an opset: its words, attributes and inputs."""
    if op_type.startswith("Reduce") and opset < 18:
        return with_attribute_axes(call)
    if op_type == "GroupNormalization" and opset < 21:
        return with_scales_of_groups(call)
    if op_type != "GridSample" or opset >= 20:
        return call
    words = {"linear": "bilinear", "cubic": "bicubic", "nearest": "nearest"}
    mode = call.attributes["mode"]
    return Call(call.inputs, {**call.attributes, "mode": words[mode]})


def with_attribute_axes(call: Call) -> Call:
    """Return a reduction without axes as an input, and without noop_with_empty_axes."""
    attributes = {"keepdims": call.attributes["keepdims"]}
    if call.inputs.get("axes", np.array([])).size > 0:
        attributes["axes"] = call.inputs["axes"].tolist()
    return Call({"data": call.inputs["data"]}, attributes)


def with_scales_of_groups(call: Call) -> Call:
    """Return a GroupNormalization with a scale and a bias of each group, not of each channel."""
    groups = call.attributes["num_groups"]
    scales = {name: call.inputs[name][:groups] for name in ("scale", "bias")}
    return Call({**call.inputs, **scales}, call.attributes)


def test_every_operator_has_random_calls() -> None:
    assert {*RANDOM} == {*OPERATORS}


OWN_CHOICE = ("Attention", "DeformConv", "DynamicQuantizeLinear", "Einsum", "RNN")
"""Operators that choose vectors by code of their own."""
NARROWER = ("-DOPKIT_NO_AVX512", "-DOPKIT_BASELINE")


@pytest.mark.parametrize(
    ("op_type", "cflags"),
    [
        *sampled([pytest.param(name, (), id=name) for name in RANDOM], lambda each: str(each.id)),
        *(
            pytest.param(name, (flag,), id=name + flag, marks=pytest.mark.nightly)
            for name in OWN_CHOICE
            for flag in NARROWER
        ),
    ],
)
def test_like_another_program(
    op_type: str, cflags: tuple[str, ...], library_operator: Library
) -> None:
    random = RANDOM[op_type]

    @settings(
        max_examples=random.count, deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
    @given(call=random.calls, opset=st.sampled_from(random.opsets))
    def run(call: Call, opset: int) -> None:
        call = in_opset(call, op_type, opset)
        expected = random.program(op_type, call, opset)
        dtypes = call.dtypes(OPERATORS[op_type], expected)
        operator = library_operator(op_type, len(call.inputs), dtypes, cflags)
        found = operator.results(call.case("random", operator.operator.spec))
        assert_all_close(op_type, found, expected, random.rtol, random.atol)

    run()


RAMP = np.arange(12, dtype=np.float32).reshape(1, 1, 3, 4) / 12
TIES = np.array([*itertools.product((-2.5, -1, -0.5, 0, 0.5, 1, 2.5), repeat=2)], np.float32)


def test_grid_sample_rounds_ties_like_onnxruntime(library_operator: Library) -> None:
    operator = library_operator("GridSample")
    call = Call({"X": RAMP, "grid": TIES.reshape(1, 7, 7, 2)}, {"mode": "nearest"})
    expected = run_by_onnxruntime("GridSample", call, 20)
    found = operator.results(call.case("ties", operator.operator.spec))
    assert_all_close("GridSample", found, expected)


@given(call=grid_sample_calls())
@settings(max_examples=40, deadline=None)
def test_grid_sample_like_onnx(library_operator: Library, call: Call) -> None:
    if (call.attributes["mode"], call.attributes["padding_mode"]) == ("cubic", "border"):
        return  # onnx moves locations to the border, onnxruntime and PyTorch pixels
    operator = library_operator("GridSample")
    found = operator.results(call.case("random", operator.operator.spec))
    assert_all_close("GridSample", found, run_by_onnx("GridSample", call, 20), atol=3e-6)


@pytest.mark.parametrize(
    "x", [np.array([2**31 - 1, 1], np.int32), np.array([-(2**31), -1, 5], np.int32)], ids=str
)
@pytest.mark.parametrize("exclusive", [0, 1])
def test_cum_sum_overflows_like_onnxruntime(
    library_operator: Library, x: Array, exclusive: int
) -> None:
    """Of PPLNN alone: librknnrt 1.6.0 has no integers."""
    operator = library_operator("CumSum")
    call = Call({"x": x, "axis": np.array(0)}, {"exclusive": exclusive})
    prepared = operator.operator.prepare(call.case("overflow", operator.operator.spec))
    result = operator.kernels["pplnn"].run(prepared.invocation)
    found = {"pplnn": result.outputs, "reference": prepared.expected}
    assert_all_close("CumSum", found, run_by_onnxruntime("CumSum", call, 14))


@pytest.mark.parametrize(
    "call",
    sampled(INVALID, lambda call: call.op_type),
    ids=lambda call: f"{call.op_type}: {call.problem}",
)
def test_invalid_call_is_refused(call: InvalidCall, library_operator: Library) -> None:
    outputs = {
        name: (each, np.dtype(np.float32)) if isinstance(each[0], int) else each
        for name, each in call.outputs.items()
    }
    case = Case("invalid", call.inputs, call.params)
    library_operator(call.op_type).assert_refused(case, outputs, call.problem)
