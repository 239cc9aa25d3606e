"""The kernel on this PC, in the harness."""

from __future__ import annotations

from pathlib import Path

from opkit.check.harness.client import HarnessKernel
from opkit.description.spec import OpSpec
from opkit.errors import OpkitError
from opkit.runtimes.executor import Executor
from opkit.runtimes.pplnn import calling_convention


def host_kernel(spec: OpSpec, root: Path) -> HarnessKernel:
    """Return the kernel of a repository that is built for this PC.

    Raises:
        OpkitError: it is not.
    """
    build = root.absolute() / "build"
    library = build / f"pplnn/host/lib{spec.lower}.so"
    files = [build / "host/harness", build / "pplnn/host/libpplnn_driver.so", library]
    for path in files:
        if not path.is_file():
            raise OpkitError(f"{path} not found; run `scons target=x64`")
    executor = Executor("x64", (*map(str, files), f"{spec.lower}_pplnn"), measures=True)
    return HarnessKernel(spec, executor, root, calling_convention, library=library)
