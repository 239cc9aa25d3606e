"""The kernels of an operator's libraries for this PC, on the host runtime."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from opkit.check.executors import on_this_pc
from opkit.check.harness_client import HarnessKernel
from opkit.check.instrumented import InstrumentedKernel
from opkit.description.spec import OpSpec
from opkit.runtimes.invocation import AT_FULL_SPEED, Invocation, RunOptions, RunResult
from opkit.runtimes.rknn import armhf
from opkit.runtimes.rknn.calling_convention import CONVENTION

HOST = Path("build/host")
"""The folder of the harness, the host runtime and the guarded library in a repository."""


def host_kernel(
    spec: OpSpec,
    library: Path,
    host: Path,
    index: int = 0,
    uniforms: Mapping[str, int] = MappingProxyType({}),
    formats: Mapping[str, bytes] = MappingProxyType({}),
) -> HarnessKernel:
    """Return a kernel of an operator's library for this PC.

    Args:
        spec: the operator description.
        library: `lib<operator>.so`.
        host: the folder with `harness` and `libOpenVX.so`.
        index: the kernel's index in the list: 0 is the CPU kernel. Any other is a VX kernel: its
            callbacks run, but not its program.
        uniforms: name -> size in bytes of each _viv_uniform that a VX kernel declares; its
            initializer can set no other.
        formats: name of a tensor -> its attributes for vxQueryTensor, as driver.c reads them.

    Raises:
        OpkitError: one of the files does not exist.
    """
    executor = on_this_pc(
        host / "harness", host / "libOpenVX.so", library, f"vx_kernel_{spec.name}_list"
    )
    attachments = {
        "kernel_index": str(index).encode(),
        **{f"uniform:{name}": str(size).encode() for name, size in uniforms.items()},
        **{f"tensor:{name}": format_ for name, format_ in formats.items()},
    }
    return HarnessKernel(spec, executor, library.parent, CONVENTION, attachments, library)


@dataclass(frozen=True)
class CpuKernel(InstrumentedKernel):
    """The CPU kernel in both libraries for this PC, with notes on params that armhf changes.

    Attributes:
        spec: the operator description.
    """

    spec: OpSpec

    def run(self, invocation: Invocation, options: RunOptions = AT_FULL_SPEED) -> RunResult:
        """Run the kernel; see Kernel."""
        result = super().run(invocation, options)
        changed = armhf.warnings(self.spec.params, invocation.params)
        result.notes += [f"param '{name}': {problem}" for name, problem in changed]
        return result


def cpu_kernel(spec: OpSpec, root: Path) -> CpuKernel:
    """Return the CPU kernel of a repository that is built for this PC.

    Raises:
        OpkitError: the repository is not built.
    """
    name = f"lib{spec.lower}.so"
    return CpuKernel(
        delivered=host_kernel(spec, root / "build/x64" / name, root / HOST),
        make_instrumented=lambda: host_kernel(spec, root / HOST / name, root / HOST),
        make_profiled=lambda: host_kernel(spec, root / HOST / "profiled" / name, root / HOST),
        spec=spec,
    )
