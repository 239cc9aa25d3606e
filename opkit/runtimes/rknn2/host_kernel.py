"""The plugin for this PC, on the host runtime in place of librknnrt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from opkit.check.executors import on_this_pc
from opkit.check.harness_client import HarnessKernel
from opkit.check.instrumented import InstrumentedKernel
from opkit.description.spec import OpSpec
from opkit.runtimes.executor import Executor
from opkit.runtimes.invocation import (
    AT_FULL_SPEED,
    CallingConvention,
    Invocation,
    RunOptions,
    RunResult,
)
from opkit.runtimes.rknn2.calling_convention import CONVENTION, LATER


@dataclass(frozen=True)
class EveryVersion:
    """The CPU kernel, called like librknnrt 1.6.0 and, where that differs, like later versions.

    Implements Kernel.
    """

    first: HarnessKernel
    later: HarnessKernel
    convention: ClassVar[CallingConvention] = CONVENTION
    keeps_state = True

    @property
    def thread_counts(self) -> Sequence[int]:
        """The counts of threads for a check besides 1; see ThreadedKernel."""
        return self.first.thread_counts

    def run(self, invocation: Invocation, options: RunOptions = AT_FULL_SPEED) -> RunResult:
        """Run the kernel; see Kernel. Messages tell errors that only later versions have."""
        result = self.first.run(invocation, options)
        if _fails(result) or not _has_int64(self.first.spec, invocation):
            return result
        later = self.later.run(invocation, options)
        if _fails(later):
            later.stage += " with int64 tensors, as versions after librknnrt 1.6.0 hand them over,"
            return later
        if any(
            later.outputs[n].tobytes() != array.tobytes() for n, array in result.outputs.items()
        ):
            result.events.append(
                "the outputs differ between float32 tensors, as librknnrt 1.6.0 hands over "
                "integers, and int64 ones, as later versions do; declare `dtype` in op.yml"
            )
        return result

    def run_batch(
        self, invocations: Sequence[Invocation], fill: int, alternates: bool, limit: float
    ) -> dict[int, RunResult]:
        """Run the kernel on several invocations like librknnrt 1.6.0; see StatefulKernel."""
        return self.first.run_batch(invocations, fill, alternates, limit)


def _has_int64(spec: OpSpec, invocation: Invocation) -> bool:
    """Whether the node has int64 tensors, as which integers in constant inputs arrive, too."""
    dtypes = [array.dtype for array in invocation.inputs.values()]
    dtypes += [np.dtype(dtype) for _, dtype in invocation.outputs.values()]
    constants = [param for param in spec.params if param.source]
    return np.dtype("int64") in dtypes or any(
        param.type.element.kind != "float" for param in constants
    )


def _fails(result: RunResult) -> bool:
    return bool(result.fault or result.status or result.events or result.leaks)


def every_version(
    spec: OpSpec, executor: Executor, root: Path, library: Path | None = None
) -> EveryVersion:
    """Return the kernel in a harness, for all versions of librknnrt; see HarnessKernel."""
    first, later = (
        HarnessKernel(spec, executor, root, convention, library=library)
        for convention in (CONVENTION, LATER)
    )
    return EveryVersion(first, later)


def cpu_kernel(spec: OpSpec, root: Path) -> InstrumentedKernel:
    """Return a repository's CPU kernel for this PC.

    Raises:
        OpkitError: the kernel is not built.
    """
    host = root / "build/rknn2/host"

    def kernel(folder: Path) -> EveryVersion:
        library = folder / f"librkcst_{spec.lower}.so"
        harness, runtime = root / "build/host/harness", host / "librknnrt.so"
        executor = on_this_pc(harness, runtime, library, "get_rknn_custom_op")
        return every_version(spec, executor, root, library)

    return InstrumentedKernel(
        kernel(root / "build/rknn2/x64"),
        lambda: kernel(host),
        lambda: kernel(host / "profiled").first,
    )
