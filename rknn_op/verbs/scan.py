"""`rknn-op scan`: the result as text, JSON, and GitHub's annotations."""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from opkit.common.errors import OpkitError
from opkit.common.text import aligned, printable, shortened
from rknn_op import messages
from rknn_op.models import costs, scanning
from rknn_op.models.model_graph import STANDARD, Cleaned, Node, Tensor, Value, shape_text
from rknn_op.models.rewriting.candidates import Candidates
from rknn_op.models.scanning import Missing, Scan
from rknn_op.runtimes.models import OperatorList, toolkit_names
from rknn_op.verbs import values

_WIDTH = 80
_MAX_NODES = 8
"""The nodes of an operator that the text shows; JSON has all."""
_MAX_REMOVED = 5
"""The maximum operators of a change by cleaning in the text; JSON has all."""

_MIN_TIME = 0.001
"""Milliseconds; a call alone takes as long."""


_MIN_CONSTANTS = 1000
"""Bytes of constants that the text shows; JSON has all."""


def as_text(scan: Scan) -> str:
    """Return the result as text, at most 80 columns wide but for names."""
    missing = len(scan.missing)
    count = f"{missing or 'no'} operator{'s' * (missing != 1)}"
    head = (
        f"{_one_line(str(scan.model.file))} for {scan.target} ({scan.operators.source}):\n"
        f"{count} need{'s' * (missing == 1)} a custom one"
    )
    parts = [head, *_cleaned_text(scan.model.cleaned)]
    parts += (_missing_text(each, scan) for each in scan.missing)
    if scan.missing and not scan.operators.renaming:
        parts.append(f"No form with other operators is known: they are for {toolkit_names()} alone")
    if scan.unsuitable:
        lines = ["Missing, but not to be replaced by a custom operator:"]
        for unsuitable in scan.unsuitable:
            title = f"{unsuitable.op_type}{_where(unsuitable.nodes)}"
            lines += [_indented(title, 2), _indented(unsuitable.remedy, 4)]
            lines += _rewrite_texts(unsuitable.nodes, scan, 4)
        parts.append("\n".join(lines))
    if scan.cpu:
        rows = [["operator", "nodes", "moves"]]
        rows += [
            [_one_line(each.op_type), str(len(each.nodes)), _bytes_text(each.bytes)]
            for each in scan.cpu
        ]
        title = "On the runtime's CPU, with a conversion of the layout each way:\n"
        parts.append(title + textwrap.indent(aligned(rows), "  "))
    if scan.refused:
        lines = ["The converter refuses:"]
        for each in scan.refused:
            lines += [_indented(each.problem + _where(each.nodes), 2), _indented(each.remedy, 4)]
        parts.append("\n".join(lines))
    if scan.toolkit is not None:
        title = f"{scan.toolkit.name} {scan.toolkit.version}".rstrip()
        differences = scan.toolkit.differences or ("it leaves the same operators",)
        parts.append("\n".join([f"{title}:", *(_indented(line, 2) for line in differences)]))
    return "\n\n".join(parts) + "\n"


def as_json(scan: Scan) -> dict[str, Any]:
    """Return the result as a value for JSON; its keys are documented in docs/scan.md."""
    return {
        "model": str(scan.model.file),
        "target": scan.target,
        "cleaned": None if scan.model.cleaned is None else asdict(scan.model.cleaned),
        "missing": [
            {
                "op_type": each.op_type,
                "domain": each.domain,
                "reason": each.reason,
                "nodes": [
                    {
                        "name": node.name,
                        "inputs": [*map(_tensor_json, node.inputs)],
                        "outputs": [*map(_tensor_json, node.outputs)],
                        "attributes": {
                            name: _finite(value) for name, value in node.attributes.items()
                        },
                        "reads": scanning.bytes_of(node.inputs),
                        "writes": scanning.bytes_of(node.outputs),
                        "rewrite": _rewrite_json(scan.rewrites.get(node.name), scan.operators),
                    }
                    for node in each.nodes
                ],
                "ways": [*each.ways],
                "milliseconds": costs.milliseconds(each.nodes) if scan.operators.renaming else None,
            }
            for each in scan.missing
        ],
        "unsuitable": [
            {
                "op_type": each.op_type,
                "nodes": [node.name for node in each.nodes],
                "reason": each.reason,
                "remedy": each.remedy,
            }
            for each in scan.unsuitable
        ],
        "cpu": [
            {
                "op_type": each.op_type,
                "nodes": [node.name for node in each.nodes],
                "bytes": each.bytes,
            }
            for each in scan.cpu
        ],
        "refused": [
            {
                "nodes": [node.name for node in each.nodes],
                "problem": each.problem,
                "remedy": each.remedy,
            }
            for each in scan.refused
        ],
        "toolkit": None
        if scan.toolkit is None
        else {"version": scan.toolkit.version, "differences": [*scan.toolkit.differences]},
    }


def as_github(scan: Scan) -> str:
    """Return the result as annotations of the model's file on GitHub."""
    lines = [
        ("error", f"{each.op_type}: {_node_count(each.nodes)}; {each.reason}")
        for each in scan.missing
    ]
    lines += [
        ("error", f"{each.op_type}: {_node_count(each.nodes)}; {each.reason}; {each.remedy}")
        for each in scan.unsuitable
    ]
    lines += [("error", f"{each.problem}; {each.remedy}") for each in scan.refused]
    file = _escaped(str(scan.model.file), {",": "%2C", ":": "%3A"})
    return "".join(f"::{kind} file={file}::{_escaped(text, {})}\n" for kind, text in lines)


def _escaped(text: str, more: dict[str, str]) -> str:
    text = _one_line(text)
    for character, escape in {"%": "%25", **more}.items():
        text = text.replace(character, escape)
    return text


# ---- Text ----------------------------------------------------------------------------------------


def _cleaned_text(cleaned: Cleaned | None) -> Iterator[str]:
    """Yield a paragraph about what cleaning changed, or why it did not work."""
    if cleaned is None:
        return
    if cleaned.problem:
        yield _indented(f"Not cleaned: {cleaned.problem}", 0)
    changes = [
        f"{', '.join(names)} {change}"
        for counts, change in (
            (cleaned.removed, "folded or removed"),
            (cleaned.rewritten, "rewritten"),
        )
        if (names := _counted(counts))
    ]
    if changes:
        yield _indented(f"Cleaned: {'; '.join(changes)}", 0)


def _counted(counts: Mapping[str, int]) -> list[str]:
    """Return the first operators with their counts, and the count of the others."""
    listed = [*counts.items()]
    names = [f"{count} {shortened(name)}" for name, count in listed[:_MAX_REMOVED]]
    more = sum(count for _, count in listed[_MAX_REMOVED:])
    return [*names, f"{more} more"] if more else names


def _where(nodes: Sequence[Node]) -> str:
    """Return the names of the first nodes in parentheses; empty without nodes."""
    names = ", ".join(shortened(node.name) for node in nodes[:3])
    more = len(nodes) - 3
    return f" ({names}{f' and {more} more' if more > 0 else ''})" if names else ""


def _missing_text(missing: Missing, scan: Scan) -> str:
    renaming = scan.operators.renaming
    domain = f"{missing.domain}." if missing.domain else ""
    title = _one_line(f"{shortened(domain + missing.op_type)} ({_node_count(missing.nodes)})")
    reason = _indented(missing.reason, 2)
    ways = []
    if renaming:
        op_type = shortened(missing.op_type)
        restriction = f" ({renaming.restriction})" if missing.domain == STANDARD else ""
        way = f"name in the model: {renaming.prefix}{op_type} by renamed nodes"
        if len(missing.ways) > 1:
            way += f" (default), or as it is by `{renaming.key}: {op_type}` in op.yml{restriction}"
        ways.append(_indented(way, 2))
        if missing.reads is not None and missing.writes is not None:
            moved = f"reads {_bytes_text(missing.reads)} and writes {_bytes_text(missing.writes)}"
            cost = f"{moved}, each converted from or to the NPU's layout"
            ways.append(_indented(cost, 2))
        if times := costs.milliseconds(missing.nodes):
            ways.append(_indented(_times_text(times), 2))
    ways += _rewrite_texts(missing.nodes, scan, 2)
    lines = []
    for node in missing.nodes[:_MAX_NODES]:
        lines.append(f"  {shortened(node.name)}")
        for role, tensors in (("in ", node.inputs), ("out", node.outputs)):
            for tensor in filter(None, tensors):
                constant = " constant" if tensor.constant else ""
                type_ = f"{tensor.dtype or 'unknown'}{shape_text(tensor.shape)}{constant}"
                lines.append(f"    {role} {shortened(tensor.name, 40)}: {type_}")
        for name, value in node.attributes.items():
            lines.append(f"    {shortened(name)} = {shortened(_value_text(value))}")
    if len(missing.nodes) > _MAX_NODES:
        lines.append(f"  ... and {len(missing.nodes) - _MAX_NODES} more (--json lists all)")
    return "\n".join([title, reason, *ways, *map(_one_line, lines)])


def _rewrite_texts(nodes: Sequence[Node], scan: Scan, indent: int) -> Iterator[str]:
    """Yield a paragraph about each form of nodes, and about those that have none."""
    groups: dict[str, list[Candidates]] = {}
    for node in nodes:
        if found := scan.rewrites.get(node.name):
            groups.setdefault(_form_text(found, scan.operators), []).append(found)
    for text, members in groups.items():
        if text:
            some = f"{_node_count(members)}: " if len(groups) > 1 else ""
            yield _indented(f"{some}{text}", indent)


def _form_text(found: Candidates, operators: OperatorList) -> str:
    """Return what a node becomes; empty if no form of its operator is known."""
    if not found.bodies:
        return f"not rewritten: {found.reason}" if found.reasons else ""
    body = found.bodies[0]
    places: dict[str, list[str]] = {}
    for op_type, count in body.op_types.most_common():
        place = "the CPU" if operators.is_on_cpu(op_type) else "the NPU"
        places.setdefault(place, []).append(f"{count} {op_type}")
    where = "; ".join(f"{', '.join(names)} on {place}" for place, names in places.items())
    is_large = body.weights >= _MIN_CONSTANTS
    cost = [f"{_bytes_text(body.weights)} of constants"] if is_large else []
    cost += [f"moves {_bytes_text(body.moved)}"] if body.moved is not None else []
    cost += [f"{_count_text(body.products)} products"] if body.products else []
    bound = f"within {body.form.error:g} of the largest output"
    exact = "exact" if body.form.is_exact else bound
    summary = body.form.summary.rstrip(".")
    return f"or rewritten, {exact}: {summary}: {'; '.join([where, *cost])}"


def _count_text(count: int) -> str:
    for unit, size in ((" G", 1e9), (" M", 1e6), (" k", 1e3)):
        if count >= size:
            return f"{count / size:.1f}{unit}"
    return str(count)


def _value_text(value: Value) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_value_text, value))}]"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _times_text(times: Mapping[str, float]) -> str:
    """Return a sentence about the time on each processor, in milliseconds."""
    first, *others = (
        (f"{max(times[each.name], _MIN_TIME):g}", each.name, f"{each.ghz:g}")
        for each in costs.PROCESSORS
    )
    texts = ["{} ms on an {} at {} GHz".format(*first)]
    texts += ["{} on an {} at {}".format(*each) for each in others]
    return f"about {', '.join(texts)}: an estimate from instructions"


def _bytes_text(count: int | None) -> str:
    if count is None:
        return "unknown"
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"


def _indented(text: str, spaces: int) -> str:
    indent = " " * spaces
    return textwrap.fill(
        _one_line(text),
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
    )


def _one_line(text: str) -> str:
    """Escape the control characters of a text, also line feeds and tabs."""
    return printable(text).replace("\n", "\\n").replace("\t", "\\t")


def _node_count(nodes: Iterable[object]) -> str:
    count = len([*nodes])
    return f"{count} node{'s' * (count != 1)}"


def _tensor_json(tensor: Tensor | None) -> dict[str, Any] | None:
    if tensor is None:
        return None
    return {
        "name": tensor.name,
        "shape": None if tensor.shape is None else [*tensor.shape],
        "dtype": tensor.dtype,
        "constant": tensor.constant,
    }


def _rewrite_json(found: Candidates | None, operators: OperatorList) -> dict[str, Any] | None:
    """Return the first form of a node, or why it has none; None: no form is known."""
    if not found or not (found.bodies or found.reasons):
        return None
    if not found.bodies:
        return {"reason": found.reason}
    body = found.bodies[0]
    on_cpu = {op_type for op_type in body.op_types if operators.is_on_cpu(op_type)}
    return {
        "form": body.form.name,
        "summary": body.form.summary,
        "error": body.form.error,
        "npu": {name: count for name, count in body.op_types.items() if name not in on_cpu},
        "cpu": {name: count for name, count in body.op_types.items() if name in on_cpu},
        "weights": body.weights,
        "moves": body.moved,
        "products": body.products,
    }


def _finite(value: Value) -> Any:
    """Return a value for JSON, which has neither NaN nor infinity: those become texts."""
    if isinstance(value, tuple):
        return [_finite(each) for each in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


FORMATS: dict[str, Callable[[Scan], str]] = {"text": as_text, "github": as_github}


@click.command("scan")
@click.argument("model", type=click.Path(path_type=Path), metavar="MODEL")
@click.option(
    "--target",
    metavar="CHIP",
    shell_complete=values.targets,
    help="The chip; by default rk3588 for .onnx, rk1808 for .pb. `rknn-op targets` lists all.",
)
@click.option("--json", "is_json", is_flag=True, help="Print the result as JSON.")
@click.option(
    "--format",
    "format_",
    type=click.Choice([*FORMATS]),
    default="text",
    show_default=True,
    help="For people, or for annotations on GitHub.",
)
@values.path_option(
    "--toolkit",
    metavar="PYTHON",
    help=f"Build the model with {toolkit_names()}, in the Python that has it: its answer decides "
    "instead of the lists.",
)
@values.as_is
@values.path_option(
    "--clean",
    metavar="OUT.onnx",
    help="Write the cleaned model, after a comparison of its outputs with those of MODEL.",
)
@click.pass_context
def command(
    ctx: click.Context,
    model: Path,
    target: str | None,
    is_json: bool,
    format_: str,
    toolkit: Path | None,
    as_is: bool,
    clean: Path | None,
) -> None:
    """Show the operators of a model that a chip lacks.

    MODEL is an .onnx file, or a frozen graph of TensorFlow (.pb) for the chips that take those.
    An .onnx file is cleaned first: constants are folded, and shapes inferred again.
    The exit status is 0 if nothing is missing, 1 if something is, 2 if the model cannot be read.
    """
    if as_is and clean:
        raise click.UsageError("--as-is and --clean exclude each other.")
    try:
        result = scanning.scan_file(model, target, toolkit, as_is)
        if clean:
            from rknn_op.models.running import cleaned_models  # only here: a scan runs no model

            files, reason = cleaned_models.write_cleaned(model, clean)
            messages.warn([reason] if reason else [])
    except OpkitError as error:
        messages.error(error)
        ctx.exit(2)
    if is_json:
        click.echo(json.dumps(as_json(result), indent=2))
    else:
        click.echo(FORMATS[format_](result), nl=False)
    for file in files if clean else ():
        click.echo(f"wrote {printable(str(file))}", err=True)
    ctx.exit(1 if result.missing or result.unsuitable else 0)
