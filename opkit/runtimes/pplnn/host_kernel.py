"""The kernel on this PC, in the harness."""

from __future__ import annotations

from pathlib import Path

from opkit.check.executors import on_this_pc
from opkit.check.harness_client import HarnessKernel
from opkit.check.instrumented import InstrumentedKernel
from opkit.description.spec import OpSpec
from opkit.runtimes.pplnn.calling_convention import CONVENTION


def host_kernel(spec: OpSpec, root: Path) -> InstrumentedKernel:
    """Return a repository's kernel for this PC.

    Raises:
        OpkitError: the kernel is not built.
    """
    host = root / "build/pplnn/host"

    def kernel(folder: Path) -> HarnessKernel:
        library = folder / f"lib{spec.lower}.so"
        harness, driver = root / "build/host/harness", host / "libpplnn_driver.so"
        executor = on_this_pc(harness, driver, library, f"{spec.lower}_pplnn")
        return HarnessKernel(spec, executor, root, CONVENTION, library=library)

    return InstrumentedKernel(
        kernel(host / "delivered"), lambda: kernel(host), lambda: kernel(host / "profiled")
    )
