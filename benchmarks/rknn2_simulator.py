"""Measure RKNN-Toolkit2's conversion and simulation of an operator's cases, as a Markdown table.

    python -m benchmarks.rknn2_simulator --python PYTHON [--runs 5] [--output benchmarks]

PYTHON has the toolkit; `.ci/rknn2_environment FOLDER` makes one. Prints the table; with --output,
writes it into RESULTS.md of that folder. Everything is built before, and the toolkit has run once.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import results_file
from tests.check.target_repositories import counts
from tests.repositories import Repository, generate_example

COMMAND = "python -m benchmarks.rknn2_simulator --python PYTHON --output benchmarks"
AIM = 5.0  # maximum seconds with the simulator
EXAMPLE = "piecewise_linear"


def seconds(repository: Repository, *options: str) -> tuple[float, str]:
    """Run `scons check`; return its seconds, and the counts of cases."""
    begin = time.perf_counter()
    checked = repository.scons("check", *options)
    took = time.perf_counter() - begin
    kernels = [f"{name}: {count} cases" for name, count in counts(checked.stdout).items()]
    return took, "; ".join(kernels)


def import_seconds(python: str) -> float:
    """Return the seconds of importing the toolkit."""
    begin = time.perf_counter()
    subprocess.run([python, "-c", "import rknn.api"], check=True, stderr=subprocess.DEVNULL)
    return time.perf_counter() - begin


def section(python: str, runs: int) -> str:
    """Return the section of RESULTS.md."""
    simulator = f"rknn2_python={python}"
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        repository = generate_example(Path(folder), EXAMPLE)
        _, checked = seconds(repository, simulator)
        measured = [
            (seconds(repository)[0], seconds(repository, simulator)[0], import_seconds(python))
            for _ in range(runs)
        ]
    without, with_it, imports = map(statistics.median, zip(*measured, strict=True))
    simulated = with_it - without
    holds = "yes" if simulated <= AIM else "no"
    rows = [
        ["`scons check` without the simulator", f"{without:.2f} s", "-", "-"],
        ["what the simulator adds", f"{simulated:.2f} s", f"at most {AIM:g} s", holds],
        ["of which the toolkit is imported", f"{imports:.2f} s", "-", "-"],
    ]
    return (
        "## RKNN-Toolkit2's simulator\n\n"
        f"    {COMMAND}\n\n"
        f"{results_file.machine()}; {results_file.medians(runs)}.\n"
        f"{EXAMPLE}, with everything built: {checked}.\n"
        "For each case the toolkit converts a model, writes the .rknn file and simulates it.\n\n"
        + results_file.table(["", "measured", "aim", "holds"], rows)
    )


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--python", required=True, help="a Python with RKNN-Toolkit2")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    text = section(arguments.python, arguments.runs)
    print(text)
    if arguments.output:
        path = results_file.write_section(arguments.output, "rknn2_simulator", text)
        print(f"\nwritten into {path}", file=sys.stderr)


if __name__ == "__main__":
    main()
