"""The text of a check's end: the tables, the notes, and the failures by cause."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from opkit.check import board_limits
from opkit.check.grouping import Group, groups, without_numbers
from opkit.check.results import Result, error_text, time_text, ulp_text
from opkit.common.text import wrapped

FAILED = "FAILED"
"""The end of the row of a failed case, or of a kernel with one."""
_LINE = 80  # characters of a line
_MIN_CASE_WIDTH = 16
_MAX_PRINTED_LINES = 20  # of a failing case


@dataclass(frozen=True)
class FinishedTest:
    """A test that passed or failed.

    Attributes:
        name: its id in pytest.
        results: the results of its cases.
        integer_inputs: see RunningTest.
        problem: the message of a failure that the groups tell, not pytest; empty: none.
        printed: its output, with that of the kernels.
    """

    name: str
    results: Sequence[Result]
    integer_inputs: Sequence[tuple[str, ...]] = ()
    problem: str = ""
    printed: str = ""

    @property
    def failures(self) -> list[Result]:
        """The failed results; for a failure outside of the cases, one without a kernel."""
        failed = [result for result in self.results if result.problem]
        if failed or not self.problem:
            return failed
        return [Result("", self.name, self.problem, before_run=True)]


def kernels(results: Iterable[Result]) -> list[str]:
    """Return the lines of a table with a row for each kernel.

    The columns: kernel, count of cases, largest error, the same in ulp, largest time. Instead of
    the time, a kernel with failures has their count. Without results there is no table.
    """
    by_kernel: dict[str, list[Result]] = {}
    for result in results:
        if not result.left_out:
            by_kernel.setdefault(result.kernel, []).append(result)
    if not by_kernel:
        return []
    rows = [("kernel", "cases", "max error", "max ulp", "max time")]
    for name, ran in by_kernel.items():
        failed = sum(bool(result.problem) for result in ran)
        rows.append(
            (
                name,
                str(len(ran)),
                error_text(_max(result.max_error for result in ran)),
                ulp_text(_max(result.max_ulp for result in ran)),
                f"{failed} {FAILED}" if failed else time_text(_max(each.seconds for each in ran)),
            )
        )
    kernel_width, *widths = _widths(rows)
    return [
        "  ".join([kernel.ljust(kernel_width), *_right_aligned(numbers, widths)])
        for kernel, *numbers in rows
    ]


_Number = TypeVar("_Number", int, float)


def _max(values: Iterable[_Number | None]) -> _Number | None:
    return max((value for value in values if value is not None), default=None)


def cases(results: Iterable[Result]) -> list[str]:
    """Return the lines of a table with a row for each case: kernel, case, error, ulp, time.

    The name of a case wraps at 80 characters. Without results there is no table.
    """
    ran = [result for result in results if not result.left_out]
    if not ran:
        return []
    rows = [("kernel", "case", "max error", "ulp", "time")]
    rows += [
        (
            result.kernel,
            result.case,
            error_text(result.max_error),
            ulp_text(result.max_ulp),
            FAILED if result.problem else time_text(result.seconds),
        )
        for result in ran
    ]
    kernel_width, case_width, *widths = _widths(rows)
    available = _LINE - kernel_width - sum(widths) - 2 * len(widths) - 2
    case_width = min(case_width, max(available, _MIN_CASE_WIDTH))
    lines = []
    for kernel, case, *numbers in rows:
        first, *others = textwrap.wrap(case, case_width)
        cells = [kernel.ljust(kernel_width), first.ljust(case_width)]
        lines.append("  ".join([*cells, *_right_aligned(numbers, widths)]))
        lines += [f"{'':{kernel_width}}  {other}" for other in others]
    return lines


def _widths(rows: Iterable[Sequence[str]]) -> list[int]:
    return [max(map(len, column)) for column in zip(*rows, strict=True)]


def _right_aligned(cells: Iterable[str], widths: Iterable[int]) -> list[str]:
    return [cell.rjust(width) for cell, width in zip(cells, widths, strict=True)]


def notes(results: Iterable[Result], integer_inputs: Iterable[tuple[str, ...]]) -> list[str]:
    """Return each note once: those of cases that differ in numbers only, with their count."""
    lines = []
    results = [*results]
    integers = dict.fromkeys(integer_inputs)
    for reality in dict.fromkeys(text for _, text in integers):
        inputs = ", ".join(input_ for input_, text in integers if text == reality)
        lines.append(f"note: cases have integer inputs ({inputs}), but {reality}")
    alike: dict[str, list[str]] = {}
    for result in results:
        if result.note:
            alike.setdefault(without_numbers(result.note), []).append(result.note)
    for texts in alike.values():
        more = f" ({len(texts)} cases)" if len(texts) > 1 else ""
        lines.append(f"note: {texts[0]}{more}")
    lines += [f"note: {text}" for text in board_limits.notes(results)]
    return [line for text in lines for line in wrapped(text).splitlines()]


def left_out(results: Sequence[Result]) -> list[str]:
    """Return a line for each reason for which a kernel leaves out cases, with their count."""
    counts = Counter(result.kernel for result in results)
    alike: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        if result.left_out:
            alike.setdefault((result.kernel, without_numbers(result.left_out)), []).append(result)
    texts = [
        f"{kernel} leaves out {group[0].left_out} ({len(group)} of {counts[kernel]})"
        for (kernel, _), group in alike.items()
    ]
    return [line for text in texts for line in wrapped(text).splitlines()]


def gaps(results: Iterable[Result]) -> list[str]:
    """Return a note for each gap that no case fills."""
    filled: dict[str, bool] = {}
    for result in results:
        for note, fills in result.coverage.items():
            filled[note] = filled.get(note, False) or fills
    return [note for note, is_filled in filled.items() if not is_filled]


def failures(tests: Sequence[FinishedTest], are_shown: bool) -> list[str]:
    """Return the lines of the failures by cause.

    Args:
        tests: the tests of the session.
        are_shown: whether the message of each failure is above.
    """
    passed = [result for test in tests for result in test.results if not result.problem]
    failed = [(result, test) for test in tests for result in test.failures]
    test_of = {id(result): test for result, test in failed}
    lines: list[str] = []
    for group in groups([*(result for result, _ in failed), *passed]):
        lines += ["", *_group(group, test_of[id(group.smallest)], are_shown)]
    hint = "every failure with its message: scons verbose=1 check"
    return [*lines[1:], *([] if are_shown else ["", hint])]


def _group(group: Group, test: FinishedTest, is_shown: bool) -> Iterator[str]:
    smallest = group.smallest
    function, _, parameters = test.name.partition("[")
    yield from wrapped(group.headline).splitlines()
    for statement in (*group.shared, *group.appearances):
        yield from wrapped(f"  {statement}").splitlines()
    yield from wrapped(f"  the smallest, in {function}{':' if parameters else ''}").splitlines()
    if parameters:
        yield from wrapped(f"  {parameters.removesuffix(']')}").splitlines()
    if is_shown:
        return
    problem = smallest.problem.splitlines()
    if problem[0] in group.headline:
        problem = problem[1:]
    for line in problem:
        yield from wrapped(f"    {line}").splitlines()
    printed = [line for line in test.printed.splitlines() if line not in smallest.problem]
    if printed:
        yield "    printed:"
    for line in printed[:_MAX_PRINTED_LINES]:
        yield from wrapped(f"      {line}").splitlines()
