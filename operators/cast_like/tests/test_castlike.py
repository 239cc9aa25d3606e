"""Test cases of CastLike, for every kernel: types of the input x numbers.

`scons check` runs each case on the CPU kernel and compares with castlike_reference.py. The type of
the output is that of op.yml.
"""

from pathlib import Path

import numpy as np
import pytest
from castlike_reference import output_shapes, reference

from opkit.testing import Case, Operator, cases, check_cpu_kernel, integers, special, uniform

SPEC = Operator(Path(__file__).parents[1]).spec
DTYPE = SPEC.outputs[0].dtype
# RKNN-Toolkit2 has no such tensors.
SMALL = {
    "int8": [integers(-128, 127)],
    "uint8": [integers(0, 255)],
    "int16": [integers(-(2**15), 2**15 - 1)],
    "uint16": [integers(0, 2**16 - 1)],
    "uint32": [integers(0, 2**32 - 1)],
}
# Beyond 2^24, librknnrt 1.6.0 does not hand over integers.
NUMBERS = {
    "float16": [uniform(-300, 300)],
    "float32": [uniform(-300, 300), *([special()] if DTYPE != "float32" else [])],
    "int32": [integers(-(2**24), 2**24 - 1)],
    "int64": [integers(-(2**24), 2**24 - 1)],
    "bool": [integers(0, 1)],
    **(SMALL if "pplnn" in SPEC.runtimes else {}),
}
CASES = [
    case
    for dtype, values in NUMBERS.items()
    for case in cases(
        shapes=[{"input": (1,), "target_type": (1,)}, {"input": (3, 7, 55), "target_type": (2, 1)}],
        values=[{"input": each, "target_type": integers(0, 1)} for each in values],
        dtype={"input": dtype, "target_type": DTYPE, "output": DTYPE},
    )
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case)


def cast(x, from_, to):
    """Return the reference's elements; kernels compute the same if op.yml has the type."""
    inputs = {"input": np.array(x, from_), "target_type": np.zeros(1, to)}
    if np.dtype(to) == DTYPE:
        check_cpu_kernel(Case("given", inputs, {}))
    assert output_shapes({"input": (5, 2)}, {}) == {"output": (5, 2)}
    return reference(inputs, {})["output"].tolist()


def test_fractions_are_dropped():
    assert cast([1.9, -1.9, 0.5, 300.2], np.float32, np.int32) == [1, -1, 0, 300]


def test_floats_saturate():
    x = [1e30, -1e30, np.inf, -np.inf, np.nan]
    for dtype in (np.int32, np.int64):
        limits = np.iinfo(dtype)
        ends = [limits.max, limits.min]
        assert cast(x, np.float32, dtype) == [*ends, *ends, 0]


def test_integers_lose_their_upper_bits():
    assert cast([2**40 + 7, -1, 2**31], np.int64, np.int32) == [7, -1, -(2**31)]
    assert cast([2**32 - 1, 5], np.uint32, np.int32) == [-1, 5]


def test_integers_as_floats():
    assert cast([2**24 + 1, -3], np.int64, np.float32) == [2**24, -3]
    assert cast([True, False], np.bool_, np.float32) == [1, 0]


def test_other_types_are_refused():
    with pytest.raises(ValueError, match="target_type must be float16, float32, int32 or int64"):
        cast([1], np.float32, np.int8)
