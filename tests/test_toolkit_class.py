"""The class that RKNN-Toolkit calls, under a stand-in of the toolkit; no TensorFlow is needed."""

from __future__ import annotations

import functools
import keyword
import os
import subprocess
import sys
import textwrap
import traceback
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import vermin
from hypothesis import example, given
from hypothesis import strategies as st

from opkit.emit.toolkit_class import toolkit_class
from opkit.errors import OpkitError
from opkit.spec import PARAM_TYPES, OpSpec, Param, Tensor, parse

ROOT = Path(__file__).parent.parent
STAND_IN = Path(__file__).parent / "rknn_stand_in"
EXAMPLES = {"resize_area": "resizearea", "exp": "exp", "truncate_div": "truncatediv"}

COPY = '''\
"""A copy."""

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shapes."""
    return {"output": input_shapes["input"]}


def reference(inputs, params):
    """Return the arrays."""
    return {"output": np.array(inputs["input"])}
'''


@pytest.fixture(autouse=True, scope="module")
def _stand_in() -> Iterator[None]:
    sys.path.insert(0, str(STAND_IN))
    yield
    sys.path.remove(str(STAND_IN))


def operator(*params: Param, name: str = "Copy") -> OpSpec:
    return OpSpec(name, "tensorflow", "rk1808", 0, (Tensor("input"),), (Tensor("output"),), params)


def param(type_: str, **facts: Any) -> Param:
    return Param("value", PARAM_TYPES[type_], **facts)


def load(spec: OpSpec, reference: str = COPY) -> ModuleType:
    module = ModuleType(f"rknn_op_{spec.lower}")
    exec(toolkit_class(spec, reference), module.__dict__)
    return module


def instance(spec: OpSpec, reference: str = COPY) -> Any:
    return getattr(load(spec, reference), spec.name)()


class Shape:
    """An input's shape, of which only `format` is asked."""

    def __init__(self, *lengths: int) -> None:
        self.lengths = lengths

    def format(self, fmt: str) -> list[int]:
        assert fmt == "NHWC"
        return list(self.lengths)


class Attribute:
    """An AttrValue of TensorFlow: one kind of value, or a list of one kind of values."""

    def __init__(self, kind: str | None, value: Any = None) -> None:
        self.kind = kind
        setattr(self, kind or "none", value)

    def WhichOneof(self, group: str) -> str | None:  # noqa: N802
        assert group == "value"
        return self.kind


class Filled:
    """The list of an AttrValue."""

    def __init__(self, kind: str, items: Sequence[Any]) -> None:
        self.fields = [(kind, items)] if items else []

    def ListFields(self) -> list[tuple[str, Sequence[Any]]]:  # noqa: N802
        return self.fields


class Dimension:
    """One dimension of a shape attribute."""

    def __init__(self, size: int) -> None:
        self.size = size


class ShapeValue:
    """A shape attribute."""

    def __init__(self, *sizes: int) -> None:
        self.dim = [Dimension(size) for size in sizes]


class NodeDef:
    """A NodeDef of TensorFlow."""

    def __init__(
        self, attr: dict[str, Attribute] | None = None, input: Sequence[str] = ("images",)
    ) -> None:
        self.name = "scope/node"
        self.attr = attr or {}
        self.input = list(input)


def value_of(spec: OpSpec, node: NodeDef, constants: Any = None, reference: str = COPY) -> Any:
    return instance(spec, reference).load_params_from_tf(node, constants)["value"]


def from_attribute(type_: str, kind: str, value: Any, **facts: Any) -> Any:
    return value_of(operator(param(type_, **facts)), NodeDef({"value": Attribute(kind, value)}))


def test_first_line_names_the_sources() -> None:
    text = toolkit_class(operator(name="ResizeArea"), COPY)
    assert text.splitlines()[0] == (
        "# Generated from op.yml and resizearea_reference.py by opkit. "
        "Do not edit: the next build writes it anew."
    )


def test_reference_is_in_the_text_as_it_is() -> None:
    assert COPY in toolkit_class(operator(), COPY)


def test_what_the_toolkit_registers() -> None:
    spec = parse(
        """
        name: Two
        inputs: {b: {type: VX_TYPE_TENSOR, doc: second}, a: {type: VX_TYPE_TENSOR}}
        outputs: {d: {type: VX_TYPE_TENSOR}, c: {type: VX_TYPE_TENSOR, doc: the "c"}}
        """
    )
    two = instance(spec)
    assert two.op == "Two"
    assert [(io.name, io.label, io.description) for io in two.def_input] == [
        ("b", "b", "second"),
        ("a", "a", ""),
    ]
    assert [(io.name, io.description) for io in two.def_output] == [("d", ""), ("c", 'the "c"')]


@pytest.mark.parametrize(
    ("type_", "kind", "value", "expected"),
    [
        ("VX_TYPE_BOOL", "b", True, True),
        ("VX_TYPE_BOOL", "i", 0, False),
        ("VX_TYPE_INT32", "i", -(2**31), -(2**31)),
        ("VX_TYPE_INT32", "b", True, 1),
        ("VX_TYPE_INT32", "f", 3.0, 3),
        ("VX_TYPE_UINT8", "type", 9, 9),
        ("VX_TYPE_UINT64", "i", 2**53, 2**53),
        ("VX_TYPE_FLOAT32", "f", 0.1, 0.10000000149011612),
        ("VX_TYPE_FLOAT32", "i", 7, 7.0),
        ("VX_TYPE_FLOAT64", "f", 0.1, 0.1),
        ("VX_TYPE_ARRAY", "i", 5, [5]),
        ("VX_TYPE_ARRAY", "list", Filled("i", [3, -4]), [3, -4]),
        ("VX_TYPE_ARRAY", "list", Filled("f", [3.0]), [3]),
        ("VX_TYPE_ARRAY", "list", Filled("b", [True, False]), [1, 0]),
        ("VX_TYPE_ARRAY", "shape", ShapeValue(1, -1, 3), [1, -1, 3]),
        ("VX_TYPE_INT16", "list", Filled("i", [12]), 12),
    ],
)
def test_param_from_attribute(type_: str, kind: str, value: Any, expected: Any) -> None:
    result = from_attribute(type_, kind, value)
    assert result == expected
    assert type(result) is type(expected)


@pytest.mark.parametrize(
    ("type_", "kind", "value", "message"),
    [
        ("VX_TYPE_BOOL", "i", 2, "is 2, but must be true or false"),
        ("VX_TYPE_BOOL", "f", 0.5, "is 0.5, but must be true or false"),
        ("VX_TYPE_UINT8", "i", 256, "is 256, but must be a whole number from 0 to 255"),
        ("VX_TYPE_INT8", "i", -129, "is -129, but must be a whole number from -128 to 127"),
        ("VX_TYPE_INT32", "f", 0.5, "is 0.5, but must be a whole number from -2147483648"),
        ("VX_TYPE_INT32", "f", float("nan"), "is nan, but must be a whole number"),
        (
            "VX_TYPE_INT64",
            "i",
            2**53 + 1,
            "whole number from -9007199254740992 to 9007199254740992",
        ),
        ("VX_TYPE_INT32", "s", b"SAME", "is b'SAME', but must be a whole number"),
        ("VX_TYPE_FLOAT64", "s", b"SAME", "is b'SAME', but must be a number"),
        ("VX_TYPE_FLOAT32", "f", 1e39, "is 1e+39, which a VX_TYPE_FLOAT32 cannot hold"),
        ("VX_TYPE_FLOAT32", "list", Filled("f", [1.0, 2.0]), "has 2 items, but a VX_TYPE_FLOAT32"),
        ("VX_TYPE_ARRAY", "list", Filled("i", []), "has 0 items, but must have 1 to 16"),
        ("VX_TYPE_ARRAY", "list", Filled("i", [0] * 17), "has 17 items, but must have 1 to 16"),
        ("VX_TYPE_ARRAY", "list", Filled("i", [1, 2**31]), "is 2147483648, but must be"),
        ("VX_TYPE_INT32", None, None, "is None, but must be a whole number"),
    ],
)
def test_attribute_that_does_not_fit(type_: str, kind: str, value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=r"^Copy: node 'scope/node': param 'value': ") as caught:
        from_attribute(type_, kind, value)
    assert message in str(caught.value)
    assert "another type in op.yml" in str(caught.value)
    assert "params_from_tf of copy_reference.py" in str(caught.value)


def test_array_of_a_fixed_length() -> None:
    def size(*items: int) -> Any:
        return from_attribute("VX_TYPE_ARRAY", "list", Filled("i", items), length=2)

    assert size(4, 5) == [4, 5]
    with pytest.raises(ValueError, match="has 3 items, but must have 2"):
        size(4, 5, 6)


WHOLE = {name: type_.limits for name, type_ in PARAM_TYPES.items() if type_.limits}


@given(st.sampled_from(sorted(WHOLE)), st.integers(-(2**65), 2**65))
@example("VX_TYPE_UINT16", 65535)
@example("VX_TYPE_UINT16", 65536)
@example("VX_TYPE_CHAR", 255)
def test_whole_numbers_are_kept_or_refused(type_: str, number: int) -> None:
    node = NodeDef({"value": Attribute("i", number)})
    low, high = WHOLE[type_]
    operator_class = _cached_instance(type_)
    if low <= number <= high and abs(number) <= 2**53:
        value = operator_class.load_params_from_tf(node, {})["value"]
        assert value == ([number] if type_ == "VX_TYPE_ARRAY" else number)
    else:
        with pytest.raises(ValueError, match=f"is {number}, but must be"):
            operator_class.load_params_from_tf(node, {})


@functools.cache
def _cached_instance(type_: str) -> Any:
    return instance(operator(param(type_)))


@given(st.floats(width=32))
def test_every_float32_is_kept(number: float) -> None:
    node = NodeDef({"value": Attribute("f", number)})
    value = _cached_instance("VX_TYPE_FLOAT32").load_params_from_tf(node, {})["value"]
    assert np.float32(value).tobytes() == np.float32(number).tobytes() or np.isnan(number)
    assert np.isnan(value) == np.isnan(number)


SIZE = operator(param("VX_TYPE_ARRAY", source="const:size", length=2))


@pytest.mark.parametrize(
    "constants",
    [
        {"resize/size": np.array([4, 5], np.int32)},
        {"resize/size:0": [4, 5]},
        {"resize/size": (np.int64(4), 5.0), "size": [8, 8], "other/size": [9, 9]},
        {"size": [4, 5]},
    ],
)
def test_constant_by_the_name_of_the_input(constants: dict[str, Any]) -> None:
    assert value_of(SIZE, NodeDef(input=["images", "resize/size"]), constants) == [4, 5]


@pytest.mark.parametrize(
    ("source", "inputs", "expected"),
    [
        ("const:1", ["images", "Const_7:0"], 41),
        ("const:Const_7", ["images", "Const_7:0"], 41),
        ("const:a/size", ["a/size", "Const_7"], 42),
        ("const:size", ["a/size", "Const_7"], 42),
        ("const:b/size", ["a/size", "b/size"], 43),
    ],
)
def test_constant_by_position_and_full_name(source: str, inputs: list[str], expected: int) -> None:
    spec = operator(param("VX_TYPE_INT32", source=source))
    constants = {"Const_7": np.array(41), "a/size": np.array([42]), "b/size": [[43]]}
    assert value_of(spec, NodeDef(input=inputs), constants) == expected


def test_constant_with_an_ambiguous_name_is_refused() -> None:
    constants = {"a/size": [1, 2], "b/size": [3, 4]}
    with pytest.raises(ValueError, match="no constant is called 'size'") as caught:
        value_of(SIZE, NodeDef(input=["a/size", "b/size"]), constants)
    assert "its constant inputs: a/size, b/size." in str(caught.value)


def test_source_is_preferred_to_the_attribute() -> None:
    node = NodeDef({"value": Attribute("list", Filled("i", [1, 2]))}, ["x", "size"])
    assert value_of(SIZE, node, {"size": [4, 5]}) == [4, 5]


@pytest.mark.parametrize("constants", [None, {}, {"elsewhere": 1}])
@pytest.mark.parametrize("source", [None, "const:gone"])
def test_default_where_the_model_has_nothing(constants: Any, source: str | None) -> None:
    spec = operator(param("VX_TYPE_ARRAY", source=source, default=(6, 7)))
    assert value_of(spec, NodeDef(), constants) == [6, 7]


@pytest.mark.parametrize(
    ("type_", "default"),
    [
        ("VX_TYPE_BOOL", False),
        ("VX_TYPE_INT32", 0),
        ("VX_TYPE_FLOAT64", float("-inf")),
        ("VX_TYPE_FLOAT64", 1e300),
        ("VX_TYPE_ARRAY", tuple(range(-(2**31), -(2**31) + 16))),
    ],
)
def test_default_is_written_as_it_is(type_: str, default: Any) -> None:
    value = value_of(operator(param(type_, default=default)), NodeDef())
    assert value == (list(default) if type_ == "VX_TYPE_ARRAY" else default)
    assert type(value) is (list if type_ == "VX_TYPE_ARRAY" else type(default))


def test_param_that_is_nowhere() -> None:
    node = NodeDef({"T": Attribute("type", 1)}, ["images", "resize/size:0"])
    with pytest.raises(ValueError, match="value") as caught:
        value_of(operator(param("VX_TYPE_ARRAY")), node, {"resize/size": [4, 4]})
    assert str(caught.value) == (
        "Copy: node 'scope/node': param 'value': the node has no attribute of this name, and it "
        "has no default. The node's attributes: T; its constant inputs: resize/size. In op.yml, "
        "give the param a `default: VALUE`, or a `source: const:NAME` with the name of a constant "
        "input; or return it from params_from_tf of copy_reference.py"
    )


def test_params_keep_their_order() -> None:
    names = ["zebra", "apple", "mango", "b", "a"]
    params = [Param(name, PARAM_TYPES["VX_TYPE_INT32"], default=1) for name in names]
    loaded = instance(operator(*params)).load_params_from_tf(NodeDef(), {})
    assert list(loaded) == names
    assert isinstance(loaded, OrderedDict)  # in Python 3.5 a dict has no order


def with_params_from_tf(body: str) -> str:
    return f"{COPY}\n\ndef params_from_tf(node_def, constants):\n    {body}\n"


def test_params_from_tf_overrides_and_completes() -> None:
    spec = operator(
        Param("first", PARAM_TYPES["VX_TYPE_INT32"]),
        Param("second", PARAM_TYPES["VX_TYPE_INT32"]),
        Param("third", PARAM_TYPES["VX_TYPE_BOOL"], default=True),
    )
    reference = with_params_from_tf(
        "return {'second': constants['size'][0] + 100,"
        " 'third': node_def.attr['layout'].s == b'NCHW'}"
    )
    node = NodeDef(
        {"first": Attribute("i", 1), "second": Attribute("i", 2), "layout": Attribute("s", b"X")},
        ["images", "resize/size"],
    )
    params = instance(spec, reference).load_params_from_tf(node, {"resize/size": [4, 5]})
    assert dict(params) == {"first": 1, "second": 104, "third": False}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return {'valeu': 1}", "param 'valeu': params_from_tf returns it, but op.yml has no such"),
        ("return {'value': 'x'}", "param 'value': is 'x', but must be a whole number"),
        ("return {'value': [[1], [2, 3]]}", "but must be|items"),
        ("pass", "copy_reference.py: params_from_tf must return a dict"),
    ],
)
def test_params_from_tf_that_is_wrong(body: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        value_of(operator(param("VX_TYPE_INT32")), NodeDef(), {}, with_params_from_tf(body))


SHAPES = """
def output_shapes(input_shapes, params):
    n, h, w, c = input_shapes["image"]
    k = params["factor"]
    return {"small": (n, h // k, w // k, c), "joined": input_shapes["mask"] + (n,)}


def reference(inputs, params):
    return {}
"""
TWO = OpSpec(
    "Two",
    "tensorflow",
    "rk1808",
    0,
    (Tensor("mask"), Tensor("image")),
    (Tensor("joined"), Tensor("small")),
    (),
)


def test_output_shapes_in_the_order_of_the_outputs() -> None:
    joined, small = instance(TWO, SHAPES).compute_output_shape(
        [Shape(5, 7), Shape(1, 8, 6, 3)], {"factor": 2}
    )
    assert joined.format("NHWC") == [5, 7, 1]
    assert small.format("NHWC") == [1, 4, 3, 3]
    assert small.format("NCHW") == [1, 3, 4, 3]


def test_shapes_are_plain_tuples_of_int() -> None:
    reference = SHAPES.replace("n, h, w", "assert type(input_shapes['mask']) is tuple; n, h, w")
    shapes = [Shape(*np.array([5, 7], np.int64)), Shape(1, 8, 6, 3)]
    joined, _ = instance(TWO, reference).compute_output_shape(shapes, {"factor": np.int32(2)})
    assert [type(length) for length in joined.format("NHWC")] == [int, int, int]


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ("{'joined': (1,)}", r"output_shapes returned \['joined'\], but must return a dict with"),
        ("{'joined': (1,), 'small': (1,), 'x': (1,)}", "the keys .'joined', 'small'."),
        ("(1,)", "output_shapes returned tuple, but must return a dict"),
    ],
)
def test_output_shapes_that_is_wrong(returned: str, message: str) -> None:
    reference = f"def output_shapes(i, p): return {returned}\ndef reference(i, p): pass"
    with pytest.raises(ValueError, match=f"^two_reference.py: .*{message}"):
        instance(TWO, reference).compute_output_shape([Shape(1), Shape(1)], {})


def test_number_of_inputs_is_checked() -> None:
    with pytest.raises(ValueError, match=r"Two: 1 inputs, but op.yml has: mask, image"):
        instance(TWO, SHAPES).compute_output_shape([Shape(1)], {})


MARKER = "def output_shapes(i, p): return {'output': tuple(ord(c) for c in TEXT)}\n"
NEEDED = MARKER + "def reference(i, p): return {}\n"


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("TEXT = 'a\\\\b\\n'\n", "a\\b\n"),
        ('TEXT = """a"""\n', "a"),
        ("TEXT = '''a'''\n", "a"),
        ("TEXT = '''a\\'''' + \"\"\"$x ${y} {{z}} {0} %s\"\"\" # \\\n", "a'$x ${y} {{z}} {0} %s"),
        ('"""Doc."""\nfrom __future__ import division\nTEXT = __doc__\n', "Doc."),
        ("#!/usr/bin/env python\n# -*- coding: latin-1 -*-\nTEXT = 'é€'\n", "é€"),
        ("# coding: latin-1\nTEXT = 'é€'\n", "é€"),
        ("\ufeffTEXT = 'bom'\n", "bom"),
        ("TEXT = (\r\n  'a'\r\n)\r\n", "a"),
        ("import linecache\nlinecache = types = np = toolkit = INPUTS = OUTPUTS = PARAMS = None\n"
         "class Copy: pass\nclass Shape: pass\ndef zip(): pass\ndef _run(): pass\n"
         "_reference = _SOURCE = _FILE = _NAME = len = tuple_ = all = dict = None\n"
         "TEXT = 'mine'\n", "mine"),
        ("from numpy import *\nTEXT = 'star'\n", "star"),
        ("TEXT = __name__\nif __name__ == '__main__':\n    TEXT = 'main'\n", "copy_reference"),
        ("TEXT = 'form\\x0cfeed' #\x0c page\n", "form\x0cfeed"),
    ],
)  # fmt: skip
def test_any_source_can_be_embedded(source: str, text: str, tmp_path: Path) -> None:
    file = tmp_path / "rknn_op_copy.py"
    file.write_text(toolkit_class(operator(), source + NEEDED), encoding="utf-8")
    module = ModuleType("rknn_op_copy")
    exec(compile(file.read_bytes(), str(file), "exec"), module.__dict__)
    (shape,) = module.Copy().compute_output_shape([Shape(1)], {})
    assert shape.format("NHWC") == [ord(character) for character in text]


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("'\"\\\t $")))
def test_any_text_can_be_in_a_string(text: str) -> None:
    source = f"TEXT = {text!r}\n{NEEDED}"
    (shape,) = instance(operator(), source).compute_output_shape([Shape(1)], {})
    assert shape.format("NHWC") == [ord(character) for character in text]


@given(st.text(), st.sampled_from(["inputs", "outputs"]))
def test_any_doc_is_data(doc: str, group: str) -> None:
    tensors = {"inputs": (Tensor("input"),), "outputs": (Tensor("output"),)}
    tensors[group] = (Tensor("other", doc),)
    spec = OpSpec("Copy", "tensorflow", "rk1808", 0, tensors["inputs"], tensors["outputs"])
    copy = instance(spec)
    (io,) = copy.def_input if group == "inputs" else copy.def_output
    assert (io.name, io.description) == ("other", doc)


@pytest.mark.parametrize("name", ["Shape", "IoMap", "RKNNCustomOP", "sum", "Cast", "sorted_"])
def test_operators_called_like_something_else(name: str) -> None:
    (shape,) = instance(operator(name=name)).compute_output_shape([Shape(2, 3)], {})
    assert shape.format("NHWC") == [2, 3]


@pytest.mark.parametrize("name", ["zip", "np", "toolkit", "_run", "PARAMS", "ValueError"])
def test_operators_whose_name_is_needed(name: str) -> None:
    assert not keyword.iskeyword(name)
    with pytest.raises(OpkitError, match=rf"^op.yml: name: '{name}' is a name that rknn_op_"):
        toolkit_class(operator(name=name), COPY)


def test_an_error_in_the_reference_shows_its_own_line() -> None:
    reference = COPY.replace('input_shapes["input"]', 'input_shapes["typo"]')
    try:
        instance(operator(), reference).compute_output_shape([Shape(1)], {})
    except KeyError:
        text = traceback.format_exc()
    line = 1 + reference.splitlines().index('    return {"output": input_shapes["typo"]}')
    assert f'File "copy_reference.py", line {line}, in output_shapes' in text
    assert '    return {"output": input_shapes["typo"]}' in text


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("x = f'{1}'", "f-strings came with Python 3.6"),
        ("x: int = 1", "annotated variables came with Python 3.6"),
        ("x = 1_000", "1_000 with `_` came with Python 3.6.* write 1000"),
        ("def f(*a, b,): pass", "a comma at the end after `\\*` came with Python 3.6"),
        ("def f(**k,): pass", "a comma at the end after `\\*` came with Python 3.6"),
        ("def f(): return *a, b", "unpacking without parentheses came with Python 3.8"),
        ("def f(): yield *a, b", "unpacking without parentheses came with Python 3.8"),
        ("x = (y := 1)", "`:=` came with Python 3.8"),
        ("def f(a, /): pass", "`/` among arguments came with Python 3.8"),
        ("match 1:\n    case 1: pass", "`match` came with Python 3.10"),
        ("with (open('x') as f): pass", "`with .*` came with Python 3.9"),
        ("def f(a: list[int]): pass", "types like `list.int.`"),
        ("def f(*, a) -> int | None: pass", "types like `list.int.`"),
        ("import math\ny = math.prod([1])", "math.prod came with Python 3.8.* write numpy.prod"),
        ("from math import prod as p", "math.prod came with Python 3.8"),
        ("import math as m\ny = m.isqrt(4)", "math.isqrt came with Python 3.8"),
        ("import numpy as np\ny = np.concat([])", "numpy.concat came with numpy 2.0"),
        ("from numpy.lib.stride_tricks import sliding_window_view", "came with numpy 1.20"),
        ("import dataclasses", "dataclasses came with Python 3.7"),
        ("from dataclasses import dataclass", "dataclasses came with Python 3.7"),
        ("y = 'x'.removeprefix('x')", "`removeprefix` came with Python 3.9"),
        ("import my_helpers", "'my_helpers' is not there: a package carries no Python file but"),
        ("from . import helpers", "'.' is not there"),
        ("from opkit import testing", "'opkit' is not there"),
        ("x = (", "this is not Python: "),
        ("x = '\0'", "this is not Python: "),
        ("return 1", "this is not Python: 'return' outside function"),
    ],
)
def test_reference_that_the_toolkit_cannot_run(line: str, message: str) -> None:
    source = f"x = 0\n\n{line}\n{NEEDED}"
    with pytest.raises(OpkitError, match=f"(?s)^copy_reference.py:(\\d+): .*{message}") as caught:
        toolkit_class(operator(), source)
    if "\0" not in line and line != "x = (":
        offset = line.count("\n") if "\ny = " in line else 0
        assert f"copy_reference.py:{3 + offset}: " in str(caught.value)


@pytest.mark.parametrize(
    "line",
    [
        "def f(a, *, b: int = 2 ** 3) -> dict: return (*a, b)",
        "x = [1 * 2,]; y = dict(**{},); print(*[1],)",
        "z = {**{}}; w = [*()]; m = 2 @ 3 if 0 else 0",
        "from __future__ import division",
        "import scipy.special, itertools, math; math.gcd(1, 2)",
        "def f(): yield (*(), 1)",
        "def f():\n    with (open)('x') as f, (open('y')) as g: pass",
    ],
)
def test_reference_that_python_3_5_understands(line: str) -> None:
    toolkit_class(operator(), f"{line}\n{NEEDED}")


@pytest.mark.parametrize("missing", ["output_shapes", "reference"])
def test_reference_without_a_function(missing: str) -> None:
    source = COPY.replace(f"def {missing}(", "def something_else(")
    with pytest.raises(OpkitError, match=f"copy_reference.py:1: the function '{missing}' is miss"):
        toolkit_class(operator(), source)


def example_class(folder: str) -> str:
    description = ROOT / "examples" / folder / f"{folder}.yml"
    reference = description.with_name(f"{EXAMPLES[folder]}_reference.py")
    return toolkit_class(parse(description.read_text()), reference.read_text())


@pytest.mark.parametrize("folder", EXAMPLES)
def test_nothing_in_the_file_is_newer_than_python_3_5(folder: str) -> None:
    description = ROOT / "examples" / folder / f"{EXAMPLES[folder]}_reference.py"
    for source in (example_class(folder), description.read_text()):
        _, python_3 = vermin.detect(source)
        assert python_3 is not None
        assert python_3 <= (3, 5)


def old_pythons() -> list[str]:
    """Return this Python, and of those that RKNN-Toolkit runs in, all that are found."""
    folders = [Path(folder) for folder in os.get_exec_path()]
    folders += sorted((Path.home() / ".pyenv" / "versions").glob("*/bin"))
    found = {}
    for version in ("3.5", "3.6", "3.7", "3.8"):
        for folder in folders:
            python = folder / f"python{version}"
            if version not in found and python.exists() and _runs(python):
                found[version] = str(python)
    return [*found.values(), sys.executable]


def _runs(python: Path) -> bool:
    # A program that only chooses a Python, such as pyenv's, may find that none is chosen.
    return subprocess.run([python, "-c", ""], capture_output=True).returncode == 0


OLD_PYTHON_PROGRAM = textwrap.dedent("""
    import sys
    import types
    try:
        import numpy
    except ImportError:  # an old Python need not have it: shapes go without
        sys.modules["numpy"] = types.ModuleType("numpy")
    from rknn.api.custom_op import Shape
    from rknn_op_resizearea import ResizeArea
    shape = Shape()
    shape.set_shape([1, 6, 5, 3], "NHWC")
    (result,) = ResizeArea().compute_output_shape([shape], {"size": [4, 2], "align_corners": False})
    print(ResizeArea.op, [io.name for io in ResizeArea.def_input], result.format("NCHW"))
""")


@pytest.mark.parametrize("python", old_pythons())
def test_really_runs_in_old_pythons(python: str, tmp_path: Path) -> None:
    (tmp_path / "rknn_op_resizearea.py").write_text(example_class("resize_area"), encoding="utf-8")
    path = os.pathsep.join([str(tmp_path), str(STAND_IN)])
    done = subprocess.run(
        [python, "-c", OLD_PYTHON_PROGRAM],
        env={**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
    )
    assert (done.stderr, done.stdout) == ("", "ResizeArea ['input'] [1, 3, 4, 2]\n")


NASTY = OpSpec(
    "Nasty",
    "tensorflow",
    "rk1808",
    1,
    (
        Tensor("a", 'It\'s "quoted" \\ and long: ' + "word " * 20),
        Tensor("b", 'He said "yes"'),
        Tensor("c", "it's"),
        Tensor("d", "宽" * 44),
        Tensor("e", "x" * 83),
        Tensor("f", "x" * 84),
    ),
    (Tensor("output", "\x00\x7f\u2028é"),),
    (
        Param("p", PARAM_TYPES["VX_TYPE_ARRAY"], default=(-(2**31),) * 16, length=16),
        Param("q", PARAM_TYPES["VX_TYPE_ARRAY"], default=(1,), source="const:size"),
        Param("r", PARAM_TYPES["VX_TYPE_FLOAT64"], default=1e300),
        Param("s", PARAM_TYPES["VX_TYPE_FLOAT32"], default=float("inf")),
        Param("t", PARAM_TYPES["VX_TYPE_BOOL"]),
    ),
)


def test_text_is_formatted(tmp_path: Path) -> None:
    texts = {
        "copy": toolkit_class(operator(), COPY),
        "nasty": toolkit_class(NASTY, NEEDED),
        "both_quotes": toolkit_class(operator(), "X = '''a''' + \"\"\"b\"\"\"\n" + NEEDED),
        **{folder: example_class(folder) for folder in EXAMPLES},
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    ruff = [sys.executable, "-m", "ruff", "format", "--isolated", "--diff", "--line-length", "100"]
    done = subprocess.run([*ruff, str(tmp_path)], capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("", 0), done.stderr
