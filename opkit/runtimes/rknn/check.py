"""The check of RKNN-Toolkit 1.x: the host runtime runs the cases as librknn_runtime would."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from opkit.common.errors import OpkitError
from opkit.description.spec import OpSpec, Tensor
from opkit.mutation.plan import MutableSource, Plan
from opkit.opencl import clang
from opkit.runtimes.check import Check
from opkit.runtimes.rknn import boards, host_kernels
from opkit.runtimes.rknn.driver_kernels import vendor_kernel
from opkit.runtimes.rknn.host_kernels import CONVENTION, cpu_kernel
from opkit.runtimes.rknn.kernel_skeletons import vx_file
from opkit.runtimes.rknn.settings import has_vx_kernel, settings
from opkit.runtimes.rknn.vx.compiler import compile_vx
from opkit.runtimes.rknn.vx_checks import TEST_FUNCTIONS
from opkit.toolchains.clang_ast import DUMP


class VxSource:
    """The .vx file of an operator. It is a MutableSource."""

    def __init__(self, spec: OpSpec) -> None:
        self.path = vx_file(spec)
        self.root = spec.lower
        self.vx_version = settings(spec).vx_version

    def tree(self, repository: Path) -> str:
        """Return its syntax tree, without parts that clang accepts only after a correction."""
        folder = (repository / clang.FOLDER).resolve()
        flags = (*clang.language(self.vx_version), *clang.code(sanitize=False, debug=False))
        run = clang.run_unchecked(
            *(clang.zig(), "clang", "-x", "cl", *flags, *clang.prelude(folder, flags)),
            *("-iquote", ".", "-fsyntax-only", "-w", *DUMP, self.path),
            folder=repository,
        )
        if not run.stdout:
            raise OpkitError(f"{self.path} cannot be read:\n{run.stderr.strip()}")
        return run.stdout

    def build(self, repository: Path) -> Sequence[Path]:
        """Compile the kernel without sanitizers: their code contains line numbers."""
        program = compile_vx(
            repository / self.path,
            repository / clang.FOLDER,
            sanitize=False,
            vx_version=self.vx_version,
            kernels=(self.root,),
        )
        return [program.library]


def _mutable_sources(spec: OpSpec, _: Plan) -> list[MutableSource]:
    is_own = has_vx_kernel(spec) and not spec.elementwise
    return [VxSource(spec)] if is_own else []


def _integer_note(input_: Tensor) -> str:
    return "RKNN-Toolkit hands custom operators float16, in which integers are exact up to 2048"


CHECK = Check(
    convention=CONVENTION,
    conventions={boards.ARMHF: host_kernels.ARMHF_CONVENTION},
    cpu_kernel=cpu_kernel,
    vendor_kernel=vendor_kernel,
    mutable_sources=_mutable_sources,
    test_functions=TEST_FUNCTIONS,
    lost_tensors="librknn_runtime leaves them empty and no call fails",
    integer_note=_integer_note,
)
