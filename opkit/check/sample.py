"""The sample of the cases for the default target's instruction set: the same in every run."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from itertools import zip_longest

import numpy as np

from opkit.check.cases import Case

BUDGET = 80
"""The cost of a sample; a small case has the cost 1, about 20 ms in an emulator."""

ELEMENTS = 20_000  # of a case's inputs, for a cost of 1


def _cost(case: Case) -> int:
    return 1 + sum(np.size(array) for array in case.inputs.values()) // ELEMENTS


def _order(case: Case) -> tuple[bool, int]:
    """Return the key of a pseudorandom order, with cases beyond the budget last."""
    return _cost(case) > BUDGET, zlib.crc32(case.name.encode())


def sample(tests: Iterable[Sequence[Case]]) -> frozenset[str]:
    """Return the names of the sampled cases: of every test at least one, within the budget.

    A new case changes little of the sample.

    Args:
        tests: the cases of each test function; several may have the same cases.
    """
    chosen: set[str] = set()
    left = BUDGET
    for turn, cases in enumerate(zip_longest(*(sorted(each, key=_order) for each in tests))):
        for case in cases:
            if case and case.name not in chosen and (turn == 0 or _cost(case) <= left):
                chosen.add(case.name)
                left -= _cost(case)
    return frozenset(chosen)
