"""The file that holds an operator description."""

from __future__ import annotations

from pathlib import Path

from opkit.complaint import Complaint
from opkit.description.reader import MAX_CHARACTERS, DescriptionError


def read_description(path: Path) -> str:
    """Return the text of an operator description.

    Raises:
        DescriptionError: the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            text = file.read(4 * MAX_CHARACTERS + 1).decode()
        return text.replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise DescriptionError(Complaint(str(path), "not valid UTF-8", line)) from None
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
        raise DescriptionError(Complaint(str(path), problem)) from None
