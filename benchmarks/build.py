"""Measure the time of generation and builds: whole processes, medians, as a Markdown table.

    python -m benchmarks.build [--runs 5] [--warm] [--output benchmarks]

Prints the table; with --output, writes it into RESULTS.md of that folder.

The baseline of each line:

* generation: `cookiecutter` with this template, against a template of one file and no hook;
* cold build: `scons target=all` in a new repository with an empty compiler cache, against its
  compiler commands, run one after the other from a shell, with an empty cache too;
* no-op build: `scons` when everything is up to date.

First contact is the wait of a new user: each run has empty caches, of the compiler and of all
repositories. Processor time is the sum over all processes and cores. On a busy machine it is more
exact than the seconds.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks import results_file
from tests.repositories import installed_opkit

ROOT = Path(__file__).resolve().parent.parent
COOKIECUTTER = [sys.executable, "-m", "cookiecutter", "--no-input"]
COMMAND = "python -m benchmarks.build --output benchmarks"
SCONS = [sys.executable, "-m", "SCons", "-s"]
NO_QEMU = "/nonexistent"  # as PATH

# Command, median time in seconds, and the baseline's median time.
Row = tuple[str, float, float | None]


@dataclass(frozen=True)
class FirstContact:
    """The time of a command that a user runs for the first time.

    Attributes:
        command: as the user types it.
        seconds: median time.
        processor: median time of all processors, in seconds.
        aim: the maximum time on two cores; None: no longer than before.
    """

    command: str
    seconds: float
    processor: float
    aim: float | None


def run(command: list[str], folder: Path, variables: Mapping[str, str] | None = None) -> str:
    """Run a command to its end and return its stdout."""
    environment = {**os.environ, "PYTHONPATH": installed_opkit(), **(variables or {})}
    # A user's Python caches its bytecode; machines for tests often disable that.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return subprocess.run(
        command, cwd=folder, env=environment, check=True, capture_output=True, text=True
    ).stdout


def median_seconds(runs: int, prepare: Callable[[], object], action: Callable[[], object]) -> float:
    """Return the median time of the action; each run is prepared outside the clock."""
    times = []
    for _ in range(runs):
        prepare()
        begin = time.perf_counter()
        action()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def one_file_template(folder: Path) -> Path:
    """Make the smallest template that cookiecutter renders."""
    (folder / "{{cookiecutter.op_name}}").mkdir(parents=True)
    (folder / "{{cookiecutter.op_name}}" / "README.md").write_text("{{cookiecutter.op_name}}\n")
    (folder / "cookiecutter.json").write_text(json.dumps({"op_name": "MyOperator"}))
    return folder


def generation_seconds(template: Path, work: Path, runs: int) -> float:
    """Return the time of one `cookiecutter TEMPLATE --no-input`."""
    repository = work / "MyOperator"

    def clear() -> None:
        shutil.rmtree(repository, ignore_errors=True)

    return median_seconds(runs, clear, lambda: run([*COOKIECUTTER, str(template)], work))


def compiler_commands(repository: Path) -> list[str]:
    """Return the compiler commands of `scons target=all`, as it prints them."""
    printed = run([*SCONS[:-1], "-n", "-Q", "-j1", "verbose=yes", "target=all"], repository)
    return [line for line in printed.splitlines() if " cc " in line]


def cold_seconds(repository: Path, command: list[str], runs: int) -> float:
    """Return the time of a build from nothing, the compiler's cache included."""
    cache = repository.parent / "compiler-cache"
    variables = {"ZIG_GLOBAL_CACHE_DIR": str(cache), "ZIG_LOCAL_CACHE_DIR": str(cache)}

    def clear() -> None:
        shutil.rmtree(cache, ignore_errors=True)
        shutil.rmtree(repository / "build", ignore_errors=True)
        for folder in ("x64", "aarch64", "armhf"):
            (repository / "build" / folder / "openvx").mkdir(parents=True)

    return median_seconds(runs, clear, lambda: run(command, repository, variables))


def measure(work: Path, runs: int, warm: bool) -> list[Row]:
    """Measure in a folder and return the times; `warm`: without cold builds."""
    small = generation_seconds(one_file_template(work / "template"), work, runs)
    ours = generation_seconds(ROOT, work, runs)
    repository = work / "MyOperator"
    run([*SCONS, "target=all"], repository)
    noop = median_seconds(runs, lambda: None, lambda: run([*SCONS, "target=all"], repository))
    rows: list[Row] = [
        ("generation, one-file template", small, None),
        ("generation, this template", ours, small),
        ("no-op `scons target=all`", noop, None),
    ]
    if not warm:
        shutil.rmtree(repository / "build")
        script = repository / "build.sh"
        script.write_text("set -e\n" + "\n".join(compiler_commands(repository)) + "\n")
        by_hand = cold_seconds(repository, ["sh", str(script)], runs)
        cold = cold_seconds(repository, [*SCONS, "target=all"], runs)
        rows.append(("cold build, commands by hand", by_hand, None))
        rows.append(("cold build, `scons target=all`", cold, by_hand))
    return rows


def processor_seconds() -> float:
    """Return the processor time of all ended child processes."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def timed(
    command: list[str], folder: Path, caches: Path, path: str = os.environ.get("PATH", "")
) -> tuple[float, float]:
    """Run a command with all caches in a folder; return its elapsed and its processor seconds."""
    variables = {
        "ZIG_GLOBAL_CACHE_DIR": str(caches / "zig"),
        "ZIG_LOCAL_CACHE_DIR": str(caches / "zig"),
        "XDG_CACHE_HOME": str(caches / "user"),
        "PATH": path,
    }
    begin, used = time.perf_counter(), processor_seconds()
    run(command, folder, variables)
    return time.perf_counter() - begin, processor_seconds() - used


def new_repository(folder: Path) -> Path:
    """Make a repository of the template, with the default answers."""
    folder.mkdir(parents=True)
    run([*COOKIECUTTER, str(ROOT)], folder)
    return folder / "MyOperator"


def first_contact_times(work: Path) -> dict[str, tuple[float, float]]:
    """Run each command of first contact once, in an empty folder; return their times."""
    one, two, three = (new_repository(work / name) for name in ("one", "two", "three"))
    demo = [sys.executable, "-m", "rknn_op", "demo", "--path", str(work / "demo")]
    return {
        "first `scons target=all`": timed([*SCONS, "target=all"], one, work / "caches of all"),
        "first `scons check`": timed([*SCONS, "check"], two, work / "caches", NO_QEMU),
        "first `scons check` in a second repository": timed(
            [*SCONS, "check"], three, work / "caches", NO_QEMU
        ),
        "`rknn-op demo`": timed(demo, ROOT, work / "caches of the demo"),
        "no-op `scons target=all`": timed([*SCONS, "target=all"], one, work / "caches of all"),
        "`scons check` again": timed([*SCONS, "check"], two, work / "caches", NO_QEMU),
        "`scons check` again, of the demo": timed(
            [*SCONS, "check", "quick=1"], work / "demo", work / "caches of the demo"
        ),
        "first `scons check` with qemu": timed([*SCONS, "check"], three, work / "caches"),
    }


AIMS = {
    "first `scons target=all`": 3.0,
    "first `scons check`": 6.0,
    "first `scons check` in a second repository": 2.5,
    "`rknn-op demo`": 5.0,
}


def first_contact(work: Path, runs: int) -> list[FirstContact]:
    """Return the median times of first contact."""
    measured = []
    for index in range(runs):
        with tempfile.TemporaryDirectory(dir=work, prefix=f"run-{index}-") as folder:
            measured.append(first_contact_times(Path(folder)))
    return [
        FirstContact(
            command,
            statistics.median(times[command][0] for times in measured),
            statistics.median(times[command][1] for times in measured),
            AIMS.get(command),
        )
        for command in measured[0]
    ]


def section(rows: list[Row], runs: int, firsts: list[FirstContact] | None = None) -> str:
    """Return the benchmark's section of RESULTS.md."""
    contact = [
        [
            first.command,
            "" if first.aim is None else f"at most {first.aim:.1f}",
            f"{first.seconds:.2f}",
            f"{first.processor:.2f}",
        ]
        for first in firsts or []
    ]
    first_table = f"""
### First contact

Empty caches, but for the last four lines; seconds, and seconds of all processors.

{results_file.table(["", "aim", "seconds", "processor"], contact)}
"""
    lines = [
        [name, f"{seconds:.2f}", f"{seconds / other:.2f} x" if other else ""]
        for name, seconds, other in rows
    ]
    return f"""\
## Generation and builds

    {COMMAND}

{results_file.machine()}; {results_file.medians(runs)}. The ratio
is to the line above.

{results_file.table(["", "seconds", "ratio"], lines)}
{first_table if firsts else ""}"""


def main() -> None:
    """Measure, print, and write with --output."""
    parser = results_file.parser("build", __doc__, runs=5)
    parser.add_argument(
        "--warm", action="store_true", help="without cold builds, which take most of the time"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(Path(folder), options.runs, options.warm)
        firsts = [] if options.warm else first_contact(Path(folder), options.runs)
    text = section(rows, options.runs, firsts)
    results_file.finish(options.output, "build", text)


if __name__ == "__main__":
    main()
