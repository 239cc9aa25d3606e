"""How much a runtime takes; what goes beyond is refused where a description or a case says it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from operator import attrgetter

MAX_RANK = 6
"""The dimensions of a tensor for which opkit/compute/tensor.h has room."""
MAX_ITEMS = 20_000
"""The items of a list: as many values as a description may have."""
MAX_TEXT = 255
"""The bytes of a text, in UTF-8."""


@dataclass(frozen=True)
class Limits:
    """What a runtime takes at most.

    Attributes:
        device: who has these limits, as messages call it.
        name_length: characters of a name.
        parameters: inputs, outputs and params together.
        rank: dimensions of a tensor.
        items: numbers in a list.
    """

    device: str = "the device"
    name_length: int = 255
    parameters: int = 1024
    rank: int = MAX_RANK
    items: int = MAX_ITEMS


def lowest(limits: Iterable[Limits], what: str) -> tuple[int, str]:
    """Return the lowest of some runtimes' limits, and the device that has it.

    Args:
        limits: those of each runtime.
        what: the name of an attribute that is a number.
    """
    first = min(limits, key=attrgetter(what))
    return getattr(first, what), first.device
