"""How the cases run as PPLNN would run them."""

from __future__ import annotations

from opkit.runtimes.check import Check
from opkit.runtimes.pplnn import calling_convention
from opkit.runtimes.pplnn.host_kernel import host_kernel

CHECK = Check(convention=calling_convention, cpu_kernel=host_kernel)
