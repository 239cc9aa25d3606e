"""A picture of ratios, as SVG: a row an operator, a column a shape, colored by the ratio."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_COLORS = (
    *((0.15, "#1a9850"), (0.3, "#66bd63"), (0.6, "#a6d96a"), (0.9, "#d9ef8b")),
    *((1.1, "#ffffbf"), (2.0, "#fdae61"), (float("inf"), "#f46d43")),
)
"""Up to a ratio -> a color on which black text is readable."""
_INK = "#808080"  # readable on white and on black
_LABEL, _WIDTH, _HEIGHT, _GAP = 172, 52, 15, 24  # in SVG units
_HEAD = 16


def ratio_map(
    columns: Sequence[str], ratios: Mapping[str, Mapping[str, float]], blocks: int = 2
) -> str:
    """Return the picture.

    Args:
        columns: the shapes.
        ratios: operator -> shape -> ratio; a missing shape stays empty.
        blocks: into which the rows are divided, side by side.
    """
    names = [*ratios]
    per_block = -(-len(names) // blocks)
    across = _LABEL + _WIDTH * len(columns)
    cells: dict[str, list[str]] = {}
    texts: list[str] = []

    def write(x: float, y: int, text: str, kind: str) -> None:
        texts.append(f'<text class="{kind}" x="{x:g}" y="{y}">{text}</text>')

    for index, name in enumerate(names):
        block, row = divmod(index, per_block)
        left, top = block * (across + _GAP), _HEAD + row * _HEIGHT
        if row == 0:
            for column, shape in enumerate(columns):
                write(left + _LABEL + (column + 0.5) * _WIDTH, _HEAD - 5, shape, "label")
        write(left + _LABEL - 6, top + 11, name, "name")
        for column, shape in enumerate(columns):
            if (ratio := ratios[name].get(shape)) is None:
                continue
            x = left + _LABEL + column * _WIDTH
            color = next(color for limit, color in _COLORS if round(ratio, 2) <= limit)
            path = f"M{x} {top}h{_WIDTH - 1}v{_HEIGHT - 1}h-{_WIDTH - 1}z"
            cells.setdefault(color, []).append(path)
            write(x + _WIDTH / 2, top + 11, f"{ratio:.2f}", "cell")
    width, height = blocks * (across + _GAP) - _GAP, _HEAD + per_block * _HEIGHT
    paths = [f'<path fill="{color}" d="{"".join(found)}"/>' for color, found in cells.items()]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">',
            "<style>text{font:11px sans-serif;text-anchor:middle}"
            f".name{{text-anchor:end}}.name,.label{{fill:{_INK}}}</style>",
            *paths,
            *texts,
            "</svg>\n",
        ]
    )
