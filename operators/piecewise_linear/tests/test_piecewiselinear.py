"""Test cases of PiecewiseLinear, for every kernel: shapes x values x params.

`scons check` runs each case on the CPU kernel and compares with piecewiselinear_reference.py.
"""

import numpy as np
import pytest
from piecewiselinear_reference import output_shapes, reference

from opkit.testing import cases, check_cpu_kernel, special, uniform, vary_params

HARD_SIGMOID = {"points": [-3.0, 3.0], "values": [0.0, 1.0]}
CURVE = {"points": [-2.0, -0.5, 0.0, 0.25, 4.0], "values": [1.5, -1.0, 0.1, 0.1, 1e3]}
CASES = cases(
    shapes=[{"x": (1,)}, {"x": (7, 31)}, {"x": (1, 6, 5, 3)}, {"x": (2, 1, 3, 1, 5)}],
    values=[uniform(-5, 5), special()],
    # The points and the values have one length, so they change together.
    params=[*vary_params(HARD_SIGMOID, points=[], values=[], outside=["extend"]), CURVE],
    dtype="float16",
)
FLOATS = cases(
    shapes=[{"x": (3, 1000)}],
    values=[uniform(-5, 5), special()],
    params=[CURVE, {**CURVE, "outside": "extend"}],
    dtype="float32",
)


@pytest.mark.parametrize("case", CASES + FLOATS, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=0)


def curve(x, **params):
    """Return the reference's values at a list of numbers."""
    settings = {"outside": "clamp", **params}
    return reference({"x": np.float32(x)}, settings)["y"].tolist()


def test_reference_points_have_their_values():
    assert curve(CURVE["points"], **CURVE) == pytest.approx(CURVE["values"])


def test_reference_outside():
    assert curve([-9, 0, 9], **HARD_SIGMOID) == [0, 0.5, 1]
    assert curve([-9, 0, 9], **HARD_SIGMOID, outside="extend") == [-1, 0.5, 2]


@pytest.mark.parametrize(
    "params",
    [
        {"points": [0.0], "values": [0.0]},
        {"points": [0.0, 0.0], "values": [0.0, 1.0]},
        {"points": [0.0, 1.0], "values": [0.0]},
        {**HARD_SIGMOID, "outside": "wrap"},
    ],
)
def test_invalid_curves_are_refused(params):
    with pytest.raises(ValueError, match="PiecewiseLinear: "):
        output_shapes({"x": (2,)}, {"outside": "clamp", **params})
