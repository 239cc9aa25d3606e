"""The check of RKNN-Toolkit 1.x: the host runtime runs the cases as librknn_runtime would."""

from __future__ import annotations

from opkit.description.spec import OpSpec, Tensor
from opkit.mutation.plan import MutableSource
from opkit.runtimes.check import Check
from opkit.runtimes.rknn import armhf, armhf_convention
from opkit.runtimes.rknn.calling_convention import CONVENTION
from opkit.runtimes.rknn.driver.kernel import vendor_kernel
from opkit.runtimes.rknn.host_kernels import cpu_kernel
from opkit.runtimes.rknn.settings import settings
from opkit.runtimes.rknn.testing import TEST_FUNCTIONS
from opkit.runtimes.rknn.vx.mutation import VxSource


def _mutable_sources(spec: OpSpec) -> list[MutableSource]:
    is_own = settings(spec).has_vx_kernel and not spec.elementwise
    return [VxSource(spec)] if is_own else []


def _integer_note(input_: Tensor) -> str:
    return "RKNN-Toolkit hands custom operators float16, in which integers are exact up to 2048"


CHECK = Check(
    convention=CONVENTION,
    conventions={armhf.ABI: armhf_convention.CONVENTION},
    cpu_kernel=cpu_kernel,
    vendor_kernel=vendor_kernel,
    mutable_sources=_mutable_sources,
    test_functions=TEST_FUNCTIONS,
    lost_tensors="librknn_runtime leaves them empty and no call fails",
    integer_note=_integer_note,
)
