"""Names missing in op.yml are found in the user's math, without false positives."""

from __future__ import annotations

from pathlib import Path

import pytest

from opkit.files.source_check import unknown_names
from opkit.runtimes import parse
from tests.repositories import EXAMPLE_NAMES, EXAMPLES, example_folder

SPEC = parse("""
name: Op
inputs: {x: {type: VX_TYPE_TENSOR}}
outputs: {y: {type: VX_TYPE_TENSOR}}
params: {gain: {type: VX_TYPE_FLOAT32}}
""")
COMPUTE = """\
static const char *op_compute(const struct op_inputs *inputs, const struct op_params *const params,
                              struct op_outputs *outputs)
{
    %s
}
"""


def found(folder: Path) -> list[str]:
    return [f"{each.line}:{each.column} {each.message}" for each in unknown_names(folder, SPEC)]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("use(params->gain, inputs->x.size, outputs->y.size);", []),
        ("use(params->\n  bias);", ["5:3 'bias' is not in the params (expected gain)"]),
        ("use(inputs->z.size);", ["4:17 'z' is not in the inputs (expected x)"]),
        ("use(outputs -> x);", ["4:20 'x' is not in the outputs (expected y)"]),
        ("/* params->bias */ // inputs->z", []),
        ('log("params->bias");', []),
        ("use(mine->params->bias, my_params->bias, mine.params->bias);", []),
        ("struct my_params *params = f(); use(params->bias);", []),
    ],
)
def test_members_in_c(code: str, expected: list[str], tmp_path: Path) -> None:
    (tmp_path / "op_compute.h").write_text(COMPUTE % code)
    assert found(tmp_path) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ('return {"y": inputs["x"] * params["gain"]}', []),
        ('return params["bias"]', ["2:19 'bias' is not in the params (expected gain)"]),
        ('return inputs["gain"]', ["2:19 'gain' is not in the inputs (expected x)"]),
        ('params = {}; return params["bias"]', []),
        ('params["bias"] = 1; return params["bias"]', []),
        ('return params["bias"] if "bias" in params else 0', []),
        ('return [params["bias"] for params in ()]', []),
        ('return (lambda params: params["bias"])({})', []),
        ("return params[name]", []),
        ("return (", []),
    ],
)
def test_keys_in_reference(code: str, expected: list[str], tmp_path: Path) -> None:
    (tmp_path / "op_reference.py").write_text(f"def reference(inputs, params):\n    {code}\n")
    assert found(tmp_path) == expected


@pytest.mark.parametrize("name", EXAMPLE_NAMES)
def test_examples_have_no_unknown_names(name: str) -> None:
    spec = parse((EXAMPLES / name / f"{name}.yml").read_text())
    assert unknown_names(example_folder(name), spec) == []
