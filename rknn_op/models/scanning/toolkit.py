"""Ask an installed toolkit for the operators that it leaves in a model."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from rknn_op.models.model import STANDARD
from rknn_op.models.scanning.scan import Scan
from rknn_op.models.toolkits import run
from rknn_op.runtimes.models import Toolkit


@dataclass(frozen=True)
class Answer:
    """The toolkit's answer for a model.

    Attributes:
        version: its version; empty if it refuses the model.
        left: the names of the operators that it leaves in the model.
        refusal: its reason for refusing the model; empty if it converts the model.
    """

    version: str = ""
    left: frozenset[str] = frozenset()
    refusal: str = ""


def ask(toolkit: Toolkit, python: Path, model: Path, target: str) -> Answer:
    """Build a model for a chip with the toolkit of a Python.

    Raises:
        OpkitError: this Python has no such toolkit, or the toolkit does not end in time.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        package = folder / f"model{toolkit.suffix}"
        arguments = [str(model.absolute()), target, str(package)]
        built = run(toolkit, python, toolkit.build, arguments, folder)
        left = () if built.refusal else toolkit.left(package.read_bytes())
        return Answer(built.version, frozenset(left), built.refusal)


def differences(scan: Scan, answer: Answer) -> tuple[str, ...]:
    """Return the differences between the toolkit's answer and a scan by the lists."""
    if answer.refusal:
        return (f"it refuses the model: {answer.refusal}",)
    missing = {each.op_type for each in scan.missing if each.domain == STANDARD}
    operators = scan.operators
    left = {operators.names.get(name, name) for name in answer.left}
    lines = [
        f"{name} needs a custom operator by the lists, but the toolkit leaves none"
        for name in sorted(missing - left)
    ]
    unknown = left - operators.operators - operators.cpu - missing
    lines += [
        f"{name} is left by the toolkit, and is on no list: it needs a custom operator"
        for name in sorted(unknown)
    ]
    return tuple(lines)
