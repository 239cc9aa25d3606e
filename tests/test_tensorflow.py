"""The class that RKNN-Toolkit calls, in real TensorFlow graphs.

TensorFlow is optional (extra `tf`) and may live in Pythons of its own, old ones too. The cases are
in tensorflow_cases.py, which each of these Pythons runs once.
"""

from __future__ import annotations

import ast
import functools
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from opkit.description.spec import parse
from opkit.runtimes.rknn.toolkit_class import toolkit_class

TESTS = Path(__file__).parent
EXAMPLES = TESTS.parent / "examples"
PROGRAM = TESTS / "tensorflow_cases.py"
CASES = [
    node.name
    for node in ast.parse(PROGRAM.read_text(encoding="utf-8")).body
    if isinstance(node, ast.FunctionDef) and node.name.startswith("case_")
]

PYTHON_VARIABLE = "RKNN_OP_TENSORFLOW_PYTHON"
REQUIRE_VARIABLE = "RKNN_OP_REQUIRE_TENSORFLOW"
ADVICE = (
    "no Python with TensorFlow. Run `pip install '.[tf]'`, or "
    f"`{PYTHON_VARIABLE}=$(.ci/tensorflow_environment .venv-tensorflow) pytest`; "
    "the variable takes several Pythons, separated by `:`"
)

TENSORS = "inputs: {x: {type: VX_TYPE_TENSOR}}\noutputs: {y: {type: VX_TYPE_TENSOR}}\n"
SAME = """
def output_shapes(input_shapes, params):
    return {"y": input_shapes["x"]}


def reference(inputs, params):
    return {"y": inputs["x"]}
"""

# Operators besides the examples: description, reference.
OPERATORS = {
    "Several": (
        """
        name: Several
        inputs: {a: {type: VX_TYPE_TENSOR}, b: {type: VX_TYPE_TENSOR}}
        outputs: {scaled: {type: VX_TYPE_TENSOR}, transposed: {type: VX_TYPE_TENSOR}}
        params: {scale: {type: VX_TYPE_FLOAT32}}
        """,
        """
def output_shapes(input_shapes, params):
    return {"transposed": input_shapes["a"][::-1], "scaled": input_shapes["b"]}


def reference(inputs, params):
    results = {"scaled": inputs["b"] * params["scale"], "transposed": inputs["a"].T}
    if inputs["b"][0] == -1:
        results["transposed"] = inputs["b"]
    if inputs["b"][0] == -2:
        del results["transposed"]
    inputs["b"][:] = 0
    return results
""",
    ),
    "ItemSize": (
        f"name: ItemSize\n{TENSORS}",
        SAME.replace('inputs["x"]', 'inputs["x"] * 0 + inputs["x"].itemsize'),
    ),
    "LRN": (
        f"""name: LRN
{TENSORS}params:
  depth_radius: {{type: VX_TYPE_UINT8}}
  bias: {{type: VX_TYPE_FLOAT64}}
  alpha: {{type: VX_TYPE_FLOAT32}}
  beta: {{type: VX_TYPE_FLOAT32}}
""",
        SAME,
    ),
    "MaxPool": (
        f"""name: MaxPool
{TENSORS}params:
  ksize: {{type: VX_TYPE_ARRAY, length: 4}}
  strides: {{type: VX_TYPE_ARRAY, length: 4}}
  T: {{type: VX_TYPE_UINT8}}
  padding: {{type: VX_TYPE_UINT8}}
""",
        SAME
        + """

def params_from_tf(node_def, constants):
    return {"padding": int(node_def.attr["padding"].s == b"SAME")}
""",
    ),
    "ResizeAreaByPosition": (
        f"""name: ResizeAreaByPosition
{TENSORS}params: {{size: {{type: VX_TYPE_ARRAY}}}}
""",
        SAME
        + """

def params_from_tf(node_def, constants):
    return {"size": constants[node_def.input[1]]}
""",
    ),
}


def tensorflow_pythons() -> list[str]:
    """Return the Pythons that have TensorFlow: those that were named, or this one."""
    named = os.environ.get(PYTHON_VARIABLE, "")
    if named:
        return [python for python in named.split(os.pathsep) if python]
    return [sys.executable] if importlib.util.find_spec("tensorflow") else []


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run every case in every Python; where there is none, one case that says so."""
    pythons = tensorflow_pythons()
    if pythons:
        metafunc.parametrize("case", CASES)
        metafunc.parametrize("python", pythons)
    else:
        metafunc.parametrize(("case", "python"), [("all", "")])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the generated classes."""
    made = tmp_path_factory.mktemp("tensorflow")
    operators = dict(OPERATORS)
    for name in ("resize_area", "exp", "truncate_div"):
        description = (EXAMPLES / name / f"{name}.yml").read_text(encoding="utf-8")
        reference = EXAMPLES / name / f"{parse(description).lower}_reference.py"
        operators[name] = (description, reference.read_text(encoding="utf-8"))
    for description, source in operators.values():
        spec = parse(description)
        text = toolkit_class(spec, source)
        (made / f"rknn_op_{spec.lower}.py").write_text(text, encoding="utf-8")
    return made


@functools.cache
def results_of(python: str, folder: Path) -> dict[str, str | None]:
    """Run all cases in a Python; return the name of each -> None, or why it failed."""
    done = subprocess.run(
        [python, str(PROGRAM), str(folder), str(TESTS / "rknn_stand_in")],
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = done.stdout.splitlines()
    assert lines, f"{python} {PROGRAM} printed nothing:\n{done.stderr[-3000:]}"
    results: dict[str, str | None] = json.loads(lines[-1])["results"]
    assert list(results) == CASES
    return results


def test_in_tensorflow(case: str, python: str, folder: Path) -> None:
    if not python:
        if os.environ.get(REQUIRE_VARIABLE) == "1":
            pytest.fail(ADVICE)
        pytest.skip(ADVICE)
    problem = results_of(python, folder)[case]
    assert problem is None, problem
