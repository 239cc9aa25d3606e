"""The CPU kernel in the boards' own driver, and in their runtime of models above it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from opkit.check.harness_client import HarnessKernel
from opkit.description.spec import OpSpec
from opkit.runtimes.executor import Executor
from opkit.runtimes.invocation import AT_FULL_SPEED, Invocation, RunOptions, RunResult
from opkit.runtimes.rknn import armhf, armhf_convention
from opkit.runtimes.rknn.calling_convention import CONVENTION
from opkit.runtimes.rknn.driver.folder import MODEL
from opkit.runtimes.rknn.driver.model import model

_CONVENTIONS = {armhf.ABI: armhf_convention.CONVENTION}

_RUNTIME_STATUSES = {
    -1: "RKNN_ERR_FAIL",
    -2: "RKNN_ERR_TIMEOUT",
    -3: "RKNN_ERR_DEVICE_UNAVAILABLE",
    -4: "RKNN_ERR_MALLOC_FAIL",
    -5: "RKNN_ERR_PARAM_INVALID",
    -6: "RKNN_ERR_MODEL_INVALID",
    -7: "RKNN_ERR_CTX_INVALID",
    -8: "RKNN_ERR_INPUT_INVALID",
    -9: "RKNN_ERR_OUTPUT_INVALID",
    -10: "RKNN_ERR_DEVICE_UNMATCH",
    -13: "RKNN_ERR_TARGET_PLATFORM_UNMATCH",
    -14: "RKNN_ERR_NON_PRE_COMPILED_MODEL_ON_MINI_DRIVER",
}

_OWN_CHANGE = "rknn_init changes the process's environment"
"""The event of librknn_runtime itself."""


class DriverKernel(HarnessKernel):
    """The kernel of the device library, called by libOpenVX; implements VendorKernel."""

    precision: Mapping[str, str] = MappingProxyType({})
    """The driver keeps every dtype as it is."""

    def __init__(self, spec: OpSpec, executor: Executor, root: Path) -> None:
        convention = _CONVENTIONS.get(executor.abi, CONVENTION)
        super().__init__(spec, executor, root, convention)


class ModelKernel(DriverKernel):
    """The kernel in a model, run by librknn_runtime; implements VendorKernel."""

    def __init__(self, spec: OpSpec, executor: Executor, root: Path) -> None:
        super().__init__(spec, executor, root)
        self.convention = replace(self.convention, statuses=_RUNTIME_STATUSES)
        self.keeps_state = False  # one model for each process
        self.abi = executor.abi
        self.device_library = root / f"build/{self.abi}/lib{spec.lower}.so"

    def run(self, invocation: Invocation, options: RunOptions = AT_FULL_SPEED) -> RunResult:
        """Run the kernel; see Kernel.

        Memory is not filled: librknn_runtime 1.7.5 requires new memory to be zero; see model.c.
        """
        result = super().run(invocation, replace(options, fill=None))
        result.events = [event for event in result.events if not event.startswith(_OWN_CHANGE)]
        return result

    def attachments_of(self, tensors: Invocation) -> Mapping[str, bytes]:
        """Return the model as an attachment."""
        library = self.device_library.read_bytes()
        return {MODEL: model(self.spec, tensors, self.abi, library)}


def vendor_kernel(spec: OpSpec, executor: Executor, root: Path) -> Any:
    """Return the kernel of an executor; see Check.vendor_kernel."""
    is_model = MODEL in executor.settings
    return (ModelKernel if is_model else DriverKernel)(spec, executor, root)
