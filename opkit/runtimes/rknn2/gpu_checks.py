"""Functions of this runtime for tests; opkit.testing exports them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from functools import cache

from opkit.check.cases import Case
from opkit.check.checking import Candidate, check_kernels, errors_fail_test, read_tolerance
from opkit.check.mistakes import CheckError
from opkit.check.operators import Operator, operator_of
from opkit.check.results import running_test
from opkit.common.errors import OpkitError
from opkit.runtimes.invocation import Kernel
from opkit.runtimes.rknn2.find_opencl import find_opencl
from opkit.runtimes.rknn2.gpu_files import GPU, GPU_KERNEL
from opkit.runtimes.rknn2.gpu_kernel import EmulatedGpuKernel, RealGpuKernel


@cache
def _kernels(operator: Operator) -> Mapping[str, Kernel]:
    """Return the GPU kernel in the emulator, and in the OpenCL of this PC if it has one."""
    kernels: dict[str, Kernel] = {GPU_KERNEL.name: EmulatedGpuKernel(operator.spec, operator.root)}
    wanted = os.environ.get("RKNN_OP_REAL_OPENCL", "")
    # Most PCs have no OpenCL: the emulator alone checks the kernel. One that is named must work.
    with nullcontext() if wanted else suppress(OpkitError):
        real = find_opencl(operator.root / "build/cl", wanted)
        name = GPU_KERNEL.on("PoCL" if "PoCL" in real.platform else "OpenCL")
        kernels[name] = RealGpuKernel(operator.spec, operator.root, real)
    return kernels


def check_gpu_kernel(
    case: Case,
    max_ulp: int | Mapping[str, int] = 0,
    max_error: float | Mapping[str, float] | None = None,
    operator: Operator | None = None,
) -> None:
    """Fail the test unless the GPU kernel agrees with the reference.

    The kernel runs as on the board: librknnrt's tensors are memory of the GPU, and the launch of
    `<op>_gpu.h` sets work items and arguments. It runs in an emulator of OpenCL, in both orders of
    the work items, with two fills of uninitialized memory, and with groups of several sizes where
    the launch leaves them to the driver. The case fails on wrong results, accesses outside of the
    tensors, output elements that were never written, undefined behavior, races, objects of OpenCL
    that are not released. If this PC has OpenCL, the kernel runs there, too.

    Args:
        case: the arrays and params.
        max_ulp: as for check_cpu_kernel. The GPU's exp, log, rsqrt and division are less exact than
            C's: state what the operator tolerates.
        max_error: as for check_cpu_kernel.
        operator: the operator of the kernel; this repository's by default.
    """
    with errors_fail_test(GPU_KERNEL.name, case):
        operator = operator or operator_of(running_test().root)
        if GPU not in operator.spec.kernels:
            raise OpkitError(
                f"this test runs the GPU kernel: {operator.spec.name} has none, because op.yml has "
                f"`kernels: [{', '.join(operator.spec.kernels)}]`; delete the test, or add gpu and "
                "run scons"
            )
        tolerance = read_tolerance(operator, case, max_ulp, max_error)
        kernels = _kernels(operator)
        candidates = [Candidate(name, kernel, tolerance) for name, kernel in kernels.items()]
        if problems := check_kernels(operator, candidates, case):
            raise CheckError("\n".join(problems))


TEST_FUNCTIONS = {"check_gpu_kernel": check_gpu_kernel}
