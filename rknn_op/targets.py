"""What can be built for, of every runtime."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from opkit.runtimes import available
from opkit.runtimes.interface import Runtime
from opkit.text import aligned

_HEADINGS = {
    "target": "target",
    "runtime": "runtime",
    "family": "family",
    "abis": "ABI",
    "needs": "must run at least",
}


def names() -> list[str]:
    """Return the names of all targets."""
    return [name for runtime in available().values() for name in runtime.describe.targets]


def entries(runtimes: Iterable[Runtime]) -> list[dict[str, Any]]:
    """Return what is known of each target of runtimes; texts are empty where nothing is."""
    return [
        {
            "target": target.name,
            "runtime": runtime.name,
            "family": target.family,
            "abis": [target.abi, *target.other_abis],
            "needs": target.needs,
            "look_up": target.look_up,
        }
        for runtime in runtimes
        for target in runtime.describe.targets.values()
    ]


def table(runtimes: Iterable[Runtime]) -> str:
    """Return a row for each target of runtimes, and below how to look up what each must run."""
    targets = entries(runtimes)
    rows = [
        ["/".join(entry[key]) if key == "abis" else entry[key] or "-" for key in _HEADINGS]
        for entry in targets
    ]
    # Each in a line of its own, so that a terminal breaks no command.
    how = {each["needs"].rpartition(" ")[0]: each["look_up"] for each in targets if each["needs"]}
    notes = "".join(f"\n{what}:\n    {look_up}" for what, look_up in how.items())
    text = aligned([[*_HEADINGS.values()], *rows])
    return f"{text}\n\nWhere to look that up\n{notes}" if notes else text
