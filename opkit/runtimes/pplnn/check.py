"""PPLNN's part of the check."""

from __future__ import annotations

from opkit.runtimes.check import Check
from opkit.runtimes.pplnn.kernels import CONVENTION, EngineKernel, host_kernel

CHECK = Check(convention=CONVENTION, cpu_kernel=host_kernel, vendor_kernel=EngineKernel)
