"""The fourth part of a runtime's interface: the execution of the cases.

Used by the tests of a repository, in pytest's process, after the build. May import numpy,
opkit.check and opkit.toolchains, but not SCons.
A runtime returns, in its module `check`:

    CHECK = Check(
        convention=CONVENTION,
        cpu_kernel=lambda spec, root: HarnessKernel(spec, executor(root), root, CONVENTION),
    )
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opkit.description.spec import OpSpec, Tensor
from opkit.runtimes.executor import Executor

if TYPE_CHECKING:
    from opkit.mutation.plan import MutableSource, Plan
    from opkit.runtimes.invocation import CallingConvention, Kernel, SimulatedKernel, VendorKernel


def _no_vendor_kernel(spec: OpSpec, executor: Executor, root: Path) -> VendorKernel:
    raise NotImplementedError  # not called: the runtime's Build names no vendor's runtime


def _no_simulated_kernel(spec: OpSpec, executor: Executor, root: Path) -> SimulatedKernel:
    raise NotImplementedError  # not called: the runtime's Build has no simulators


@dataclass(frozen=True, kw_only=True)
class Check:
    """A runtime's part of the check: its kernels and calling conventions.

    Attributes:
        convention: its calling convention.
        conventions: ABI -> its calling convention there, if that differs.
        cpu_kernel: (operator, repository) -> the math in C, called by its convention on this PC.
            Raises OpkitError: the kernel is not built.
        simulated_kernel: (operator, one of its simulators, repository) -> the reference in the
            simulator.
        vendor_kernel: (operator, executor of one of its vendor_programs or vendor_executors,
            repository) -> the kernel in the vendor's own runtime.
        mutable_sources: (operator, plan) -> the sources that `scons check mutate=` changes besides
            the math in C.
        test_functions: name -> function that opkit.testing exports for this runtime.
        lost_tensors: the effect of unsupported dtypes of a model's inputs and outputs, if no call
            fails; for messages.
        integer_note: (input) -> a note on the conversion of integers; empty: kernels get integers.
    """

    convention: CallingConvention
    cpu_kernel: Callable[[OpSpec, Path], Kernel]
    conventions: Mapping[str, CallingConvention] = field(default_factory=dict)
    simulated_kernel: Callable[[OpSpec, Executor, Path], SimulatedKernel] = _no_simulated_kernel
    vendor_kernel: Callable[[OpSpec, Executor, Path], VendorKernel] = _no_vendor_kernel
    mutable_sources: Callable[[OpSpec, Plan], Sequence[MutableSource]] = lambda spec, plan: ()
    test_functions: Mapping[str, Any] = field(default_factory=dict)
    lost_tensors: str = ""
    integer_note: Callable[[Tensor], str] = lambda input_: ""

    def convention_on(self, abi: str) -> CallingConvention:
        """Return the calling convention on an ABI."""
        return self.conventions.get(abi, self.convention)
