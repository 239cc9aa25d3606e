"""Plot the times: one panel for each benchmark, both axes logarithmic."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.kernels.candidates import BASELINE_O0, BASELINE_O2, MEMCPY, NUMPY, OURS

# benchmark -> elements -> candidate -> seconds per element
Times = Mapping[str, Mapping[int, Mapping[str, float]]]

_STYLES: dict[str, dict[str, Any]] = {
    BASELINE_O0: {"color": "#b3672b", "linewidth": 1.2, "linestyle": (0, (1, 1.2))},
    BASELINE_O2: {"color": "#b3672b", "linewidth": 1.2},
    NUMPY: {"color": "#6a7a89", "linewidth": 1.2},
    OURS: {"color": "#0b6e99", "linewidth": 2.4},
    MEMCPY: {"color": "#6a7a89", "linewidth": 1.2, "linestyle": (0, (4, 2))},
}
_GAP = 0.2  # between two labels, in decades
_COLUMNS = 3


def save(times: Times, path: Path) -> bool:
    """Write the plot as .svg or .png; return whether matplotlib is available."""
    try:
        import matplotlib
    except ImportError:
        return False
    matplotlib.use("Agg")
    from matplotlib import pyplot

    settings: Any = {
        "svg.hashsalt": "kernels",  # the same file from the same times
        "svg.fonttype": "none",
        "font.family": "sans-serif",
        "font.size": 9,
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
    with pyplot.rc_context(settings):
        rows = -(-len(times) // _COLUMNS)
        figure, grid = pyplot.subplots(
            *(rows, _COLUMNS),
            figsize=(11, 0.6 + 3.1 * rows),
            sharex=True,
            sharey=True,
            squeeze=False,
        )
        panels = list(grid.flat)
        for panel in panels[len(times) :]:
            panel.remove()
        for panel, (name, by_size) in zip(panels, times.items(), strict=False):
            _draw(panel, name, by_size)
        for row in grid:
            row[0].set_ylabel("ns per element")
        for panel in grid[-1]:
            panel.set_xlabel("elements")
        figure.tight_layout(w_pad=2.5)
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None, dpi=110)
        pyplot.close(figure)
    return True


def _draw(panel: Any, benchmark: str, by_size: Mapping[int, Mapping[str, float]]) -> None:
    sizes = sorted(by_size)
    names = [name for name in _STYLES if name in by_size[sizes[0]]]
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.set_title(benchmark, loc="left", fontweight="bold", fontsize=10)
    panel.grid(axis="y", color="#e3e7ea", linewidth=0.7)
    panel.set_axisbelow(True)
    panel.tick_params(which="minor", length=0)
    panel.yaxis.set_major_formatter("{x:g}")
    panel.tick_params(labelbottom=True)
    ends = {}
    for name in names:
        values = [by_size[size][name] * 1e9 for size in sizes]
        panel.plot(sizes, values, **_STYLES[name], solid_capstyle="round")
        ends[name] = values[-1]
    for name, height in spread(ends).items():
        panel.annotate(
            name,
            (sizes[-1], height),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            color=_STYLES[name]["color"],
            fontweight="bold" if name == OURS else "normal",
            fontsize=8,
            annotation_clip=False,
        )


def spread(heights: Mapping[str, float]) -> dict[str, float]:
    """Move labels that overlap on a log axis apart, as little as needed."""
    ordered = sorted(heights, key=lambda name: heights[name])
    placed = [math.log10(heights[name]) for name in ordered]
    for _ in range(100):
        for i in range(len(placed) - 1):
            missing = _GAP - (placed[i + 1] - placed[i])
            if missing > 1e-9:
                placed[i] -= missing / 2
                placed[i + 1] += missing / 2
    return {name: 10**height for name, height in zip(ordered, placed, strict=True)}
