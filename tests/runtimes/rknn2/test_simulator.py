"""Operators in the real RKNN-Toolkit2: conversion and simulation.

The toolkit is optional and has its own Python.
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opkit.check.cases import Case
from opkit.check.comparison import compare
from opkit.check.operators import Operator
from opkit.check.tolerance import Tolerance
from opkit.runtimes import parse
from opkit.runtimes.executor import Executor
from opkit.runtimes.invocation import Invocation
from opkit.runtimes.rknn2.chips import TARGETS
from opkit.runtimes.rknn2.converter_class import files
from opkit.runtimes.rknn2.scons.toolkit_python import executor
from opkit.runtimes.rknn2.simulator import SimulatedReference
from opkit.runtimes.rknn2.toolkit2 import PACKAGES
from tests.check.target_repositories import counts
from tests.marks import sampled
from tests.repositories import (
    EXAMPLES,
    ONNX_OPERATORS,
    RKNN2_EXAMPLES,
    ROOT,
    Repository,
    example_folder,
    generate_example,
)

pytestmark = pytest.mark.slow

PYTHON_VARIABLE = "RKNN_OP_RKNN2_PYTHON"
REQUIRE_VARIABLE = "RKNN_OP_REQUIRE_RKNN2"
PROGRAM = Path(__file__).parent / "conversions.py"
OTHER_EXAMPLES = [name for name in RKNN2_EXAMPLES if name not in ONNX_OPERATORS]
"""The examples with several cases; ONNX's operators are in test_library_in_simulator.py."""
CASES = 6
"""The count of an example's cases; the toolkit converts a model for each, in half a second."""


@cache
def toolkit_python() -> str:
    """Return a Python with the toolkit; skip the test if the variable is not set."""
    python = os.environ.get(PYTHON_VARIABLE, "")
    if not python:
        advice = (
            "no Python with RKNN-Toolkit2. Run "
            f"`{PYTHON_VARIABLE}=$(.ci/rknn2_environment .venv-rknn2) pytest`"
        )
        if os.environ.get(REQUIRE_VARIABLE):
            pytest.fail(advice)
        pytest.skip(advice)
    return python


def repository(folder: Path, name: str) -> Operator:
    """Return an example with the files for the converter."""
    text = (EXAMPLES / name / f"{name}.yml").read_text()
    spec = parse(text if "runtimes:" in text else f"{text}runtimes: [rknn, rknn2]\n")
    folder.mkdir(exist_ok=True)
    (folder / "op.yml").write_text(
        text if "runtimes:" in text else f"{text}runtimes: [rknn, rknn2]\n"
    )
    shutil.copy(example_folder(name) / f"{spec.lower}_reference.py", folder)
    (folder / "rknn2").mkdir()
    for path, content in files(spec).items():
        (folder / path).write_text(content)
    return Operator(folder)


@contextmanager
def simulated(operator: Operator, target: str = "rk3588") -> Iterator[SimulatedReference]:
    kernel = SimulatedReference(operator.spec, executor(target, toolkit_python()), operator.root)
    try:
        yield kernel
    finally:
        kernel.close()


def run(kernel: SimulatedReference, operator: Operator, case: Case) -> str:
    """Run a case in the simulator; return the fault and the differences."""
    prepared = operator.prepare(case).rounded(kernel.precision)
    result = kernel.run(prepared.invocation)
    if result.fault:
        return result.fault
    tolerance = Tolerance(kernel.max_ulp)
    differences = {
        name: compare(result.outputs[name], array, tolerance.for_output(name, array.dtype))
        for name, array in prepared.expected.items()
    }
    return "".join(f"{name}: {each}" for name, each in differences.items() if each.wrong)


def cases_of(name: str, operator: Operator, patch: pytest.MonkeyPatch) -> list[Case]:
    """Return the cases of an example's tests, except tests that change the reference."""
    # In the repository, because vary_params reads its op.yml.
    path = operator.root / f"tests/test_{operator.spec.lower}.py"
    path.parent.mkdir(exist_ok=True)
    shutil.copy(example_folder(name) / "tests" / path.name, path)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    patch.setitem(sys.modules, f"{operator.spec.lower}_reference", operator.reference.module)
    spec.loader.exec_module(module)
    found: dict[str, Case] = {}
    for function in vars(module).values():
        code = getattr(function, "__code__", None)
        if code and "check_cpu_kernel" in code.co_names and "monkeypatch" not in code.co_varnames:
            parametrized = (mark.args[1] for mark in getattr(function, "pytestmark", ()))
            values = (value for given in parametrized for value in given)
            found |= {case.name: case for case in values if isinstance(case, Case)}
    return list(found.values())


def with_int32(case: Case) -> Case:
    """Return a case with int32, which RKNN-Toolkit2 has, instead of int16."""
    arrays = case.inputs.items()
    return replace(
        case, inputs={name: a.astype("i4") if a.dtype == "i2" else a for name, a in arrays}
    )


SELECTED_FAULT = """
        if (x == 4).all():
            __import__("os")._exit(0)
        y = y[:, :2] if (x == 3).all() else y + (x == 2).all()
        return {"y": y.astype(np.float16)}
"""


@pytest.mark.parametrize(
    ("name", "target"),
    sampled(zip(OTHER_EXAMPLES, itertools.cycle(TARGETS), strict=False), lambda each: each[0]),
)
def test_example_in_simulator(
    name: str, target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    operator = repository(tmp_path, name)
    found = cases_of(name, operator, monkeypatch)
    with simulated(operator, target) as kernel:
        for case in map(with_int32, found[:: -(-len(found) // CASES)]):
            assert run(kernel, operator, case) == "", case.name


def test_failures_are_messages_and_the_next_case_runs(tmp_path: Path) -> None:
    """The input selects the reference's fault; the toolkit runs other inputs first."""
    operator = repository(tmp_path, "piecewise_linear")
    assert operator.reference.module is not None
    path = tmp_path / "piecewiselinear_reference.py"
    returned = 'return {"y": y.astype(inputs["x"].dtype)}'
    text = path.read_text()
    assert returned in text
    path.write_text(text.replace(returned, SELECTED_FAULT.strip()))
    params = {"points": [0.0, 1.0], "values": [0.0, 1.0], "outside": "extend"}

    def case(number: int) -> Case:
        return Case(str(number), {"x": np.full((1, 4), number, np.float16)}, params)

    with simulated(operator) as kernel:
        assert run(kernel, operator, case(7)) == ""
        assert run(kernel, operator, case(2)).startswith("y: ")
        assert run(kernel, operator, case(3)).startswith(
            "inference: cstPiecewiseLinear: reference returns 'y' as [1, 2], but output_shapes says"
        )
        assert run(kernel, operator, case(4)).startswith("RKNN-Toolkit2 ended without an answer")
        assert run(kernel, operator, case(7)) == ""


DIFFERENCE = """\
name: Difference
runtimes: [rknn2]
inputs: {file: {type: VX_TYPE_TENSOR}, arr_0: {type: VX_TYPE_TENSOR}}
outputs: {allow_pickle: {type: VX_TYPE_TENSOR, same_as: file}}
"""
DIFFERENCE_REFERENCE = """\
def output_shapes(input_shapes, params):
    return {"allow_pickle": input_shapes["file"]}


def reference(inputs, params):
    return {"allow_pickle": inputs["file"] - inputs["arr_0"]}
"""


ENDS = """
import json, sys
for line in sys.stdin:
    if json.loads(line)["params"]["ends"]:
        sys.exit("I progress\\nthe reason")
    print(json.dumps({"problem": "none"}), flush=True)
"""


@pytest.mark.nightly
def test_ended_process_is_replaced(tmp_path: Path) -> None:
    command = (sys.executable, "-c", ENDS)
    kernel = SimulatedReference(parse(DIFFERENCE), Executor("simulator", command), tmp_path)
    arrays = dict.fromkeys(("file", "arr_0"), np.zeros(2, np.float32))

    def fault(ends: bool) -> str:
        return kernel.run(Invocation(arrays, {"ends": ends}, {})).fault

    ended = "RKNN-Toolkit2 ended without an answer\n  the reason"
    assert [fault(ends) for ends in (True, False, True, False)] == [ended, "none"] * 2
    kernel.close()


@pytest.mark.nightly
def test_tensors_named_like_parameters_of_numpy(tmp_path: Path) -> None:
    (tmp_path / "op.yml").write_text(DIFFERENCE)
    (tmp_path / "difference_reference.py").write_text(DIFFERENCE_REFERENCE)
    (tmp_path / "rknn2").mkdir()
    for path, content in files(parse(DIFFERENCE)).items():
        (tmp_path / path).write_text(content)
    operator = Operator(tmp_path)
    arrays = {"arr_0": np.full((1, 4), 1, np.float32), "file": np.full((1, 4), 3, np.float32)}
    with simulated(operator) as kernel:
        assert run(kernel, operator, Case("other order", arrays)) == ""


# ---- The scripts ----


@pytest.fixture(scope="module")
def operators(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    folder = tmp_path_factory.mktemp("operators")
    for name in ("piecewise_linear", "exp", "row_mean"):
        repository(folder / name, name)
    return lambda name: folder / name


@pytest.fixture(scope="module")
def outcomes(operators: Callable[[str], Path]) -> Mapping[str, Any]:
    folders = [str(operators(name) / "rknn2") for name in ("piecewise_linear", "exp")]
    program = subprocess.run(
        [toolkit_python(), "-B", str(PROGRAM), *folders],
        capture_output=True,
        text=True,
        check=False,
    )
    assert program.returncode == 0, program.stderr
    return dict(json.loads(program.stdout))


REFUSALS = {
    "absent": "the model has no node of the type cstPiecewiseLinear",
    "symbolic": r"input 'x' has the shape \[0, 4\], with sizes that are not fixed",
    "int16": "input 'x' is int16 (expected float32, ",
    "left out": "node 'cstPiecewiseLinear' leaves out an input",
    "two inputs": "build: cstPiecewiseLinear: node 'cstPiecewiseLinear' has 2 inputs, expected",
    "folded away": "node 'cstPiecewiseLinear' has only constant inputs",
    "no attribute": "build: cstPiecewiseLinear: node 'bare' has no attribute 'points'",
    "large integer": "build: cstPiecewiseLinear: node 'cstPiecewiseLinear': attribute 'unread' is "
    "2147483648, on which librknnrt aborts .* (expected -2147483648 to 2147483647\\)",
    "small float": "build: .* attribute 'unread' is 1.17.*e-38, on which librknnrt aborts",
    "infinite": "build: .* attribute 'points' is inf, on which librknnrt aborts",
    "rank 7": r"build: .* input 'x' has the shape \[1, 1, 1, 1, 1, 2, 3\] with 7 dimensions",
    "unregistered": "build: .*; the model has operators that are neither ONNX's nor registered: "
    "cstExp (node 'cstExp'\\); pass the class of each one: --custom-op",
    "unregistered twice": "load_onnx: .*cstExp (node 'cstExp'\\), Mish2 (node 'b'\\); pass",
    "standard name": "reg_custom_op: The op_type = 'Abs' is invalid, Ignore this call!",
}


@pytest.mark.parametrize("name", REFUSALS)
def test_model_is_refused(name: str, outcomes: Mapping[str, Any]) -> None:
    assert re.match(REFUSALS[name].replace("(", r"\("), outcomes[name])
    assert "\n" not in outcomes[name]
    assert "Traceback" not in outcomes[name]


ONCE = "cstPiecewiseLinear: this process has registered it with another RKNN object, so RKNN-"
SCRIPTS = {
    "second_registration": ONCE,
    "second_model_without_registration": ONCE,
    "registration_of_a_failed_conversion": ONCE,
    "second_converter": f"reg_custom_op: {ONCE}",
    "registered_twice_with_one_object": "built 0$",
    "dynamic_input": "dynamic_input is not possible with custom operators: librknnrt crashes",
    "dynamic_input_of_symbolic_model": "dynamic_input is not possible with custom operators",
    "input_size_list": r"the input shapes \[\[None, 4\]\] are not fixed; write the sizes into the",
    "everything_after_build": r"\[0, 0, 0\] True",
    "quantized": "True",
    "refused_inputs_of_toolkit": "True",
    "mistake_on_inputs_of_toolkit": "cstPiecewiseLinear: reference: NameError: refused",
    "refused_inference": "cstPiecewiseLinear: reference: ValueError: refused",
    "refused_calibration": "cstPiecewiseLinear: reference: ValueError: refused",
    "refused_constants": "cstPiecewiseLinear: reference: ValueError: refused",
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_script_of_a_user(name: str, outcomes: Mapping[str, Any]) -> None:
    assert re.search(SCRIPTS[name], outcomes[name])


def test_two_operators_in_a_model(outcomes: Mapping[str, Any]) -> None:
    assert outcomes["two operators"] < 2e-3 * np.e
    assert outcomes["attributes in .rknn"] == [True, True]


@pytest.mark.nightly
def test_renamed_nodes(outcomes: Mapping[str, Any]) -> None:
    assert outcomes["renamed"] == "converted"
    assert sorted(outcomes["attributes of renamed"]) == ["outside", "points", "values"]


def script(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [toolkit_python(), "-B", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_scripts_from_the_command_line(operators: Callable[[str], Path]) -> None:
    # A misplaced axis would give another shape.
    folder = operators("row_mean")
    made = script(folder, "rknn2/make_onnx.py", "m.onnx", "input=1x6x5x3")
    assert made.stdout == "wrote m.onnx\n", made.stderr
    converted = script(folder, "rknn2/convert.py", "m.onnx", "--target", "all")
    lines = [line for line in converted.stdout.splitlines() if ": " in line]
    names = "rk3588 rk3576 rk3568 rk3566 rk3562 rv1126b".split()
    assert lines == [f"m_{name}.rknn: the simulator and the reference agree" for name in names]
    assert all((folder / f"m_{name}.rknn").stat().st_size > 1000 for name in names)


@pytest.mark.nightly
def test_model_without_dimensions(operators: Callable[[str], Path]) -> None:
    folder = operators("piecewise_linear")
    arguments = ["rknn2/make_onnx.py", "m.onnx", "x=", "points=-3,3", "values=0,1"]
    assert script(folder, *arguments).stdout == "wrote m.onnx\n"
    converted = script(folder, "rknn2/convert.py", "m.onnx")
    assert (
        "m_rk3588.rknn: not simulated: the simulator does not support scalar inputs\n"
        in converted.stdout
    ), converted.stderr
    for name in ("m.onnx", "m_rk3588.rknn"):
        assert b"outside" in (folder / name).read_bytes()


def test_every_target_has_the_operator(operators: Callable[[str], Path]) -> None:
    """The toolkit adds the operator only to a process's first model, visible in the size alone."""
    folder = operators("piecewise_linear")
    values = "x=2x50", "points=-3,3", "values=0,1"
    assert script(folder, "rknn2/make_onnx.py", "m.onnx", *values).returncode == 0
    sizes = []
    for targets in ("rk3588", "rk3568"), ("rk3568",):
        converted = script(folder, "rknn2/convert.py", "m.onnx", "--target", *targets)
        assert converted.returncode == 0, converted.stderr
        sizes.append((folder / "m_rk3568.rknn").stat().st_size)
    assert sizes[0] == sizes[1]


def test_quantized(operators: Callable[[str], Path]) -> None:
    folder = operators("piecewise_linear")
    values = "x=2x50", "points=-3,3", "values=0,1", "outside=extend"
    assert script(folder, "rknn2/make_onnx.py", "m.onnx", *values).returncode == 0
    converted = script(folder, "rknn2/convert.py", "m.onnx", "--quantize", "--target", "rk3568")
    assert "m_rk3568.rknn: the simulator and" in converted.stdout, converted.stderr
    assert converted.returncode == 0


@pytest.mark.parametrize(
    ("arguments", "problem"),
    {
        "points=1,2 values=1,2": "no shape of input 'x'; write x=1x3x4x5",
        "x=1x2 points=1,2": "no value of param 'values'; write values=...",
        "x=1x2 y=1x2": "unknown name in 'y=1x2' (expected x, points, values, outside)",
        "x=1x2 points=a": "invalid 'points=a': could not convert string to float: 'a'",
        "x=1xN": "invalid 'x=1xN': invalid literal for int() with base 10: 'N'",
        "x=1x2 points=2,1 values=1,2": "cstPiecewiseLinear: output_shapes: ValueError: Piecewise",
        "x=1x2 points=1e-40,1 values=1,2": "attribute 'points' is 9.99994610111476e-41, on which",
        "x=1x1x1x1x1x1x2 points=1,2 values=1,2": "input 'x' has the shape [1, 1, 1, 1, 1, 1, 2]",
        "--from absent.onnx --rename Exp": "No such file or directory: 'absent.onnx'",
    }.items(),
)
def test_make_onnx_refuses(arguments: str, problem: str, outcomes: Mapping[str, Any]) -> None:
    assert outcomes[arguments].startswith("error: ")
    assert problem in outcomes[arguments]


# ---- scons ----


@pytest.fixture(scope="module")
def piecewise_linear(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return generate_example(tmp_path_factory.mktemp("simulated"), "piecewise_linear")


def test_scons_check_simulates(piecewise_linear: Repository) -> None:
    checked = piecewise_linear.scons("report", f"rknn2_python={toolkit_python()}")
    kernels = ("CPU kernel", "CPU kernel, pplnn", "simulator, rk3588")
    assert counts(checked.stdout) == dict.fromkeys(kernels, 28)
    assert re.findall("note.*", checked.stdout) == [
        "note: not run on aarch64, riscv64: no qemu (apt install qemu-user-static)"
    ]
    assert "simulator, rk3588" in (piecewise_linear.path / "build/report.html").read_text()


def test_scons_check_without_toolkit(piecewise_linear: Repository) -> None:
    checked = piecewise_linear.scons("check")
    assert counts(checked.stdout) == {"CPU kernel": 28, "CPU kernel, pplnn": 28}
    note = "note: simulation skipped: rknn-toolkit2 is not installed; see README.md"
    assert checked.stdout.count(f"\n{note}\n") == 1
    assert len(note) <= 80
    readme = (piecewise_linear.path / "README.md").read_text()
    assert f".venv-rknn2/bin/pip install {PACKAGES}`" in readme


@pytest.mark.nightly
def test_version_of_toolkit_is_in_one_file() -> None:
    texts = [
        path
        for folder in ("opkit", "rknn_op", "docs", ".ci", ".github")
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and re.search(rb"rknn-toolkit2==\d", path.read_bytes())
    ]
    assert texts == []


@pytest.mark.parametrize("python", ["/nonexistent/python", sys.executable])
def test_python_without_toolkit_is_refused(python: str, piecewise_linear: Repository) -> None:
    refused = piecewise_linear.scons("check", f"rknn2_python={python}", check=False)
    assert refused.returncode == 2
    assert f"error: rknn2_python={python}: " in refused.stderr
