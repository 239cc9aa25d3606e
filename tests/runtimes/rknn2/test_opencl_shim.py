"""The shim before PoCL: the same kernels, the same API, the same results as in the emulator."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from opkit.common.errors import OpkitError
from opkit.runtimes.rknn2.cl_compiler import compile_cl
from opkit.runtimes.rknn2.cl_results import read_records
from opkit.runtimes.rknn2.find_opencl import RealOpenCl, find_opencl
from tests.runtimes.rknn2 import opencl_steps as steps
from tests.runtimes.rknn2.opencl_api import Run, in_process, run_launches
from tests.runtimes.rknn2.opencl_builds import shim
from tests.runtimes.rknn2.opencl_runs import Result, emulate
from tests.runtimes.rknn2.test_opencl_emulator import RIGHT

OPERATORS = Path(__file__).with_name("opencl_operators.cl")
VARIABLE = "RKNN_OP_REAL_OPENCL"


@pytest.fixture(scope="module")
def pocl(tmp_path_factory: pytest.TempPathFactory) -> RealOpenCl:
    """The OpenCL of this PC."""
    try:
        return find_opencl(tmp_path_factory.mktemp("opencl"), os.environ.get(VARIABLE, ""))
    except OpkitError as error:
        if os.environ.get("RKNN_OP_REQUIRE_OPENCL") == "1":
            raise
        pytest.skip(f"{error}; or `{VARIABLE}=$(.ci/opencl_environment .venv-opencl) pytest`")


@pytest.fixture(scope="module")
def results(pocl: RealOpenCl) -> dict[str, Result]:
    """The results of all right kernels; no program on PATH but PoCL's `ld` is needed."""
    attachments = {"opencl:real": pocl.library}
    runs = [replace(run, attachments=attachments) for run, _ in RIGHT.values()]
    environment = {**pocl.environment, "PATH": pocl.environment["PATH"].rpartition(":")[2]}
    results = {}
    answers = in_process(run_launches, shim(), runs, environment=environment)
    for name, (outputs, records) in zip(RIGHT, answers, strict=True):
        result, others = read_records(records.log, records.attachments, outputs)
        assert others == []
        results[name] = (outputs, result)
    return results


@pytest.mark.slow
@pytest.mark.parametrize("name", RIGHT)
def test_right_kernels(results: dict[str, Result], name: str) -> None:
    run, expected = RIGHT[name]
    outputs, result = results[name]
    assert result.problems() == []
    assert [each.kernel for each in result.launches] == [run.kernel]
    assert result.launches[0].local_size == tuple(run.local or ())
    for output, array in expected.items():
        np.testing.assert_allclose(outputs[output], array, rtol=1e-6, atol=1e-6, strict=True)


@pytest.mark.slow
def test_emulator_and_pocl_agree(pocl: RealOpenCl, tmp_path: Path) -> None:
    program = compile_cl(OPERATORS, tmp_path)
    assert program.diagnostics == ""
    rng = np.random.default_rng(43)
    x = rng.standard_normal((9, 11)).astype(np.float32)
    grid = (rng.random((7, 5, 2)) * 12 - 1).astype(np.float32)
    rows = rng.standard_normal((6, 37)).astype(np.float32)
    numbers = np.int32(9), np.int32(11), np.float32(2)
    runs = [
        Run(OPERATORS, "sample", [x, grid, "y", *numbers, np.uint32(mode)], {"y": y}, [5, 7])
        for y in [np.empty((7, 5), np.float32)]
        for mode in (0, 1)
    ]
    soft = [rows, "y", ("local", 64), np.uint32(37)]
    runs.append(Run(OPERATORS, "soft", soft, {"y": rows}, [96], [16]))
    emulated = emulate(program, runs)
    real = [replace(run, attachments={"opencl:real": pocl.library}) for run in runs]
    answers = in_process(run_launches, shim(), real, environment=pocl.environment)
    for (outputs, result), (expected, _) in zip(emulated, answers, strict=True):
        assert result.problems() == []
        np.testing.assert_allclose(outputs["y"], expected["y"], rtol=1e-5, atol=1e-6)
    exponentials = np.exp(rows - rows.max(axis=1, keepdims=True))
    softmax = exponentials / exponentials.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(emulated[2][0]["y"], softmax, rtol=1e-5)


@pytest.mark.slow
def test_missing_finish(pocl: RealOpenCl) -> None:
    attachments = {"opencl:real": pocl.library}
    _, records = in_process(
        *(steps.perform, shim(), attachments, {}, steps.forget_finish),
        environment=pocl.environment,
    )
    result, _ = read_records(records.log, records.attachments, {})
    assert result.misuse == [
        "a command queue is released before clFinish has waited for its commands"
    ]


def test_missing_library_is_named(tmp_path: Path) -> None:
    wanted = str(tmp_path / "libOpenCL.so.1")
    with pytest.raises(OpkitError) as caught:
        find_opencl(tmp_path, wanted)
    assert str(caught.value).startswith(f"no OpenCL on this PC ({wanted}: ")
    assert "pip install pyopencl pocl-binary-distribution" in str(caught.value)
