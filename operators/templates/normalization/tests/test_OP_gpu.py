"""The cases of {{ spec.name }} on the GPU kernel."""

import pytest
from test_{{ lower }} import CASES, NOT_FINITE

from opkit.testing import check_gpu_kernel


# A work item sums every 64th element of a row in float32, and 6 steps add the sums of the items:
# 18 roundings in a row of 768 elements.
{% if spec.inputs|length == 3 %}
# The largest cases have elements, scales and biases from 100 to 101. An error of the mean is
# multiplied by 3.5, the inverse of their deviation, and by 101: 18 * 2^-24 become 4e-4. The factor
# has 8 ulp at most (18 / 4 of the variance behind the root, 2 of rsqrt, 1 of its products), which
# is 2e-4 of y - b, up to 175. Roundings of random signs add up to less than half of both.
{% set tolerance = "max_ulp=4, max_error=3e-4" %}
{% else %}
# They are 4.5 ulp of the sum behind the root; rsqrt has 2, and two products 1. Nothing cancels.
{% set tolerance = "max_ulp=8" %}
{% endif %}
@pytest.mark.parametrize("case", CASES + NOT_FINITE, ids=str)
def test_gpu_kernel(case):
    check_gpu_kernel(case, {{ tolerance }})
