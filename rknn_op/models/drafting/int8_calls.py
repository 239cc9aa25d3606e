"""Calls of nodes with the numbers of int8, as an int8 model gives them to a custom operator."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from opkit.check.cases import Quantization
from rknn_op.models.model_graph import at
from rknn_op.models.running.recording import Call

Array = Any

SUFFIX = "_int8"


def with_int8(calls: Iterable[Call]) -> Iterator[Call]:
    """Yield each call and, if it has floats, the same with its inputs rounded to int8.

    Constant inputs stay as they are. Such a call has no outputs: they are those of the reference.
    """
    for call in calls:
        yield call
        rounded = {
            position: in_int8(array)
            for position, array in call.inputs.items()
            if array.dtype.kind == "f"
            and (tensor := at(call.node.inputs, position))
            and not tensor.constant
        }
        if rounded:
            inputs = {**call.inputs, **rounded}
            yield replace(call, inputs=inputs, outputs={}, suffix=SUFFIX)


def in_int8(array: Array) -> Array:
    """Return numbers rounded to the 256 steps from the smallest to the largest one, with 0.

    So the toolkits' calibration chooses the steps of a tensor. NaN and infinities stay.
    """
    is_finite = np.isfinite(array)
    numbers = array[is_finite].astype(np.float32)
    low, high = (float(each(numbers, initial=0)) for each in (np.min, np.max))
    scale = (high - low) / 255
    if not scale:
        return array
    quantization = Quantization(scale, round(-128 - low / scale))
    result = array.copy()
    result[is_finite] = quantization.numbers(quantization.elements(numbers, np.dtype(np.int8)))
    return result
