"""Test cases of MeanVarianceNormalization, for every kernel: shapes x values x params.

`scons check` runs each case on the CPU kernel and compares with
meanvariancenormalization_reference.py.
"""

import numpy as np
import pytest
from meanvariancenormalization_reference import output_shapes, reference

from opkit.testing import Case, cases, check_cpu_kernel, uniform

CASES = [
    case
    for dtype in ("float32", "float16")
    for case in cases(
        shapes=[{"x": (2, 3, 7, 9)}, {"x": (3, 300, 2, 2)}],
        values=[uniform(-1, 1), uniform(100, 101)],
        params=[{}, {"axes": [2, 3]}, {"axes": [0, 2]}, {"axes": [-1]}, {"axes": [1]}],
        dtype=dtype,
    )
]
WIDE = cases(
    shapes=[{"x": (9, 600)}, {"x": (1, 600)}],
    values=[uniform(-1, 1)],
    params=[{"axes": [0]}, {"axes": [0, 1]}],
    dtype="float32",
)
NOT_FINITE = [
    Case(str(element), {"x": np.array([[element] + [1] * 20, [*range(21)]], np.float32)}, params)
    for element in (np.inf, -np.inf, np.nan)
    for params in ({"axes": [0]}, {"axes": [1]})
]


# The parts of y are each rounded to 2^-24 of them. They cancel near the mean, also where all
# elements are equal.
@pytest.mark.parametrize("case", CASES + WIDE + NOT_FINITE, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=4, max_error=2e-6)


def normalized(x, axes):
    """Return the reference's output."""
    return reference({"x": np.array(x, np.float32)}, {"axes": axes})["y"].tolist()


def test_reference():
    assert normalized([[1, 3], [5, 9]], [1]) == pytest.approx(np.array([[-1, 1], [-1, 1]]))
    assert normalized([[1, 3], [5, 9]], [-2]) == pytest.approx(np.array([[-1, -1], [1, 1]]))
    assert normalized([[1, 3], [3, 1]], [0, 1]) == pytest.approx(np.array([[-1, 1], [1, -1]]))
    assert normalized([[7, 7]], [1]) == [[0, 0]]


@pytest.mark.parametrize("axes", [[0, 2, 3], [-4], [1, -2]])
def test_invalid_axes_are_refused(axes):
    with pytest.raises(ValueError, match="axes must be different dimensions"):
        output_shapes({"x": (2, 3, 4)}, {"axes": axes})


def test_integers_are_refused():
    with pytest.raises(ValueError, match="must be float16 or float32"):
        reference({"x": np.ones((1, 2), np.int32)}, {"axes": [0]})
