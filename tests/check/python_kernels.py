"""Kernels in Python, for checks without a harness."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from opkit.runtimes.interface import available
from opkit.runtimes.invocation import (
    AT_FULL_SPEED,
    Array,
    CallingConvention,
    Invocation,
    Kernel,
    RunOptions,
    RunResult,
)
from opkit.testing import Operator


@dataclass(frozen=True)
class PythonKernel(Kernel):
    """A kernel with the tensors of ppl.nn, which has no state.

    Attributes:
        compute: a function from the inputs to the outputs.
        flushed_dtypes: see FlushingKernel.
        precision: see VendorKernel.
    """

    compute: Callable[[Mapping[str, Array]], dict[str, Array]]
    flushed_dtypes: Collection[str] = ()
    precision: Mapping[str, str] | None = None
    keeps_state = False
    reads_reference = False

    @property
    def convention(self) -> CallingConvention:
        return available()["pplnn"].check.convention

    def run(self, invocation: Invocation, options: RunOptions = AT_FULL_SPEED) -> RunResult:
        return RunResult(outputs=self.compute(invocation.inputs))


def write_operator(folder: Path, name: str, tensors: str, reference: str) -> Operator:
    """Write the files of an operator of ppl.nn; return it, without a build."""
    (folder / "op.yml").write_text(f"name: {name}\nruntimes: [pplnn]\n{tensors}")
    (folder / f"{name.lower()}_reference.py").write_text(reference)
    return Operator(folder)
