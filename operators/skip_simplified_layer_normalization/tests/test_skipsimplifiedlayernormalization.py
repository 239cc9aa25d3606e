"""Test cases of SkipSimplifiedLayerNormalization, for every kernel: shapes x values x params.

`scons check` runs each case on the CPU kernel and compares with
skipsimplifiedlayernormalization_reference.py.
"""

import numpy as np
import pytest
from skipsimplifiedlayernormalization_reference import output_shapes, reference

from opkit.testing import cases, check_cpu_kernel, special, uniform


def shapes_of(*shape, skip=None):
    """Return the shapes of all inputs."""
    row = {"gamma": shape[-1:], "bias": shape[-1:]}
    return {"input": shape, "skip": skip or shape, **row}


SHAPES = [
    shapes_of(2, 3, 20),
    shapes_of(2, 3, 20, skip=(3, 20)),
    shapes_of(2, 3, 20, skip=(1, 3, 20)),
    shapes_of(3, 768),
    shapes_of(3, 7, skip=(1, 3, 7)),
]
NAMES = ("input", "skip", "gamma", "bias")
NEGATIVE = {**dict.fromkeys(NAMES, uniform(-3, -2)), "gamma": uniform(-1, 1)}
CASES = [
    case
    for dtype in ("float32", "float16")
    for case in cases(
        shapes=SHAPES,
        values=[uniform(0.1, 1), uniform(100, 101), NEGATIVE],
        params=[{"epsilon": 1e-5}, {"epsilon": 0.5}],
        dtype=dtype,
    )
]
SPECIAL = cases(
    shapes=[shapes_of(9, 3), shapes_of(3, 2, 4, skip=(2, 4))],
    values=[{**NEGATIVE, "input": special()}],
    dtype="float32",
)


# Sum, factor and two products are rounded to float; nothing cancels.
@pytest.mark.parametrize("case", CASES + SPECIAL, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=4)


def normalized(x, skip, gamma=(1, 1), bias=(0, 0), epsilon=0.0):
    """Return the reference's outputs."""
    arrays = [np.float32(each) for each in (x, skip, gamma, bias)]
    inputs = dict(zip(NAMES, arrays, strict=True))
    return [each.tolist() for each in reference(inputs, {"epsilon": epsilon}).values()]


def test_reference():
    found, total = normalized([[0, -9], [1, 1]], [[1, 2], [2, 2]])
    assert total == [[1, -7], [3, 3]]
    assert found == pytest.approx(np.array([[0.2, -1.4], [1, 1]]))
    assert normalized([[[1, 1]], [[2, 2]]], [[0, 0]])[1] == [[[1, 1]], [[2, 2]]]
    assert normalized([[1, -4]], [[1, 1]], bias=(1, 0), gamma=(2, 4)) == [[[2, -4]], [[3, -3]]]
    assert normalized([[0, 0]], [[1, -1]], epsilon=3.0)[0] == [[0.5, -0.5]]


@pytest.mark.parametrize(
    ("shapes", "problem"),
    [
        ({"input": (4,)}, "input must be"),
        ({"input": (2, 2, 3, 4)}, "input must be"),
        ({"skip": (2, 1, 4)}, "skip must have"),
        ({"skip": (1, 4)}, "skip must have"),
        ({"skip": (3, 1)}, "skip must have"),
        ({"skip": (3, 3, 4)}, "skip must have"),
        ({"gamma": (1, 4)}, "gamma must be"),
        ({"bias": (1,)}, "bias must be"),
    ],
)
def test_invalid_shapes_are_refused(shapes, problem):
    with pytest.raises(ValueError, match=problem):
        output_shapes({**shapes_of(2, 3, 4), **shapes}, {})


def test_integers_are_refused():
    tensors = {name: np.ones(shape, np.int32) for name, shape in shapes_of(2, 3, 4).items()}
    with pytest.raises(ValueError, match="must be float16 or float32"):
        reference(tensors, {"epsilon": 0.0})
