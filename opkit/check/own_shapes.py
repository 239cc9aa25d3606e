"""Shapes of the check's own: a test's passed cases again, with other sizes and ranks.

A shape counts if the reference takes it: neither output_shapes nor reference raises. The runs of a
kernel share a process and leave out the rest of a case's check, so they take little time.
"""

from __future__ import annotations

import random
import time
import tracemalloc
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, cycle, islice
from math import prod

import numpy as np

from opkit.check.checking import FILLS, TIME_LIMIT, kernel_problem, run_kernel
from opkit.check.comparison import compare
from opkit.check.mistakes import CheckError
from opkit.check.operators import Prepared, is_extreme, unsupported_tensors
from opkit.check.results import CheckedCase
from opkit.check.tolerance import Tolerance
from opkit.common.errors import OpkitError
from opkit.description.types import MAX_RANK
from opkit.runtimes.invocation import Array, RunResult, StatefulKernel

Shapes = Mapping[str, tuple[int, ...]]
"""Name of each input -> shape."""

SIZES = (17, 2, 16, 33, 3, 1)  # of each axis in turn
BATCHES = (2, 5)
ELEMENTS = (2**8 + 3, 2**11 + 3, 2**14 + 3, 2**17 + 3)  # of the largest input, in turn
RANDOM_SIZES = (*range(1, 10), 15, 16, 17, 31, 32, 33, 63, 64, 65, 127)
MAX_RANDOM = 1 << 14  # elements of the inputs of a random shape
MAX_INPUT = 1 << 20  # elements of all inputs
MAX_OUTPUT = 1 << 22  # of all outputs
MAX_INTEGER = 1 << 24  # in outputs, unless inputs have larger ones, too: exact in float32
MAX_BYTES = 1 << 28  # of memory that the reference takes for a large shape
MAX_SECONDS = 5.0  # for a large shape
SHRINKING = 5.0  # seconds, to find a smaller shape with the same failure
BATCH = 32  # invocations in one process


@dataclass(frozen=True)
class OwnShapes:
    """The outcome of the shapes for one test function.

    Attributes:
        count: the number of shapes that ran.
        problem: the message of a failure; empty: none.
    """

    count: int
    problem: str = ""


def check_own_shapes(
    checked: Sequence[CheckedCase], seconds: float, fuzz: int = 0, seed: int = 0
) -> OwnShapes:
    """Run passed cases with other shapes, up to the first failure.

    Args:
        checked: the passed cases of one test function.
        seconds: after this time no other shape begins, but for random ones.
        fuzz: the count of random shapes.
        seed: the seed of the random shapes.
    """
    bases = _bases(checked)
    end = time.monotonic() + seconds
    own = _Own({_key(_shapes(each)): True for each in checked})
    count = 0
    limited = chain(_batches(_in_turn(bases, own)), ([each] for each in _large(bases, own)))
    for batch in limited:
        count += len(batch)
        if problem := _first_problem(batch):
            return OwnShapes(count, problem)
        if time.monotonic() > end:
            break
    for batch in _batches(islice(_random(bases, own, random.Random(seed)), fuzz)):
        count += len(batch)
        if problem := _first_problem(batch):
            return OwnShapes(count, f"{problem}\n  the same shapes again: fuzz={fuzz}:{seed}")
    return OwnShapes(count)


def _bases(checked: Sequence[CheckedCase]) -> list[CheckedCase]:
    """Return the cases with the most axes, if possible those without extreme values."""
    found = [each for each in checked if all(map(np.size, each.case.inputs.values()))]
    found = [each for each in found if not any(map(is_extreme, each.case.inputs.values()))] or found
    axes = [sum(map(len, _shapes(each).values())) for each in found]
    return [each for each, count in zip(found, axes, strict=True) if count == max(axes)]


def _shapes(checked: CheckedCase) -> Shapes:
    return {name: array.shape for name, array in checked.case.inputs.items()}


def _key(shapes: Shapes) -> tuple[tuple[int, ...], ...]:
    return (*shapes.values(),)


@dataclass(frozen=True)
class _Trial:
    """A case of the test with a shape of the check's own.

    Attributes:
        base: the case of the test.
        shapes: the shape of each input.
        prepared: the case with these shapes.
        tolerance: the tolerance of the test; larger shapes have a wider one, as the rounding errors
            of a sum grow with the root of the count of its terms.
    """

    base: CheckedCase
    shapes: Shapes
    prepared: Prepared
    tolerance: Tolerance


@dataclass(frozen=True)
class _Own:
    """Finds shapes that the reference takes, each once.

    Attributes:
        known: shapes -> whether the reference takes them.
    """

    known: dict[tuple[tuple[int, ...], ...], bool] = field(default_factory=dict)

    def first(self, base: CheckedCase, alternatives: Iterable[Shapes]) -> _Trial | None:
        """Return the first of several shapes that the reference takes; None if it is not new."""
        for shapes in alternatives:
            key = _key(shapes)
            if key not in self.known:
                trial = _trial(base, shapes)
                self.known[key] = trial is not None
                if trial:
                    return trial
            elif self.known[key]:
                return None
        return None


def _trial(base: CheckedCase, shapes: Shapes) -> _Trial | None:
    """Return the case with these shapes; None if it is invalid, or the reference refuses it."""
    operator = base.operator
    if sum(map(prod, shapes.values())) > MAX_INPUT:
        return None
    try:
        case = base.case.reshaped(shapes)
    except Exception:  # a test's own Values may raise any, for shapes that the test does not have
        return None
    is_empty = any(0 in shape for shape in shapes.values())
    with warnings.catch_warnings():
        # The mean of no element, for instance, is no result to compare with.
        warnings.simplefilter("error" if is_empty else "ignore")
        try:
            outputs = operator.reference.output_shapes(shapes, operator.check(case))
            if sum(map(prod, outputs.values())) > MAX_OUTPUT:
                return None
            prepared = operator.prepare(case)
        except CheckError:
            return None
    if _is_inexact(prepared.expected.values()) and not _is_inexact(case.inputs.values()):
        return None
    sizes = [sum(array.size for array in each.inputs.values()) for each in (case, base.case)]
    tolerance = base.tolerance.scaled(max(1, sizes[0] / sizes[1]) ** 0.5)
    return _Trial(base, shapes, prepared, tolerance)


def _is_inexact(arrays: Iterable[Array]) -> bool:
    """Return whether integers are beyond those of float32, the type of some runtimes' tensors."""
    return any(
        array.dtype.kind in "iu" and bool((np.abs(array.astype(np.float64)) > MAX_INTEGER).any())
        for array in arrays
    )


# ---- Shapes --------------------------------------------------------------------------------------


def _resized(shapes: Shapes, name: str, axis: int, size: int) -> Iterator[Shapes]:
    """Yield the shapes with another size of one axis, counted from the last, -1.

    Inputs often share a size: then all axes with it change first, those of them at the same place
    second, this axis alone last. The first two are in the other order for a size of 1, which is
    often equal by chance. A size of one input alone changes in this axis first.
    """
    old = shapes[name][axis]
    places = {
        (other, index - len(shape)): each
        for other, shape in shapes.items()
        for index, each in enumerate(shape)
    }
    alike = {place for place, each in places.items() if each == old}
    aligned = {place for place in alike if place[1] == axis}
    if all(other == name for other, _ in alike):
        order = [{(name, axis)}, alike]
    else:
        order = [*((aligned, alike) if old == 1 else (alike, aligned)), {(name, axis)}]
    for changed in order:
        yield {
            other: tuple(
                size if (other, index - len(shape)) in changed else each
                for index, each in enumerate(shape)
            )
            for other, shape in shapes.items()
        }


def _ranked(shapes: Shapes, rank: int) -> Iterator[Shapes]:
    """Yield the shapes with another rank: of all inputs with the largest one, then of the first."""
    largest = max(map(len, shapes.values()))
    names = [name for name, shape in shapes.items() if len(shape) == largest]
    for changed in (names, [next(iter(shapes))]):
        yield {
            name: ((2,) * rank + shape)[-rank:] if name in changed else shape
            for name, shape in shapes.items()
        }


def _changes(shapes: Shapes) -> list[list[Shapes]]:
    """Return the changes of shapes, the most revealing first; each is a list of alternatives."""
    first = next(iter(shapes))
    axes = [(name, -axis) for name, shape in shapes.items() for axis in range(1, len(shape) + 1)]
    ranks = range(1, MAX_RANK + 1)
    return [
        [{name: (1,) * len(shape) for name, shape in shapes.items()}],
        [{name: (2,) * len(shape) for name, shape in shapes.items()}],
        *([*_resized(shapes, first, -len(shapes[first]), size)] for size in BATCHES),
        *([*_ranked(shapes, rank)] for rank in ranks),
        *([*_resized(shapes, name, axis, size)] for size in SIZES for name, axis in axes),
        *([*_resized(shapes, first, axis, 0)] for axis in (-1, -len(shapes[first]))),
    ]


def _in_turn(bases: Sequence[CheckedCase], own: _Own) -> Iterator[_Trial]:
    """Yield each change once, of the cases in turn, whose values and params differ."""
    changes = [_changes(_shapes(base)) for base in bases]  # as many of each: they have as many axes
    for index, of_bases in enumerate(zip(*changes, strict=True)):
        turn = index % len(bases)
        if trial := own.first(bases[turn], of_bases[turn]):
            yield trial


def _large(bases: Sequence[CheckedCase], own: _Own) -> Iterator[_Trial]:
    """Yield larger and larger shapes, as long as neither time nor memory grow too much."""
    before: tuple[float, ...] = ()
    for elements, base in zip(ELEMENTS, cycle(bases), strict=False):
        shapes = _shapes(base)
        name = max(shapes, key=lambda each: prod(shapes[each]))
        alternatives = (
            alternative
            for axis in range(-1, -len(shapes[name]) - 1, -1)
            for alternative in _resized(
                shapes, name, axis, -(-elements * shapes[name][axis] // prod(shapes[name]))
            )
        )
        start = time.monotonic()
        tracemalloc.start()
        try:
            trial = own.first(base, alternatives)
            memory = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        if trial is None:
            return
        yield trial
        now = (time.monotonic() - start, float(memory))
        growth = [
            min(max(each / (old or each), 8), 64)
            for each, old in zip(now, before or now, strict=True)
        ]
        before = now
        if now[0] * growth[0] > MAX_SECONDS or now[1] * growth[1] > MAX_BYTES:
            return


def _random(bases: Sequence[CheckedCase], own: _Own, source: random.Random) -> Iterator[_Trial]:
    """Yield random shapes, until the reference refuses many in a row."""
    refused = 0
    while bases and refused < 1000:
        base = source.choice(bases)
        shapes = _shapes(base)
        if source.random() < 0.25:
            shapes = next(_ranked(shapes, source.randint(1, MAX_RANK)))
        for name in shapes:
            for axis in range(-len(shapes[name]), 0):
                if source.random() < 0.7:
                    alternatives = [*_resized(shapes, name, axis, source.choice(RANDOM_SIZES))]
                    shapes = source.choices(alternatives, (6, 3, 1)[: len(alternatives)])[0]
        is_small = sum(map(prod, shapes.values())) <= MAX_RANDOM
        trial = own.first(base, [shapes]) if is_small else None
        refused = 0 if trial else refused + 1
        if trial:
            yield trial


# ---- Runs ----------------------------------------------------------------------------------------


def _batches(trials: Iterator[_Trial]) -> Iterator[list[_Trial]]:
    while batch := [*islice(trials, BATCH)]:
        yield batch


def _first_problem(trials: Sequence[_Trial]) -> str:
    """Return the message of the first failure of a kernel; empty: none."""
    for name, kernel in trials[0].base.kernels.items():
        supported = [
            each
            for each in trials
            if not any(
                unsupported_tensors(
                    kernel.convention, each.prepared.case, each.prepared.output_dtypes
                )
            )
        ]
        if not supported:
            continue
        try:
            runs = _run(kernel, supported)
        except OpkitError as error:
            return f"{name}, with shapes of the check's own: {error}"
        for trial, run in zip(supported, runs, strict=False):
            if problem := _problem(trial, kernel, run):
                smallest = trial if run.timed_out else _smallest(trial, kernel)
                return _message(name, kernel, smallest, problem)
    return ""


def _run(kernel: StatefulKernel, trials: Sequence[_Trial]) -> list[RunResult]:
    """Run trials in one process; return their results up to a fault."""
    invocations = [each.prepared.invocation for each in trials]
    found = kernel.run_batch(invocations, FILLS[0], alternates=False, limit=TIME_LIMIT)
    return [found[index] for index in range(len(trials)) if index in found]


def _problem(trial: _Trial, kernel: StatefulKernel, run: RunResult) -> str:
    """Return why a run fails; empty: it passes."""
    if problem := kernel_problem(run, kernel):
        return problem
    wrong = [
        name
        for name, expected in trial.prepared.expected.items()
        if compare(
            run.outputs[name], expected, trial.tolerance.for_output(name, expected.dtype)
        ).wrong
    ]
    return f"wrong elements in output {', '.join(wrong)}" if wrong else ""


def _smallest(trial: _Trial, kernel: StatefulKernel) -> _Trial:
    """Return the failing trial with the smallest sizes that is found in time."""
    end = time.monotonic() + SHRINKING
    own = _Own({_key(trial.shapes): True})
    while time.monotonic() < end:
        for alternatives in _smaller(trial.shapes):
            candidate = own.first(trial.base, alternatives) if time.monotonic() < end else None
            if candidate and _problem(candidate, kernel, _run(kernel, [candidate])[0]):
                trial = candidate
                break
        else:
            break
    return trial


def _smaller(shapes: Shapes) -> Iterator[Iterator[Shapes]]:
    """Yield the alternatives of each smaller size of an axis, the smallest first."""
    for name, shape in shapes.items():
        for axis in range(-len(shape), 0):
            size = shape[axis]
            steps = (size // part for part in (2, 4, 16, 64, max(size, 1)))
            for smaller in dict.fromkeys((1, 2, *(size - step for step in steps))):
                if 0 < smaller < size:
                    yield _resized(shapes, name, axis, smaller)


def _message(name: str, kernel: StatefulKernel, trial: _Trial, in_batch: str) -> str:
    operator, case = trial.base.operator, trial.prepared.case
    result = run_kernel(kernel, operator, case, name, trial.tolerance)
    problem = result.problem or f"{in_batch}, after other shapes in the same process"
    shapes = ", ".join(f'"{each}": {shape}' for each, shape in trial.shapes.items())
    where = (
        f"to the shapes of {case.origin}" if case.recipe else f"to a case like {trial.base.case}"
    )
    return "\n".join(
        [
            f"{name} of {operator.spec.name}, with a shape of the check's own, {case}:",
            *(f"  {line}" for line in problem.splitlines()),
            f"  add it {where}: {{{shapes}}}",
            f"  if the operator has no such shapes, raise ValueError in output_shapes of "
            f"{operator.reference.path.name}",
        ]
    )
