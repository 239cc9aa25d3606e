"""Test cases of RowMean, for every kernel: shapes x values.

`scons check` runs each case on both kernels and compares with rowmean_reference.py.
"""

import numpy as np
import pytest
from rowmean_reference import output_shapes, reference

from opkit.testing import cases, check_cpu_kernel, check_vx_kernel, special, uniform

# A work group of the VX kernel adds up 128 elements per step: rows of less, equal and more.
SHAPES = [
    {"input": (1,)},
    {"input": (7, 31)},
    {"input": (1, 6, 5, 3)},
    {"input": (3, 1, 128)},
    {"input": (2, 4, 300)},
    {"input": (2, 1, 3, 1, 5, 130)},
]
CASES = cases(
    shapes=SHAPES, values=[uniform(-1, 1), uniform(0, 60000)], params=[{}], dtype="float16"
)
SPECIAL = cases(shapes=SHAPES, values=[special()], params=[{}], dtype="float16")


@pytest.mark.parametrize("case", CASES + SPECIAL, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=1)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_vx_kernel(case):
    check_vx_kernel(case, max_ulp=1, max_error=1e-5)


@pytest.mark.parametrize("case", SPECIAL, ids=str)
def test_vx_kernel_special_values(case):
    # The kernel adds in float: near 65504, the unit in the last place is 2**-8.
    check_vx_kernel(case, max_ulp=1, max_error=2**-8)


def test_reference():
    array = np.array([[1, 2, 6], [-1, 0, 1]], np.float32)
    assert reference({"input": array}, {})["output"].tolist() == [[3], [0]]


def test_reference_sum_exceeds_float16():
    array = np.full((1, 1000), 60000, np.float32)
    assert reference({"input": array}, {})["output"].tolist() == [[60000]]


def test_last_dimension_is_kept():
    assert output_shapes({"input": (2, 3, 4)}, {}) == {"output": (2, 3, 1)}
    assert output_shapes({"input": (4,)}, {}) == {"output": (1,)}
