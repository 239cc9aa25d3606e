"""The emulator's tolerance: strict or lenient.

A strict board accepts valid accesses and launches only. A lenient board has the tolerance that
published kernels rely on: a buffer has some bytes behind its elements, and a launch without a local
size is rounded up to whole groups of reqd_work_group_size.
"""

from __future__ import annotations

from opkit.errors import OpkitError

STRICT, LENIENT = "strict", "lenient"
BOARDS = (STRICT, LENIENT)

PADDED = frozenset({"read of padding bytes", "write of padding bytes"})
"""Events behind the elements of a buffer; x is the byte's number in it. Strict, they are faults."""

_PADDING = 64  # bytes; that a board has as many is an assumption


def check_board(board: str) -> None:
    """Refuse the name of a board that is not one of BOARDS.

    Raises:
        OpkitError: it is not.
    """
    if board not in BOARDS:
        raise OpkitError(f"unknown board '{board}' (expected {', '.join(BOARDS)})")


def padding(board: str) -> int:
    """Return the number of bytes that a buffer has behind its elements."""
    return _PADDING if board == LENIENT else 0
