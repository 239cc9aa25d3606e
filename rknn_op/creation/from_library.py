"""`rknn-op library`, and `rknn-op create --library`: the operators of the library."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from opkit.errors import OpkitError
from opkit.text import did_you_mean, printable, shortened, wrapped
from rknn_op import template
from rknn_op.creation import library, new_repository
from rknn_op.creation.library import LibraryOperator
from rknn_op.creation.new_repository import Choices, Plan

_WIDTH = 80
_NAME_WIDTH = 17  # few names are longer


def plan(name: str, folder: Path | None, choices: Choices, parent: Path = Path()) -> Plan:
    """Return the plan of a repository with an operator of the library.

    Args:
        name: the operator's name in any letter case, or that of its folder.
        folder: the repository to make; None: in `parent`, with the operator's name.
        choices: the user's other choices.
        parent: the folder of the repository if `folder` is None.

    Raises:
        OpkitError: the library does not have it, a choice is invalid, or the path exists.
    """
    operator = library.operator(template.EXAMPLES, name)
    return plan_operator(operator, folder or parent / operator.spec.name, choices)


def plan_operator(operator: LibraryOperator, folder: Path | None, choices: Choices) -> Plan:
    """Return the same for an operator.

    Raises:
        OpkitError: a choice is invalid, or the path exists.
    """
    source = f"the library's {operator.spec.name}"
    planned = new_repository.plan_text(operator.text.rstrip("\n"), source, folder, Path(), choices)
    files = {**planned.files, **operator.files(planned.spec)}
    return replace(planned, files=files, warnings=())  # the user did not write the description


def find(word: str = "", runtime: str = "") -> list[LibraryOperator]:
    """Return operators of the library, sorted by name.

    Args:
        word: the name of one in any letter case, or a text in names and summaries; empty: all.
        runtime: a runtime that each one has; empty: any.

    Raises:
        OpkitError: there is none.
    """
    every = library.operators(template.EXAMPLES)
    having = [each for each in every if not runtime or runtime in each.spec.runtimes]
    named = [each for each in having if library.is_name_of(each.folder.name, word)]
    found = named or [
        each for each in having if word.lower() in f"{each.spec.name} {each.summary}".lower()
    ]
    if not found:
        where = f" for {runtime}" if runtime else ""
        hint = did_you_mean(word, [each.spec.name for each in having])
        raise OpkitError(
            f"the library has no operator{where} with '{printable(shortened(word))}' in its name "
            f"or summary; {hint or '`rknn-op library` lists all'}"
        )
    return found


def entries(found: Iterable[LibraryOperator]) -> list[dict[str, Any]]:
    """Return the properties of operators."""
    return [
        {
            "operator": each.spec.name,
            "onnx": each.onnx,
            "framework": each.spec.framework,
            "runtimes": [*each.spec.runtimes],
            "summary": each.summary,
            "refuses": [*each.refuses],
        }
        for each in found
    ]


def listing(found: Iterable[LibraryOperator]) -> str:
    """Return a line of at most 80 characters for each operator: name and summary, shortened."""
    lines = []
    for each in found:
        name = f"{each.spec.name:{_NAME_WIDTH}}  "
        short = each.summary.removesuffix(f" ONNX's {each.spec.name}.").rstrip(":.")
        lines.append(name + textwrap.shorten(short, _WIDTH - len(name), placeholder="..."))
    return "".join(f"{line}\n" for line in lines)


def details(operator: LibraryOperator) -> str:
    """Return everything about an operator, in lines of at most 80 characters."""
    spec = operator.spec
    lines = [
        f"{spec.name}: {operator.models}, for {', '.join(spec.runtimes)}",
        operator.summary,
        f"Inputs: {', '.join(each.name for each in spec.inputs)}.",
        f"Outputs: {', '.join(each.name for each in spec.outputs)}.",
        *([f"Params: {', '.join(each.name for each in spec.params)}."] if spec.params else []),
        *list(library.source_lines(operator))[1:],
        f"Make it: rknn-op create --library {spec.name} -p ./{spec.name}",
    ]
    return "".join(f"{wrapped(line, _WIDTH)}\n" for line in lines)


_PAGE = """\
# The operator library

Ready operators: the math in C and in numpy, cases, and for PPLNN the shape rule in C. One command
makes a repository of an operator, which is yours from then on:

```sh
rknn-op create --library OneHot -p ./OneHot
cd OneHot && scons check
```

`rknn-op library` prints a line for each operator, also as `--json`, and `rknn-op library NAME` the
rest of one. A word that is no name selects the operators with it in their name or summary, and
`--runtime` those for a runtime:

```console
$ rknn-op library scatter
ScatterElements    Data with some elements replaced or changed by updates at...
ScatterND          Data with some elements or slices replaced or changed by...
$ rknn-op library topk
TopK: ONNX, opset 10 and later, for rknn2, pplnn
The largest or smallest elements along an axis, and their indices: ONNX's TopK.
Inputs: x.
...
```

`rknn-op create --from MODEL` takes the operators of a model from the library.
`rknn-op library --markdown` makes this page from the folders in `operators/`.

With `rknn` among the runtimes, a repository is for models of TensorFlow, because RKNN-Toolkit 1.x
has custom operators for them alone. For ONNX's operator of that name, pass `--runtime rknn2` or
`--runtime pplnn`.

The chips' runtimes fix all shapes when they load a model. So Unique and NonZero, and Compress with
a condition that is not constant, cannot be custom operators: their shapes depend on data. Where an
upper bound is enough, as in NonMaxSuppression here, the output has that size, and another output
the count of valid rows.

| operator | models | runtimes | math | refused by name |
| --- | --- | --- | --- | --- |
"""


def page(found: Iterable[LibraryOperator]) -> str:
    """Return the page of the documentation about operators, as Markdown."""
    rows = [
        f"| [{each.spec.name}](../operators/{each.folder.name}) | {each.models} "
        f"| {', '.join(each.spec.runtimes)} | {each.summary} | {'; '.join(each.refuses)} |"
        for each in found
    ]
    return _PAGE + "".join(f"{row}\n" for row in rows)
