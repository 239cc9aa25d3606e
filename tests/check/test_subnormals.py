"""Kernels in processes that replace subnormal floats by zeros."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opkit.check import results
from opkit.check.checking import check_cpu_kernel
from opkit.check.comparison import ulp_distance, without_subnormals
from opkit.check.results import RunningTest, running
from opkit.check.session import Session
from opkit.runtimes.executor import Executor
from opkit.runtimes.invocation import Array
from opkit.testing import Case, Operator
from tests.check.python_kernels import PythonKernel, write_operator

TINY = np.finfo(np.float32).smallest_normal
TENSORS = """\
inputs: {x: {type: VX_TYPE_TENSOR}}
outputs: {y: {type: VX_TYPE_TENSOR, same_as: x}}
"""
REFERENCE = """\
def output_shapes(input_shapes, params):
    return {"y": input_shapes["x"]}


def reference(inputs, params):
    if (inputs["x"] == 7).any() and (inputs["x"] == 0).any():
        raise ValueError("zero")
    return {"y": inputs["x"] * inputs["x"].dtype.type(0.5)}
"""


class Half(Operator):
    """The operator with one kernel, in a process that replaces subnormals by zeros."""

    factor = 0.5
    error = 0.0

    def cpu_kernels(self, executors: Any = ()) -> dict[str, Any]:
        return {}

    def vendor_kernels(self, executors: Any) -> dict[str, Any]:
        def compute(inputs: Mapping[str, Array]) -> dict[str, Array]:
            x = without_subnormals(inputs["x"])
            return {"y": without_subnormals(x * np.float32(self.factor)) + np.float32(self.error)}

        kernel = PythonKernel(compute, ("float32",), {})
        return {executor.name: kernel for executor in executors}


@pytest.fixture
def half(tmp_path: Path) -> Half:
    return Half(write_operator(tmp_path, "Half", TENSORS, REFERENCE).root)


def checked(half: Half, x: list[float]) -> RunningTest:
    """Check the operator in the engine on a case."""
    session = Session(vendor_runtimes=(Executor("engine", ()),))
    with running(test := RunningTest(session)):
        check_cpu_kernel(Case("case", {"x": np.array(x, np.float32)}), operator=half)
    return test


def test_array() -> None:
    given = np.array([0, -1e-45, TINY, -TINY, TINY / 2, np.inf, np.nan], np.float32)
    expected = np.array([0, -0.0, TINY, -TINY, 0, np.inf, np.nan], np.float32)
    found = without_subnormals(given)
    assert found.dtype == np.float32
    assert found.tobytes() == expected.tobytes()


def test_lost_subnormals_are_tolerated(half: Half) -> None:
    """In inputs, and in results of normal inputs."""
    [result] = checked(half, [4, 1e-45, -1.5 * TINY, TINY]).results
    assert (result.problem, result.left_out) == ("", "")
    assert (result.max_error, result.max_ulp) == (0, 0)


def test_distance_without_subnormals() -> None:
    """The smallest normal number is next to 0."""
    first = np.array([TINY / 2, TINY, -TINY, TINY, 3 * TINY, np.nan], np.float32)
    second = np.array([0, 0, TINY, TINY / 3, 3 * TINY, 1], np.float32)
    assert [*ulp_distance(first, second, flushes=True)] == [0, 1, 2, 1, 0, 2**63]
    assert [*ulp_distance(first, second)][:2] == [2**22, 2**23]


def test_report_counts_lost_subnormals_as_equal() -> None:
    output = results.output("y", np.zeros(2, np.float32), np.array([TINY / 2, TINY]), flushes=True)
    assert output.errors.bins == {0: 1, -1: 1}


def test_larger_differences_are_not_tolerated(half: Half) -> None:
    half.error = float(2 * TINY)
    with pytest.raises(pytest.fail.Exception, match=r"allowed: 0 ulp or 1\.17549e-38"):
        checked(half, [TINY])


def test_appearance_without_subnormals(half: Half) -> None:
    """A lost subnormal hides no factor of all other elements."""
    half.factor = 0.25
    with pytest.raises(pytest.fail.Exception, match="each element is the reference's times 1/2"):
        checked(half, [4, 3, -6, TINY])


def test_case_that_the_reference_refuses_without_subnormals(half: Half) -> None:
    [result] = checked(half, [7, 1e-45]).results
    reason = "cases with inputs that the reference refuses, without subnormals: "
    assert result.left_out.startswith(reason)
