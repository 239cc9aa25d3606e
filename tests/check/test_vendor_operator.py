"""A converter's own operator in a simulator: rounded inputs, its tolerance and its message."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opkit.check.checking import Candidate, check_kernels
from opkit.check.results import Result, RunningTest, running
from opkit.runtimes.invocation import Array
from opkit.testing import Case, Tolerance
from tests.check.python_kernels import PythonKernel, write_operator

TENSORS = """\
inputs: {x: {type: VX_TYPE_TENSOR}}
outputs: {y: {type: VX_TYPE_TENSOR}}
"""
REFERENCE = """\
import numpy as np


def output_shapes(input_shapes, params):
    return {"y": input_shapes["x"]}


def reference(inputs, params):
    if len(np.unique(inputs["x"])) < inputs["x"].size:
        raise ValueError("x must not hold a number twice")
    return {"y": inputs["x"] - 1}
"""


def checked(
    folder: Path, x: Any, error: float = 0, max_error: float | None = None
) -> tuple[str, Result]:
    """Check the vendor's operator, which rounds inputs and has an error, on a case.

    Returns:
        The problems and the result.
    """

    def compute(inputs: Mapping[str, Array]) -> dict[str, Array]:
        rounded = inputs["x"].astype(np.float16).astype(np.float32)
        return {"y": (rounded - 1 + np.float32(error)).astype(np.float16)}

    operator = write_operator(folder, "Lowered", TENSORS, REFERENCE)
    vendors = PythonKernel(compute)
    kernel = Candidate(
        "vendor's Lower", vendors, Tolerance(2, max_error), {"float32": "float16"}, "Lower"
    )
    with running(test := RunningTest()):
        case = Case("numbers", {"x": np.array(x, np.float32)})
        problems = check_kernels(operator, [kernel], case)
    [result] = test.results
    return "\n".join(problems), result


def test_inputs_are_rounded_for_both(tmp_path: Path) -> None:
    problems, result = checked(tmp_path, [1.0007, 1.0017, 3])
    assert problems == ""
    assert result.max_error == 0


@pytest.mark.parametrize(
    ("x", "reason"),
    [
        ([1e5, 1], "cases with numbers beyond float16, the simulator's precision"),
        ([1, 1 + 2.0**-20], "cases with inputs that the reference refuses, rounded"),
    ],
)
def test_case_that_rounding_breaks_is_left_out(x: list[float], reason: str, tmp_path: Path) -> None:
    problems, result = checked(tmp_path, x)
    assert problems == ""
    assert result.left_out.startswith(reason)


def test_infinity_is_no_overflow(tmp_path: Path) -> None:
    problems, result = checked(tmp_path, [np.inf, 1])
    assert (problems, result.left_out) == ("", "")


def test_difference_names_the_vendors_operator(tmp_path: Path) -> None:
    problems, result = checked(tmp_path, [1, 2], error=0.5)
    assert "the vendor's Lower gives 0.5, the reference 0" in problems
    assert "the simulator ran the vendor's own Lower, not the reference: check" in problems
    assert result.cause == "wrong elements in output 'y'"
    assert checked(tmp_path, [1, 2], error=0.5, max_error=0.5)[0] == ""
