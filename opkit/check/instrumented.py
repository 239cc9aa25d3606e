"""A kernel in several builds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from opkit.runtimes.invocation import (
    AT_FULL_SPEED,
    CallingConvention,
    Invocation,
    RunOptions,
    RunResult,
    StatefulKernel,
    ThreadedKernel,
)


@dataclass(frozen=True)
class InstrumentedKernel:
    """A kernel in three builds; implements StatefulKernel and ProfiledKernel.

    Attributes:
        delivered: compiled as for a product, for measuring the time.
        make_instrumented: makes the kernel of the build with debug information and reports of
            undefined behavior; only a check needs that build.
        make_profiled: makes the kernel of the third build, which exists only for `scons report`.
    """

    delivered: StatefulKernel
    make_instrumented: Callable[[], StatefulKernel]
    make_profiled: Callable[[], StatefulKernel]
    keeps_state = True

    @property
    def thread_counts(self) -> Sequence[int]:
        """The counts of threads for a check besides 1; see ThreadedKernel."""
        kernel = self.instrumented
        return kernel.thread_counts if isinstance(kernel, ThreadedKernel) else ()

    @property
    def convention(self) -> CallingConvention:
        """Their calling convention."""
        return self.delivered.convention

    def run(self, invocation: Invocation, options: RunOptions = AT_FULL_SPEED) -> RunResult:
        """Run the kernel; see Kernel."""
        kernel = self.delivered if options.fill is None else self.instrumented
        return kernel.run(invocation, options)

    def run_batch(
        self, invocations: Sequence[Invocation], fill: int, alternates: bool, limit: float
    ) -> dict[int, RunResult]:
        """Run the kernel on several invocations in one process; see StatefulKernel."""
        return self.instrumented.run_batch(invocations, fill, alternates, limit)

    def profile(self, invocation: Invocation, repeat: int, limit: float) -> RunResult:
        """Run the profiled build several times; see ProfiledKernel.

        Raises:
            OpkitError: that build does not exist.
        """
        kernel = self.profiled
        return kernel.run(invocation, RunOptions(None, repeat, limit, profiled=True))

    @cached_property
    def instrumented(self) -> StatefulKernel:
        """The kernel of the build for a check.

        Raises:
            OpkitError: that build does not exist.
        """
        return self.make_instrumented()

    @cached_property
    def profiled(self) -> StatefulKernel:
        """The kernel of the build for a report.

        Raises:
            OpkitError: that build does not exist.
        """
        return self.make_profiled()
