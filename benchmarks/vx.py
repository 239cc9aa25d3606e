"""Measure the compilation of `.vx` files for the emulator, as a Markdown table.

    python -m benchmarks.vx [--runs 5] [--kernels 1 150] [--output benchmarks]

Prints the table; with --output, writes it into RESULTS.md of that folder. The prelude is
precompiled before; nothing else is in the cache. One kernel of each file runs. The aims are for an
idle machine; a processor time far below the elapsed time shows other load.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path

from benchmarks import results_file
from opkit.runtimes.rknn.vx.pc_compiler import compile_vx

COMMAND = "python -m benchmarks.vx --output benchmarks"
AIMS = {1: 0.5, 150: 8.0}  # kernels in a file -> maximum seconds
_UNIFORM = "_viv_uniform VXC_512Bits table;\n"
_KERNEL = """
__kernel void swish_{number}(image2d_array_t input, image2d_array_t output)
{{
    int4 at = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);
    vxc_short8 elements;
    vxc_half8 halves;
    float4 low;
    half4 result;
    VXC_ReadImage2DArray(elements, input, at, 0, VXC_MODIFIER(0, 7, 0, VXC_RM_TowardZero, 0));
    _viv_asm(COPY, halves, elements, 16);
    VXC_DP4x4(low, halves, halves, VXC_MODIFIER(0, 3, 0, VXC_RM_TowardZero, 0), table);
    low /= 1.0f + exp(-low);
    _viv_asm(CONV_RTE, result, low);
    VXC_DP2x8(halves, result, result, VXC_MODIFIER(0, 7, 0, VXC_RM_TowardZero, 0), table);
    _viv_asm(COPY, elements, halves, 16);
    VXC_WriteImage2DArray(output, at, elements, VXC_MODIFIER(0, 3, 0, VXC_RM_TowardZero, 0));
}}
"""


def seconds(folder: Path, kernels: int, run: int) -> tuple[float, float]:
    """Compile a file that is not in the cache, and return the time by two clocks.

    Returns:
        Elapsed seconds, and seconds of the processor.
    """
    source = folder / f"kernels_{kernels}_{run}.vx"
    source.write_text(_UNIFORM + "".join(_KERNEL.format(number=i) for i in range(kernels)))
    begin, processor = time.perf_counter(), _processor()
    compile_vx(source, folder / "cache", kernels=["swish_0"])
    return time.perf_counter() - begin, _processor() - processor


def _processor() -> float:
    """Return the processor time of this process and of its ended children."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def report(counts: list[int], runs: int) -> str:
    """Return the section of RESULTS.md."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        seconds(folder, 1, -1)  # the prelude
        for count in counts:
            times = [seconds(folder, count, run) for run in range(runs)]
            median, processor = (statistics.median(each) for each in zip(*times, strict=True))
            aim = AIMS.get(count)
            aims = ["", ""]
            if aim is not None:
                aims = [f"at most {aim}", "yes" if median <= aim else "no"]
            rows.append([str(count), f"{median:.2f}", f"{processor:.2f}", *aims])
    return (
        f"## Compilation of .vx files\n\n    {COMMAND}\n\n"
        f"{results_file.machine()};\n{results_file.medians(runs)}. The prelude is precompiled.\n\n"
        + results_file.table(["kernels in the file", "s", "processor s", "aim", "holds"], rows)
    )


def main() -> int:
    """Measure, print, and write with --output."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.vx", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--runs", type=int, default=5, help="a time is the median of so many")
    parser.add_argument(
        "--kernels", type=int, nargs="+", default=list(AIMS), help="how many a file has"
    )
    parser.add_argument("--output", type=Path, help="the folder of RESULTS.md")
    options = parser.parse_args()
    text = report(options.kernels, options.runs)
    print(text)
    if options.output:
        print(f"written: {results_file.write_section(options.output, 'vx', text)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
