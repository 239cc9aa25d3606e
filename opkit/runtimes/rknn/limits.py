"""The limits of a board, as measured on driver and runtime 1.7.5."""

from __future__ import annotations

from opkit.description.limits import Limits

LIMITS = Limits(
    device="the board",
    name_length=127,  # the driver copies a name into 128 bytes without looking at its length
    parameters=128,  # the driver's table of references
    rank=6,
    items=16,  # the runtime refuses a longer array
    takes_empty=False,  # the driver makes such a tensor, but all of its other functions refuse it
)
