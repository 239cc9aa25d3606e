"""Test cases of InstanceNormalization, for every kernel: shapes x values x params.

`scons check` runs each case on the CPU kernel and compares with
instancenormalization_reference.py.
"""

import numpy as np
import pytest
from instancenormalization_reference import output_shapes, reference

from opkit.testing import Case, cases, check_cpu_kernel, uniform

CASES = [
    case
    for dtype in ("float32", "float16")
    for case in cases(
        shapes=[
            {"input": (*shape, 5, 6), "scale": shape[1:2], "b": shape[1:2]}
            for shape in [(2, 3), (1, 4, 2), (1, 1, 20)]
        ]
        + [{"input": (3, 2, 1), "scale": (2,), "b": (2,)}],
        values=[uniform(-1, 1), uniform(100, 101)],
        params=[{}, {"epsilon": 0.1}],
        dtype=dtype,
    )
]
CHANNELS = {"scale": np.array([1, 2], np.float32), "b": np.array([3, 4], np.float32)}
NOT_FINITE = [
    Case(
        str(element),
        {"input": np.array([[[element] + [1] * 19, [*range(20)]]], np.float32), **CHANNELS},
    )
    for element in (np.inf, -np.inf, np.nan)
]


# The parts of output, up to 400 in these cases, are each rounded to 2^-24 of them; they may cancel.
@pytest.mark.parametrize("case", CASES + NOT_FINITE, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=4, max_error=1e-4)


def test_reference():
    tensors = {"input": np.array([[[1, 3], [5, 9]]], np.float32), **CHANNELS}
    assert reference(tensors, {"epsilon": 0.0})["output"].tolist() == [[[2, 4], [2, 6]]]
    tensors["input"] = np.array([[[1, 3], [2, 2]]], np.float32)
    assert reference(tensors, {"epsilon": 3.0})["output"].tolist() == [[[2.5, 3.5], [4, 4]]]


@pytest.mark.parametrize(
    ("shape", "scale", "problem"),
    [
        ((2, 3), (3,), "with 3 dimensions or more"),
        ((2, 3, 4), (2,), "scale and b must have an element for each channel"),
        ((2, 3, 4), (1, 3), "scale and b must have an element for each channel"),
    ],
)
def test_invalid_shapes_are_refused(shape, scale, problem):
    with pytest.raises(ValueError, match=problem):
        output_shapes({"input": shape, "scale": scale, "b": scale}, {"epsilon": 0.0})


def test_integers_are_refused():
    with pytest.raises(ValueError, match="must be float16 or float32"):
        reference(dict.fromkeys(("input", "scale", "b"), np.ones((1, 1, 2), np.int32)), {})
