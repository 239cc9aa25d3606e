"""Elementwise operators against memcpy, onnxruntime and numpy, on one core."""

from __future__ import annotations

import ctypes
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray

from benchmarks import calls, results_file
from benchmarks.kernels.programs import compile_c, run
from opkit.description.parser import PC
from opkit.repository import load
from opkit.runtimes.invocation import Invocation, RunOptions
from opkit.runtimes.rknn.host_kernels import HOST, host_kernel
from opkit.toolchains.flags import C_LANGUAGE, EXACT, optimization
from rknn_op import template
from rknn_op.own_opkit import environment

COUNT, MANY = 1 << 20, 10**7
HALVES = 1 << 16
"""All halves."""
UNARY = {
    "exp": "Exp",
    "tanh": "Tanh",
    "erf": "Erf",
    "sigmoid": "Sigmoid",
    "gelu": "Gelu",
    "mish": "Mish",
}
"""Operator -> ONNX's."""
_BASELINE = ("-DOPKIT_BASELINE", "-DOPKIT_PORTABLE_HALF")
"""Without run-time dispatch: SSE2 only."""
_CALLS = 3  # a time is the best of this many calls
_FLOAT32, _FLOAT16 = 0, 8  # enum opkit_type

Array = NDArray[Any]
Candidates = dict[str, Callable[[], float]]
Times = Mapping[str, float]


@dataclass(frozen=True)
class Aim:
    """A ratio of two times and its limit.

    Attributes:
        work: the operator.
        what: the ratio.
        limit: its maximum.
        measured: its value.
    """

    work: str
    what: str
    limit: float
    measured: float

    def row(self) -> list[str]:
        """Return the row of the table of aims."""
        holds = "yes" if self.measured <= self.limit else "**no**"
        return [self.work, self.what, f"at most {self.limit}", f"{self.measured:.2f}", holds]


class Library:
    """An operator in a library of its own, called through its generated loop."""

    def __init__(self, name: str, folder: Path, variant: str, flags: Sequence[str]) -> None:
        """Write and compile the operator `scalar_<name>`."""
        spec = calls.write(f"scalar_{name}", folder)
        tensors = [tensor.name for tensor in (*spec.inputs, *spec.outputs)]
        calls.write_call(spec, calls.Call(dict.fromkeys(tensors, (1,)), {}), folder)
        path = folder / f"{variant}.so"
        compile_c(
            PC,
            *(*C_LANGUAGE, *optimization(PC, "zig"), *EXACT, *flags, "-shared", "-fPIC"),
            *(f"-I{folder}", f"-I{folder / 'include'}", "-o", str(path)),
            str(calls.HERE / "kernels/elementwise.c"),
        )
        self._library = ctypes.CDLL(str(path))
        self._library.call_seconds.restype = ctypes.c_double
        self._library.table_seconds.restype = ctypes.c_double

    def call(self, *arrays: Array) -> Callable[[], float]:
        """Return a function that calls the operator: inputs, then the output."""

        def seconds() -> float:
            for index, array in enumerate(arrays):
                shape = (ctypes.c_size_t * array.ndim)(*array.shape)
                self._library.set_tensor(
                    ctypes.c_size_t(index),
                    ctypes.c_int(_FLOAT16 if array.dtype == np.float16 else _FLOAT32),
                    ctypes.c_void_p(array.ctypes.data),
                    ctypes.c_size_t(array.ndim),
                    shape,
                )
            elapsed = float(self._library.call_seconds(ctypes.c_size_t(_CALLS)))
            if elapsed < 0:
                raise RuntimeError("the operator refused its tensors")
            return elapsed

        return seconds

    def look_up(self, table: Array, x: Array, y: Array) -> Callable[[], float]:
        """Return a function that looks an array of halves up in a table."""

        def seconds() -> float:
            pointers = [ctypes.c_void_p(array.ctypes.data) for array in (table, x, y)]
            sizes = ctypes.c_size_t(x.size), ctypes.c_size_t(_CALLS)
            return float(self._library.table_seconds(*pointers, *sizes))

        return seconds


def onnxruntime_call(op_type: str, *inputs: Array) -> Callable[[], float]:
    """Return a function that runs one node of ONNX in onnxruntime, with one thread."""
    names = [f"x{index}" for index in range(len(inputs))]
    value = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node(op_type, names, ["y"])],
        "benchmark",
        [
            value(name, onnx.TensorProto.FLOAT, x.shape)
            for name, x in zip(names, inputs, strict=True)
        ],
        [value("y", onnx.TensorProto.FLOAT, None)],
    )
    model = onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", 20)], ir_version=10
    )
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    feeds = dict(zip(names, inputs, strict=True))
    (result,) = session.run(None, feeds)
    # The output's memory is given: onnxruntime does not allocate in the measured call.
    binding = session.io_binding()
    for name, x in feeds.items():
        binding.bind_cpu_input(name, x)
    output = onnxruntime.OrtValue.ortvalue_from_numpy(result)
    binding.bind_ortvalue_output("y", output)
    return _timed(lambda: session.run_with_iobinding(binding))


def _timed(work: Callable[[], object]) -> Callable[[], float]:
    def seconds() -> float:
        times = []
        for _ in range(_CALLS):
            begin = time.perf_counter()
            work()
            times.append(time.perf_counter() - begin)
        return min(times)

    return seconds


def _copy(size: int) -> Callable[[], float]:
    """Return a function that copies `size` bytes."""
    source, to = np.ones(size, np.uint8), np.ones(size, np.uint8)
    return _timed(lambda: ctypes.memmove(to.ctypes.data, source.ctypes.data, size))


def _in_turn(candidates: Candidates, runs: int) -> Times:
    """Return the medians of the candidates' times, in seconds."""
    seconds: dict[str, list[float]] = {name: [] for name in candidates}
    for _ in range(runs):
        for name, candidate in candidates.items():
            seconds[name].append(candidate())
    return {name: statistics.median(values) for name, values in seconds.items()}


def _rknn_call(name: str, folder: Path, x: Array) -> Callable[[], float]:
    """Build the repository as a user does; return a function that calls its kernel with halves."""
    source = calls.HERE / f"kernels/operators/scalar_{name}"
    config = str(source / f"scalar_{name}.yml")
    run(
        [sys.executable, "-m", "rknn_op", "create", "-c", config, "-p", str(folder)],
        template.ROOT,
    )
    for header in source.glob("*.h"):
        (folder / header.name).write_text(header.read_text())
    scons = [sys.executable, "-m", "SCons", "-Q", "-s", "build/x64", "build/host"]
    run(scons, folder, env=environment(folder))
    spec = load(folder)
    kernel = host_kernel(spec, folder / f"build/x64/lib{spec.lower}.so", folder / HOST)
    invocation = Invocation({"x": x}, {}, {"y": (x.shape, "float16")})

    def seconds() -> float:
        result = kernel.run(invocation, RunOptions(repeat=_CALLS, limit=100))
        if result.status != 0 or result.fault:
            raise RuntimeError(f"{name}: {result.fault or result.log}")
        return result.seconds

    return seconds


def unary_times(name: str, folder: Path, runs: int) -> Times:
    """Return the seconds of a unary operator and of its baselines."""
    random = np.random.default_rng(1)
    x = random.uniform(-8, 8, COUNT).astype(np.float32)
    half, many = x.astype(np.float16), random.uniform(-8, 8, MANY).astype(np.float32)
    every = np.arange(HALVES, dtype=np.uint16).view(np.float16)
    table = np.empty(HALVES, np.float16)
    fast = Library(name, folder / "library", "dispatch", ())
    slow = Library(name, folder / "library", "baseline", _BASELINE)
    candidates = {
        "memcpy": _copy(x.nbytes),
        "memcpy of halves": _copy(half.nbytes),
        "dispatch": fast.call(x, np.empty_like(x)),
        "baseline": slow.call(x, np.empty_like(x)),
        "onnxruntime": onnxruntime_call(UNARY[name], x),
        "memcpy, 10^7": _copy(many.nbytes),
        "10^7": fast.call(many, np.empty_like(many)),
        "RKNN": _rknn_call(name, folder / "repository", half),
        "halves, computed": fast.call(half, np.empty_like(half)),
        "halves, table": fast.look_up(table, half, np.empty_like(half)),
        "filling": fast.call(every, table),
        "filling, baseline": slow.call(every, table),
    }
    return _in_turn(candidates, runs)


def unary_aims(name: str, times: Times) -> list[Aim]:
    """Return the aims of a unary operator."""
    halves, copy = times["memcpy of halves"], times["memcpy"]
    per_element = (times["10^7"] / MANY) / (times["dispatch"] / COUNT)
    ratio = times["dispatch"] / times["onnxruntime"]
    return [
        Aim(name, "float32 with AVX2 / memcpy", 3, times["dispatch"] / copy),
        Aim(name, "float32 with SSE2 / memcpy", 8, times["baseline"] / copy),
        Aim(name, "float32 / onnxruntime", 1.9 if name == "exp" else 1.2, ratio),
        Aim(name, "halves, whole call of RKNN 1.x / memcpy", 6.5, times["RKNN"] / halves),
        Aim(name, "10^7 / 2^20, per element", 1.5, per_element),
    ]


def binary_aims(folder: Path, runs: int) -> list[Aim]:
    """Measure a binary operator with broadcast."""
    random = np.random.default_rng(2)
    x = random.uniform(-8, 8, (1, 64, 128, 128)).astype(np.float32)
    operands = {
        "add, (N,C,H,W) and (1,C,1,1)": (x, x[:, :, :1, :1].copy()),
        "add, (N) and a scalar": (x.reshape(-1), np.ones(1, np.float32)),
        "add, equal shapes": (x, x[:, ::-1].copy()),
    }
    library = Library("add", folder, "dispatch", ())
    aims = []
    for name, (a, b) in operands.items():
        y = np.empty_like(a)
        add = _numpy_add(a, b)
        candidates = {
            "ours": library.call(a, b, y),
            "numpy": add,
            "onnxruntime": onnxruntime_call("Add", a, b),
        }
        times = _in_turn(candidates, runs)
        aims += [
            Aim(name, f"float32 / {other}", 1, times["ours"] / times[other])
            for other in ("numpy", "onnxruntime")
        ]
    return aims


def _numpy_add(a: Array, b: Array) -> Callable[[], float]:
    out = np.empty(np.broadcast_shapes(a.shape, b.shape), np.float32)
    return _timed(lambda: np.add(a, b, out=out))


def section(names: Iterable[str], runs: int, folder: Path, command: str) -> str:
    """Measure, and return the section of RESULTS.md."""
    aims: list[Aim] = []
    rows = []
    for name in names:
        times = unary_times(name, folder / name, runs)
        aims += unary_aims(name, times)
        rows.append([name, *(f"{times[column] * 1e6:,.0f}" for column in times)])
        columns = list(times)
    aims += binary_aims(folder / "add", runs)
    return f"""\
## Elementwise operators on x64

    {command}

{results_file.machine()}, numpy {np.__version__}, onnxruntime {onnxruntime.__version__} with one
thread; {results_file.medians(runs)}, in which all took turns, on one core; 2^20 elements.

Each operator is a scalar function on `opkit/compute/math.h`. `dispatch` is its generated loop with
the processor's AVX2, `baseline` with SSE2 alone. `RKNN` is the whole call of the kernel that scons
builds, on the host runtime.

### Aims

{results_file.table(["", "ratio", "aim", "measured", "holds"], [aim.row() for aim in aims])}

### Microseconds of a call

`memcpy` moves as many bytes as the operator reads and writes. `filling` computes all {HALVES:,}
halves, into the table of `halves, table`, which is the look-up alone.

{results_file.table(["", *columns], rows)}
"""
