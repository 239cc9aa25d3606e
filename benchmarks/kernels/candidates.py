"""The candidates: the examples' kernels, their baselines, and the conversions."""

from __future__ import annotations

import ctypes
import math
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.kernels.programs import INCLUDE, compile_c, run
from opkit.build.compile_environment import COMPILE
from opkit.check.operators import operator_of
from opkit.description.spec import OpSpec
from opkit.repository import load
from opkit.runtimes.invocation import Invocation, Kernel, RunOptions
from opkit.runtimes.rknn.host_kernels import HOST, host_kernel
from opkit.toolchains.flags import EXACT, optimization
from rknn_op import template
from rknn_op.own_opkit import environment

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CALLS = 3  # a time is the best of this many calls: noise only adds
BATCH = 1 << 16  # minimum count of elements in the calls of one measurement of a conversion

# Names of the columns. The first is compared with each of the others.
OURS, MEMCPY, NUMPY, BASELINE_O2, BASELINE_O0 = (
    "this",
    "memcpy",
    "numpy",
    "scalar -O2",
    "scalar -O0",
)
_BASELINE_FLAGS = {
    BASELINE_O2: ("-O2", "-fno-tree-vectorize", "-fno-tree-slp-vectorize"),
    BASELINE_O0: ("-O0",),
}
_COPY, _TO_FLOATS, _TO_HALVES = range(3)
TO_FLOATS, TO_HALVES = "half to float", "float to half"

Array = NDArray[Any]
Candidates = Mapping[str, Callable[[], float]]


@dataclass(frozen=True)
class Benchmark:
    """Candidates for the same work: name -> function that does it and returns the seconds.

    Attributes:
        name: of the example or the conversion.
        elements: of the first input; times are divided by it.
        candidates: OURS and its baselines.
    """

    name: str
    elements: int
    candidates: Candidates


# ---- Inputs -------------------------------------------------------------------------------------


def _exp(count: int, random: np.random.Generator) -> tuple[dict[str, Array], dict[str, Any]]:
    return {"input": random.uniform(-10, 10, count)}, {}


def _truncate_div(
    count: int, random: np.random.Generator
) -> tuple[dict[str, Array], dict[str, Any]]:
    return {"x": random.uniform(-1000, 1000, count), "y": random.uniform(1, 10, count)}, {}


def _resize_area(
    count: int, random: np.random.Generator
) -> tuple[dict[str, Array], dict[str, Any]]:
    """An RGB image, to half its height and width."""
    width = max(math.isqrt(count // 3) // 2, 1) * 2
    height = max(count // 3 // width // 2, 1) * 2
    image = random.uniform(0, 1, (1, height, width, 3))
    return {"input": image}, {"size": [height // 2, width // 2]}


def _decode_boxes(
    count: int, random: np.random.Generator
) -> tuple[dict[str, Array], dict[str, Any]]:
    boxes = max(count // 4, 1)
    corners = random.uniform(0, 250, (boxes, 2))
    anchors = np.concatenate([corners, corners + random.uniform(4, 100, (boxes, 2))], axis=1)
    deltas = random.normal(0, 0.2, (1, boxes, 4))
    return {"deltas": deltas, "anchors": anchors}, {"image_size": [300, 320]}


def _row_mean(count: int, random: np.random.Generator) -> tuple[dict[str, Array], dict[str, Any]]:
    """Rows of 1000 elements."""
    return {"input": random.uniform(0, 1, (max(count // 1000, 1), 1000))}, {}


_INPUTS = {
    "exp": _exp,
    "truncate_div": _truncate_div,
    "resize_area": _resize_area,
    "decode_boxes": _decode_boxes,
    "row_mean": _row_mean,
}
EXAMPLES = tuple(_INPUTS)

# ---- The examples' kernels ----------------------------------------------------------------------


@dataclass(frozen=True)
class Example:
    """An example: its kernels, opkit's and the baselines, and its reference in numpy."""

    spec: OpSpec
    name: str
    kernels: Mapping[str, Kernel]
    reference: Any
    loops: Loops

    def benchmark(self, count: int) -> Benchmark:
        """Return the benchmark over inputs of about `count` elements."""
        inputs, given = _INPUTS[self.name](count, np.random.default_rng(count))
        halves = {name: array.astype(np.float16) for name, array in inputs.items()}
        params = {param.name: given.get(param.name, param.default) for param in self.spec.params}
        shapes = {name: array.shape for name, array in halves.items()}
        outputs = self.reference.output_shapes(shapes, params)
        call = Invocation(
            halves, params, {name: (shape, "float16") for name, shape in outputs.items()}
        )
        size_in = sum(array.nbytes for array in halves.values())
        size_out = sum(math.prod(shape) * 2 for shape in outputs.values())
        self._check_same_results(call)
        candidates: dict[str, Callable[[], float]] = {
            name: self._kernel(kernel, call) for name, kernel in self.kernels.items()
        }
        candidates[MEMCPY] = self.loops.copy((size_in + size_out) // 2)
        candidates[NUMPY] = self._numpy(call)
        return Benchmark(self.name, next(iter(halves.values())).size, candidates)

    def _check_same_results(self, call: Invocation) -> None:
        """Require that all kernels compute the same, within rounding of a half."""
        expected = self.kernels[OURS].run(call).outputs
        for kernel in self.kernels.values():
            outputs = kernel.run(call).outputs
            for name, array in expected.items():
                np.testing.assert_allclose(outputs[name], array, rtol=2**-9, err_msg=self.name)

    def _kernel(self, kernel: Kernel, call: Invocation) -> Callable[[], float]:
        def seconds() -> float:
            result = kernel.run(call, RunOptions(repeat=CALLS, limit=100))
            if result.status != 0 or result.fault:
                raise RuntimeError(f"{self.name}: {result.fault or result.log}")
            return result.seconds

        return seconds

    def _numpy(self, call: Invocation) -> Callable[[], float]:
        def work() -> None:
            floats = {name: array.astype(np.float32) for name, array in call.inputs.items()}
            for array in self.reference.reference(floats, call.params).values():
                array.astype(np.float16)

        return lambda: _best_seconds(work)


def _best_seconds(work: Callable[[], None]) -> float:
    times = []
    for _ in range(CALLS):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times)


def load_examples(names: tuple[str, ...], folder: Path, loops: Loops) -> list[Example]:
    """Make and build the examples' repositories in a folder, and load their kernels."""
    examples = []
    for name in names:
        example = template.EXAMPLES / name
        repository = folder / name
        config = str(example / f"{name}.yml")
        run([sys.executable, "-m", "rknn_op", "create", "-c", config, "-p", str(repository)], ROOT)
        ignored = shutil.ignore_patterns("*.yml", "__pycache__")
        shutil.copytree(example, repository, dirs_exist_ok=True, ignore=ignored)
        scons = [sys.executable, "-m", "SCons", "-Q", "-s", "build/x64", "build/host"]
        run(scons, repository, env=environment(repository))
        spec = load(repository)
        libraries = {OURS: repository / f"build/x64/lib{spec.lower}.so"}
        for column, flags in _BASELINE_FLAGS.items():
            libraries[column] = _baseline_library(repository, spec, flags)
        kernels = {
            column: host_kernel(spec, library, repository / HOST)
            for column, library in libraries.items()
        }
        reference = operator_of(repository).reference
        examples.append(Example(spec, name, kernels, reference, loops))
    return examples


def _baseline_library(repository: Path, spec: OpSpec, flags: tuple[str, ...]) -> Path:
    """Build the kernel from the same files, with those of baseline/ instead of opkit's."""
    copy = repository.with_name(f"{repository.name}{flags[0]}")
    shutil.copytree(repository, copy)
    shutil.copytree(HERE / "baseline/compute", copy / "include/opkit/compute", dirs_exist_ok=True)
    compute = HERE / "baseline" / f"{spec.lower}_compute.h"
    if compute.is_file():
        shutil.copy(compute, copy)
    library = copy / f"lib{spec.lower}.so"
    compile_c(
        "x64",
        *(
            "-std=c11",
            "-shared",
            "-fPIC",
            *flags,
            f"-I{copy}",
            f"-I{copy}/include",
        ),
        *("-o", str(library), str(copy / f"rknn_kernel_{spec.lower}.c")),
        *(f"-L{copy}/build/x64/openvx", "-Wl,--no-as-needed", "-lOpenVX", "-lm"),
    )
    return library


# ---- Conversions and memcpy ---------------------------------------------------------------------


class Loops:
    """loops.c, compiled with the flags of device libraries."""

    def __init__(self, folder: Path) -> None:
        path = folder / "libloops.so"
        source = str(HERE / "loops.c")
        compile_c(
            "x64",
            *optimization("x64", "zig"),
            *EXACT,
            *COMPILE,
            "-shared",
            f"-I{INCLUDE}",
            "-o",
            str(path),
            source,
        )
        self._seconds = ctypes.CDLL(str(path)).seconds
        size, pointer = ctypes.c_size_t, ctypes.c_void_p
        self._seconds.argtypes = [ctypes.c_int, pointer, pointer, size, size, size]
        self._seconds.restype = ctypes.c_double

    def copy(self, size: int) -> Callable[[], float]:
        """Return a candidate that copies `size` bytes."""
        return self._timed(_COPY, np.ones(size, np.uint8), np.ones(size, np.uint8), size)

    def benchmarks(self, count: int) -> list[Benchmark]:
        """Return one benchmark for each direction.

        Halves and floats are 6 bytes together, so memcpy reads 3 and writes 3.
        """
        halves = np.random.default_rng(count).uniform(-10, 10, count).astype(np.float16)
        floats = halves.astype(np.float32)
        return [
            Benchmark(name, count, {OURS: loop, MEMCPY: self.copy(3 * count)})
            for name, loop in (
                (TO_FLOATS, self._timed(_TO_FLOATS, floats, halves, count)),
                (TO_HALVES, self._timed(_TO_HALVES, halves.copy(), floats, count)),
            )
        ]

    def _timed(self, loop: int, to: Array, source: Array, count: int) -> Callable[[], float]:
        batch = max(1, BATCH // count)

        def seconds() -> float:
            return float(
                self._seconds(loop, to.ctypes.data, source.ctypes.data, count, batch, CALLS)
            )

        return seconds
