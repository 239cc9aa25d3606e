"""Measure the overhead of RKNN-Toolkit2's plugin over the math, in time and in bytes.

    python -m benchmarks.rknn2 [--runs 101] [--output benchmarks]

Prints the tables; with --output, writes them into RESULTS.md of that folder. The operator's
function is called as the board's runtime calls it, in turns with the bare math in one program.
"""

from __future__ import annotations

import argparse
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import results_file
from opkit.repository import load
from opkit.toolchains.flags import EXACT, optimization
from rknn_op.creation import wheel
from rknn_op.own_opkit import environment

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "operators"
COMMAND = "python -m benchmarks.rknn2 --output benchmarks"
ELEMENTS = 2**20
AIM = 1.05  # maximum ratio to the bare math
COPY = """\
name: Copy
inputs: {input: {type: VX_TYPE_TENSOR}}
outputs: {output: {type: VX_TYPE_TENSOR}}
"""
COMPILE = [*optimization("x64", "zig"), *EXACT, "-fomit-frame-pointer", "-fno-sanitize=undefined"]


@dataclass(frozen=True)
class Operator:
    """An operator's repository.

    Attributes:
        name: of the operator, for the table.
        folder: the repository.
    """

    name: str
    folder: Path

    @property
    def lower(self) -> str:
        """The operator's name in file names."""
        return self.folder.name.lower()


def run(command: list[str], folder: Path, env: Mapping[str, str] | None = None) -> str:
    """Run a command in a folder and return its stdout."""
    result = subprocess.run(
        command, cwd=folder, env=env, capture_output=True, text=True, check=False
    )
    if result.returncode != 0:
        raise SystemExit(f"{' '.join(command)}:\n{result.stdout}{result.stderr}")
    return result.stdout


def make(folder: Path, name: str) -> Operator:
    """Make the repository of an example, or of the operator `copy`, for this runtime alone."""
    source = EXAMPLES / name
    text = (source / f"{name}.yml").read_text() if source.is_dir() else COPY
    text = re.sub(r"^(kernels|target_platform|runtimes):.*\n", "", text, flags=re.MULTILINE)
    folder.mkdir()
    (folder / "op.yml").write_text(f"{text}runtimes: [rknn2]\n")
    run([sys.executable, "-m", "cookiecutter", "--no-input", str(ROOT), "config=op.yml"], folder)
    repository = next(path for path in folder.iterdir() if path.is_dir())
    for path in [*source.glob("*_compute.h"), *source.glob("*_reference.py")]:
        shutil.copy(path, repository)
    wheel.write_with_wheel(repository, load(repository))  # headers that these files include
    return Operator(name, repository)


def times(operator: Operator, runs: int) -> tuple[float, float]:
    """Return the median milliseconds of the plugin's function and of the math."""
    lower, program = operator.lower, operator.folder / "benchmark"
    headers = {"MATH": f"{lower}_compute.h", "CUSTOM_OP": f"rknn2/{lower}_custom_op.h"}
    command = [
        *(sys.executable, "-m", "ziglang", "cc", "-std=c11", *COMPILE),
        *(f"-DOPERATOR={lower}", *(f"-D{name}={path}" for name, path in headers.items())),
        *("-I.", "-Iinclude", "-Iinclude/librknnrt", str(ROOT / "benchmarks/rknn2.c")),
        *(f"rknn2/{lower}_custom_op.c", "-lm", "-o", str(program)),
    ]
    run(command, operator.folder)
    printed = run([str(program), str(ELEMENTS), str(runs)], operator.folder)
    turns = [tuple(map(float, line.split())) for line in printed.splitlines()]
    plugin, math = (statistics.median(column) / 1e6 for column in zip(*turns, strict=True))
    return plugin, math


def sizes(operator: Operator) -> list[int]:
    """Return the bytes of the plugin for aarch64 and for armhf."""
    found = []
    for abi in ("aarch64", "armhf"):
        command = [sys.executable, "-m", "SCons", "-s", "target=rk3588", f"abi={abi}"]
        run(command, operator.folder, environment(operator.folder))
        plugin = operator.folder / f"build/rk3588/librkcst_{operator.lower}.so"
        found.append(plugin.stat().st_size)
    return found


def section(runs: int, examples: Sequence[str], work: Path) -> str:
    """Measure, and return the benchmark's section of RESULTS.md."""
    names = ["copy", *examples]
    operators = {name: make(work / name, name) for name in names}
    timed = []
    for name in sorted({"copy", "exp"} & set(names)):
        plugin, math = times(operators[name], runs)
        timed.append([name, f"{plugin:.3f}", f"{math:.3f}", f"{plugin / math:.3f} x"])
    sized = [
        [name, *(f"{size:,}" for size in sizes(operator))] for name, operator in operators.items()
    ]
    return f"""\
## The plugin of RKNN-Toolkit2

    {COMMAND}

{results_file.machine()}; {results_file.medians(runs)}, in turns,
at {ELEMENTS:,} elements of float32. The aim: at most {AIM} x the math alone, which is called as a
function of its own; in the plugin compilers place it inside the callback.

{results_file.table(["", "plugin, ms", "math alone, ms", "ratio"], timed)}

The size of `librkcst_<op>.so`, in bytes:

{results_file.table(["", "aarch64", "armhf"], sized)}
"""


def main() -> int:
    """Measure, print, and write with --output."""
    names = sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir())
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.rknn2", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--runs", type=int, default=101, help="a time is the median of so many")
    parser.add_argument("--examples", nargs="+", default=names, help="the operators besides `copy`")
    parser.add_argument("--output", type=Path, help="the folder of RESULTS.md")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        text = section(options.runs, options.examples, Path(folder))
    print(text)
    if options.output:
        print(f"written: {results_file.write_section(options.output, 'rknn2', text)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
