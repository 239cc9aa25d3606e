"""Weak cases: a wide tolerance, or the values of the inputs, let a wrong kernel pass."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from opkit.check.cases import Case
from opkit.check.comparison import compare
from opkit.check.mistakes import CheckError
from opkit.check.operators import Operator, Prepared
from opkit.check.tolerance import OutputTolerance, Tolerance
from opkit.runtimes.invocation import Array

_MIN_ELEMENTS = 4  # fewer are often constant by chance
_MAX_ELEMENTS = 2048  # evenly spaced ones of a larger output
_WIDE = 0.1  # tolerance, of the range of an output
_PROBE_LIMIT = 8


def strengths(
    operator: Operator, prepared: Prepared, tolerance: Tolerance
) -> dict[str, tuple[str, str]]:
    """Return for each output of a case why a wrong kernel passes: the cause, and a reason.

    The cause is `tolerance` above a tenth of the output's range. It is `values` if the output is
    constant, equal to an input, or a straight line of one, but not with other inputs of the same
    shapes: an operator may be the identity. Else a wrong kernel fails, and both are empty.

    Args:
        operator: the operator.
        prepared: a case that a kernel passes.
        tolerance: the tolerance of the test.
    """
    found = {}
    probe = None
    for name, expected in prepared.expected.items():
        limits = tolerance.for_output(name, expected.dtype)
        reason = _wide_tolerance(name, expected, limits)
        found[name] = ("tolerance" if reason else "", reason)
        if reason or not np.isfinite(expected).all():
            continue
        patterns = _patterns(name, prepared, limits)
        if patterns and (probe := probe or _probe(operator, prepared.case)):
            is_enough = np.isfinite(probe.expected[name]).sum() >= _MIN_ELEMENTS
            if is_enough and not patterns.keys() & _patterns(name, probe, limits):
                pattern = next(iter(patterns.values()))
                reason = f"{pattern}, but not with other inputs; vary the values"
                found[name] = ("values", reason)
    return found


def _wide_tolerance(name: str, expected: Array, limits: OutputTolerance) -> str:
    """Return why a tolerance is weak; empty: it is not, or the output is constant."""
    if not (limits.max_error or limits.max_ulp):
        return ""
    values = expected[np.isfinite(expected)]
    if values.size < _MIN_ELEMENTS:
        return ""
    numbers = values.astype(np.float64)
    low, high = numbers.min(), numbers.max()
    relative = limits.max_ulp * np.finfo(expected.dtype).eps if limits.max_ulp else 0
    by_ulp = relative * np.median(np.abs(numbers)) if relative > _WIDE else 0
    limit = max(limits.max_error or 0, by_ulp)
    if low == high or limit <= _WIDE * high - _WIDE * low:
        return ""
    option = f"max_ulp={limits.max_ulp}" if limit == by_ulp else f"max_error={limits.max_error:g}"
    zeros = ", so zeros pass" if _passes(np.zeros_like(values), values, limits) else ""
    return (
        f"{option} is {limit / (high - low):.0%} of the range of '{name}', {low:.3g} to {high:.3g}"
        f"{zeros}; lower it"
    )


def _patterns(name: str, prepared: Prepared, limits: OutputTolerance) -> dict[tuple[str, str], str]:
    """Return the patterns of an output's finite elements, each with its sentence."""
    expected = prepared.expected[name]
    step = max(1, expected.size // _MAX_ELEMENTS)
    sample = expected.reshape(-1)[::step]
    finite = np.isfinite(sample)
    values = sample[finite]
    if values.size < _MIN_ELEMENTS:
        return {}
    if _passes(np.full_like(values, values[0]), values, limits):
        return {("constant", ""): f"'{name}' is {values[0]} everywhere"}
    found = {}
    for input_, array in prepared.case.inputs.items():
        try:
            elements = np.broadcast_to(array, expected.shape).reshape(-1)[::step][finite]
        except ValueError:
            continue
        if elements.dtype == values.dtype and _passes(elements, values, limits):
            found["copy", input_] = f"'{name}' is equal to '{input_}'"
        elif values.dtype.kind == elements.dtype.kind == "f" and _is_line(elements, values, limits):
            found["line", input_] = f"'{name}' is a straight line of '{input_}'"
    return found


def _passes(wrong: Array, expected: Array, limits: OutputTolerance) -> bool:
    return compare(wrong, expected, limits).wrong == 0


def _is_line(x: Array, y: Array, limits: OutputTolerance) -> bool:
    """Return whether all points lie on a straight line, within the tolerance and rounding."""
    eps = np.finfo(y.dtype).eps
    x, y = x.astype(np.float64), y.astype(np.float64)
    first, last = x.argmin(), x.argmax()
    if not np.isfinite(x).all() or x[first] == x[last]:
        return False
    with np.errstate(all="ignore"):
        slope = (y[last] - y[first]) / (x[last] - x[first])
        error = np.abs(slope * (x - x[first]) + y[first] - y).max()
    limit = max(8 * eps * np.median(np.abs(y)), limits.max_error or 0)
    return bool(error <= limit) and np.unique(x).size >= _MIN_ELEMENTS


def _probe(operator: Operator, case: Case) -> Prepared | None:
    """Return the case with other inputs; None if the reference refuses them.

    Integers, which may be indices, change only if they are quantized, or without floats.
    """
    numbers = {
        name: array
        for name, array in case.inputs.items()
        if array.dtype.kind == "f" or name in case.quantization
    }
    inputs = {**case.inputs, **_random(numbers or case.inputs)}
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return operator.prepare(replace(case, inputs=inputs))
    except CheckError:
        return None


def _random(arrays: Mapping[str, Array]) -> dict[str, Array]:
    random = np.random.default_rng(0)
    found = {}
    for name, array in arrays.items():
        low = -_PROBE_LIMIT if array.dtype.kind in "fi" else 0
        high = 2 if array.dtype.kind == "b" else _PROBE_LIMIT
        numbers = random.uniform(low, high, array.shape)
        if array.dtype.kind != "f":
            numbers = np.floor(numbers)
        found[name] = numbers.astype(array.dtype)
    return found
