"""Text in the form of ppl.nn's own files: their license, include guards and .clang-format."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from opkit.text import escape_comment, render

TEMPLATES = "runtimes/pplnn/templates/upstream_"
LINE_LENGTH = 120
"""ColumnLimit of ppl.nn's .clang-format. ppl.kernel.cpu has no such file."""
_INDENT = 4


def file_text(template: str, author: str, /, **values: str) -> str:
    """Return a template's text below the license header."""
    header = render(f"{TEMPLATES}license.txt", author=author)
    return f"{header}\n{render(f'{TEMPLATES}{template}', **values)}"


def guard(path: str, prefix: str) -> str:
    """Return the macro that guards a header."""
    name = path.replace("/", "_").replace(".", "_").upper()
    return f"{prefix}{name}_"


def filled(opening: str, items: Sequence[str], closing: str) -> str:
    """Return a call or a declaration, with as many items a line as fit.

    Lines are aligned after the opening; or, if those are fewer, all items are below it.

    Args:
        opening: the text before the first item, with its indentation: `    call(`.
        items: the texts that commas separate.
        closing: the text after the last item: `);`.
    """
    aligned = _filled(opening, items, closing, ", ", len(opening))
    indent = " " * (len(opening) - len(opening.lstrip()) + _INDENT)
    below = f"{opening}\n{_filled(indent, items, closing, ', ', len(indent))}"
    return below if below.count("\n") < aligned.count("\n") else aligned


def joined(opening: str, conditions: Sequence[str], closing: str, indent: int) -> str:
    """Return conditions joined by the operator `&&` or `||`, continued with an indentation."""
    return _filled(opening, conditions, closing, " && ", indent)


def _filled(opening: str, items: Sequence[str], closing: str, separator: str, indent: int) -> str:
    lines, line = [], opening
    for index, item in enumerate(items):
        end = closing if index == len(items) - 1 else separator
        is_first = line == opening or not line.strip()
        if not is_first and len(line + item + end.rstrip()) > LINE_LENGTH:
            lines.append(line.rstrip())
            line = " " * indent
        line += item + end
    return "\n".join([*lines, line if items else opening + closing])


def line_comment(text: str, indent: int) -> str:
    """Return a comment in lines of `//`, each with an end of line; empty without a text."""
    margin = f"{' ' * indent}// "
    lines = textwrap.wrap(
        escape_comment(" ".join(text.split())),
        width=LINE_LENGTH,
        initial_indent=margin,
        subsequent_indent=margin,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "".join(line.rstrip(" \\") + "\n" for line in lines)  # a \ would continue the comment
