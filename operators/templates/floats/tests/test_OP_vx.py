{% set input = spec.inputs[0].name %}
"""Test cases of {{ spec.name }} for the VX kernel of RKNN-Toolkit 1.x, which takes halves."""

import pytest
from test_{{ lower }} import HALVES, HALVES_ULP{{ ", PARAMS" if spec.params }}

from opkit.testing import cases, check_vx_kernel

CASES = cases(
    shapes=[{"{{ input }}": (8,)}, {"{{ input }}": (7, 31)}, {"{{ input }}": (1, 6, 5, 3)}],
    values=HALVES,
{% if spec.params %}
    params=PARAMS,
{% endif %}
    dtype="float16",
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_vx_kernel(case):
    check_vx_kernel(case, max_ulp=HALVES_ULP)
