"""The targets of all runtimes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from opkit.common.errors import OpkitError
from opkit.common.text import aligned, did_you_mean, printable, shortened
from opkit.description.describe import LINUX
from opkit.description.spec import OpSpec
from opkit.runtimes import available, selected
from opkit.runtimes.interface import Runtime

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


def runtime_of_target(target: str, among: Iterable[str] | None = None) -> str:
    """Return the name of a target's runtime.

    Args:
        target: the value of `--target`.
        among: the names of the runtimes to choose from, in the order of messages; None: all.

    Raises:
        OpkitError: the target is unknown or unsupported; the message lists the targets.
    """
    runtimes = [available()[name] for name in (available() if among is None else among)]
    for runtime in runtimes:
        describe = runtime.describe
        if target in describe.refused_targets:
            raise OpkitError(describe.refused_targets[target])
        if target in describe.targets:
            return runtime.name
    names = [name for runtime in runtimes for name in runtime.describe.targets]
    hint = did_you_mean(target, names)
    raise OpkitError(
        f"--target: invalid {printable(shortened(target))!r} (expected {', '.join(names)})"
        + (f"; {hint}" if hint else "")
    )


def product_folders(spec: OpSpec, arguments: Sequence[str]) -> list[str]:
    """Return the folders in `build/` of the products of a run of SCons.

    Args:
        spec: the operator.
        arguments: of a run that succeeded, such as `target=rk3588` and `abi=armhf`.
    """
    options = dict(word.split("=", 1) for word in arguments if "=" in word)
    name, abi = options.get("target", spec.target_platform).lower(), options.get("abi")
    system = options.get("os", LINUX).lower()
    targets = [
        target
        for runtime in selected(spec)
        for target in runtime.describe.targets.values()
        if name in (target.name, "all")
    ]
    abis = [(target, target.abis_of(system)) for target in targets]
    return [each.folder(abi or own[0]) for each, own in abis if (abi in own if abi else own)]


def entries(runtimes: Iterable[Runtime]) -> list[dict[str, Any]]:
    """Return the properties of each target of runtimes; unknown ones are empty texts."""
    return [
        {
            "target": target.name,
            "runtime": runtime.name,
            "family": target.family,
            "abis": [*target.abis],
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
