"""The kernels of an operator, and which of them op.yml promises."""

from __future__ import annotations

from opkit.check.run_log import Kernel
from opkit.description.spec import OpSpec

CPU_KERNEL = Kernel("CPU kernel", "check_cpu_kernel", "rknn_kernel_{}.c")
VX_KERNEL = Kernel("VX kernel", "check_vx_kernel", "rknn_kernel_{}.vx")


def promised(spec: OpSpec) -> dict[Kernel, str]:
    """Return the kernels that `scons check` has to have seen, each with the reason."""
    promises = {CPU_KERNEL: "every operator has one"}
    if spec.kernel_index == 1:
        promises[VX_KERNEL] = "op.yml says kernel_index: 1, so that the board runs it"
    return promises
