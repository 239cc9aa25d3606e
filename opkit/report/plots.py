"""Plots of a case, as SVG for the page.

A plot has no colors and no font of its own: it names the page's CSS variables, so that it follows
the reader's light or dark scheme. The data is a group with an id, which the table of cases
reuses for its thumbnails.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from opkit.check.results import Errors, Output
from opkit.report.rendering import render
from opkit.runtimes.invocation import Array

# Width and height in SVG units; left, top, width and height of the axes.
_HISTOGRAM = (290, 210), (44, 20, 230, 150)
_PARITY = (230, 210), (56, 20, 150, 150)
_MAP_BOX = (44, 20, 150, 150)
_MAP = 150  # units of the longer side of an error map
_MAX_PLACE = 18  # units of a place
_MIN_MAP_WIDTH = 120  # units, for the label
_LEVELS = ((1, 1, 0.25), (2, 5, 0.45), (6, 11, 0.7), (12, 65, 1))
"""First and last bin -> opacity: errors of 1 ulp, up to 16, up to 1024, and more."""
_BARS = "fill: var(--series)"
# A dot is a very short line with round ends, so that it stays round where a plot is stretched.
_DOTS = "fill: none; stroke: var(--series); stroke-width: 3.5; stroke-linecap: round"

_FACTORS = (1, 2, 2.5, 5, 10)  # of a power of ten: distances between ticks that are easy to read

_MINUS = "\N{MINUS SIGN}"
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

_Range = tuple[float, float]


@dataclass(frozen=True)
class Drawing:
    """The inside of an SVG element.

    Attributes:
        width: in SVG units.
        height: in the same.
        content: the elements.
        group: the id of the group with the data.
        box: left, top, width and height of the axes, which contain the group.
    """

    width: int
    height: int
    content: Markup
    group: str
    box: tuple[int, int, int, int]


@dataclass(frozen=True)
class Plot:
    """The plots of one output: the histogram of errors, and kernel against reference.

    Attributes:
        histogram: of the errors.
        parity: kernel against reference.
        map: where the errors are; None: there is none.
    """

    histogram: Drawing
    parity: Drawing
    map: Drawing | None = None


@dataclass(frozen=True)
class _Tick:
    """A label at a position of an axis: in the axis' own numbers, or in SVG units."""

    position: float
    label: str


@dataclass(frozen=True)
class _Axis:
    """A range of numbers, and its position in the drawing, in SVG units."""

    name: str
    numbers: _Range
    units: _Range
    ticks: Sequence[_Tick]

    def position(self, values: Any) -> Any:
        """Return the positions of numbers, in SVG units."""
        (low, high), (start, end) = self.numbers, self.units
        return np.round(start + (values - low) / (high - low) * (end - start), 1)

    @property
    def positioned_ticks(self) -> list[_Tick]:
        """The ticks, in SVG units."""
        return [_Tick(float(self.position(tick.position)), tick.label) for tick in self.ticks]


def plot(output: Output, key: str, is_wrong: bool = False) -> Plot:
    """Draw an output's errors, and the kernel's elements against the reference's.

    Args:
        output: what to draw.
        key: a prefix that makes the ids of these plots unique on the page.
        is_wrong: whether to draw where the errors are, too.
    """
    return Plot(
        _histogram(output.errors, f"{key}-errors"),
        _parity(output.kernel, output.reference, f"{key}-parity"),
        error_map(output, f"{key}-map") if is_wrong else None,
    )


# ---- Errors -------------------------------------------------------------------------------------


def _histogram(errors: Errors, group: str) -> Drawing:
    reach = max([3, *map(abs, errors.bins)])
    top = max(1, *errors.bins.values(), errors.incomparable)
    floor = float(np.log10(0.5))  # a bar of one element stays visible
    bars = list(errors.bins.items())
    ticks = [
        _Tick(sign * distance, _bin_label(sign * distance))
        for distance in range(0, reach + 1, 1 + reach // 5)
        for sign in ((-1, 1) if distance else (1,))
    ]
    end = reach
    if errors.incomparable:
        end += 1 + reach // 3
        bars.append((end, errors.incomparable))
        ticks.append(_Tick(end, "NaN"))
    size, box = _HISTOGRAM
    decades = range(0, int(np.log10(top)) + 1, 1 + int(np.log10(top)) // 4)
    x_axis = _Axis("error of the kernel, in ulp", (-reach - 0.6, end + 0.6), _across(box), ticks)
    y_axis = _Axis(
        "elements",
        (floor, float(np.log10(top)) * 1.05 + 0.3),
        _upwards(box),
        [_Tick(power, _number_text(10**power)) for power in decades],
    )
    corners = []
    for center, count in bars:
        left, right, height = center - 0.4, center + 0.4, float(np.log10(count))
        corners.append([(left, floor), (left, height), (right, height), (right, floor)])
    path = _path(np.array(corners, float).reshape(-1, 4, 2), x_axis, y_axis)
    content = render(
        "plot.svg", group=group, x=x_axis, y=y_axis, path=path, style=_BARS, grid=True, note=""
    )
    return Drawing(*size, content, group, box)


def _bin_label(index: int) -> str:
    """Return the largest error of a bin."""
    size = abs(index) if abs(index) < 2 else 2 ** (abs(index) - 1)
    sign = _MINUS if index < 0 else ""
    return sign + (str(size) if size <= 1024 else f"2{_superscript(abs(index) - 1)}")


# ---- Error map ----------------------------------------------------------------------------------


def error_map(output: Output, group: str) -> Drawing | None:
    """Draw where an output's errors are, along its last two axes; None if there is none."""
    if not output.map.any():
        return None
    rows, columns = output.map.shape
    side = min(_MAP / rows, _MAP / columns, _MAX_PLACE)
    left, top, _, _ = _MAP_BOX
    box = (left, top, round(columns * side), round(rows * side))
    levels = [
        (opacity, "".join(_runs(output.map, low, high, side, left, top)))
        for low, high, opacity in _LEVELS
    ]
    content = render(
        "map.svg",
        group=group,
        box=box,
        levels=[(opacity, path) for opacity, path in levels if path],
        width=output.shape[-1],
        height=output.shape[-2] if len(output.shape) > 1 else 0,
    )
    size = max(box[2], _MIN_MAP_WIDTH) + left + 12, box[3] + top + 24
    return Drawing(*size, content, group, box)


def _runs(
    places: Array, low: int, high: int, side: float, left: float, top: float
) -> Iterator[str]:
    """Yield a rectangle for each run of neighbors in a row with bins from low to high."""
    for row, bins in enumerate((places >= low) & (places <= high)):
        edges = np.flatnonzero(np.diff(bins, prepend=False, append=False))
        for begin, end in edges.reshape(-1, 2):
            x, y = left + begin * side, top + row * side
            width = (end - begin) * side
            yield f"M{x:.4g} {y:.4g}h{width:.4g}v{side:.4g}h-{width:.4g}z"


# ---- Kernel against reference -------------------------------------------------------------------


def _parity(kernel: Array, reference: Array, group: str) -> Drawing:
    points = np.stack([reference, kernel], axis=1).astype(np.float64)
    points = points[np.isfinite(points).all(axis=1)]
    unit = _unit(points)
    points = _scaled(points, unit)
    low, high = (float(points.min()), float(points.max())) if points.size else (-1.0, 1.0)
    margin = (high - low) * 0.06 or max(abs(high), 1.0) * 0.1
    low, high = low - margin, high + margin
    size, box = _PARITY
    # Dots of one pixel look like one.
    pixels = np.round((points - low) / (high - low) * box[2])
    _, first = np.unique(pixels, axis=0, return_index=True)
    dots = np.stack([points[first], points[first] + ((high - low) * 1e-3, 0)], axis=1)
    ticks = _ticks(low, high, unit)
    x_axis = _Axis("reference", (low, high), _across(box), ticks)
    y_axis = _Axis("kernel", (low, high), _upwards(box), ticks)
    path = _path(dots, x_axis, y_axis)
    note = "" if points.size else "no finite numbers"
    content = render(
        "plot.svg", group=group, x=x_axis, y=y_axis, path=path, style=_DOTS, grid=False, note=note
    )
    return Drawing(*size, content, group, box)


def _unit(points: Array) -> float | None:
    """Return the magnitude below which the scale is linear; None for a linear scale."""
    magnitudes = np.abs(points[points != 0])
    if not magnitudes.size or magnitudes.max() <= 300 * np.median(magnitudes):
        return None
    return max(float(magnitudes.min()), float(magnitudes.max()) * 1e-12)


def _scaled(values: Any, unit: float | None) -> Any:
    return values if unit is None else np.arcsinh(values / unit)


def _ticks(low: float, high: float, unit: float | None) -> list[_Tick]:
    if unit is None:
        return [_Tick(value, _number_text(value)) for value in _round_numbers(low, high)]
    top = int(np.floor(np.log10(unit * np.sinh(max(-low, high)))))
    bottom = int(np.ceil(np.log10(unit)))
    on_each_side = 2 if low < -1 and high > 1 else 4
    step = max(1, -(-(top - bottom) // on_each_side))
    powers = [power for power in range(top, bottom, -step) if _scaled(10.0**power, unit) > 2]
    ticks = [_Tick(0, "0")]
    for power in powers:
        position = float(_scaled(10.0**power, unit))
        ticks += [_Tick(position, _decade(power)), _Tick(-position, _MINUS + _decade(power))]
    return [tick for tick in ticks if low <= tick.position <= high]


def _round_numbers(low: float, high: float) -> list[float]:
    """Return the two to five multiples of a round number that lie in a range."""
    power = 10.0 ** np.floor(np.log10((high - low) / 4))
    step = next(power * factor for factor in _FACTORS if power * factor * 4 >= high - low)
    factors = range(int(np.ceil(low / step)), int(np.floor(high / step)) + 1)
    return [float(factor * step) for factor in factors]


def _decade(power: int) -> str:
    return str(10**power) if 0 <= power <= 2 else f"10{_superscript(power)}"


def _superscript(power: int) -> str:
    return str(power).translate(_SUPERSCRIPTS)


def _number_text(value: float) -> str:
    return f"{value:g}".replace("-", _MINUS).replace("e+0", "e").replace("e+", "e")


# ---- SVG ----------------------------------------------------------------------------------------

_Box = tuple[int, int, int, int]


def _across(box: _Box) -> _Range:
    return box[0], box[0] + box[2]


def _upwards(box: _Box) -> _Range:
    return box[1] + box[3], box[1]


def _path(shapes: Array, x_axis: _Axis, y_axis: _Axis) -> str:
    """Return the path of many shapes, (shapes, corners, 2)."""
    positions = np.stack(
        [x_axis.position(shapes[..., 0]), y_axis.position(shapes[..., 1])], axis=-1
    )
    return "".join("M" + "L".join(f"{x:g} {y:g}" for x, y in shape) for shape in positions.tolist())
