"""RKNN-Toolkit2's part of the check: the CPU kernel, and the toolkit's simulator."""

from __future__ import annotations

from opkit.description.spec import Tensor
from opkit.runtimes.check import Check
from opkit.runtimes.rknn2.gpu_checks import TEST_FUNCTIONS
from opkit.runtimes.rknn2.host_kernel import CONVENTION, cpu_kernel
from opkit.runtimes.rknn2.librknnrt_kernel import LibrknnrtKernel
from opkit.runtimes.rknn2.simulator import SimulatedReference


def _integer_note(input_: Tensor) -> str:
    if input_.dtype:
        return ""
    return (
        "librknnrt 1.6.0 hands them over as float32, and so does the check; to compute with "
        "integers, declare the input's `dtype` in op.yml"
    )


CHECK = Check(
    convention=CONVENTION,
    cpu_kernel=cpu_kernel,
    simulated_kernel=SimulatedReference,
    vendor_kernel=LibrknnrtKernel,
    test_functions=TEST_FUNCTIONS,
    integer_note=_integer_note,
)
