"""Test cases of Inverse, for every kernel: shapes x values.

`scons check` runs each case on the CPU kernel and compares with inverse_reference.py.
"""

import numpy as np
import pytest
from inverse_reference import output_shapes, reference

from opkit.testing import Case, cases, check_cpu_kernel, integers, uniform

CASES = [
    case
    for dtype in ("float16", "float32")
    for case in cases(
        shapes=[{"x": (side, side)} for side in (1, 2, 3, 4, 17, 32)] + [{"x": (2, 3, 5, 5)}],
        values=[uniform(-1, 1), uniform(-100, 100)],
        dtype=dtype,
    )
]
PIVOTS = cases(
    shapes=[{"x": (200, 2, 2)}, {"x": (200, 3, 3)}],
    # Many zeros on the diagonal, many singular; no step rounds, so that these are so for all.
    values=[integers(-1, 1)],
    dtype="float32",
)
PAIRS = np.random.default_rng(0).uniform(-1, 1, (100, 3, 3)).astype(np.float32)
PAIRS[:, :, 2] = PAIRS[:, :, 0]
SINGULAR = [
    # LAPACK's rounding often makes the last pivot of these a number near 0.
    Case("equal columns", {"x": PAIRS}),
    Case("equal rows of three", {"x": PAIRS.swapaxes(1, 2)}),
]
SINGULAR += [
    Case(name, {"x": np.array([matrix, [[2, 1], [1, 1]]], np.float32)})
    for name, matrix in [
        ("equal rows", [[1, 2], [1, 2]]),
        ("zeros", [[0, 0], [0, 0]]),
        ("a column of zeros", [[0, 3], [0, 5]]),
        ("infinite", [[np.inf, 1], [1, 2]]),
        ("infinite, not a pivot", [[1, 2], [0, -np.inf]]),
        ("not a number", [[1, 2], [np.nan, 1]]),
        ("not a number, not a pivot", [[1, np.nan], [0, 2]]),
        ("small and large", [[1e-30, 0], [0, 1e30]]),
        ("no float", [[1e-42, 1], [0, 1]]),
    ]
]


# By the same steps in double; compilers may fuse some: where terms cancel, the errors are those of
# the terms.
@pytest.mark.parametrize("case", CASES + PIVOTS + SINGULAR, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=1, max_error=1e-13)


def inverse(matrices):
    """Return the reference's inverses."""
    return reference({"x": np.array(matrices, np.float32)}, {})["y"].tolist()


def test_reference():
    assert inverse([[4]]) == [[0.25]]
    assert inverse([[0, 2], [1, 0]]) == [[0, 1], [0.5, 0]]
    assert inverse([[[1, 1], [0, 1]], [[1, 0], [2, 1]]]) == [[[1, -1], [0, 1]], [[1, 0], [-2, 1]]]
    assert np.isnan(inverse([[1, 2], [2, 4]])).all()
    matrix = np.random.default_rng(0).uniform(-1, 1, (32, 32)).astype(np.float32)
    np.testing.assert_allclose(inverse(matrix), np.linalg.inv(matrix.astype(np.float64)), 1e-6)


@pytest.mark.parametrize("shape", [(4,), (2, 3), (3, 3, 2)])
def test_other_shapes_are_refused(shape):
    with pytest.raises(ValueError, match="x must be square matrices"):
        output_shapes({"x": shape}, {})


def test_large_matrices_are_refused():
    with pytest.raises(ValueError, match="x must be matrices of up to 32 rows, not 33"):
        output_shapes({"x": (33, 33)}, {})


def test_integers_are_refused():
    with pytest.raises(ValueError, match="must be float16 or float32"):
        reference({"x": np.ones((2, 2), np.int32)}, {})
