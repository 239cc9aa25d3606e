"""PPLNN's part of the check."""

from __future__ import annotations

from opkit.runtimes.check import Check
from opkit.runtimes.pplnn.calling_convention import CONVENTION
from opkit.runtimes.pplnn.engine_kernel import EngineKernel
from opkit.runtimes.pplnn.host_kernel import host_kernel

CHECK = Check(
    convention=CONVENTION,
    cpu_kernel=host_kernel,
    vendor_kernel=EngineKernel,
)
