{% set output = spec.outputs[0].name %}
"""Test cases of {{ spec.name }}, for every kernel: shapes x values, for the inputs of op.yml.

`scons check` runs each case on the CPU kernel and compares with {{ lower }}_reference.py.
"""

import re
from pathlib import Path

import numpy as np
import pytest
from {{ lower }}_reference import output_shapes, reference

from opkit.testing import cases, check_cpu_kernel, special, uniform

DESCRIPTION = Path(__file__).parents[1] / "op.yml"
INPUTS = re.findall(r"^  (data_\d):", DESCRIPTION.read_text(), re.MULTILINE)


def shapes(*given):
    """Return the shape of each input; the given ones repeat."""
    return {name: given[i % len(given)] for i, name in enumerate(INPUTS)}


SHAPES = [
    shapes((1,)),
    shapes((7, 31)),
    shapes((1, 6, 5, 3), (3,)),
    shapes((2, 1, 4), (3, 1)),
    shapes((1,), (4, 5)),
]
CASES = [
    case
    for dtype in ("float16", "float32")
    for case in cases(shapes=SHAPES, values=[uniform(-5, 5), special()], dtype=dtype)
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case)


def values(*inputs):
    """Return the reference's values."""
    arrays = {f"data_{i}": np.float32(each) for i, each in enumerate(inputs)}
    return reference(arrays, {})["{{ output }}"].tolist()


{{ own }}


def test_integers_are_refused():
    with pytest.raises(ValueError, match="inputs must be float16 or float32"):
        reference({"data_0": np.int32([1])}, {})


def test_mismatched_shapes_are_refused():
    with pytest.raises(ValueError, match="shape mismatch"):
        output_shapes({"data_0": (2, 3), "data_1": (2,)}, {})
