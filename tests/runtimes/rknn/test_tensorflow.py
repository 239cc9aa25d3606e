"""The class that RKNN-Toolkit calls, in real TensorFlow graphs.

TensorFlow is optional (extra `tf`) and may be in other Pythons, old ones too. The cases are
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

from opkit.runtimes import parse
from opkit.runtimes.rknn.toolkit_class import toolkit_class
from tests.repositories import EXAMPLE_DESCRIPTIONS, OWN_BYTECODE, example_files

pytestmark = pytest.mark.slow

TESTS = Path(__file__).parent
PROGRAM = TESTS / "tensorflow_cases.py"
CASES = [
    node.name
    for node in ast.parse(PROGRAM.read_text(encoding="utf-8")).body
    if isinstance(node, ast.FunctionDef) and node.name.startswith("case_")
]

PYTHON_VARIABLE = "RKNN_OP_TENSORFLOW_PYTHON"
OLD_PYTHON_VARIABLE = "RKNN_OP_OLD_TENSORFLOW_PYTHON"
REQUIRE_VARIABLE = "RKNN_OP_REQUIRE_TENSORFLOW"
SEVERAL = "the variable takes several Pythons, separated by `:`"
ADVICE = {
    PYTHON_VARIABLE: (
        "no Python with TensorFlow. Run `pip install '.[tf]'`, or "
        f"`{PYTHON_VARIABLE}=$(.ci/tensorflow_environment .venv-tensorflow) pytest`; {SEVERAL}"
    ),
    OLD_PYTHON_VARIABLE: (
        "no Python with a TensorFlow that RKNN-Toolkit asks for, 1.11 or 1.13. Run "
        f"`{OLD_PYTHON_VARIABLE}=$(PYTHON=python3.6 .ci/tensorflow_environment "
        f".venv-tensorflow-1.11.0 tensorflow==1.11.0) pytest`; {SEVERAL}"
    ),
}

TENSORS = "inputs: {x: {type: VX_TYPE_TENSOR}}\noutputs: {y: {type: VX_TYPE_TENSOR}}\n"
SAME = """
def output_shapes(input_shapes, params):
    return {"y": input_shapes["x"]}


def reference(inputs, params):
    return {"y": inputs["x"]}
"""

STRIDED_SLICE = """
def slices(params):
    return [slice(*numbers) for numbers in zip(params["begin"], params["end"], params["strides"])]


def output_shapes(input_shapes, params):
    lengths = zip(input_shapes["x"], slices(params))
    return {"y": tuple(len(range(*part.indices(length))) for length, part in lengths)}


def reference(inputs, params):
    return {"y": inputs["x"][tuple(slices(params))]}
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
    "StridedSlice": (
        f"""name: StridedSlice
{TENSORS}params:
  end: {{type: VX_TYPE_ARRAY, source: const:end}}
  begin: {{type: VX_TYPE_ARRAY, source: const:begin}}
  strides: {{type: VX_TYPE_ARRAY, source: const:StridedSlice/strides}}
""",
        STRIDED_SLICE,
    ),
    "StridedSliceByAlias": (
        f"""name: StridedSliceByAlias
{TENSORS}params:
  strides: {{type: VX_TYPE_ARRAY, source: const:C_2}}
  end: {{type: VX_TYPE_ARRAY, source: const:C_1}}
  begin: {{type: VX_TYPE_ARRAY, source: const:C}}
""",
        STRIDED_SLICE,
    ),
    "LargestOf": (
        """
        name: LargestOf
        inputs: {x: {type: VX_TYPE_TENSOR}}
        outputs: {index: {type: VX_TYPE_TENSOR, dtype: int16}, value: {type: VX_TYPE_TENSOR}}
        """,
        """
def output_shapes(input_shapes, params):
    return {"index": input_shapes["x"][:-1], "value": input_shapes["x"][:-1]}


def reference(inputs, params):
    return {"index": inputs["x"].argmax(-1), "value": inputs["x"].max(-1)}
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


def tensorflow_pythons(variable: str) -> list[str]:
    """Return the Pythons with TensorFlow: the named ones, or this one if it is new enough."""
    named = os.environ.get(variable, "")
    if named:
        return [python for python in named.split(os.pathsep) if python]
    is_here = variable == PYTHON_VARIABLE and importlib.util.find_spec("tensorflow") is not None
    return [sys.executable] if is_here else []


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run every case in every Python; without a Python, one skipped or failing case."""
    runs = []
    for variable in ADVICE:
        pythons = tensorflow_pythons(variable)
        runs += [(case, python) for python in pythons for case in CASES] or [("all", variable)]
    metafunc.parametrize(("case", "python"), runs)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the generated classes."""
    made = tmp_path_factory.mktemp("tensorflow")
    operators = dict(OPERATORS)
    for path in EXAMPLE_DESCRIPTIONS:
        description = path.read_text(encoding="utf-8")
        spec = parse(description)
        if "rknn" not in spec.runtimes:
            continue
        reference = example_files(path.stem, spec)[f"{spec.lower}_reference.py"]
        operators[path.stem] = (description, reference.decode())
    for description, source in operators.values():
        spec = parse(description)
        text = toolkit_class(spec, source)
        (made / f"rknn_op_{spec.lower}.py").write_text(text, encoding="utf-8")
    return made


@functools.cache
def results_of(python: str, folder: Path) -> dict[str, str | None]:
    """Run all cases in a Python; return name -> None, or the error."""
    done = subprocess.run(
        [python, str(PROGRAM), str(folder), str(TESTS / "rknn_stand_in")],
        env={
            **os.environ,
            **OWN_BYTECODE,
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "CUDA_VISIBLE_DEVICES": "",
        },
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
    if python in ADVICE:
        if python == PYTHON_VARIABLE and os.environ.get(REQUIRE_VARIABLE) == "1":
            pytest.fail(ADVICE[python])
        pytest.skip(ADVICE[python])
    problem = results_of(python, folder)[case]
    assert problem is None, problem
