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

import importlib.util
import itertools
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from opkit.errors import OpkitError
from opkit.openvx import (
    TENSOR_TYPES,
    Array,
    Call,
    HostKernel,
    Outcome,
    RefusedError,
    Runner,
    delivered,
    status_name,
)
from opkit.spec import OpSpec, parse

REPOSITORY = Path(__file__).resolve().parent.parent
FILLS = (0x7E, 0x3C)  # float16: NaN and 1.06; what nobody wrote differs between two runs
TIMED_RUNS = 3
TIME_LIMIT = 10.0  # seconds that a kernel may take

# ---- Values -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Values:
    """Makes the elements of an input.

    Attributes:
        name: what a case's name calls them.
        full_name: the same, with arguments.
        make: (shape, dtype, random generator, number of the input) -> array.
    """

    name: str
    full_name: str
    make: Callable[[tuple[int, ...], np.dtype[Any], np.random.Generator, int], Array]


def uniform(low: float, high: float) -> Values:
    """Values from low to high, all equally likely; whole numbers for an integer tensor."""

    def make(
        shape: tuple[int, ...], dtype: np.dtype[Any], random: np.random.Generator, _: int
    ) -> Array:
        if dtype.kind in "iu":
            return random.integers(int(low), int(high), shape, dtype, endpoint=True)
        return random.uniform(low, high, shape).astype(dtype)

    return Values("uniform", f"uniform({low:g},{high:g})", make)


def integers(low: int, high: int) -> Values:
    """Whole numbers from low to high, both included, whatever the tensor's type."""

    def make(
        shape: tuple[int, ...], dtype: np.dtype[Any], random: np.random.Generator, _: int
    ) -> Array:
        return random.integers(low, high, shape, endpoint=True).astype(dtype)

    return Values("integers", f"integers({low},{high})", make)


def ramp() -> Values:
    """0, 1, 2, ... in memory order, beginning anew after 1024."""

    def make(
        shape: tuple[int, ...], dtype: np.dtype[Any], _: np.random.Generator, __: int
    ) -> Array:
        period = min(1024, np.iinfo(dtype).max) if dtype.kind in "iu" else 1024
        numbers: Array = np.arange(np.prod(shape)) % period
        return numbers.reshape(shape).astype(dtype)

    return Values("ramp", "ramp", make)


def special() -> Values:
    """What is apt to go wrong: zeros, subnormals, the largest, infinities and NaN, in turn.

    Two inputs run through them at different speeds, so that many pairs meet.
    """

    def make(
        shape: tuple[int, ...], dtype: np.dtype[Any], _: np.random.Generator, number: int
    ) -> Array:
        values = _special_values(dtype)
        index: Array = np.arange(np.prod(shape))
        turn: Array = (index + number * (index // len(values))) % len(values)
        return values[turn].reshape(shape)

    return Values("special", "special", make)


def _special_values(dtype: np.dtype[Any]) -> Array:
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return np.unique(np.array([0, 1, limits.min, limits.max, -(limits.min != 0)]).astype(dtype))
    info = np.finfo(dtype)
    positive = np.array(
        [
            *(0, info.smallest_subnormal, info.smallest_normal - info.smallest_subnormal),
            *(info.smallest_normal, 1, 1 + info.eps, info.max, np.inf, np.nan),
        ],
        dtype,
    )
    return np.stack([positive, -positive], axis=1).ravel()


# ---- Cases --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Case:
    """One call of the operator; str(case) is its name.

    Attributes:
        name: how the case is called in the table and on the command line.
        inputs: name of each input -> array, slowest dimension first.
        params: name of each param -> value; params with a default in op.yml may be left out.
        output_dtypes: name of an output -> dtype; by default that of the first input.
    """

    name: str
    inputs: Mapping[str, Array]
    params: Mapping[str, Any] = field(default_factory=dict)
    output_dtypes: Mapping[str, DTypeLike] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name


def cases(
    shapes: Iterable[Mapping[str, tuple[int, ...]]],
    values: Iterable[Values | Mapping[str, Values]],
    params: Iterable[Mapping[str, Any]] = ({},),
    dtype: str | Mapping[str, str] = "float16",
) -> list[Case]:
    """Return one case for each combination of shapes, values and params.

    The values of a case depend on its name alone: they are the same in every run.

    Args:
        shapes: for each combination the shape of every input, slowest dimension first.
        values: what the inputs hold: makers like `uniform(-1, 1)`, for all inputs or by name.
        params: for each combination the value of every param.
        dtype: of all tensors, or by name of inputs and outputs; float16 for an input that is not
            named, the first input's for such an output.
    """
    makers = list(values)
    made: list[Case] = []
    taken: set[str] = set()
    for sizes, (values_name, maker), settings in itertools.product(
        shapes, zip(_names(makers), makers, strict=True), params
    ):
        dtypes = {name: _dtype(dtype, name) for name in sizes}
        parts = ["+".join(_shown(shape, "x") for shape in sizes.values())]
        if set(dtypes.values()) != {"float16"}:
            parts.append("+".join(dict.fromkeys(dtypes.values())))
        parts.append(values_name)
        parts.extend(f"{name}={_shown(value)}" for name, value in settings.items())
        case_name = _unique("-".join(parts), taken)
        inputs = {}
        for number, (name, shape) in enumerate(sizes.items()):
            values_of = maker if isinstance(maker, Values) else maker[name]
            random = np.random.default_rng(zlib.crc32(f"{case_name} {name}".encode()))
            inputs[name] = values_of.make(shape, np.dtype(dtypes[name]), random, number)
        outputs = (
            {}
            if isinstance(dtype, str)
            else {name: type_ for name, type_ in dtype.items() if name not in sizes}
        )
        made.append(Case(case_name, inputs, dict(settings), outputs))
    return made


def _dtype(dtype: str | Mapping[str, str], name: str) -> str:
    return dtype if isinstance(dtype, str) else dtype.get(name, "float16")


def _names(makers: Sequence[Values | Mapping[str, Values]]) -> list[str]:
    """Return the short names of the values, or the full ones where the short ones are alike."""

    def name(maker: Values | Mapping[str, Values], attribute: str) -> str:
        parts = [maker] if isinstance(maker, Values) else maker.values()
        return "+".join(dict.fromkeys(str(getattr(part, attribute)) for part in parts))

    short = [name(maker, "name") for maker in makers]
    if len(set(short)) == len(short):
        return short
    return [name(maker, "full_name") for maker in makers]


def _shown(value: Any, separator: str = ",") -> str:
    if isinstance(value, (list, tuple)):
        return separator.join(_shown(item) for item in value)
    if isinstance(value, float):
        return f"{value:g}"
    return str(int(value)) if isinstance(value, bool) else str(value)


def _unique(name: str, taken: set[str]) -> str:
    candidates = itertools.chain([name], (f"{name}-{number}" for number in itertools.count(2)))
    unique = next(candidate for candidate in candidates if candidate not in taken)
    taken.add(unique)
    return unique


# ---- The operator under test --------------------------------------------------------------------


class CheckError(OpkitError):
    """A case is not right; the message says in what."""


class Operator:
    """An operator's repository: its description, its reference and its kernels.

    Args:
        root: the repository, built with `scons target=x64`.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    @cached_property
    def spec(self) -> OpSpec:
        """The operator description."""
        path = self.root / "op.yml"
        try:
            return parse(path.read_text(encoding="utf-8"), str(path))
        except OSError as error:
            raise OpkitError(f"{path} cannot be read: {error.strerror}") from None

    @cached_property
    def reference(self) -> ModuleType:
        """The module `<operator>_reference`, the same that the repository's tests import."""
        name = f"{self.spec.lower}_reference"
        path = self.root / f"{name}.py"
        module = sys.modules.get(name)
        if module is not None and Path(str(module.__file__)).resolve() == path.resolve():
            return module
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None or not path.is_file():
            raise OpkitError(f"{path} is not there; run `scons target=x64`, which makes one")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        return module

    @cached_property
    def cpu_kernel(self) -> Runner:
        """The CPU kernel on this PC."""
        build = self.root / "build"
        library = build / "x64" / f"lib{self.spec.lower}.so"
        return HostKernel(self.spec, library, build / "host" / "libOpenVX.so")

    def params(self, case: Case) -> dict[str, Any]:
        """Return the value of every param: the case's, or the default in op.yml."""
        names = [param.name for param in self.spec.params]
        for name in case.params:
            if name not in names:
                known = ", ".join(names) or "none"
                raise CheckError(f"the case sets the unknown param '{name}'; op.yml has: {known}")
        params = {}
        for param in self.spec.params:
            value = case.params.get(param.name, param.default)
            if value is None:
                raise CheckError(
                    f"the case does not set param '{param.name}', which has no default in op.yml"
                )
            params[param.name] = list(value) if isinstance(value, (list, tuple)) else value
            delivered(param, params[param.name])
        return params

    def check_inputs(self, case: Case) -> None:
        """Refuse a case whose inputs are not those of op.yml, or that no tensor can hold."""
        expected = [tensor.name for tensor in self.spec.inputs]
        if sorted(case.inputs) != sorted(expected):
            raise CheckError(
                f"the case has the inputs {', '.join(case.inputs) or 'none'}; "
                f"op.yml has: {', '.join(expected)}"
            )
        for name, array in case.inputs.items():
            _check_tensor(f"input '{name}'", array.shape, array.dtype)

    def expected(self, case: Case, params: Mapping[str, Any]) -> dict[str, Array]:
        """Return what the reference computes, rounded to the outputs' dtypes.

        Raises:
            CheckError: the reference does not keep to its rules.
        """
        shapes = self.reference.output_shapes(
            {name: tuple(array.shape) for name, array in case.inputs.items()}, dict(params)
        )
        inputs = {name: _as_reference_sees(array) for name, array in case.inputs.items()}
        results = self.reference.reference(inputs, dict(params))
        for name, array in case.inputs.items():
            if inputs[name].tobytes() != _as_reference_sees(array).tobytes():
                raise CheckError(f"the reference changes its input '{name}'; let it copy first")
        first = case.inputs[self.spec.inputs[0].name].dtype
        expected = {}
        for tensor in self.spec.outputs:
            name = tensor.name
            for function, answer in (("output_shapes", shapes), ("reference", results)):
                if name not in answer:
                    raise CheckError(f"the reference's {function} returns nothing for '{name}'")
            result = np.asarray(results[name])
            if result.shape != tuple(shapes[name]):
                raise CheckError(
                    f"the reference returns '{name}' with shape {result.shape}, but its "
                    f"output_shapes says {tuple(shapes[name])}"
                )
            dtype = np.dtype(case.output_dtypes.get(name, first))
            _check_tensor(f"output '{name}'", result.shape, dtype)
            expected[name] = _rounded(name, result, dtype)
        return expected


@cache
def operator_of(root: Path) -> Operator:
    """Return the operator of a repository, loaded once in a process."""
    return Operator(root)


def _check_tensor(what: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    if not 1 <= len(shape) <= 6 or 0 in shape:
        raise CheckError(f"{what} has shape {shape}; the board takes 1 to 6 dimensions, none 0")
    if dtype not in TENSOR_TYPES:
        allowed = ", ".join(type_.name for type_ in TENSOR_TYPES)
        raise CheckError(f"{what} is {dtype}; the board's tensors are one of: {allowed}")


def _as_reference_sees(array: Array) -> Array:
    """A copy; of half-precision tensors as float32, which is what kernels compute with."""
    return array.astype(np.float32) if array.dtype == np.float16 else array.copy()


def _rounded(name: str, result: Array, dtype: np.dtype[Any]) -> Array:
    with np.errstate(all="ignore"):
        rounded = result.astype(dtype)
    if dtype.kind in "iu" and not np.array_equal(rounded, result):
        raise CheckError(
            f"the reference returns '{name}' as {result.dtype} with values that {dtype} does not "
            "have; round them, or name the output's dtype in the cases"
        )
    return rounded


# ---- Comparing ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Difference:
    """How far an output is from the reference.

    Attributes:
        max_error: the largest absolute difference.
        max_ulp: the same, counted in representable values of the output's dtype.
        wrong: how many elements are too far away.
        first: index of the first of them.
        first_ulp: how far away that one is.
    """

    max_error: float
    max_ulp: int
    wrong: int
    first: tuple[int, ...]
    first_ulp: int


_NOT_COMPARABLE = 2**63  # ulp between a number and NaN


def ulp_distance(actual: Array, expected: Array) -> Array:
    """Return for each element how many representable values lie between, as uint64.

    0 and -0 are the same, and so are all NaN. Between NaN and a number it is 2**63.
    """

    def ordered(array: Array) -> Array:
        if array.dtype.kind != "f":
            return array
        bits = array.view(f"i{array.itemsize}").astype(np.int64)
        return np.where(bits < 0, -(bits & (2 ** (8 * array.itemsize - 1) - 1)), bits)

    first, second = ordered(actual), ordered(expected)
    high = np.maximum(first, second).astype(np.int64).astype(np.uint64)
    low = np.minimum(first, second).astype(np.int64).astype(np.uint64)
    distance = high - low
    if actual.dtype.kind == "f":
        missing = np.isnan(actual), np.isnan(expected)
        distance[missing[0] != missing[1]] = _NOT_COMPARABLE
        distance[missing[0] & missing[1]] = 0
    return distance


def compare(
    actual: Array, expected: Array, max_ulp: int = 0, max_error: float | None = None
) -> Difference:
    """Compare two arrays of one shape and dtype.

    An element is right if it is within max_ulp or, when that is given, within max_error.
    """
    ulp = ulp_distance(actual, expected)
    with np.errstate(all="ignore"):
        error = np.abs(actual.astype(np.float64) - expected.astype(np.float64))
    error[ulp == 0] = 0
    error[np.isnan(error)] = np.inf
    wrong = ulp > max_ulp
    if max_error is not None:
        wrong &= ~(error <= max_error)
    first = _first(wrong)
    return Difference(float(error.max()), int(ulp.max()), int(wrong.sum()), first, int(ulp[first]))


def _first(mask: Array) -> tuple[int, ...]:
    """The index of the first element that is true."""
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(mask)), mask.shape))


@dataclass
class Result:
    """What came of a case.

    Attributes:
        kernel: which kernel it was, for instance "CPU kernel".
        case: the case's name.
        problem: why it fails; empty if it does not.
        max_error: the largest absolute difference, of all outputs; None if none was computed.
        max_ulp: the same in representable values.
        seconds: how long the kernel function takes; None if it was not measured.
    """

    kernel: str
    case: str
    problem: str = ""
    max_error: float | None = None
    max_ulp: int | None = None
    seconds: float | None = None

    def add(self, difference: Difference) -> None:
        """Take the difference of one more output into account."""
        self.max_error = max(self.max_error or 0, difference.max_error)
        self.max_ulp = max(self.max_ulp or 0, difference.max_ulp)


def _index(name: str, index: tuple[int, ...]) -> str:
    return f"{name}[{', '.join(map(str, index))}]"


def _wrong_elements(
    name: str, actual: Array, expected: Array, difference: Difference, allowed: str
) -> str:
    first = difference.first
    distance = (
        "NaN is only equal to NaN"
        if difference.first_ulp == _NOT_COMPARABLE
        else f"{difference.first_ulp} ulp apart, allowed: {allowed}"
    )
    return (
        f"{difference.wrong} of {expected.size} elements of output '{name}' are wrong, "
        f"the first is {_index(name, first)}: the kernel gives {actual[first]}, "
        f"the reference {expected[first]} ({distance})"
    )


def _describe(
    case: Case, params: Mapping[str, Any], shape: tuple[int, ...], index: tuple[int, ...]
) -> Iterator[str]:
    """Yield what the kernel was called with, seen from one element of an output."""
    for name, array in case.inputs.items():
        try:
            seen = np.broadcast_to(array, shape)[index]
            yield f"{_index(name, index)} = {seen}"
        except ValueError:
            with np.errstate(all="ignore"):
                yield (
                    f"{name} is {array.dtype} {_shown(array.shape, 'x')}, from {array.min()} "
                    f"to {array.max()}"
                )
    for name, value in params.items():
        yield f"{name} = {value}"


# ---- Running ------------------------------------------------------------------------------------


def _problem_of_run(outcome: Outcome) -> str:
    """Say what is wrong with a run as such; nothing if all is well."""
    if outcome.fault:
        return outcome.fault
    log = [f"log: {line}" for line in outcome.log]
    if outcome.status != 0:
        return "\n".join([f"{outcome.stage} returns {status_name(outcome.status)}", *log])
    return "\n".join([*outcome.events, *outcome.leaks])


def _unwritten(first: Mapping[str, Array], second: Mapping[str, Array]) -> str:
    """Compare two runs bit by bit that began with different memory."""
    for name, array in first.items():
        raw = [
            np.ascontiguousarray(output).view(f"u{output.itemsize}")
            for output in (array, second[name])
        ]
        different = raw[0] != raw[1]
        if different.any():
            count = int(different.sum())
            more = f", nor {count - 1} more," if count > 1 else ""
            return (
                f"nobody wrote output element {_index(name, _first(different))}{more} "
                "(or it depends on memory that nobody set)"
            )
    return ""


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
    result = Result(name, case.name)
    try:
        _run(kernel, operator, case, result, max_ulp, max_error)
    except (CheckError, RefusedError) as error:
        result.problem = str(error)
    return result


def _run(
    kernel: Runner,
    operator: Operator,
    case: Case,
    result: Result,
    max_ulp: int,
    max_error: float | None,
) -> None:
    operator.check_inputs(case)
    params = operator.params(case)
    expected = operator.expected(case, params)
    shapes = {name: (array.shape, array.dtype) for name, array in expected.items()}
    call = Call(case.inputs, params, shapes)

    runs = []
    for fill in FILLS:
        outcome = kernel.run(call, fill=fill, limit=TIME_LIMIT)
        if problem := _problem_of_run(outcome):
            raise CheckError(problem)
        runs.append(outcome.outputs)
    if problem := _unwritten(*runs):
        raise CheckError(problem)

    problems = []
    for name, array in expected.items():
        difference = compare(runs[0][name], array, max_ulp, max_error)
        result.add(difference)
        if difference.wrong:
            allowed = f"{max_ulp} ulp" + (f" or {max_error:g}" if max_error is not None else "")
            lines = [
                _wrong_elements(name, runs[0][name], array, difference, allowed),
                *_describe(case, params, array.shape, difference.first),
            ]
            problems.append("\n    ".join(lines))
    if problems:
        raise CheckError("\n".join(problems))

    timed = kernel.run(call, repeat=TIMED_RUNS, limit=TIME_LIMIT)
    if problem := _problem_of_run(timed):
        raise CheckError(f"when it runs {TIMED_RUNS} times in a row, {problem}")
    if _unwritten(runs[0], timed.outputs):
        raise CheckError(f"the outputs are others when it runs {TIMED_RUNS} times in a row")
    result.seconds = timed.seconds


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
    return run_kernel(operator.cpu_kernel, operator, case, "CPU kernel", max_ulp, max_error)


RESULTS: list[Result] = []  # of the test that runs; the plugin takes them out after each


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
    """
    import pytest

    try:
        operator = operator or operator_of(REPOSITORY)
        result = run_cpu_kernel(case, max_ulp, max_error, operator)
    except OpkitError as error:
        pytest.fail(str(error), pytrace=False)
    RESULTS.append(result)
    if result.problem:
        title = f"{result.kernel} of {operator.spec.name}, case {case}:"
        pytest.fail("\n".join([title, *_indented(result.problem)]), pytrace=False)


def _indented(text: str) -> list[str]:
    return [f"  {line}" for line in text.splitlines()]
