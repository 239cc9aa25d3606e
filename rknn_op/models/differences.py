"""The differences of a model's outputs from those of the original model."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from opkit.common.text import aligned, printable, shortened
from rknn_op.models.model_graph import NAME_WIDTH, plain

Array = Any

TOLERANCES = {"float16": 1e-2, "float32": 1e-4, "float64": 1e-4}
"""dtype -> the tolerated difference, relative to the largest number of the expected tensor.

References compute in float32, and onnxruntime adds in another order when it optimizes the stages of
a model one by one. Both are far smaller than the difference of a wrong operator.
"""
FLOATS = ("float16", "float32", "float64")
NPU_TOLERANCE = 2e-2
"""The same for the toolkit's simulator, which rounds all tensors to float16."""


@dataclass(frozen=True)
class Difference:
    """The difference of a tensor from the expected one.

    Attributes:
        name: the tensor.
        dtype: the expected dtype.
        shape: the expected shape.
        error: the largest absolute difference; infinite if they cannot be compared.
        relative: the same, relative to the largest expected number.
        limit: the tolerated absolute difference.
        wrong: the count of elements outside of the tolerance.
        worst: the index of the element with the largest difference.
        expected: its expected value, as a text.
        actual: its value, as a text.
        problem: the reason if they cannot be compared, such as another shape.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    error: float = 0.0
    relative: float = 0.0
    limit: float = 0.0
    wrong: int = 0
    worst: tuple[int, ...] = ()
    expected: str = ""
    actual: str = ""
    problem: str = ""

    @property
    def is_equal(self) -> bool:
        """Whether the difference is within the tolerance."""
        return not self.wrong and not self.problem

    def __str__(self) -> str:
        if self.problem:
            return self.problem
        index = ", ".join(map(str, self.worst))
        count = math.prod(self.shape)
        return (
            f"{self.wrong} of {count} elements differ, the worst is [{index}]: {self.actual} "
            f"(expected {self.expected}, tolerance {self.limit:.2g})"
        )


def difference(
    name: str,
    actual: Array,
    expected: Array,
    max_error: float | None = None,
    tolerances: Mapping[str, float] = TOLERANCES,
) -> Difference:
    """Compare a tensor with the expected one.

    Args:
        name: its name.
        actual: the array; of a sequence, a list, of which the largest difference counts.
        expected: the same of the original model.
        max_error: the tolerated absolute difference of numbers; None: by the dtype.
        tolerances: dtype -> the tolerated relative difference; others must be equal.
    """
    if isinstance(expected, list) or isinstance(actual, list):
        are_sequences = isinstance(expected, list) and isinstance(actual, list)
        if not are_sequences or len(actual) != len(expected):
            problem = "is another sequence"
            return Difference(name, "sequence", (), math.inf, math.inf, problem=problem)
        items = (
            difference(name, each, wanted, max_error, tolerances)
            for each, wanted in zip(actual, expected, strict=True)
        )
        return max(items, key=lambda each: each.error, default=Difference(name, "sequence", ()))
    dtype, shape = str(expected.dtype), expected.shape
    if actual.dtype != expected.dtype or actual.shape != shape:
        was = f"{actual.dtype} {list(actual.shape)}"
        problem = f"is {was} (expected {dtype} {list(shape)})"
        return Difference(name, dtype, shape, math.inf, math.inf, problem=problem)
    if not expected.size:
        return Difference(name, dtype, shape)
    if expected.dtype.kind not in "biuf":
        wrong = actual != expected
        return _with_worst(
            Difference(name, dtype, shape), wrong.astype(float), wrong, actual, expected
        )
    errors = _errors(actual, expected)
    finite = np.abs(expected[np.isfinite(expected)].astype(np.float64))
    largest = float(finite.max()) if finite.size else 0.0
    limit = tolerances.get(dtype, 0.0) * largest if max_error is None else max_error
    error = float(errors.max())
    relative = error / largest if largest else error
    found = Difference(name, dtype, shape, error, relative, limit)
    return _with_worst(found, errors, errors > limit, actual, expected)


def widened(
    found: Difference,
    actual: Array,
    expected: Array,
    max_error: float | None,
) -> Difference:
    """Return a difference with a larger tolerance, if it is not equal within its own."""
    if max_error is None or found.is_equal or max_error <= found.limit:
        return found
    return difference(found.name, actual, expected, max_error)


def simulated_difference(
    name: str,
    actual: Array,
    expected: Array,
    max_error: float | None = None,
    tolerance: float = NPU_TOLERANCE,
) -> Difference:
    """Compare an output of a toolkit's simulator.

    It may have the output in another size of its dtype, and booleans as numbers.

    Args:
        name: its name.
        actual: the array.
        expected: the expected array.
        max_error: an absolute difference that is tolerated, too.
        tolerance: the tolerated difference of floats, relative to the largest number.
    """
    if expected.dtype == np.bool_:
        actual = actual.astype(np.bool_)
    if actual.dtype.kind == expected.dtype.kind and actual.shape == expected.shape:
        with np.errstate(over="ignore"):
            actual = actual.astype(expected.dtype)
            if expected.dtype.kind == "f":  # as the simulator does: infinite beyond 65504
                expected = expected.astype(np.float16).astype(expected.dtype)
    found = difference(name, actual, expected, None, dict.fromkeys(FLOATS, tolerance))
    return widened(found, actual, expected, max_error)


def _errors(actual: Array, expected: Array) -> Array:
    """Return the absolute differences: 0 for equal NaN or infinities, infinite for one of them."""
    if expected.dtype.kind in "iu":
        high, low = np.maximum(actual, expected), np.minimum(actual, expected)
        # The difference of any two integers fits into uint64, also where it wraps around.
        return (high.astype(np.uint64) - low.astype(np.uint64)).astype(np.float64)
    with np.errstate(all="ignore"):
        first, second = actual.astype(np.float64), expected.astype(np.float64)
        errors = np.asarray(np.abs(first - second))
    errors[(first == second) | (np.isnan(first) & np.isnan(second))] = 0
    errors[np.isnan(errors)] = np.inf
    return errors


def _with_worst(
    found: Difference, errors: Array, wrong: Array, actual: Array, expected: Array
) -> Difference:
    worst = tuple(int(each) for each in np.unravel_index(int(np.argmax(errors)), errors.shape))
    wanted, got = (printable(shortened(str(each[worst]))) for each in (expected, actual))
    return replace(found, wrong=int(wrong.sum()), worst=worst, expected=wanted, actual=got)


def table(differences: Sequence[Difference]) -> str:
    """Return a table of the largest difference of each output."""
    rows = [("output", "dtype", "shape", "largest difference", "relative", "tolerated", "")]
    for each in differences:
        rows.append(
            (
                plain(each.name, NAME_WIDTH),
                each.dtype,
                "x".join(map(str, each.shape)) or "-",
                f"{each.error:.3g}",
                f"{each.relative:.2g}",
                f"{each.limit:.3g}",
                "equal" if each.is_equal else "differs",
            )
        )
    return aligned(rows)
