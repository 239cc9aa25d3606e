"""Ask an installed RKNN-Toolkit2 for the operators that it leaves in a model."""

from __future__ import annotations

import re
import struct
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from opkit.errors import OpkitError
from opkit.models.model import STANDARD
from opkit.models.scanning.scan import Scan
from opkit.text import printable, shortened

TIMEOUT = 1800.0
"""Seconds for a build; large models take minutes."""

_WORKER = Path(__file__).with_name("toolkit_worker.py")
_EXIT_NO_MODULE = "No module named 'rknn'"
_NOT_OPERATORS = frozenset(("InputOperator", "OutputOperator"))


@dataclass(frozen=True)
class Answer:
    """The toolkit's answer for a model.

    Attributes:
        version: its version; empty if it refuses the model.
        left: the names of operators that stay outside of the NPU.
        refusal: its reason for refusing the model; empty if it converts the model.
    """

    version: str = ""
    left: frozenset[str] = frozenset()
    refusal: str = ""


def ask(python: Path, model: Path, target: str) -> Answer:
    """Build a model for a chip with the toolkit of a Python.

    Raises:
        OpkitError: this Python has no RKNN-Toolkit2, or the toolkit does not end in time.
    """
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "model.rknn"
        command = [str(python), str(_WORKER), str(model.absolute()), target, str(package)]
        try:
            done = subprocess.run(
                command, capture_output=True, cwd=folder, timeout=TIMEOUT, check=False
            )
        except OSError as error:
            raise OpkitError(f"--toolkit {python}: cannot be started: {error.strerror}") from None
        except subprocess.TimeoutExpired:
            raise OpkitError(f"--toolkit {python}: no answer in {TIMEOUT:g} s") from None
        last = (done.stderr.decode(errors="replace").strip() or "no message").splitlines()[-1]
        if done.returncode and _EXIT_NO_MODULE in last:
            raise OpkitError(f"--toolkit {python}: RKNN-Toolkit2 is not installed for this Python")
        if done.returncode:
            return Answer(refusal=printable(shortened(last, 300)))
        version = done.stdout.decode(errors="replace").split()[-1]
        return Answer(version, frozenset(_left(package.read_bytes())))


def _left(package: bytes) -> Iterator[str]:
    """Yield the names of operators in a .rknn file: strings `<type>:<node>`, after their length."""
    for found in re.finditer(rb"(?<=\0)([A-Za-z]\w*):[^\0]*(?=\0)", package):
        start = found.start()
        length = struct.unpack_from("<I", package, start - 4)[0] if start >= 4 else 0
        name = found[1].decode()
        if length == len(found[0]) and name not in _NOT_OPERATORS:
            yield name


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
