"""The stand-in for librknnrt: its refusals, faults and messages."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from opkit.common.errors import OpkitError
from opkit.runtimes import parse
from opkit.runtimes.invocation import RunResult
from opkit.runtimes.rknn2.host_kernel import CONVENTION
from tests.compiling import C_SOURCES
from tests.runtimes.rknn2.support import Operator, build_plugin

DESCRIPTION = """\
name: Misdeeds
runtimes: [rknn2]
inputs: {x: {type: VX_TYPE_TENSOR}}
outputs: {y: {type: VX_TYPE_TENSOR}}
params: {p: {type: int}}
"""


@pytest.fixture(scope="module")
def library(host: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("misdeeds") / "librkcst_misdeeds.so"
    return build_plugin(path, host, C_SOURCES / "rknn2_misdeeds.c")


def run(library: Path, host: Path, entry: str, dtype: str = "float32") -> RunResult:
    operator = Operator(parse(DESCRIPTION), library, host, entry)
    array = np.arange(24).reshape(1, 2, 3, 4).astype(dtype)
    try:
        return operator.run({"x": array}, {"p": 5}, {"y": (array.shape, dtype)})
    finally:
        operator.close()


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "int64", "bool"])
def test_operator_copies(library: Path, host: Path, dtype: str) -> None:
    result = run(library, host, "nothing_wrong", dtype)
    assert (result.status, result.events, result.leaks) == (0, [], [])
    expected = np.arange(24).reshape(1, 2, 3, 4).astype(dtype)
    assert np.array_equal(result.outputs["y"], expected)
    assert result.outputs["y"].dtype == dtype


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("no_operator", "get_rknn_custom_op returns NULL"),
        ("for_gpu", "cl_kernel_name is empty, or cl_kernel_source is NULL"),
        ("without_type", "op_type is empty, or not terminated"),
        ("endless_type", "op_type is empty, or not terminated"),
        ("without_compute", "compute is NULL"),
        ("with_compute_native", "compute_native is not NULL"),
    ],
)
def test_refused_operator(library: Path, host: Path, entry: str, problem: str) -> None:
    with pytest.raises(OpkitError, match=f"the custom operator: {problem}"):
        run(library, host, entry)


@pytest.mark.parametrize(
    ("entry", "status", "stage"),
    [
        ("failing_init", 7, "init"),
        ("failing_init_without_destroy", 7, "init"),
        ("failing_prepare", 7, "compute"),
        ("skipping_init", -14, "init"),
    ],
)
def test_failing_function(library: Path, host: Path, entry: str, status: int, stage: str) -> None:
    result = run(library, host, entry)
    assert (result.status, result.stage, result.fault) == (status, stage, "")


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("aborting_in_destroy", "destroy calls abort"),
        ("reading_in_init", "init reads through a NULL pointer"),
        ("writing_input", "compute writes byte 0 of input 'x' (96 bytes), a read-only input"),
        ("writing_too_much", "compute writes just past the end of output 'y' (96 bytes)"),
        ("keeping_attribute", "compute reads the unmapped address 0x"),
        ("reading_beyond_attribute", "init reads just past the end of attribute 'p' (8 bytes)"),
    ],
)
def test_fault_is_explained(library: Path, host: Path, entry: str, problem: str) -> None:
    assert problem in run(library, host, entry).fault


@pytest.mark.parametrize(
    ("entry", "event"),
    [
        ("writing_attributes", "the operator changes the description of 'y'"),
        ("asking_elsewhere", "the operator asks for an attribute of another node"),
    ],
)
def test_event(library: Path, host: Path, entry: str, event: str) -> None:
    assert run(library, host, entry).events == [event]


def test_elements_begin_at_an_offset(library: Path, host: Path) -> None:
    result = run(library, host, "ignoring_offset")
    assert result.fault or not np.array_equal(result.outputs["y"].ravel(), np.arange(24))


def test_leak(library: Path, host: Path) -> None:
    assert run(library, host, "leaking").leaks == [
        "a block of 24 bytes (allocation 1) was never freed"
    ]


def test_status_names() -> None:
    assert CONVENTION.status_name(-14) == "RKNN_WARNING_SKIP_CUSTOM_OP_COMPUTE (-14)"
    assert CONVENTION.status_name(-1) == "status -1"
