"""`rknn-op targets`: what can be built for, of every runtime."""

from __future__ import annotations

from collections.abc import Iterable

from opkit.runtimes import available
from opkit.runtimes.interface import Runtime
from opkit.text import aligned

_HEADINGS = ("target", "runtime", "family", "ABI", "must run at least", "where to look that up")


def names() -> list[str]:
    """Return the names of all targets."""
    return [name for runtime in available().values() for name in runtime.targets]


def table(runtimes: Iterable[Runtime]) -> str:
    """Return a row for each target of runtimes."""
    rows = [
        (
            *(target.name, runtime.name, target.family or "-"),
            "/".join((target.abi, *target.other_abis)),
            *(target.needs or "-", target.look_up or "-"),
        )
        for runtime in runtimes
        for target in runtime.targets.values()
    ]
    return aligned([_HEADINGS, *rows])
