"""Completion knows the values of every option."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest
from click.shell_completion import ShellComplete

from rknn_op.cli import VERBS, main

FREE_TEXT = {
    "--author",
    "--changed",
    "--hybrid",
    "--jobs",
    "--max-error",
    "--metric",
    "--node",
    "--op",
}
"""The options whose values only the user, or a file, knows."""


def options(command: click.Command, *names: str) -> Iterator[tuple[list[str], str]]:
    """Yield the verb's words and the longest name of each option with a value."""
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            inner = command.get_command(click.Context(command), name)
            assert inner is not None
            yield from options(inner, *names, name)
        return
    for param in command.params:
        if isinstance(param, click.Option) and not (param.is_flag or param.hidden):
            yield [*names], max(param.opts, key=len)


def completed(words: list[str], incomplete: str = "") -> list[tuple[str, str]]:
    completion = ShellComplete(main, {}, "rknn-op", "_RKNN_OP_COMPLETE")
    found = completion.get_completions(words, incomplete)
    return [(each.type, each.value) for each in found]


def test_every_option_has_values() -> None:
    all_options = [*options(main)]
    assert {words[0] for words, _ in all_options} < {*VERBS}
    without = {name for words, name in all_options if not completed([*words, name])}
    assert without == FREE_TEXT


@pytest.mark.parametrize(
    ("words", "incomplete", "expected"),
    [
        ("create --target", "RV11", ["rv1109", "rv1126", "rv1126b"]),
        ("create --runtime", "rknn", ["rknn", "rknn2"]),
        ("create --kernel", "", ["vx", "gpu"]),
        ("create --license", "m", ["MIT"]),
        ("create --extras", "", ["none", "ci", "all"]),
        ("create --library", "gelu", ["Gelu"]),
        ("library", "gelu", ["Gelu"]),
        ("library --runtime", "rknn", ["rknn", "rknn2"]),
        ("bundle --target", "rk3588", ["rk3588"]),
        ("bundle --target", "rk1808", []),
    ],
)
def test_values(words: str, incomplete: str, expected: list[str]) -> None:
    found = completed(words.split(), incomplete)
    assert found == [("plain", value) for value in expected]
