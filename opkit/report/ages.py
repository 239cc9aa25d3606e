"""The age of built products against their sources, by content."""

from __future__ import annotations

import json
import textwrap
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from opkit import manifest
from opkit.common import file_io
from opkit.common.errors import OpkitError
from opkit.toolchains.compile_inputs import digests

FILE = Path("build/sources.json")
"""Product -> source -> digest of the source in the product; empty: a place without a file."""
_UNITS = (("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1))

Sources = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class Age:
    """The age of a product.

    Attributes:
        text: in words, such as `stale, 2 hours older than mish_compute.h`.
        is_stale: whether a source differs from the one in the product.
    """

    text: str
    is_stale: bool


def record(root: Path, sources: Sources) -> None:
    """Record the sources of products that are built now; keep those of other products.

    Args:
        root: the repository.
        sources: product -> source -> digest; empty: a place where a file would be read. A product
            is a source of its own, so that one of a killed build is noticed.

    Raises:
        OSError: the file cannot be written.
    """
    before = _recorded(root)
    recorded = {**before, **sources}
    if recorded != before:
        file_io.write_atomically(root / FILE, json.dumps(recorded).encode())


def ages(root: Path) -> dict[str, Age]:
    """Return the age of each product that has recorded sources and still exists."""
    recorded = _recorded(root)
    here = {name for sources in recorded.values() for name in sources}
    now = digests({str(root / name) for name in here})
    changed = {
        product: [name for name in sources if now.get(str(root / name), "") != sources[name]]
        for product, sources in recorded.items()
        if (root / product).is_file()
    }
    generated = _generated(root)
    return {
        product: _age(root, product, [name for name in names if name not in generated] or names)
        for product, names in changed.items()
    }


def lines(found: Mapping[str, Age]) -> list[str]:
    """Return the ages for a terminal; products of the same age are in one line.

    A line has at most 80 characters, if its words allow that.
    """
    by_age: dict[Age, dict[str, None]] = {}
    for product, age in found.items():
        by_age.setdefault(age, {})[Path(product).parent.name] = None
    return [
        textwrap.fill(
            f"packages for {', '.join(targets)}: {age.text}{_remedy(age, [*targets])}",
            80,
            subsequent_indent="  ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        for age, targets in by_age.items()
    ]


def _remedy(age: Age, targets: Sequence[str]) -> str:
    target = targets[0] if len(targets) == 1 else "all"
    return f"; run scons target={target}" if age.is_stale else ""


def _age(root: Path, product: str, changed: Collection[str]) -> Age:
    """Return the age of a product, given the sources that have changed."""
    if product in changed:
        return Age("stale, not from a finished build", True)
    built = (root / product).stat().st_mtime
    paths = {name: root / name for name in changed}
    times = {name: path.stat().st_mtime if path.exists() else 0 for name, path in paths.items()}
    if not times:
        return Age(f"up to date, {_duration(time.time() - built)} old", False)
    name = max(times, key=lambda each: times[each])
    later = times[name] > built
    what = f"{_duration(times[name] - built)} older than" if later else "built from another"
    more = f" and {len(times) - 1} more" if len(times) > 1 else ""
    return Age(f"stale, {what} {name}{more}", True)


def _duration(seconds: float) -> str:
    """Return a duration in words, rounded down to a unit."""
    for unit, length in _UNITS:
        count = int(seconds // length)
        if count:
            return f"{count} {unit}" if count == 1 else f"{count} {unit}s"
    return "less than a second"


def _recorded(root: Path) -> Sources:
    try:
        recorded: Sources = json.loads((root / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return recorded


def _generated(root: Path) -> tuple[str, ...]:
    """Return the generated files, which change only after other files."""
    try:
        return manifest.from_text((root / manifest.PATH).read_text(encoding="utf-8")).generated
    except (OSError, OpkitError):
        return ()
