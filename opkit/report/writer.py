"""Write the page from the records of a repository."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from opkit import runtimes
from opkit.check.results import Record, error_text, load, time_text, ulp_text
from opkit.description.spec import OpSpec
from opkit.report import summary
from opkit.report.ages import ages
from opkit.report.page import Report, page, plot_key
from opkit.report.plots import plot
from opkit.report.summary import KernelSummary, Summary
from opkit.repository_files import write_text

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
    report = Report(
        operator, properties, deliveries, products, found, plots, check_failed, time, ages(root)
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
