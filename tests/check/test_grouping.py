"""Failures by cause, and the traits of failing cases alone."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opkit.check.grouping import groups, shared
from opkit.check.results import Result
from opkit.check.traits import SPECIAL_VALUES, CaseTraits, TensorTraits, traits_of


def of_params(**params: Any) -> CaseTraits:
    return CaseTraits(params)


def of_shape(*shape: int, dtype: str = "float16", values: tuple[str, ...] = ()) -> CaseTraits:
    return CaseTraits({}, {"x": TensorTraits(dtype, shape, values)})


def failure(case: str, problem: str = "wrong", kernel: str = "CPU kernel", **fields: Any) -> Result:
    return Result(kernel, case, problem, **fields)


# ---- What failures share ----

EACH = "all failures have "
NO_PASS = ", no pass has"


@pytest.mark.parametrize(
    ("failures", "passes", "statements"),
    [
        ([of_params(a=1)] * 2, [of_params(a=0)], ["a=1, all passes 0"]),
        ([of_params(a=True)] * 2, [of_params(a=False)], ["a=1, all passes 0"]),
        ([of_params(a=1)] * 2, [of_params(a=0), of_params(a=2)], ["a=1, no pass has"]),
        ([of_params(a=1)] * 2, [of_params(a=0), of_params(a=1)], []),
        ([of_params(a=[3, 10])] * 2, [of_params(a=[4, 4])], ["a=[3, 10], all passes [4, 4]"]),
        ([of_params(a="up")] * 2, [of_params(a="down")], ["a=up, all passes down"]),
        ([of_params(a=-1), of_params(a=-2)], [of_params(a=0)], ["a negative a, no pass has"]),
        ([of_params(a=3), of_params(a=4)], [of_params(a=2)], ["a > 2, no pass has"]),
        ([of_params(a=3), of_params(a=4)], [of_params(a=5)], ["a < 5, no pass has"]),
        ([of_params(a=3), of_params(a=5)], [of_params(a=4)], []),
        ([of_params(a=[3]), of_params(a=[4])], [of_params(a=[5])], []),
        ([of_params(a=1), of_params(b=1)], [of_params(a=0)], []),
        ([of_shape(3), of_shape(5)], [of_shape(4)], ["an odd x.shape[-1], no pass has"]),
        ([of_shape(4), of_shape(6)], [of_shape(5)], ["an even x.shape[-1], no pass has"]),
        ([of_shape(1, 4), of_shape(1, 5)], [of_shape(3, 6)], ["x.shape[-2] = 1, no pass has"]),
        (
            [of_shape(2, 6), of_shape(3, 12)],
            [of_shape(2, 8), of_shape(3, 16)],
            ["x.shape[-1] not a multiple of 8, no pass has"],
        ),
        (
            [of_shape(2, 16), of_shape(3, 8)],
            [of_shape(2, 12), of_shape(3, 6)],
            ["x.shape[-1] a multiple of 8, no pass has"],
        ),
        (
            [of_shape(9), of_shape(10)],
            [of_shape(6), of_shape(7)],
            ["x.shape[-1] > 7, no pass has"],
        ),
        (
            [of_shape(6, 2), of_shape(7, 3)],
            [of_shape(9, 2), of_shape(8, 3)],
            ["x.shape[-2] < 8, no pass has"],
        ),
        (
            [of_shape(1, 7), of_shape(5, 1)],
            [of_shape(3, 2), of_shape(2, 7)],
            ["an axis of 1 in x, no pass has"],
        ),
        ([of_shape(6, 2)] * 2, [of_shape(6)], ["the rank of x 2, all passes 1"]),
        (
            [of_shape(4, dtype="int32")] * 2,
            [of_shape(4), of_shape(4, dtype="int8")],
            ["the dtype of x int32, no pass has"],
        ),
        ([of_shape(4, values=("NaN",))] * 2, [of_shape(4)], ["NaN in x, no pass has"]),
        ([of_shape(6, 6), of_shape(4, 9)], [of_shape(4, 6), of_shape(6, 4)], ["x.size > 24"]),
    ],
)
def test_shared_trait(
    failures: list[CaseTraits], passes: list[CaseTraits], statements: list[str]
) -> None:
    found = shared(failures, passes)
    assert len(found) >= len(statements)
    for statement in statements:
        assert any(one.startswith(f"{EACH}{statement}") for one in found), found
    if not statements:
        assert found == []


def test_one_failure_or_no_pass_shares_nothing() -> None:
    assert shared([of_params(a=1)], [of_params(a=0)]) == []
    assert shared([of_params(a=1)] * 2, []) == []


def test_equal_tensors_are_told_once() -> None:
    def both(size: int) -> CaseTraits:
        tensor = TensorTraits("float16", (size,))
        return CaseTraits({}, {"x": tensor}, {"y": tensor})

    assert shared([both(3), both(5)], [both(4), both(6)]) == [f"{EACH}an odd x.shape[-1]{NO_PASS}"]


cases = st.builds(
    lambda flag, number, shape, dtype, values: CaseTraits(
        {"flag": flag, "number": number}, {"x": TensorTraits(dtype, tuple(shape), tuple(values))}
    ),
    st.booleans(),
    st.integers(-2, 3),
    st.lists(st.integers(1, 17), min_size=1, max_size=3),
    st.sampled_from(["float16", "int32"]),
    st.sets(st.sampled_from(["NaN", "-0"])),
)


def holds(statement: str, case: CaseTraits) -> bool:
    """Return whether a statement is true of a case, by another implementation."""
    text = statement.removeprefix(EACH).rpartition(", ")[0]
    x = case.inputs["x"]
    match text.split(" "):
        case ["NaN" | "-0" as value, "in", "x"]:
            return value in x.values
        case ["the", "dtype", "of", "x", name]:
            return x.dtype == name
        case ["the", "rank", "of", "x", rank]:
            return len(x.shape) == int(rank)
        case ["an", "axis", "of", "1", "in", "x"]:
            return 1 in x.shape
        case ["a", "negative", "number"]:
            return bool(case.params["number"] < 0)
        case _:
            name, phrase = next(
                (name, text.replace(name, "v"))
                for name in (
                    "x.shape[-1]",
                    "x.shape[-2]",
                    "x.shape[-3]",
                    "x.size",
                    "flag",
                    "number",
                )
                if name in text
            )
            v = case.params[name] if name in case.params else eval(name, {"x": SizedTensor(x)})
            tests = {
                "an odd v": v % 2 == 1,
                "an even v": v % 2 == 0,
                "v not a multiple of 8": v % 8 != 0,
                "v a multiple of 8": v % 8 == 0,
            }
            if phrase in tests:
                return bool(tests[phrase])
            return bool(eval(re.sub(" ?= ?", "==", phrase), {"v": v}))


class SizedTensor:
    """A tensor's shape and size, for statements as expressions."""

    def __init__(self, traits: TensorTraits) -> None:
        self.shape = traits.shape
        self.size = traits.elements


@given(st.lists(cases, min_size=2, max_size=5), st.lists(cases, min_size=1, max_size=5))
def test_statement_is_true_of_failures_alone(
    failures: list[CaseTraits], passes: list[CaseTraits]
) -> None:
    for statement in shared(failures, passes):
        assert all(holds(statement, case) for case in failures), statement
        assert not any(holds(statement, case) for case in passes), statement


# ---- Causes ----


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("y has the shape (2, 3), output_shapes says (3, 2)", "y has the shape (7,), output_shapes "
         "says (1, 2, 3)"),
        ("reads 4 bytes past the end (12 bytes)", "reads 2 bytes past the end (8 bytes)"),
        ("the kernel gives 1.5, not -inf", "the kernel gives nan, not 2e-05"),
        ("a.h:12: divides; x is 2x3", "a.h:12: divides; x is 7"),
        ("returns VX_FAILURE (-1)\nlog: 'n': is 3", "returns VX_FAILURE (-1)\nlog: 'n': is 40"),
        ("tensors of type 0x00F", "tensors of type 0x10A"),
    ],
)  # fmt: skip
def test_other_numbers_are_one_cause(first: str, second: str) -> None:
    (group,) = groups([failure("a", first), failure("b", second)])
    assert [each.case for each in group.failures] == ["a", "b"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("a.h:12: divides", "a.h:13: divides"),
        ("output 'y1' is wrong", "output 'y2' is wrong"),
        ("x is float16", "x is float32"),
        ("the kernel function reads", "the initializer reads"),
    ],
)
def test_other_words_are_two_causes(first: str, second: str) -> None:
    assert len(groups([failure("a", first), failure("b", second)])) == 2


def test_kernels_with_the_same_failures_are_one_group() -> None:
    kernels = ("CPU kernel", "CPU kernel, armhf")
    results = [failure(case, kernel=kernel) for case in "ab" for kernel in kernels]
    (group,) = groups(results)
    assert group.headline == "2 of 2 cases on the CPU kernel and the CPU kernel, armhf: wrong"
    others = [*results, failure("c"), Result(kernels[1], "c")]
    assert [group.kernels for group in groups(others)] == [("CPU kernel",), (kernels[1],)]


def test_mistake_of_the_reference_is_of_no_kernel() -> None:
    results = [failure(case, "r.py:8: bad", before_run=True) for case in "abc"]
    results.append(failure("a", "r.py:8: bad", "VX kernel", before_run=True))
    (group,) = groups(results)
    assert group.headline == "3 of 3 cases: r.py:8: bad"


def test_most_frequent_cause_comes_first() -> None:
    found = groups([failure("a", "rare"), failure("b"), failure("c"), Result("CPU kernel", "d")])
    assert [(len(group.failures), group.ran) for group in found] == [(2, 4), (1, 4)]
    assert groups([Result("CPU kernel", "a"), Result("VX kernel", "a", left_out="some")]) == []


def test_smallest_failure_and_appearances() -> None:
    sizes = {"a": 8, "b": 2, "c": 2}
    looks = {"a": "transposed", "b": "transposed", "c": ""}
    results = [
        failure(case, traits=of_shape(size), appearance=looks[case]) for case, size in sizes.items()
    ]
    (group,) = groups(results)
    assert group.smallest.case == "b"
    assert group.appearances == ["transposed (2 of 3)"]


# ---- Traits ----


def test_special_values_of_arrays() -> None:
    def values(*numbers: float, dtype: str = "float16") -> tuple[str, ...]:
        traits = traits_of({}, {"x": np.array(numbers, dtype)}, {})
        return traits.inputs["x"].values

    assert values(0, 1) == ()
    assert values(np.nan, -np.inf) == ("NaN", "infinities", "negative numbers")
    assert values(-0.0, 6e-8) == ("-0", "subnormal numbers")
    assert values(65504) == values(127, dtype="int8") == values(255, dtype="uint8")
    assert values(65504) == ("the largest numbers",)
    assert values(-128, dtype="int8") == ("the largest numbers", "negative numbers")
    assert values(0, 1, dtype="bool") == values(0, dtype="uint8") == ()
    assert len(SPECIAL_VALUES) == 6


def test_traits_are_plain_values() -> None:
    traits = traits_of(
        {"a": np.float32(0.5), "b": (np.int64(1), 2), "c": np.bool_(True), "d": "text"},
        {"x": np.zeros((2, 3), np.int8)},
        {"y": np.zeros(5, np.float32)},
    )
    assert traits.params == {"a": 0.5, "b": [1, 2], "c": True, "d": "text"}
    assert traits.inputs == {"x": TensorTraits("int8", (2, 3))}
    assert (traits.elements, traits.outputs["y"].shape) == (6, (5,))
