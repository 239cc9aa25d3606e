"""Read the file of a model; limits that hold for all formats."""

from __future__ import annotations

from pathlib import Path

from opkit import file_io
from opkit.errors import OpkitError
from opkit.text import printable

MAX_NODES = 250_000
"""Maximum nodes, with those of subgraphs and of local functions at each call."""

_MAX_BYTES = 2**31 - 1
"""Protobuf's maximum size of a message."""


class InvalidError(Exception):
    """The model is invalid; the message names the node or tensor, not the file."""


def contents(file: Path, expected: str) -> bytes:
    """Return the content of a model's file.

    Args:
        file: a regular file.
        expected: the expected content, for messages, such as `an ONNX model`.

    Raises:
        InvalidError: the file cannot be read, is not a regular file, or is larger than 2 GB.
    """
    try:
        return file_io.read_bounded(file, expected, _MAX_BYTES)
    except file_io.FileError as error:
        raise InvalidError(error.problem) from None


def check_count(nodes: int) -> None:
    """Raise InvalidError for a model with too many nodes."""
    if nodes > MAX_NODES:
        raise InvalidError(f"has {nodes:,} nodes (expected at most {MAX_NODES:,}); cut the model")


def error(file: Path, problem: InvalidError) -> OpkitError:
    """Return the error for a file with an invalid model."""
    return OpkitError(f"{printable(str(file))}: {problem}")
