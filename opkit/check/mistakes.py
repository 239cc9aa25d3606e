"""User errors as one message that begins with a line of the user's own files."""

from __future__ import annotations

import sys
from pathlib import Path
from traceback import walk_tb
from types import FrameType

from opkit.common.errors import OpkitError

OPKIT = Path(__file__).resolve().parents[1]


def _repository() -> Path:
    here = Path.cwd()
    return next((each for each in (here, *here.parents) if (each / "op.yml").is_file()), here)


REPOSITORY = _repository()
"""The repository of this process's working directory."""


class CheckError(OpkitError):
    """A case or the reference is invalid."""


def caller_location(root: Path = REPOSITORY) -> str:
    """Return file:line of the nearest caller outside of opkit; the file relative to root."""
    frame = _caller()
    if frame is None:
        return ""
    file = Path(frame.f_code.co_filename)
    path = file.relative_to(root) if file.is_relative_to(root) else file
    return f"{path.as_posix()}:{frame.f_lineno}"


def caller_file() -> Path:
    """Return the file of the nearest caller outside of opkit; without one, the repository."""
    frame = _caller()
    return Path(frame.f_code.co_filename) if frame else REPOSITORY


def _caller() -> FrameType | None:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_machinery(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def _is_machinery(file: str) -> bool:
    return file.startswith("<") or Path(file).is_relative_to(OPKIT)


def user_message(error: BaseException, root: Path, default: str = "") -> str:
    """Return `file:line: problem` for an exception caused by the user's code.

    Args:
        error: the exception. The message of an OpkitError is returned unchanged.
        root: the repository, which holds the user's files.
        default: file:line for an exception without a line in the user's files.

    Returns:
        The message; empty for an exception without a line and a default.
    """
    if isinstance(error, OpkitError):
        return str(error)
    location = _location(error, root) or default
    return f"{location}: {_error_text(error)}" if location else ""


def _location(error: BaseException, root: Path) -> str:
    """Return file:line of a syntax error, else of the innermost frame in the user's files."""
    if isinstance(error, SyntaxError) and (file := _users_file(error.filename or "", root)):
        return f"{file}:{error.lineno or 1}"
    frames = [
        (file, line)
        for frame, line in walk_tb(error.__traceback__)
        if (file := _users_file(frame.f_code.co_filename, root))
    ]
    return "{}:{}".format(*frames[-1]) if frames else ""


def _users_file(file: str, root: Path) -> str:
    """Return the path relative to the repository; empty for a file of others."""
    path = Path(file).resolve()
    is_elsewhere = (
        not path.is_relative_to(root.resolve())
        or "site-packages" in path.parts
        or path.is_relative_to(OPKIT)
    )
    if file.startswith("<") or is_elsewhere:  # <frozen importlib._bootstrap>, <string>
        return ""
    relative = path.relative_to(root.resolve())
    return relative.as_posix() if relative.parts else ""


def _error_text(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return f"exit({error.code!r}) is called, which ends the check; delete the call"
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
