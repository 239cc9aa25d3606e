"""How long generation and builds take: whole processes, medians, as a Markdown table.

    python benchmarks/build.py [--runs 5]

What each line is compared with:

* generation: `cookiecutter` with this template, against a template of one file and no hook;
* cold build: `scons target=all` in a new repository with an empty compiler cache, against the very
  compiler commands that it runs, one after the other from a shell, with an empty cache too;
* no-op build: `scons` when everything is made.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COOKIECUTTER = [sys.executable, "-m", "cookiecutter", "--no-input"]
SCONS = [sys.executable, "-m", "SCons", "-s"]


def run(command: list[str], folder: Path, variables: Mapping[str, str] | None = None) -> str:
    """Run a command to its end and return what it printed."""
    environment = {**os.environ, **(variables or {})}
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
    made = work / "MyOperator"

    def clear() -> None:
        shutil.rmtree(made, ignore_errors=True)

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


def main() -> int:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        small = generation_seconds(one_file_template(work / "template"), work, runs)
        ours = generation_seconds(ROOT, work, runs)
        repository = work / "MyOperator"
        run([*SCONS, "target=all"], repository)
        noop = median_seconds(runs, lambda: None, lambda: run([*SCONS, "target=all"], repository))
        shutil.rmtree(repository / "build")
        script = repository / "build.sh"
        script.write_text("set -e\n" + "\n".join(compiler_commands(repository)) + "\n")
        by_hand = cold_seconds(repository, ["sh", str(script)], runs)
        cold = cold_seconds(repository, [*SCONS, "target=all"], runs)
    rows = [
        ("generation, one-file template", small, ""),
        ("generation, this template", ours, f"{ours / small:.2f} x"),
        ("no-op `scons target=all`", noop, ""),
        ("cold build, commands by hand", by_hand, ""),
        ("cold build, `scons target=all`", cold, f"{cold / by_hand:.2f} x"),
    ]
    print(
        f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}; ",
        end="",
    )
    print(f"medians of {runs} runs\n\n| what | seconds | ratio |\n| --- | --- | --- |")
    for what, seconds, ratio in rows:
        print(f"| {what} | {seconds:.2f} | {ratio} |")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
