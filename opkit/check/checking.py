"""Checks kernels on a case: runs them, compares outputs with the reference, records results."""

from __future__ import annotations

import math
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from opkit.check import results
from opkit.check.appearance import appearance
from opkit.check.cases import Case, dtype_and_shape, formatted
from opkit.check.comparison import (
    Sides,
    compare,
    context,
    first_difference,
    unwritten,
    without_subnormals,
    wrong_elements,
)
from opkit.check.mistakes import CheckError, caller_location
from opkit.check.operators import Operator, Prepared, operator_of, unsupported_tensors
from opkit.check.profile import CallProfile, Profile, calls_for, profile_of
from opkit.check.results import CheckedCase, PassedRun, Result, RunningTest, running_test
from opkit.check.saturation import reached_limits
from opkit.check.tolerance import EXACT, Tolerance
from opkit.check.traits import traits_of
from opkit.check.weak_cases import strengths
from opkit.common.errors import OpkitError
from opkit.description.describe import CPU_KERNEL
from opkit.runtimes.invocation import (
    Array,
    CallingConvention,
    FlushingKernel,
    Kernel,
    LeftOutError,
    ProfiledKernel,
    RefusedError,
    RunOptions,
    RunResult,
    StatefulKernel,
    ThreadedKernel,
)

# float16: NaN and -1.18. Unwritten output differs between the two runs, in value and sign. In a
# timed run it is mostly 0.
FILLS = (0x7E, 0xBC)
REFERENCE = "reference"  # its name in the table of cases
TIMED_RUNS = 3
TIME_LIMIT = 10.0  # seconds for a kernel
SHORT_LIMIT = 0.2  # seconds, after a timeout in another case


_OF_KERNEL = Sides("the kernel", "the reference")
_OF_REFERENCE = Sides("the reference", "the recorded output")


@dataclass(frozen=True)
class Candidate:
    """A kernel to check against the reference.

    Attributes:
        name: the kernel's name in the table of cases.
        kernel: the kernel.
        tolerance: the tolerated difference from the reference.
        precision: dtype of an output -> the dtype to which the kernel rounds it.
        vendor_operator: see SimulatedKernel.
        in_vendor_runtime: whether a vendor's runtime rounds inputs, too; the tolerance is then that
            of outputs before they are rounded.
        flushed_dtypes: see FlushingKernel.
        reads_reference: see VendorKernel; also a converter that runs the reference.
    """

    name: str
    kernel: Kernel
    tolerance: Tolerance = EXACT
    precision: Mapping[str, str] = field(default_factory=dict)
    vendor_operator: str = ""
    in_vendor_runtime: bool = False
    flushed_dtypes: Collection[str] = ()
    reads_reference: bool = False


# ---- A test --------------------------------------------------------------------------------------


def check_cpu_kernel(
    case: Case,
    max_ulp: int | Mapping[str, int] = 0,
    max_error: float | Mapping[str, float] | None = None,
    operator: Operator | None = None,
    changes_reference: bool = False,
) -> None:
    """Fail the test unless the outputs of the CPU kernel match the reference.

    An element matches if its distance from the reference is at most max_ulp, in representable
    values of the output's dtype, or at most max_error, an absolute difference, if given. A number
    is for all outputs of floats, a dict for the outputs that it names; integers and bools must be
    equal unless max_error names their output. NaN equals NaN. The case also fails on: a crash, an
    infinite loop, an access outside of the tensors and of allocated memory, leaked memory or
    references, a status other than 0, an unwritten output element.

    The kernel runs on this PC and on the executors of `scons check`: with target= on the target's
    instruction set, with sanitize= with the compiler's sanitizers. If a runtime's converter has a
    simulator, the reference runs there, with the tolerance of the simulator. For an operator that
    the converter has itself, its own one runs there instead, and max_error counts, too. In a
    vendor's own runtime the CPU kernel runs, with the tolerance of the test.

    A test that changes the reference passes changes_reference=True. Simulators, which read its
    file, and runtimes with a shape rule in C leave out its cases.
    """
    with errors_fail_test(CPU_KERNEL.name, case):
        test = running_test()
        operator = operator or operator_of(test.root)
        tolerance = read_tolerance(operator, case, max_ulp, max_error)
        kernels = operator.cpu_kernels(test.session.executors)
        candidates = [_of_kernel(name, kernel, tolerance) for name, kernel in kernels.items()]
        for name, simulated in operator.simulated_kernels(test.session.simulators).items():
            own, precision = simulated.vendor_operator, simulated.precision
            limits = Tolerance(simulated.max_ulp, tolerance.max_error if own else None)
            candidate = Candidate(name, simulated, limits, precision, own, reads_reference=True)
            candidates.append(candidate)
        for name, vendor in operator.vendor_kernels(test.session.vendor_runtimes).items():
            candidate = replace(
                _of_kernel(name, vendor, tolerance),
                precision=vendor.precision,
                in_vendor_runtime=True,
                reads_reference=vendor.reads_reference,
            )
            candidates.append(candidate)
        if changes_reference:
            reasons = {each.name: _own_reference(each) for each in candidates}
            candidates = [each for each in candidates if not reasons[each.name]]
            if case.recorded:
                reasons[REFERENCE] = "the recorded outputs are of the unchanged one"
            case = replace(case, recorded={})
            test.results += [
                Result(name, case.name, left_out=f"cases that change the reference: {reason}")
                for name, reason in reasons.items()
                if reason
            ]
        if problems := check_kernels(operator, candidates, case):
            raise CheckError("\n".join(problems))
        on_this_pc = {
            name: kernel
            for name, kernel in operator.cpu_kernels().items()
            if isinstance(kernel, StatefulKernel)
        }
        if not changes_reference:
            test.checked.append(CheckedCase(operator, on_this_pc, tolerance, case))


def _own_reference(candidate: Candidate) -> str:
    """Return why a kernel does not follow a test that changes the reference; empty: it does."""
    if candidate.kernel.convention.has_shape_rule:
        return "it has the shape rule in C"
    return "its converter reads the file" if candidate.reads_reference else ""


def _of_kernel(name: str, kernel: Kernel, tolerance: Tolerance) -> Candidate:
    """Return the candidate of a CPU kernel, in a test with this tolerance."""
    flushed = kernel.flushed_dtypes if isinstance(kernel, FlushingKernel) else ()
    return Candidate(name, kernel, tolerance, flushed_dtypes=flushed)


def run_cpu_kernel(
    case: Case,
    max_ulp: int | Mapping[str, int] = 0,
    max_error: float | Mapping[str, float] | None = None,
    operator: Operator | None = None,
) -> Result:
    """Run the CPU kernel on a case; see run_kernel.

    Raises:
        OpkitError: the repository is not built, or its op.yml is invalid.
    """
    operator = operator or operator_of(running_test().root)
    tolerance = Tolerance(max_ulp, max_error)
    return run_kernel(operator.cpu_kernel, operator, case, CPU_KERNEL.name, tolerance)


@contextmanager
def errors_fail_test(kernel: str, case: Any) -> Iterator[None]:
    """Fail the pytest test on an OpkitError, with its message and no traceback.

    An error before the kernel ran, for instance of its compiler, is the result of the case.
    """
    import pytest

    test = running_test()
    try:
        yield
    except OpkitError as error:
        if isinstance(case, Case) and not any(result.problem for result in test.results):
            _record(test, case, Result(kernel, case.name, str(error), before_run=True), {})
        raise pytest.fail.Exception(str(error), pytrace=False) from None


def read_tolerance(operator: Operator, case: Any, max_ulp: Any, max_error: Any) -> Tolerance:
    """Return the tolerance of a test.

    Raises:
        CheckError: `case` is not a Case, or a tolerance is invalid; the message begins with the
            line of the test.
    """
    if not isinstance(case, Case):
        raise CheckError(
            f"{caller_location()}: the case is a {type(case).__name__}; write cases(...)"
        )
    tolerance = Tolerance(max_ulp, max_error)
    tolerance.refuse_invalid([output.name for output in operator.spec.outputs])
    return tolerance


def check_kernels(operator: Operator, candidates: Sequence[Candidate], case: Case) -> list[str]:
    """Check kernels on a case; add the results to the running test.

    Returns:
        The errors, as lines.

    Raises:
        CheckError: a tolerance is beyond the range of an output's dtype.
    """
    test = running_test()
    test.integer_inputs += [
        (f"{input_.name}: {case.inputs[input_.name].dtype}", note)
        for runtime in operator.runtimes
        for input_ in operator.spec.inputs
        if (note := runtime.check.integer_note(input_)) and _is_integer(case, input_.name)
    ]
    try:
        prepared = operator.prepare(case)
    except CheckError as error:
        given = {param.name: param.default for param in operator.spec.params} | {**case.params}
        arrays = {name: each for name, each in case.inputs.items() if isinstance(each, np.ndarray)}
        cause = str(error).partition("\n")[0]  # the other lines are of the case
        for candidate in candidates:
            result = Result(candidate.name, case.name, str(error), cause=cause, before_run=True)
            result.traits = traits_of(given, arrays, {})
            _record(test, case, result, {})
        return [f"{operator.spec.name}, case {case}:", *_indented(str(error))]
    params = prepared.invocation.params
    test.params.append(
        {name: formatted(np.asarray(value).tolist()) for name, value in params.items()}
    )
    for candidate in candidates:
        candidate.tolerance.refuse_unlimited(prepared.output_dtypes)
    traits = traits_of(prepared.invocation.params, case.inputs, prepared.expected)
    limits = reached_limits(operator, prepared)
    problems = []
    if case.recorded:
        result, compared = _check_reference(prepared)
        result.traits = traits
        _record(test, case, result, compared)
        problems += _told(operator, result)
    for candidate in candidates:
        try:
            refuse_unsupported(candidate.kernel.convention, prepared)
            result, outputs = _check(operator, candidate, _given(operator, candidate, prepared))
        except LeftOutError as error:
            test.results.append(Result(candidate.name, case.name, left_out=str(error)))
            continue
        result.traits = traits
        result.coverage |= limits
        if candidate is candidates[0] and not result.problem:  # the others have the same cases
            result.strengths = strengths(operator, prepared, candidate.tolerance)
        _record(test, case, result, outputs, candidate.flushed_dtypes)
        kernel = candidate.kernel
        if not result.problem and kernel.keeps_state and isinstance(kernel, StatefulKernel):
            test.passed.append(
                PassedRun(
                    candidate.name,
                    operator.spec.name,
                    kernel,
                    case.name,
                    prepared.invocation,
                    {name: actual for name, (actual, _) in outputs.items()},
                )
            )
        problems += _told(operator, result)
    return problems


def _told(operator: Operator, result: Result) -> list[str]:
    """Return the lines of a result's problem; none if it passes."""
    if not result.problem:
        return []
    title = f"{result.kernel} of {operator.spec.name}, case {result.case}:"
    return [title, *_indented(result.problem)]


def _is_integer(case: Case, name: str) -> bool:
    array = case.inputs.get(name)
    return isinstance(array, np.ndarray) and array.dtype.kind in "biu"


def refuse_unsupported(convention: CallingConvention, prepared: Prepared) -> None:
    """Leave out a case with inputs or outputs of dtypes that the kernel's runtime lacks.

    Args:
        convention: the calling convention of the kernel's runtime.
        prepared: the case with its expected outputs.

    Raises:
        LeftOutError: the runtime lacks one of the dtypes.
    """
    found = list(unsupported_tensors(convention, prepared.case, prepared.output_dtypes))
    if found:
        names = " and ".join(dict.fromkeys(each.dtype for each in found))
        raise LeftOutError(f"cases with {names}: its runtime has no such {found[0].role}s")


def _indented(text: str) -> list[str]:
    return [f"  {line}" for line in text.splitlines()]


_Compared = Mapping[str, tuple[Array, Array]]
"""Output -> (array of the kernel, array of the reference)."""


def _record(
    test: RunningTest,
    case: Case,
    result: Result,
    compared: _Compared,
    flushed: Collection[str] = (),
) -> None:
    """Add a result to the test and to the records of the session.

    Args:
        test: the test.
        case: the case.
        result: the result of a kernel.
        compared: the kernel's outputs.
        flushed: as Candidate.flushed_dtypes.
    """
    test.results.append(result)
    if test.session.records is not None:
        record = results.Record(
            result,
            test.function,
            {name: dtype_and_shape(array) for name, array in case.inputs.items()},
            case.params,
            tuple(
                results.output(name, actual, expected, expected.dtype.name in flushed)
                for name, (actual, expected) in compared.items()
                if expected.size > 0
            ),
        )
        results.save(test.session.records, record)


# ---- The reference on a recorded case ------------------------------------------------------------


def _check_reference(prepared: Prepared) -> tuple[Result, _Compared]:
    """Compare the reference with the recorded outputs; return the result and these outputs."""
    case = prepared.case
    result = Result(REFERENCE, case.name)
    for name, recorded in case.recorded.items():
        shape = prepared.expected[name].shape
        if shape != recorded.shape:
            result.cause = f"output '{name}' has another shape than the recorded one"
            result.problem = (
                f"the reference returns '{name}' with shape {shape}, but the recorded output has "
                f"shape {recorded.shape}"
            )
            return result, {}
    compared = {name: (prepared.expected[name], array) for name, array in case.recorded.items()}
    try:
        _compare(case.recorded_tolerance, prepared, compared, result, _OF_REFERENCE)
    except CheckError as error:
        # Another cause than a kernel's: groups of failures keep them apart.
        result.cause = f"{result.cause}, compared with the recorded case"
        result.problem = str(error)
    return result, compared


# ---- A kernel on a case --------------------------------------------------------------------------


def run_kernel(
    kernel: Kernel,
    operator: Operator,
    case: Case,
    name: str,
    tolerance: Tolerance = EXACT,
) -> Result:
    """Run a kernel on a case, compare it with the reference, and measure its time.

    It runs twice on guarded memory filled with different bytes, with guards behind its tensors and
    then before them, and then at full speed. Its output goes to stdout.

    Args:
        kernel: the kernel.
        operator: the operator of the kernel.
        case: the arrays and params.
        name: the kernel's name in messages.
        tolerance: the tolerated difference from the reference.
    """
    try:
        prepared = operator.prepare(case)
        tolerance.refuse_invalid([*prepared.expected])
        tolerance.refuse_unlimited(prepared.output_dtypes)
    except CheckError as error:
        return Result(name, case.name, str(error))
    result, _ = _check(operator, Candidate(name, kernel, tolerance), prepared)
    return result


def _check(
    operator: Operator, candidate: Candidate, prepared: Prepared
) -> tuple[Result, _Compared]:
    """Return the result of a kernel on a case, and its compared outputs."""
    dtypes = prepared.output_dtypes
    prepared = prepared.rounded(candidate.precision)
    if candidate.in_vendor_runtime:
        tolerance = candidate.tolerance.rounded(dtypes, prepared.output_dtypes)
        candidate = replace(candidate, tolerance=tolerance)
    if flushed := candidate.flushed_dtypes:
        tolerance = candidate.tolerance.with_lost_subnormals(prepared.output_dtypes, flushed)
        candidate = replace(candidate, tolerance=tolerance)
    result = Result(candidate.name, prepared.case.name)
    compared: _Compared = {}
    try:
        runs = _runs(operator, candidate, prepared, result)
        first, second = next(runs), next(runs)
        if problem := unwritten(first.outputs, second.outputs):
            result.cause = "output elements that the kernel does not write"
            raise CheckError(problem)
        compared = {name: (first.outputs[name], array) for name, array in prepared.expected.items()}
        if candidate.vendor_operator:
            own = candidate.vendor_operator
            sides = Sides(f"the vendor's {own}", "the reference")
            try:
                _compare(candidate.tolerance, prepared, compared, result, sides)
            except CheckError as error:
                raise CheckError(
                    f"{error}\nthe simulator ran the vendor's own {own}, not the reference: check "
                    f"the reference and the order of inputs in op.yml, which must be {own}'s; for "
                    "a difference by design, pass max_error to check_cpu_kernel"
                ) from None
        else:
            _compare(candidate.tolerance, prepared, compared, result)
        for count, threaded in zip(_thread_counts(candidate.kernel), runs, strict=False):
            difference = first_difference(first.outputs, threaded.outputs)
            if difference is not None:
                element, elements = difference
                others = f" and {elements - 1} more" if elements > 1 else ""
                raise CheckError(
                    f"with {count} threads, {element}{others} differs from the result of one "
                    "thread: parts of opkit_parallel_for must write elements of their own, and no "
                    "result may depend on their order or their limits; `scons sanitize=thread "
                    "check` finds the line of a race"
                )
        for timed in runs:  # empty for a kernel without state
            is_same = first_difference(first.outputs, timed.outputs) is None
            if not is_same and _repeats(candidate.kernel, prepared, timed):
                _compare_delivered(candidate.tolerance, prepared, timed, result)
            elif not is_same:
                raise CheckError(
                    f"output is not deterministic over {TIMED_RUNS} runs: does the kernel keep "
                    "something between them, in a static variable?"
                )
            result.seconds = timed.seconds if math.isfinite(timed.seconds) else None
        result.profile = _profile(operator, candidate, prepared, result.seconds)
    except (CheckError, RefusedError) as error:
        result.problem = str(error)
    return result, compared


def _profile(
    operator: Operator, candidate: Candidate, prepared: Prepared, seconds: float | None
) -> Profile | None:
    """Return a kernel's time by phase, for `scons report`.

    Only a case larger than all before it, with inputs of the same dtypes, has one.
    """
    kernel, invocation = candidate.kernel, prepared.invocation
    records = running_test().session.records
    if records is None or seconds is None or not isinstance(kernel, ProfiledKernel):
        return None
    arrays = [*invocation.inputs.values(), *prepared.expected.values()]
    elements = max(array.size for array in arrays)
    key = (candidate.name, *(array.dtype.name for array in invocation.inputs.values()))
    if elements <= operator.profiled.get(key, 0):
        return None
    operator.profiled[key] = elements
    run = kernel.profile(invocation, calls_for(seconds), TIME_LIMIT)
    calls = [CallProfile.parse(record) for record in run.profiles]
    return profile_of(calls, elements) if calls and not kernel_problem(run, kernel) else None


def _given(operator: Operator, candidate: Candidate, prepared: Prepared) -> Prepared:
    """Return the case for a candidate.

    A vendor's runtime or operator may round its inputs, and a processor or a runtime replace their
    subnormals by zeros, so the case has such ones, for the reference, too.

    Raises:
        LeftOutError: an input overflows, or the reference refuses the changed inputs.
    """
    if not (candidate.vendor_operator or candidate.in_vendor_runtime or candidate.flushed_dtypes):
        return prepared
    case, precision = prepared.case, candidate.precision
    with np.errstate(all="ignore"):
        inputs = {
            name: array.astype(precision.get(array.dtype.name, array.dtype)).astype(array.dtype)
            for name, array in case.inputs.items()
        }
    for name, array in case.inputs.items():
        if array.dtype.kind == "f" and (np.isfinite(array) & ~np.isfinite(inputs[name])).any():
            limit = precision[array.dtype.name]
            place = "the runtime" if candidate.in_vendor_runtime else "the simulator"
            raise LeftOutError(f"cases with numbers beyond {limit}, {place}'s precision")
    for name, array in inputs.items():
        if array.dtype.name in candidate.flushed_dtypes:
            inputs[name] = without_subnormals(array)
    if all(
        np.array_equal(inputs[name], each, equal_nan=True) for name, each in case.inputs.items()
    ):
        return prepared
    changed = Case(case.name, inputs, case.params, case.output_dtypes, case.origin)
    try:
        return operator.prepare(changed)
    except CheckError as error:
        problem = str(error).partition("\n")[0]
        how = "without subnormals" if candidate.flushed_dtypes else "rounded"
        raise LeftOutError(
            f"cases with inputs that the reference refuses, {how}: {problem}"
        ) from None


def _thread_counts(kernel: Kernel) -> Sequence[int]:
    """Return the counts of threads besides 1 in which a kernel runs."""
    return kernel.thread_counts if isinstance(kernel, ThreadedKernel) else ()


def _compare_delivered(
    tolerance: Tolerance, prepared: Prepared, run: RunResult, result: Result
) -> None:
    """Compare the outputs of the delivered build, which differ from the instrumented one's.

    Compilers may optimize it differently, with -ffast-math for instance.

    Raises:
        CheckError: elements are wrong.
    """
    compared = {name: (run.outputs[name], array) for name, array in prepared.expected.items()}
    try:
        _compare(tolerance, prepared, compared, result)
    except CheckError as error:
        raise CheckError(
            "only as compiled for delivery, without instrumentation: is a variable not "
            f"initialized?\n{error}"
        ) from None


def _repeats(kernel: Kernel, prepared: Prepared, repeated: RunResult) -> bool:
    """Return whether one run at full speed gives the outputs of repeated ones."""
    single = kernel.run(prepared.invocation, RunOptions(limit=TIME_LIMIT))
    return bool(single.outputs) and first_difference(single.outputs, repeated.outputs) is None


def _runs(
    operator: Operator, candidate: Candidate, prepared: Prepared, result: Result
) -> Iterator[RunResult]:
    """Run a kernel with each fill, in several threads, and in a row at full speed; yield each run.

    The output of the first run and of a failing run is printed. After a timeout, later cases of the
    session have the short time limit.

    Raises:
        CheckError: a run fails for another reason than wrong outputs.
    """
    name, case, kernel = candidate.name, prepared.case.name, candidate.kernel
    timeouts = operator.first_timeouts
    time_limit = running_test().session.time_limit or TIME_LIMIT
    limit = min(SHORT_LIMIT, time_limit) if name in timeouts else time_limit
    has_printed = False
    guarded = [RunOptions(FILLS[0], 1, limit), RunOptions(FILLS[1], 1, limit, guards_before=True)]
    threaded = [RunOptions(FILLS[0], 1, limit, threads=n) for n in _thread_counts(kernel)]
    timed = [RunOptions(None, TIMED_RUNS, limit)] if kernel.keeps_state else []
    for options in [*guarded, *threaded, *timed]:
        run = kernel.run(prepared.invocation, options)
        if run.events and not (run.fault or options.guards_before):
            # A write before a tensor is an event here, but a fault with its line there.
            other = kernel.run(prepared.invocation, replace(options, guards_before=True))
            run = other if other.fault else run
        problem = kernel_problem(run, kernel)
        if run.printed and (problem or not has_printed):
            sys.stdout.write(run.printed + "\n")
            has_printed = True
        result.coverage |= run.coverage
        if run.usage:
            result.usage = result.usage.joined(run.usage) if result.usage else run.usage
        if run.notes:
            result.note = f"{name}: {'; '.join(run.notes)}"
        if run.timed_out:
            result.note = (
                f"{name} timed out after {time_limit:g} s in case "
                f"{timeouts.setdefault(name, case)}; the timeout of later cases is "
                f"{SHORT_LIMIT:g} s"
            )
        if problem:
            runs = f"in {options.repeat} consecutive runs: " if options.repeat > 1 else ""
            threads = f"with {options.threads} threads: " if options.threads > 1 else ""
            raise CheckError(f"{runs}{threads}{problem}")
        yield run


def kernel_problem(run: RunResult, kernel: Kernel) -> str:
    """Return the errors of a run except wrong outputs; empty for a successful run."""
    if run.fault:
        return "\n".join([*run.events, run.fault])
    lines = [*run.events, *run.leaks]
    if run.status != 0:
        log = [f"log: {line}" for line in run.log]
        lines = [f"{run.stage} returns {kernel.convention.status_name(run.status)}", *log, *lines]
    return "\n".join(lines)


def _compare(
    tolerance: Tolerance,
    prepared: Prepared,
    compared: _Compared,
    result: Result,
    sides: Sides = _OF_KERNEL,
) -> None:
    """Compare outputs with the reference; add the differences to the result.

    Raises:
        CheckError: elements are wrong.
    """
    problems: list[str] = []
    names: list[str] = []
    looks: list[str] = []
    for name, (actual, expected) in compared.items():
        output_tolerance = tolerance.for_output(name, expected.dtype)
        difference = compare(actual, expected, output_tolerance)
        result.add(difference)
        if difference.wrong:
            inputs, params = prepared.invocation.inputs, prepared.invocation.params
            seen = actual, expected
            if output_tolerance.flushes:  # lost subnormals hide nothing that all others show
                seen = without_subnormals(actual), without_subnormals(expected)
            lines = [
                wrong_elements(name, actual, expected, difference, output_tolerance, sides),
                *filter(None, [look := appearance(*seen, FILLS, sides.expected)]),
                *context(inputs, params, expected.shape, difference.worst),
            ]
            problems.append("\n    ".join(lines))
            names.append(f"'{name}'")
            looks += [f"{name}: {look}"] if look else []
    if problems:
        result.cause = f"wrong elements in output {' and '.join(names)}"
        result.appearance = "; ".join(looks)
        raise CheckError("\n".join(problems))
