"""The three classes of RKNN-Toolkit that an operator's Python file uses.

The toolkit is closed: their names are known, their behaviour is what the names say. This file runs
on Python 3.5.
"""

from typing import Any


class RKNNCustomOP:
    """What an operator's class is derived from."""


class IoMap:
    """An input or an output."""

    def __init__(self, name: str, label: str, description: str) -> None:
        self.name = name
        self.label = label
        self.description = description


class Shape:
    """The lengths of a tensor's dimensions, which can be asked for in NHWC or in NCHW order."""

    def __init__(self) -> None:
        self._dimensions = []  # type: Any

    def set_shape(self, shape: Any, fmt: str) -> None:
        """Store the dimensions, given in the order `fmt`."""
        self._dimensions = _reordered(shape, fmt, "NHWC")

    def format(self, fmt: str) -> Any:
        """Return the dimensions in the order `fmt`."""
        return _reordered(self._dimensions, "NHWC", fmt)


def _reordered(dimensions: Any, before: str, after: str) -> Any:
    if len(dimensions) != len(before):
        return list(dimensions)
    return [dimensions[before.index(axis)] for axis in after]
