"""The operators that every run of the slow part has: some of each kind."""

from __future__ import annotations

from typing import Any

import pytest

from tests.marks import SAMPLE, sampled, slow_first
from tests.operators.calls import TABLES
from tests.repositories import LIBRARY


def test_sample_has_every_kind() -> None:
    """Every template, every table of calls, and every group of runtimes.

    LinearAttention stands for Attention, whose tests take more than a minute.
    """
    assert {*LIBRARY} >= SAMPLE
    sample = [LIBRARY[name] for name in SAMPLE]
    for kinds in (
        lambda each: [*each.templates],
        lambda each: [each.spec.runtimes],
        lambda each: [table for table, names in enumerate(NAMES) if each.spec.name in names],
        lambda each: [len(each.spec.outputs) > 1, bool(each.onnx)],
    ):
        every = {
            kind for name, each in LIBRARY.items() if name != "Attention" for kind in kinds(each)
        }
        assert {kind for each in sample for kind in kinds(each)} == every


NAMES = [{*table.random} for table in TABLES]


def nightly(parameters: list[Any]) -> list[Any]:
    """Return the values of the parameters that have the mark."""
    marked = [each for each in parameters if hasattr(each, "marks")]
    assert all(pytest.mark.nightly in each.marks for each in marked)
    return [each.values[0] for each in marked]


def test_others_run_at_night() -> None:
    assert nightly(sampled(["Exp", "Tan", "row_mean", "wkv7"])) == ["Tan", "wkv7"]
    assert nightly(slow_first(1, ["a", "b"])) == ["b"]
