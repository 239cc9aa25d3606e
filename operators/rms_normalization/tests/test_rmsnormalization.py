"""Test cases of RMSNormalization, for every kernel: shapes x values x params.

`scons check` runs each case on the CPU kernel and compares with rmsnormalization_reference.py.
"""

import numpy as np
import pytest
from rmsnormalization_reference import output_shapes, reference

from opkit.testing import Case, cases, check_cpu_kernel, uniform

CASES = [
    case
    for dtype in ("float32", "float16")
    for shape, axis in [
        ((2, 3, 4, 5), 2),
        ((2, 3, 4, 5), 0),
        ((2, 3, 4, 5), -1),
        ((1, 7, 768), -1),
        ((9, 1), 1),
    ]
    for case in cases(
        shapes=[{"x": shape, "scale": shape[axis:]}],
        values=[uniform(-1, 1), uniform(100, 101)],
        params=[{"axis": axis}, {"axis": axis, "epsilon": 0.1}],
        dtype=dtype,
    )
]
NOT_FINITE = [
    Case(
        str(element),
        {
            "x": np.array([[element] + [1] * 19, [*range(20)]], np.float32),
            "scale": np.ones(20, np.float32),
        },
    )
    for element in (np.inf, -np.inf, np.nan)
]


# Sum, factor and two products are rounded to float; nothing cancels.
@pytest.mark.parametrize("case", CASES + NOT_FINITE, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=4)


def normalized(x, axis=-1, scale=None, epsilon=0.0):
    """Return the reference's output; by default with the scale 1."""
    x = np.array(x, np.float32)
    scale = np.ones(x.shape[axis:], np.float32) if scale is None else np.float32(scale)
    params = {"axis": axis, "epsilon": epsilon, "stash_type": 1}
    return reference({"x": x, "scale": scale}, params)["y"].tolist()


def test_reference():
    assert normalized([[1, -7], [3, 3]]) == pytest.approx(np.array([[0.2, -1.4], [1, 1]]))
    assert normalized([[1, -7], [7, 1]], axis=0) == pytest.approx(
        np.array([[0.2, -1.4], [1.4, 0.2]])
    )
    assert normalized([[3, -3]], scale=[2, 4]) == [[2, -4]]
    assert normalized([[1, -1]], epsilon=3.0) == [[0.5, -0.5]]


@pytest.mark.parametrize(
    ("scale", "params", "problem"),
    [
        ((3,), {"axis": 2}, "axis must be a dimension of x"),
        ((3,), {"stash_type": 16}, "stash_type must be 1"),
        ((2,), {}, "scale must have the dimensions of x from axis on"),
        ((1,), {}, "it is not broadcast"),
        ((3,), {"axis": 0}, "scale must have the dimensions of x from axis on"),
    ],
)
def test_invalid_calls_are_refused(scale, params, problem):
    with pytest.raises(ValueError, match=problem):
        output_shapes(
            {"x": (2, 3), "scale": scale}, {"axis": -1, "epsilon": 0.0, "stash_type": 1, **params}
        )


def test_integers_are_refused():
    with pytest.raises(ValueError, match="must be float16 or float32"):
        reference({"x": np.ones(2, np.int32), "scale": np.ones(2, np.float32)}, {})
