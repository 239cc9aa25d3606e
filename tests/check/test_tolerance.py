"""Tolerances: for each output, exact for integers, and invalid ones refused with their line."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opkit.check.results import error_text
from opkit.check.tolerance import EXACT
from opkit.runtimes.executor import Executor
from opkit.runtimes.invocation import Array, Kernel
from opkit.testing import Case, Operator, Result, Tolerance, check_cpu_kernel, run_kernel
from tests.check.python_kernels import PythonKernel, write_operator

TENSORS = """\
inputs: {x: {type: VX_TYPE_TENSOR, dtype: float32}}
outputs:
  value: {type: VX_TYPE_TENSOR, dtype: float32}
  small: {type: VX_TYPE_TENSOR, dtype: float16}
  index: {type: VX_TYPE_TENSOR, dtype: int64}
  found: {type: VX_TYPE_TENSOR, dtype: bool}
"""
REFERENCE = """\
import numpy as np

LARGE = 2**53


def output_shapes(input_shapes, params):
    return dict.fromkeys(("value", "small", "index", "found"), (2,))


def reference(inputs, params):
    ones = np.ones(2, np.float32)
    return {"value": ones, "small": ones, "index": np.array([LARGE, 0]), "found": ones > 0}
"""
LARGE = 2**53
RIGHT: Mapping[str, Array] = {
    "value": np.ones(2, np.float32),
    "small": np.ones(2, np.float16),
    "index": np.array([LARGE, 0]),
    "found": np.ones(2, bool),
}
CASE = Case("one", {"x": np.zeros(2, np.float32)})


class TopOne(Operator):
    """An operator of a CPU kernel with constant outputs."""

    def __init__(self, root: Path, outputs: Mapping[str, Array]) -> None:
        super().__init__(root)
        self.kernel = PythonKernel(lambda inputs: dict(outputs))

    def cpu_kernels(self, executors: Sequence[Executor] = ()) -> dict[str, Kernel]:
        return {"CPU kernel": self.kernel}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_operator(tmp_path, "TopOne", TENSORS, REFERENCE).root


def result(root: Path, changes: Mapping[str, Any], **tolerance: Any) -> Result:
    """Return the result of a kernel with some wrong outputs."""
    outputs = {
        name: np.array(changes.get(name, array), array.dtype) for name, array in RIGHT.items()
    }
    operator = TopOne(root, outputs)
    return run_kernel(operator.kernel, operator, CASE, "CPU kernel", Tolerance(**tolerance))


def failure(root: Path, **tolerance: Any) -> str:
    """Return the message of a failed check of the right kernel; empty if it passes."""
    try:
        check_cpu_kernel(CASE, operator=TopOne(root, RIGHT), **tolerance)
    except pytest.fail.Exception as error:
        return str(error)
    return ""


NEXT = np.nextafter(np.float32(1), np.float32(2))
NEXT_HALF = np.nextafter(np.float16(1), np.float16(2))


@pytest.mark.parametrize(
    ("changes", "tolerance", "wrong"),
    [
        ({}, {}, []),
        ({"value": [1, NEXT]}, {}, ["value"]),
        ({"value": [1, NEXT], "small": [NEXT_HALF, 1]}, {"max_ulp": 1}, []),
        ({"value": [1, NEXT], "small": [NEXT_HALF, 1]}, {"max_ulp": {"small": 1}}, ["value"]),
        ({"value": [1, 1.5], "small": [1, 1.5]}, {"max_error": 0.5}, []),
        ({"value": [1, 1.5], "small": [1, 1.5]}, {"max_error": {"value": 0.5}}, ["small"]),
        (
            {"value": [1, 1.5], "small": [1, NEXT_HALF]},
            {"max_error": {"value": 0.5}, "max_ulp": 1},
            [],
        ),
        ({"index": [LARGE, 1]}, {"max_ulp": 9, "max_error": 9}, ["index"]),
        ({"index": [LARGE, 1]}, {"max_error": {"index": 1}}, []),
        ({"index": [LARGE, -2]}, {"max_error": {"index": 1.5}}, ["index"]),
        ({"found": [True, False]}, {"max_ulp": 9, "max_error": 9}, ["found"]),
    ],
)
def test_tolerance_is_for_each_output(
    root: Path, changes: dict[str, Any], tolerance: dict[str, Any], wrong: list[str]
) -> None:
    problem = result(root, changes, **tolerance).problem
    assert re.findall(r"elements of output '(\w+)' are wrong", problem) == wrong


def test_int64_differences_are_exact(root: Path) -> None:
    changes = {"index": [LARGE + 1, 0]}  # as float64, it is LARGE
    found = result(root, changes)
    assert (found.max_error, found.max_ulp) == (1, 1)
    assert (
        f"the worst is index[0]: the kernel gives {LARGE + 1}, the reference {LARGE} (1 apart; "
        "integers must be equal, unless max_error names the output)"
    ) in found.problem
    far = {"index": [3 * LARGE + 1, 0]}
    found = result(root, far, max_error={"index": 2 * LARGE})
    assert (found.max_error, error_text(found.max_error)) == (2 * LARGE + 1, f"{2 * LARGE + 1}")
    assert f"{2 * LARGE + 1} apart, allowed: {2 * LARGE})" in found.problem


@pytest.mark.parametrize(
    ("tolerance", "message"),
    [
        ({"max_ulp": -1}, "max_ulp=-1; write a finite number, 0 or larger"),
        ({"max_error": math.inf}, "max_error=inf; write a finite number, 0 or larger"),
        ({"max_error": math.nan}, "max_error=nan; write a finite number, 0 or larger"),
        ({"max_ulp": math.inf}, "max_ulp=inf; write a finite number, 0 or larger"),
        ({"max_error": {"value": "1"}}, "max_error={'value': '1'}; write a finite number, 0 or"),
        (
            {"max_ulp": {"valeu": 1}},
            "max_ulp={'valeu': 1}: unknown output 'valeu'; did you mean 'value'? (expected value, "
            "small, index, found)",
        ),
        ({"max_error": {"x": 1}}, "max_error={'x': 1}: unknown output 'x' (expected value, small"),
        (
            {"max_ulp": {"index": 1}},
            "max_ulp={'index': 1}: 'index' is int64; write max_error={'index': 1}",
        ),
        (
            {"max_error": 70000},
            "max_error=70000 tolerates every number of output 'small', which is float16 (expected "
            "less than 65504)",
        ),
        ({"max_error": {"small": 65504}}, "max_error={'small': 65504} tolerates every number of"),
        ({"max_ulp": 2**40}, "max_ulp=1099511627776 tolerates every number of output 'value'"),
        (
            {"max_error": {"found": 1}},
            "max_error={'found': 1} tolerates every number of output 'found', which is bool "
            "(expected less than 1)",
        ),
        ({"max_error": {"index": 2**63}}, "max_error={'index': 9223372036854775808} tolerates"),
    ],
)
def test_invalid_tolerance_is_a_mistake(
    root: Path, tolerance: dict[str, Any], message: str
) -> None:
    told = failure(root, **tolerance)
    assert re.match(r"(tests/check/|\S+/)?test_tolerance\.py:\d+: ", told), told
    assert told.partition(": ")[2].startswith(message)


def test_valid_tolerances_pass(root: Path) -> None:
    for tolerance in (
        {"max_ulp": 30000, "max_error": 65503},
        {"max_error": {"value": 1e30, "index": 2**62}, "max_ulp": {"small": 1}},
    ):
        assert failure(root, **tolerance) == ""


def test_scaled_tolerance() -> None:
    tolerance = Tolerance({"y": 3, "z": 600, "exact": 0}, {"y": 1e-5, "exact": 0})
    scaled = tolerance.scaled(2.5)
    assert scaled.max_ulp == {"y": 7, "z": 600, "exact": 0}
    assert scaled.max_error == {"y": 2.5e-5, "exact": 0}
    assert Tolerance(40).scaled(100).max_ulp == 512
    assert EXACT.scaled(1) == Tolerance(1)
