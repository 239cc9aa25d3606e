"""Names and shapes of a model for messages and for op.yml."""

from __future__ import annotations

import re

from opkit.text import printable, shortened

_NAME_LENGTH = 60


def plain(text: str, max_length: int = 60) -> str:
    """Return a name of a model for messages, on one line."""
    return " ".join(printable(shortened(text, max_length)).split())


def shape_text(shape: tuple[object, ...] | None) -> str:
    """Return a shape for a message, such as `[1, 3, ?]`."""
    if shape is None:
        return "[unknown]"
    return f"[{', '.join('?' if size is None else shortened(str(size), 30) for size in shape)}]"


def identifier(name: str) -> str:
    """Return the name in op.yml for a name of a model."""
    return re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_")[:_NAME_LENGTH]
