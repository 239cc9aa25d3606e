"""Compare the compiler's flags of optimization for every ABI, on examples and others.

    python -m benchmarks.flags [--abis x64 armhf] [--operators exp] [--runs 5] [--output benchmarks]

Prints tables; with --output, writes them into RESULTS.md of that folder. opkit's choice is
opkit/toolchains/flags.py.

On x64 a number is the time of a call on 2^20 floats: the minimum of several processes, in which the
flags take turns. On other ABIs qemu counts the instructions of a call on 2^12 floats, and llvm-mca
tells the cycles of a board's processor (benchmarks/board_cycles.py).
"""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from elftools.elf.elffile import ELFFile

from benchmarks import board_cycles, calls, instructions, results_file
from benchmarks.programs import compiler_version
from opkit.description.parser import PC
from opkit.toolchains.abi import ABIS

COMMAND = "python -m benchmarks.flags --output benchmarks"
OPERATORS = (
    *("exp", "truncate_div", "resize_area", "decode_boxes"),
    *("row_mean", "layer_norm", "instance_norm"),
)
_EXACT = ("-O2", "-ffp-contract=off")
_INTERLEAVE = ("-mllvm", "-force-vector-interleave=2")
CANDIDATES = {
    "no unrolling": ("-O2", "-fno-unroll-loops"),
    "-O2": ("-O2",),
    "-O3": ("-O3",),
    "contract=off": _EXACT,
    "off, interleave 2": (*_EXACT, *_INTERLEAVE),
    "off, interleave 4": (*_EXACT, "-mllvm", "-force-vector-interleave=4"),
    "off, no unrolling, interleave 2": (*_EXACT, "-fno-unroll-loops", *_INTERLEAVE),
}
"""Name -> flags. The first one is the baseline of all ratios."""
BASELINE = next(iter(CANDIDATES))
LARGE, SMALL = 1024, 64  # the roots of the counts of elements
CALLS = 9  # in a process; the fastest counts


@dataclass(frozen=True)
class Result:
    """An operator with one candidate's flags on one ABI.

    Attributes:
        costs: measure -> nanoseconds, instructions or cycles per element.
        text: the bytes of the operator's code.
        output: the bits of the outputs' elements.
    """

    costs: dict[str, float]
    text: int
    output: np.ndarray[tuple[int], np.dtype[np.uint32]]


Results = dict[str, dict[str, Result]]
"""Operator -> candidate -> result."""


def measured(abi: str, operators: Sequence[str], runs: int, folder: Path) -> Results:
    """Compile and measure all candidates on an ABI."""
    results: Results = {}
    for operator in operators:
        work = folder / operator
        spec = calls.write(operator, work)
        calls.write_call(spec, calls.call_of(operator, SMALL), work)
        programs = {
            name: calls.compiled(work, abi, flags, f"{abi}-{index}")
            for index, (name, flags) in enumerate(CANDIDATES.items())
        }
        outputs = {
            name: np.frombuffer(program.output("bits"), np.uint32)
            for name, program in programs.items()
        }
        costs = (
            _times(operator, runs, work)
            if abi == PC
            else {name: _counts(abi, program, work) for name, program in programs.items()}
        )
        results[operator] = {
            name: Result(costs[name], text_size(program.path.with_suffix(".o")), outputs[name])
            for name, program in programs.items()
        }
    return results


def _times(operator: str, runs: int, work: Path) -> dict[str, dict[str, float]]:
    """Return candidate -> nanoseconds per element on this PC."""
    spec = calls.write(operator, work)
    calls.write_call(spec, calls.call_of(operator, LARGE), work)
    programs = {
        name: calls.compiled(work, PC, flags, f"large-{index}")
        for index, (name, flags) in enumerate(CANDIDATES.items())
    }
    fastest = dict.fromkeys(programs, math.inf)
    for _ in range(runs):
        for name, program in programs.items():
            fastest[name] = min(fastest[name], float(program.output("time", str(CALLS))))
    return {name: {"ns": value / LARGE**2} for name, value in fastest.items()}


def _counts(abi: str, program: calls.Program, work: Path) -> dict[str, float]:
    """Return the instructions per element, and the cycles on the ABI's processors."""
    blocks = instructions.executed(program.command, program.path, ["call"], work / "log")
    if blocks is None:
        return {}
    counts: dict[str, float] = {"instructions": instructions.total(blocks)}
    for processor in board_cycles.PROCESSORS:
        cycles = (
            board_cycles.cycles(program.path, blocks, processor) if processor.abi == abi else None
        )
        if cycles is not None:
            counts[processor.name] = cycles
    return {name: count / SMALL**2 for name, count in counts.items()}


def text_size(path: Path) -> int:
    """Return the bytes of the operator's code in an object of call.c."""
    with path.open("rb") as file:
        return sum(
            section["sh_size"]
            for section in ELFFile(file).iter_sections()
            if section.name.startswith(".text.") and section.name != ".text.main"
        )


def abi_section(abi: str, results: Results, exact: Results) -> str:
    """Return the table of an ABI: a row for each operator and measure.

    Args:
        abi: its name.
        results: of the ABI.
        exact: of x64, to compare the outputs with.
    """
    rows = []
    measures = list(dict.fromkeys(m for row in results.values() for m in row[BASELINE].costs))
    for measure in measures:
        ratios: dict[str, list[float]] = {name: [] for name in CANDIDATES}
        for operator, row in results.items():
            found = {name: row[name].costs.get(measure) for name in CANDIDATES}
            rows.append([f"{operator}, {measure}", *map(_decimal, found.values())])
            for name, value in found.items():
                if value and found[BASELINE]:
                    ratios[name].append(value / (found[BASELINE] or value))
        rows.append([f"all, {measure}", *(_ratio(values) for values in ratios.values())])
    sizes = [sum(row[name].text for row in results.values()) for name in CANDIDATES]
    rows.append(["code, bytes", *(f"{size:,}" for size in sizes)])
    shares = [_different(results, exact, name) for name in CANDIDATES]
    rows.append(["results that differ from x64's", *(f"{share:.2%}" for share in shares)])
    return f"### {abi}\n\n{results_file.table(['', *CANDIDATES], rows)}\n"


def _decimal(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _ratio(values: Sequence[float]) -> str:
    """Return the geometric mean of ratios to the baseline."""
    return f"{math.exp(sum(map(math.log, values)) / len(values)):.2f} x" if values else "-"


def _different(results: Results, exact: Results, name: str) -> float:
    """Return the share of elements with other bits than on x64 with the plain flags."""
    pairs = [(row[name].output, exact[operator]["-O2"].output) for operator, row in results.items()]
    different = sum(int(np.count_nonzero(ours != theirs)) for ours, theirs in pairs)
    return different / sum(len(theirs) for _, theirs in pairs)


def section(abis: Sequence[str], operators: Sequence[str], runs: int) -> str:
    """Measure, and return the benchmark's section of RESULTS.md."""
    with tempfile.TemporaryDirectory() as name:
        results = {
            abi: measured(abi, operators, runs, Path(name, abi))
            for abi in dict.fromkeys((PC, *abis))
        }
    tables = "\n".join(abi_section(abi, results[abi], results[PC]) for abi in abis)
    flags = "; ".join(f"`{name}`: `{' '.join(flags)}`" for name, flags in CANDIDATES.items())
    return f"""\
## Flags of optimization

    {COMMAND}

{results_file.machine()}, {compiler_version(PC)}.

On x64, nanoseconds per element at 2^20 floats: the minimum of {runs} processes in turn with {CALLS}
calls each, on one core. On other ABIs instructions per element at 2^12 floats, counted by qemu, and
cycles per element of the named processor, from qemu's counts and llvm-mca's times of blocks. `all`
is the geometric mean of the ratios to the first column. Flags: {flags}.

{tables}"""


def main() -> None:
    """Measure, print, and write with --output."""
    parser = results_file.parser("flags", __doc__, runs=5)
    parser.add_argument("--abis", nargs="+", choices=ABIS, default=tuple(ABIS))
    parser.add_argument("--operators", nargs="+", choices=OPERATORS, default=OPERATORS)
    options = parser.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    text = section(options.abis, options.operators, options.runs)
    results_file.finish(options.output, "flags", text)


if __name__ == "__main__":
    main()
