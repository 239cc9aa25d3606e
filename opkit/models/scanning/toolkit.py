"""Ask an installed toolkit for the operators that it leaves in a model."""

from __future__ import annotations

import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from opkit.errors import OpkitError
from opkit.models.model import STANDARD
from opkit.models.scanning.scan import Scan
from opkit.runtimes.models import Toolkit
from opkit.text import printable, shortened

TIMEOUT = 1800.0
"""Seconds for a build; large models take minutes."""


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
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / f"model{toolkit.suffix}"
        command = [str(python), str(toolkit.build), str(model.absolute()), target, str(package)]
        try:
            done = subprocess.run(
                command, capture_output=True, cwd=folder, timeout=TIMEOUT, check=False
            )
        except OSError as error:
            raise OpkitError(f"--toolkit {python}: cannot be started: {error.strerror}") from None
        except subprocess.TimeoutExpired:
            raise OpkitError(f"--toolkit {python}: no answer in {TIMEOUT:g} s") from None
        last = (done.stderr.decode(errors="replace").strip() or "no message").splitlines()[-1]
        if done.returncode and f"No module named '{toolkit.module}'" in last:
            raise OpkitError(f"--toolkit {python}: {toolkit.name} is not installed for this Python")
        if done.returncode:
            return Answer(refusal=printable(shortened(last, 300)))
        version = done.stdout.decode(errors="replace").split()[-1]
        return Answer(version, frozenset(toolkit.left(package.read_bytes())))


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
