"""Measure a workspace of many operators, and a cache that machines share, as Markdown tables.

    python -m benchmarks.workspace [--operators 200] [--machines 2] [--output benchmarks]

Prints the tables; with --output, writes them into RESULTS.md of that folder. A machine is a group
of processes with its own clone of the workspace; all machines check all operators at the same time.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import results_file

ROOT = Path(__file__).resolve().parent.parent
COMMAND = "python -m benchmarks.workspace --output benchmarks"
RUNTIMES = ("rknn2", "pplnn", "rknn", "rknn, rknn2", "pplnn, rknn2")
MAX_LINT = 0.020
"""Maximum seconds of the processor for an operator's lint."""
CHECKED = 4
"""The operators that each machine checks."""
PARALLEL = 10
"""The operators that one processor checks, and then all."""


@dataclass(frozen=True)
class Run:
    """A run of a command.

    Attributes:
        seconds: from start to end.
        processor: seconds of the processor, of all its processes.
        output: its output.
    """

    seconds: float
    processor: float
    output: str


def run(folder: Path, *command: str, processors: int = 0) -> Run:
    """Run `python -m ...` in a folder."""
    return wait([start(folder, *command, processors=processors)])[0]


def start(folder: Path, *command: str, processors: int = 0) -> subprocess.Popen[str]:
    """Start `python -m ...` in a folder, on so many of the processors; 0: on all."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    own = sorted(os.sched_getaffinity(0))[: processors or None]
    limit = ["taskset", "-c", ",".join(map(str, own))]
    return subprocess.Popen(
        [*limit, sys.executable, "-m", *command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def wait(processes: Sequence[subprocess.Popen[str]]) -> list[Run]:
    """Wait for processes; each run has the time of all of them."""
    begin, before = time.perf_counter(), processor_time()
    outputs = [process.communicate()[0] for process in processes]
    seconds, processor = time.perf_counter() - begin, processor_time() - before
    for process, output in zip(processes, outputs, strict=True):
        if process.returncode:
            raise SystemExit(f"{process.args!r} failed\n{output}")
    return [Run(seconds, processor, output) for output in outputs]


def processor_time() -> float:
    """Return the seconds of the processor of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def describe(folder: Path, count: int) -> list[str]:
    """Write descriptions of operators for different runtimes; return their paths."""
    folder.mkdir()
    for index in range(count):
        (folder / f"op{index:03}.yml").write_text(
            f"name: Op{index:03}\nruntimes: [{RUNTIMES[index % len(RUNTIMES)]}]\n"
            "inputs: {x: {type: VX_TYPE_TENSOR}}\noutputs: {y: {type: VX_TYPE_TENSOR}}\n"
        )
    return sorted(map(str, folder.iterdir()))


def many(folder: Path, count: int) -> str:
    """Return the table of the commands for all operators of a workspace."""
    files = describe(folder / "descriptions", count)
    rows = []
    created = run(folder, "rknn_op", "create", "--workspace", "many", "-c", *files)
    run(folder / "many", "rknn_op", "lint")  # fills the caches
    linted = min(
        (run(folder / "many", "rknn_op", "lint") for _ in range(3)),
        key=lambda each: each.processor,
    )
    for name, each in {"`rknn-op create`": created, "`rknn-op lint`": linted}.items():
        rows.append([name, f"{each.processor / count * 1e3:.1f} ms", f"{each.seconds:.1f} s"])
    head = ["command", "processor, per operator", f"{count} operators"]
    if linted.processor / count > MAX_LINT:
        print(f"lint takes more than {MAX_LINT} s", file=sys.stderr)
    return results_file.table(head, rows)


def parallel(folder: Path) -> str:
    """Return the table of checks on one processor, and on all."""
    files = describe(folder / "some", PARALLEL)
    run(folder, "rknn_op", "create", "--workspace", "parallel", "-c", *files)
    seconds = {}
    for count in (1, len(os.sched_getaffinity(0))):
        for build in folder.glob("parallel/*/build"):
            shutil.rmtree(build)
        command = ("rknn_op", "check", "-j", str(count), "--", "cache=none")
        seconds[count] = run(folder / "parallel", *command, processors=count).seconds
    one = seconds[1]
    rows = [[f"{count}", f"{each:.1f} s", f"{one / each:.2f} x"] for count, each in seconds.items()]
    return results_file.table(["processors", f"{PARALLEL} operators", "faster"], rows)


def shared(folder: Path, machines: int) -> str:
    """Return the table of checks that share a cache, by machines at the same time."""
    files = describe(folder / "few", CHECKED)
    run(folder, "rknn_op", "create", "--workspace", "machine0", "-c", *files)
    for index in range(1, machines):
        shutil.copytree(folder / "machine0", folder / f"machine{index}")
    rows = []
    for name, cache, clean in (
        ("none", "none", False),
        ("empty at first", str(folder / "cache"), True),
        ("full", str(folder / "cache"), True),
    ):
        if clean:
            for build in folder.glob("machine*/*/build"):
                shutil.rmtree(build)
        command = ("rknn_op", "check", "-j", "1", "--", f"cache={cache}", "verbose=1")
        runs = wait([start(folder / f"machine{i}", *command) for i in range(machines)])
        rows.append([name, f"{runs[0].processor:.0f} s", f"{runs[0].seconds:.0f} s"])
    products = [
        sorted(path.read_bytes() for path in machine.glob("*/build/host/harness"))
        for machine in sorted(folder.glob("machine*"))
    ]
    if any(each != products[0] for each in products):
        raise SystemExit("the machines have different programs")
    left = [path for path in (folder / "cache").rglob("*") if re.match(r"tmp|\.scratch", path.name)]
    if left:
        raise SystemExit(f"temporary files are left: {left}")
    head = ["cache", "processor, all machines", f"{machines} machines x {CHECKED} operators"]
    return results_file.table(head, rows)


def main() -> None:
    """Measure, and print the tables."""
    parser = results_file.parser("workspace", __doc__)
    parser.add_argument("--operators", type=int, default=200)
    parser.add_argument("--machines", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        text = (
            f"## A workspace\n\n    {COMMAND}\n\n{results_file.machine()}.\n\n"
            f"{many(Path(scratch), options.operators)}\n\n"
            "`rknn-op check` of all operators without a cache, one on each processor:\n\n"
            f"{parallel(Path(scratch))}\n\n"
            "`rknn-op check` of all operators on several machines at the same time, with one "
            f"folder as `cache=`:\n\n{shared(Path(scratch), options.machines)}\n"
        )
    results_file.finish(options.output, "workspace", text)


if __name__ == "__main__":
    main()
