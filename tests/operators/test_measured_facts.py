"""The facts about the library's operators that the READMEs of repositories repeat."""

from __future__ import annotations

from rknn_op.creation import operator_library
from tests.operators.calls import RANDOM
from tests.repositories import EXAMPLES


def test_tolerances_are_those_of_the_random_calls() -> None:
    """If not: `python -m benchmarks.operators --output benchmarks --record`."""
    for name, facts in operator_library.measured(EXAMPLES).items():
        random = RANDOM[name]
        assert (facts.rtol, facts.atol) == (random.rtol, random.atol), name
