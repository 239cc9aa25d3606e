"""The three classes of RKNN-Toolkit 1.x that an operator's Python file uses.

The toolkit is closed. The stand-in accepts the spellings of its published operators, all of 2019 to
2023, and refuses any other, even one that the toolkit may accept. Runs on Python 3.5.
"""

from typing import Any

__all__ = ["IoMap", "RKNNCustomOP", "Shape"]


class RKNNCustomOP:
    """The base class of an operator's class."""


class IoMap:
    """A port: `IoMap('in0', 'in', 'input port 0')`."""

    def __init__(self, *arguments: Any) -> None:
        port, direction, sentence = arguments
        if direction not in ("in", "out"):
            raise ValueError("direction: expected 'in' or 'out', not " + repr(direction))
        if not (port.startswith(direction) and port[len(direction) :].isdigit()):
            raise ValueError("port: expected " + direction + "0, ..., not " + repr(port))
        if not (isinstance(sentence, str) and sentence):
            raise ValueError("third argument: expected a sentence, not " + repr(sentence))
        self.port = port
        self.direction = direction
        self.sentence = sentence


class Shape:
    """The lengths of a tensor's dimensions, slowest first: `shape.format('nhwc')`."""

    def __init__(self) -> None:
        self._dimensions = None  # type: Any

    def set_shape(self, shape: Any, *, fmt: str) -> None:
        """Store the dimensions: `set_shape(dims, fmt='nhwc')` or `(shape=dims, fmt='nhwc')`."""
        _check_format(fmt)
        if type(shape) is not list or not shape or not all(type(n) is int and n > 0 for n in shape):
            raise ValueError("shape: expected a list of positive int, not " + repr(shape))
        self._dimensions = list(shape)

    def format(self, *arguments: str) -> Any:
        """Return the dimensions."""
        (fmt,) = arguments
        _check_format(fmt)
        if self._dimensions is None:
            raise ValueError("the shape is not set")
        return list(self._dimensions)


def _check_format(fmt: str) -> None:
    if fmt != "nhwc":
        raise KeyError(fmt)
