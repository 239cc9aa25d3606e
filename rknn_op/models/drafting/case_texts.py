"""The text of the tests of an operator from a model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from opkit.code_layout import LINE_LENGTH, bracketed, literal
from opkit.description.spec import OpSpec
from opkit.text import render
from rknn_op.models.drafting.recorded_cases import RecordedCases
from rknn_op.models.drafting.small_cases import Group, Range, SmallCases
from rknn_op.models.drafting.tolerances import tolerance_text

FOLDER = "data"
"""The folder of recorded cases, in tests/."""


def test_file(spec: OpSpec, small: SmallCases, recorded: RecordedCases) -> str:
    """Return the text of a file of tests."""
    groups = small.groups
    contents = ["tensors of the model's nodes"] * bool(recorded.files)
    contents += ["small cases of their shapes"] * bool(groups)
    names = {"check_cpu_kernel"}
    parts = []
    if recorded.files:
        names.add("recorded")
        parts.append(
            "# The reference is compared with the outputs of the model's own framework.\n"
            f'RECORDED = recorded("{FOLDER}", {tolerance_text(recorded.error)})\n'
        )
    if groups:
        names |= {"cases", *(each.maker for group in groups for each in _all(group))}
        names |= {"vary_params"} if any(group.others for group in groups) else set()
        calls = "".join(map(_call, groups))
        parts.append(f"SMALL = [\n{calls}]\n")
    lists = ["RECORDED"] * bool(recorded.files) + ["SMALL"] * bool(groups)
    parts.append(f"CASES = {' + '.join(lists)}")
    return render(
        Path(__file__).parent / "templates/test.py",
        name=spec.name,
        lower=spec.lower,
        contents=" and ".join(contents),
        kernels="the CPU kernel" if len(spec.runtimes) == 1 else "all kernels",
        imports=_imports(sorted(names)),
        cases="\n".join(parts),
        tolerance=tolerance_text(max(small.error, recorded.error)),
    )


def _all(group: Group) -> Iterator[Range]:
    return (each for ranges in group.ranges for each in ranges.values())


def _imports(names: Sequence[str]) -> str:
    line = ", ".join(names)
    fits = len(f"from opkit.testing import {line}") <= LINE_LENGTH
    return line if fits else bracketed([*names], "from opkit.testing import ", 0, "()")


def _call(group: Group) -> str:
    """Return the call of cases() for a group, as items of a list."""
    indent = 8
    shapes = {name: list(shape) for name, shape in group.shapes.items()}
    arguments = [
        f"shapes=[{_literal(shapes, 'shapes=[', indent)}]",
        f"values={_values(group.ranges, indent)}",
        f"params={_params(group, indent)}",
        f"dtype={literal(dict(group.dtypes), 'dtype=', indent)}",
    ]
    lines = "".join(f"{' ' * indent}{argument},\n" for argument in arguments)
    return f"    *cases(\n{lines}    ),\n"


def _literal(shapes: Mapping[str, Sequence[int]], before: str, indent: int) -> str:
    items = [f'"{name}": {tuple(shape)}' for name, shape in shapes.items()]
    return bracketed(items, before, indent, "{}")


def _values(groups: Sequence[Mapping[str, Range]], indent: int) -> str:
    texts = []
    for ranges in groups:
        same = len({*ranges.values()}) == 1
        items = [f'"{name}": {each}' for name, each in ranges.items()]
        one = str(next(iter(ranges.values())))
        texts.append(one if same else bracketed(items, "", indent + 4, "{}"))
    return bracketed(texts, "values=", indent)


def _params(group: Group, indent: int) -> str:
    base = dict(group.params)
    if not group.others:
        return f"[{literal(base, 'params=[', indent)}]"
    items = [literal(base, "", indent + 4)] if base else []
    items += [
        f"{name}={_list(values, f'{name}=', indent + 4)}" for name, values in group.others.items()
    ]
    return f"vary_params{bracketed(items, 'params=vary_params', indent, '()')}"


def _list(values: Sequence[Any], before: str, indent: int) -> str:
    return literal([*values], before, indent)
