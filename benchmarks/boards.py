"""Compare code with and without vectors on the boards' processors.

    python -m benchmarks.boards [--operators scalar_exp ...] [--output benchmarks]

Prints the tables; with --output, writes them into RESULTS.md of that folder. qemu counts the
instructions, llvm-mca tells the cycles (benchmarks/board_cycles.py). `without` is compiled with
-fno-vectorize -fno-slp-vectorize, and loops do not ask for vectors. The last table has the same
operators in halves, with `fp16_math`.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks import board_cycles, calls, instructions, results_file
from benchmarks.programs import compiler_version
from opkit.toolchains.flags import EXACT, optimization

COMMAND = "python -m benchmarks.boards --output benchmarks"
OPERATORS = tuple(f"scalar_{name}" for name in calls.UNARY)
ROOT = 64  # of the count of elements
AIM = 1 / 3
HALVES = ("-DOPKIT_FP16_MATH",)
"""The flag for arithmetic of halves, as if op.yml of a kernel said `fp16_math`."""
WITHOUT = ("-fno-vectorize", "-fno-slp-vectorize", "-DOPKIT_VECTORIZE=")


@dataclass(frozen=True)
class Target:
    """An instruction set: its ABI, and zig's `-mcpu`, empty: that of the ABI."""

    abi: str
    cpu: str = ""


TARGETS = {
    "aarch64": Target("aarch64"),
    "armhf": Target("armhf"),
    "rv64gcv": Target("riscv64", "baseline_rv64+v"),
}

Counts = dict[str, tuple[float | None, float | None]]
"""Measure -> per element with vectors, and without; None: qemu failed."""


def counted(
    target: Target,
    operator: str,
    folder: Path,
    fast: tuple[str, ...] = (),
    slow: tuple[str, ...] = WITHOUT,
) -> Counts:
    """Return instructions and cycles of a call, per element.

    Args:
        target: the instruction set.
        operator: its name.
        folder: an empty folder.
        fast: the flags of the first program.
        slow: the flags of the second one.
    """
    spec = calls.write(operator, folder)
    calls.write_call(spec, calls.call_of(operator, ROOT), folder)
    flags = (*optimization(target.abi, "zig"), *EXACT)
    measured = []
    for name, options in (("with", fast), ("without", slow)):
        program = calls.compiled(folder, target.abi, (*flags, *options), name, target.cpu)
        blocks = instructions.executed(program.command, program.path, ["call"], folder / "log")
        found: dict[str, float | None] = {"instructions": None}
        if blocks is not None:
            found["instructions"] = instructions.total(blocks) / ROOT**2
            for processor in board_cycles.PROCESSORS:
                if processor.abi == target.abi and (processor.has_halves or fast != HALVES):
                    cycles = board_cycles.cycles(program.path, blocks, processor)
                    found[processor.name] = None if cycles is None else cycles / ROOT**2
        measured.append(found)
    first, second = measured
    return {name: (value, second.get(name)) for name, value in first.items()}


def row(operator: str, counts: Counts) -> list[str]:
    """Return the row of an operator: with / without of each measure."""
    return [operator.removeprefix("scalar_"), *(_pair(*pair) for pair in counts.values())]


def _pair(fast: float | None, plain: float | None) -> str:
    if fast is None or plain is None:
        return "-"
    holds = "" if fast <= AIM * plain else " (**no**)"
    return f"{fast:.1f} / {plain:.1f}: 1/{plain / fast:.1f}{holds}"


def section(operators: tuple[str, ...]) -> str:
    """Measure, and return the benchmark's section of RESULTS.md."""
    tables = []
    for name, target in TARGETS.items():
        with tempfile.TemporaryDirectory() as folder:
            found = {each: counted(target, each, Path(folder, each)) for each in operators}
        head = ["", *next(iter(found.values()))]
        rows = [row(operator, counts) for operator, counts in found.items()]
        tables.append(f"### {name}\n\n{results_file.table(head, rows)}\n")
    tables.append(_of_halves(operators))
    models = "; ".join(f"{p.name}: LLVM's {p.model}" for p in board_cycles.PROCESSORS)
    return f"""\
## Vectors on the boards

    {COMMAND}

{compiler_version("aarch64")}. Per element of float32, at 2^12 elements: with / without vectors,
and the quotient. The aim is at most 1/3; `no`: it does not hold. Instructions are counted by qemu;
cycles are those of llvm-mca, with all data in the first cache ({models}).

{chr(10).join(tables)}"""


def _of_halves(operators: tuple[str, ...]) -> str:
    """Return the table of the operators with a function of halves."""
    rows, head = [], ["", "instructions"]
    for operator in operators:
        with tempfile.TemporaryDirectory() as folder:
            if not calls.write(operator, Path(folder)).fp16_math:
                continue
            found = counted(TARGETS["aarch64"], operator, Path(folder), HALVES, ())
        head = ["", *found]
        cells = [f"{a:.1f} / {b:.1f}: {a / b:.2f}" for a, b in found.values() if a and b]
        rows.append([operator.removeprefix("scalar_"), *cells])
    return f"""\
### aarch64, in halves

Floats in and out: in halves / in floats, and the quotient.

{results_file.table(head, rows)}
"""


def main() -> None:
    """Measure, print, and write with --output."""
    parser = results_file.parser("boards", __doc__)
    parser.add_argument("--operators", nargs="+", choices=OPERATORS, default=OPERATORS)
    options = parser.parse_args()
    text = section(tuple(options.operators))
    results_file.finish(options.output, "boards", text)


if __name__ == "__main__":
    main()
