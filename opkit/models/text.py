"""Names and shapes of a model for messages."""

from __future__ import annotations

from opkit.text import printable, shortened


def plain(text: str, max_length: int = 60) -> str:
    """Return a name of a model for messages, on one line."""
    return " ".join(printable(shortened(text, max_length)).split())


def shape_text(shape: tuple[object, ...] | None) -> str:
    """Return a shape for a message, such as `[1, 3, ?]`."""
    if shape is None:
        return "[unknown]"
    return f"[{', '.join('?' if size is None else shortened(str(size), 30) for size in shape)}]"
