{% set names = spec.inputs|map(attribute="name")|list %}
{% set output = spec.outputs[0].name %}
{% set shapes = [["(1,)"], ["(7, 331)"], ["(1, 6, 5, 3)"]] %}
{% if names|length == 2 %}
{% set shapes = [["(1,)"] * 2, ["(7, 331)"] * 2, ["(1, 6, 5, 3)", "(3,)"], ["(2, 1, 4)", "(3, 1)"], ["(1,)", "(4, 5)"]] %}
{% endif %}
"""Test cases of {{ spec.name }}, for every kernel: shapes x dtypes.

`scons check` runs each case on the CPU kernel and compares with {{ lower }}_reference.py.
"""

import numpy as np
import pytest
from {{ lower }}_reference import {{ "output_shapes, " if names|length == 2 }}reference

from opkit.testing import cases, check_cpu_kernel, uniform

# Beyond 2^24, librknnrt 1.6.0 does not hand over integers.
CASES = [
    case
    for dtype in ("int32", "int64")
    for case in cases(
        shapes=[
{% for each in shapes %}
            { {%- for name in names %}"{{ name }}": {{ each[loop.index0] }}{{ ", " if not loop.last }}{% endfor -%} },
{% endfor %}
        ],
        values=[uniform(-(2**24), 2**24 - 1)],
        dtype=dtype,
    )
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case)


{{ own }}


def test_floats_are_refused():
    with pytest.raises(ValueError, match="{{ names|join(" and ") }} must be integers"):
        reference({ {%- for name in names %}"{{ name }}": np.float32([1]){{ ", " if not loop.last }}{% endfor -%} }, {})
{% if names|length == 2 %}


def test_mixed_types_are_refused():
    with pytest.raises(ValueError, match="must be of one type"):
        reference({"{{ names[0] }}": np.int32([1]), "{{ names[1] }}": np.int64([1])}, {})


def test_mismatched_shapes_are_refused():
    with pytest.raises(ValueError, match="shape mismatch"):
        output_shapes({"{{ names[0] }}": (2, 3), "{{ names[1] }}": (2,)}, {})
{% endif %}
