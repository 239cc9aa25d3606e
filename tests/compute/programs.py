"""Programs of a header, whose results must have the same bits with all vectors."""

from __future__ import annotations

from pathlib import Path

from opkit.toolchains.flags import EXACT, optimization
from tests.compiling import build

MACHINES = {
    "fast": (*optimization("x64", "zig"), *EXACT),
    "plain": ("-O0",),
    "wide": ("-O3", "-mavx2", "-mfma", *EXACT),
}


def programs_of(source: Path, folder: Path) -> dict[str, Path]:
    """Return the program of a source with the flags of each machine."""
    return {name: build(folder / name, *flags, source, "-lm") for name, flags in MACHINES.items()}
