"""A kernel in two builds."""

from __future__ import annotations

from dataclasses import dataclass

from opkit.runtimes.invocation import CallingConvention, Invocation, Kernel, RunResult


@dataclass(frozen=True)
class InstrumentedKernel:
    """A kernel in two builds; implements Kernel.

    Attributes:
        delivered: compiled as for a product, for measuring the time.
        instrumented: with debug information, and reports of undefined behavior.
    """

    delivered: Kernel
    instrumented: Kernel
    keeps_state = True

    @property
    def convention(self) -> CallingConvention:
        """Their calling convention."""
        return self.delivered.convention

    def run(
        self, invocation: Invocation, fill: int | None = None, repeat: int = 1, limit: float = 10
    ) -> RunResult:
        """Run the kernel; see Kernel."""
        kernel = self.delivered if fill is None else self.instrumented
        return kernel.run(invocation, fill, repeat, limit)
