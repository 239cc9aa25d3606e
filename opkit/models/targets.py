"""The runtime of a target that a user named."""

from __future__ import annotations

from collections.abc import Iterable

from opkit.errors import OpkitError
from opkit.runtimes import available
from opkit.text import did_you_mean, printable, shortened


def runtime_of_target(target: str, among: Iterable[str] | None = None) -> str:
    """Return the name of a target's runtime.

    Args:
        target: the value of `--target`.
        among: the names of the runtimes to choose from, in the order of messages; None: all.

    Raises:
        OpkitError: the target is none of theirs; the message has its reason, or the targets.
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
