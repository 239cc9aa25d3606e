"""The limits of runtimes; descriptions and cases beyond them are refused."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from operator import attrgetter

MAX_RANK = 6
"""The maximum rank of a tensor, OPKIT_MAX_RANK in opkit/compute/tensor.h."""
MAX_ELEMENTWISE_INPUTS = 8
"""The maximum count of an elementwise operator's inputs, OPKIT_MAX_INPUTS in elementwise.h."""
MAX_THREADS = 64
"""The maximum threads of a kernel, OPKIT_MAX_THREADS in opkit/compute/thread_pool.h."""
MAX_ITEMS = 20_000
"""The maximum count of a list's items, the same as of all values in a description."""
MAX_CHOICES = 64
"""The maximum count of a param's choices; cases have all of them."""
MAX_TEXT = 255
"""The maximum bytes of a text, in UTF-8."""


@dataclass(frozen=True)
class Limits:
    """The limits of a runtime.

    Attributes:
        device: the owner of the limits, for messages.
        name_length: the maximum characters of a name.
        parameters: the maximum count of inputs, outputs and params together.
        rank: the maximum dimensions of a tensor.
        items: the maximum count of numbers in a list.
        takes_empty: whether tensors may have no elements.
    """

    device: str = "the device"
    name_length: int = 255
    parameters: int = 1024
    rank: int = MAX_RANK
    items: int = MAX_ITEMS
    takes_empty: bool = True


def lowest(limits: Iterable[Limits], what: str) -> tuple[int, str]:
    """Return the lowest value of one limit, and its device.

    Args:
        limits: the limits of each runtime.
        what: the name of an attribute; of a bool, False is lower.
    """
    first = min(limits, key=attrgetter(what))
    return getattr(first, what), first.device
