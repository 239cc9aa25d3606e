"""Inverse, which ONNX lacks: against onnxruntime's operator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from onnx import helper

from opkit.check.cases import Case
from opkit.runtimes.invocation import Array
from tests.models.models import model, value
from tests.operators.calls.common import floats
from tests.operators.conftest import Library
from tests.operators.oracle import run_model

pytestmark = [pytest.mark.slow, pytest.mark.nightly]


@st.composite
def matrices(draw: Any) -> Array:
    """Return matrices whose inverses are exact to some digits: the diagonal is large."""
    shape = draw(st.sampled_from([(), (3,), (2, 2)]))
    size = draw(st.integers(1, 9))
    x: Array = draw(hnp.arrays(np.float32, (*shape, size, size), elements=floats(-1, 1)))
    order = draw(st.permutations(range(size)))  # of the rows, which are exchanged back
    found: Array = (x + 2 * size * np.eye(size, dtype=np.float32))[..., order, :]
    return found


@given(x=matrices())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_like_onnxruntime(library_operator: Library, x: Array) -> None:
    node = helper.make_node("Inverse", ["x"], ["y"], domain="com.microsoft")
    proto = model([node], [value("x", x.shape)], [value("y", None)], domains=["com.microsoft"])
    [expected] = run_model(proto, {"x": x})
    for name, outputs in library_operator("Inverse").results(Case("random", {"x": x})).items():
        np.testing.assert_allclose(outputs["y"], expected, 2e-6, 1e-7, err_msg=name)


@pytest.mark.parametrize(
    ("shape", "problem"),
    [((2, 3), "x must be square matrices"), ((33, 33), "x must be matrices of up to 32 rows")],
)
def test_invalid_calls_are_refused(library_operator: Library, shape: Any, problem: str) -> None:
    case = Case("invalid", {"x": np.zeros(shape, np.float32)})
    library_operator("Inverse").assert_refused(case, {"y": (shape, np.float32)}, problem)
