"""Generated lines: at most 100 columns, and the same value."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from opkit.common.code_layout import block_comment, comment, literal, with_comment, wrapped


@pytest.mark.parametrize(
    "value",
    [
        [],
        {},
        'It\'s "quoted" \\ \x00\x7f\u2028é',
        ["x" * 40, "宽" * 44],
        {"p": {"type": "int32", "lengths": [16], "default": [-(2**31)] * 16}},
        {"q": {"default": 1e300, "source": None}, "r": {"default": True}},
        {f"name_{i}": [0.5] * i for i in range(40)},
    ],
    ids=repr,
)
def test_python_literals(value: Any) -> None:
    text = f"    VALUE = {literal(value, 'VALUE = ')}"
    assert ast.literal_eval(text.partition("= ")[2]) == value
    assert max(map(len, text.splitlines())) <= 100


def test_python_infinity() -> None:
    assert literal(float("-inf"), "") == 'float("-inf")'


def test_c_calls() -> None:
    assert wrapped("    call(", ["a", "b"], ");") == "    call(a, b);"
    items = ["a" * 30, "b" * 30, "c" * 30]
    assert wrapped("    OPKIT_TRY(call(", items, "));").splitlines() == [
        "    OPKIT_TRY(call(",
        f"        {'a' * 30},",
        f"        {'b' * 30},",
        f"        {'c' * 30}));",
    ]
    assert wrapped("int x = ", ["a" * 99], ";") == f"int x =\n    {'a' * 99};"


def test_python_lists_at_the_end_of_a_line() -> None:
    """The comma behind a list counts, too."""
    items = ["x" * 43, "y" * 42]  # with brackets, quotes and a comma 93 columns
    assert literal(items, "a = ", 2) == f'["{items[0]}", "{items[1]}"]'
    assert literal(items, "ab = ", 2).splitlines() == [
        "[",
        f'      "{items[0]}",',
        f'      "{items[1]}",',
        "  ]",
    ]


def test_comments_at_the_end_of_a_line() -> None:
    assert comment("x" * 90, 4) == f"    /* {'x' * 90} */"
    assert comment("x" * 91, 4).splitlines() == ["    /*", f"     * {'x' * 91}", "     */"]
    assert with_comment("  int i;", "x" * 85) == f"  int i; /* {'x' * 85} */"
    assert with_comment("  int i;", "x" * 86).splitlines() == [f"  /* {'x' * 86} */", "  int i;"]
    assert with_comment("  int i;", "") == "  int i;"


def test_paragraphs_of_a_comment() -> None:
    assert block_comment("One.\n\nTwo\nlines.\n\nThree.", 2).splitlines() == [
        "  /*",
        "   * One.",
        "   *",
        "   * Two lines.",
        "   *",
        "   * Three.",
        "   */",
    ]
