"""Functions of this runtime for tests; opkit.testing exports them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from opkit.check.cases import Case
from opkit.check.checking import (
    Candidate,
    check_kernels,
    errors_fail_test,
    read_tolerance,
    run_kernel,
)
from opkit.check.mistakes import CheckError
from opkit.check.operators import Operator, operator_of
from opkit.check.results import Result, running_test
from opkit.check.tolerance import Tolerance
from opkit.runtimes.rknn.settings import VX_KERNEL
from opkit.runtimes.rknn.vx.emulated_kernel import POISON, WRITES_OUTSIDE, EmulatedKernel
from opkit.runtimes.rknn.vx.launch import STRICT, Border, TensorFormat
from opkit.runtimes.rknn.vx_requirements import require_vx_kernel


def vx_kernel(
    operator: Operator,
    border: Border | None = None,
    writes_outside: str = WRITES_OUTSIDE[0],
    formats: Mapping[str, TensorFormat] | None = None,
    board: str = STRICT,
) -> EmulatedKernel:
    """Return the VX kernel of an operator, in the emulator; see check_vx_kernel.

    Raises:
        OpkitError: the operator has no VX kernel, or an argument is invalid.
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


def _quantized(case: Case, formats: Mapping[str, TensorFormat]) -> Case:
    """Return a case with the quantization of its tensors."""
    quantization = {name: format_.quantization for name, format_ in formats.items()}
    return replace(
        case, quantization={name: each for name, each in quantization.items() if each is not None}
    )


def run_vx_kernel(
    case: Case,
    max_ulp: int | Mapping[str, int] = 0,
    max_error: float | Mapping[str, float] | None = None,
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
    case = _quantized(case, formats or {})
    return run_kernel(kernel, operator, case, VX_KERNEL.name, Tolerance(max_ulp, max_error))


def check_vx_kernel(
    case: Case,
    max_ulp: int | Mapping[str, int] = 0,
    max_error: float | Mapping[str, float] | None = None,
    border: Border | None = None,
    writes_outside: str = WRITES_OUTSIDE[0],
    formats: Mapping[str, TensorFormat] | None = None,
    board: str = STRICT,
    operator: Operator | None = None,
) -> None:
    """Fail the test unless the VX kernel agrees with the reference.

    The initializer sets the work items, the uniforms and the border. With these the emulator runs
    the .vx file, in both orders of the work items and with two fills of uninitialized memory. The
    case fails on wrong results, output elements that were never written, undefined behavior, a
    crash, an endless loop, and an error of the initializer.

    Args:
        case: the arrays and params; a tensor's last dimension is x, the one before it y, and all
            others are z.
        max_ulp: as for check_cpu_kernel. The emulator's exp, log, rsqrt and division are not the
            device's: state what the operator tolerates.
        max_error: as for check_cpu_kernel.
        border: the value of reads outside of a tensor if the initializer sets no border: the
            driver's expected default. By default poison, on which no result may depend. The
            initializer's border has precedence, as on the board.
        writes_outside: "dropped" if the kernel writes outside of a tensor on purpose, because a
            board ignores such writes; "failure" by default. Writes of padding work items, which
            round the launch up (to whole groups; in x to a multiple of 4), never fail a case.
            Dropped writes are counted below the table of results.
        formats: name of a tensor -> its attributes for vxQueryTensor besides shape and type: its
            quantization, or bfloat16 elements. Of quantized integers the reference gets and returns
            the numbers; its results are rounded to the nearest elements.
        board: "lenient" for a published kernel that needs it: buffers have some bytes behind their
            elements, and a launch without localWorkSize is rounded up to whole groups of
            reqd_work_group_size. Both are noted below the table of results. "strict" by default:
            both fail the case.
        operator: the operator of the kernel; this repository's by default.
    """
    with errors_fail_test(VX_KERNEL.name, case):
        operator = operator or operator_of(running_test().root)
        tolerance = read_tolerance(operator, case, max_ulp, max_error)
        kernel = vx_kernel(operator, border, writes_outside, formats, board)
        candidate = Candidate(VX_KERNEL.name, kernel, tolerance)
        if problems := check_kernels(operator, [candidate], _quantized(case, formats or {})):
            for result in running_test().results:
                result.note = result.note or kernel.hint
            raise CheckError("\n".join(problems))


TEST_FUNCTIONS = {
    "Border": Border,
    "TensorFormat": TensorFormat,
    "check_vx_kernel": check_vx_kernel,
    "run_vx_kernel": run_vx_kernel,
}
