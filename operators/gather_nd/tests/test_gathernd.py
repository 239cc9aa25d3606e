"""Test cases of GatherND, for every kernel: shapes x values x params.

`scons check` runs each case on the CPU kernel and compares with gathernd_reference.py.
"""

import numpy as np
import pytest
from gathernd_reference import output_shapes, reference

from opkit.testing import cases, check_cpu_kernel, integers, ramp

SLICES = cases(
    shapes=[
        {"data": (4, 5, 6), "indices": (7, 2, 1)},
        {"data": (4, 5, 6), "indices": (40, 3)},  # elements
        {"data": (4, 5), "indices": (2,)},  # a single element
    ],
    values=[{"data": ramp(), "indices": integers(-4, 3)}],
    dtype={"data": "float32", "indices": "int64", "output": "float32"},
)
BATCHES = [
    case
    for dtype in ("float16", "int32", "int64")
    for shapes, params in [
        ({"data": (2, 3, 4, 5), "indices": (2, 3, 7, 2)}, {"batch_dims": 2}),
        ({"data": (2, 4, 5), "indices": (2, 3, 1)}, {"batch_dims": 1}),
        ({"data": (2, 4, 1, 4, 2, 3), "indices": (2, 3, 1)}, {"batch_dims": 1}),  # the largest rank
    ]
    for case in cases(
        shapes=[shapes],
        values=[{"data": ramp(), "indices": integers(-4, 3)}],
        params=[params],
        dtype={"data": dtype, "indices": "int64", "output": dtype},
    )
]


# Elements are copied.
@pytest.mark.parametrize("case", SLICES + BATCHES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=0)


def gather(data, indices, batch_dims=0):
    """Return the reference's output."""
    tensors = {"data": np.array(data), "indices": np.array(indices)}
    settings = {"batch_dims": batch_dims}
    output_shapes({name: array.shape for name, array in tensors.items()}, settings)
    return reference(tensors, settings)["output"].tolist()


DATA = [[1, 2], [3, 4]]


def test_reference():
    assert gather(DATA, [[1], [-2]]) == [[3, 4], [1, 2]]
    assert gather(DATA, [[1, 0], [0, -1]]) == [3, 2]
    assert gather(DATA, [1, 1]) == [4]
    assert gather(DATA, [[1], [0]], batch_dims=1) == [2, 3]


@pytest.mark.parametrize(
    ("indices", "batch_dims", "problem"),
    [
        ([[0]], 2, "batch_dims must be 0 or more"),
        ([[0]], -1, "batch_dims must be 0 or more"),
        ([[0, 0, 0]], 0, "must be 1 to the rank of data minus batch_dims, not 3"),
        ([[0]], 1, "the same first batch_dims dimensions"),
        ([[2]], 0, "indices must be within data"),
        ([[-3]], 0, "indices must be within data"),
    ],
)
def test_invalid_calls_are_refused(indices, batch_dims, problem):
    with pytest.raises(ValueError, match=problem):
        gather(DATA, indices, batch_dims)


def test_output_of_too_many_dimensions_is_refused():
    with pytest.raises(ValueError, match="at most 6 dimensions"):
        output_shapes({"data": (2, 3, 4), "indices": (1, 1, 1, 1, 1, 1)}, {"batch_dims": 0})
