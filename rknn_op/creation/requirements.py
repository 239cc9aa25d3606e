"""requirements.txt and requirements.lock of a repository."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

from opkit.manifest import Wheel
from rknn_op.creation.wheel import DISTRIBUTION

_PIN = re.compile(rf"^{DISTRIBUTION}==\S+$", re.MULTILINE)
Extra = Literal["", "onnx"]
"""A package that the reference of some repositories imports; empty: none."""
_LINES: dict[Extra, re.Pattern[str]] = {"onnx": re.compile(r"^\s*onnx\b(?!-)", re.M | re.I)}
_TEXT = """\
# The packages for `scons`; add the imports of your reference and tests as NAME==VERSION, with
# --hash=sha256:..., because CI installs nothing without a hash, here or in requirements.lock.
# rknn-opkit is the wheel beside this file: `rknn-op update` renews its line.
--find-links .
{pin}
"""
_LOCK = """\
# The same in exact versions, with hashes, so that a package built next year has the same bytes:
# `pip install --require-hashes -r requirements.lock`. `rknn-op update` writes this file again;
# `python3 -m opkit.ci.lock` accepts a change of yours.
--find-links .
{pin} \\
    --hash=sha256:{sha256}
{others}
"""


def requirements_text(wheel: Wheel, before: str = "", extra: Extra = "") -> str:
    """Return the text of requirements.txt.

    Args:
        wheel: the repository's wheel.
        before: the text of the existing file; its other lines stay.
        extra: the extra of a new repository.
    """
    if _PIN.search(before):
        return _PIN.sub(_pin(wheel), before)
    return _TEXT.format(pin=_pin(wheel)) + (extra_lines(extra) if extra else "") + before


def extra_lines(extra: Extra) -> str:
    """Return the lines of an extra for requirements.txt."""
    return _read(f"-{extra}.txt")


def extra_in(requirements: str) -> Extra:
    """Return the extra in the text of requirements.txt, which may be the user's own line."""
    return next((extra for extra, line in _LINES.items() if line.search(requirements)), "")


def lock_text(wheel: Wheel, extra: Extra = "") -> str:
    """Return the text of requirements.lock.

    Args:
        wheel: the repository's wheel.
        extra: see extra_in.
    """
    lock = _read(f"-{extra}.lock" if extra else ".lock")
    others = "\n".join(line for line in lock.splitlines() if not line.startswith("#"))
    return _LOCK.format(pin=_pin(wheel), sha256=wheel.sha256, others=others)


def _read(suffix: str) -> str:
    return (Path(__file__).parent / f"requirements{suffix}").read_text(encoding="utf-8")


def _pin(wheel: Wheel) -> str:
    return f"{DISTRIBUTION}=={wheel.version}"
