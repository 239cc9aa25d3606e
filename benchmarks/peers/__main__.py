"""Compare the math with other libraries': SLEEF, XNNPACK and OpenBLAS, in one thread.

    python -m benchmarks.peers FOLDER [--works exp ...] [--vectors AVX-512] [--runs 200]
                               [--output benchmarks]

FOLDER has the unpacked packages of Debian (`dpkg -x`) in amd64/ and arm64/: libsleef3,
libsleef-dev, libxnnpack0, libxnnpack-dev, libpthreadpool0, libpthreadpool-dev, libcpuinfo0,
libopenblas0-pthread, libopenblas-pthread-dev, libgfortran5, libgcc-s1, for amd64 libquadmath0, for
arm64 libc6 and libstdc++6. Both sides are programs of their own: on this PC the time of the fastest
call counts, on 64-bit ARM instructions, by qemu, and cycles, by llvm-mca (benchmarks/boards.py).
On this PC all see the same vectors, by default AVX2.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks import board_cycles, calls, instructions, results_file, vectors
from benchmarks.programs import compiler_version, run
from opkit.check.executors import emulator
from opkit.description.parser import PC
from opkit.toolchains.flags import EXACT, optimization

HERE = Path(__file__).resolve().parent
ROOT = 256  # as in program.c
KEYS, HEAD, HEADS = 197, 64, 12
BOARD = "aarch64"
QEMU_CPU = "cortex-a76"
"""The processor for which the libraries choose their code."""
PROCESSORS = [each for each in board_cycles.PROCESSORS if each.has_halves]


@dataclass(frozen=True)
class Work:
    """The same work of both sides.

    Attributes:
        title: in the table.
        operator: ours, of `calls`.
        peer: its name in program.c.
        libraries: that do it there.
        elements: for which the figures are.
    """

    title: str
    operator: str
    peer: str
    libraries: str
    elements: int = ROOT**2


WORKS = {
    each.peer: each
    for each in (
        Work("exp", "scalar_exp", "exp", "SLEEF"),
        Work("tanh", "scalar_tanh", "tanh", "SLEEF"),
        Work("erf", "scalar_erf", "erf", "SLEEF"),
        Work("sigmoid", "scalar_sigmoid", "sigmoid", "SLEEF's exp"),
        Work("sigmoid", "scalar_sigmoid", "sigmoid_xnnpack", "XNNPACK"),
        Work("Gelu", "scalar_gelu", "gelu", "SLEEF's erf"),
        Work("softmax of 256 rows", "softmax", "softmax", "XNNPACK"),
        Work(
            "Attention, a head, per query and key",
            "attention",
            "attention",
            "OpenBLAS, XNNPACK",
            KEYS**2,
        ),
    )
}


@dataclass(frozen=True)
class Peers:
    """The program of the other libraries for an ABI.

    Attributes:
        path: the program.
        command: that runs it, up to the program.
    """

    path: Path
    command: tuple[str, ...]


def peers(packages: Path, folder: Path, abi: str, widest: str) -> Peers:
    """Build the program of the other libraries, which on a PC sees vectors up to the widest."""
    root = (packages / {PC: "amd64", BOARD: "arm64"}[abi]).resolve()
    root = root / "root" if (root / "root").is_dir() else root
    triple = {PC: "x86_64-linux-gnu", BOARD: "aarch64-linux-gnu"}[abi]
    libraries = root / "usr/lib" / triple
    blas = libraries / "openblas-pthread"
    own = [libraries / "libXNNPACK.so.0", libraries / "libsleef.so.3", blas / "libopenblas.so.0"]
    headers = [f"-I{root}/usr/include{each}" for each in ("", f"/{triple}")]
    headers += [f"-I{root}/usr/include/{triple}/openblas-pthread"]
    output = folder / f"peers_{abi}"
    flags = ["-std=c11", "-O2", "-w", *(["-mavx2", "-mfma"] if abi == PC else [])]
    paths = f"-Wl,-rpath-link,{libraries}:{root}/lib/{triple}"
    compiler = "gcc" if abi == PC else f"{triple}-gcc"
    linked = [*map(str, own), paths, "-lm", "-o", str(output)]
    run([compiler, *flags, *headers, str(HERE / "program.c"), *linked])
    variables = {"LD_LIBRARY_PATH": f"{libraries}:{blas}", "OPENBLAS_NUM_THREADS": "1"}
    if abi == PC:
        variables |= vectors.environment(widest, folder)
    assignments = [f"{name}={value}" for name, value in variables.items()]
    if abi == PC:
        return Peers(output, ("env", *assignments))
    passed = [word for each in assignments for word in ("-E", each)]
    return Peers(output, (*emulator(abi), "-cpu", QEMU_CPU, "-L", str(root), *passed))


def ours(work: Work, folder: Path, abi: str, widest: str) -> calls.Program:
    """Build the project's program of a work, on a PC for vectors up to the widest."""
    spec = calls.write(work.operator, folder)
    if work.operator == "attention":
        _write_attention(folder)
    else:
        calls.write_call(spec, calls.call_of(work.operator, ROOT), folder)
    limits = vectors.FLAGS[widest] if abi == PC else []
    return calls.compiled(folder, abi, (*optimization(abi, "zig"), *EXACT, *limits), f"ours_{abi}")


def _write_attention(folder: Path, heads: int = 1, keys: int = KEYS) -> None:
    spec = calls.write("attention", folder)
    shapes = dict.fromkeys("qkvy", (1, heads, keys, HEAD))  # the others are left out
    tensors = {each.name: shapes.get(each.name, (1,)) for each in (*spec.inputs, *spec.outputs)}
    params = {"left_window_size": "-1", "right_window_size": "-1", "scale": "0.125F"}
    calls.write_call(spec, calls.Call(tensors, params), folder)
    case = folder / "case.h"
    absent = "inputs.nonpad_kv_seqlen.type = OPKIT_INT64, inputs.nonpad_kv_seqlen.int64 = &absent, "
    text = case.read_text().replace("#define CALL ", f"#define CALL {absent}")
    text = text.replace("inputs.nonpad_kv_seqlen.type", "(inputs.nonpad_kv_seqlen.type", 1)
    text = text.replace("&outputs)\n", "&outputs))\n")
    case.write_text(f"{text}static int64_t absent = -1;\n")


def _onnxruntime(keys: int, runs: int) -> float:
    """Return the minimum nanoseconds of attention of HEADS heads in one thread."""
    import onnxruntime
    from onnx import TensorProto, helper

    shapes = {"q": [HEADS, keys, HEAD], "k": [HEADS, HEAD, keys], "v": [HEADS, keys, HEAD]}
    tensors = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in {**shapes, "y": shapes["v"]}.items()
    ]
    nodes = [
        helper.make_node("MatMul", ["q", "k"], ["scores"]),
        helper.make_node("Softmax", ["scores"], ["weights"], axis=-1),
        helper.make_node("MatMul", ["weights", "v"], ["y"]),
    ]
    graph = helper.make_graph(nodes, "attention", tensors[:3], tensors[3:])
    opsets = [helper.make_opsetid("", 17)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, ["CPUExecutionProvider"]
    )
    random = np.random.default_rng(1)
    values = {name: random.normal(size=shape) for name, shape in shapes.items()}
    feeds = {name: value.astype(np.float32) for name, value in values.items()}
    times = []
    for _ in range(runs):
        start = time.process_time_ns()
        session.run(None, feeds)
        times.append(time.process_time_ns() - start)
    return float(min(times))


def attention_table(folder: Path, runs: int, widest: str) -> str:
    """Return the table of attention of HEADS heads beside onnxruntime, in turns."""
    vectors.hide(widest)
    rows = []
    for keys in (KEYS, 1024):
        made = folder / f"attention_{keys}"
        _write_attention(made, HEADS, keys)
        flags = (*optimization(PC, "zig"), *EXACT, *vectors.FLAGS[widest])
        own = calls.compiled(made, PC, flags, "own")
        count = max(5, runs * KEYS**2 // keys**2)
        turns = [
            (float(run([str(own.path), "time", str(count)])), _onnxruntime(keys, count))
            for _ in range(3)
        ]
        ours_, theirs = (min(each) / 1e6 for each in zip(*turns, strict=True))
        rows.append([f"{keys}", f"{ours_:.2f}", f"{theirs:.2f}", f"{ours_ / theirs:.2f}"])
    return results_file.table(["keys", "ours, ms", "onnxruntime, ms", "quotient"], rows)


def counted(
    command: Sequence[str], path: Path, arguments: Sequence[str], log: Path
) -> Mapping[str, float]:
    """Return the instructions and cycles of a call."""
    blocks = instructions.executed(command, path, arguments, log)
    assert blocks is not None
    text = board_cycles.logged(log)
    log.unlink()
    found: dict[str, float] = {"instructions": instructions.total(blocks)}
    for processor in PROCESSORS:
        cycles = board_cycles.cycles(path, blocks, processor, text)
        assert cycles is not None, "llvm-mca not found"
        found[processor.name] = cycles
    return found


def section(packages: Path, names: Sequence[str], runs: int, widest: str) -> str:
    """Measure, and return the benchmark's section of RESULTS.md."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        theirs = {abi: peers(packages, folder, abi, widest) for abi in (PC, BOARD)}
        for each in map(WORKS.__getitem__, names):
            own = {
                abi: ours(each, folder / f"{each.peer}_{abi}", abi, widest) for abi in (PC, BOARD)
            }
            other = theirs[PC]
            words = (
                [str(own[PC].path), "time", str(runs)],
                [*other.command, str(other.path), "time", each.peer, str(runs)],
            )
            turns = [[float(run(command)) for command in words] for _ in range(3)]
            times = tuple(map(min, *turns))
            log = folder / "log"
            figures = [
                counted(own[BOARD].command, own[BOARD].path, ["call"], log),
                counted(theirs[BOARD].command, theirs[BOARD].path, ["call", each.peer], log),
            ]
            cells = [_pair(times[0], times[1], each.elements)]
            cells += [_pair(figures[0][key], figures[1][key], each.elements) for key in figures[0]]
            rows.append([each.title, each.libraries, *cells])
            print(" | ".join(rows[-1]), flush=True)
        of_attention = attention_table(folder, runs, widest)
    head = ["", "beside", "PC, ns", "instructions", *(each.name for each in PROCESSORS)]
    return f"""\
## Other libraries

    python -m benchmarks.peers FOLDER --vectors {widest} --output benchmarks

{results_file.machine()},
{compiler_version(BOARD)}; Debian's SLEEF 3.5.1 (u10), XNNPACK 2022-02-16, OpenBLAS
0.3.21. Ours / theirs, and the quotient, per element: of 2^16 floats; of {KEYS} queries
and keys with {HEAD} features. On this PC, whose vectors beyond {widest} are hidden, the fastest
of {3 * runs} calls, in time of a processor. Instructions by qemu as {QEMU_CPU}, cycles by llvm-mca.

{results_file.table(head, rows)}

Attention of {HEADS} heads, {HEAD} features each, beside onnxruntime's MatMul, Softmax and
MatMul, on this PC with the same vectors.

{of_attention}
"""


def _pair(own: float, other: float, elements: int) -> str:
    return f"{own / elements:.2f} / {other / elements:.2f}: {own / other:.2f}"


def main() -> None:
    """Measure, print, and write with --output."""
    parser = results_file.parser("peers", __doc__, runs=200)
    parser.add_argument("folder", type=Path, help="of the unpacked packages")
    parser.add_argument("--works", nargs="+", choices=WORKS, default=[*WORKS])
    vectors.add_option(parser)
    options = parser.parse_args()
    if not os.access(options.folder, os.R_OK):
        parser.error(f"{options.folder} cannot be read")
    text = section(options.folder, options.works, options.runs, options.vectors)
    results_file.finish(options.output, "peers", text)


if __name__ == "__main__":
    main()
