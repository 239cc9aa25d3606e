"""The closeness of tensors in the numbers of a chip to those of the original model, as tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from opkit.common.text import aligned
from rknn_op.models.model_graph import NAME_WIDTH, plain

Array = Any

_INT8 = (-128, 127)


@dataclass(frozen=True)
class Closeness:
    """The closeness of a tensor to the expected one.

    Attributes:
        cosine: the cosine of the angle between both, as vectors.
        largest: the largest absolute difference.
        mean: the mean absolute difference.
    """

    cosine: float
    largest: float
    mean: float


def closeness(actual: Array, expected: Array) -> Closeness:
    """Compare two tensors of one shape.

    Equal infinities and NaN do not differ, and are not in the cosine. Two tensors of zeros have the
    cosine 1, and one of them 0.
    """
    first, second = (np.ravel(each).astype(np.float64) for each in (actual, expected))
    if not first.size:
        return Closeness(1.0, 0.0, 0.0)
    with np.errstate(invalid="ignore"):
        errors = np.abs(first - second)
    errors[(first == second) | (np.isnan(first) & np.isnan(second))] = 0
    errors[np.isnan(errors)] = np.inf
    is_finite = np.isfinite(first) & np.isfinite(second)
    first, second = first[is_finite], second[is_finite]
    lengths = math.sqrt(first @ first), math.sqrt(second @ second)
    cosine = (
        first @ second / math.prod(lengths) if all(lengths) else float(lengths[0] == lengths[1])
    )
    return Closeness(float(cosine), float(errors.max()), float(errors.mean()))


@dataclass(frozen=True)
class Row:
    """The closeness of a tensor in a converted model to the original one.

    Attributes:
        node: the node that computes it; empty for an output of the model.
        tensor: its name.
        precision: `float16` or `int8`.
        found: its closeness; None: the toolkit has no such tensor, because it fuses layers.
        values: the smallest and the largest finite number of the original tensor.
        step: its scale and zero point; None: it is not in int8.
    """

    node: str
    tensor: str
    precision: str
    found: Closeness | None
    values: tuple[float, float]
    step: tuple[float, int] | None = None


@dataclass(frozen=True)
class Layer:
    """A layer of the int8 model.

    Attributes:
        operator: its operator.
        output: its output.
        cosine: the cosine of its output and of that in float32.
        within: the same with the latter cut to the calibrated range; None: it is not in int8.
        step: the scale and the zero point of that range.
    """

    operator: str
    output: str
    cosine: float
    within: float | None
    step: tuple[float, int] | None


def over_samples(rows: Sequence[Row]) -> Row:
    """Return the row of an output over all samples.

    It has the smallest cosine, the largest difference, the mean of the mean differences, and the
    range of all values.
    """
    found = [row.found for row in rows if row.found]
    return replace(
        rows[0],
        found=Closeness(
            min(each.cosine for each in found),
            max(each.largest for each in found),
            sum(each.mean for each in found) / len(found),
        ),
        values=(min(row.values[0] for row in rows), max(row.values[1] for row in rows)),
    )


def limits(scale: float, zero_point: int) -> tuple[float, float]:
    """Return the range of the numbers in int8."""
    low, high = ((limit - zero_point) * scale for limit in _INT8)
    return low, high


def value_range(array: Array) -> tuple[float, float]:
    """Return the smallest and the largest finite number."""
    finite = array[np.isfinite(array)]
    return (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)


def described(layer: Layer) -> str:
    """Return a layer for a message."""
    text = f"{layer.operator} {plain(layer.output, NAME_WIDTH)}, {layer.cosine:.5f}"
    if layer.step is None or layer.within is None:
        return text
    return f"{text} ({layer.within:.5f} within its range, {_range(*limits(*layer.step))})"


def table(rows: Sequence[Row]) -> str:
    """Return the rows as a table; those of outputs without the columns of nodes."""
    head = "node, output, model, cosine, largest difference, mean, values, calibrated, scale, zero"
    lines = [
        (
            plain(row.node, NAME_WIDTH),
            plain(row.tensor, NAME_WIDTH),
            row.precision,
            f"{row.found.cosine:.5f}" if row.found else "-",
            f"{row.found.largest:.3g}" if row.found else "-",
            f"{row.found.mean:.3g}" if row.found else "-",
            _range(*row.values),
            *(_step(*row.step) if row.step else ("-", "-", "-")),
        )
        for row in rows
    ]
    columns = slice(None) if any(row.node for row in rows) else slice(1, 7)
    return aligned([each[columns] for each in (head.split(", "), *lines)])


def _range(low: float, high: float) -> str:
    return f"{low:.3g} to {high:.3g}"


def _step(scale: float, zero_point: int) -> tuple[str, str, str]:
    return _range(*limits(scale, zero_point)), f"{scale:.4g}", str(zero_point)
