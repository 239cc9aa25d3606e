"""Measure the elementary functions of opkit/compute/math.h on x64: speed, and error in ulp.

    python -m benchmarks.math [NAMES] [--runs 21] [--sleef libsleef.so] [--output benchmarks]
    python -m benchmarks.math --exhaustive [NAMES] [--stride 1] [--output benchmarks]

The first form prints the times of loops over floats, each compiled for SSE2 and for AVX2 with FMA,
in relation to memcpy of as many bytes, to the C library, to onnxruntime with one thread, and, with
--sleef, to that library's functions of 8 floats with at most 1 ulp (u10), called one by one. The
second form compares results with exact ones, in a build without fused multiply-add, in one where
compilers contract expressions, and in one where they contract statements (-ffp-contract=fast). It
takes about two minutes for each function.
"""

from __future__ import annotations

import math
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks import results_file
from benchmarks.programs import INCLUDE, compile_c, compiler_version, run

HERE = Path(__file__).resolve().parent
SIZE = 1 << 20
SSE2, AVX2 = ("-mcpu=x86_64",), ("-mcpu=x86_64_v3",)
BUILDS = {"sse2": SSE2, "avx2": AVX2, "fused": (*AVX2, "-ffp-contract=fast")}
INTERVALS = {
    "exp": (-10, 10),
    "expm1": (-10, 10),
    "log": (0, 100),
    "log1p": (-1, 100),
    "sin": (-10, 10),
    "cos": (-10, 10),
    "tan": (-10, 10),
    "asin": (-1, 1),
    "acos": (-1, 1),
    "atan": (-10, 10),
    "sinh": (-10, 10),
    "cosh": (-10, 10),
    "tanh": (-5, 5),
    "erf": (-4, 4),
    "sqrt": (0, 100),
    "rsqrt": (0, 100),
    "sigmoid": (-10, 10),
    "exp_fast": (-10, 10),
    "sin_fast": (-10, 10),
    "cos_fast": (-10, 10),
    "tan_fast": (-10, 10),
    "tanh_fast": (-5, 5),
    "exp_row": (-10, 10),
    "sin_row": (-10, 10),
    "cos_row": (-10, 10),
    "tan_row": (-10, 10),
    "pow": (0, 100),
}
"""Name -> the interval of the arguments in measurements of speed."""
ONNX = {
    "exp": "Exp",
    "log": "Log",
    "sin": "Sin",
    "cos": "Cos",
    "tan": "Tan",
    "asin": "Asin",
    "acos": "Acos",
    "atan": "Atan",
    "sinh": "Sinh",
    "cosh": "Cosh",
    "tanh": "Tanh",
    "erf": "Erf",
    "sqrt": "Sqrt",
    "sigmoid": "Sigmoid",
}
"""Name -> ONNX's operator of one input."""
WITHOUT_SLEEF = {"rsqrt", "sigmoid", "pow"}
"""Names that SLEEF has not, or with two arguments."""
LIMITED = {"exp_fast": "87", "sin_fast": "3000", "cos_fast": "3000", "tan_fast": "3000"}
"""Name -> the maximum magnitude of a right result."""


def build(folder: Path) -> Path:
    """Build the program in a folder and return its path."""
    common = ("-std=c11", "-O2", "-fno-unroll-loops", f"-I{INCLUDE}")
    objects = []
    for name, flags in BUILDS.items():
        objects.append(str(folder / f"{name}.o"))
        source = str(HERE / "loops.c")
        compile_c("x64", *common, *flags, f"-DVARIANT=_{name}", "-c", source, "-o", objects[-1])
    program = folder / "program"
    source = str(HERE / "program.c")
    # For this system, not for the oldest one of the ABI: libmvec is not in every glibc.
    native = [sys.executable, "-m", "ziglang", "cc"]
    run([*native, *common, *AVX2, source, *objects, "-o", str(program), "-lmvec", "-lm"])
    return program


def _onnxruntime(name: str, runs: int) -> float | None:
    """Return the minimum seconds of onnxruntime's operator; None if there is none."""
    if name not in ONNX:
        return None
    import onnxruntime
    from onnx import TensorProto, helper

    tensors = [helper.make_tensor_value_info(each, TensorProto.FLOAT, [SIZE]) for each in "xy"]
    graph = helper.make_graph(
        [helper.make_node(ONNX[name], ["x"], ["y"])], name, tensors[:1], tensors[1:]
    )
    opsets = [helper.make_opsetid("", 17)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    providers = ["CPUExecutionProvider"]
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers)
    low, high = INTERVALS[name]
    x = np.random.default_rng(1).uniform(low, high, SIZE).astype(np.float32)
    values = onnxruntime.OrtValue.ortvalue_from_numpy
    binding = session.io_binding()
    binding.bind_ortvalue_input("x", values(x))
    binding.bind_ortvalue_output("y", values(np.zeros_like(x)))
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        session.run_with_iobinding(binding)
        times.append(time.perf_counter() - start)
    return min(times)


def _sleef_symbol(name: str) -> str:
    """Return SLEEF's function of 8 floats with at most 1 ulp."""
    return f"Sleef_{name.partition('_')[0]}f8_{'u05' if name == 'sqrt' else 'u10'}"


def speed_section(program: Path, names: list[str], runs: int, sleef: Path | None) -> str:
    """Return the section on speed.

    Args:
        program: the built program.
        names: the functions.
        runs: of each loop.
        sleef: SLEEF's library; None: without a comparison.
    """
    found: dict[str, list[float]] = {}
    copy = math.inf
    for name in names:
        low, high = INTERVALS[name]
        arguments = ["time", name, str(low), str(high), str(SIZE), str(runs)]
        if sleef and name not in WITHOUT_SLEEF:
            arguments += [str(sleef.resolve()), _sleef_symbol(name)]
        copied, sse2, avx2, library, *peer = map(float, run([str(program), *arguments]).split())
        copy = min(copy, copied)
        others = [library, _onnxruntime(name, runs) or 0, *(peer or [0] if sleef else [])]
        found[name] = [sse2, avx2, *(seconds / avx2 for seconds in others)]
    rows = [
        [
            f"`{name}`",
            *(f"{1e6 * seconds:.0f}" for seconds in (sse2, avx2)),
            *(f"{seconds / copy:.1f}" for seconds in (sse2, avx2)),
            *(f"{ratio:.2f}" if ratio else "" for ratio in ratios),
        ]
        for name, (sse2, avx2, *ratios) in found.items()
    ]
    head = ["", "SSE2, us", "AVX2, us", "SSE2 / memcpy", "AVX2 / memcpy"]
    head += ["C library / AVX2", "onnxruntime / AVX2", *(["SLEEF / AVX2"] if sleef else [])]
    return f"""\
## Elementary functions: speed

    python -m benchmarks.math{" --sleef libsleef.so" if sleef else ""} --output benchmarks

{results_file.machine()}, {compiler_version("x64")};
minima of {runs} runs, 2^20 floats, one core; memcpy takes {1e6 * copy:.0f} us.
onnxruntime chooses its instructions itself. Loops are not unrolled here.
{f"SLEEF is {sleef.resolve().name}." if sleef else ""}

{results_file.table(head, rows)}
"""


def error_section(program: Path, names: list[str], stride: int) -> str:
    """Return the section on errors."""
    rows = []
    for name in names:
        printed = run([str(program), "check", name, str(stride), LIMITED.get(name, "inf")])
        found = [line.split(";") for line in printed.splitlines()]
        rows.append([f"`{name}`", *(distance for _, distance, _, _ in found), found[0][3]])
        print(" | ".join(rows[-1]), flush=True)
    return error_text(rows, stride)


def error_text(rows: list[list[str]], stride: int) -> str:
    """Return the section on errors for the rows of its table."""
    which = "all 2^32 floats" if stride == 1 else f"each {stride}th of all 2^32 floats"
    head = ["", "SSE2", "AVX2 and FMA", "with -ffp-contract=fast", "an argument of the maximum"]
    return f"""\
## Elementary functions: maximum error in ulp, {which}

    python -m benchmarks.math --exhaustive --stride {stride} --output benchmarks

The distance in floats to the float nearest to the exact value, which is glibc's in double.

{results_file.table(head, rows)}
"""


def main() -> None:
    """Measure, print, and write with --output."""
    parser = results_file.parser("math", __doc__, runs=21)
    parser.add_argument("names", nargs="*", help="functions; default: all")
    parser.add_argument("--exhaustive", action="store_true", help="errors instead of speed")
    parser.add_argument("--sleef", type=Path, help="libsleef.so, to compare the speed with")
    parser.add_argument("--stride", type=int, default=1, help="of the bits of arguments")
    options = parser.parse_args()
    names = options.names or [name for name in INTERVALS if name != "pow" or not options.exhaustive]
    with tempfile.TemporaryDirectory() as folder:
        program = build(Path(folder))
        if options.exhaustive:
            text = error_section(program, names, options.stride)
        else:
            text = speed_section(program, names, options.runs, options.sleef)
    section = "math-errors" if options.exhaustive else "math"
    results_file.finish(options.output, section, text)


if __name__ == "__main__":
    main()
