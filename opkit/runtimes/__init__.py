"""The runtimes of operators: a folder for each; interface.py has the common interface."""

from opkit.runtimes.interface import (
    DEFAULT,
    available,
    complaints,
    expected_kernels,
    parse,
    selected,
)

__all__ = ["DEFAULT", "available", "complaints", "expected_kernels", "parse", "selected"]
