"""The report on tried changes, in lines of at most 80 characters."""

from __future__ import annotations

from collections.abc import Sequence

from opkit.mutation.changes import Change
from opkit.mutation.trials import COUNTED, Outcome

_WIDTH = 80
_ADVICE = "Add a case that fails with such a change, unless the change makes no difference."


def report(results: Sequence[tuple[Change, Outcome]], count: int) -> str:
    """Return the text of the report.

    Args:
        results: the tried changes, and the outcome of each.
        count: the requested count of changes.
    """
    counted = [change for change, outcome in results if outcome in COUNTED]
    alive = [change for change, outcome in results if outcome is Outcome.LIVES]
    total, noticed = len(counted), len(counted) - len(alive)
    if not counted:
        return f"mutate={count}: there is nothing to change in the kernels"
    more = f"mutate={count}: there are no more than {total} changes\n" if total < count else ""
    if not alive:
        return f"{more}your cases notice {'all ' if total > 1 else ''}{_changes(total)}"
    these = "this one lives" if len(alive) == 1 else f"these {len(alive)} live"
    in_order = sorted(alive, key=lambda change: (change.file, change.span))
    text = [f"your cases notice {noticed} of {_changes(total)}; {these}:"]
    text += [line for change in in_order for line in lines(change)]
    return more + "\n".join([*text, _ADVICE])


def _changes(count: int) -> str:
    return "1 change" if count == 1 else f"{count} changes"


def lines(change: Change) -> list[str]:
    """Return a change and its place in one line, or in more if it is too long."""
    place = f"{change.file}:{change.line}"
    parts = [f"`{change.before}`", f"-> `{change.after}`"]
    if not change.text:
        parts = [f"drop `{change.before}`"]
    line = " ".join([place, *parts])
    return [line] if len(line) <= _WIDTH else [place, *(_shortened(f"    {p}") for p in parts)]


def _shortened(line: str) -> str:
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 4]}...`"
