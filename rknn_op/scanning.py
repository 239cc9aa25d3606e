"""`rknn-op scan`: choose the reader of a model and the list of a target."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from opkit.errors import OpkitError
from opkit.models import graph_def, onnx_model
from opkit.models.model import Model
from opkit.models.scanning import operator_lists
from opkit.models.scanning.operator_lists import OperatorList
from opkit.models.scanning.scan import Scan, ToolkitReport, scan
from opkit.models.scanning.toolkit import ask, differences
from opkit.runtimes import available
from opkit.text import did_you_mean, printable, shortened

READERS: dict[str, Callable[[Path], Model]] = {
    ".onnx": onnx_model.read,
    ".pb": graph_def.read,
}
"""Suffix of a model's file -> its reader."""

_DEFAULT_RUNTIMES = {".onnx": "rknn2", ".pb": "rknn"}
_CHECKOUT = "PPLNN_SRC"


def scan_file(file: Path, target: str | None, toolkit: Path | None = None) -> Scan:
    """Return the operators of a model that a target lacks.

    Args:
        file: an .onnx or .pb file.
        target: the target; None: the default of the runtime for such files.
        toolkit: a Python with RKNN-Toolkit2 to ask, too; see toolkit.ask.

    Raises:
        OpkitError: the model cannot be read, or the target is unknown or takes no such models.
    """
    _refuse_suffix(file)
    target = target or available()[_DEFAULT_RUNTIMES[file.suffix]].describe.default_target
    operators = _operators(target)
    model = read_model(file)
    if model.framework != operators.framework:
        raise OpkitError(
            f"{printable(str(file))}: a model of {model.framework}; custom operators of {target} "
            f"are for models of {operators.framework}"
        )
    result = scan(model, target, operators)
    if toolkit is None:
        return result
    if target not in available()["rknn2"].describe.targets:
        raise OpkitError(f"--toolkit: RKNN-Toolkit2 has no target {target}")
    answer = ask(toolkit, file, target)
    return replace(result, toolkit=ToolkitReport(answer.version, differences(result, answer)))


def read_model(file: Path) -> Model:
    """Return a model.

    Raises:
        OpkitError: it is not an .onnx or .pb file, or cannot be read.
    """
    _refuse_suffix(file)
    return READERS[file.suffix](file)


def _refuse_suffix(file: Path) -> None:
    if file.suffix not in READERS:
        raise OpkitError(
            f"{printable(str(file))}: invalid file name (expected a model: *.onnx, or *.pb for a "
            "frozen graph of TensorFlow)"
        )


def runtime_of(file: Path, target: str) -> str:
    """Return the name of a target's runtime, or of the usual runtime for such models.

    Raises:
        OpkitError: the target is unknown, or the file is not a model.
    """
    _refuse_suffix(file)
    return _runtime(target) if target else _DEFAULT_RUNTIMES[file.suffix]


def _operators(target: str) -> OperatorList:
    return _LISTS[_runtime(target)](target)


def _runtime(target: str) -> str:
    for runtime in available().values():
        describe = runtime.describe
        if target in describe.refused_targets:
            raise OpkitError(describe.refused_targets[target])
        if target in describe.targets:
            return runtime.name
    names = [name for runtime in available().values() for name in runtime.describe.targets]
    hint = did_you_mean(target, names)
    expected = f"expected {', '.join(names)}"
    raise OpkitError(
        f"--target: invalid {printable(shortened(target))!r} ({expected})"
        + (f"; {hint}" if hint else "")
    )


def _pplnn(target: str) -> OperatorList:
    checkout = os.environ.get(_CHECKOUT)
    if not checkout:
        raise OpkitError(
            f"--target {target}: the list of operators is in ppl.nn's source; set {_CHECKOUT} to a "
            "checkout of ppl.nn"
        )
    return operator_lists.pplnn(target, Path(checkout))


_LISTS: dict[str, Callable[[str], OperatorList]] = {
    "rknn": operator_lists.rknn,
    "rknn2": operator_lists.rknn2,
    "pplnn": _pplnn,
}
