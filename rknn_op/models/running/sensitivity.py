"""The sensitivity of a model to rounding: nearly equal numbers of a TopK change their places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from opkit.common.text import printable, shortened
from rknn_op.models.differences import Difference, difference
from rknn_op.models.running.cleaned_models import outputs_of_each
from rknn_op.models.running.weights import OpenModel

Array = Any

_CHANGE = 2.0**-9
"""Relative change of inputs: float16 rounds by 2^-11, and so do the layers behind the input."""
_RUNS = 4
_MARGIN = 2
"""The simulator may change an output by more than the largest of a few random changes."""


def tolerating(
    differences: Sequence[Difference],
    model: OpenModel,
    inputs: Mapping[str, Array],
    expected: Mapping[str, Array],
) -> tuple[tuple[Difference, ...], list[str]]:
    """Tolerate as large differences in float16 as small changes of the inputs make.

    Args:
        differences: those of the outputs of a simulator, or of tensors in float16.
        model: the original model.
        inputs: its inputs by name.
        expected: its outputs by name.

    Returns:
        The differences, and messages.
    """
    if all(each.is_equal or each.problem for each in differences):
        return (*differences,), []
    random = np.random.default_rng(0)
    changes = dict.fromkeys(expected, 0.0)
    changed = (
        {
            name: array * (1 + _CHANGE * random.standard_normal(array.shape)).astype(array.dtype)
            if array.dtype.kind == "f"
            else array
            for name, array in inputs.items()
        }
        for _ in range(_RUNS)
    )
    for outputs in outputs_of_each(model, changed):
        for name, array in outputs.items():
            changes[name] = max(changes[name], difference(name, array, expected[name]).error)
    tolerated = tuple(
        replace(each, limit=_MARGIN * changes[each.name], wrong=0)
        if not each.is_equal and not each.problem and each.error <= _MARGIN * changes[each.name]
        else each
        for each in differences
    )
    notes = [
        f"output {printable(shortened(each.name))!r} changes by up to {changes[each.name]:.2g} if "
        f"the inputs change by {_CHANGE:.1%}, so that the difference in float16 is tolerated, but "
        "proves nothing: the rows of the nodes do; give real --inputs"
        for each, before in zip(tolerated, differences, strict=True)
        if each is not before
    ]
    return tolerated, notes
