"""The kernels of an operator that tests check."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CheckedKernel:
    """A kernel that tests check.

    Attributes:
        name: its name in the table of cases.
        check: the function of opkit.testing that checks it.
    """

    name: str
    check: str

    def on(self, executor: str) -> str:
        """Return its name in the table of cases on another executor than this PC."""
        return f"{self.name}, {executor}"


CPU_KERNEL = CheckedKernel("CPU kernel", "check_cpu_kernel")
"""The math in C, as a runtime calls it; every operator has one."""
