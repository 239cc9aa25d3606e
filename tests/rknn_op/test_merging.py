"""The three-way merge of texts: both changes, or a conflict."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rknn_op.upkeep.merging import merged

_BASE = "a\nb\nc\nd\ne\n"


@pytest.mark.parametrize(
    ("mine", "theirs", "result"),
    [
        (_BASE, "x\nc\n", "x\nc\n"),
        ("a\nb\nc\nd\nmine\n", "theirs\nb\nc\nd\ne\n", "theirs\nb\nc\nd\nmine\n"),
        ("a\nmine\nb\nc\nd\ne\n", "a\nb\nc\ne\n", "a\nmine\nb\nc\ne\n"),
        ("a\nc\nd\ne\n", "a\nc\nd\ne\nend\n", "a\nc\nd\ne\nend\n"),
        ("a\nmine\nc\nd\ne\n", "a\ntheirs\nc\nd\ne\n", None),
        ("a\nmine\nc\nd\ne\n", "a\nb\ntheirs\nd\ne\n", None),
        (f"{_BASE}mine\n", f"{_BASE}theirs\n", None),
    ],
)
def test_examples(mine: str, theirs: str, result: str | None) -> None:
    assert merged(_BASE, mine, theirs) == result
    assert merged(_BASE, theirs, mine) == result


_texts = st.lists(st.sampled_from("abc"), max_size=6).map(
    lambda lines: "".join(map("{}\n".format, lines))
)


@given(_texts, _texts)
def test_one_change(base: str, text: str) -> None:
    assert merged(base, text, base) == text
    assert merged(base, base, text) == text
    assert merged(base, text, text) == text
