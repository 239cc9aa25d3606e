"""`rknn-op scan`: choose the reader of a model and the list of a target."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from opkit.errors import OpkitError
from opkit.runtimes import available
from opkit.text import printable
from rknn_op.known_targets import runtime_of_target
from rknn_op.messages import step
from rknn_op.models import graph_def, onnx_model
from rknn_op.models.model import Model
from rknn_op.models.scanning.scan import Scan, ToolkitReport, scan
from rknn_op.models.scanning.toolkit import ask, differences
from rknn_op.runtimes.interface import models_of
from rknn_op.runtimes.models import Models, OperatorList

READERS: dict[str, Callable[[Path], Model]] = {
    ".onnx": onnx_model.read,
    ".pb": graph_def.read,
}
"""Suffix of a model's file -> its reader."""


def scan_file(file: Path, target: str | None, toolkit: Path | None = None) -> Scan:
    """Return the operators of a model that a target lacks.

    Args:
        file: an .onnx or .pb file.
        target: the target; None: the default of the runtime for such files.
        toolkit: a Python with the target's toolkit to ask, too; see toolkit.ask.

    Raises:
        OpkitError: the model cannot be read, or the target is unknown or takes no such models.
    """
    _refuse_suffix(file)
    target = target or available()[_default_runtime(file)].describe.default_target
    models = models_of(runtime_of_target(target))
    operators = _operators(models, target)
    model = read_model(file)
    if model.framework != models.framework:
        raise OpkitError(
            f"{printable(str(file))}: a model of {model.framework}; custom operators of {target} "
            f"are for models of {models.framework}"
        )
    result = scan(model, target, operators)
    if toolkit is None:
        return result
    if models.toolkit is None:
        raise OpkitError(f"--toolkit: {toolkits()} has no target {target}")
    with step(f"asking {models.toolkit.name}"):
        answer = ask(models.toolkit, toolkit, file, target)
    report = ToolkitReport(models.toolkit.name, answer.version, differences(result, answer))
    return replace(result, toolkit=report)


def toolkits() -> str:
    """Return the names of the toolkits for `--toolkit`, for messages."""
    found = [models_of(name).toolkit for name in available()]
    return " or ".join(toolkit.name for toolkit in found if toolkit)


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
    return runtime_of_target(target) if target else _default_runtime(file)


def _default_runtime(file: Path) -> str:
    models = {name: models_of(name) for name in available()}
    return next(
        name for name, each in models.items() if each.is_default and each.suffix == file.suffix
    )


def _operators(models: Models, target: str) -> OperatorList:
    checkout = os.environ.get(models.checkout_variable) if models.checkout_variable else None
    return models.operators(target, Path(checkout) if checkout else None)
