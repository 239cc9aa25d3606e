"""The plugin for this PC, on the stand-in for librknnrt."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from opkit.check.executors import Executor
from opkit.check.harness.client import HarnessKernel
from opkit.description.spec import OpSpec
from opkit.errors import OpkitError
from opkit.runtimes.rknn2 import calling_convention

ENTRY = "get_rknn_custom_op"


def cpu_kernel(
    spec: OpSpec, root: Path, attachments: Mapping[str, bytes] | None = None
) -> HarnessKernel:
    """Return the CPU kernel of a repository that is built for this PC.

    Args:
        spec: the operator description.
        root: the repository.
        attachments: attributes that are other than the values of the params; see driver.c.

    Raises:
        OpkitError: the repository is not built.
    """
    build = root.absolute() / "build"
    library = build / f"rknn2/x64/librkcst_{spec.lower}.so"
    files = [build / "host/harness", build / "rknn2/host/librknnrt.so", library]
    for path in files:
        if not path.is_file():
            raise OpkitError(f"{path} not found; run `scons target=x64`")
    executor = Executor("x64", (*map(str, files), ENTRY), measures=True)
    return HarnessKernel(spec, executor, root, calling_convention, attachments, library)
