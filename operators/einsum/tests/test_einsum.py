"""Test cases of Einsum, for every kernel: equations x shapes.

`scons check` runs each case on the CPU kernel and compares with einsum_reference.py.
"""

import numpy as np
import pytest
from einsum_reference import output_shapes, reference

from opkit.testing import cases, check_cpu_kernel, uniform

# Matrix products of more than one block; letters in any order; sums of one input alone; diagonals;
# outer products; sides of 1, which repeat; `...`, also of different ranks.
EQUATIONS = [
    ("ij,jk->ik", (33, 130), (130, 131)),
    ("bhqd,bhkd->bhqk", (1, 3, 17, 8), (1, 3, 19, 8)),
    ("bhqk,bkhd->bqhd", (1, 2, 9, 12), (1, 12, 2, 5)),
    ("ba,cb->ac", (4, 3), (5, 4)),
    ("ba,cb", (4, 3), (5, 4)),
    ("bhwc,hkc->bhwk", (2, 3, 4, 5), (3, 4, 5)),
    ("i,j->ij", (7,), (130,)),
    ("ij,ij->", (5, 60), (5, 60)),
    ("ij,ij->ij", (5, 6), (5, 6)),
    ("ij,kl->jl", (4, 3), (4, 5)),
    ("iij,jk->ik", (4, 4, 5), (5, 6)),
    ("ii,jj->ij", (4, 4), (5, 5)),
    ("ij,jk->ik", (2, 1), (3, 4)),
    ("bij,bjk->bik", (1, 2, 3), (5, 3, 4)),
    ("...ij, ...jk -> ...ik", (2, 3, 4, 5), (3, 5, 6)),
    ("i...,j->...", (3, 2), (4,)),
    ("iJ,Jk", (3, 2), (2, 4)),
]
CASES = [
    case
    for equation, one, other in EQUATIONS
    for case in cases(
        shapes=[{"input_0": one, "input_1": other}],
        values=[uniform(-1, 1)],
        params=[{"equation": equation}],
        dtype="float32",
    )
]
LONG = cases(
    # The fewer columns, the more terms and the fewer rows has a block.
    shapes=[
        {"input_0": (9, 1100), "input_1": (5, 1100)},
        {"input_0": (13, 400), "input_1": (40, 400)},
    ],
    values=[uniform(-1, 1)],
    params=[{"equation": "ij,kj->ik"}],
    dtype="float32",
)
HALVES = cases(
    shapes=[{"input_0": (9, 8), "input_1": (8, 10)}],
    values=[uniform(-1, 1)],
    params=[{"equation": "ij,jk->ik"}],
    dtype="float16",
)


# The kernel adds up to 130 products of float32; so few that their order matters little.
@pytest.mark.parametrize("case", CASES + HALVES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=1, max_error=1e-5)


@pytest.mark.parametrize("case", LONG, ids=str)
def test_cpu_kernel_of_long_sums(case):
    check_cpu_kernel(case, max_ulp=1, max_error=1e-4)


def einsum(equation, one, other):
    """Return the reference's sums."""
    tensors = {"input_0": np.array(one, np.float32), "input_1": np.array(other, np.float32)}
    return reference(tensors, {"equation": equation})["output"].tolist()


def test_reference():
    assert einsum("i,i->", [1, 2], [3, 4]) == [11]
    assert einsum("i,j->ji", [1, 2], [3, 4]) == [[3, 6], [4, 8]]
    assert einsum("ba,b", [[1, 2], [3, 4]], [1, 10]) == [31, 42]
    assert einsum("ii,i->i", [[1, 2], [3, 4]], [1, 10]) == [1, 40]
    assert einsum("...a,a->...", [[1, 2], [3, 4]], [1, 10]) == [21, 43]


@pytest.mark.parametrize(
    ("equation", "one", "other", "problem"),
    [
        ("ij->ji", (2, 2), (2,), "must have 2 inputs, not 1"),
        ("i,j,k", (2,), (2,), "must have 2 inputs, not 3"),
        ("i...j,j->i", (1,), (2,), "more letters than dimensions"),
        ("i,j->i", (2, 2), (2,), "a letter for each dimension"),
        ("i1,j->i", (2, 2), (2,), "must have letters"),
        ("i,i->i", (2,), (3,), "must be equal, or 1, not 2 and 3"),
        ("i,j->k", (2,), (2,), "once, and in an input"),
        ("i,j->ii", (2,), (2,), "once, and in an input"),
        ("...i,i->i", (2, 2), (2,), "in the output, too"),
        ("abcd,efgh->abcdefgh", (1,) * 4, (1,) * 4, "at most 6 dimensions"),
    ],
)
def test_invalid_calls_are_refused(equation, one, other, problem):
    with pytest.raises(ValueError, match=problem):
        output_shapes({"input_0": one, "input_1": other}, {"equation": equation})


def test_integers_are_refused():
    tensors = {"input_0": np.ones(2, np.int32), "input_1": np.ones(2, np.float32)}
    with pytest.raises(ValueError, match="must be float16 or float32"):
        reference(tensors, {"equation": "i,i->i"})
