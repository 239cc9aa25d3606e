"""Attributes and constant inputs: each type in a model, for each type of param.

The operators write the values as int64, which float32 tensors cannot represent.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from opkit.description.types import PARAM_TYPES
from opkit.runtimes.invocation import RunResult
from opkit.runtimes.rknn2.chips import ATTRIBUTE_INTEGERS, unreadable_numbers
from opkit.runtimes.rknn2.host_kernel import LATER
from tests.description.descriptions import values
from tests.runtimes.c_math import compute_text
from tests.runtimes.rknn2.support import Operator, attribute, build_operator

LOWEST, HIGHEST = ATTRIBUTE_INTEGERS
DTYPES = {
    "float32": 0,
    "float16": 1,
    "int8": 2,
    "uint8": 3,
    "int16": 4,
    "uint16": 5,
    "int32": 6,
    "uint32": 7,
    "int64": 8,
    "bool": 9,
}
"""numpy's name of a type -> its number in librknnrt; 10 and 11 are int4 and bfloat16."""

DEFAULTS: dict[str, Any] = {
    "VX_TYPE_BOOL": True,
    "VX_TYPE_ARRAY": [3, -4, 5],
    "VX_TYPE_CHAR": 97,
    "VX_TYPE_INT8": -128,
    "VX_TYPE_UINT8": 255,
    "VX_TYPE_INT16": -(2**15),
    "VX_TYPE_UINT16": 2**16 - 1,
    "VX_TYPE_INT32": -(2**31),
    "VX_TYPE_UINT32": 2**32 - 1,
    "VX_TYPE_INT64": -(2**63),
    "VX_TYPE_UINT64": 2**63 - 1,
    "VX_TYPE_FLOAT32": 0.125,
    "VX_TYPE_FLOAT64": -2.5,
    "FLOATS": [0.5, -1.5],
    "STRING": 'a "b" \\ ?',
}
INTEGERS = [name for name, row in PARAM_TYPES.items() if row.element.kind != "float"]
LENGTH = 320  # capacity of an output: a list's count and its items, or a text


def name_of(type_name: str) -> str:
    return f"p_{type_name.removeprefix('VX_TYPE_').lower()}"


def describe(source: str = "") -> str:
    lines = "".join(
        f"  {name_of(name)}: {{type: {name}, default: {json.dumps(default)}{source}}}\n"
        for name, default in DEFAULTS.items()
        if not (source and name == "STRING")
    )
    return (
        "name: Params\nruntimes: [rknn2]\ninputs: {which: {type: VX_TYPE_TENSOR}}\n"
        "outputs: {numbers: {type: VX_TYPE_TENSOR, dtype: int64},"
        " reals: {type: VX_TYPE_TENSOR, dtype: float32}}\n"
        f"params:\n{lines}"
    )


def compute(types: list[str]) -> str:
    """Return the math: it writes the value of the param with the index `which`."""
    cases = []
    for index, name in enumerate(types):
        row, member = PARAM_TYPES[name], f"params->{name_of(name)}"
        output = "reals->float32" if row.element.kind == "float" else "numbers->int64"
        kind = "float" if row.element.kind == "float" else "int64_t"
        if row.is_text:
            body = f"numbers->int64[0] = (int64_t)strlen({member});\n" + (
                f"for (size_t i = 0; {member}[i] != 0; i++) "
                f"numbers->int64[i + 1] = (uint8_t){member}[i];"
            )
        elif row.is_list:
            body = (
                f"{output}[0] = ({kind}){member}.count;\n"
                f"for (size_t i = 0; i < {member}.count; i++) {output}[i + 1] = {member}.items[i];"
            )
        else:
            cast = "(uint8_t)" if name == "VX_TYPE_CHAR" else ""  # char may be signed
            body = f"{output}[0] = ({kind}){cast}({member});"
        cases.append(f"if (which == {index}) {{ {body} }}\n")
    return compute_text(
        "params",
        "const int which = (int)inputs->which.float32[0];\n"
        "struct opkit_tensor *numbers = &outputs->numbers, *reals = &outputs->reals;\n"
        f"for (int i = 0; i < {LENGTH}; i++) {{ numbers->int64[i] = 0; reals->float32[i] = 0; }}\n"
        + "".join(cases),
    )


TYPES = list(DEFAULTS)
CONSTANT_TYPES = [name for name in TYPES if name != "STRING"]
OUTPUTS = {"numbers": ((LENGTH,), "int64"), "reals": ((LENGTH,), "float32")}


@pytest.fixture(scope="module")
def operator(host: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Operator]:
    folder = tmp_path_factory.mktemp("params")
    made = build_operator(folder, host, describe(), compute(TYPES), LATER)
    yield made
    made.close()


@pytest.fixture(scope="module")
def constants(host: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Operator]:
    folder = tmp_path_factory.mktemp("constants")
    text = describe(", source: 'const:c'")
    made = build_operator(folder, host, text, compute(CONSTANT_TYPES), LATER)
    yield made
    made.close()


def run(operator: Operator, type_name: str, given: Any = None, **attributes: bytes) -> RunResult:
    """Run the operator, which writes one param; attributes replace defaults.

    Args:
        operator: the operator.
        type_name: the type of the param.
        given: its value, in place of the default.
        attributes: name -> attachment.
    """
    which = np.array([[param.type.name for param in operator.spec.params].index(type_name)])
    attachments = {f"attribute:{name}": data for name, data in attributes.items()}
    params = {param.name: param.default for param in operator.spec.params}
    if given is not None:
        params[name_of(type_name)] = given
    inputs = {"which": which.astype(np.float32)}
    return operator.run(inputs, params, OUTPUTS, attachments)


def value(result: RunResult, type_name: str) -> Any:
    """Return the written param."""
    assert result.status == 0, result.printed
    row = PARAM_TYPES[type_name]
    output = result.outputs["reals" if row.element.kind == "float" else "numbers"].tolist()
    if row.is_text:
        return bytes(output[1 : int(output[0]) + 1]).decode()
    return output[1 : int(output[0]) + 1] if row.is_list else output[0]


@pytest.mark.parametrize("type_name", TYPES)
def test_attribute_as_onnx_has_it(operator: Operator, type_name: str) -> None:
    """A missing attribute is the default, and so is an empty list."""
    empty = attribute(DTYPES["int64"], np.array([], np.int64))
    others = [{}, {name_of(type_name): b""}, {name_of(type_name): empty}]
    for attributes_ in others[: 2 if type_name == "STRING" else 3]:
        result = run(operator, type_name, **attributes_)
        assert value(result, type_name) == DEFAULTS[type_name]
        assert not result.leaks


@pytest.mark.parametrize("type_name", CONSTANT_TYPES)
def test_constant_input(constants: Operator, type_name: str) -> None:
    """A missing one is the default."""
    other = [1] if PARAM_TYPES[type_name].is_list else type_name != "VX_TYPE_BOOL"
    assert value(run(constants, type_name, other), type_name) == other
    missing = {name_of(name): b"" for name in CONSTANT_TYPES}
    assert value(run(constants, type_name, **missing), type_name) == DEFAULTS[type_name]


def test_attribute_in_place_of_constant_input(constants: Operator) -> None:
    last = CONSTANT_TYPES[-1]
    data = attribute(DTYPES["float32"], np.array([7, 8, 9], np.float32))
    assert value(run(constants, last, **{name_of(last): data}), last) == [7, 8, 9]


def attributes() -> st.SearchStrategy[dict[str, Any]]:
    """Draw values of all params, within the limits of attributes and of the output's capacity."""
    drawn = {name_of(name): values(PARAM_TYPES[name], None) for name in TYPES}
    # librknnrt reads integers of 32 bits, and numbers as float32.
    texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
    drawn["p_string"] = texts.filter(lambda text: len(text.encode()) < LENGTH)
    drawn |= dict.fromkeys(("p_uint32", "p_uint64"), st.integers(0, HIGHEST))
    drawn["p_int64"] = st.integers(LOWEST, HIGHEST)
    drawn["p_float64"] = drawn["p_float32"]
    return st.fixed_dictionaries(
        {name_of(name): drawn[name_of(name)].filter(_is_readable) for name in TYPES}
    )


def _is_readable(drawn: Any) -> bool:
    return not unreadable_numbers(tuple(drawn) if isinstance(drawn, list) else drawn)


def highest() -> dict[str, Any]:
    """Return the maximum of each integer param, and the default of the others."""
    limits = {name_of(name): PARAM_TYPES[name].element.limits for name in INTEGERS}
    found = {name_of(name): DEFAULTS[name] for name in TYPES}
    scalars = [name for name in found if name in limits and isinstance(found[name], int)]
    return found | {name: min((limits[name] or (0, 1))[1], HIGHEST) for name in scalars}


@given(attributes())
@example(highest())
@settings(max_examples=15, deadline=None)
def test_math_gets_the_values_of_attributes(operator: Operator, params: dict[str, Any]) -> None:
    for number, name in enumerate(TYPES):
        which = {"which": np.array([[number]], np.float32)}
        given_value = params[name_of(name)]
        if PARAM_TYPES[name].element.kind == "float":
            given_value = np.array(given_value, np.float32).tolist()
        assert value(operator.run(which, params, OUTPUTS), name) == given_value


@pytest.mark.parametrize("dtype", [*DTYPES, "int4", "bfloat16"])
@pytest.mark.parametrize("type_name", TYPES)
def test_each_type_for_each_param(operator: Operator, type_name: str, dtype: str) -> None:
    row = PARAM_TYPES[type_name]
    kind = "text" if row.is_text else "float" if row.element.kind == "float" else "integer"
    taken = {"text": ["uint8"], "float": ["float32"], "integer": ["int64", "int32", "bool"]}
    number = DTYPES.get(dtype, {"int4": 10, "bfloat16": 11}.get(dtype, -1))
    data = np.array([1], dtype if dtype in DTYPES else "uint8")
    result = run(operator, type_name, **{name_of(type_name): attribute(number, data)})
    if dtype in taken[kind]:
        one: Any = "\1" if row.is_text else [1] if row.is_list else 1
        assert value(result, type_name) == one
    else:
        assert result.status == -1
        assert result.stage == "init"
        shown = dtype if dtype in DTYPES else "of an unknown type"
        assert result.printed.startswith(f"Params: attribute '{name_of(type_name)}' is {shown} (")
    assert not result.leaks
    assert not result.events


@pytest.mark.parametrize("dtype", ["int64", "int32"])
@pytest.mark.parametrize("type_name", INTEGERS)
def test_narrowing_is_checked(operator: Operator, type_name: str, dtype: str) -> None:
    row = PARAM_TYPES[type_name]
    if row.is_text:
        return
    assert row.element.limits is not None
    low, high = row.element.limits
    limits = np.iinfo(dtype)
    for number in (low - 1, low, high, high + 1):
        if not limits.min <= number <= limits.max:
            continue
        data = attribute(DTYPES[dtype], np.array([number], dtype))
        result = run(operator, type_name, **{name_of(type_name): data})
        if low <= number <= high:
            assert value(result, type_name) == ([number] if row.is_list else number)
        else:
            assert result.status == -1
            assert f"'{name_of(type_name)}' is {number} (expected {low} to {high})" in (
                result.printed.replace("9223372036854775807", str(high))
            )


@pytest.mark.parametrize(
    ("type_name", "count", "expected"), [("VX_TYPE_INT32", 2, "1"), ("VX_TYPE_BOOL", 17, "1")]
)
def test_wrong_count(operator: Operator, type_name: str, count: int, expected: str) -> None:
    data = attribute(DTYPES["int64"], np.zeros(count, np.int64))
    result = run(operator, type_name, **{name_of(type_name): data})
    assert result.status == -1
    assert f"has {count} values (expected {expected})" in result.printed


FIXED = """\
name: Fixed
runtimes: [rknn2]
inputs: {x: {type: VX_TYPE_TENSOR}}
outputs: {y: {type: VX_TYPE_TENSOR, dtype: int64}}
params: {pair: {type: VX_TYPE_ARRAY, length: 2}, reals: {type: floats, length: 3}}
"""
FIXED_COMPUTE = compute_text(
    "fixed",
    """\
    outputs->y.int64[0] = (int64_t)params->pair.count;
    outputs->y.int64[1] = params->pair.items[0];
    outputs->y.int64[2] = params->pair.items[1];
    outputs->y.int64[3] = (int64_t)params->reals.count;
    outputs->y.int64[4] = (int64_t)params->reals.items[2];""",
)


@pytest.fixture(scope="module")
def fixed(host: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Operator]:
    made = build_operator(tmp_path_factory.mktemp("fixed"), host, FIXED, FIXED_COMPUTE, LATER)
    yield made
    made.close()


@pytest.mark.parametrize(
    ("pair", "reals", "problem"),
    [
        ([-7, 2**31 - 1], [0, 1, 9], ""),
        ([1], [0, 1, 9], "Fixed: attribute 'pair' has 1 values (expected 2)"),
        ([1, 2, 3], [0, 1, 9], "Fixed: attribute 'pair' has 3 values (expected 2)"),
        ([1, 2], [0, 1], "Fixed: attribute 'reals' has 2 values (expected 3)"),
        ([1, 2], [0, 1, 2, 3], "Fixed: attribute 'reals' has 4 values (expected 3)"),
        (
            [1, 2**31],
            [0, 1, 9],
            "Fixed: attribute 'pair' is 2147483648 (expected -2147483648 to 2147483647)",
        ),
        ([], [0, 1, 9], "Fixed: the node has no attribute 'pair', and op.yml has no default for"),
    ],
)
def test_lists_of_a_fixed_length(
    fixed: Operator, pair: list[int], reals: list[float], problem: str
) -> None:
    attachments = {
        "attribute:pair": attribute(DTYPES["int64"], np.array(pair, np.int64)),
        "attribute:reals": attribute(DTYPES["float32"], np.array(reals, np.float32)),
    }
    inputs = {"x": np.zeros((1,), np.float32)}
    params = {"pair": [0, 0], "reals": [0.0, 0.0, 0.0]}
    result = fixed.run(inputs, params, {"y": ((5,), "int64")}, attachments)
    assert result.printed.startswith(problem)
    if problem:
        assert (result.status, result.stage) == (-1, "init")
    else:
        assert result.outputs["y"].tolist() == [2, *pair, 3, reals[-1]]
    assert not result.leaks


TEXTS = {
    b'"neg"': "neg",
    b'""': "",
    b'"neg"\0': "neg",
    rb'"\"\\\/\b\f\n\r\t"': '"\\/\b\f\n\r\t',
    rb'"\u00e4\u00E4\u0001\u007f\u07ff\u0800\uffff"': "\u00e4\u00e4\1\x7f\u07ff\u0800\uffff",
    rb'"a\ud83d\ude00b\uDBFF\uDFFF"': "a\U0001f600b\U0010ffff",
    '"\u00e4\U0001f600"'.encode(): "\u00e4\U0001f600",
    # Without quotes it is not JSON.
    b"linear": "linear",
    b"": "",
    b"linear\0": "linear",
    rb'a"b"\n': r'a"b"\n',
}
"""The bytes of a string attribute -> the text."""


@pytest.mark.parametrize(("data", "text"), TEXTS.items())
def test_texts(operator: Operator, data: bytes, text: str) -> None:
    result = run(operator, "STRING", p_string=attribute(DTYPES["uint8"], data))
    assert value(result, "STRING") == text
    assert not result.leaks


MALFORMED = {
    b'"': 0,
    b'"neg': 0,
    b'"a"b"': 2,
    b'"a\n"': 2,
    rb'"\"': 1,
    rb'"a\x"': 2,
    rb'"\u12"': 1,
    rb'"\u12g4"': 1,
    rb'"a\u0000"': 2,
    rb'"\ud83d"': 1,
    rb'"\ud83dx\ude00"': 1,
    rb'"\ud83d\u0041"': 1,
    rb'"\ude00\ud83d"': 1,
}
"""A malformed string of JSON -> the offset of the error in bytes."""


@pytest.mark.parametrize(("data", "place"), MALFORMED.items())
def test_malformed_texts(operator: Operator, data: bytes, place: int) -> None:
    result = run(operator, "STRING", p_string=attribute(DTYPES["uint8"], data))
    assert (result.status, result.stage) == (-1, "init")
    problem = f"attribute 'p_string' is a malformed JSON string at byte {place}: "
    assert result.printed.startswith(f"Params: {problem}")
    assert not result.leaks


@pytest.mark.parametrize("type_name", ["VX_TYPE_ARRAY", "FLOATS"])
def test_long_lists(operator: Operator, type_name: str) -> None:
    numbers = list(range(-150, 150))
    dtype = "float32" if type_name == "FLOATS" else "int64"
    data = attribute(DTYPES[dtype], np.array(numbers, dtype))
    assert value(run(operator, type_name, **{name_of(type_name): data}), type_name) == numbers


BARE = """\
name: Bare
runtimes: [rknn2]
inputs: {x: {type: VX_TYPE_TENSOR}}
outputs: {y: {type: VX_TYPE_TENSOR}}
params:
  a: {type: string}
  b: {type: int}
  c: {type: string}
  d: {type: floats}
  e: {type: ints, source: "const:e"}
"""
COPY_ONE = "outputs->y.float32[0] = inputs->x.float32[0];"


def test_missing_attribute_without_default(host: Path, tmp_path: Path) -> None:
    operator = build_operator(tmp_path, host, BARE, compute_text("bare", COPY_ONE))
    params = {"a": "a", "b": 1, "c": "c", "d": [1.0], "e": [2]}
    inputs = {"x": np.zeros(1, np.float32)}
    outputs = {"y": ((1,), "float32")}
    assert operator.run(inputs, params, outputs).status == 0
    for name in params:
        result = operator.run(inputs, params, outputs, {f"attribute:{name}": b""})
        assert (result.status, result.stage) == (-1, "init")
        what = "input or attribute" if name == "e" else "attribute"
        assert result.printed == (
            f"Bare: the node has no {what} '{name}', and op.yml has no default for it"
        )
        assert not result.leaks  # the previously read texts are freed
    operator.close()


# ---- min, max and choices ----

LIMITED = """\
name: Limited
runtimes: [rknn2]
inputs: {x: {type: VX_TYPE_TENSOR}}
outputs: {y: {type: VX_TYPE_TENSOR, same_as: x}}
params:
  axis: {type: int, default: 0, min: -2, max: 1}
  count: {type: VX_TYPE_UINT8, default: 1, min: 1, source: 'const:count'}
  ratio: {type: float, default: 0.5, min: 0.1, max: 1}
  wide: {type: VX_TYPE_FLOAT64, default: 0.1, choices: [0.1, 0.5]}
  mode: {type: string, default: linear, choices: [linear, '100%']}
  strides: {type: ints, default: [1, 1], min: 1}
  weights: {type: floats, default: [0.5], max: 0.5}
"""


@pytest.fixture(scope="module")
def limited(host: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Operator]:
    math = compute_text("limited", COPY_ONE)
    made = build_operator(tmp_path_factory.mktemp("limited"), host, LIMITED, math)
    yield made
    made.close()


@pytest.mark.parametrize(
    ("params", "problem"),
    [
        ({"axis": 1}, ""),
        ({"axis": -2, "ratio": 0.1, "wide": 0.5, "mode": "100%", "strides": [7, 1]}, ""),
        ({"axis": 2}, "param 'axis' is 2 (expected -2 to 1)"),
        ({"axis": -3}, "param 'axis' is -3 (expected -2 to 1)"),
        ({"count": 0}, "param 'count' is 0 (expected 1 or more)"),
        ({"ratio": 1.5}, "param 'ratio' is 1.5 (expected 0.1 to 1)"),
        ({"wide": 0.25}, "param 'wide' is 0.25 (expected 0.1, 0.5)"),
        ({"mode": "cubic"}, "param 'mode' is cubic (expected linear, 100%)"),
        ({"strides": [1, 0]}, "param 'strides' has the item 0 (expected 1 or more)"),
        ({"weights": [0.5, 0.75]}, "param 'weights' has the item 0.75 (expected 0.5 or less)"),
    ],
)
def test_value_that_op_yml_does_not_allow(
    limited: Operator, params: dict[str, Any], problem: str
) -> None:
    values_ = {param.name: param.default for param in limited.spec.params} | params
    x = {"x": np.ones(1, np.float32)}
    result = limited.run(x, values_, {"y": ((1,), "float32")})
    assert result.status == (-1 if problem else 0), result.printed
    assert result.printed == (f"Limited: {problem}" if problem else "")
    assert not result.leaks


@pytest.mark.slow
def test_nan_is_outside_of_a_range(limited: Operator) -> None:
    values_ = {param.name: param.default for param in limited.spec.params}
    nan = attribute(DTYPES["float32"], np.array([np.nan], np.float32))
    x = {"x": np.ones(1, np.float32)}
    result = limited.run(x, values_, {"y": ((1,), "float32")}, {"attribute:ratio": nan})
    assert result.status == -1
    assert "param 'ratio' is nan (expected 0.1 to 1)" in result.printed.replace("-nan", "nan")
