"""Plots of a case, drawn by matplotlib and made to fit into the page.

A plot has no colours and no font of its own: it names the page's CSS variables, so that it follows
the reader's light or dark scheme. Whatever shows the data is a group with an id, of which the
table of cases makes its small pictures.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from opkit.check.invocation import Array
from opkit.check.results import Errors, Output
from opkit.errors import OpkitError

# Width and height in SVG units; left, top, width and height of the axes.
_HISTOGRAM = (290, 210), (44, 20, 230, 150)
_PARITY = (230, 210), (56, 20, 150, 150)
_TEXT_SIZE = 9
_DOT = 3.5  # diameter

# What stands for a CSS variable while matplotlib draws.
_COLOURS = {"#000001": "--muted", "#000002": "--rule", "#000003": "--series"}
_TEXT, _RULE, _SERIES = _COLOURS

_MINUS = "\N{MINUS SIGN}"
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Drawing:
    """The inside of an SVG element.

    Attributes:
        width: in SVG units.
        height: in the same.
        content: the elements.
        group: the id of the group that shows the data.
        box: left, top, width and height of the axes: where the group is.
    """

    width: int
    height: int
    content: str
    group: str
    box: tuple[int, int, int, int]


@dataclass(frozen=True)
class Plot:
    """The plots of one output: how many elements are how wrong, and kernel against reference."""

    histogram: Drawing
    parity: Drawing


@dataclass(frozen=True)
class _Tick:
    position: float
    label: str


def require_matplotlib() -> None:
    """Do nothing if plots can be drawn.

    Raises:
        OpkitError: matplotlib is not installed; the message says how to install it.
    """
    if find_spec("matplotlib") is None:
        raise OpkitError("the report's plots need matplotlib: pip install matplotlib")


def plot(output: Output, key: str) -> Plot:
    """Draw an output's errors, and the kernel's elements against the reference's.

    Args:
        output: what to draw.
        key: makes the ids of these plots different from those of all others on the page.
    """
    return Plot(
        _drawing(f"{key}-errors", *_HISTOGRAM, partial(_draw_histogram, output.errors)),
        _drawing(f"{key}-parity", *_PARITY, partial(_draw_parity, output.kernel, output.reference)),
    )


def _drawing(
    group: str,
    size: tuple[int, int],
    box: tuple[int, int, int, int],
    draw: Callable[[str, Any], None],
) -> Drawing:
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    (all_width, all_height), (left, top, width, height) = size, box
    figure = Figure((all_width / 72, all_height / 72))
    FigureCanvasSVG(figure)
    axes = figure.add_axes(
        (
            left / all_width,
            1 - (top + height) / all_height,
            width / all_width,
            height / all_height,
        )
    )
    axes.tick_params(bottom=False, left=False, labelsize=_TEXT_SIZE, labelcolor=_TEXT, pad=4)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("bottom", "left"):
        axes.spines[side].set(color=_RULE, linewidth=1)
    draw(group, axes)
    text = io.StringIO()
    # Text stays text, and small steps of a path stay steps.
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": group, "path.simplify": False}):
        figure.savefig(text, format="svg", transparent=True)
    return Drawing(all_width, all_height, _for_page(text.getvalue(), group), group, box)


def _name_axes(axes: Any, across: str, upwards: str) -> None:
    """Say what the axes are; upwards is said above, where it needs no turning of the head."""
    axes.set_xlabel(across, color=_TEXT, size=_TEXT_SIZE)
    width = axes.get_position().width * axes.figure.bbox.width
    left = axes.get_position().x0 * axes.figure.bbox.width
    axes.set_title(upwards, loc="left", color=_TEXT, size=_TEXT_SIZE, pad=7, x=(8 - left) / width)


def _set_ticks(axis: Any, ticks: Sequence[_Tick]) -> None:
    axis.set_ticks([tick.position for tick in ticks], [tick.label for tick in ticks])


# ---- Errors -------------------------------------------------------------------------------------


def _draw_histogram(errors: Errors, group: str, axes: Any) -> None:
    reach = max([3, *map(abs, errors.bins)])
    top = max(1, *errors.bins.values(), errors.incomparable)
    floor = np.log10(0.5)  # a bar for one element is still a bar
    bars = list(errors.bins.items())
    ticks = [
        _Tick(sign * number, _bin_label(sign * number))
        for number in range(0, reach + 1, 1 + reach // 5)
        for sign in ((-1, 1) if number else (1,))
    ]
    right = reach
    if errors.incomparable:
        right += 1 + reach // 3
        bars.append((right, errors.incomparable))
        ticks.append(_Tick(right, "NaN"))
    axes.add_artist(_path(_rectangles(bars, floor), group, facecolor=_SERIES, linewidth=0))
    axes.set_xlim(-reach - 0.6, right + 0.6)
    axes.set_ylim(floor, np.log10(top) * 1.05 + 0.3)
    _set_ticks(axes.xaxis, ticks)
    decades = range(0, int(np.log10(top)) + 1, 1 + int(np.log10(top)) // 4)
    _set_ticks(axes.yaxis, [_Tick(power, _number(10**power)) for power in decades])
    axes.grid(axis="y", color=_RULE, linewidth=0.5)
    axes.set_axisbelow(True)
    _name_axes(axes, "error of the kernel, in ulp", "elements")


def _bin_label(number: int) -> str:
    """Return the largest error of a bin."""
    size = abs(number) if abs(number) < 2 else 2 ** (abs(number) - 1)
    sign = _MINUS if number < 0 else ""
    return sign + (str(size) if size <= 1024 else f"2{_superscript(abs(number) - 1)}")


def _rectangles(bars: Iterable[tuple[int, int]], floor: float) -> Array:
    """Return the corners of bars, on a logarithmic scale: (bars, 4, 2)."""
    corners = []
    for center, count in bars:
        left, right, top = center - 0.4, center + 0.4, float(np.log10(count))
        corners.append([(left, floor), (left, top), (right, top), (right, floor)])
    return np.array(corners, float).reshape(-1, 4, 2)


# ---- Kernel against reference -------------------------------------------------------------------


def _draw_parity(kernel: Array, reference: Array, group: str, axes: Any) -> None:
    points = np.stack([reference, kernel], axis=1).astype(np.float64)
    points = points[np.isfinite(points).all(axis=1)]
    unit = _unit(points)
    points = _scaled(points, unit)
    low, high = (points.min(), points.max()) if points.size else (-1.0, 1.0)
    margin = (high - low) * 0.06 or max(abs(high), 1.0) * 0.1
    low, high = low - margin, high + margin
    # Two dots of one place look like one.
    places = np.round((points - low) / (high - low) * _PARITY[1][2])
    _, first = np.unique(places, axis=0, return_index=True)
    # A dot is a line with round ends; matplotlib leaves out one that has no length at all.
    dots = np.stack([points[first], points[first] + ((high - low) * 1e-3, 0)], axis=1)
    if not points.size:
        nothing = {"color": _TEXT, "size": _TEXT_SIZE, "ha": "right", "va": "bottom"}
        axes.text(0.98, 0.02, "no finite numbers", transform=axes.transAxes, **nothing)
    axes.axline((low, low), (high, high), color=_RULE, linewidth=1, zorder=1, clip_on=False)
    style = {"edgecolor": _SERIES, "facecolor": "none", "linewidth": _DOT, "capstyle": "round"}
    axes.add_artist(_path(dots, group, **style))
    axes.set(xlim=(low, high), ylim=(low, high))
    ticks = _ticks(low, high, unit)
    _set_ticks(axes.xaxis, ticks)
    _set_ticks(axes.yaxis, ticks)
    _name_axes(axes, "reference", "kernel")


def _unit(points: Array) -> float | None:
    """Return the magnitude below which the scale is linear; None if all of it is to be."""
    magnitudes = np.abs(points[points != 0])
    if not magnitudes.size or magnitudes.max() <= 300 * np.median(magnitudes):
        return None
    return max(float(magnitudes.min()), float(magnitudes.max()) * 1e-12)


def _scaled(values: Any, unit: float | None) -> Any:
    return values if unit is None else np.arcsinh(values / unit)


def _ticks(low: float, high: float, unit: float | None) -> list[_Tick]:
    if unit is None:
        from matplotlib.ticker import MaxNLocator

        values = MaxNLocator(4).tick_values(low, high)
        return [_Tick(value, _number(value)) for value in values if low <= value <= high]
    top = int(np.floor(np.log10(unit * np.sinh(max(-low, high)))))
    bottom = int(np.ceil(np.log10(unit)))
    on_each_side = 2 if low < -1 and high > 1 else 4
    step = max(1, -(-(top - bottom) // on_each_side))
    powers = [power for power in range(top, bottom, -step) if _scaled(10.0**power, unit) > 2]
    ticks = [_Tick(0, "0")]
    for power in powers:
        place = float(_scaled(10.0**power, unit))
        ticks += [_Tick(place, _decade(power)), _Tick(-place, _MINUS + _decade(power))]
    return [tick for tick in ticks if low <= tick.position <= high]


def _decade(power: int) -> str:
    return str(10**power) if 0 <= power <= 2 else f"10{_superscript(power)}"


def _superscript(power: int) -> str:
    return str(power).translate(_SUPERSCRIPTS)


def _number(value: float) -> str:
    return f"{value:g}".replace("-", _MINUS).replace("e+0", "e").replace("e+", "e")


# ---- From matplotlib to the page ----------------------------------------------------------------


def _path(shapes: Array, group: str, **style: Any) -> Any:
    """Return one artist of many shapes, (shapes, corners, 2); closed ones if they have an area."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    codes = np.full(shapes.shape[:2], Path.LINETO)
    codes[:, :1] = Path.MOVETO
    path = Path(shapes.reshape(-1, 2), codes.ravel())
    # The id is found again in another place of the page, where the clip path would not be.
    return PathPatch(path, gid=group, clip_on=False, **style)


def _for_page(svg: str, group: str) -> str:
    """Return the inside of matplotlib's SVG, without what the page says or does not need."""
    inside = svg[svg.index("<g id=") : svg.rindex("</svg>")]
    for colour, variable in _COLOURS.items():
        inside = inside.replace(colour, f"var({variable})")
    for pattern, replacement in (
        (r"<!--.*?-->", ""),
        (r"<defs>.*?</defs>", ""),
        (rf' id="(?!{re.escape(group)})[^"]*"', ""),
        (r' clip-path="[^"]*"', ""),
        (r" font-family: [^;\"]*;?", ""),
        (r"-?\d+\.\d+(?=[^<>]*>)", lambda match: f"{float(match[0]):.1f}".removesuffix(".0")),
        (r' transform="rotate\(-0[^"]*"', ""),
        (r"\s+", " "),
        (r"(?<=[\d\"]) (?=[MLz])|(?<=[ML]) ", ""),
        (r"> <", "><"),
    ):
        inside = re.sub(pattern, replacement, inside, flags=re.DOTALL)
    return inside
