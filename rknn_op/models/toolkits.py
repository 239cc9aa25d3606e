"""Run the scripts of a toolkit in a Python that has it."""

from __future__ import annotations

import re
import subprocess
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from opkit.common.errors import OpkitError
from opkit.common.text import printable, shortened
from rknn_op.runtimes.models import Toolkit

TIMEOUT = 1800.0
"""Seconds for a script; conversions of large models take minutes."""

_MAX_REASON = 400
_VERSION = re.compile(r"^\d+\.\S+$", re.M)


@dataclass(frozen=True)
class Answer:
    """The end of a script.

    Attributes:
        version: the toolkit's version; empty if it refuses the model.
        refusal: its reason for refusing the model, or its crash; empty if it succeeds.
        left: the names of the operators that it leaves in the model, if that was asked.
        disabled_rules: the rules of its optimizer that fail for the model, and were left out.
    """

    version: str = ""
    refusal: str = ""
    left: frozenset[str] = frozenset()
    disabled_rules: tuple[str, ...] = ()


def run(toolkit: Toolkit, python: Path, script: Path, arguments: list[str], folder: Path) -> Answer:
    """Run a script of a toolkit; again without a rule of its optimizer as long as one fails.

    Args:
        toolkit: the toolkit.
        python: a Python with it.
        script: one of its scripts.
        arguments: the arguments of the script.
        folder: the working directory; the toolkit writes files there.

    Raises:
        OpkitError: this Python has no such toolkit, or the script does not end in time.
    """
    where = f"--toolkit {python}"
    rules: list[str] = []
    while True:
        command = [str(python), str(script), *arguments, *rules]
        try:
            done = subprocess.run(
                command, capture_output=True, cwd=folder, timeout=TIMEOUT, check=False
            )
        except OSError as error:
            raise OpkitError(f"{where}: cannot be started: {error.strerror}") from None
        except subprocess.TimeoutExpired:
            raise OpkitError(f"{where}: no answer in {TIMEOUT:g} s") from None
        if done.returncode == 0:
            *_, version = _VERSION.findall(done.stdout.decode(errors="replace"))
            return Answer(version, disabled_rules=tuple(rules))
        failed = toolkit.failed_rule(done.stdout + done.stderr)
        if not failed or failed in rules:
            break
        rules.append(failed)
    last = (done.stderr.decode(errors="replace").strip() or "no message").splitlines()[-1]
    if f"No module named '{toolkit.module}'" in last:
        raise OpkitError(f"{where}: {toolkit.name} is not installed for this Python")
    if done.returncode < 0:
        return Answer(refusal=f"{toolkit.name} ended by signal {-done.returncode}")
    return Answer(refusal=printable(shortened(last, _MAX_REASON)))


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
        return replace(built, left=frozenset(left))
