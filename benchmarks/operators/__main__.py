"""Measure the library's operators of ONNX against onnxruntime, on one core.

    python -m benchmarks.operators [--operators DFT] [--vectors AVX-512] [--runs 9]
                                   [--output benchmarks] [--record]
    python -m benchmarks.operators --shapes [--operators DFT] ...

Prints a table; with --output, writes it into RESULTS.md of that folder. With --record, writes the
facts about the operators into operators/measured.yml, from where the READMEs of new repositories
take them.

A time is that of the CPU kernel that PPLNN calls, in the harness and with the flags of a product;
of onnxruntime, that of a run with one thread, whose inputs and outputs are bound. From each, the
time of a run of the same program on one element is left out: a copy in onnxruntime, Neg of ours.
The programs take turns, and the minimum counts: noise only adds. The facts are of the first of an
operator's calls.

The second form measures all operators on the same shapes, and on a real model's, the first of an
operator's calls; with --output, it draws a picture, too.

Both sides see the same vectors, by default AVX2, which nearly all PCs have. With --vectors native
onnxruntime also sees AMX, which no kernel here takes.
"""

from __future__ import annotations

import importlib
import os
import tempfile
from pathlib import Path

from benchmarks import results_file, vectors


def main() -> None:
    """Measure, print, and write with --output."""
    parser = results_file.parser("operators", __doc__, runs=9)
    parser.add_argument("--operators", nargs="+", default=[])
    parser.add_argument("--shapes", action="store_true", help="measure the common shapes")
    vectors.add_option(parser)
    parser.add_argument("--record", action="store_true", help="write operators/measured.yml")
    options = parser.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    vectors.hide(options.vectors)
    # It imports onnxruntime, which then looks for vectors.
    measurement = importlib.import_module("benchmarks.operators.measurement")

    known = measurement.measured_operators()
    if unknown := {*options.operators} - {*known}:
        parser.error(f"unknown operators {sorted(unknown)}; known are {', '.join(known)}")
    chosen = [known[name] for name in options.operators or known]
    settings = measurement.Settings(options.vectors, options.runs, options.output)
    write = measurement.write_shapes if options.shapes else measurement.write_calls
    with tempfile.TemporaryDirectory() as folder:
        results = write(chosen, measurement.nothing_of_ours(Path(folder)), settings)
    if options.record:
        measurement.record(results, options.vectors)


if __name__ == "__main__":
    main()
