"""Checks an operator's kernels against its numpy reference; used by the tests of a repository.

CASES = cases(
    shapes=[{"input": (1, 6, 5, 3)}],
    values=[uniform(-1, 1), special()],
    params=[{"size": [4, 4], "align_corners": False}],
    dtype="float16",
)

@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=1)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any

from opkit.check import results
from opkit.check.cases import (
    Case,
    Values,
    cases,
    dtype_and_shape,
    integers,
    ramp,
    special,
    uniform,
)
from opkit.check.comparison import compare, surroundings, unwritten, wrong_elements
from opkit.check.executors import Place
from opkit.check.invocation import (
    Array,
    Border,
    Outcome,
    RefusedError,
    Runner,
    status_name,
)
from opkit.check.mistakes import REPOSITORY, CheckError, users_line
from opkit.check.operators import Operator, Prepared, operator_of
from opkit.check.results import Result, RunningTest, running_test
from opkit.errors import OpkitError
from opkit.runtimes.rknn.kernels import CPU_KERNEL, VX_KERNEL
from opkit.runtimes.rknn.vx.kernel import POISON

__all__ = [
    "Border",
    "Case",
    "CheckError",
    "Operator",
    "Result",
    "Values",
    "cases",
    "check_cpu_kernel",
    "check_vx_kernel",
    "integers",
    "ramp",
    "run_cpu_kernel",
    "run_kernel",
    "run_vx_kernel",
    "special",
    "uniform",
]

FILLS = (0x7E, 0x3C)  # float16: NaN and 1.06; what nobody wrote differs between two runs
TIMED_RUNS = 3
TIME_LIMIT = 10.0  # seconds that a kernel may take


def _problem_of_run(outcome: Outcome) -> str:
    """Say what is wrong with a run as such; nothing if all is well."""
    if outcome.fault:
        return outcome.fault
    lines = [*outcome.events, *outcome.leaks]
    if outcome.status != 0:
        log = [f"log: {line}" for line in outcome.log]
        lines = [f"{outcome.stage} returns {status_name(outcome.status)}", *log, *lines]
    return "\n".join(lines)


def run_kernel(
    kernel: Runner,
    operator: Operator,
    case: Case,
    name: str,
    max_ulp: int = 0,
    max_error: float | None = None,
) -> Result:
    """Run a kernel on a case, compare it with the reference, and measure its time.

    It runs twice on guarded memory that is filled with different bytes, then at full speed.

    Args:
        kernel: what to run.
        operator: whose kernel that is.
        case: the arrays and params.
        name: how the kernel is called in messages.
        max_ulp: how far an element may be from the reference, in representable values.
        max_error: an element that is within this absolute difference is right as well.
    """
    try:
        prepared = operator.prepare(case)
    except CheckError as error:
        return Result(name, case.name, str(error))
    return _compared(kernel, prepared, name, max_ulp, max_error)[0]


def _compared(
    kernel: Runner, prepared: Prepared, name: str, max_ulp: int, max_error: float | None
) -> tuple[Result, dict[str, tuple[Array, Array]]]:
    """Return the result, and for each output what the kernel and the reference have computed."""
    result = Result(name, prepared.case.name)
    compared: dict[str, tuple[Array, Array]] = {}
    try:
        _run(kernel, prepared, result, compared, max_ulp, max_error)
    except (CheckError, RefusedError) as error:
        result.problem = str(error)
    return result, compared


def _take_note(
    test: RunningTest, case: Case, result: Result, compared: Mapping[str, tuple[Array, Array]]
) -> None:
    """Add a result to those of the test, and to the records of the session."""
    test.results.append(result)
    if test.session.records is not None:
        record = results.Record(
            result,
            test.function,
            {name: dtype_and_shape(array) for name, array in case.inputs.items()},
            case.params,
            tuple(results.output(name, *arrays) for name, arrays in compared.items()),
        )
        results.save(test.session.records, record)


def _run(
    kernel: Runner,
    prepared: Prepared,
    result: Result,
    compared: dict[str, tuple[Array, Array]],
    max_ulp: int,
    max_error: float | None,
) -> None:
    call, expected = prepared.call, prepared.expected
    runs = []
    for fill in FILLS:
        outcome = kernel.run(call, fill=fill, limit=TIME_LIMIT)
        if problem := _problem_of_run(outcome):
            raise CheckError(problem)
        runs.append(outcome.outputs)
    if problem := unwritten(*runs):
        raise CheckError(problem)

    problems = []
    for name, array in expected.items():
        difference = compare(runs[0][name], array, max_ulp, max_error)
        result.add(difference)
        compared[name] = runs[0][name], array
        if difference.wrong:
            allowed = f"{max_ulp} ulp" + (f" or {max_error:g}" if max_error is not None else "")
            lines = [
                wrong_elements(name, runs[0][name], array, difference, allowed),
                *surroundings(call.inputs, call.params, array.shape, difference.first),
            ]
            problems.append("\n    ".join(lines))
    if problems:
        raise CheckError("\n".join(problems))

    timed = kernel.run(call, repeat=TIMED_RUNS, limit=TIME_LIMIT)
    if problem := _problem_of_run(timed):
        raise CheckError(f"when it runs {TIMED_RUNS} times in a row, {problem}")
    if unwritten(runs[0], timed.outputs):
        raise CheckError(f"the outputs are others when it runs {TIMED_RUNS} times in a row")
    result.seconds = timed.seconds if math.isfinite(timed.seconds) else None


def run_cpu_kernel(
    case: Case,
    max_ulp: int = 0,
    max_error: float | None = None,
    operator: Operator | None = None,
) -> Result:
    """Run the CPU kernel on a case; see run_kernel.

    Raises:
        OpkitError: the repository is not built, or its op.yml is wrong.
    """
    operator = operator or operator_of(REPOSITORY)
    kernel = operator.cpu_kernel
    return run_kernel(kernel, operator, case, CPU_KERNEL.name, max_ulp, max_error)


def check_cpu_kernel(
    case: Case,
    max_ulp: int = 0,
    max_error: float | None = None,
    operator: Operator | None = None,
) -> None:
    """Fail the test unless the CPU kernel does what the reference does.

    An element is right if it is within max_ulp of the reference's, counted in representable
    values of the output's dtype, or within max_error, an absolute difference, if that is given.
    NaN equals NaN. The case also fails on: a crash, a loop without end, an access outside of the
    tensors and of allocated memory, memory or references that are not given back, a status that
    is not VX_SUCCESS, an output element that nobody wrote.

    The kernel runs on this PC and, as `scons check` was told, in other places: target= has it run
    on the target's instruction set, sanitize= with the compiler's sanitizers.
    """
    _check(
        operator,
        lambda operator, places: operator.cpu_kernels(places),
        case,
        max_ulp,
        max_error,
    )


def run_vx_kernel(
    case: Case,
    max_ulp: int = 0,
    max_error: float | None = None,
    border: Border | None = None,
    operator: Operator | None = None,
) -> Result:
    """Run the VX kernel on a case; see check_vx_kernel.

    Raises:
        OpkitError: the repository is not built, or its op.yml or its .vx file is wrong.
    """
    operator = operator or operator_of(REPOSITORY)
    kernel = operator.vx_kernel(border or POISON)
    return run_kernel(kernel, operator, case, VX_KERNEL.name, max_ulp, max_error)


def check_vx_kernel(
    case: Case,
    max_ulp: int = 0,
    max_error: float | None = None,
    border: Border | None = None,
    operator: Operator | None = None,
) -> None:
    """Fail the test unless the VX kernel does what the reference does.

    Its initializer says over which work items it runs, what its uniforms hold and what it reads
    outside of a tensor. The emulator runs the .vx file so, in both orders of the work items and
    with two contents of what nobody has set. The case fails on results that differ, output
    elements that nobody wrote, undefined behaviour, a crash, a loop without end, and an
    initializer that fails.

    Args:
        case: the arrays and params; a tensor's last dimension is x, the one before it y, and all
            others are z.
        max_ulp: as for check_cpu_kernel. The emulator's exp, log, rsqrt and division are not the
            device's: state what the operator bears.
        max_error: as for check_cpu_kernel.
        border: what stands outside of a tensor where the initializer sets no border: what one
            counts on the driver to have there. By default poison, on which no result may depend.
            A border that the initializer sets counts instead of it, as on the board.
        operator: whose kernel it is; this repository's by default.
    """
    _check(
        operator,
        lambda operator, _: {VX_KERNEL.name: operator.vx_kernel(border or POISON)},
        case,
        max_ulp,
        max_error,
        lambda operator: operator.vx_kernel(border or POISON).advice,
    )


def _check(
    operator: Operator | None,
    kernels: Callable[[Operator, Sequence[Place]], Mapping[str, Runner]],
    case: Case,
    max_ulp: int,
    max_error: float | None,
    advice: Callable[[Operator], str] = lambda operator: "",
) -> None:
    """Run the kernels on a case and fail the test with what is wrong, and with the advice."""
    import pytest

    try:
        _refuse_arguments(case, max_ulp, max_error)
        operator = operator or operator_of(REPOSITORY)
        problems = _problems(operator, kernels, case, max_ulp, max_error, advice)
    except OpkitError as error:
        problems = [str(error)]
    if problems:
        pytest.fail("\n".join(problems), pytrace=False)


def _refuse_arguments(case: Any, max_ulp: Any, max_error: Any) -> None:
    """Stop at an argument that is no case or no tolerance, with the line of the test."""
    if not isinstance(case, Case):
        raise CheckError(f"{users_line()}: the case is a {type(case).__name__}; write cases(...)")
    for name, value in (("max_ulp", max_ulp), ("max_error", max_error or 0)):
        if not isinstance(value, Real) or not float(value) >= 0:
            raise CheckError(f"{users_line()}: {name}={value!r}; write a number, 0 or larger")


def _problems(
    operator: Operator,
    kernels: Callable[[Operator, Sequence[Place]], Mapping[str, Runner]],
    case: Case,
    max_ulp: int,
    max_error: float | None,
    advice: Callable[[Operator], str],
) -> list[str]:
    """Run a case on all kernels; return the lines that say what is wrong."""
    test = running_test()
    test.integer_inputs += [
        f"{name}: {array.dtype}" for name, array in case.inputs.items() if array.dtype.kind in "iu"
    ]
    runners = kernels(operator, test.session.places)
    try:
        prepared = operator.prepare(case)
    except CheckError as error:
        for name in runners:
            _take_note(test, case, Result(name, case.name, str(error)), {})
        return [f"{operator.spec.name}, case {case}:", *_indented(str(error))]
    problems = []
    for name, kernel in runners.items():
        result, compared = _compared(kernel, prepared, name, max_ulp, max_error)
        _take_note(test, case, result, compared)
        if result.problem:
            title = f"{name} of {operator.spec.name}, case {case}:"
            problems += [title, *_indented(result.problem)]
    if problems and (text := advice(operator)):
        problems.append(text)
    return problems


def _indented(text: str) -> list[str]:
    return [f"  {line}" for line in text.splitlines()]
