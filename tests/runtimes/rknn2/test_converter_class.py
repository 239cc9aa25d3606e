"""The class that RKNN-Toolkit2 calls, and the scripts around it, without the toolkit."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import util
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import vermin

from opkit.description.spec import OpSpec
from opkit.runtimes import parse
from opkit.runtimes.rknn2.chips import ATTRIBUTE_FLOATS, ATTRIBUTE_INTEGERS
from opkit.runtimes.rknn2.converter_class import files
from tests.repositories import EXAMPLES, RKNN2_EXAMPLES, ROOT

STAND_IN = Path(__file__).parent / "rknn_stand_in"

DESCRIPTION = """\
name: Shift
framework: onnx
runtimes: [rknn2]
inputs: {{x: {{type: VX_TYPE_TENSOR}}, by: {{type: VX_TYPE_TENSOR}}}}
outputs: {{y: {{type: VX_TYPE_TENSOR}}, count: {{type: VX_TYPE_TENSOR, dtype: int64}}}}
params: {{{params}}}
"""

REFERENCE = """\
import numpy as np


def output_shapes(input_shapes, params):
    return {"y": input_shapes["x"], "count": (1, *params.get("size", ()))}


def reference(inputs, params):
    y = inputs["x"] + inputs["by"].astype(inputs["x"].dtype)
    return {"y": y.astype(np.float16), "count": np.full((1, *params.get("size", ())), y.size)}
"""


@pytest.fixture(autouse=True, scope="module")
def _stand_in() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in sys.modules if name.split(".")[0] == "rknn"]:
            patch.delitem(sys.modules, name)
        patch.syspath_prepend(str(STAND_IN))
        yield


def described(params: str = "") -> OpSpec:
    return parse(DESCRIPTION.format(params=params))


def write(folder: Path, spec: OpSpec, reference: str = REFERENCE) -> Path:
    """Write a repository's files for the converter; return the path of the class."""
    (folder / "rknn2").mkdir()
    (folder / f"{spec.lower}_reference.py").write_text(reference)
    for path, text in files(spec).items():
        (folder / path).write_text(text)
    return folder / "rknn2" / f"{spec.lower}_custom_op.py"


def custom_op(folder: Path, params: str = "", reference: str = REFERENCE) -> Any:
    """Return an instance of the class."""
    path = write(folder, described(params), reference)
    spec = util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.CustomOp()


def node(**attributes: Any) -> Any:
    values = [SimpleNamespace(name=name, value=value) for name, value in attributes.items()]
    return SimpleNamespace(name="shift_0", attribute=values)


X = np.arange(6, dtype=np.float32).reshape(1, 6)
INPUTS = [X, np.ones((1, 6), np.int32)]
SIGNATURE = [[1, 6], [1, 6]], [np.dtype("float32"), np.dtype("int32")]


# ---- Tensors ----


def test_outputs_have_declared_shapes_and_dtypes(tmp_path: Path) -> None:
    operator = custom_op(tmp_path)
    assert operator.op_type == "cstShift"
    shapes, dtypes = operator.shape_infer(node(), *SIGNATURE)
    assert (shapes, dtypes) == ([[1, 6], [1]], [np.dtype("float32"), np.dtype("int64")])
    assert [type(size) for size in shapes[0]] == [int, int]
    y, count = operator.compute(node(), INPUTS)
    # The reference returns float16, on which the toolkit crashes.
    assert (y.dtype, y.tolist()) == (np.float32, (X + 1).tolist())
    assert (count.dtype, count.tolist()) == (np.int64, [6])
    assert y.flags.c_contiguous


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_halves_travel_as_floats(dtype: str, tmp_path: Path) -> None:
    operator = custom_op(tmp_path)
    _, dtypes = operator.shape_infer(node(), SIGNATURE[0], [np.dtype(dtype), np.dtype("int32")])
    assert dtypes[0] == np.float32
    assert operator.compute(node(), [X.astype(dtype), INPUTS[1]])[0].dtype == np.float32


@pytest.mark.parametrize("dtype", ["int32", "int64", "bool"])
def test_dtype_follows_first_input(dtype: str, tmp_path: Path) -> None:
    operator = custom_op(tmp_path)
    inputs = [X.astype(dtype), INPUTS[1]]
    assert operator.compute(node(), inputs)[0].dtype == dtype


def test_transposed_output_becomes_contiguous(tmp_path: Path) -> None:
    reference = REFERENCE.replace('"y": y.astype(np.float16)', '"y": np.asfortranarray(y)')
    operator = custom_op(tmp_path, reference=reference)
    inputs = [X.reshape(2, 3), np.ones((2, 3))]
    y, _ = operator.compute(node(), inputs)
    assert y.flags.c_contiguous
    assert y.tolist() == (X.reshape(2, 3) + 1).tolist()


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('{"y": y.astype(np.float16)', '{"y": y.T', r"returns 'y' as \[6, 1\], .* says \[1, 6\]"),
        ('{"y": y.astype(np.float16), ', "{", "reference must return a dict of .*'y', 'count'"),
        ("return {", "return [y]\n    return {", "must return a dict of"),
        ("np.full", "1 // 0 * np.full", "reference: ZeroDivisionError"),
        ('inputs["by"]', 'inputs["bias"]', r"no 'bias': the inputs are \['x', 'by'\]"),
    ],
)
def test_wrong_reference_is_named(old: str, new: str, problem: str, tmp_path: Path) -> None:
    assert old in REFERENCE
    head, tail = REFERENCE.split("def reference")
    operator = custom_op(tmp_path, reference=f"{head}def reference{tail.replace(old, new)}")
    with pytest.raises(ValueError, match=f"^cstShift: .*{problem}"):
        operator.compute(node(), INPUTS)


def test_wrong_number_of_inputs_is_refused(tmp_path: Path) -> None:
    operator = custom_op(tmp_path)
    for count in (1, 3):
        with pytest.raises(ValueError, match=f"node 'shift_0' has {count} inputs, expected"):
            operator.compute(node(), [X] * count)


COUNTS = REFERENCE.replace('(1, *params.get("size", ()))', "()")
"""A reference whose second output has no dimensions."""


def test_tensors_without_dimensions(tmp_path: Path) -> None:
    operator = custom_op(tmp_path, reference=COUNTS)
    scalars = [np.float32(2).reshape(()), np.int32(1).reshape(())]
    y, count = operator.compute(node(), scalars)
    assert [(array.shape, array.tolist()) for array in (y, count)] == [((), 3), ((), 1)]
    shapes, _ = operator.shape_infer(node(), [[], []], SIGNATURE[1])
    assert shapes == [[], []]


def test_tensors_of_rank_7_are_refused(tmp_path: Path) -> None:
    operator = custom_op(tmp_path, "size: {type: ints}")
    six, seven = [1] * 6, [1] * 7
    operator.shape_infer(node(size=[1] * 5), [six, six], SIGNATURE[1])
    problem = r"input 'by' has the shape \[1, 1, 1, 1, 1, 1, 1\] with 7 dimensions \(expected 6 at"
    with pytest.raises(ValueError, match=f"^cstShift: {problem}"):
        operator.shape_infer(node(size=[1]), [six, seven], SIGNATURE[1])
    with pytest.raises(ValueError, match=r"output 'count' has the shape .* with 7 dimensions"):
        operator.shape_infer(node(size=[1] * 6), *SIGNATURE)


# ---- The conversion ----


class Rknn:
    """A stand-in for an RKNN object; test_simulator.py has the real one."""

    def __init__(self, registered: list[str], dynamic_input: Any = None, nodes: Any = ()) -> None:
        self.rknn_base = SimpleNamespace(
            custom_op=registered,
            args=SimpleNamespace(dynamic_input=dynamic_input),
            ir=SimpleNamespace(graph=SimpleNamespace(node=nodes)),
        )

    def build(self, operator: Any) -> None:
        operator.shape_infer(node(), *SIGNATURE)

    def compute(self, operator: Any, made: Any) -> Any:
        return operator.compute(made, INPUTS)

    def reg_custom_op(self, operator: Any) -> None:
        assert operator.op_type == "cstShift"


def test_second_registration_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    operator = custom_op(tmp_path)
    registry = SimpleNamespace(extend_ops={"exProposal": None})
    monkeypatch.setitem(sys.modules, "rknn.base.extend_op.extend_op", registry)
    Rknn([]).reg_custom_op(operator)
    registry.extend_ops["cstShift"] = None
    Rknn(["cstOther", "cstShift"]).reg_custom_op(operator)
    Rknn(["cstOther", "cstShift"]).build(operator)
    assert operator.op_type == "cstShift"
    problem = "^cstShift: this process has registered it .* convert each model in a process of its"
    for use in (Rknn.reg_custom_op, Rknn.build):
        with pytest.raises(ValueError, match=problem):
            use(Rknn(["cstOther"]), operator)


@pytest.mark.parametrize(
    ("error", "quantizer", "inputs", "is_tolerated"),
    [
        ("ValueError", None, ["x", "by"], True),
        ("ZeroDivisionError", None, ["made", "by"], True),
        ("NameError", None, ["x", "by"], False),
        ("KeyError", None, ["x", "by"], False),
        ("ValueError", "a quantizer", ["x", "by"], False),
        ("ValueError", None, ["computed", "constant"], False),
    ],
)
def test_reference_refuses_inputs(
    error: str, quantizer: Any, inputs: list[str], is_tolerated: bool, tmp_path: Path
) -> None:
    """The toolkit tries a model with its own numbers before it has a quantizer."""
    refusing = REFERENCE.replace("    y = inputs", f"    raise {error}('refused')\n    y = inputs")
    operator = custom_op(tmp_path, reference=refusing)
    nodes = [
        SimpleNamespace(op_type=op_type, input=names, output=[output])
        for op_type, names, output in (
            ("Constant", [], "constant"),
            ("Abs", ["weight"], "computed"),
            ("Abs", ["x"], "made"),
        )
    ]
    toolkit = Rknn(["cstShift"], nodes=nodes)
    toolkit.rknn_base.ir.graph.initializer = [SimpleNamespace(name="weight")]
    toolkit.rknn_base.quantizer = quantizer
    made = node()
    made.input = inputs
    if is_tolerated:
        y, count = toolkit.compute(operator, made)
        assert (y.dtype, y.tolist()) == (np.float32, np.zeros((1, 6)).tolist())
        assert (count.dtype, count.tolist()) == (np.int64, [0])
    else:
        with pytest.raises(ValueError, match=r"^cstShift: reference: .*refused"):
            toolkit.compute(operator, made)
    with pytest.raises(ValueError, match=r"^cstShift: reference: .*refused"):
        operator.compute(made, INPUTS)


def test_dynamic_input_is_refused(tmp_path: Path) -> None:
    operator = custom_op(tmp_path)
    problem = "^cstShift: dynamic_input is not possible with custom operators: librknnrt crashes"
    with pytest.raises(ValueError, match=problem):
        Rknn(["cstShift"], [[[1, 6]], [[2, 6]]]).build(operator)
    for shape in ([None, 6], None):
        with pytest.raises(
            ValueError, match=r"the input shapes \[\[1, 6\], .* are not fixed; write"
        ):
            operator.shape_infer(node(), [[1, 6], shape], SIGNATURE[1])


NORMAL = float(np.finfo(np.float32).tiny)  # librknnrt parses its text as a smaller number
LARGEST = float(np.finfo(np.float32).max)


@pytest.mark.parametrize(
    "value",
    [2**31, -(2**31) - 1, [0, 2**31], NORMAL, -NORMAL, 1e-45, [1.0, 1e-40, 2.0]]
    + [float(text) for text in ("inf", "-inf", "nan")],
)
@pytest.mark.parametrize("name", ["p", "unread"])
def test_attribute_that_aborts_the_runtime_is_refused(
    name: str, value: Any, tmp_path: Path
) -> None:
    operator = custom_op(tmp_path)
    number = next(each for each in np.ravel(value).tolist() if each not in (0, 1))
    problem = f"node 'shift_0': attribute '{name}' is {number}, on which librknnrt aborts"
    expected = "-2147483648 to 2147483647" if isinstance(number, int) else (
        "0, or 1.17549449e-38 to 3.40282347e[+]38, or minus"
    )  # fmt: skip
    message = f"^cstShift: {problem} when it loads the model .expected {expected}.$"
    with pytest.raises(ValueError, match=message):
        operator.shape_infer(node(**{name: value}), *SIGNATURE)


def test_limits_of_attributes_are_those_of_the_description(tmp_path: Path) -> None:
    names = type(custom_op(tmp_path)).shape_infer.__globals__
    assert (names["INTEGERS"], names["FLOATS"]) == (ATTRIBUTE_INTEGERS, ATTRIBUTE_FLOATS)


def test_attributes_at_the_limits(tmp_path: Path) -> None:
    operator = custom_op(tmp_path)
    above = float(np.nextafter(np.float32(NORMAL), np.float32(1)))
    numbers = {"i": 2**31 - 1, "j": [-(2**31), 0], "f": [LARGEST, -LARGEST, 0.0, above, -above]}
    operator.shape_infer(node(text="9999999999", **numbers), *SIGNATURE)


# ---- Params ----

PARAM_CASES = [
    ("VX_TYPE_BOOL", 1, True),
    ("VX_TYPE_INT8", -128, -128),
    ("VX_TYPE_UINT64", 2**62, 2**62),
    ("int", 5, 5),
    ("float", 0.1, float(np.float32(0.1))),
    ("VX_TYPE_FLOAT64", 0.1, 0.1),
    ("ints", [4, 4], [4, 4]),
    ("floats", [0.5], [0.5]),
    ("ints, length: 2", [1, 2], [1, 2]),
    ("ints", [7] * 20000, [7] * 20000),
    ("ints", [7], [7]),
    ("string", 'a "b"', 'a "b"'),
    ("string", "", ""),
]


@pytest.mark.parametrize(("type_", "value", "expected"), PARAM_CASES)
def test_param_value(type_: str, value: Any, expected: Any, tmp_path: Path) -> None:
    reference = REFERENCE.replace("reference(inputs, params):", "reference(inputs, params):\n"
                                  "    seen.update(params)") + "\n\nseen = {}\n"  # fmt: skip
    operator = custom_op(tmp_path, f"p: {{type: {type_}}}", reference)
    operator.compute(node(p=value), INPUTS)
    seen = operator.reference.seen["p"]
    assert (type(seen), seen) == (type(expected), expected)


@pytest.mark.parametrize(
    ("param", "value", "problem"),
    [
        ("{type: int}", None, "no attribute 'p'"),
        ("{type: int}", 1.0, "'p' is 1.0, expected int64"),
        ("{type: float}", 1, "'p' is 1, expected float32"),
        ("{type: int}", "1", "'p' is '1', expected int64"),
        ("{type: string}", 1, "'p' is 1, expected str"),
        ("{type: VX_TYPE_INT8}", 128, "'p' is 128, expected int8"),
        ("{type: VX_TYPE_BOOL}", 2, "'p' is 2, expected bool"),
        ("{type: float}", [1.0, 2.0], "'p' has 2 items, expected a single one"),
        ("{type: ints, length: 2}", [1, 2, 3], r"'p' has 3 items, expected \[2\]"),
        ("{type: ints}", [1] * 20001, r"'p' has 20001 items, expected range\(1, 20001\)"),
        ("{type: ints, length: 2}", [1], r"'p' has 1 items, expected \[2\]"),
    ],
)
def test_wrong_param_is_refused(param: str, value: Any, problem: str, tmp_path: Path) -> None:
    operator = custom_op(tmp_path, f"p: {param}")
    wrong = node() if value is None else node(p=value)
    with pytest.raises(ValueError, match=f"^cstShift: node 'shift_0'.*{problem}"):
        operator.shape_infer(wrong, *SIGNATURE)


@pytest.mark.parametrize(
    ("param", "value", "problem"),
    [
        ("{type: int, min: 0, max: 3}", 3, ""),
        ("{type: int, min: 0, max: 3}", 4, "'p' is 4 (expected min 0, max 3)"),
        ("{type: float, min: 0.1}", 0.1, ""),
        ("{type: float, min: 0.1}", 0.05, "'p' is 0.05 (expected min 0.1)"),
        ("{type: VX_TYPE_FLOAT64, choices: [0.1]}", float(np.float32(0.1)), ""),
        ("{type: ints, choices: [1, 2]}", [1, 2, 3], "'p' is 3 (expected choices [1, 2])"),
        ("{type: string, choices: [linear]}", "linear", ""),
        ("{type: string, choices: [linear]}", "lin", "'p' is lin (expected choices ['linear'])"),
    ],
)
def test_value_that_op_yml_does_not_allow(
    param: str, value: Any, problem: str, tmp_path: Path
) -> None:
    operator = custom_op(tmp_path, f"q: {{type: int, default: 0}}, p: {param}")
    checks: list[Callable[[], Any]] = [
        lambda: operator.shape_infer(node(p=value), *SIGNATURE),
        lambda: operator.compute(node(p=value), INPUTS),
        lambda: operator.check_attribute(node(p=value), "p", value),  # of make_onnx.py
    ]
    for check in checks:
        if not problem:
            check()
            continue
        with pytest.raises(ValueError, match=r"^cstShift: node 'shift_0': ") as caught:
            check()
        assert str(caught.value).endswith(problem)


def test_constant_input_that_op_yml_does_not_allow(tmp_path: Path) -> None:
    operator = custom_op(tmp_path, "p: {type: ints, min: 1, source: 'const:p'}")
    operator.compute(node(), [*INPUTS, np.array([1, 2])])
    with pytest.raises(ValueError, match=r"^cstShift: node 'shift_0': 'p' is 0 \(expected min 1"):
        operator.compute(node(), [*INPUTS, np.array([1, 0])])


@pytest.mark.parametrize(
    ("param", "default"),
    [
        ("{type: VX_TYPE_BOOL, default: false}", False),
        ("{type: floats, default: [0.5, 1]}", [0.5, 1.0]),
        ('{type: string, default: ""}', ""),
        ('{type: string, default: "tab\\tquote\\"é"}', 'tab\tquote"é'),
    ],
)
def test_missing_attribute_has_default(param: str, default: Any, tmp_path: Path) -> None:
    operator = custom_op(tmp_path, f"p: {param}")
    assert operator.PARAMS["p"]["default"] == default
    operator.shape_infer(node(), *SIGNATURE)


CONSTANT = "size: {type: ints, source: const:size, default: [2]}"


def test_constant_input_is_a_param(tmp_path: Path) -> None:
    operator = custom_op(tmp_path, CONSTANT)
    _, count = operator.compute(node(), [*INPUTS, np.array([3, 2])])
    assert count.shape == (1, 3, 2)
    assert operator.compute(node(), INPUTS)[1].shape == (1, 2)
    assert operator.compute(node(size=[4]), INPUTS)[1].shape == (1, 4)
    with pytest.raises(ValueError, match=r"'size' is array.*, expected int32"):
        operator.compute(node(), [*INPUTS, np.array([1.5])])
    with pytest.raises(ValueError, match=r"'size' has 0 items, expected range\(1, 20001\)"):
        operator.compute(node(), [*INPUTS, np.array([], np.int32)])


def test_constant_input_is_unknown_while_shapes_are_inferred(tmp_path: Path) -> None:
    reference = REFERENCE.replace('params.get("size", ())', 'params["size"]')
    operator = custom_op(tmp_path, CONSTANT, reference)
    signature = [*SIGNATURE[0], [1]], [*SIGNATURE[1], np.dtype("int64")]
    with pytest.raises(ValueError, match="no 'size': a constant input, without a value"):
        operator.shape_infer(node(), *signature)


DEFAULTS = {
    "given": "{type: int, default: 1}",
    "needed": "{type: int}",
    "whole": "{type: int, default: 2}",
    "flag": "{type: VX_TYPE_BOOL, default: true}",
    "big": "{type: VX_TYPE_INT64, default: 4294967296}",
    "exact": "{type: VX_TYPE_FLOAT64, default: 0.5}",
    "tenth": "{type: VX_TYPE_FLOAT64, default: 0.1}",
    "single": "{type: float, default: 0.1}",
    "list": "{type: floats, default: [1, 2]}",
    "text": "{type: string, default: a}",
}


def test_nodes_of_the_model_get_defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise librknnrt prints an error for each missing attribute.

    Integers beyond 32 bits and floats with more digits than float32 cannot be attributes.
    """
    onnx = ModuleType("onnx")
    monkeypatch.setattr(
        onnx,
        "helper",
        SimpleNamespace(make_attribute=lambda name, value: SimpleNamespace(name=name, value=value)),
        raising=False,
    )
    monkeypatch.setitem(sys.modules, "onnx", onnx)
    operator = custom_op(
        tmp_path, f"{', '.join(f'{k}: {v}' for k, v in DEFAULTS.items())}, {CONSTANT}"
    )
    given = node(given=5, needed=1).attribute
    nodes = [
        SimpleNamespace(op_type=op_type, input=["x"] * count, attribute=[*given])
        for op_type, count in (("cstShift", 2), ("cstShift", 3), ("cstOther", 2))
    ]
    shapes, dtypes = SIGNATURE

    class Complete(Rknn):
        def build(self, operator: Any) -> None:
            operator.shape_infer(node(needed=1), shapes, dtypes)

    Complete(["cstShift"], nodes=nodes).build(operator)
    added = [{each.name: each.value for each in made.attribute[2:]} for made in nodes]
    single = float(np.float32(0.1))
    defaults = {"whole": 2, "flag": 1, "exact": 0.5, "list": [1.0, 2.0], "text": "a"}
    assert added[0].pop("single") == added[1].pop("single") == pytest.approx(single)
    assert added == [defaults | {"size": [2]}, defaults, {}]
    assert [type(value) for value in added[0].values()] == [int, int, float, list, str, list]


# ---- The text ----


@pytest.fixture
def generated(tmp_path: Path) -> Path:
    """Return the files of an operator that fills all generated tables."""
    params = ", ".join(f"p{i}: {{type: {type_}}}" for i, (type_, *_) in enumerate(PARAM_CASES))
    texts = """s: {type: string, default: 'a "b"'}, t: {type: string, default: "\\t\\"'é"}"""
    return write(tmp_path, described(f"{params}, {texts}, {CONSTANT}")).parent


def test_generated_python_is_linted(generated: Path) -> None:
    rules = [
        "--line-length=100",
        "--target-version=py38",
        "--select=E,F,W,B,C4,D3,N,PIE,RET,SIM,UP",
    ]
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", *rules]
    checked = subprocess.run([*command, generated], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_generated_python_runs_on_3_8(generated: Path) -> None:
    worker = ROOT / "opkit/runtimes/rknn2/simulator_worker.py"
    for path in (*generated.glob("*.py"), worker):
        _, python_3 = vermin.detect(path.read_text())
        assert python_3 <= (3, 8), path


@pytest.mark.parametrize("name", RKNN2_EXAMPLES)
def test_every_example_has_files(name: str) -> None:
    text = (EXAMPLES / name / f"{name}.yml").read_text()
    if "runtimes:" not in text:
        text += "runtimes: [rknn, rknn2]\n"
    spec = parse(text)
    assert sorted(files(spec)) == sorted(
        f"rknn2/{file}" for file in (f"{spec.lower}_custom_op.py", "convert.py", "make_onnx.py")
    )
