"""Runs kernels on cases and compares their outputs with the reference."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np

from opkit.check import results
from opkit.check.cases import Case, dtype_and_shape
from opkit.check.comparison import (
    EXACT,
    Tolerance,
    compare,
    context,
    unwritten,
    wrong_elements,
)
from opkit.check.executors import Executor
from opkit.check.mistakes import CheckError, caller_location
from opkit.check.operators import Operator, Prepared, operator_of, untaken
from opkit.check.results import Result, RunningTest, running_test
from opkit.check.run_log import CPU_KERNEL
from opkit.errors import OpkitError
from opkit.runtimes.invocation import (
    Array,
    CallingConvention,
    Invocation,
    Kernel,
    LeftOutError,
    RefusedError,
    RunResult,
)

# float16: NaN and -1.18; unwritten output differs between two runs, and between the signs of every
# number that it could be. In a timed run it is mostly 0.
FILLS = (0x7E, 0xBC)
TIMED_RUNS = 3
TIME_LIMIT = 10.0  # seconds that a kernel may take
SHORT_LIMIT = 0.2  # seconds, after it has timed out in another case


def _problem_of_run(run: RunResult, convention: CallingConvention) -> str:
    """Return the errors of a run, except for wrong outputs; empty if there are none."""
    if run.fault:
        return run.fault
    lines = [*run.events, *run.leaks]
    if run.status != 0:
        log = [f"log: {line}" for line in run.log]
        lines = [f"{run.stage} returns {convention.status_name(run.status)}", *log, *lines]
    return "\n".join(lines)


def run_kernel(
    kernel: Kernel,
    operator: Operator,
    case: Case,
    name: str,
    tolerance: Tolerance = EXACT,
) -> Result:
    """Run a kernel on a case, compare it with the reference, and measure its time.

    It runs twice on guarded memory that is filled with different bytes, then at full speed. What
    it prints goes to stdout.

    Args:
        kernel: what to run.
        operator: the operator of the kernel.
        case: the arrays and params.
        name: the kernel's name in messages.
        tolerance: how far an element may be from the reference.
    """
    try:
        prepared = operator.prepare(case)
    except CheckError as error:
        return Result(name, case.name, str(error))
    return _Check(kernel, operator, prepared, name, tolerance).result


@dataclass
class _Check:
    """A kernel's check on one case.

    Attributes:
        result: the result.
        compared: output -> the arrays of the kernel and the reference.
    """

    kernel: Kernel
    operator: Operator
    prepared: Prepared
    name: str
    tolerance: Tolerance
    compared: dict[str, tuple[Array, Array]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.result = Result(self.name, self.prepared.case.name)
        self._has_printed = False
        try:
            self._check()
        except (CheckError, RefusedError) as error:
            self.result.problem = str(error)

    def _check(self) -> None:
        invocation = self.prepared.invocation
        runs = []
        for fill in FILLS:
            run = self._run(invocation, fill)
            if problem := _problem_of_run(run, self.kernel.convention):
                raise CheckError(problem)
            runs.append(run.outputs)
        if problem := unwritten(*runs):
            raise CheckError(problem)
        self._compare(runs[0])
        if self.kernel.keeps_state:
            self._repeat(invocation, runs[0])

    def _repeat(self, invocation: Invocation, outputs: Mapping[str, Array]) -> None:
        """Run several times in a row, at full speed."""
        timed = self._run(invocation, None, TIMED_RUNS)
        if problem := _problem_of_run(timed, self.kernel.convention):
            raise CheckError(f"in {TIMED_RUNS} consecutive runs: {problem}")
        if unwritten(outputs, timed.outputs):
            raise CheckError(
                f"output is not deterministic over {TIMED_RUNS} runs: does the kernel keep "
                "something between them, in a static variable?"
            )
        self.result.seconds = timed.seconds if math.isfinite(timed.seconds) else None

    def _run(self, invocation: Invocation, fill: int | None, repeat: int = 1) -> RunResult:
        """Run the kernel; show what it prints in the first run, and in one that fails.

        A kernel that hangs costs one time limit in a session, not one for each case.
        """
        first = self.operator.first_timeouts.get(self.name)
        time_limit = running_test().session.time_limit or TIME_LIMIT
        limit = min(SHORT_LIMIT, time_limit) if first else time_limit
        run = self.kernel.run(invocation, fill, repeat, limit)
        is_first = not self._has_printed
        if run.printed and (is_first or _problem_of_run(run, self.kernel.convention)):
            sys.stdout.write(run.printed + "\n")
            self._has_printed = True
        if run.notes:
            self.result.note = (
                f"{self.name}, case {self.prepared.case.name}: {'; '.join(run.notes)}"
            )
        if run.timed_out:
            first = self.operator.first_timeouts.setdefault(self.name, self.prepared.case.name)
            self.result.note = (
                f"{self.name} timed out after {time_limit:g} s in case {first}; "
                f"the timeout of later cases is {SHORT_LIMIT:g} s"
            )
        return run

    def _compare(self, outputs: Mapping[str, Array]) -> None:
        invocation = self.prepared.invocation
        problems = []
        for name, array in self.prepared.expected.items():
            difference = compare(outputs[name], array, self.tolerance)
            self.result.add(difference)
            self.compared[name] = outputs[name], array
            if difference.wrong:
                lines = [
                    wrong_elements(name, outputs[name], array, difference, self.tolerance),
                    *context(invocation.inputs, invocation.params, array.shape, difference.first),
                ]
                problems.append("\n    ".join(lines))
        if problems:
            raise CheckError("\n".join(problems))


def _record(
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
    operator = operator or operator_of(running_test().root)
    tolerance = Tolerance(max_ulp, max_error)
    return run_kernel(operator.cpu_kernel, operator, case, CPU_KERNEL.name, tolerance)


def check_cpu_kernel(
    case: Case,
    max_ulp: int = 0,
    max_error: float | None = None,
    operator: Operator | None = None,
    changes_reference: bool = False,
) -> None:
    """Fail the test unless the CPU kernel computes what the reference computes.

    An element is right if it is within max_ulp of the reference's, counted in representable
    values of the output's dtype, or within max_error, an absolute difference, if that is given.
    NaN equals NaN. The case also fails on: a crash, a loop without end, an access outside of the
    tensors and of allocated memory, leaked memory or references, a status that is not 0, an output
    element that was never written.

    The kernel runs on this PC and on the executors of `scons check`: with target= on the target's
    instruction set, with sanitize= with the compiler's sanitizers. Where a runtime's converter has
    a simulator, the reference runs there, with the tolerance of the simulator.

    A test that changes the reference says changes_reference=True. Simulators, which read its file,
    and runtimes with a shape rule in C leave its cases out.
    """

    def kernels(operator: Operator, executors: Sequence[Executor]) -> Mapping[str, Kernel]:
        found = operator.cpu_kernels(executors)
        if not changes_reference:
            return found
        test = running_test()
        left_out = [name for name, kernel in found.items() if kernel.convention.has_shape_rule]
        left_out += [executor.name for executor in test.session.simulators]
        test.results += [Result(name, case.name, left_out=True) for name in left_out]
        return {name: kernel for name, kernel in found.items() if name not in left_out}

    check(operator, kernels, case, max_ulp, max_error, simulated=not changes_reference)


def check(
    operator: Operator | None,
    kernels: Callable[[Operator, Sequence[Executor]], Mapping[str, Kernel]],
    case: Case,
    max_ulp: int,
    max_error: float | None,
    hint: Callable[[Operator], str] = lambda operator: "",
    simulated: bool = False,
) -> None:
    """Run the kernels on a case and fail the test with the errors and the hint.

    Args:
        operator: the operator of the kernels; this repository's by default.
        kernels: returns them by name, of an operator and of executors.
        case: the case.
        max_ulp: see check_cpu_kernel.
        max_error: see check_cpu_kernel.
        hint: returns a line for the end of the errors.
        simulated: whether the reference runs in the simulators too.
    """
    import pytest

    try:
        _check_arguments(case, max_ulp, max_error)
        operator = operator or operator_of(running_test().root)
        executors = running_test().session.executors
        checked = _with_tolerance(kernels(operator, executors), Tolerance(max_ulp, max_error))
        if simulated:
            checked |= _simulated(operator)
        problems = _problems(operator, checked, case)
        if problems and (text := hint(operator)):
            problems.append(text)
    except OpkitError as error:
        problems = [str(error)]
    if problems:
        pytest.fail("\n".join(problems), pytrace=False)


def _check_arguments(case: Any, max_ulp: Any, max_error: Any) -> None:
    """Refuse an argument that is not a case or a tolerance, with the line of the test."""
    if not isinstance(case, Case):
        raise CheckError(
            f"{caller_location()}: the case is a {type(case).__name__}; write cases(...)"
        )
    for name, value in (("max_ulp", max_ulp), ("max_error", max_error or 0)):
        if not isinstance(value, Real) or not float(value) >= 0:
            raise CheckError(f"{caller_location()}: {name}={value!r}; write a number, 0 or larger")


_Checked = dict[str, tuple[Kernel, Tolerance, Mapping[str, str]]]
"""Name -> kernel, its tolerance, and what the dtypes of its outputs are rounded to."""


def _with_tolerance(kernels: Mapping[str, Kernel], tolerance: Tolerance) -> _Checked:
    return {name: (kernel, tolerance, {}) for name, kernel in kernels.items()}


def _simulated(operator: Operator) -> _Checked:
    return {
        name: (kernel, Tolerance(kernel.max_ulp), kernel.precision)
        for name, kernel in operator.simulated_kernels(running_test().session.simulators).items()
    }


def _problems(operator: Operator, checked: _Checked, case: Case) -> list[str]:
    """Run a case on all kernels; return the errors as lines."""
    test = running_test()
    test.integer_inputs += [
        (f"{input_.name}: {case.inputs[input_.name].dtype}", note)
        for runtime in operator.runtimes
        for input_ in operator.spec.inputs
        if (note := runtime.integer_note(input_)) and _is_integer(case, input_.name)
    ]
    try:
        prepared = operator.prepare(case)
    except CheckError as error:
        for name in checked:
            _record(test, case, Result(name, case.name, str(error)), {})
        return [f"{operator.spec.name}, case {case}:", *_indented(str(error))]
    problems = []
    for name, (kernel, tolerance, precision) in checked.items():
        try:
            _refuse_untaken(kernel, prepared)
            check = _Check(kernel, operator, prepared.rounded(precision), name, tolerance)
        except LeftOutError as error:
            note = f"{name} leaves out {error}"
            test.results.append(Result(name, case.name, note=note, left_out=True))
            continue
        _record(test, case, check.result, check.compared)
        if check.result.problem:
            title = f"{name} of {operator.spec.name}, case {case}:"
            problems += [title, *_indented(check.result.problem)]
    return problems


def _is_integer(case: Case, name: str) -> bool:
    array = case.inputs.get(name)
    return isinstance(array, np.ndarray) and array.dtype.kind in "biu"


def _refuse_untaken(kernel: Kernel, prepared: Prepared) -> None:
    """Refuse a case that has dtypes of which the kernel's runtime has no inputs or outputs."""
    outputs = {name: array.dtype for name, array in prepared.expected.items()}
    found = list(untaken(kernel.convention, prepared.case, outputs))
    if found:
        names = " and ".join(dict.fromkeys(each.dtype for each in found))
        raise LeftOutError(f"cases with {names}: its runtime has no such {found[0].role}s")


def _indented(text: str) -> list[str]:
    return [f"  {line}" for line in text.splitlines()]
