"""Measure how much faster an operator is in two threads, by the call of its plugin.

    python -m benchmarks.threads [--runs 301] [--output benchmarks]

Prints the table; with --output, writes it into RESULTS.md of that folder. Both plugins compute the
same tensors in turns, in one process. Other processes only make a run slower, so the minimum of
many short runs counts.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks import results_file
from opkit import toolchains
from opkit.toolchains.abi import ABIS
from tests.repositories import Repository, generate

ROOT = Path(__file__).resolve().parent.parent
COMMAND = "python -m benchmarks.threads --output benchmarks"
ELEMENTS = 2**22
AIM = 1.8  # minimum ratio of one thread's time to that of two
DESCRIPTION = """\
name: Curve
runtimes: [rknn2]
threads: {threads}
inputs: {{x: {{type: VX_TYPE_TENSOR, dtype: float32}}}}
outputs: {{y: {{type: VX_TYPE_TENSOR, same_as: x}}}}
"""
MATH = """\
#ifndef CURVE_COMPUTE_H
#define CURVE_COMPUTE_H

#include "generated/curve.h"
#include "include/opkit/compute/float_bits.h"
#include "include/opkit/compute/parallel.h"

struct curve_loop {
    const float *x;
    float *y;
};

/* exp by a power of 2 and a polynomial: a loop of it has vector instructions. */
static inline float curve_exp(float x)
{
    const float scaled = x * 1.44269504F;
    const float whole = (float)(int32_t)(scaled + (scaled < 0 ? -0.5F : 0.5F));
    const float rest = (scaled - whole) * 0.693147181F;
    float sum = 1.0F / 5040;

    sum = sum * rest + 1.0F / 720;
    sum = sum * rest + 1.0F / 120;
    sum = sum * rest + 1.0F / 24;
    sum = sum * rest + 1.0F / 6;
    sum = sum * rest + 0.5F;
    sum = sum * rest + 1;
    sum = sum * rest + 1;
    return sum * opkit_float_from_bits((uint32_t)((int32_t)whole + 127) << 23);
}

static void curve_part(const void *context, size_t begin, size_t end)
{
    const struct curve_loop *loop = (const struct curve_loop *)context;
    const float *x = loop->x;
    float *y = loop->y;

    for (size_t i = begin; i < end; i++) {
        y[i] = curve_exp(x[i]);
    }
}

static const char *curve_compute(const struct curve_inputs *inputs,
                                 const struct curve_params *params, struct curve_outputs *outputs)
{
    const struct curve_loop loop = {inputs->x.float32, outputs->y.float32};

    (void)params;
    opkit_parallel_for(outputs->y.size, 4096, curve_part, &loop);
    return NULL;
}

#endif
"""


def build(folder: Path, threads: int) -> Path:
    """Build an operator's plugin for this machine, as a user does, and return it."""
    folder.mkdir()
    repository: Repository = generate(folder, DESCRIPTION.format(threads=threads))
    (repository.path / "curve_compute.h").write_text(MATH)
    built = "build/rknn2/x64/librkcst_curve.so"
    repository.scons(built)
    return repository.path / built


def program(folder: Path, include: Path) -> Path:
    """Compile the program that times two plugins."""
    compiler = toolchains.find("zig", ABIS["x64"])
    flags = ["-O2", "-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{include}", "-ldl"]
    source = ROOT / "benchmarks/threads.c"
    command = [*compiler.command, *compiler.flags, *flags, source, "-o", folder / "threads"]
    subprocess.run([*map(str, command)], check=True)
    return folder / "threads"


def times(folder: Path, runs: int) -> tuple[float, float]:
    """Return the minimum nanoseconds of a call with one thread, and with two."""
    plugins = [build(folder / f"threads{count}", count) for count in (1, 2)]
    made = program(folder, plugins[0].parents[3] / "include/librknnrt")
    result = subprocess.run(
        [*map(str, (made, ELEMENTS, runs, *plugins))],
        env={**os.environ, "LD_LIBRARY_PATH": str(plugins[0].parent / "stub")},
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode != 0:
        raise SystemExit(f"{made}: status {result.returncode}\n{result.stderr}")
    lines = [line.split() for line in result.stdout.splitlines()]
    one, two = (min(float(line[index]) for line in lines) for index in (0, 1))
    return one, two


def section(one: float, two: float, runs: int) -> str:
    """Return the section for RESULTS.md, of the nanoseconds with one thread and with two."""
    ratio = one / two
    cells = [f"{one / 1e6:.2f} ms", f"{two / 1e6:.2f} ms", f"{ratio:.2f} x"]
    holds = "yes" if ratio >= AIM else "no"
    head = ["", "1 thread", "2 threads", "faster", "aim", "holds"]
    return f"""\
## Threads

    {COMMAND}

{results_file.machine()}; minima of {runs} runs in turns.
{ELEMENTS:,} elements of float32, by the plugin's call for RKNN-Toolkit2.

{results_file.table(head, [["exp", *cells, f"at least {AIM} x", holds]])}
"""


def main() -> None:
    """Measure, print, and write the results if requested."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.threads", description=__doc__)
    parser.add_argument("--runs", type=int, default=301)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    if len(os.sched_getaffinity(0)) < 2:
        sys.exit("error: this process has a single processor; two threads need two")
    with tempfile.TemporaryDirectory() as name:
        one, two = times(Path(name), options.runs)
    text = section(one, two, options.runs)
    print(text)
    if options.output:
        print(results_file.write_section(options.output, "threads", text))


if __name__ == "__main__":
    main()
