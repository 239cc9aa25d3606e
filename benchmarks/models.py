"""Measure the verbs that read a model, on one of 500 nodes and 100 MB, as Markdown tables.

    python -m benchmarks.models [scan] [--runs 5] [--output benchmarks]

Prints the tables; with --output, writes them into RESULTS.md of that folder. Every time is that of
a whole process, with the start of Python and its imports.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import onnx

from benchmarks import results_file
from tests.models.models import large, saved
from tests.repositories import ROOT

AIM = 2.0  # maximum seconds of a scan besides the loading


def seconds(*arguments: str, statuses: tuple[int, ...] = (0,)) -> float:
    """Run this Python; return the seconds of its process.

    Args:
        *arguments: the arguments of Python.
        statuses: the exit statuses that are no error.
    """
    begin = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    took = time.perf_counter() - begin
    assert done.returncode in statuses, done.stderr
    return took


def scan_section(folder: Path, runs: int) -> str:
    """Return the section on `rknn-op scan`."""
    proto = large()
    file = saved(proto, folder)
    load = f"import onnx; onnx.load({str(file)!r})"
    measured = [
        (
            seconds("-m", "rknn_op", "scan", str(file), statuses=(1,)),
            seconds("-c", load),
            seconds("-c", "import onnx"),
        )
        for _ in range(runs)
    ]
    scan, loading, importing = map(statistics.median, zip(*measured, strict=True))
    rows = [
        ["`rknn-op scan`", f"{scan:.2f} s", "-", "-"],
        ["`onnx.load`", f"{loading:.2f} s", "-", "-"],
        ["of which onnx is imported", f"{importing:.2f} s", "-", "-"],
        [
            "scan besides onnx.load",
            f"{scan - loading:.2f} s",
            f"at most {AIM:g} s",
            "yes" if scan - loading <= AIM else "no",
        ],
    ]
    size = file.stat().st_size / 1e6
    return (
        "## Scan of a model\n\n"
        "    python -m benchmarks.models scan --output benchmarks\n\n"
        f"{results_file.machine()}; {results_file.medians(runs)}; onnx {onnx.__version__}.\n"
        f"A model of {len(proto.graph.node)} nodes and {size:.0f} MB; whole processes.\n\n"
        + results_file.table(["", "measured", "aim", "holds"], rows)
    )


SECTIONS: dict[str, Callable[[Path, int], str]] = {"scan": scan_section}
"""Part -> the function that measures it: it gets an empty folder and the count of runs."""


def main() -> None:
    """Run the benchmarks."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"default: {', '.join(SECTIONS)}")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    if unknown := [part for part in arguments.parts if part not in SECTIONS]:
        parser.error(f"invalid part {unknown[0]!r} (expected {', '.join(SECTIONS)})")
    for part in arguments.parts or SECTIONS:
        with tempfile.TemporaryDirectory() as folder:
            text = SECTIONS[part](Path(folder), arguments.runs)
        print(text)
        if arguments.output:
            path = results_file.write_section(arguments.output, f"models_{part}", text)
            print(f"\nwritten into {path}", file=sys.stderr)


if __name__ == "__main__":
    main()
