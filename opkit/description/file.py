"""The text of an operator description, and the file that holds it."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from opkit.common import file_io
from opkit.common.complaint import Complaint
from opkit.description.reader import MAX_CHARACTERS, DescriptionError

_MAX_BYTES = 4 * MAX_CHARACTERS  # a character has at most 4 bytes in UTF-8


def read_description(path: Path) -> str:
    """Return the text of an operator description, normalized.

    Raises:
        DescriptionError: the file cannot be read, is too large, or is not UTF-8.
    """
    try:
        return _decoded(
            file_io.read_bounded(path, "an operator description", _MAX_BYTES), str(path)
        )
    except file_io.FileError as error:
        raise DescriptionError(Complaint(str(path), error.problem)) from None


def read_stream(stream: BinaryIO, name: str) -> str:
    """Return the text of an operator description in a stream, normalized.

    Args:
        stream: the stream; read up to the maximum size of a description.
        name: its name, for messages.

    Raises:
        DescriptionError: the text is not UTF-8.
    """
    return _decoded(stream.read(_MAX_BYTES), name)


def _decoded(data: bytes, name: str) -> str:
    try:
        return normalized(data.decode())
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise DescriptionError(Complaint(name, "not valid UTF-8", line)) from None


def normalized(text: str) -> str:
    """Normalize a text as in op.yml: without byte-order mark, with Unix line ends."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").rstrip()
