"""Functions of this runtime for tests; opkit.testing exports them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from opkit.check.cases import Case
from opkit.check.checking import (
    Candidate,
    check_kernels,
    errors_fail_test,
    read_tolerance,
    run_kernel,
)
from opkit.check.comparison import Tolerance
from opkit.check.mistakes import CheckError
from opkit.check.operators import Operator, operator_of
from opkit.check.results import Result, running_test
from opkit.runtimes.rknn.kernels import VX_KERNEL, require_vx_kernel
from opkit.runtimes.rknn.vx.board import STRICT
from opkit.runtimes.rknn.vx.kernel import POISON, WRITES_OUTSIDE, EmulatedKernel
from opkit.runtimes.rknn.vx.launch import Border, TensorFormat

__all__ = ["Border", "TensorFormat", "check_vx_kernel", "run_vx_kernel"]


def vx_kernel(
    operator: Operator,
    border: Border | None = None,
    writes_outside: str = WRITES_OUTSIDE[0],
    formats: Mapping[str, TensorFormat] | None = None,
    board: str = STRICT,
) -> EmulatedKernel:
    """Return the VX kernel of an operator, in the emulator; see check_vx_kernel.

    Raises:
        OpkitError: the operator has none, or an argument is invalid.
    """
    require_vx_kernel(operator.spec, "this test runs the VX kernel", "delete the test")
    return _vx_kernel(
        operator, border or POISON, writes_outside, tuple((formats or {}).items()), board
    )


@cache
def _vx_kernel(
    operator: Operator,
    border: Border,
    writes_outside: str,
    formats: tuple[tuple[str, TensorFormat], ...],
    board: str,
) -> EmulatedKernel:
    return EmulatedKernel(
        operator.spec, operator.root, border, writes_outside, dict(formats), board
    )


def run_vx_kernel(
    case: Case,
    max_ulp: int = 0,
    max_error: float | None = None,
    border: Border | None = None,
    writes_outside: str = WRITES_OUTSIDE[0],
    formats: Mapping[str, TensorFormat] | None = None,
    board: str = STRICT,
    operator: Operator | None = None,
) -> Result:
    """Run the VX kernel on a case; see check_vx_kernel.

    Raises:
        OpkitError: the repository is not built, or its op.yml or its .vx file is wrong.
    """
    operator = operator or operator_of(running_test().root)
    kernel = vx_kernel(operator, border, writes_outside, formats, board)
    return run_kernel(kernel, operator, case, VX_KERNEL.name, Tolerance(max_ulp, max_error))


def check_vx_kernel(
    case: Case,
    max_ulp: int = 0,
    max_error: float | None = None,
    border: Border | None = None,
    writes_outside: str = WRITES_OUTSIDE[0],
    formats: Mapping[str, TensorFormat] | None = None,
    board: str = STRICT,
    operator: Operator | None = None,
) -> None:
    """Fail the test unless the VX kernel computes what the reference computes.

    Its initializer says over which work items it runs, what its uniforms hold and what it reads
    outside of a tensor. The emulator runs the .vx file so, in both orders of the work items and
    with two fills of uninitialized memory. The case fails on results that differ, output
    elements that were never written, undefined behavior, a crash, a loop without end, and an
    initializer that fails.

    Args:
        case: the arrays and params; a tensor's last dimension is x, the one before it y, and all
            others are z.
        max_ulp: as for check_cpu_kernel. The emulator's exp, log, rsqrt and division are not the
            device's: state what the operator tolerates.
        max_error: as for check_cpu_kernel.
        border: what reads outside of a tensor return where the initializer sets no border, as the
            driver is expected to have it. By default poison, on which no result may depend. A
            border that the initializer sets has precedence, as on the board.
        writes_outside: "dropped" where the kernel writes outside of a tensor on purpose, which a
            board ignores; "failure" by default. Writes of work items that are there only because
            the launch is rounded up (to whole groups; in x to a multiple of 4) never fail a case.
            Those that are dropped are counted below the table of results.
        formats: name of a tensor -> what the initializer learns of it from vxQueryTensor besides
            its shape and type: its quantization, or that its elements are bfloat16.
        board: "lenient" for a published kernel that needs it: buffers have some bytes behind their
            elements, and a launch without localWorkSize is rounded up to whole groups of
            reqd_work_group_size. Both are noted below the table of results. "strict" by default:
            both fail the case.
        operator: the operator of the kernel; this repository's by default.
    """
    with errors_fail_test():
        tolerance = read_tolerance(case, max_ulp, max_error)
        operator = operator or operator_of(running_test().root)
        kernel = vx_kernel(operator, border, writes_outside, formats, board)
        candidate = Candidate(VX_KERNEL.name, kernel, tolerance)
        if problems := check_kernels(operator, [candidate], case):
            raise CheckError("\n".join(filter(None, [*problems, kernel.hint])))
