"""Generated sources run through ppl.nn's stages, for both engines, in spite of ppl.nn's faults.

opkit/runtimes/pplnn/declarations stands for ppl.nn.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opkit import runtimes
from opkit.check.reference import Reference
from opkit.runtimes.invocation import Array
from opkit.runtimes.pplnn.tree_names import ENGINES
from tests.compiling import C_SOURCES
from tests.files.texts import once_only_files
from tests.marks import quick_first
from tests.runtimes.pplnn.engines import (
    INVALID_VALUE,
    N4CX,
    NDARRAY,
    NOT_FOUND,
    SUCCESS,
    TYPES,
    UNKNOWN,
    UNSUPPORTED,
    Engine,
    build,
    example,
)

EVERY_KIND = """\
name: everyKind
runtimes: [pplnn]
domain: my.domain
inputs: {x: {type: VX_TYPE_TENSOR}, index: {type: VX_TYPE_TENSOR}}
outputs:
  y: {type: VX_TYPE_TENSOR, same_as: x}
  numbers: {type: VX_TYPE_TENSOR, dtype: int64}
  flags: {type: VX_TYPE_TENSOR, dtype: bool, same_as: x}
params:
  truth: {type: VX_TYPE_BOOL, default: true}
  character: {type: VX_TYPE_CHAR, default: 200}
  i8: {type: VX_TYPE_INT8, default: -128}
  u8: {type: VX_TYPE_UINT8, default: 255}
  i16: {type: VX_TYPE_INT16, default: -32768}
  u16: {type: VX_TYPE_UINT16, default: 65535}
  i32: {type: VX_TYPE_INT32, default: -2147483648}
  u32: {type: VX_TYPE_UINT32, default: 4294967295}
  i64: {type: int, default: -9223372036854775808}
  u64: {type: VX_TYPE_UINT64, default: 9223372036854775807}
  f32: {type: float, default: 0.1}
  f64: {type: VX_TYPE_FLOAT64, default: 2.5}
  pair: {type: ints, length: 2}
  scales: {type: floats, default: [2, 0.5]}
  mode: {type: string, default: 'a "text"'}
"""
SHAPES = """\
static const char *everykind_shapes(const struct everykind_inputs *inputs,
                                    const struct everykind_params *params,
                                    struct everykind_outputs *outputs)
{
    const size_t columns = inputs->x.shape[1];

    outputs->numbers.rank = 1;
    outputs->numbers.shape[0] = 42 / columns * columns / 3;
    return params->pair.items[0] < 0 || inputs->x.data != NULL ? "pair is negative" : NULL;
}
"""
DEFAULTS = [
    *(1, 200, -128, 255, -32768, 65535, -(2**31), 2**32 - 1, -(2**63), 2**63 - 1),
    *(2, 4, 2, len('a "text"')),
]
PAIR = {"pair": ("ints", [3, 4])}
X = np.array([[1, 2, 3]], np.float32)
INPUTS: dict[str, Array | None] = {"x": X, "index": np.array([7], np.int64)}


@pytest.fixture(scope="session")
def every_kind(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """Return an operator with a param of every kind."""
    mine = tmp_path_factory.mktemp("mine")
    (mine / "pplnn").mkdir()
    (mine / "pplnn/everykind_shapes.h").write_text(SHAPES)
    shutil.copy(C_SOURCES / "everykind_compute.h", mine)
    return build(runtimes.parse(EVERY_KIND), tmp_path_factory.mktemp("everykind"), mine)


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Engine]:
    """Return an example, compiled once per run."""
    made: dict[str, Engine] = {}

    def get(name: str) -> Engine:
        if name not in made:
            spec, files = example(name)
            made[name] = build(spec, tmp_path_factory.mktemp(name), files)
        return made[name]

    return get


# ---- Attributes ----


@pytest.mark.parametrize("name", ENGINES)
def test_defaults(name: str, every_kind: Engine) -> None:
    answer = every_kind.run(name, INPUTS, PAIR)
    assert (answer.status["execute"], answer.log) == (SUCCESS, "")
    assert answer.outputs["numbers"].tolist() == DEFAULTS
    assert answer.outputs["y"].tolist() == (X * 2 + np.float32(0.1)).tolist()
    assert answer.outputs["flags"].tolist() == [[False, False, True]]
    assert (answer.status["pack"], answer.packs) == (SUCCESS, True)


def test_values(every_kind: Engine) -> None:
    values: dict[str, tuple[str, Any]] = {
        **PAIR,
        "truth": ("int", 0),
        "character": ("int", 65),
        "i8": ("int", 127),
        "u8": ("int", 0),
        "i16": ("int", 32767),
        "u16": ("int", 1),
        "i32": ("int", 2**31 - 1),
        "u32": ("int", 2),
        "i64": ("int", 2**63 - 1),
        "u64": ("int", 3),
        "f32": ("float", 0.25),
        "f64": ("float", 1.5),
        "scales": ("floats", [4.0]),
        "mode": ("string", "mean"),
    }
    answer = every_kind.run("x86", INPUTS, values)
    expected = [0, 65, 127, 0, 32767, 1, 2**31 - 1, 2, 2**63 - 1, 3, 2, 4, 1, 4]
    assert answer.outputs["numbers"].tolist() == expected
    assert answer.outputs["y"].tolist() == (X * 4 + 0.25).tolist()
    assert answer.outputs["flags"].tolist() == [[False, True, True]]
    assert answer.packs


@pytest.mark.parametrize(
    ("attribute", "status", "problem"),
    [
        ({"f32": ("int", 1)}, INVALID_VALUE, "[f32] of node[node] has ONNX type [2], expected [1]"),
        ({"i32": ("float", 1.0)}, INVALID_VALUE, "attribute[i32] of node[node] has ONNX type [1]"),
        ({"mode": ("int", 1)}, INVALID_VALUE, "attribute[mode] of node[node] has ONNX type [2]"),
        ({"scales": ("ints", [1])}, INVALID_VALUE, "[scales] of node[node] has ONNX type [7]"),
        ({"u8": ("int", 256)}, INVALID_VALUE, "[u8] of node[node] is [256], which is out of range"),
        ({"u8": ("int", -1)}, INVALID_VALUE, "[u8] of node[node] is [-1], which is out of range"),
        ({"i8": ("int", -129)}, INVALID_VALUE, "[i8] of node[node] is [-129]"),
        ({"u32": ("int", 2**32)}, INVALID_VALUE, "[u32] of node[node] is [4294967296]"),
        ({"u64": ("int", -1)}, INVALID_VALUE, "[u64] of node[node] is [-1]"),
        ({"truth": ("int", 2)}, INVALID_VALUE, "[truth] of node[node] is [2]"),
        ({"character": ("int", 256)}, INVALID_VALUE, "[character] of node[node] is [256]"),
        ({"pair": ("ints", [1, 2**31])}, INVALID_VALUE, "[pair] of node[node] is [2147483648]"),
        ({"pair": ("ints", [1])}, INVALID_VALUE, "has [1] items, expected [2]"),
        ({"pair": ("ints", [])}, NOT_FOUND, "attribute[pair] of node[node] is missing"),
    ],
    ids=str,
)
def test_invalid_attribute_is_an_error_with_its_name(
    attribute: dict[str, tuple[str, Any]], status: int, problem: str, every_kind: Engine
) -> None:
    answer = every_kind.run("x86", INPUTS, {**PAIR, **attribute})
    assert answer.status == {"parse": status}
    assert problem in answer.log
    assert answer.log.count("\n") == 1


LIMITED = """\
name: Limited
runtimes: [pplnn]
inputs: {x: {type: VX_TYPE_TENSOR}}
outputs: {y: {type: VX_TYPE_TENSOR, same_as: x}}
params:
  axis: {type: int, default: 0, min: -2, max: 1}
  count: {type: VX_TYPE_UINT8, default: 1, min: 1}
  ratio: {type: float, default: 0.5, min: 0.1, max: 1}
  wide: {type: VX_TYPE_FLOAT64, default: 0.1, choices: [0.1, 0.5]}
  mode: {type: string, default: linear, choices: [linear, '100%']}
  strides: {type: ints, default: [1, 1], min: 1}
  weights: {type: floats, default: [0.5], max: 0.5}
"""


@pytest.fixture(scope="session")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    spec = runtimes.parse(LIMITED)
    mine = tmp_path_factory.mktemp("mine")
    (mine / "limited_compute.h").write_text(once_only_files(spec)["limited_compute.h"])
    return build(spec, tmp_path_factory.mktemp("limited"), mine)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("attributes", "problem"),
    [
        ({}, ""),
        ({"axis": ("int", -2), "ratio": ("float", 0.1), "wide": ("float", 0.1)}, ""),
        ({"mode": ("string", "100%"), "strides": ("ints", [7, 1])}, ""),
        ({"axis": ("int", 2)}, "[axis] of node[node] is [2], expected [-2 to 1]"),
        ({"count": ("int", 0)}, "[count] of node[node] is [0], expected [1 or more]"),
        ({"ratio": ("float", 1.5)}, "[ratio] of node[node] is [1.500000], expected [0.1 to 1]"),
        ({"wide": ("float", 0.25)}, "[wide] of node[node] is [0.250000], expected [0.1, 0.5]"),
        ({"mode": ("string", "cubic")}, "[mode] of node[node] is [cubic], expected [linear, 100%]"),
        ({"strides": ("ints", [1, 0])}, "[strides] of node[node] is [0], expected [1 or more]"),
        (
            {"weights": ("floats", [0.75])},
            "[weights] of node[node] is [0.750000], expected [0.5 or",
        ),
    ],
    ids=str,
)
def test_value_that_op_yml_does_not_allow(
    attributes: dict[str, tuple[str, Any]], problem: str, limited: Engine
) -> None:
    answer = limited.run("x86", {"x": X}, attributes)
    if not problem:
        assert (answer.status["execute"], answer.log) == (SUCCESS, "")
        return
    assert answer.status == {"parse": INVALID_VALUE}
    assert answer.log.startswith(f"ERROR: attribute{problem}")
    assert answer.log.count("\n") == 1


def test_list_of_any_length(every_kind: Engine) -> None:
    scales = {"scales": ("floats", [4.0, *[0.5] * 299])}
    answer = every_kind.run("x86", INPUTS, {**PAIR, **scales})
    assert (answer.status["execute"], answer.log, answer.packs) == (SUCCESS, "", True)
    assert answer.outputs["numbers"].tolist() == [*DEFAULTS[:-2], 300, DEFAULTS[-1]]


def test_empty_list_is_absent(every_kind: Engine) -> None:
    answer = every_kind.run("x86", INPUTS, {**PAIR, "scales": ("floats", [])})
    assert answer.outputs["numbers"].tolist() == DEFAULTS


@pytest.mark.parametrize("name", ENGINES)
def test_unknown_attribute_is_a_warning_with_its_name(name: str, every_kind: Engine) -> None:
    misspelt = {"Mode": ("string", "mean"), "f31": ("float", 1.0)}
    answer = every_kind.run(name, INPUTS, {**PAIR, **misspelt})
    assert answer.outputs["numbers"].tolist() == DEFAULTS
    assert answer.log.splitlines() == [
        "WARNING: attribute[Mode] of node[node] is unknown and ignored",
        "WARNING: attribute[f31] of node[node] is unknown and ignored",
    ]


# ---- Shapes, while a model is loaded ----


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize(
    ("x", "y", "numbers"),
    [
        ((2, 3), (2, 3), (14,)),
        ((-1, 3), (-1, 3), ()),
        ((2, -1), (2, -1), ()),
        ((2, 0), (2, -1), ()),
        ((0, 3), (-1, 3), ()),
    ],
)
def test_unknown_dimension_does_not_reach_the_shape_rule(
    x: tuple[int, ...], y: tuple[int, ...], numbers: tuple[int, ...], name: str, every_kind: Engine
) -> None:
    """Other operators infer 0 for unknown dimensions, and the rule divides by a dimension."""
    answer = every_kind.load(name, {"x": x, "index": (1,)}, PAIR)
    assert (answer.status["load"], answer.log) == (SUCCESS, "")
    assert answer.shapes == [y, numbers, y]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "unknown"])
@pytest.mark.parametrize("name", ENGINES)
def test_dynamic_model_with_constant_loads_in_silence(
    name: str, dtype: str, engine: Callable[[str], Engine]
) -> None:
    """The dimensions of the constant are known, those of the other input are not."""
    answer = engine("truncate_div").load(name, {"x": (-1, 4), "y": (2, 1)}, dtype=dtype)
    assert (answer.status["load"], answer.log) == (SUCCESS, "")
    assert answer.shapes == [()]


@pytest.mark.parametrize("name", ENGINES)
def test_problem_of_shape_rule_while_loading(name: str, every_kind: Engine) -> None:
    answer = every_kind.load(name, {"x": (2, 3), "index": (1,)}, {"pair": ("ints", [-1, 0])})
    assert answer.status["load"] == INVALID_VALUE
    assert "everyKind: pair is negative" in answer.log


# ---- Formats and types ----


@pytest.mark.parametrize("name", ENGINES)
def test_both_sides_are_ndarray(name: str, every_kind: Engine) -> None:
    answer = every_kind.run(name, INPUTS, PAIR, formats=(N4CX, N4CX))
    assert [format_ for format_, _ in answer.selected] == [NDARRAY] * 2
    assert [format_ for format_, _ in answer.selected_outputs] == [NDARRAY] * 3
    assert answer.formats == [NDARRAY] * 3


@pytest.mark.parametrize(
    ("precision", "floats"),
    [
        (UNKNOWN, "float32"),
        (TYPES["float32"], "float32"),
        (TYPES["float16"], "float16"),
        (TYPES["int8"], "float32"),
    ],
)
def test_riscv_precision(precision: int, floats: str, every_kind: Engine) -> None:
    answer = every_kind.run("riscv", INPUTS, PAIR, precision)
    types = [type_ for _, type_ in answer.selected]
    assert types == [TYPES[floats], TYPES["int64"]]
    types = [type_ for _, type_ in answer.selected_outputs]
    assert types == [TYPES[floats], TYPES["int64"], TYPES["bool"]]
    dtypes = [array.dtype.name for array in answer.outputs.values()]
    assert dtypes == [floats, "int64", "bool"]
    expected = (X * 2 + np.float32(0.1)).astype(floats)
    assert answer.outputs["y"].tolist() == expected.tolist()


def test_x86_types_are_those_of_the_model(every_kind: Engine) -> None:
    answer = every_kind.run("x86", INPUTS, PAIR)
    dtypes = [array.dtype.name for array in answer.outputs.values()]
    assert dtypes == ["float32", "int64", "bool"]


# ---- Tensors ----


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize(
    ("x", "status", "problem"),
    [
        (None, NOT_FOUND, "everyKind: an input or output is missing"),
        (np.zeros((1,) * 7, np.float32), UNSUPPORTED, "tensor[x] has [7] dimensions"),
        (np.zeros(3, np.float64), UNSUPPORTED, "tensor[x] has the data type [7]"),
    ],
    ids=["missing", "rank", "type"],
)
def test_invalid_tensors(
    x: Array | None, status: int, problem: str, name: str, every_kind: Engine
) -> None:
    answer = every_kind.run(name, {**INPUTS, "x": x}, PAIR)
    assert answer.status["execute"] == status
    assert problem in answer.log


@pytest.mark.parametrize("name", ENGINES)
def test_problem_of_math_and_of_shape_rule(name: str, every_kind: Engine) -> None:
    answer = every_kind.run(name, INPUTS, {**PAIR, "mode": ("string", "refuse")})
    assert answer.status["execute"] == INVALID_VALUE
    assert "everyKind: mode is refuse" in answer.log
    answer = every_kind.run(name, INPUTS, {"pair": ("ints", [-1, 0])})
    assert answer.status["execute"] == INVALID_VALUE
    assert "everyKind: pair is negative" in answer.log


@pytest.mark.slow
@pytest.mark.parametrize("name", ENGINES)
def test_empty_and_scalar_inputs(
    name: str, every_kind: Engine, engine: Callable[[str], Engine]
) -> None:
    """By default a kernel with an empty input succeeds, and leaves its outputs as they are.

    Here the math runs, unless all outputs are empty.
    """
    empty = np.zeros((0, 3), np.float32)
    answer = every_kind.run(name, {**INPUTS, "x": empty}, PAIR)
    assert (answer.status["execute"], answer.log) == (SUCCESS, "")
    assert answer.outputs["numbers"].tolist() == DEFAULTS
    answer = engine("exp").run(name, {"input": empty})
    assert answer.status["execute"] == SUCCESS
    assert answer.outputs["output"].shape == (0, 3)
    answer = engine("exp").run(name, {"input": np.array(0, np.float32)})
    assert answer.outputs["output"].tolist() == 1


def test_wrong_count_of_inputs(every_kind: Engine) -> None:
    answer = every_kind.run("x86", {"x": X}, PAIR)
    assert answer.status["execute"] == INVALID_VALUE
    assert "everyKind has [1] inputs and [3] outputs, expected [2] and [3]" in answer.log


# ---- Examples ----

RANDOM = np.random.default_rng(1)
NODES: dict[str, tuple[dict[str, Array], dict[str, tuple[str, Any]]]] = {
    "exp": ({"input": RANDOM.uniform(-1, 1, (2, 3, 4))}, {}),
    "row_mean": ({"input": RANDOM.uniform(-1, 1, (2, 3, 4))}, {}),
    "truncate_div": ({"x": RANDOM.uniform(-9, 9, (2, 3, 1)), "y": RANDOM.uniform(1, 2, (4,))}, {}),
    "resize_area": (
        {"input": RANDOM.uniform(0, 1, (1, 6, 5, 3))},
        {"size": ("ints", [3, 2]), "align_corners": ("int", 0)},
    ),
    "decode_boxes": (
        {
            "deltas": RANDOM.uniform(-1, 1, (2, 5, 4)),
            "anchors": np.array([[0, 0, 9, 8]] * 5, np.float32),
        },
        {"image_size": ("ints", [20, 30]), "clip": ("int", 0)},
    ),
    "grid_sample": (
        {"x": RANDOM.uniform(-1, 1, (2, 5, 4, 3)), "grid": RANDOM.uniform(-1, 1, (2, 3, 2, 2))},
        {"mode": ("string", "cubic"), "padding_mode": ("string", "border")},
    ),
    "selu": ({"x": RANDOM.uniform(-3, 3, (2, 3, 4))}, {"alpha": ("float", 0.5)}),
    "cum_sum": (
        {"x": RANDOM.uniform(-1, 1, (2, 3, 4))},
        {"axis": ("int", -1), "reverse": ("int", 1)},
    ),
}


@pytest.mark.parametrize("precision", ["float32", "float16"])
@pytest.mark.parametrize("name", quick_first(1, NODES))
def test_examples(name: str, precision: str, engine: Callable[[str], Engine]) -> None:
    inputs, attributes = NODES[name]
    operator = engine(name)
    params = {param.name: param.default for param in operator.spec.params}
    params |= {key: value for key, (_, value) in attributes.items()}
    halves = {key: array.astype(precision).astype(np.float32) for key, array in inputs.items()}
    reference = Reference(example(name)[1] / f"{operator.spec.lower}_reference.py", operator.spec)
    expected = reference.reference(dict(halves), params)
    for each in ENGINES if precision == "float32" else ("riscv",):
        carried: dict[str, Array | None] = {k: a.astype(np.float32) for k, a in halves.items()}
        answer = operator.run(each, carried, attributes, TYPES[precision])
        assert (answer.status["execute"], answer.log) == (SUCCESS, "")
        for key, array in expected.items():
            assert answer.outputs[key].dtype == precision
            tolerance = 1e-5 if precision == "float32" else 1e-3
            np.testing.assert_allclose(answer.outputs[key], array, tolerance, tolerance)


def test_sources_are_in_no_other_folder(every_kind: Engine) -> None:
    """The domain gives the folder, with any letters."""
    root = every_kind.program.parent / "pplnn/src"
    folders = {path.parent.name for path in Path(root).rglob("*.cc")}
    assert folders == {"my_domain"}
