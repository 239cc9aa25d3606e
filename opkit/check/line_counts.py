"""The counters of instrumented libraries, summed over the runs of all processes of a check."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

FOLDER = Path("build/check/counts")

_TOTALS: dict[Path, Any] = {}
"""Library -> the counters of this process's runs."""


def add(library: Path, counters: bytes) -> None:
    """Add the counters of a run."""
    import numpy as np  # slow, and not for those who only read

    counts = np.frombuffer(counters, np.uint64)
    _TOTALS[library] = _TOTALS[library] + counts if library in _TOTALS else counts


def save(folder: Path) -> None:
    """Write the counters of this process into a folder; create the folder if absent."""
    folder.mkdir(parents=True, exist_ok=True)
    content = {str(library): counts.tolist() for library, counts in _TOTALS.items()}
    (folder / f"{os.getpid()}.json").write_text(json.dumps(content), encoding="utf-8")


def load(folder: Path) -> dict[Path, list[int]]:
    """Return library -> the counters of all processes that wrote into a folder."""
    totals: dict[Path, list[int]] = {}
    for file in folder.glob("*.json"):
        for name, counts in json.loads(file.read_text(encoding="utf-8")).items():
            library = Path(name)
            others = totals.get(library, [0] * len(counts))
            totals[library] = [one + other for one, other in zip(counts, others, strict=True)]
    return totals
