"""Conversion of inputs and outputs with other types than in op.yml."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opkit.runtimes.executor import Executor
from opkit.runtimes.invocation import Invocation, RunOptions, RunResult
from opkit.runtimes.rknn2.host_kernel import CONVENTION, LATER, every_version
from tests.marks import quick_first
from tests.runtimes.c_math import compute_text
from tests.runtimes.rknn2.support import Operator, build_operator

DTYPES = ("float32", "int32", "int64", "bool")
COMPUTED_AS = {"bool": "uint8"}
EXACT = 2**24 - 1


def copy_math(type_: str) -> str:
    """Return math that copies tensors of a type, and refuses others."""
    return compute_text(
        "copy",
        f"""\
    if (inputs->x.type != OPKIT_{type_} || outputs->y.type != OPKIT_{type_}) {{
        return "x and y must be {type_}";
    }}
    memcpy(outputs->y.data, inputs->x.data, inputs->x.size * opkit_element_size(OPKIT_{type_}));""",
    )


_SAME = {dtype: dtype for dtype in DTYPES}
AS_THEY_ARE = replace(CONVENTION, tensor_types=_SAME, input_types=_SAME, output_types=_SAME)
"""A convention by which tensors arrive as the test has them."""


def description(dtype: str) -> str:
    return (
        "name: Copy\nruntimes: [rknn2]\n"
        f"inputs: {{x: {{type: VX_TYPE_TENSOR, dtype: {dtype}}}}}\n"
        "outputs: {y: {type: VX_TYPE_TENSOR}}\n"
    )


@pytest.fixture(scope="module")
def operators(
    host: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Operator]]:
    """Return declared dtype -> operator that copies x."""
    made = {}
    for dtype in DTYPES:
        math = copy_math(COMPUTED_AS.get(dtype, dtype).upper())
        folder = tmp_path_factory.mktemp(dtype)
        made[dtype] = build_operator(folder, host, description(dtype), math, AS_THEY_ARE)
    yield made
    for operator in made.values():
        operator.close()


def run(operator: Operator, given: str, taken: str, values: Sequence[float]) -> RunResult:
    """Copy values of a dtype given by the runtime into an output of another dtype."""
    return operator.run({"x": np.array(values, given)}, {}, {"y": ((len(values),), taken)})


@pytest.mark.parametrize("declared", DTYPES)
@pytest.mark.parametrize("given", DTYPES)
@pytest.mark.parametrize("taken", DTYPES)
def test_exact_conversion(
    operators: dict[str, Operator], declared: str, given: str, taken: str
) -> None:
    values = [0, 1, 1, 0]
    if "bool" not in (declared, given, taken):
        values += [-1, 2, EXACT, -EXACT, 300, -70000]
    result = run(operators[declared], given, taken, values)
    assert (result.status, result.printed, result.events, result.leaks) == (0, "", [], [])
    assert result.outputs["y"].dtype == taken
    assert result.outputs["y"].tolist() == values


@pytest.mark.parametrize("value", [0.5, -1.5, np.inf, -0.0, 1e-45, 3.4e38])
def test_floats_stay_as_they_are(operators: dict[str, Operator], value: float) -> None:
    result = run(operators["float32"], "float32", "float32", [value])
    assert result.outputs["y"].tobytes() == np.array([value], np.float32).tobytes()


LIMITS = {"int32": "-16777215 to 16777215", "int64": "-16777215 to 16777215", "bool": "0 to 1"}


@pytest.mark.parametrize(
    "value", [0.5, 2.0**24, -(2.0**24), 2.0**31, 1e30, np.inf, -np.inf, np.nan, -0.99999994]
)
@pytest.mark.parametrize("declared", LIMITS)
def test_input_that_is_not_an_integer(
    operators: dict[str, Operator], declared: str, value: float
) -> None:
    result = run(operators[declared], "float32", "float32", [1, value])
    assert (result.status, result.stage) == (-1, "compute")
    shown = f"{np.float32(value):.9g}" if np.isfinite(value) else str(value)
    expected = f"(expected a whole number from {LIMITS[declared]})"
    assert result.printed == (f"Copy: tensor 'x', element 1, is {shown} in float32 {expected}")
    assert not result.leaks


INT32 = "-2147483648 to 2147483647"
IN_FLOAT32 = "an integer that float32 can hold"


@pytest.mark.parametrize(
    ("declared", "given", "taken", "tensor", "value", "expected"),
    [
        ("int32", "int64", "float32", "x", 2**31, INT32),
        ("int32", "int64", "float32", "x", -(2**31) - 1, INT32),
        ("bool", "int32", "float32", "x", 2, "0 to 1"),
        ("bool", "int64", "float32", "x", -1, "0 to 1"),
        ("float32", "int64", "float32", "x", 2**24 + 1, IN_FLOAT32),
        ("float32", "int64", "float32", "x", 2**63 - 1, IN_FLOAT32),
        ("float32", "int32", "float32", "x", -(2**31) + 1, IN_FLOAT32),
        ("int64", "int64", "float32", "y", 2**24 + 1, IN_FLOAT32),
        ("int64", "int64", "float32", "y", 2**63 - 1, IN_FLOAT32),
        ("int32", "int32", "float32", "y", 2**31 - 1, IN_FLOAT32),
        ("int64", "int64", "int32", "y", 2**31, INT32),
        ("float32", "float32", "int32", "y", 2.5, "a whole number from -16777215 to 16777215"),
    ],
)
def test_out_of_range(
    operators: dict[str, Operator],
    declared: str,
    given: str,
    taken: str,
    tensor: str,
    value: float,
    expected: str,
) -> None:
    result = run(operators[declared], given, taken, [0, 0, value])
    assert result.status == -1
    shown = f"{value} in float32" if isinstance(value, float) else value
    problem = f"tensor '{tensor}', element 2, is {shown} (expected {expected})"
    assert result.printed == f"Copy: {problem}"


@pytest.mark.parametrize("value", [2**24, 2**24 + 2, -(2**31), 2**62, -(2**63)])
def test_output_that_float32_has(operators: dict[str, Operator], value: int) -> None:
    result = run(operators["int64"], "int64", "float32", [value])
    assert result.outputs["y"].tolist() == [value]


def test_truth_values_are_0_and_1(operators: dict[str, Operator]) -> None:
    """A byte other than 0 and 1, which the math may write, is an error."""
    copy = operators["bool"]
    array = np.array([0, 1, 3], np.uint8).view(bool)
    result = copy.run({"x": array}, {}, {"y": ((3,), "float32")})
    assert result.printed == "Copy: tensor 'y', element 2, is 3 (expected 0 to 1)"


# ---- The tensors of the runtime's versions ----

SUM = """\
name: Sum
runtimes: [rknn2]
inputs: {x: {type: VX_TYPE_TENSOR, dtype: int64}, mask: {type: VX_TYPE_TENSOR, dtype: bool}}
outputs: {y: {type: VX_TYPE_TENSOR}, h: {type: VX_TYPE_TENSOR, dtype: float16}}
params: {more: {type: ints, source: "const:more"}}
"""
SUM_COMPUTE = compute_text(
    "sum",
    """\
    outputs->y.int64[0] = inputs->x.int64[0] + inputs->mask.uint8[0];
    for (size_t i = 0; i < params->more.count; i++) {
        outputs->y.int64[0] += params->more.items[i];
    }
    outputs->h.float32[0] = 0.5F;""",
)


@pytest.mark.parametrize("convention", [CONVENTION, LATER], ids=["1.6.0", "later"])
def test_versions(host: Path, tmp_path: Path, convention: Any) -> None:
    copy = build_operator(tmp_path, host, SUM, SUM_COMPUTE, convention)
    inputs = {"x": np.array([40], np.int64), "mask": np.array([True])}
    outputs = {"y": ((1,), "int64"), "h": ((1,), "float16")}
    result = copy.run(inputs, {"more": [*range(-150, 151), 1]}, outputs)
    assert (result.status, result.printed) == (0, "")
    assert (result.outputs["y"].tolist(), result.outputs["h"].tolist()) == ([42], [0.5])
    result = copy.run(inputs, {"more": [2**24]}, outputs)
    if convention is LATER:
        assert result.outputs["y"].tolist() == [41 + 2**24]
    else:
        assert result.printed == (
            "Sum: input 'more' is 16777216 in float32 (expected a whole number from -16777215 to "
            "16777215)"
        )
    copy.close()


def test_tensor_types_of_versions() -> None:
    given = [CONVENTION.tensor_types, LATER.tensor_types]
    dtypes = ("float16", "float32", "int32", "int64", "bool")
    assert [[types[dtype] for dtype in dtypes] for types in given] == [
        ["float32"] * 5,
        ["float32", "float32", "float32", "int64", "float32"],
    ]


ANY = "name: Copy\nruntimes: [rknn2]\ninputs: {x: {type: VX_TYPE_TENSOR}}\n" + (
    "outputs: {y: {type: VX_TYPE_TENSOR}}\n"
)
TWO_WAYS = compute_text(
    "copy",
    """\
    if (inputs->x.type == OPKIT_FLOAT32) {
        outputs->y.float32[0] = FLOAT;
    } else {
        outputs->y.int64[0] = 8;
    }""",
)


@pytest.mark.parametrize(
    ("math", "dtype", "expected"),
    quick_first(
        2,
        [
            (copy_math("FLOAT32"), "int32", ""),
            (TWO_WAYS.replace("FLOAT;", "8;"), "int64", ""),
            (copy_math("INT32"), "int32", "compute -1: Copy: x and y must be INT32"),
            (copy_math("INT64"), "int64", "compute -1: Copy: x and y must be INT64"),
            (
                copy_math("FLOAT32"),
                "int64",
                "compute with int64 tensors, as versions after librknnrt 1.6.0 hand them over, -1: "
                "Copy: x and y must be FLOAT32",
            ),
            (
                TWO_WAYS.replace("FLOAT;", "7;"),
                "int64",
                "the outputs differ between float32 tensors, as librknnrt 1.6.0 hands over "
                "integers, and int64 ones, as later versions do; declare `dtype` in op.yml",
            ),
            (
                TWO_WAYS.replace("FLOAT;", "0.5F;"),
                "int32",
                "output 'y' holds 0.5, which int32 cannot represent",
            ),
        ],
    ),
)
def test_undeclared_integers(
    host: Path, tmp_path: Path, math: str, dtype: str, expected: str
) -> None:
    """The math gets the tensors of each version of the runtime unchanged."""
    copy = build_operator(tmp_path, host, ANY, math)
    call = Invocation({"x": np.array([7], dtype)}, {}, {"y": ((1,), dtype)})
    assert outcome(copy, host, call) == expected


def outcome(made: Operator, host: Path, call: Invocation) -> str:
    """Return the problem of a call by all versions; empty if there is none."""
    files = (host / "harness", host / "librknnrt.so", made.library)
    executor = Executor("x64", (*map(str, files), made.entry))
    kernel = every_version(made.spec, executor, host)
    result = kernel.run(call, RunOptions(fill=0x7E))
    for each in (kernel.first, kernel.later.kernel, kernel.without.kernel):
        each.close()
    problem = f"{result.stage} {result.status}: {result.printed}" if result.status else ""
    return problem + "".join(result.events)


@pytest.mark.parametrize(
    ("param", "math", "size", "expected"),
    [
        ("{type: int, default: 0}", "params->q_size", 0, ""),
        ("{type: int, default: 0}", "3", 3, ""),  # from a shape, say
        (
            "{type: int, default: 0}",
            "params->q_size",
            3,
            "the outputs differ without q_size: librknnrt 1.6.0 hands over no attribute whose name "
            "begins with q_; choose another name, or compute the value of the default from shapes",
        ),
        (
            "{type: int}",
            "params->q_size",
            3,
            "init without q_size, as in librknnrt 1.6.0, -1: Copy: the node has no attribute "
            "'q_size', and op.yml has no default for it",
        ),
    ],
)
def test_attributes_that_do_not_arrive(
    host: Path, tmp_path: Path, param: str, math: str, size: int, expected: str
) -> None:
    text = compute_text("copy", f"outputs->y.float32[0] = (float)({math});")
    made = build_operator(tmp_path, host, f"{ANY}params: {{q_size: {param}}}\n", text)
    call = Invocation({"x": np.ones(1, np.float32)}, {"q_size": size}, {"y": ((1,), "float32")})
    assert outcome(made, host, call) == expected
