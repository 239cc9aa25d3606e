"""Test cases of TensorScatter, for every kernel: layouts x types.

`scons check` runs each case on the CPU kernel and compares with tensorscatter_reference.py.
"""

import numpy as np
import pytest
from tensorscatter_reference import output_shapes, reference

from opkit.testing import Case, check_cpu_kernel

LAYOUTS = [  # past_cache, update, write_indices, params
    ((1, 1), (1, 1), [0], {"axis": 1}),
    ((2, 3, 7, 5), (2, 3, 2, 5), [5, 0], {}),
    ((2, 3, 7, 5), (2, 3, 2, 5), [6, 3], {"mode": "circular"}),
    ((2, 3, 7, 5), (2, 3, 7, 5), [0, 0], {}),
    ((2, 3, 7, 5), (2, 3, 7, 5), [4, 700], {"mode": "circular"}),
    ((3, 4, 5), (3, 1, 5), [3, 0, 2], {"axis": -2}),
    ((3, 4, 5), (3, 4, 2), [3, 0, 2], {"axis": 2}),
    ((3, 4, 5), (3, 4, 2), [3, 0, 9], {"axis": -1, "mode": "circular"}),
    ((2, 3, 4), (2, 0, 4), [3, 0], {"axis": 1}),
    ((2, 4, 2, 3), (2, 3, 2, 3), [2, 5], {"axis": 1, "mode": "circular"}),
]


def cases():
    """Return a case of each layout and type; integers are exact as floats."""
    for dtype in (np.float32, np.float16, np.int32, np.int64):
        for cache, update, indices, params in LAYOUTS:
            random = np.random.default_rng(len(cache))
            arrays = {
                name: random.integers(-900, 900, shape).astype(dtype)
                for name, shape in (("past_cache", cache), ("update", update))
            }
            inputs = {**arrays, "write_indices": np.array(indices, np.int64)}
            yield Case(f"{cache} {update} {indices} {params} {dtype.__name__}", inputs, params)


CASES = [*cases()]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case)


def present(update, index, **params):
    """Return the reference's cache: 4 numbers with an update."""
    inputs = {
        "past_cache": np.zeros((1, 4), np.float32),
        "update": np.float32([update]),
        "write_indices": np.array([index]),
    }
    return reference(inputs, {"mode": "linear", "axis": 1, **params})["present_cache"][0].tolist()


def test_reference():
    assert present([1, 2], 0) == [1, 2, 0, 0]
    assert present([1, 2], 2) == [0, 0, 1, 2]
    assert present([1, 2, 3], 2, mode="circular") == [3, 0, 1, 2]
    assert present([1, 2], 9, mode="circular") == [0, 1, 2, 0]


@pytest.mark.parametrize(("index", "mode"), [(3, "linear"), (-1, "linear"), (-1, "circular")])
def test_indices_out_of_range_are_refused(index, mode):
    with pytest.raises(ValueError, match="write_indices must not be negative"):
        present([1, 2], index, mode=mode)


@pytest.mark.parametrize(
    ("shapes", "axis", "problem"),
    [
        ({}, 0, "axis must be a dimension"),
        ({}, 3, "axis must be a dimension"),
        ({}, -4, "axis must be a dimension"),
        ({"update": (2, 5, 5)}, 1, "update must have the shape"),
        ({"update": (2, 2, 4)}, 1, "update must have the shape"),
        ({"update": (2, 2)}, 1, "update must have the shape"),
        ({"write_indices": (1,)}, 1, "write_indices must be"),
        ({"write_indices": (2, 1)}, 1, "write_indices must be"),
    ],
)
def test_invalid_shapes_are_refused(shapes, axis, problem):
    valid = {"past_cache": (2, 4, 5), "update": (2, 2, 5), "write_indices": (2,)}
    with pytest.raises(ValueError, match=problem):
        output_shapes({**valid, **shapes}, {"mode": "linear", "axis": axis})


def test_updates_of_another_type_are_refused():
    inputs = {
        "past_cache": np.zeros((1, 4), np.float32),
        "update": np.zeros((1, 1), np.int32),
        "write_indices": np.array([0]),
    }
    with pytest.raises(ValueError, match="of the type of past_cache"):
        reference(inputs, {"mode": "linear", "axis": 1})
