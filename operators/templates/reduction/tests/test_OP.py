{% set constants, tests = own.split("\n\n\n", 1) %}
"""Test cases of {{ spec.name }}, for every kernel: shapes x values x params.

`scons check` runs each case on the CPU kernel and compares with {{ lower }}_reference.py.
"""

import numpy as np
import pytest
from {{ lower }}_reference import NO_AXES, output_shapes, reference

from opkit.testing import Case, cases, check_cpu_kernel, integers, uniform

{{ constants }}

CASES = [
    case
    for dtype in ("float32", "float16")
    for case in cases(
        shapes=[{"data": (3, 4, 5, 6)}],
        values=[VALUES[0]],
        params=[
            {},
            {"keepdims": 0},
            {"noop_with_empty_axes": 1},
            {"axes": [-1]},
            {"axes": [0, 2], "keepdims": 0},
            {"axes": [3, 1]},
        ],
        dtype=dtype,
    )
]
# Long and short rows, many and few columns: each has a loop of its own.
SHAPES = cases(
    shapes=[
        {"data": shape}
        for shape in [(2, 1, 5), (3, 2500, 1), (2, 70, 3), (2, 9, 7), (2, 90, 40), (2, 150, 600)]
    ],
    values=VALUES,
    params=[{"axes": [1]}, {"axes": [0, 2]}],
    dtype="float32",
)
# Reductions of no elements, and outputs without elements.
EMPTY = cases(
    shapes=[{"data": (2, 0, 3)}],
    values=[uniform(-1, 1)],
    params=[{}, {"noop_with_empty_axes": 1}, {"axes": [1]}, {"axes": [0, -2], "keepdims": 0}],
    dtype="float32",
)
{% if "INTEGERS" in constants %}
WHOLE = [
    case
    for dtype in ("int32", "int64")
    for case in cases(
        shapes=[{"data": (3, 4, 5, 6)}, {"data": (2, 70, 1)}, {"data": (2, 3, 600)}],
        values=[INTEGERS],
        params=[{}, {"axes": [1]}, {"axes": [0, 2], "keepdims": 0}, {"noop_with_empty_axes": 1}],
        dtype=dtype,
    )
]
{% endif %}
NOT_FINITE = [
    Case(
        f"{element} at {place}",
        {"data": np.array([[element if i == place else 1 for i in range(21)]], np.float32)},
        {"axes": [axis]},
    )
    for element in (np.inf, -np.inf, np.nan, 1e38, -1e38)
    for axis, place in ((0, 0), (1, 0), (1, 13))  # 13: another lane of a vector
]


@pytest.mark.parametrize("case", CASES + SHAPES + EMPTY + {{ "WHOLE + " if "INTEGERS" in constants }}NOT_FINITE, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, **TOLERANCE)


def reduced(data, **params):
    """Return the reference's array."""
    settings = {"axes": NO_AXES, "keepdims": 1, "noop_with_empty_axes": 0, **params}
    return reference({"data": np.array(data, np.float32)}, settings)["reduced"].tolist()


{% if "np.int32" in own %}
def whole(data, dtype):
    """Return the reference's integers."""
    settings = {"axes": NO_AXES, "keepdims": 0, "noop_with_empty_axes": 0}
    return reference({"data": np.array(data, dtype)}, settings)["reduced"].tolist()


{% endif %}
{{ tests }}


@pytest.mark.parametrize(
    ("params", "problem"),
    [
        ({"axes": [2]}, "axes must be different dimensions"),
        ({"axes": [1, -1]}, "axes must be different dimensions"),
        ({"keepdims": 2}, "keepdims must be 0 or 1"),
        ({"noop_with_empty_axes": -1}, "noop_with_empty_axes must be 0 or 1"),
    ],
)
def test_invalid_params_are_refused(params, problem):
    settings = {"axes": NO_AXES, "keepdims": 1, "noop_with_empty_axes": 0, **params}
    with pytest.raises(ValueError, match=problem):
        output_shapes({"data": (2, 3)}, settings)


{% if "np.int32" in own %}
def test_other_types_are_refused():
    with pytest.raises(ValueError, match="data must be float16, float32, int32, uint32 or int64"):
        reference({"data": np.ones(2, np.int16)}, {})
{% else %}
def test_integers_are_refused():
    with pytest.raises(ValueError, match="must be float16 or float32"):
        reference({"data": np.ones(2, np.int32)}, {})
{% endif %}
