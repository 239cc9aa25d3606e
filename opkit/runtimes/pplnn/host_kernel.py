"""The kernel on this PC, in the harness."""

from __future__ import annotations

from pathlib import Path

from opkit.check.executors import on_this_pc
from opkit.check.harness.client import HarnessKernel
from opkit.description.spec import OpSpec
from opkit.runtimes.pplnn.calling_convention import CONVENTION


def host_kernel(spec: OpSpec, root: Path) -> HarnessKernel:
    """Return the kernel of a repository that is built for this PC.

    Raises:
        OpkitError: it is not.
    """
    host = root / "build/pplnn/host"
    library = host / f"lib{spec.lower}.so"
    executor = on_this_pc(
        root / "build/host/harness", host / "libpplnn_driver.so", library, f"{spec.lower}_pplnn"
    )
    return HarnessKernel(spec, executor, root, CONVENTION, library=library)
