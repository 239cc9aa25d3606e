"""The targets of all runtimes."""

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
    "needs": "minimum version",
}


def names() -> list[str]:
    """Return the names of all targets."""
    return [name for runtime in available().values() for name in runtime.describe.targets]


def entries(runtimes: Iterable[Runtime]) -> list[dict[str, Any]]:
    """Return the properties of each target of runtimes; unknown ones are empty texts."""
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
    """Return a table of the targets of runtimes, and the commands that find their versions."""
    targets = entries(runtimes)
    rows = [
        ["/".join(entry[key]) if key == "abis" else entry[key] or "-" for key in _HEADINGS]
        for entry in targets
    ]
    # A line for each command: a terminal does not wrap it.
    how = {each["needs"].rpartition(" ")[0]: each["look_up"] for each in targets if each["needs"]}
    notes = "".join(f"\n{what}:\n    {look_up}" for what, look_up in how.items())
    text = aligned([[*_HEADINGS.values()], *rows])
    return f"{text}\n\nHow to find the version on the target\n{notes}" if notes else text
