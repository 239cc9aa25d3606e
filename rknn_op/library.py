"""`rknn-op library`, and `rknn-op create --library`: the operators of the library."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from opkit.models import library
from opkit.models.library import LibraryOperator
from rknn_op import creation, template
from rknn_op.creation import Choices, Plan

_WIDTH = 80


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
    planned = creation.plan_text(operator.text.rstrip("\n"), source, folder, Path(), choices)
    files = {**planned.files, **operator.files(planned.spec)}
    return replace(planned, files=files, warnings=())  # the user did not write the description


def entries() -> list[dict[str, Any]]:
    """Return the properties of each operator of the library, sorted by name."""
    return [
        {
            "operator": each.spec.name,
            "onnx": each.onnx,
            "framework": each.spec.framework,
            "runtimes": [*each.spec.runtimes],
            "summary": each.summary,
            "refuses": [*each.refuses],
        }
        for each in library.operators(template.EXAMPLES)
    ]


def listing() -> str:
    """Return the list of the operators as text, at most 80 columns wide."""
    lines = [line for each in library.operators(template.EXAMPLES) for line in _lines(each)]
    return "".join(f"{line}\n" for line in lines)


def _lines(operator: LibraryOperator) -> Iterator[str]:
    yield f"{operator.spec.name}: {operator.models}, for {', '.join(operator.spec.runtimes)}"
    yield from textwrap.wrap(operator.summary, _WIDTH, initial_indent="  ", subsequent_indent="  ")
    for refused in operator.refuses:
        yield from textwrap.wrap(
            f"refuses {refused}", _WIDTH, initial_indent="  - ", subsequent_indent="    "
        )


_PAGE = """\
# The operator library

Ready operators: the math in C and in numpy, cases, and for PPLNN the shape rule in C. One command
makes a repository of an operator, which is yours from then on:

```sh
rknn-op create --library OneHot -p ./OneHot
cd OneHot && scons check
```

`rknn-op library` prints the list, also as `--json`. `rknn-op create --from MODEL` takes the
operators of a model from the library. `rknn-op library --markdown` makes this page from the
folders in `operators/`.

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


def page() -> str:
    """Return the page of the documentation about the library, as Markdown."""
    found = library.operators(template.EXAMPLES)
    rows = [
        f"| [{each.spec.name}](../operators/{each.folder.name}) | {each.models} "
        f"| {', '.join(each.spec.runtimes)} | {each.summary} | {'; '.join(each.refuses)} |"
        for each in found
    ]
    return _PAGE + "".join(f"{row}\n" for row in rows)
