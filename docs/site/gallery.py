"""The gallery of the operator library: a picture of each operator, drawn from its reference."""

from __future__ import annotations

import importlib.util
import io
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from opkit.check.cases import Case
from opkit.check.reference import Reference
from opkit.runtimes.invocation import Array
from rknn_op import template
from rknn_op.creation import operator_library
from rknn_op.creation.operator_library import LibraryOperator

_MAX_ELEMENTS = 20_000  # of all inputs of a drawn case
_INK = "#808080"  # readable on white and on black
_RANGE = 4.0  # of the argument of a curve, on both sides of 0


def files() -> Mapping[str, str | bytes]:
    """Return path -> content of the gallery's page and pictures."""
    operators = operator_library.operators(template.EXAMPLES)
    pictures = {f"gallery/{each.folder.name}.svg": picture(each) for each in operators}
    return {"gallery.md": _page(operators), **pictures}


def _page(operators: list[LibraryOperator]) -> str:
    entries = "".join(
        f"## {each.spec.name}\n\n{each.summary}\n\n"
        f"![{_alternative(each)}](gallery/{each.folder.name}.svg)\n\n"
        for each in operators
    )
    return (
        "# Gallery\n\n"
        "Each picture is drawn by the operator's reference. A function of one number is a curve; "
        "any other operator has its inputs on the left and its outputs on the right, of one of "
        "its own cases. Of a tensor with more than two dimensions the picture shows the first "
        "matrix. [The operator library](operators.md) has the limits of each.\n\n" + entries
    )


def _alternative(operator: LibraryOperator) -> str:
    if _is_curve(operator):
        return f"The curve of {operator.spec.name}"
    return f"Inputs and outputs of {operator.spec.name}"


def _is_curve(operator: LibraryOperator) -> bool:
    spec = operator.spec
    return spec.elementwise and len(spec.inputs) == 1 and not spec.inputs[0].dtype


def picture(operator: LibraryOperator) -> bytes:
    """Return the picture of an operator, as SVG."""
    figure = Figure(figsize=(6.4, 2.2), layout="constrained")
    with _repository(operator) as folder:
        reference = Reference(folder / f"{operator.spec.lower}_reference.py", operator.spec)
        case = _case(operator, folder)
        params = {each.name: each.default for each in operator.spec.params} | dict(case.params)
        if _is_curve(operator):
            x = np.linspace(-_RANGE, _RANGE, 801, dtype=np.float32)
            (name,) = (each.name for each in operator.spec.inputs)
            (y,) = reference.module.reference({name: x}, params).values()
            _draw_curve(figure.subplots(), x, y)
        else:
            outputs = reference.module.reference(dict(case.inputs), params)
            _draw_tensors(figure, case.inputs, outputs)
    drawn = io.BytesIO()
    figure.savefig(drawn, format="svg", transparent=True, metadata={"Date": None})
    return drawn.getvalue()


@contextmanager
def _repository(operator: LibraryOperator) -> Iterator[Path]:
    """Yield a folder with an operator's files, from which its tests import, as in a repository."""
    before, current = {*sys.modules}, Path.cwd()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for path, data in (
            operator.files(operator.spec) | {"op.yml": operator.text.encode()}
        ).items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)
        sys.path.insert(0, str(folder))
        os.chdir(folder)
        try:
            yield folder
        finally:
            os.chdir(current)
            sys.path.remove(str(folder))
            for name in {*sys.modules} - before:
                if str(getattr(sys.modules[name], "__file__", "")).startswith(made):
                    del sys.modules[name]


def _case(operator: LibraryOperator, folder: Path) -> Case:
    """Return the largest of the operator's cases that is not too large to draw."""
    path = folder / f"tests/test_{operator.spec.lower}.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    cases = [
        case
        for values in vars(module).values()
        if isinstance(values, list)
        for case in values
        if isinstance(case, Case) and _size(case) <= _MAX_ELEMENTS and _is_finite(case)
    ]
    return max(cases, key=_size)


def _size(case: Case) -> int:
    return sum(array.size for array in case.inputs.values())


def _is_finite(case: Case) -> bool:
    return all(np.isfinite(array.astype(np.float64)).all() for array in case.inputs.values())


def _draw_curve(axes: Axes, x: Array, y: Array) -> None:
    y = np.where(np.abs(y) > 2 * _RANGE, np.nan, y.astype(np.float64))
    axes.plot(x, y, color="#3f51b5")
    axes.axhline(0, color=_INK, linewidth=0.5)
    axes.axvline(0, color=_INK, linewidth=0.5)
    _style(axes)


def _draw_tensors(
    figure: Figure, inputs: Mapping[str, Array], outputs: Mapping[str, Array]
) -> None:
    tensors = [*inputs.items(), *outputs.items()]
    row = figure.subplots(1, len(tensors), squeeze=False)[0]
    for axes, (name, array) in zip(row, tensors, strict=True):
        axes.imshow(_matrix(array), cmap="viridis", aspect="auto", interpolation="nearest")
        kind = "out" if name in outputs else "in"
        axes.set_title(f"{kind} {name} {array.shape}", fontsize=7, color=_INK)
        axes.set_xticks([])
        axes.set_yticks([])
        _style(axes)


def _matrix(array: Array) -> Any:
    """Return the first matrix of a tensor."""
    array = array.astype(np.float64)
    if array.ndim < 2:
        return array.reshape(1, -1)
    return array[(0,) * (array.ndim - 2)]


def _style(axes: Axes) -> None:
    axes.tick_params(colors=_INK, labelsize=7)
    for spine in axes.spines.values():
        spine.set_color(_INK)
