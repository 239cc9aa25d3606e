"""Test cases of BitShift, for every kernel: shapes x dtypes x directions.

`scons check` runs each case on the CPU kernel and compares with bitshift_reference.py.
"""

import numpy as np
import pytest
from bitshift_reference import output_shapes, reference

from opkit.testing import cases, check_cpu_kernel, uniform

SHAPES = [
    {"x": (1,), "y": (1,)},
    {"x": (7, 331), "y": (7, 331)},
    {"x": (1, 6, 5, 30), "y": (30,)},
    {"x": (4, 1, 5), "y": (6, 1)},
    {"x": (1,), "y": (4, 25)},
]
DIRECTIONS = [{"direction": "LEFT"}, {"direction": "RIGHT"}]
CASES = [
    case
    for dtype in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64")
    for case in cases(
        shapes=SHAPES,
        values=[
            {
                "x": uniform(np.iinfo(dtype).min, np.iinfo(dtype).max),
                "y": uniform(-2 if np.iinfo(dtype).min else 0, 8 * np.dtype(dtype).itemsize + 2),
            }
        ],
        params=DIRECTIONS,
        dtype=dtype,
    )
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case)


def shifted(x, y, direction, dtype):
    """Return the reference's values."""
    inputs = {"x": np.array(x, dtype), "y": np.array(y, dtype)}
    return reference(inputs, {"direction": direction})["z"].tolist()


def test_reference_of_unsigned_integers():
    assert shifted([16, 4, 255, 255], [1, 2, 7, 8], "RIGHT", np.uint8) == [8, 1, 1, 0]
    assert shifted([16, 4, 255, 255], [1, 2, 7, 8], "LEFT", np.uint8) == [32, 16, 128, 0]


def test_reference_of_signed_integers():
    assert shifted([-8, 4, -1, 100], [1, -1, 8, 2], "RIGHT", np.int8) == [-4, 0, -1, 25]
    assert shifted([-8, 4, -1, 100], [1, -1, 8, 2], "LEFT", np.int8) == [-16, 0, 0, -112]


def test_limits():
    low, high = -(2**63), 2**63 - 1
    assert shifted([low, high, low], [63, 62, 64], "RIGHT", np.int64) == [-1, 1, -1]
    assert shifted([1, high, low], [63, 1, 1], "LEFT", np.int64) == [low, -2, 0]


def test_floats_are_refused():
    with pytest.raises(ValueError, match="x and y must be integers"):
        shifted([1], [1], "LEFT", np.float32)


def test_mixed_types_are_refused():
    with pytest.raises(ValueError, match="must be of one type"):
        reference({"x": np.int32([1]), "y": np.int64([1])}, {"direction": "LEFT"})


def test_mismatched_shapes_are_refused():
    with pytest.raises(ValueError, match="shape mismatch"):
        output_shapes({"x": (2, 3), "y": (2,)}, {"direction": "LEFT"})
