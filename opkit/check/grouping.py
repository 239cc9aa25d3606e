"""Group the failures of a check by cause, and find the traits of failing cases alone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from opkit.check.results import Result
from opkit.check.traits import CaseTraits

_MAX_SHARED = 3  # statements about a group; more are coincidences
_ALIGNMENT = 8  # elements of 16 bits in a vector register


@dataclass(frozen=True)
class Group:
    """The failures with one cause.

    Attributes:
        kernels: the kernels that fail, the first with most cases; "" is a failure outside of them.
        failures: the failures of the first kernel, in the order of the run.
        ran: the number of cases that ran on the first kernel.
        shared: statements that are true of each failure and of no pass.
    """

    kernels: tuple[str, ...]
    failures: tuple[Result, ...]
    ran: int
    shared: tuple[str, ...]

    @property
    def smallest(self) -> Result:
        """The failure with the fewest elements of inputs, the first of several."""
        return min(self.failures, key=lambda failure: failure.traits.elements)

    @property
    def headline(self) -> str:
        """The count and the cause, in one line."""
        cause = self.smallest.cause or self.smallest.problem.partition("\n")[0]
        if not self.kernels[0]:
            return f"{len(self.failures)} outside of the cases: {cause}"
        where = "" if self.smallest.before_run else f" on the {' and the '.join(self.kernels)}"
        return f"{len(self.failures)} of {self.ran} cases{where}: {cause}"

    @property
    def appearances(self) -> list[str]:
        """The appearances of wrong outputs; each with its count, if not all have it."""
        counts = Counter(each.appearance for each in self.failures if each.appearance)
        return [
            text if count == len(self.failures) else f"{text} ({count} of {len(self.failures)})"
            for text, count in counts.most_common()
        ]


def groups(results: Iterable[Result]) -> list[Group]:
    """Return the failures of a run by cause, the cause with most failures first.

    Failures have one cause if their messages differ in numbers only and they are of one kernel.
    Kernels with the same cause in the same cases are one group, as are all kernels for a cause
    that is found before a kernel runs. A failure outside of the kernels with a cause of theirs is
    not told again.
    """
    ran = [result for result in results if not result.left_out]
    alike: dict[tuple[str, str], list[Result]] = {}
    for result in ran:
        if result.problem:
            key = without_numbers(result.cause or result.problem), result.kernel
            alike.setdefault(key, []).append(result)
    known = {cause for cause, kernel in alike if kernel}
    merged: dict[tuple[str, Sequence[str]], dict[str, list[Result]]] = {}
    for (cause, kernel), failures in alike.items():
        if not kernel and cause in known:
            continue
        cases = () if failures[0].before_run else tuple(each.case for each in failures)
        merged.setdefault((cause, cases), {})[kernel] = failures
    found = [_group(by_kernel, ran) for by_kernel in merged.values()]
    return sorted(found, key=lambda group: -len(group.failures))


def _group(by_kernel: dict[str, list[Result]], ran: Sequence[Result]) -> Group:
    kernels = sorted(by_kernel, key=lambda kernel: (not kernel, -len(by_kernel[kernel])))
    failures = by_kernel[kernels[0]]
    others = [result for result in ran if result.kernel == kernels[0]]
    passes = [result.traits for result in others if not result.problem]
    found = shared([failure.traits for failure in failures], passes)
    return Group((*kernels,), (*failures,), len(others), (*found,))


# ---- Alike messages ------------------------------------------------------------------------------

_NUMBER = r"[-+]?(?:0x[0-9a-fA-F]+|\d+(?:\.\d+)?(?:e[-+]?\d+)?|nan|inf)"
_NUMBERS = re.compile(
    rf"(?P<line>[\w./-]+\.\w+:\d+)|(?<![\w.])\(?{_NUMBER}(?:(?:, ?|x){_NUMBER})*(?!\w),?\)?"
)
"""A line of a file, or numbers: one, a shape as (1, 2) or 1x2."""


def without_numbers(message: str) -> str:
    """Return a message without its numbers, but with the lines of files."""
    return _NUMBERS.sub(lambda found: found["line"] or "#", message)


# ---- What failures share -------------------------------------------------------------------------


def shared(failures: Sequence[CaseTraits], passes: Sequence[CaseTraits]) -> list[str]:
    """Return statements that are true of each failure and of no pass.

    One failure, or failures without a pass, have no statement: everything would separate them.
    """
    if len(failures) < 2 or not passes:
        return []
    seen = set()
    found = []
    for values, statements in _subjects([*failures, *passes]):
        bad, good = values[: len(failures)], values[len(failures) :]
        key = repr(values)  # an output's shape is often an input's
        statement = next(statements(bad, good), "")
        if statement and key not in seen:
            seen.add(key)
            found.append(statement)
    return found[:_MAX_SHARED]


_Statements = Callable[[Sequence[Any], Sequence[Any]], Iterator[str]]
"""(values of failures, values of passes) -> true statements, the best first."""


def _subjects(cases: Sequence[CaseTraits]) -> Iterator[tuple[list[Any], _Statements]]:
    """Yield each common subject of the cases: its value in each one, and its statements."""
    first = cases[0]
    for name in first.params:
        if all(name in case.params for case in cases):
            yield [case.params[name] for case in cases], _of_param(name)
    for role in ("inputs", "outputs"):
        for name in getattr(first, role):
            tensors = [getattr(case, role).get(name) for case in cases]
            if None in tensors:
                continue
            yield [tensor.dtype for tensor in tensors], _of_kind(f"the dtype of {name}")
            for value in dict.fromkeys(value for tensor in tensors for value in tensor.values):
                yield [value in tensor.values for tensor in tensors], _of_flag(f"{value} in {name}")
            yield [len(tensor.shape) for tensor in tensors], _of_kind(f"the rank of {name}")
            for axis in range(1, min(len(tensor.shape) for tensor in tensors) + 1):
                sizes = [tensor.shape[-axis] for tensor in tensors]
                yield sizes, _of_size(f"{name}.shape[-{axis}]")
            yield [1 in tensor.shape for tensor in tensors], _of_flag(f"an axis of 1 in {name}")
            yield [tensor.elements for tensor in tensors], partial(_beyond, f"{name}.size")


def _of_param(name: str) -> _Statements:
    def statements(bad: Sequence[Any], good: Sequence[Any]) -> Iterator[str]:
        yield from _one_value(f"{name}=", bad, good)
        if all(isinstance(value, (int, float)) for value in (*bad, *good)):
            yield from _phrase(f"a negative {name}", bad, good, lambda value: value < 0)
            yield from _beyond(name, bad, good)

    return statements


def _of_kind(name: str) -> _Statements:
    return lambda bad, good: _one_value(f"{name} ", bad, good)


def _of_flag(phrase: str) -> _Statements:
    return lambda bad, good: _phrase(phrase, bad, good, bool)


def _of_size(name: str) -> _Statements:
    def statements(bad: Sequence[int], good: Sequence[int]) -> Iterator[str]:
        phrases: tuple[tuple[str, Callable[[int], bool]], ...] = (
            (f"{name} = 1", lambda size: size == 1),
            (f"an odd {name}", lambda size: size % 2 == 1),
            (f"an even {name}", lambda size: size % 2 == 0),
            (f"{name} not a multiple of {_ALIGNMENT}", lambda size: size % _ALIGNMENT != 0),
            (f"{name} a multiple of {_ALIGNMENT}", lambda size: size % _ALIGNMENT == 0),
        )
        for phrase, test in phrases:
            yield from _phrase(phrase, bad, good, test)
        yield from _beyond(name, bad, good)

    return statements


def _one_value(prefix: str, bad: Sequence[Any], good: Sequence[Any]) -> Iterator[str]:
    if all(value == bad[0] for value in bad) and all(value != bad[0] for value in good):
        same = all(value == good[0] for value in good)
        others = f"all passes {_text(good[0])}" if same else "no pass has"
        yield f"all failures have {prefix}{_text(bad[0])}, {others}"


def _phrase(
    phrase: str, bad: Sequence[Any], good: Sequence[Any], test: Callable[[Any], bool]
) -> Iterator[str]:
    if all(map(test, bad)) and not any(map(test, good)):
        yield f"all failures have {phrase}, no pass has"


def _beyond(name: str, bad: Sequence[Any], good: Sequence[Any]) -> Iterator[str]:
    if min(bad) > max(good):
        yield f"all failures have {name} > {max(good)}, no pass has"
    if max(bad) < min(good):
        yield f"all failures have {name} < {min(good)}, no pass has"


def _text(value: Any) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)
