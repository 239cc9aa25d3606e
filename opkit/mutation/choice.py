"""The order of changes: the same in every run, spread over lines and kinds."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Iterable, Iterator

from opkit.mutation.changes import Change


def ordered(changes: Iterable[Change], seed: bytes) -> Iterator[Change]:
    """Yield all changes: files and kinds in turn, and of each the line with the fewest so far.

    Args:
        changes: the changes, of several files.
        seed: the contents of the files; other contents give another order.
    """
    chance = random.Random(hashlib.sha256(seed).digest())
    groups: dict[tuple[str, str], list[Change]] = {}
    for change in changes:
        groups.setdefault((change.file, change.kind), []).append(change)
    for group in groups.values():
        chance.shuffle(group)
    turns = list(groups.values())
    chance.shuffle(turns)
    uses = Counter[tuple[str, int]]()
    while any(turns):
        for group in filter(None, turns):
            change = min(group, key=lambda each: uses[each.file, each.line])
            group.remove(change)
            uses[change.file, change.line] += 1
            yield change
