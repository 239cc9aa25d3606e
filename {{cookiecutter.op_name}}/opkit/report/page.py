"""The page as text: a pure function of what it shows.

Whatever comes from the user passes `_text` on its way.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from string import Template
from typing import Any

from opkit.check.results import Errors, Output, Record, error_text, time_text, ulp_text
from opkit.description.spec import OpSpec, Param
from opkit.report.plots import Drawing, Plot
from opkit.runtimes.rknn.chips import TARGETS
from opkit.runtimes.rknn.rknnop import Package, shader_kind

_KERNELS = ("the CPU kernel", "the VX kernel")  # by kernel_index
_LISTED = 10  # failed cases at the top of the page; all of them are open further down
_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Report:
    """What the page shows.

    Attributes:
        operator: the operator description.
        packages: name of each file -> the package, or what is wrong with it.
        records: what came of each case on each kernel.
        plots: for each record the plots of its outputs, in the same order.
        check_failed: whether the check failed, be it on one of the cases or elsewhere.
        time: when the cases were run, for people.
    """

    operator: OpSpec
    packages: Mapping[str, Package | str]
    records: Sequence[Record]
    plots: Sequence[Sequence[Plot]]
    check_failed: bool
    time: str


def page(report: Report) -> str:
    """Return the HTML page."""
    return Template((_FOLDER / "page.html").read_text(encoding="utf-8")).substitute(
        name=_text(report.operator.name),
        style=(_FOLDER / "style.css").read_text(encoding="utf-8"),
        verdict=_verdict(report.records, report.check_failed),
        failed=_failed(report.records),
        facts=_facts(report.operator, report.time),
        parameters=_parameters(report.operator),
        packages=_packages(report.packages),
        cases=_cases(report),
    )


def _text(value: object) -> str:
    return html.escape(str(value))


def _code(value: object) -> str:
    return f"<code>{_text(value)}</code>"


def _definitions(pairs: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in pairs)


# ---- The operator -------------------------------------------------------------------------------


def _verdict(records: Sequence[Record], check_failed: bool) -> str:
    if not records:
        return '<span class="bad">No case was run.</span>'
    failed = sum(bool(record.result.problem) for record in records)
    cases = _counted(len({(record.test, record.result.case) for record in records}), "case")
    kernels = "; ".join(dict.fromkeys(_text(record.result.kernel) for record in records))
    state = '<span class="good">all passed</span>'
    if failed:
        state = f'<span class="bad">{failed} failed</span>, {len(records) - failed} passed'
    elif check_failed:
        state = 'all passed, but <span class="bad">the check failed</span>; its output says on what'
    return f"{cases} against the numpy reference ({kernels}): {state}"


def _failed(records: Sequence[Record]) -> str:
    failed = [(n, record.result) for n, record in enumerate(records) if record.result.problem]
    items = [
        f'<li><a href="#{_key(number)}">{_text(result.case)}</a>, {_text(result.kernel)}</li>'
        for number, result in failed[:_LISTED]
    ]
    if len(failed) > _LISTED:
        items.append(f"<li>and {len(failed) - _LISTED} more</li>")
    return f'<ul class="failed-cases">{"".join(items)}</ul>' if items else ""


def _facts(operator: OpSpec, time: str) -> str:
    family = TARGETS[operator.target_platform].family
    kernel = _KERNELS[operator.kernel_index]
    return _definitions(
        (
            ("Framework", _text(operator.framework)),
            ("Target platform", f"{_text(operator.target_platform)} (family {_text(family)})"),
            ("Kernel index", f"{operator.kernel_index}: the board runs {kernel}"),
            ("Run", _text(time)),
        )
    )


def _parameters(operator: OpSpec) -> str:
    roles = [
        *("input" for _ in operator.inputs),
        *("output" for _ in operator.outputs),
        *("param" for _ in operator.params),
    ]
    rows = []
    for index, (role, parameter) in enumerate(zip(roles, operator.parameters, strict=True)):
        vx_type, gets, default, source = "VX_TYPE_TENSOR", "a tensor", "", ""
        if isinstance(parameter, Param):
            vx_type, gets = parameter.type.name, _delivered(parameter)
            default = "" if parameter.default is None else _code(_value(parameter.default))
            source = _code(parameter.source) if parameter.source else ""
        cells = (role, _code(vx_type), gets, default, source)
        rows.append(
            f'<tr><td class="number">{index}</td><th scope="row">{_code(parameter.name)}</th>'
            + "".join(f"<td>{cell}</td>" for cell in cells)
            + f'<td class="doc">{_text(parameter.doc)}</td></tr>'
        )
    head = ("name", "role", "VX type", "what the kernel gets", "default", "source", "doc")
    return _wide_table(
        "parameters",
        '<th scope="col" class="number">index</th>'
        + "".join(f'<th scope="col">{title}</th>' for title in head),
        rows,
    )


def _delivered(param: Param) -> str:
    if param.type.is_array:
        length = "1 to 16" if param.length is None else param.length
        return f"an array of {length} {_code('VX_TYPE_INT32')}"
    return f"a scalar of {_code(param.type.delivered)}"


def _value(value: Any) -> str:
    """Return a value as op.yml has it."""
    return json.dumps(value)


def _wide_table(label: str, head: str, rows: Iterable[str]) -> str:
    """Return a table that scrolls sideways where the window is narrow."""
    return (
        f'<div class="wide" role="region" aria-labelledby="{label}" tabindex="0">\n'
        f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n"
        + "\n".join(rows)
        + "\n</tbody>\n</table>\n</div>"
    )


# ---- Packages -----------------------------------------------------------------------------------


def _packages(packages: Mapping[str, Package | str]) -> str:
    if not packages:
        return '<p class="note">None is built; <code>scons</code> makes one.</p>'
    sections = {
        file: _sections(package)
        for file, package in packages.items()
        if isinstance(package, Package)
    }
    names = list(dict.fromkeys(name for sizes in sections.values() for name in sizes))
    rows = []
    for file, package in packages.items():
        head = f'<tr><th scope="row">{_code(file)}</th>'
        if isinstance(package, str):
            message = f'<td class="bad" colspan="{len(names) + 2}">{_text(package)}</td>'
            rows.append(f"{head}{message}</tr>")
            continue
        sizes = sections[file]
        cells = (
            str(package.version),
            *(_size(sizes.get(name)) for name in names),
            shader_kind(package.vx_binary),
        )
        numbers = "".join(f'<td class="number">{cell}</td>' for cell in cells)
        rows.append(f"{head}{numbers}</tr>")
    titles = ("version", *names, "kind of VX kernel")
    heads = "".join(f'<th scope="col" class="number">{name}</th>' for name in titles)
    head = f'<th scope="col">file</th>{heads}'
    return "<p>Sizes of the sections in bytes.</p>\n" + _wide_table("packages", head, rows)


def _sections(package: Package) -> dict[str, int]:
    """Return the size of each section, in the order of the file."""
    return {
        "VX kernel": len(package.vx_binary),
        **{f"{abi} library": len(library) for abi, library in package.libraries.items()},
        "op.yml": len(package.description.encode()),
        "Python file": len(package.python.encode()),
    }


def _size(size: int | None) -> str:
    return "" if size is None else f"{size:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")


# ---- Cases --------------------------------------------------------------------------------------


def _cases(report: Report) -> str:
    numbered = list(enumerate(zip(report.records, report.plots, strict=True)))
    kernels = dict.fromkeys(record.result.kernel for record in report.records)
    explanation = (
        "<p>An error counts the representable values between the kernel and the reference, which "
        "is rounded to the type of the output. The time is that of the kernel function alone. "
        "Open a case to see its params and its plots.</p>"
    )
    tables = []
    for kernel in kernels:
        bodies = []
        rows = [
            (number, record, plots)
            for number, (record, plots) in numbered
            if record.result.kernel == kernel
        ]
        for test, group in groupby(rows, lambda row: row[1].test):
            if test:
                bodies.append(
                    '<tbody class="group"><tr><th colspan="7" scope="rowgroup">'
                    f"{_code(test)}</th></tr></tbody>"
                )
            bodies += [_case(_key(number), record, plots) for number, record, plots in group]
        tables.append(f'<h3>{_text(kernel)}</h3>\n<table class="cases">\n{_HEAD}\n')
        tables[-1] += "\n".join(bodies) + "\n</table>"
    return "\n".join([explanation, *tables]) if tables else '<p class="note">None.</p>'


_HEAD = (
    '<thead><tr><th scope="col">outcome</th><th scope="col">case</th>'
    '<th scope="col">errors</th><th scope="col">parity</th>'
    '<th scope="col" class="number">max error</th><th scope="col" class="number">ulp</th>'
    '<th scope="col" class="number">time</th></tr></thead>'
)


def _key(number: int) -> str:
    """Return the id of a case on the page."""
    return f"case-{number}"


def plot_key(record: int, output: int) -> str:
    """Return what begins the ids of a plot: of the record and the output with these numbers."""
    return f"{_key(record)}-{output}"


def _case(key: str, record: Record, plots: Sequence[Plot]) -> str:
    result = record.result
    state, is_open = ("failed", " open") if result.problem else ("passed", "")
    error, ulp = _set(error_text(result.max_error)), _set(ulp_text(result.max_ulp))
    time = _set(time_text(result.seconds))
    pictures = ("", "")
    if plots:
        worst = max(range(len(plots)), key=lambda i: _reach(record.outputs[i].errors))
        shown, plot = record.outputs[worst], plots[worst]
        pictures = (
            _thumbnail(plot.histogram, 72, f"Errors: {_summary(shown)}"),
            _thumbnail(plot.parity, 36, f"Kernel against reference: {_summary(shown)}"),
        )
    return "\n".join(
        (
            f'<tbody class="{state}" id="{key}"><tr class="row">'
            f'<td class="outcome {"bad" if result.problem else "good"}">{state}</td>'
            f'<th class="case" scope="row"><details{is_open}><summary>{_text(result.case)}'
            "</summary></details></th>"
            f'<td class="picture errors">{pictures[0]}</td>'
            f'<td class="picture parity">{pictures[1]}</td>'
            f'<td class="number">{error}</td><td class="number">{ulp}</td>'
            f'<td class="number time" data-also="{error} · {ulp} ulp">{time}</td>'
            '</tr><tr class="more"><td colspan="7">',
            f'<pre class="problem">{_text(result.problem)}</pre>' if result.problem else "",
            f"<dl>{_definitions(_settings(record))}</dl>",
            *(_figure(out, drawn) for out, drawn in zip(record.outputs, plots, strict=True)),
            "</td></tr></tbody>",
        )
    )


def _settings(record: Record) -> list[tuple[str, str]]:
    return [
        *((_code(name), _text(shown)) for name, shown in record.inputs.items()),
        *((_code(name), _code(_value(value))) for name, value in record.params.items()),
    ]


def _thumbnail(drawing: Drawing, width: int, alternative: str) -> str:
    left, top, across, down = drawing.box
    return (
        f'<svg class="thumbnail" role="img" width="{width}" height="36"'
        f' viewBox="{left} {top} {across} {down}" preserveAspectRatio="none">'
        f"<title>{_text(alternative)}</title>"
        f'<path class="frame" d="M{left} {top + down}H{left + across}"/>'
        f'<use href="#{drawing.group}"/></svg>'
    )


def _figure(output: Output, plot: Plot) -> str:
    summary = _summary(output)
    return (
        f"<figure>{_drawing(plot.histogram, f'Errors in ulp: {summary}')}"
        f"{_drawing(plot.parity, f'Kernel against reference: {summary}')}"
        f"<figcaption>{_text(summary)}</figcaption></figure>"
    )


def _drawing(drawing: Drawing, alternative: str) -> str:
    width, height = drawing.width, drawing.height
    return (
        f'<svg class="plot" role="img" width="{width * 5 // 4}" viewBox="0 0 {width} {height}">'
        f"<title>{_text(alternative)}</title>{drawing.content}</svg>"
    )


def _summary(output: Output) -> str:
    """Return a sentence that says what the plots show."""
    errors = output.errors
    parts = [f"{_counted(errors.total, 'element')}, {errors.bins.get(0, 0)} equal"]
    size = "x".join(map(str, output.shape))
    near = sum(errors.bins.get(number, 0) for number in (-1, 1))
    far = errors.total - errors.incomparable - near - errors.bins.get(0, 0)
    parts += [f"{near} off by 1 ulp"] if near else []
    parts += [f"{far} off by more"] if far else []
    parts += [f"{errors.incomparable} NaN on one side"] if errors.incomparable else []
    return f"{output.name}, {output.kernel.dtype} {size}: {', '.join(parts)}"


def _reach(errors: Errors) -> tuple[int, int]:
    """Sort by how far the worst element is."""
    return errors.incomparable, max(map(abs, errors.bins), default=0)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _set(text: str) -> str:
    """Return a number of a terminal's table as a printed page has it."""
    return text.replace("-", "\N{MINUS SIGN}").replace("us", "µs")
