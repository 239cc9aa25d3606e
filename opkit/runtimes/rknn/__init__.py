"""RKNN-Toolkit 1.x: RK1806, RK1808, RK3399Pro, RV1109 and RV1126."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opkit.runtimes.rknn.runtime import Rknn

    RUNTIME: Rknn


@cache
def __getattr__(name: str) -> Rknn:
    """Return RUNTIME, made when it is asked for: what reads packages needs nothing of it."""
    if name != "RUNTIME":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from opkit.runtimes.rknn.runtime import Rknn

    return Rknn()
