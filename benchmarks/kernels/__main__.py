"""Measure the speed of the examples' CPU kernels on x64, against the limits of the machine.

    python -m benchmarks.kernels [--runs 9] [--sizes 1000 1048576] [--output benchmarks]
    python -m benchmarks.kernels --parts elementwise [--functions exp tanh] [--output benchmarks]

Prints tables; with --output, writes them into RESULTS.md of that folder, and kernels.svg beside it.

A time is that of the whole kernel call: halves read from the device, converted, computed, converted
and written, on the host runtime. It is compared, within one run and in turn, with

* memcpy, reading and writing together as many bytes as the kernel reads and writes on the device;
* numpy: the example's reference, with conversions from and to half;
* scalar: the same kernel, but with conversions element by element in plain C (and Exp and
  TruncateDiv with the plain loop), compiled with -O0, as the vendor's makefile does, and with -O2;
  not vectorized, as GCC 6 leaves loops at -O2.

The conversions alone are compared with memcpy of as many bytes; for the boards' processors,
llvm-mca counts their cycles.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from benchmarks import calls, results_file
from benchmarks.kernels import cycles, elementwise, plot
from benchmarks.kernels.candidates import (
    BASELINE_O0,
    BASELINE_O2,
    EXAMPLES,
    MEMCPY,
    NUMPY,
    OURS,
    TO_FLOATS,
    TO_HALVES,
    Benchmark,
    Loops,
    load_examples,
)
from benchmarks.kernels.programs import compiler_version

AIM_SIZE = 1 << 20
PARTS = ("examples", "elementwise")
SIZES = (10**3, 10**4, 10**5, AIM_SIZE, 10**7)
COMMAND = "python -m benchmarks.kernels --output benchmarks"

# Benchmark, baseline, ratio at AIM_SIZE: the minimum of the baseline's time / opkit's; for memcpy,
# the maximum of opkit's time / memcpy's.
AIMS = (
    (TO_FLOATS, MEMCPY, 2.5),
    (TO_HALVES, MEMCPY, 2.5),
    ("truncate_div", BASELINE_O0, 15),
    ("truncate_div", BASELINE_O2, 4),
    ("exp", BASELINE_O0, 4),
    ("exp", BASELINE_O2, 1.5),
)

Times = dict[str, dict[int, dict[str, float]]]


def measure(benchmarks: Iterable[Benchmark], runs: int) -> Times:
    """Run the candidates of each benchmark in turn; return medians, in seconds per element."""
    times: Times = {}
    for benchmark in benchmarks:
        seconds: dict[str, list[float]] = {name: [] for name in benchmark.candidates}
        for _ in range(runs):
            for name, candidate in benchmark.candidates.items():
                seconds[name].append(candidate() / benchmark.elements)
        medians = {name: statistics.median(values) for name, values in seconds.items()}
        times.setdefault(benchmark.name, {})[benchmark.elements] = medians
    return times


def times_table(times: Times) -> str:
    """Return the table of all times: opkit's, and the ratios of the others to it."""
    others = [
        name
        for name in (MEMCPY, NUMPY, BASELINE_O2, BASELINE_O0)
        if any(name in medians for by_size in times.values() for medians in by_size.values())
    ]
    ratios = [f"{OURS} / {name}" if name == MEMCPY else f"{name} / {OURS}" for name in others]
    head = ["", "elements", "ns per element", *ratios]
    rows = [
        [
            *(benchmark, f"{size:,}", f"{medians[OURS] * 1e9:.2f}"),
            *(f"{_factor(medians, name):.1f}" for name in others),
        ]
        for benchmark, by_size in times.items()
        for size, medians in sorted(by_size.items())
    ]
    return results_file.table(head, rows)


def _factor(medians: dict[str, float], other: str) -> float:
    """Return opkit's speedup over another candidate; for memcpy, the limit, its slowdown."""
    if other == MEMCPY:
        return medians[OURS] / medians[other]
    return medians[other] / medians[OURS]


def aims_table(times: Times) -> str:
    """Return the table of aims and whether they hold; empty unless AIM_SIZE was measured."""
    rows = []
    for benchmark, other, limit in AIMS:
        medians = times.get(benchmark, {}).get(AIM_SIZE)
        if medians is not None:
            factor = _factor(medians, other)
            slower = other == MEMCPY
            holds = factor <= limit if slower else factor >= limit
            aim = (
                f"at most {limit} x {other}"
                if slower
                else f"at least {limit} x faster than {other}"
            )
            rows.append([benchmark, aim, f"{factor:.1f} x", "yes" if holds else "**no**"])
    return results_file.table(["", "aim", "measured", "holds"], rows) if rows else ""


def cycles_section(folder: Path) -> str:
    """Return the cycles per element on the boards' processors, or the reason for their absence."""
    mca = cycles.program()
    if mca is None:
        return "Not counted: there is no llvm-mca; `apt-get install llvm`."
    counted = {
        processor: cycles.cycles_per_element(mca, processor, folder)
        for processor in cycles.PROCESSORS
    }
    rows = [
        [processor.name, processor.model, f"{row[TO_FLOATS]:.2f}", f"{row[TO_HALVES]:.2f}"]
        for processor, row in counted.items()
    ]
    table = results_file.table(["compiled for", "LLVM's model of", TO_FLOATS, TO_HALVES], rows)
    return (
        f"{table}\n\n{cycles.version(mca)}, {compiler_version('aarch64')}. All data in the first "
        "cache.\nLLVM times cortex-a35 like cortex-a53. It has no model of cortex-a7 that llvm-mca "
        "reads;\ncortex-a9's NEON is as wide, and takes instructions in order, too."
    )


def section(times: Times, cycles_text: str, runs: int, plotted: bool) -> str:
    """Return the benchmark's section of RESULTS.md."""
    conversions = {name: times[name] for name in (TO_FLOATS, TO_HALVES)}
    kernels = {name: times[name] for name in times if name not in conversions}
    picture = "![Time per element by number of elements](kernels.svg)\n\n" if plotted else ""
    aims = aims_table(times)
    aims = f"### Aims, at 2^20 elements\n\n{aims}\n\n" if aims else ""
    return f"""\
## CPU kernels on x64

    {COMMAND}

{results_file.machine()}, numpy {np.__version__},
{compiler_version("x64")}; {results_file.medians(runs)}, in which all took turns.

`this` is the whole call of the kernel that scons builds, on the host runtime: halves read,
converted, computed, converted, written. `memcpy` moves as many bytes; `numpy` is the reference;
`scalar` is a kernel that converts one element at a time in plain C, without F16C, compiled with
`-O0`, as the vendor's makefile does, and with `-O2`. Columns with a `/` are ratios of times.
At 10^7 elements the tensors are larger than the caches.

{aims}{picture}### Whole kernels

{times_table(kernels)}

### Conversions alone

{times_table(conversions)}

### Conversions on the boards: cycles per element, computed by llvm-mca

{cycles_text}
"""


def main() -> int:
    """Measure, print, and write with --output."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.kernels",
        description=(__doc__ or "").splitlines()[0],
    )
    parser.add_argument("--runs", type=int, default=9, help="a time is the median of so many")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="numbers of elements")
    parser.add_argument(
        "--examples", nargs="+", choices=EXAMPLES, default=EXAMPLES, metavar="NAME", help="which"
    )
    parser.add_argument("--output", type=Path, help="the folder of RESULTS.md and kernels.svg")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--functions", nargs="+", choices=calls.UNARY, default=calls.UNARY)
    options = parser.parse_args()
    # One core: a call has one thread, and no time is that of a move to another core.
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    if "elementwise" in options.parts:
        with tempfile.TemporaryDirectory() as name:
            text = elementwise.section(options.functions, options.runs, Path(name), COMMAND)
        _show("elementwise", text, options.output)
    if "examples" in options.parts:
        _examples(options)
    return 0


def _show(name: str, text: str, output: Path | None) -> None:
    print(text)
    if output:
        print(f"written: {results_file.write_section(output, name, text)}")


def _examples(options: argparse.Namespace) -> None:
    """Measure the examples' kernels and the conversions."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        loops = Loops(folder)
        examples = load_examples(tuple(options.examples), folder, loops)
        benchmarks = (
            benchmark
            for size in options.sizes
            for benchmark in (
                *(example.benchmark(size) for example in examples),
                *loops.benchmarks(size),
            )
        )
        times = measure(benchmarks, options.runs)
        cycles_text = cycles_section(folder)
    plotted = False
    if options.output:
        options.output.mkdir(parents=True, exist_ok=True)
        plotted = plot.save(times, options.output / "kernels.svg")
    text = section(times, cycles_text, options.runs, plotted)
    if options.output and not plotted:
        print("no plot: there is no matplotlib; `pip install matplotlib`")
    _show("kernels", text, options.output)


if __name__ == "__main__":
    raise SystemExit(main())
