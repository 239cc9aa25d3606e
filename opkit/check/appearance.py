"""The appearance of a wrong output: transposed, shifted, scaled, the bits of another type."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from opkit.check.comparison import ulp_distance
from opkit.runtimes.invocation import Array

_EVIDENCE = 3  # different numbers that must agree: fewer agree by chance
_MAX_PERMUTED_RANK = 4  # 24 orders of axes; above it, swaps of two axes alone
_SAME_SIZE = {2: ("f2", "i2"), 4: ("f4", "i4"), 8: ("f8", "i8")}
_DENOMINATORS = (1, 10, 100, 1000)  # of a factor or an offset that a person would write
_REFERENCE = "the reference"


def appearance(
    actual: Array, expected: Array, fills: Sequence[int] = (), source: str = _REFERENCE
) -> str:
    """Return the appearance of a wrong output as a sentence; empty if unknown.

    The sentence is true of every element, and of several different numbers.

    Args:
        actual: the output of the kernel.
        expected: the output of the reference, with the same shape and dtype.
        fills: the bytes with which memory was filled before the kernel ran.
        source: the source of the expected array, for the sentence.
    """
    if actual.dtype.kind == "b" or _equal(actual, expected):
        return ""
    with np.errstate(all="ignore"):
        for find in (_other_type, _transposed, _scaled, _moved, _shifted, _rounded):
            if sentence := find(actual, expected):
                return sentence.replace(_REFERENCE, source)
        return _uninitialized(actual, expected, fills)


def _equal(first: Array, second: Array) -> bool:
    return np.array_equal(first, second, equal_nan=first.dtype.kind == "f")


def _matches(actual: Array, expected: Array) -> bool:
    """Return whether arrays are equal, with enough different numbers to mean it."""
    return _equal(actual, expected) and np.unique(expected).size >= _EVIDENCE


# ---- Appearances ---------------------------------------------------------------------------------


def _other_type(actual: Array, expected: Array) -> str:
    floats, integers = _SAME_SIZE.get(actual.itemsize, ("", ""))
    if not floats:
        return ""
    bits = np.ascontiguousarray(actual)
    if actual.dtype.kind == "f":
        if _matches(bits.view(integers).astype(np.float64), expected.astype(np.float64)):
            return f"the bits are those of an int{8 * actual.itemsize}, read as {actual.dtype}"
    elif _matches(bits.view(floats).astype(np.float64), expected.astype(np.float64)):
        return f"the bits are those of a float{8 * actual.itemsize}, read as {actual.dtype}"
    return ""


def _transposed(actual: Array, expected: Array) -> str:
    for axes in _orders(actual.ndim):
        if _matches(actual.ravel(), expected.transpose(axes).ravel()):
            return f"transposed: the elements are in the order of the axes {axes}"
    return ""


def _orders(rank: int) -> Iterator[tuple[int, ...]]:
    identity = tuple(range(rank))
    if rank <= _MAX_PERMUTED_RANK:
        yield from itertools.islice(itertools.permutations(identity), 1, None)
        return
    for first, second in itertools.combinations(identity, 2):
        order = [*identity]
        order[first], order[second] = second, first
        yield tuple(order)


def _shifted(actual: Array, expected: Array) -> str:
    """Compare in memory order, and along each axis."""
    places = [("in memory", actual.ravel(), expected.ravel())]
    places += [
        (f"along axis {axis}", np.moveaxis(actual, axis, 0), np.moveaxis(expected, axis, 0))
        for axis in range(actual.ndim)
        if actual.ndim > 1
    ]
    for where, moved, fixed in places:
        if _matches(moved[1:], fixed[:-1]):
            return f"shifted by one {where}: element i holds {_REFERENCE}'s i - 1"
        if _matches(moved[:-1], fixed[1:]):
            return f"shifted by one {where}: element i holds {_REFERENCE}'s i + 1"
    return ""


def _scaled(actual: Array, expected: Array) -> str:
    """Take the factor of the largest number, which is rounded least."""
    numbers = _numbers(actual, expected)
    if numbers is None:
        return ""
    first, second = numbers
    largest = int(np.argmax(np.abs(second)))
    factor = _exact(first[largest] / second[largest], actual, expected, np.multiply)
    return f"each element is {_REFERENCE}'s times {factor}" if factor is not None else ""


def _moved(actual: Array, expected: Array) -> str:
    """Take the offset of the smallest number, which is rounded least."""
    numbers = _numbers(actual, expected)
    if numbers is None:
        return ""
    first, second = numbers
    smallest = int(np.argmin(np.abs(second)))
    offset = _exact(first[smallest] - second[smallest], actual, expected, np.add)
    return f"each element is {_REFERENCE}'s plus {offset}" if offset is not None else ""


def _numbers(actual: Array, expected: Array) -> tuple[Array, Array] | None:
    """Return the finite elements of both as float64; None if they are inexact or too few."""
    numbers = np.stack([actual.ravel(), expected.ravel()]).astype(np.float64)
    numbers = numbers[:, np.isfinite(numbers).all(axis=0)]
    is_exact = actual.dtype.kind == "f" or bool((np.abs(numbers) < 2.0**53).all())
    distinct = min(np.unique(side).size for side in numbers)
    return (numbers[0], numbers[1]) if is_exact and distinct >= _EVIDENCE else None


def _exact(estimate: float, actual: Array, expected: Array, operation: Any) -> Fraction | None:
    """Return the shortest fraction near an estimate that makes each element exactly, or None."""
    if not np.isfinite(estimate):
        return None
    for denominator in _DENOMINATORS:
        short = Fraction(float(estimate)).limit_denominator(denominator)
        made = operation(expected.astype(np.float64), short.numerator / short.denominator)
        if actual.dtype.kind == "f":
            made = made.astype(actual.dtype)
        if np.array_equal(made, actual, equal_nan=True):
            return short
    return None


def _rounded(actual: Array, expected: Array) -> str:
    if actual.dtype.kind != "f":
        return ""
    if actual.itemsize == 2:
        wrong = ulp_distance(actual, expected)
        is_near = int(wrong.max()) == 1 and np.unique(expected[wrong == 1]).size >= _EVIDENCE
        return "each element is at most 1 ulp off: another rounding of a float16" if is_near else ""
    half = expected.astype(np.float16).astype(actual.dtype)
    is_meant = _equal(actual, half) and np.unique(expected[half != expected]).size >= _EVIDENCE
    return f"each element is {_REFERENCE}'s, rounded to a float16" if is_meant else ""


def _uninitialized(actual: Array, expected: Array, fills: Sequence[int]) -> str:
    if actual.itemsize == 1:  # each byte is a number like any other
        return ""
    wrong = actual[ulp_distance(actual, expected) > 0]
    for fill in fills:
        if wrong.size >= _EVIDENCE and wrong.tobytes() == bytes([fill]) * wrong.nbytes:
            return f"uninitialized: each byte of the wrong elements is 0x{fill:02X}"
    return ""
