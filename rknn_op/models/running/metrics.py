"""A metric of the user: a function in a Python file."""

from __future__ import annotations

import importlib.util
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from opkit.common.errors import OpkitError
from opkit.common.text import printable

Array = Any
Metric = Callable[[dict[str, Array], dict[str, Array], int], float]
"""(outputs by name, inputs by name, index of the sample) -> a number."""


def read_metric(text: str) -> Metric:
    """Return the function of FILE.py:function.

    The function raises OpkitError for its own errors, with the line.

    Raises:
        OpkitError: there is no such file or function, or the file fails.
    """
    path, _, name = text.rpartition(":")
    file, where = Path(path), f"--metric {printable(text)}"
    if file.suffix != ".py" or not file.is_file():
        raise OpkitError(f"{where}: no such file (expected FILE.py:function)")
    spec = importlib.util.spec_from_file_location("metric_of_the_user", file)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    _of_user(where, file, partial(spec.loader.exec_module, module))
    function = getattr(module, name, None)
    if not callable(function):
        raise OpkitError(f"{where}: {file} has no function {name!r}")

    def metric(outputs: dict[str, Array], inputs: dict[str, Array], index: int) -> float:
        return float(_of_user(where, file, lambda: float(function(outputs, inputs, index))))

    return metric


def _of_user(where: str, file: Path, function: Callable[[], Any]) -> Any:
    """Call a function of a user's file; report its errors with their line."""
    try:
        return function()
    except Exception as error:  # of any type
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == str(file)]
        line = f", line {lines[-1]}" if lines else ""
        reason = printable(f"{type(error).__name__}: {error}".partition("\n")[0])
        raise OpkitError(f"{where}{line}: {reason}") from None
