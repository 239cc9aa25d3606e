"""The difference of an output from the reference, and its messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from opkit.check.tolerance import OutputTolerance
from opkit.runtimes.invocation import Array


@dataclass(frozen=True)
class Difference:
    """The difference of an output from the reference.

    Attributes:
        max_error: the largest absolute difference; an int for an output of integers.
        max_ulp: the largest difference in representable values of the output's dtype.
        wrong: the number of elements outside of the tolerance.
        worst: the index of the worst wrong element, by the measure of the tolerance.
        worst_ulp: the difference of the worst wrong element.
    """

    max_error: float
    max_ulp: int
    wrong: int
    worst: tuple[int, ...]
    worst_ulp: int


@dataclass(frozen=True)
class Sides:
    """The names of the compared arrays in messages."""

    actual: str
    expected: str


_NOT_COMPARABLE = 2**63  # ulp between a number and NaN
_INTEGERS_ARE_EXACT = "; integers must be equal, unless max_error names the output"


def ulp_distance(actual: Array, expected: Array, flushes: bool = False) -> Array:
    """Return the distance of each pair of elements in representable values, as uint64.

    0 and -0 are equal, and so are all NaN. The distance between NaN and a number is 2**63.

    Args:
        actual: an array.
        expected: an array of the same shape and dtype.
        flushes: whether subnormal floats are 0, so that the smallest normal number is next to 0.
    """

    def ordered(array: Array) -> Array:
        if array.dtype.kind == "b":  # a kernel may have written more than 0 and 1
            return array.view(np.uint8)
        if array.dtype.kind != "f":
            return array
        bits = array.view(f"i{array.itemsize}").astype(np.int64)
        magnitude: Array = bits & (2 ** (8 * array.itemsize - 1) - 1)
        if flushes:
            subnormals = 2 ** np.finfo(array.dtype).nmant - 1
            magnitude = np.maximum(magnitude - subnormals, 0)
        signed: Array = np.where(bits < 0, -magnitude, magnitude)
        return signed

    first, second = ordered(actual), ordered(expected)
    high = np.maximum(first, second).astype(np.int64).astype(np.uint64)
    low = np.minimum(first, second).astype(np.int64).astype(np.uint64)
    distance = high - low
    if actual.dtype.kind == "f":
        nan = np.isnan(actual), np.isnan(expected)
        distance[nan[0] != nan[1]] = _NOT_COMPARABLE
        distance[nan[0] & nan[1]] = 0
    return distance


def compare(actual: Array, expected: Array, tolerance: OutputTolerance) -> Difference:
    """Compare two arrays of one shape and dtype; integers are never converted to floats."""
    if expected.size == 0:
        return Difference(0, 0, 0, (), 0)
    ulp = ulp_distance(actual, expected, tolerance.flushes)
    error = _absolute_difference(actual, expected, ulp) if actual.dtype.kind == "f" else ulp
    wrong = ulp > tolerance.max_ulp
    if tolerance.max_error is not None:
        limit = tolerance.max_error if actual.dtype.kind == "f" else int(tolerance.max_error)
        wrong &= ~(error <= limit)
    distance = ulp if tolerance.max_error is None else error
    largest = distance[wrong].max() if wrong.any() else 0
    worst = _first(wrong & (distance == largest))
    return Difference(error.max().item(), int(ulp.max()), int(wrong.sum()), worst, int(ulp[worst]))


def _absolute_difference(actual: Array, expected: Array, ulp: Array) -> Array:
    """Return the absolute difference of floats: 0 if they are equal, infinite for one NaN."""
    with np.errstate(all="ignore"):
        error: Array = np.abs(actual.astype(np.float64) - expected.astype(np.float64))
    error[ulp == 0] = 0
    error[np.isnan(error)] = np.inf
    return error


def _first(mask: Array) -> tuple[int, ...]:
    """Return the index of the first true element."""
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(mask)), mask.shape))


def _index(name: str, index: tuple[int, ...]) -> str:
    return f"{name}[{', '.join(map(str, index))}]"


def wrong_elements(
    name: str,
    actual: Array,
    expected: Array,
    difference: Difference,
    tolerance: OutputTolerance,
    sides: Sides,
) -> str:
    """Return a message with the number of wrong elements of an output, and the worst one."""
    worst = difference.worst
    if expected.dtype.kind != "f":
        distance = f"{difference.worst_ulp} apart{_INTEGERS_ARE_EXACT}"
        if tolerance.max_error is not None:
            distance = f"{difference.worst_ulp} apart, allowed: {tolerance.max_error}"
    elif difference.worst_ulp == _NOT_COMPARABLE:
        distance = "NaN is only equal to NaN"
    else:
        distance = f"{difference.worst_ulp} ulp apart, allowed: {tolerance}"
    return (
        f"{difference.wrong} of {expected.size} elements of output '{name}' are wrong, "
        f"the worst is {_index(name, worst)}: {sides.actual} gives {actual[worst]}, "
        f"{sides.expected} {expected[worst]} ({distance})"
    )


def context(
    inputs: Mapping[str, Array],
    params: Mapping[str, Any],
    shape: tuple[int, ...],
    index: tuple[int, ...],
) -> Iterator[str]:
    """Yield lines with the kernel's inputs and params at one index of an output's shape.

    An input that broadcasts to the output has its own index, any other one its range.
    """
    for name, array in inputs.items():
        own = _broadcast_index(array.shape, shape, index)
        if own is not None:
            yield f"{_index(name, own)} = {array[own]}"
        else:
            sizes = "x".join(map(str, array.shape))
            yield f"{name} is {array.dtype} {sizes}, {_range(array)}"
    for name, value in params.items():
        yield f"{name} = {value}"


def _broadcast_index(
    own: tuple[int, ...], shape: tuple[int, ...], index: tuple[int, ...]
) -> tuple[int, ...] | None:
    """Return the index of an array that is broadcast to a shape; None if it does not fit."""
    missing = len(shape) - len(own)
    if missing < 0 or any(size not in (1, n) for size, n in zip(own, shape[missing:], strict=True)):
        return None
    return tuple(0 if size == 1 else i for size, i in zip(own, index[missing:], strict=True))


def _range(array: Array) -> str:
    """Return the smallest and the largest number, and the count of NaN."""
    numbers = array[~np.isnan(array)]
    if numbers.size == 0:
        return "all NaN"
    with np.errstate(all="ignore"):
        text = f"from {numbers.min()} to {numbers.max()}"
    return text if numbers.size == array.size else f"{text}, {array.size - numbers.size} NaN"


def first_difference(
    first: Mapping[str, Array], second: Mapping[str, Array]
) -> tuple[str, int] | None:
    """Compare two runs bit by bit.

    Returns:
        The first different element, formatted for messages, and the number of different elements in
        that output; None if all are equal.
    """
    for name, array in first.items():
        bits = [
            np.ascontiguousarray(output).view(f"u{output.itemsize}")
            for output in (array, second[name])
        ]
        different = bits[0] != bits[1]
        if different.any():
            return _index(name, _first(different)), int(different.sum())
    return None


def unwritten(first: Mapping[str, Array], second: Mapping[str, Array]) -> str:
    """Compare two runs with different fills bit by bit; return a message for a different output."""
    difference = first_difference(first, second)
    if difference is None:
        return ""
    element, count = difference
    more = f", nor were {count - 1} more" if count > 1 else ""
    return f"output {element} was never written{more} (or it depends on uninitialized memory)"


def without_subnormals(array: Array) -> Array:
    """Return an array with zeros of their sign in place of subnormal floats."""
    is_subnormal = np.abs(array) < np.finfo(array.dtype).smallest_normal
    return np.where(is_subnormal, np.copysign(array.dtype.type(0), array), array)
