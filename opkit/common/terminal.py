"""Messages on a terminal: in color, in lines of at most 80 columns; elsewhere in one line each."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import IO

from opkit.common.text import wrapped

_COLORS = {"error": 31, "warning": 33}
"""Severity -> color, as of ECMA-48."""


def chosen_color(environment: Mapping[str, str]) -> bool | None:
    """Return the user's choice of colors, by the variables that pytest knows; None: no choice."""
    if environment.get("PY_COLORS") in ("0", "1"):
        return environment["PY_COLORS"] == "1"
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR"):
        return True
    return False if environment.get("TERM") == "dumb" else None


def fitted(text: str, stream: IO[str]) -> str:
    """Return a message for a stream, its first line wrapped on a terminal; the rest may be code."""
    first, newline, rest = text.partition("\n")
    return wrapped(first) + newline + rest if stream.isatty() else text


def message(severity: str, text: object, stream: IO[str]) -> str:
    """Return a message for a stream, such as `error: FILE not found`.

    Elsewhere than on a terminal it stays in its line, where tools find it.
    """
    line = fitted(f"{severity}: {text}", stream)
    color = chosen_color(os.environ)
    if severity in _COLORS and (stream.isatty() if color is None else color):
        line = f"\033[{_COLORS[severity]}m{severity}:\033[0m{line.removeprefix(f'{severity}:')}"
    return line


def print_message(severity: str, text: object) -> None:
    """Print a message on stderr."""
    print(message(severity, text, sys.stderr), file=sys.stderr)
