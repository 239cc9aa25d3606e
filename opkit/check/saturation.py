"""Finds limits of 8-bit outputs that the reference reaches, but no case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from opkit.check.mistakes import CheckError
from opkit.check.operators import Operator, Prepared
from opkit.runtimes.invocation import Array

_DTYPES = ("int8", "uint8")
_FACTOR = 1e4  # of the inputs, for large results


def reached_limits(operator: Operator, prepared: Prepared) -> dict[str, bool]:
    """Return a note for each limit of an 8-bit output -> whether the case has it.

    A limit that the reference does not reach with larger inputs either, such as that of a label,
    has no note.

    Args:
        operator: the operator of the case.
        prepared: the case.
    """
    limits = {
        (name, int(limit)): bool((array == limit).any())
        for name, array in prepared.expected.items()
        if array.dtype.name in _DTYPES
        for limit in (np.iinfo(array.dtype).min, np.iinfo(array.dtype).max)
    }
    large = [] if all(limits.values()) else [*_large_outputs(operator, prepared)]
    return {
        f"no case has {limit} in output '{name}', at which the reference saturates: a kernel that "
        "wraps around there passes; add a case with larger inputs": is_reached
        for (name, limit), is_reached in limits.items()
        if is_reached or any((expected[name] == limit).any() for expected in large)
    }


def _large_outputs(operator: Operator, prepared: Prepared) -> Iterator[Mapping[str, Array]]:
    """Yield the reference's outputs for the case's inputs, enlarged, with both signs."""
    for factor in (_FACTOR, -_FACTOR):
        inputs = {name: _large(array, factor) for name, array in prepared.case.inputs.items()}
        try:
            with np.errstate(all="ignore"):
                yield operator.prepare(replace(prepared.case, inputs=inputs, recorded={})).expected
        except CheckError:
            continue  # the operator does not take such inputs


def _large(array: Array, factor: float) -> Array:
    """Return an array of floats or of 8 bits times a factor, within the range of its dtype."""
    if array.dtype.kind != "f" and array.dtype.name not in _DTYPES:
        return array
    info = np.finfo(array.dtype) if array.dtype.kind == "f" else np.iinfo(array.dtype)
    with np.errstate(all="ignore"):
        large = np.clip(array.astype(np.float64) * factor, float(info.min), float(info.max))
        return np.nan_to_num(large).astype(array.dtype)
