"""RKNN-Toolkit2's part of the check: the CPU and GPU kernels, and the toolkit's simulator."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from opkit.common.errors import OpkitError
from opkit.description.spec import OpSpec, Tensor
from opkit.mutation.plan import ComputeHeader, MutableSource, Plan
from opkit.opencl.opencl_c import run_clang
from opkit.runtimes.check import Check
from opkit.runtimes.rknn2.cl_compiler import FOLDER
from opkit.runtimes.rknn2.gpu_checks import TEST_FUNCTIONS
from opkit.runtimes.rknn2.gpu_files import (
    BUILD_FOLDER,
    GPU,
    kernel_file,
    kernel_header,
    kernel_name,
    kernel_source,
)
from opkit.runtimes.rknn2.host_kernel import CONVENTION, cpu_kernel
from opkit.runtimes.rknn2.librknnrt_kernel import LibrknnrtKernel
from opkit.runtimes.rknn2.simulator import SimulatedReference
from opkit.toolchains.clang_ast import DUMP


def _integer_note(input_: Tensor) -> str:
    if input_.dtype:
        return ""
    return (
        "librknnrt 1.6.0 hands them over as float32, and so does the check; to compute with "
        "integers, declare the input's `dtype` in op.yml"
    )


class ClSource:
    """The .cl file of an operator. It is a MutableSource.

    Args:
        spec: the operator.
        plan: has the commands that compile its text into the plugin.
    """

    def __init__(self, spec: OpSpec, plan: Plan) -> None:
        self.path = kernel_file(spec)
        self.root = kernel_name(spec)
        self.spec = spec
        self.plugin = ComputeHeader(spec.math_file, plan)

    def tree(self, repository: Path) -> str:
        """Return its syntax tree."""
        return self._clang(repository, "-fsyntax-only", "-w", *DUMP)

    def build(self, repository: Path) -> Sequence[Path]:
        """Compile the kernel, and link the plugin with its text."""
        text = (repository / self.path).read_text(encoding="utf-8")
        header = repository / BUILD_FOLDER / kernel_header(self.spec)
        header.write_text(kernel_source(text, self.spec), encoding="utf-8")
        self.plugin.build(repository)
        made = repository / FOLDER / "mutant.o"
        self._clang(repository, "-w", "-O2", "-c", "-o", str(made.resolve()))
        return [made]

    def _clang(self, repository: Path, *flags: str) -> str:
        source = repository / self.path
        text = source.read_text(encoding="utf-8")
        run = run_clang(source, text, (repository / FOLDER).resolve(), *flags)
        if run.returncode:
            raise OpkitError(run.stderr.strip())
        return run.stdout


def _mutable_sources(spec: OpSpec, plan: Plan) -> list[MutableSource]:
    is_own = GPU in spec.kernels and not spec.elementwise
    return [ClSource(spec, plan)] if is_own else []


CHECK = Check(
    convention=CONVENTION,
    cpu_kernel=cpu_kernel,
    simulated_kernel=SimulatedReference,
    vendor_kernel=LibrknnrtKernel,
    mutable_sources=_mutable_sources,
    test_functions=TEST_FUNCTIONS,
    integer_note=_integer_note,
)
