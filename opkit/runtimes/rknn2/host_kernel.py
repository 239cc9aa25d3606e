"""The plugin for this PC, on the stand-in for librknnrt."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from opkit.check.harness.client import HarnessKernel
from opkit.description.spec import OpSpec
from opkit.errors import OpkitError
from opkit.runtimes.executor import Executor
from opkit.runtimes.invocation import Invocation, RunResult
from opkit.runtimes.rknn2 import calling_convention

ENTRY = "get_rknn_custom_op"


class EveryVersion(HarnessKernel):
    """The CPU kernel as librknnrt 1.6.0 calls it and, where that differs, as later versions do."""

    def __init__(
        self,
        spec: OpSpec,
        executor: Executor,
        root: Path,
        attachments: Mapping[str, bytes] | None = None,
        library: Path | None = None,
    ) -> None:
        super().__init__(spec, executor, root, calling_convention, attachments, library)
        later = calling_convention.LATER
        self._later = HarnessKernel(spec, executor, root, later, attachments, library)

    def run(
        self, invocation: Invocation, fill: int | None = None, repeat: int = 1, limit: float = 10
    ) -> RunResult:
        """Run the kernel; see Kernel. What only later versions find is said to be theirs."""
        result = super().run(invocation, fill, repeat, limit)
        if _fails(result) or not self._has_int64(invocation):
            return result
        later = self._later.run(invocation, fill, repeat, limit)
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

    def _has_int64(self, invocation: Invocation) -> bool:
        """Whether a tensor of the node is int64, or a constant input, as which integers come."""
        dtypes = [array.dtype for array in invocation.inputs.values()]
        dtypes += [np.dtype(dtype) for _, dtype in invocation.outputs.values()]
        constants = [param for param in self.spec.params if param.source]
        return np.dtype("int64") in dtypes or any(
            param.type.element.kind != "float" for param in constants
        )

    def close(self) -> None:
        """End the harness, and the other one."""
        super().close()
        self._later.close()


def _fails(result: RunResult) -> bool:
    return bool(result.fault or result.status or result.events or result.leaks)


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
    return EveryVersion(spec, executor, root, attachments, library)
