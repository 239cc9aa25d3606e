"""Test cases of Exp for the VX kernel of RKNN-Toolkit 1.x, which takes halves."""

import numpy as np
import pytest

from opkit.testing import Case, cases, check_vx_kernel, run_vx_kernel, special, uniform

SHAPES = [{"input": (1,)}, {"input": (7, 31)}, {"input": (2, 1, 3, 1, 5, 1)}]
CASES = cases(
    shapes=SHAPES,
    values=[uniform(-1, 1), uniform(-18, 12), special()],
    dtype="float16",
)
ALL_HALVES = np.arange(2**16, dtype=np.uint16).view(np.float16)
CASES += [Case("all-halves", {"input": ALL_HALVES})]
SINGLE = cases(shapes=SHAPES[:1], values=[uniform(-1, 1)], dtype="float32")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_vx_kernel(case):
    check_vx_kernel(case, max_ulp=1)


def test_vx_kernel_refuses_float32():
    problem = run_vx_kernel(SINGLE[0]).problem
    assert "parameter 'input': it holds VX_TYPE_FLOAT32; the VX kernel is for FLOAT16" in problem
