"""Test cases of BitCast, for every kernel: shapes x types of the input.

`scons check` runs each case on the CPU kernel and compares with bitcast_reference.py. The type of
the output is that of op.yml.
"""

from pathlib import Path

import numpy as np
import pytest
from bitcast_reference import TYPES, output_shapes, reference

from opkit.testing import Case, Operator, check_cpu_kernel

DTYPE = np.dtype(Operator(Path(__file__).parents[1]).spec.outputs[0].dtype)
NUMBERS = {name: number for number, name in TYPES.items()}
OF_ONE_SIZE = [name for name in NUMBERS if np.dtype(name).itemsize == DTYPE.itemsize]


def cases():
    """Return a case of each shape and type of the size: small integers are no NaN as floats."""
    for shape in [(1,), (7, 331), (1, 6, 5, 3)]:
        for dtype in OF_ONE_SIZE:
            limits = (-1000, 1000) if dtype == "float32" else (0, 127)
            x = np.random.default_rng(0).integers(*limits, shape).astype(dtype)
            yield Case(f"{shape} {dtype}", {"input": x}, {"to": NUMBERS[DTYPE.name]})


CASES = [*cases()]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case)


def cast(x, from_, to):
    """Return the reference's elements."""
    assert output_shapes({"input": (5, 2)}, {}) == {"output": (5, 2)}
    return reference({"input": np.array(x, from_)}, {"to": NUMBERS[to]})["output"].tolist()


def test_reference():
    assert cast([1, -2], "float32", "int32") == [0x3F800000, -0x40000000]
    assert cast([0x3F800000], "uint32", "float32") == [1]
    assert cast([-1, 5], "int8", "uint8") == [255, 5]
    assert cast([True, False], "bool", "uint8") == [1, 0]


def test_other_sizes_are_refused():
    with pytest.raises(ValueError, match="of the size of input's"):
        cast([1, 2], "int64", "int32")
