"""The GPU kernel on this PC: by the glue of the board, in the emulator of OpenCL or another one."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from opkit.check.comparison import first_difference
from opkit.check.executors import on_this_pc
from opkit.check.harness_client import HarnessKernel
from opkit.description.spec import OpSpec
from opkit.opencl.pc_compiler import Program
from opkit.runtimes.invocation import (
    AT_FULL_SPEED,
    Invocation,
    LeftOutError,
    RunOptions,
    RunResult,
)
from opkit.runtimes.rknn2.cl_compiler import FOLDER, compile_cl
from opkit.runtimes.rknn2.cl_results import read_records
from opkit.runtimes.rknn2.find_opencl import RealOpenCl
from opkit.runtimes.rknn2.gpu_files import HOST_FOLDER, kernel_file
from opkit.runtimes.rknn2.host_kernel import CONVENTION
from opkit.runtimes.rknn2.opencl_libraries import EMULATOR, SHIM

COMPILE_TIME = 60.0
"""Seconds for a run in an OpenCL that compiles kernels for this PC."""
OPTIONS = "-cl-std=CL1.2"
"""The build options of the kernel; those of OPKIT_GPU_OPTIONS in gpu.h."""
_TO_CPU = "; the CPU computes"
_OPENCL_FAILS = re.compile(r"cl[A-Z]\w+: ")
_VARIANTS: Mapping[str, tuple[str, str]] = {
    "the order in which the work items run; is a barrier missing?": ("reverse", "1"),
    **{
        f"the size of groups, which the launch leaves to the driver ({size} here)": (
            "local_size",
            size,
        )
        for size in ("1", "8", "64")
    },
}
"""What outputs must not depend on -> the attachment that changes it, and its value."""


def _kernel(
    spec: OpSpec, root: Path, opencl: str, environment: Mapping[str, str] = {}
) -> HarnessKernel:
    """Return the operator's plugin in the harness, with one of the libraries of OpenCL."""
    host = root / HOST_FOLDER
    library = host / f"librkcst_{spec.lower}.so"
    executor = on_this_pc(
        root / "build/host/harness", host / "librknnrt.so", library, "get_rknn_custom_op"
    )
    path = (host / opencl / "libOpenCL.so").absolute()
    chosen = {"RKNN_OP_DEVICE": "gpu", "RKNN_OP_OPENCL": str(path)}
    executor = replace(executor, environment={**environment, **chosen})
    return HarnessKernel(spec, executor, root, CONVENTION, library=library)


class EmulatedGpuKernel:
    """The GPU kernel in the emulator; implements Kernel.

    Args:
        spec: the operator.
        root: its repository, built for this PC.

    Raises:
        OpkitError: the kernel does not compile, or the repository is not built.
    """

    convention = CONVENTION
    keeps_state = False

    def __init__(self, spec: OpSpec, root: Path) -> None:
        self.program: Program = compile_cl(root / kernel_file(spec), root / FOLDER, OPTIONS)
        self._kernel = _kernel(spec, root, EMULATOR.folder)

    def run(self, invocation: Invocation, options: RunOptions = AT_FULL_SPEED) -> RunResult:
        """Run the kernel; see Kernel.

        Raises:
            LeftOutError: the launch leaves this case to the CPU.
        """
        first = self._run(invocation, options)
        if options.fill is None or first.fault or first.status or first.events:
            return first
        for cause, change in _VARIANTS.items():
            other = self._run(invocation, options, change)
            if other.fault or other.status or other.events:
                return other
            if difference := first_difference(first.outputs, other.outputs):
                element, count = difference
                more = f" (and {count - 1} more)" if count > 1 else ""
                first.fault = f"output element {element}{more} depends on {cause}"
                first.outputs = {}
                return first
        return first

    def _run(
        self, invocation: Invocation, options: RunOptions, change: tuple[str, str] | None = None
    ) -> RunResult:
        fill = options.fill or 0
        attachments = {"program": str(self.program.library.absolute()), "fill": str(fill)}
        if change:
            attachments |= dict([change])
        self._kernel.attachments = {
            f"opencl:{name}": value.encode() for name, value in attachments.items()
        }
        result = self._kernel.run(invocation, options)
        return finished(result, self.program)


class RealGpuKernel:
    """The GPU kernel in an OpenCL of this PC; implements Kernel.

    Args:
        spec: the operator.
        root: its repository, built for this PC.
        opencl: that OpenCL.

    Raises:
        OpkitError: the repository is not built.
    """

    convention = CONVENTION
    keeps_state = False

    def __init__(self, spec: OpSpec, root: Path, opencl: RealOpenCl) -> None:
        self._kernel = _kernel(spec, root, SHIM.folder, opencl.environment)
        self._kernel.attachments = {"opencl:real": opencl.library.encode()}
        self._last: tuple[Invocation, RunResult] | None = None

    def run(self, invocation: Invocation, options: RunOptions = AT_FULL_SPEED) -> RunResult:
        """Run the kernel; see Kernel. It compiles in the first run of a process.

        Raises:
            LeftOutError: the launch leaves this case to the CPU.
        """
        if self._last is None or self._last[0] is not invocation:
            # Without guards, which would find the accesses of a compiler.
            limit = max(options.limit, COMPILE_TIME)
            result = self._kernel.run(invocation, RunOptions(limit=limit))
            result.events, result.leaks = [], []  # of threads and signals of that OpenCL
            self._last = invocation, finished(result)
        return self._last[1]


def finished(result: RunResult, program: Program | None = None) -> RunResult:
    """Return the result of a run with what OpenCL's library recorded.

    Args:
        result: the result of the harness.
        program: the program that the emulator ran; None: another OpenCL ran it.

    Raises:
        LeftOutError: the launch leaves this case to the CPU.
    """
    found, result.log = read_records(result.log, result.attachments, result.outputs, program)
    result.events += found.problems()
    result.seconds, result.usage = math.inf, None  # they say nothing of a GPU
    for line in result.printed.splitlines():
        if line.endswith(_TO_CPU):
            _, _, reason = line.removesuffix(_TO_CPU).partition(": ")
            if not _OPENCL_FAILS.match(reason):
                raise LeftOutError(f"cases that the launch leaves to the CPU: {reason}")
            result.events.append(f"the GPU kernel cannot run: {reason}")
    has_elements = any(array.size for array in result.outputs.values())
    if has_elements and not found.launches and not result.events:
        result.events.append("the CPU computed, and no GPU kernel")
    result.printed, result.notes = "", []
    return result
