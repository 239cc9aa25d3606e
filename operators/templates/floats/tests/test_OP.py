{% set input = spec.inputs[0].name %}
{% set output = spec.outputs[0].name %}
{% set constants, tests = own.split("\n\n\n", 1) %}
{% set of_output = ', "' ~ output ~ '": "' ~ spec.outputs[0].dtype ~ '"}' if spec.outputs[0].dtype else "" %}
{% set of_input = '{"' ~ input ~ '": ' if of_output else "" %}
"""Test cases of {{ spec.name }}, for every kernel: shapes x values{{ " x params" if spec.params }}.

`scons check` runs each case on the CPU kernel and compares with {{ lower }}_reference.py.
"""

import numpy as np
import pytest
from {{ lower }}_reference import reference

from opkit.testing import Case, cases, check_cpu_kernel, special, uniform{{ ", vary_params" if spec.params }}

{{ constants }}

CASES = cases(
    shapes=[{"{{ input }}": (1,)}, {"{{ input }}": (7, 31)}, {"{{ input }}": (1, 6, 5, 3)}],
    values=HALVES,
{% if spec.params %}
    params=PARAMS,
{% endif %}
    dtype={{ of_input }}"float16"{{ of_output }},
)
SINGLE = cases(
    shapes=[{"{{ input }}": (100, 100)}],
    values=FLOATS,
{% if spec.params %}
    params=PARAMS,
{% endif %}
    dtype={{ of_input }}"float32"{{ of_output }},
)
ALL_HALVES = [Case("all-halves", {"{{ input }}": np.arange(2**16, dtype=np.uint16).view(np.float16)})]


@pytest.mark.parametrize("case", CASES + ALL_HALVES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=HALVES_ULP)


@pytest.mark.parametrize("case", SINGLE, ids=str)
def test_cpu_kernel_float32(case):
    check_cpu_kernel(case, max_ulp=FLOATS_ULP)


def values(numbers{% for each in spec.params %}, {{ each.name }}={{ each.default }}{% endfor %}):
    """Return the reference's values at a list of numbers."""
{% if spec.params %}
    params = { {%- for each in spec.params %}"{{ each.name }}": {{ each.name }}{{ ", " if not loop.last }}{% endfor -%} }
{% endif %}
    return reference({"{{ input }}": np.float32(numbers)}, {{ "params" if spec.params else "{}" }})["{{ output }}"]


{{ tests }}


def test_integers_are_refused():
    with pytest.raises(ValueError, match="{{ input }} must be float16 or float32"):
        reference({"{{ input }}": np.int32([1])}, {})
