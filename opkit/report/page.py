"""The page of a run, rendered from the records of a repository; page.html has the layout."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

from opkit import runtimes
from opkit.check import board_limits, line_counts, line_coverage
from opkit.check.grouping import Group, groups
from opkit.check.line_coverage import FileCoverage
from opkit.check.results import Errors, Output, Record, error_text, load, time_text, ulp_text
from opkit.description.spec import OpSpec
from opkit.description.types import TENSOR
from opkit.report import summary
from opkit.report.ages import Age, ages
from opkit.report.coverage import coverage
from opkit.report.plots import Drawing, Plot, error_map, plot
from opkit.report.profiles import EXPLANATIONS, HEIGHT, WIDTH, bars
from opkit.report.rendering import render
from opkit.report.summary import KernelSummary, Summary
from opkit.repository_files import write_text
from opkit.runtimes.invocation import STACK_SIZE
from opkit.runtimes.report import Product

_CONTEXT = 2  # lines around one that no case runs
_LISTED = 10  # failed cases of a cause at the top of the page; all of them are further down


@dataclass(frozen=True)
class Report:
    """The contents of the page.

    Attributes:
        operator: the operator description.
        properties: term -> text: the properties of the operator on its runtimes.
        deliveries: param -> its forms in kernels: each in words, and the type of it.
        products: the built products for targets.
        records: the result of each case on each kernel.
        plots: for each record the plots of its outputs, in the same order.
        check_failed: whether the check failed, in a case or elsewhere.
        time: the time of the run, as text.
        ages: file of a product -> its age against its sources, if that is known.
        sources: the coverage of the user's C; none after a failed check, whose counts are partial.
    """

    operator: OpSpec
    properties: Mapping[str, str]
    deliveries: Mapping[str, Sequence[tuple[str, str]]]
    products: Sequence[Product]
    records: Sequence[Record]
    plots: Sequence[Sequence[Plot]]
    check_failed: bool
    time: str
    ages: Mapping[str, Age] = field(default_factory=dict)
    sources: Sequence[FileCoverage] = ()


def page(report: Report) -> str:
    """Return the HTML page."""
    operator, products = report.operator, report.products
    cases = [
        _case(_key(index), record, plots)
        for index, (record, plots) in enumerate(zip(report.records, report.plots, strict=True))
    ]
    causes = list(_causes(cases))
    names = {(record.test, record.result.case) for record in report.records}
    # The columns of all products, in the order of the product with most columns.
    longest = max((list(product.cells) for product in products), key=len, default=[])
    titles = dict.fromkeys([*longest, *(name for each in products for name in each.cells)])
    text = render(
        "page.html",
        operator=operator,
        properties=report.properties,
        time=report.time,
        check_failed=report.check_failed,
        parameters=list(_parameters(operator, report.deliveries)),
        products=products,
        titles=list(titles),
        ages=report.ages,
        count=len(cases),
        cases=_counted(len(names), "case"),
        kernels=_by_kernel(cases),
        failed=sum(bool(case.record.result.problem) for case in cases),
        causes=causes,
        smallest={cause.smallest.key for cause in causes},
        listed=_LISTED,
        coverage=list(coverage(operator, report.records)),
        sources=[(each, list(_excerpts(each))) for each in report.sources],
        profiles=bars(report.records),
        peaks=board_limits.peaks(record.result for record in report.records),
        stack_size=board_limits.size_text(STACK_SIZE),
        phases=EXPLANATIONS,
        bar_size=(WIDTH, HEIGHT),
        key_of=_key,
    )
    return str(text)


# ---- The operator -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Parameter:
    """A row of the table of parameters."""

    name: str
    role: str
    doc: str
    type: str = TENSOR
    deliveries: Sequence[tuple[str, str]] = (("a tensor", ""),)
    default: Any = None
    source: str | None = None


def _parameters(
    operator: OpSpec, deliveries: Mapping[str, Sequence[tuple[str, str]]]
) -> Iterator[_Parameter]:
    for role, tensors in (("input", operator.inputs), ("output", operator.outputs)):
        for tensor in tensors:
            yield _Parameter(tensor.name, role, tensor.doc)
    for param in operator.params:
        yield _Parameter(
            name=param.name,
            role="param",
            doc=param.doc,
            type=param.type.name,
            deliveries=deliveries[param.name],
            default=param.default,
            source=param.source,
        )


# ---- The user's C -------------------------------------------------------------------------------


def _excerpts(source: FileCoverage) -> Iterator[list[tuple[int, str, str]]]:
    """Yield the parts of a file around what no case runs: number, text and remark of each line."""
    remarks: dict[int, list[str]] = {}
    for lines, remark in (
        (source.not_run, "no case"),
        (source.partly, "a part in no case"),
        (source.excused, "error return, or for other processors"),
    ):
        for number in lines:
            remarks.setdefault(number, []).append(remark)
    for number, conditions in source.conditions.items():
        told = [f"{text}: {outcome} in all cases" for text, outcome in conditions]
        remarks.setdefault(number, []).extend(told)
    shown = {
        number
        for line in (*source.not_run, *source.partly, *source.conditions)
        for number in range(line - _CONTEXT, line + _CONTEXT + 1)
        if 1 <= number <= len(source.lines)
    }
    for _, group in groupby(enumerate(sorted(shown)), lambda each: each[1] - each[0]):
        yield [
            (number, source.lines[number - 1], "; ".join(remarks.get(number, [])))
            for _, number in group
        ]


# ---- Cases --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Figure:
    """The plots of an output and their summary in one sentence."""

    plot: Plot
    summary: str


@dataclass(frozen=True)
class _Case:
    """The rows of a case: its numbers, its figures, and the figure of its worst output."""

    key: str
    record: Record
    error: str
    ulp: str
    time: str
    figures: Sequence[_Figure]
    worst: _Figure | None


@dataclass(frozen=True)
class _Cause:
    """A cause of failures, with its smallest failing case.

    Attributes:
        group: the failures.
        smallest: the case's rows.
        cases: the rows of all failing cases.
        maps: name of each wrong output of the smallest case -> where its errors are.
    """

    group: Group
    smallest: _Case
    cases: Sequence[_Case]
    maps: Sequence[tuple[str, Drawing]]


@dataclass(frozen=True)
class _Kernel:
    """The table of a kernel: the cases of each test function, in the order of the run."""

    name: str
    tests: Sequence[tuple[str, Sequence[_Case]]]


def plot_key(record: int, output: int) -> str:
    """Return the prefix of the ids of a plot, for the indices of its record and output."""
    return f"{_key(record)}-{output}"


def _key(index: int) -> str:
    """Return the id of a case on the page."""
    return f"case-{index}"


def _case(key: str, record: Record, plots: Sequence[Plot]) -> _Case:
    figures = [
        _Figure(plot, _summary(output)) for output, plot in zip(record.outputs, plots, strict=True)
    ]
    by_error = sorted(range(len(figures)), key=lambda i: _reach(record.outputs[i].errors))
    return _Case(
        key=key,
        record=record,
        error=_printed(error_text(record.result.max_error)),
        ulp=_printed(ulp_text(record.result.max_ulp)),
        time=_printed(time_text(record.result.seconds)),
        figures=figures,
        worst=figures[by_error[-1]] if figures else None,
    )


def _causes(cases: Sequence[_Case]) -> Iterator[_Cause]:
    case_of = {id(case.record.result): case for case in cases}
    for index, group in enumerate(groups(case.record.result for case in cases)):
        smallest = case_of[id(group.smallest)]
        maps = [
            (_summary(output), drawing)
            for i, output in enumerate(smallest.record.outputs)
            if (drawing := error_map(output, f"cause-{index}-{i}"))
        ]
        yield _Cause(group, smallest, [case_of[id(each)] for each in group.failures], maps)


def _by_kernel(cases: Sequence[_Case]) -> list[_Kernel]:
    found = []
    for name in dict.fromkeys(case.record.result.kernel for case in cases):
        own = [case for case in cases if case.record.result.kernel == name]
        by_test = groupby(own, lambda case: case.record.test)
        found.append(_Kernel(name, [(test, list(group)) for test, group in by_test]))
    return found


def _summary(output: Output) -> str:
    """Return a summary of the errors of an output, in one sentence."""
    errors = output.errors
    parts = [f"{_counted(errors.total, 'element')}, {errors.bins.get(0, 0)} equal"]
    size = "x".join(map(str, output.shape))
    near = sum(errors.bins.get(ulp, 0) for ulp in (-1, 1))
    far = errors.total - errors.incomparable - near - errors.bins.get(0, 0)
    parts += [f"{near} off by 1 ulp"] if near else []
    parts += [f"{far} off by more"] if far else []
    parts += [f"{errors.incomparable} NaN on one side"] if errors.incomparable else []
    return f"{output.name}, {output.kernel.dtype} {size}: {', '.join(parts)}"


def _reach(errors: Errors) -> tuple[int, int]:
    """Return a sort key: the count of NaN on one side, then the largest error."""
    return errors.incomparable, max(map(abs, errors.bins), default=0)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _printed(text: str) -> str:
    """Return a number of a terminal's table in the typography of a page."""
    return text.replace("-", "\N{MINUS SIGN}").replace("us", "µs")


Number = TypeVar("Number", int, float)


def write(root: Path, operator: OpSpec, records: Path, check_failed: bool, file: Path) -> str:
    """Write the page; return a summary of one line.

    Args:
        root: the repository.
        operator: its description.
        records: the folder with the records of a run.
        check_failed: whether the run failed.
        file: the page to write, relative to the repository.
    """
    found = load(records)
    plots = [
        [
            plot(output, plot_key(index, i), bool(record.result.problem))
            for i, output in enumerate(record.outputs)
        ]
        for index, record in enumerate(found)
    ]
    parts = [runtime.report for runtime in runtimes.selected(operator)]
    properties = {term: text for part in parts for term, text in part.properties(operator).items()}
    deliveries = {
        param.name: _forms(part.delivery(param) for part in parts) for param in operator.params
    }
    products = [product for part in parts for product in part.built_products(root)]
    time = datetime.now().strftime("%Y-%m-%d %H:%M")
    counts = {} if check_failed else line_counts.load(root / line_counts.FOLDER)
    report = Report(
        operator,
        properties,
        deliveries,
        products,
        found,
        plots,
        check_failed,
        time,
        ages(root),
        line_coverage.coverage(root, counts),
    )
    write_text(root, file, page(report))
    kernels = [_kernel(name, found) for name in dict.fromkeys(r.result.kernel for r in found)]
    summary.write(root, Summary(operator.name, operator.runtimes, check_failed, time, kernels))
    failed = sum(bool(record.result.problem) for record in found)
    return f"{file}: {(root / file).stat().st_size} bytes, {len(found)} results, {failed} failed"


def _forms(deliveries: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the different forms of a param; of one type, those in words if there are any."""
    forms = list(dict.fromkeys(deliveries))
    described = {type_ for words, type_ in forms if words}
    return [(words, type_) for words, type_ in forms if words or type_ not in described]


def _kernel(name: str, records: Sequence[Record]) -> KernelSummary:
    """Return the counts and the largest figures of a kernel."""
    results = [each.result for each in records if each.result.kernel == name]
    return KernelSummary(
        name,
        len(results),
        sum(bool(each.problem) for each in results),
        error_text(_largest(each.max_error for each in results)),
        ulp_text(_largest(each.max_ulp for each in results)),
        time_text(_largest(each.seconds for each in results)),
    )


def _largest(values: Iterable[Number | None]) -> Number | None:
    return max((value for value in values if value is not None), default=None)
