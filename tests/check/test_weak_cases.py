"""Cases that a wrong kernel passes: each is green, and its weakness is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from opkit.check.cases import Quantization
from opkit.check.results import RunningTest, running
from opkit.runtimes.executor import Executor
from opkit.runtimes.invocation import Array, Kernel
from opkit.testing import Case, Operator, Values, check_cpu_kernel, integers, special, uniform
from tests.check.python_kernels import PythonKernel, write_operator

TENSORS = """\
inputs: {{x: {{type: VX_TYPE_TENSOR}}, other: {{type: VX_TYPE_TENSOR}}}}
outputs: {{y: {{type: VX_TYPE_TENSOR, dtype: {output}}}}}
"""
REFERENCE = """\
import numpy as np


def output_shapes(input_shapes, params):
    return {{"y": input_shapes["x"]}}


def reference(inputs, params):
    x, other = inputs["x"], inputs["other"]
    return {{"y": {math}}}
"""


@dataclass(frozen=True)
class Check:
    """A check of a kernel on one case.

    Attributes:
        math: of the reference.
        values: of the input x; `other` is always uniform(-1, 1).
        kernel: the wrong math, from x and the right output; None: the right one.
        max_error: of the test.
        max_ulp: of the test.
        size: of x and y.
        dtype: of x.
        output: the dtype of y.
        quantization: of the case.
    """

    math: str
    values: Values | Array
    kernel: Callable[[Array, Array], Array] | None = None
    max_error: float | None = None
    max_ulp: int = 0
    size: int = 40
    dtype: str = "float32"
    output: str = "float32"
    quantization: Mapping[str, Quantization] = field(default_factory=dict)

    def case(self) -> Case:
        random = np.random.default_rng(1)
        shape, dtype = (self.size,), np.dtype(self.dtype)
        x = self.values
        if isinstance(x, Values):
            with np.errstate(all="ignore"):
                x = x.make(shape, dtype, random, 0)
        other = uniform(-1, 1).make(shape, np.dtype("float32"), random, 1)
        return Case("one", {"x": x, "other": other}, quantization=self.quantization)

    def strength(self, folder: Path) -> tuple[str, str]:
        """Return the cause and the reason of a weakness, after the kernel passes the check."""
        tensors = TENSORS.format(output=self.output)
        operator = Kernels(
            write_operator(folder, "One", tensors, REFERENCE.format(math=self.math)).root
        )
        case = self.case()
        right = operator.prepare(case).expected["y"]
        with np.errstate(all="ignore"):
            wrong = self.kernel(case.inputs["x"], right) if self.kernel else right
        outputs = {"y": np.asarray(wrong, right.dtype)}
        operator.kernel = PythonKernel(lambda inputs: outputs)
        test = RunningTest()
        with running(test):
            limit = {"y": self.max_error} if self.max_error is not None else None
            check_cpu_kernel(case, max_ulp=self.max_ulp, max_error=limit, operator=operator)
        (result,) = test.results
        return result.strengths["y"]


class Kernels(Operator):
    """An operator with a Python kernel."""

    kernel: Kernel

    def cpu_kernels(self, executors: Sequence[Executor] = ()) -> dict[str, Kernel]:
        return {"CPU kernel": self.kernel}


def half_zero(x: Array, right: Array) -> Array:
    return np.where(np.arange(right.size) % 2, right, 0)


NOT_OTHERWISE = ", but not with other inputs; vary the values"
# A wrong kernel passes -> the cause and the reason.
WEAK = {
    "half of the lanes": (
        Check("2 * x", uniform(-4, 3), half_zero, max_error=9),
        "tolerance",
        "max_error=9 is 67% of the range of 'y', -7.61 to 5.73, so zeros pass; lower it",
    ),
    "below the range": (
        Check("2 * x", uniform(-4, 3), lambda x, y: y + 1.9, max_error=2),
        "tolerance",
        "max_error=2 is 15% of the range of 'y', -7.61 to 5.73; lower it",
    ),
    "in ulp": (
        Check("2 * x", uniform(1, 4), lambda x, y: 1.2 * y, max_ulp=2**22),
        "tolerance",
        "max_ulp=4194304 is 44% of the range of 'y', 2.17 to 7.88; lower it",
    ),
    "reversed": (
        Check("2 * x", uniform(-1, 1), lambda x, y: y[::-1], max_error=4),
        "tolerance",
        "max_error=4 is 105% of the range of 'y', -1.89 to 1.92, so zeros pass; lower it",
    ),
    "index": (
        Check(
            "np.rint(x).astype(np.int64)",
            uniform(0, 3),
            lambda x, y: np.maximum(y - 1, 0),
            max_error=1,
            output="int64",
        ),
        "tolerance",
        "max_error=1 is 33% of the range of 'y', 0 to 3; lower it",
    ),
    "zero": (
        Check("1.5 * x", uniform(0, 0), lambda x, y: 2 * x),
        "values",
        f"'y' is 0.0 everywhere{NOT_OTHERWISE}",
    ),
    "identity of zeros": (
        Check("x", uniform(0, 0), lambda x, y: y),
        "values",
        f"'y' is 0.0 everywhere{NOT_OTHERWISE}",
    ),
    "limit": (
        Check("np.clip(x, 0, 6)", uniform(7, 9), lambda x, y: y * 0 + 6),
        "values",
        f"'y' is 6.0 everywhere{NOT_OTHERWISE}",
    ),
    "one branch": (
        Check("np.maximum(x, 0)", uniform(1, 2), lambda x, y: x),
        "values",
        f"'y' is equal to 'x'{NOT_OTHERWISE}",
    ),
    "the other branch": (
        Check("np.where(x > 0, x, np.float32(0.1) * x)", uniform(-2, -1), lambda x, y: y),
        "values",
        f"'y' is a straight line of 'x'{NOT_OTHERWISE}",
    ),
    "near zero": (
        Check("np.sin(x)", uniform(-0.01, 0.01), lambda x, y: x, max_error=1e-6),
        "values",
        f"'y' is equal to 'x'{NOT_OTHERWISE}",
    ),
    "an input without effect": (
        Check("np.where(x > 0, other, 0)", uniform(1, 2), lambda x, y: y),
        "values",
        f"'y' is equal to 'other'{NOT_OTHERWISE}",
    ),
    "false": (
        Check("x > 0", uniform(-2, -1), lambda x, y: y, output="bool"),
        "values",
        f"'y' is False everywhere{NOT_OTHERWISE}",
    ),
}


@pytest.mark.parametrize("name", WEAK)
def test_weakness_of_green_case_is_told(name: str, tmp_path: Path) -> None:
    check, cause, reason = WEAK[name]
    assert check.strength(tmp_path) == (cause, reason)


HALF = Quantization(0.5)
WINDOW = (0.5 - 0.5 * np.cos(np.linspace(0, 2 * np.pi, 40))).astype(np.float32)
STRONG = {
    "scaled": Check("1.5 * x", uniform(-1, 1)),
    "right tolerance": Check("2 * x", uniform(-4, 3), max_error=1e-3, max_ulp=4),
    "both branches": Check("np.maximum(x, 0)", uniform(-1, 1)),
    "identity": Check("x", uniform(-1, 1)),
    "identity of positive numbers": Check("x", uniform(1, 2), max_ulp=1),
    "identity of integers": Check("x", integers(0, 3), dtype="int32", output="int32"),
    "constant operator": Check("np.zeros_like(x)", uniform(-1, 1)),
    "constant index": Check("np.zeros(x.shape, np.int64)", uniform(-1, 1), output="int64"),
    "straight line": Check("3 - 2 * x", uniform(1, 2)),
    "saturated": Check("1000 + np.tanh(x) / 1000", uniform(-1, 1), output="float16", max_ulp=1),
    "comparison": Check("x > 0", uniform(-1, 1), output="bool"),
    "few elements": Check("1.5 * x", uniform(0, 0), size=3),
    "no elements": Check("1.5 * x", uniform(0, 0), size=0),
    "NaN": Check("np.sqrt(-1 - np.abs(x))", special()),
    "not finite": Check("np.maximum(x, 0)", special()),
    "some infinite": Check("2 * x", np.repeat(np.array([2, np.inf], np.float32), 20)),
    "NaN with other inputs": Check("np.sqrt(x - 9)", uniform(9, 9)),
    "symmetric": Check("x * x", WINDOW, max_ulp=1),
    "limits of integers": Check("x", special(), dtype="int64", output="int64"),
    "refused inputs": Check("1.5 * x if x.min() >= 0 else 1 / 0", uniform(0, 0)),
}


@pytest.mark.parametrize("name", STRONG)
@pytest.mark.filterwarnings("error")
def test_right_case_is_quiet(name: str, tmp_path: Path) -> None:
    assert STRONG[name].strength(tmp_path) == ("", "")


@pytest.mark.parametrize(
    ("quantization", "cause"), [({}, ""), (dict.fromkeys("xy", HALF), "values")]
)
def test_quantized_elements_are_numbers(
    quantization: dict[str, Quantization], cause: str, tmp_path: Path
) -> None:
    """Other integers may be indices, and stay as they are beside an input of floats."""
    math = "np.where(x < 0, 0, x).astype(x.dtype)"
    check = Check(math, integers(0, 9), dtype="int8", output="int8", quantization=quantization)
    assert check.strength(tmp_path)[0] == cause
