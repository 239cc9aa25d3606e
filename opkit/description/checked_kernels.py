"""The kernels that an operator's tests check."""

from __future__ import annotations

from typing import NamedTuple


class CheckedKernel(NamedTuple):
    """A kernel that tests check.

    Attributes:
        name: the name in the table of cases.
        check: the name of its check function in opkit.testing.
    """

    name: str
    check: str

    def on(self, executor: str) -> str:
        """Return the name in the table of cases for another executor than this PC."""
        return f"{self.name}, {executor}"


CPU_KERNEL = CheckedKernel("CPU kernel", "check_cpu_kernel")
"""The math in C, as a runtime calls it; every operator has one."""
