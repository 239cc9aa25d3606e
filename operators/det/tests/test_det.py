"""Test cases of Det, for every kernel: shapes x values.

`scons check` runs each case on the CPU kernel and compares with det_reference.py.
"""

import itertools

import numpy as np
import pytest
from det_reference import output_shapes, reference

from opkit.testing import Case, cases, check_cpu_kernel, integers, ramp, uniform

CASES = [
    case
    for dtype in ("float32", "float16")
    for case in cases(
        shapes=[{"x": (side, side)} for side in (1, 2, 3, 5, 40)] + [{"x": (2, 3, 4, 4)}],
        values=[uniform(-1, 1), integers(-1, 1)],
        dtype=dtype,
    )
]
SINGULAR = cases(shapes=[{"x": (4, 4)}], values=[ramp()], dtype="float32")
NOT_FINITE = [
    Case(f"1, ..., {last} of {side}", {"x": np.diag(np.float32([1] * (side - 1) + [last]))})
    for last in (np.inf, -np.inf, np.nan)
    for side in (1, 2, 3)
]
SPECIAL = (-np.inf, -1, 0, 1, np.inf, np.nan)


def special_matrices(side, count, share):
    """Return random matrices of side x side with a share of elements for each special value."""
    rest = 1 - 3 * share
    shares = [share, 0.3 * rest, 0.3 * rest, 0.4 * rest, share, share]
    random = np.random.default_rng(side)
    return random.choice(np.float32(SPECIAL), (count, side, side), p=shares)


NOT_FINITE += [
    Case("all of 2", {"x": np.float32([*itertools.product(SPECIAL, repeat=4)]).reshape(-1, 2, 2)}),
    Case("some of 3", {"x": special_matrices(3, 2000, 0.1)}),
    Case("some of 5", {"x": special_matrices(5, 500, 0.02)}),
]


# Both compute in double, in another order: near 0, the errors are those of the products.
@pytest.mark.parametrize("case", CASES + SINGULAR + NOT_FINITE, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=1, max_error=1e-12)


def determinants(matrices):
    """Return the reference's determinants."""
    return reference({"x": np.array(matrices, np.float32)}, {})["y"]


def test_reference():
    assert determinants([[2]]).tolist() == [2]
    assert determinants([[1, 2], [3, 4]]).tolist() == pytest.approx([-2])
    assert determinants([[[0, 1], [1, 0]], [[1, 2], [2, 4]]]).tolist() == pytest.approx([-1, 0])
    assert determinants([[np.inf, 1], [1, 0]]).tolist() == [0]
    assert np.isnan(determinants([[np.nan, 0], [1, 0]])).all()


@pytest.mark.parametrize("shape", [(4,), (2, 3), (3, 3, 2)])
def test_other_shapes_are_refused(shape):
    with pytest.raises(ValueError, match="x must be square matrices"):
        output_shapes({"x": shape}, {})


def test_integers_are_refused():
    with pytest.raises(ValueError, match="must be float16 or float32"):
        reference({"x": np.ones((2, 2), np.int32)}, {})
