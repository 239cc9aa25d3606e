"""The fourth part of a runtime's interface: how the cases run.

Asked by the tests of a repository, in pytest's process, after the build. May import numpy,
opkit.check and opkit.toolchains, but not SCons.
A runtime returns, in its module `check`:

    CHECK = Check(
        convention=CONVENTION,
        cpu_kernel=lambda spec, root: HarnessKernel(spec, executor(root), root, CONVENTION),
    )
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opkit.description.spec import OpSpec, Tensor
from opkit.runtimes.executor import Executor

if TYPE_CHECKING:
    from opkit.runtimes.invocation import CallingConvention, Kernel, SimulatedKernel


def _no_simulated_kernel(spec: OpSpec, executor: Executor, root: Path) -> SimulatedKernel:
    raise NotImplementedError  # the runtime's Build has no simulators


@dataclass(frozen=True, kw_only=True)
class Check:
    """How the cases run as a runtime would run them.

    Attributes:
        convention: how it calls kernels.
        conventions: ABI -> how it calls them there, where that differs.
        cpu_kernel: (operator, repository) -> the math in C as this runtime calls it, on this PC.
            Raises OpkitError: it is not built.
        simulated_kernel: (operator, one of its simulators, repository) -> the reference in it.
        test_functions: name -> function that opkit.testing exports for this runtime.
        lost_tensors: what becomes of a model's inputs and outputs of other dtypes, if no call
            fails.
        integer_note: (input) -> what a kernel gets in place of integers; empty if it gets them.
    """

    convention: CallingConvention
    cpu_kernel: Callable[[OpSpec, Path], Kernel]
    conventions: Mapping[str, CallingConvention] = field(default_factory=dict)
    simulated_kernel: Callable[[OpSpec, Executor, Path], SimulatedKernel] = _no_simulated_kernel
    test_functions: Mapping[str, Any] = field(default_factory=dict)
    lost_tensors: str = ""
    integer_note: Callable[[Tensor], str] = lambda input_: ""

    def convention_on(self, abi: str) -> CallingConvention:
        """Return how kernels are called on an ABI."""
        return self.conventions.get(abi, self.convention)
