"""MatMulNBits, which ONNX lacks: against onnxruntime's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import helper

from opkit.check.cases import Case
from opkit.runtimes.invocation import Array
from rknn_op.models.model_files import required
from tests.models.models import model, value
from tests.operators.oracle import Built

pytestmark = [pytest.mark.slow, pytest.mark.nightly]


@st.composite
def cases(draw: Any) -> Case:
    """Return calls whose zero points are packed; onnxruntime computes all in float32."""
    rows, terms, columns = (
        draw(st.integers(1, 9)),
        draw(st.integers(1, 700)),
        draw(st.integers(1, 40)),
    )
    bits = draw(st.sampled_from([4, 8]))
    block_size = draw(st.sampled_from([16, 32, 64, 128, 256]))
    blocks = -(-terms // block_size)
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    inputs = {
        "a": random.uniform(-1, 1, (rows, terms)).astype(np.float32),
        "b": random.integers(0, 256, (columns, blocks, block_size * bits // 8), np.uint8),
        "scales": random.uniform(-0.1, 0.1, (columns, blocks)).astype(np.float32),
        "zero_points": random.integers(0, 256, (columns, -(-blocks * bits // 8)), np.uint8),
    }
    params = {"K": terms, "N": columns, "bits": bits, "block_size": block_size}
    return Case("random", inputs, {**params, "accuracy_level": 0})


def by_onnxruntime(case: Case) -> Array:
    """Return the output of onnxruntime."""
    node = helper.make_node(
        "MatMulNBits", [*case.inputs], ["y"], domain="com.microsoft", **case.params
    )
    proto = model(
        [node],
        [
            value(name, array.shape, helper.np_dtype_to_tensor_dtype(array.dtype))
            for name, array in case.inputs.items()
        ],
        [value("y", None)],
        domains=["com.microsoft"],
    )
    session = required("onnxruntime").InferenceSession(
        proto.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    [found] = session.run(None, {**case.inputs})
    expected: Array = found
    return expected


# Sums of up to 700 products of numbers up to 1 and 26, whose order differs.
@given(case=cases())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_like_onnxruntime(library_operator: Callable[[str], Built], case: Case) -> None:
    expected = by_onnxruntime(case)
    for name, outputs in library_operator("MatMulNBits").results(case).items():
        np.testing.assert_allclose(outputs["y"], expected, 1e-6, 2e-4, err_msg=name)


@pytest.mark.parametrize(
    ("changed", "params", "problem"),
    [
        ({"a": np.zeros((3, 31), np.float32)}, {}, "a must be"),
        ({"b": np.zeros((5, 2, 4), np.uint8)}, {}, "b must be"),
        ({"b": np.zeros((5, 2, 8), np.int8)}, {}, "b must be uint8"),
        ({"scales": np.zeros((5, 1), np.float32)}, {}, "scales must be"),
        ({"zero_points": np.zeros((5, 2), np.uint8)}, {}, "zero_points must be packed"),
        ({}, {"K": 0}, "K and N must be above 0"),
    ],
)
def test_invalid_call_is_refused(
    library_operator: Callable[[str], Built],
    changed: dict[str, Array],
    params: dict[str, int],
    problem: str,
) -> None:
    inputs: dict[str, Array] = {
        "a": np.zeros((3, 32), np.float32),
        "b": np.zeros((5, 2, 8), np.uint8),
        "scales": np.zeros((5, 2), np.float32),
        "zero_points": np.zeros((5, 1), np.uint8),
    }
    settings_ = {"K": 32, "N": 5, "bits": 4, "block_size": 16, "accuracy_level": 0}
    case = Case("invalid", {**inputs, **changed}, {**settings_, **params})
    shapes = {"y": ((3, 5), np.dtype(np.float32))}
    library_operator("MatMulNBits").assert_refused(case, shapes, problem)
