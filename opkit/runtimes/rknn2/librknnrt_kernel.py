"""An operator in the vendor's librknnrt: in a model that RKNN-Toolkit2 converts."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar

from opkit.check.harness_client import HarnessKernel
from opkit.description.spec import OpSpec
from opkit.runtimes.executor import Executor
from opkit.runtimes.invocation import (
    AT_FULL_SPEED,
    CallingConvention,
    Invocation,
    RunOptions,
    RunResult,
)
from opkit.runtimes.rknn2.chips import CONVERTER, IDLE_NPU, OPENCL, TENSOR_TYPES
from opkit.runtimes.rknn2.conversion import MODEL_CONVENTION, Conversion, ConversionError

COMPILE_TIME = 120.0
"""Seconds for a case with OpenCL: PoCL compiles its kernels, in the emulator."""


class LibrknnrtKernel:
    """The CPU kernel in a model of one node, which the vendor's library runs.

    Implements VendorKernel. The model computes with float16.

    Args:
        spec: the operator description.
        executor: the harness with driver.c, and its settings.
        root: the repository.
    """

    keeps_state: ClassVar[bool] = False
    precision: ClassVar[Mapping[str, str]] = MappingProxyType({"float32": "float16"})
    reads_reference: ClassVar[bool] = True
    convention: ClassVar[CallingConvention] = replace(
        MODEL_CONVENTION, input_types=TENSOR_TYPES, output_types=TENSOR_TYPES
    )

    def __init__(self, spec: OpSpec, executor: Executor, root: Path) -> None:
        settings = dict(executor.settings)
        self.conversion = Conversion(spec, shlex.split(settings.pop(CONVERTER)), root)
        self._has_opencl = settings.pop(OPENCL, "") != ""
        self._settings = {name: text.encode() for name, text in settings.items()}
        self._harness = HarnessKernel(spec, executor, root, self.convention)
        self._last: tuple[Invocation, RunResult] | None = None

    def run(self, invocation: Invocation, options: RunOptions = AT_FULL_SPEED) -> RunResult:
        """Convert a model for the arrays and run it; see Kernel.

        Only the time limit of the options has an effect: a second call with the same arrays has the
        same result.

        Raises:
            LeftOutError: the toolkit cannot convert the model, although the case is valid.
            RefusedError: librknnrt cannot load a param.
        """
        if self._last is None or self._last[0] is not invocation:
            self._last = invocation, self._run(invocation, options.limit)
        return self._last[1]

    def _run(self, invocation: Invocation, limit: float) -> RunResult:
        self.convention.marshal(self._harness.spec.params, invocation.params)  # refuses
        try:
            self.conversion.convert(invocation)
        except ConversionError as error:
            return RunResult(fault=str(error), timed_out=error.timed_out)
        self._harness.attachments = {**self._settings, "model": self.conversion.model.read_bytes()}
        limit = max(limit, COMPILE_TIME) if self._has_opencl else limit
        result = self._harness.run(invocation, RunOptions(limit=limit))
        result.leaks = []  # librknnrt's own
        if self._has_opencl:
            result.events = []  # PoCL's own: it handles signals, and sets environment variables
        if IDLE_NPU not in self._settings:  # the notes: see driver.c
            version = result.attachments.get("versions", b"?").decode()
            result.notes.append(f"the board's version {version}")
        elif "filled" in result.attachments:
            result.notes.append(
                "the check filled in inputs of rank 4, whose layout the NPU converts: the NPU's "
                "stand-in computes nothing"
            )
        if self._has_opencl:
            device = "GPU kernel, on PoCL," if "gpu" in result.attachments else "CPU kernel"
            result.notes.append(f"the {device} computed in librknnrt")
        return result

    def close(self) -> None:
        """End the processes; the next case starts others."""
        self.conversion.close()
        self._harness.close()
