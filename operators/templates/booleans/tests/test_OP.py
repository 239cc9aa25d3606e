{% set names = spec.inputs|map(attribute="name")|list %}
{% set shapes = [["(1,)"], ["(7, 31)"], ["(1, 6, 5, 3)"]] %}
{% if names|length == 2 %}
{% set shapes = [["(1,)"] * 2, ["(7, 31)"] * 2, ["(1, 6, 5, 3)", "(3,)"], ["(2, 1, 4)", "(3, 1)"], ["(1,)", "(4, 5)"]] %}
{% endif %}
"""Test cases of {{ spec.name }}, for every kernel: shapes x values.

`scons check` runs each case on the CPU kernel and compares with {{ lower }}_reference.py.
"""

import numpy as np
import pytest
from {{ lower }}_reference import {{ "output_shapes, " if names|length == 2 }}reference

from opkit.testing import cases, check_cpu_kernel, uniform

CASES = cases(
    shapes=[
{% for each in shapes %}
        { {%- for name in names %}"{{ name }}": {{ each[loop.index0] }}{{ ", " if not loop.last }}{% endfor -%} },
{% endfor %}
    ],
    values=[uniform(0, 1)],
    dtype="bool",
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case)


{{ own }}


def test_other_types_are_refused():
    with pytest.raises(ValueError, match="{{ names|join(" and ") }} must be bool"):
        reference({ {%- for name in names %}"{{ name }}": np.int32([1]){{ ", " if not loop.last }}{% endfor -%} }, {})
{% if names|length == 2 %}


def test_mismatched_shapes_are_refused():
    with pytest.raises(ValueError, match="shape mismatch"):
        output_shapes({"{{ names[0] }}": (2, 3), "{{ names[1] }}": (2,)}, {})
{% endif %}
