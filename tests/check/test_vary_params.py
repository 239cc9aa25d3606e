"""vary_params: each param with its other values, one at a time."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from opkit.check.mistakes import CheckError
from opkit.check.operators import Operator, operator_of
from opkit.testing import Case, cases, special
from tests.check.target_repositories import counts
from tests.repositories import Repository, generate

HEAD = """\
name: Scan
inputs: {x: {type: VX_TYPE_TENSOR}}
outputs: {y: {type: VX_TYPE_TENSOR}}
"""


@pytest.fixture
def vary(tmp_path: Path) -> Callable[..., list[dict[str, Any]]]:
    """Return a function that evaluates a call in a test of an operator with some params."""

    def evaluate(call: str, params: str, runtimes: str = "pplnn") -> list[dict[str, Any]]:
        operator_of.cache_clear()
        (tmp_path / "op.yml").write_text(f"{HEAD}runtimes: [{runtimes}]\nparams: {{{params}}}\n")
        file = tmp_path / "tests/test_scan.py"
        names: dict[str, Any] = {}
        text = f"from opkit.testing import vary_params\nfound = {call}\n"
        exec(compile(text, str(file), "exec"), names)
        found: list[dict[str, Any]] = names["found"]
        return found

    return evaluate


@pytest.mark.parametrize(
    ("param", "others"),
    [
        ("type: VX_TYPE_INT32, default: 3, min: 0", [4, 2]),
        ("type: VX_TYPE_INT32, default: 3, min: 3, max: 5", [4]),
        ("type: VX_TYPE_INT32, default: 3, min: 3, max: 3", []),
        ("type: VX_TYPE_FLOAT32, default: 0.5, min: 0, max: 1", [1.0, 0.0]),
        ("type: VX_TYPE_INT32, default: 2, choices: [1, 2, 4, 8]", [1, 4, 8]),
        ("type: STRING, default: mean, choices: [sum, mean, max]", ["sum", "max"]),
        ("type: VX_TYPE_ARRAY, default: [3, 3], min: 2, max: 3", [[2, 2], [3, 3, 3], [3]]),
        (
            "type: VX_TYPE_ARRAY, length: 2, default: [1, 1], choices: [1, 2, 4]",
            [[1, 2], [2, 4], [4, 1]],
        ),
        ("type: VX_TYPE_BOOL, default: false", [True]),
        ("type: VX_TYPE_BOOL, default: true", [False]),
        ("type: VX_TYPE_INT32, default: 0", [1, -1]),
        ("type: VX_TYPE_INT32, default: 3", [4, -3]),
        ("type: VX_TYPE_INT32, default: -1", [0, 1]),
        ("type: VX_TYPE_INT8, default: 127", [-127]),
        ("type: VX_TYPE_UINT8, default: 0", [1]),
        ("type: VX_TYPE_UINT8, default: 255", [254]),
        ("type: VX_TYPE_FLOAT32, default: 0", [1.0, -1.0]),
        ("type: VX_TYPE_FLOAT32, default: 0.5", [1.5, -0.5]),
        ("type: VX_TYPE_FLOAT32, default: 3.4028234663852886e+38", [-3.4028234663852886e38]),
        ("type: VX_TYPE_ARRAY, length: 2, default: [1, 1]", [[2, 3], [-1, -1]]),
        ("type: VX_TYPE_ARRAY, default: [0, 2]", [[1, 4], [-1, -2], [0, 2, 2], [0]]),
        ("type: VX_TYPE_ARRAY, default: [5]", [[6], [-5], [5, 5]]),
        ("type: FLOATS, default: [0.5]", [[1.5], [-0.5], [0.5, 0.5]]),
        ("type: STRING, default: mean", []),
    ],
)
def test_other_values(vary: Any, param: str, others: list[Any]) -> None:
    first, *rest = vary("vary_params()", f"p: {{{param}}}")
    assert first == {}
    assert [each["p"] for each in rest] == others
    assert [type(each["p"]) for each in rest] == [type(other) for other in others]


@pytest.mark.parametrize(
    ("name", "param", "others"),
    [
        ("axis", "type: VX_TYPE_INT32, default: 0", [1, -1]),
        ("axis", "type: VX_TYPE_INT32, default: 2", [0, 1, -1]),
        ("axis", "type: VX_TYPE_INT32, default: 0, min: 0", [1]),
        ("splitAxis", "type: VX_TYPE_UINT8, default: 0", [1]),
        ("dim", "type: VX_TYPE_INT64, default: -1", [0, 1]),
        ("batch_dims", "type: VX_TYPE_INT64, default: 0", [1]),
        ("axes", "type: VX_TYPE_ARRAY, default: [1]", [[0], [-1], [0, 1]]),
        ("axes", "type: VX_TYPE_ARRAY, length: 2, default: [-2, -1]", [[0, 1]]),
        ("axes", "type: VX_TYPE_ARRAY, default: [1, 3], min: 0", [[0, 1], [0, 1, 2], [1]]),
        ("block_size", "type: VX_TYPE_INT32, default: 1", [2]),
        ("blocksize", "type: VX_TYPE_INT32, default: 2", [3, 1]),
        ("outputSize", "type: VX_TYPE_INT32, default: -1", [1]),
        ("kernel_shape", "type: VX_TYPE_ARRAY, length: 2, default: [3, 3]", [[4, 5], [2, 2]]),
        ("strides", "type: VX_TYPE_ARRAY, length: 2, default: [1, 1]", [[2, 3]]),
        ("pads", "type: VX_TYPE_ARRAY, length: 2, default: [0, 0]", [[1, 2], [1, 1]]),
        ("num_heads", "type: VX_TYPE_INT32, default: 8", [9, 7]),
        ("box_count", "type: VX_TYPE_INT32, default: 8", [9, 7]),
        ("k", "type: VX_TYPE_INT32, default: 1", [2]),
        ("head_dim", "type: VX_TYPE_INT32, default: 64", [65, 63]),
        ("epsilon", "type: VX_TYPE_FLOAT32, default: 0.125", [1.125, 0.0625]),
        ("size", "type: VX_TYPE_INT32, default: 2, min: -1, max: 2", [1]),
        # Only words: neither an axis nor a size.
        ("taxis", "type: VX_TYPE_INT32, default: 2", [3, -2]),
        ("blink", "type: VX_TYPE_INT32, default: 2", [3, -2]),
    ],
)
def test_names_that_say_what_is_valid(vary: Any, name: str, param: str, others: list[Any]) -> None:
    _, *rest = vary("vary_params()", f"{name}: {{{param}}}")
    assert [each[name] for each in rest] == others


PARAMS = """
axis: {type: VX_TYPE_INT32, default: 0},
size: {type: VX_TYPE_ARRAY, length: 2},
mode: {type: STRING, default: mean},
reverse: {type: VX_TYPE_BOOL, default: false}
"""


def test_one_param_at_a_time(vary: Any) -> None:
    assert vary('vary_params({"size": [4, 5]})', PARAMS) == [
        {"size": [4, 5]},
        {"size": [4, 5], "axis": 1},
        {"size": [4, 5], "axis": -1},
        {"size": [5, 7]},
        {"size": [3, 4]},
        {"size": [4, 5], "reverse": True},
    ]


def test_given_values_replace_those_of_the_description(vary: Any) -> None:
    call = 'vary_params({"size": [4, 5], "axis": 1}, axis=[0, 1, 2], size=[], mode=["sum"])'
    assert vary(call, PARAMS) == [
        {"size": [4, 5], "axis": 1},
        {"size": [4, 5], "axis": 0},
        {"size": [4, 5], "axis": 2},
        {"size": [4, 5], "axis": 1, "mode": "sum"},
        {"size": [4, 5], "axis": 1, "reverse": True},
    ]


def test_operator_without_params(vary: Any) -> None:
    assert vary("vary_params()", "") == [{}]


def test_values_of_every_runtime(vary: Any) -> None:
    """No runtime refuses a case: librknnrt reads int32, and a board takes 16 items."""
    params = "a: {type: VX_TYPE_INT64, default: 2147483647}"
    assert vary("vary_params()", params, "rknn2") == [{}, {"a": -2147483647}]
    items = [*range(16)]
    found = vary("vary_params()", f"a: {{type: VX_TYPE_ARRAY, default: {items}}}", "rknn")
    assert {len(each["a"]) for each in found[1:]} == {15, 16}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            "vary_params()",
            "param 'size' has no default in op.yml; write vary_params({'size': ...})",
        ),
        (
            "vary_params({'sise': [1, 1]})",
            "unknown param 'sise'; did you mean 'size'? (expected axis",
        ),
        ("vary_params({'size': [1, 1]}, axes=[1])", "unknown param 'axes'; did you mean 'axis'?"),
        ("vary_params({'size': [1, 1]}, axis=1)", "axis=1; write a list of values, as axis=[1]"),
        ("vary_params([1])", "the base is [1]; write a dict, as vary_params({'size': ...})"),
    ],
)
def test_mistakes_have_the_line_of_the_test(vary: Any, call: str, message: str) -> None:
    with pytest.raises(CheckError) as raised:
        vary(call, PARAMS)
    assert re.match(
        rf"\S*tests/test_scan\.py:2: vary_params\(\): {re.escape(message)}", str(raised.value)
    )


def test_all_values_are_valid_in_cases(vary: Any, tmp_path: Path) -> None:
    params = ", ".join(
        f"p{index}: {{type: {name}, default: {default}}}"
        for index, (name, default) in enumerate(
            {
                "VX_TYPE_BOOL": "true",
                "VX_TYPE_CHAR": 65,
                "VX_TYPE_INT64": 2**53,
                "VX_TYPE_UINT64": 0,
                "VX_TYPE_FLOAT64": "1.0e-5",
                "VX_TYPE_ARRAY": [-(2**31)],
            }.items()
        )
    )
    found = vary("vary_params()", params, "rknn")
    made: list[Case] = cases([{"x": (3,)}], [special()], found)
    assert len({case.name for case in made}) == len(made) == len(found)
    operator = Operator(tmp_path)
    for case in made:
        for value in operator.check(case).values():
            assert not isinstance(value, float) or math.isfinite(value)


# ---- In a check ----------------------------------------------------------------------------------

SCAN = """\
name: Scan
framework: tensorflow
target_platform: rv1126
kernels: [cpu]
inputs: {x: {type: VX_TYPE_TENSOR, dtype: int16}}
outputs: {y: {type: VX_TYPE_TENSOR, dtype: int16}}
params:
  reverse: {type: VX_TYPE_BOOL, default: false}
  first: {type: VX_TYPE_INT8, default: 0}
"""
MATH = """\
    const size_t size = inputs->x.size;
    int16_t sum = params->first;
    for (size_t i = 0; i < size; i++) {
        const size_t at = params->reverse ? size - 1 - i : i;
        sum = (int16_t)(sum + inputs->x.int16[at]);
        outputs->y.int16[at] = sum;
    }
    return NULL;
}

#endif
"""
REFERENCE = """\
import numpy as np


def output_shapes(input_shapes, params):
    return {"y": input_shapes["x"]}


def reference(inputs, params):
    x = inputs["x"].ravel()
    x = x[::-1] if params["reverse"] else x
    y = np.cumsum(x, dtype=np.int16) + np.int16(params["first"])
    y = y[::-1] if params["reverse"] else y
    return {"y": y.reshape(inputs["x"].shape)}
"""
UNREAD = (
    "error: scan_compute.h: param 'reverse' is not read; read params->reverse, or write "
    "(void)params->reverse; if the math does not need it "
)


@pytest.fixture(scope="module")
def scan(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """Return the repository of an operator with its generated tests; each test writes the math."""
    return generate(tmp_path_factory.mktemp("scan"), SCAN)


def write(scan: Repository, math: str, reference: str) -> None:
    compute = scan.path / "scan_compute.h"
    before = compute.read_text().split("\n{\n", 1)[0]
    compute.write_text(f"{before}\n{{\n{math}")
    (scan.path / "scan_reference.py").write_text(reference)


def one_line(output: str) -> str:
    """Return an output without its line breaks."""
    return " ".join([*output.split(), ""])


@pytest.mark.slow
def test_generated_cases_vary_params(scan: Repository) -> None:
    write(scan, MATH, REFERENCE)
    run = scan.scons("-Q", "check")
    others = "cases have integer inputs|not run on armhf"
    assert not re.search(rf"^note: (?!{others})", run.stdout, re.MULTILINE)
    assert counts(run.stdout)["CPU kernel"] == 24  # 3 shapes, 2 values, 4 params
    # A kernel without the param fails in its cases, and the param is named.
    write(scan, MATH.replace("params->reverse", "false"), REFERENCE)
    run = scan.scons("-Q", "check", "verbose=1", check=False)
    failed = {*re.findall(r"^CPU kernel of Scan, case (\S+):$", run.stdout, re.MULTILINE)}
    assert failed
    assert all(case.endswith("-reverse=1") for case in failed)
    assert UNREAD in one_line(run.stderr)


BLOCK_FLIP = """\
name: BlockFlip
runtimes: [rknn2]
inputs: {x: {type: VX_TYPE_TENSOR}}
outputs: {y: {type: VX_TYPE_TENSOR, same_as: x}}
params:
  axis: {type: int}
  block_size: {type: int}
  order: {type: string, choices: [flipped, kept]}
"""
FLIP_MATH = """\
    const struct opkit_tensor *x = &inputs->x;
    const int64_t rank = (int64_t)x->rank;
    if (params->axis < -rank || params->axis >= rank) {
        return "axis must be a dimension of x";
    }
    if (params->block_size < 1) {
        return "block_size must be above 0";
    }
    const size_t axis = (size_t)(params->axis < 0 ? params->axis + rank : params->axis);
    const size_t length = x->shape[axis], block = (size_t)params->block_size;
    const bool is_flipped = params->order[0] == 'f';
    size_t inner = 1;
    for (size_t i = axis + 1; i < x->rank; i++) {
        inner *= x->shape[i];
    }
    for (size_t i = 0; i < x->size; i++) {
        const size_t row = i / inner % length, begin = row / block * block;
        const size_t end = begin + block < length ? begin + block : length;
        const size_t from = is_flipped ? begin + end - 1 - row : row;
        outputs->y.float32[i] = x->float32[i - row * inner + from * inner];
    }
    return NULL;
}

#endif
"""
FLIP_REFERENCE = """\
import numpy as np


def output_shapes(input_shapes, params):
    return {"y": input_shapes["x"]}


def reference(inputs, params):
    x, axis, block = inputs["x"], params["axis"], params["block_size"]
    if block < 1:
        raise ValueError("block_size must be above 0")
    rows = np.arange(x.shape[axis])
    begin = rows // block * block
    end = np.minimum(begin + block, len(rows))
    flipped = params["order"] == "flipped"
    return {"y": np.take(x, begin + end - 1 - rows if flipped else rows, axis)}
"""


@pytest.mark.slow
@pytest.mark.nightly
def test_first_check_of_right_math_is_green(tmp_path: Path) -> None:
    """No generated case has an axis beyond the tensors' rank, or a negative size."""
    flip = generate(tmp_path, BLOCK_FLIP)
    compute = flip.path / "blockflip_compute.h"
    begin = compute.read_text().split("\n{\n", 1)[0]
    compute.write_text(f"{begin}\n{{\n{FLIP_MATH}")
    (flip.path / "blockflip_reference.py").write_text(FLIP_REFERENCE)
    run = flip.scons("-Q", "check")
    # 3 shapes, 2 values and 5 params: the base, 2 other axes, another size and the other order.
    assert "30 passed in" in run.stdout
    tests = (flip.path / "tests/test_blockflip.py").read_text()
    assert re.findall(r'"x": (\(.*\))', tests) == ["(3, 5)", "(2, 3, 4)", "(1, 4, 5, 3)"]
    assert 'vary_params({"axis": 0, "block_size": 1, "order": "flipped"})' in tests
    # A case of the user's with another value is invalid, before any kernel runs.
    path = flip.path / "tests/test_blockflip.py"
    path.write_text(tests.replace('"order": "flipped"', '"order": "back"'))
    run = flip.run("pytest", "-q", check=False)
    assert run.returncode != 0
    assert (
        "tests/test_blockflip.py:11: param 'order' is back, which op.yml does not allow "
        "(expected flipped, kept)"
    ) in one_line(run.stdout)


@pytest.mark.slow
def test_param_without_use_in_c_and_numpy_fails(scan: Repository) -> None:
    write(
        scan,
        MATH.replace("params->reverse", "false"),
        REFERENCE.replace('params["reverse"]', "False"),
    )
    for command in (["SCons", "-Q", "check"], ["pytest", "-q"]):
        run = scan.run(*command, check=False)
        assert run.returncode != 0
        assert " 24 passed" in one_line(run.stdout)
        assert UNREAD in one_line(run.stdout + run.stderr)


@pytest.mark.slow
def test_param_without_another_value_is_a_note(scan: Repository) -> None:
    write(scan, MATH, REFERENCE)
    tests = scan.path / "tests/test_scan.py"
    before = tests.read_text()
    tests.write_text(before.replace("vary_params()", "vary_params(reverse=[])"))
    run = scan.scons("-Q", "check")
    tests.write_text(before)
    assert (
        "note: no case has another value of param 'reverse' than 0; vary it in tests/ with "
        "vary_params(reverse=[...]) "
    ) in one_line(run.stdout)
    assert "param 'first'" not in run.stdout
