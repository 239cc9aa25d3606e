"""What executes an operator in the end: a folder for each runtime; interface.py has the rest."""

from opkit.runtimes.interface import (
    DEFAULT,
    available,
    complaints,
    expected_kernels,
    of,
    parse,
)

__all__ = ["DEFAULT", "available", "complaints", "expected_kernels", "of", "parse"]
