"""Explain YAML's syntax errors: the line with the mistake, what is wrong, and how to write it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import yaml

from opkit.common.text import printable, shortened

_LINE_END = re.compile("\r\n|[\n\r\x85\u2028\u2029]")  # as YAML 1.1
_NO_BLANK = re.compile(r"\s*(?:- +)*([\w.-]+):([^\s:].*)")
_NO_COLON = re.compile(r"\s*(?:- +)*([\w.-]+)(?:\s*=\s*|\s+|$)(.*)")
_OPENING = {"]": "[", "}": "{"}


class Explanation(NamedTuple):
    """A syntax error in the user's words.

    Attributes:
        problem: the problem.
        hint: how to write it.
        line: the line of the mistake, from 1, which may be before the parser's.
        column: the column, from 1.
    """

    problem: str
    hint: str
    line: int
    column: int


class _Error(NamedTuple):
    """The parser's error.

    Attributes:
        lines: the lines of the text.
        start: the begin of what the parser was reading.
        mark: the place where it stopped.
        match: the match of its message.
    """

    lines: Sequence[str]
    start: yaml.Mark
    mark: yaml.Mark
    match: re.Match[str]

    @property
    def line(self) -> str:
        """The line where the parser stopped."""
        return self.lines[self.mark.line]

    def at_mark(self, problem: str, hint: str) -> Explanation:
        """Return an explanation at the place where the parser stopped."""
        return Explanation(problem, hint, self.mark.line + 1, self.mark.column + 1)

    def at_start(self, problem: str, hint: str) -> Explanation:
        """Return an explanation at the begin of what the parser was reading."""
        return Explanation(problem, hint, self.start.line + 1, self.start.column + 1)


def explain(text: str, error: yaml.MarkedYAMLError) -> Explanation:
    """Return the explanation of a syntax error; an unknown one has the parser's words.

    Args:
        text: the text that cannot be parsed.
        error: the parser's error.
    """
    lines = _LINE_END.split(text)
    problem = " ".join(str(error.problem or error.context).split())
    mark = error.problem_mark or error.context_mark
    if mark is None:
        return Explanation(problem, "", 1, 1)
    for pattern, function in _EXPLAINED:
        if match := re.search(pattern, problem):
            return function(_Error(lines, error.context_mark or mark, mark, match))
    hint = "put text in quotes, and close every bracket"
    return Explanation(problem, hint, mark.line + 1, mark.column + 1)


def blank_after_colon(text: str) -> str:
    """Return a hint if a text is `key:value`, which YAML reads as one word; else an empty text."""
    match = _NO_BLANK.fullmatch(text)
    return (
        f"write {_code(f'{match[1]}: {match[2]}')}, with a blank after the colon" if match else ""
    )


def _code(text: str) -> str:
    return f"`{printable(shortened(text.strip(), 80))}`"


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _is_text(line: str) -> bool:
    """Return whether a line is neither blank nor a comment, and has no key."""
    return re.match(r"\s*[^\s#]", line) is not None and not re.search(r":(\s|$)", line)


def _colon(error: _Error) -> Explanation:
    """Explain a second colon in a line, or the first one behind lines without a key."""
    line, index = error.line, error.mark.line
    if key := re.match(r"(.*?):\s+", line[: error.mark.column]):
        value = line[key.end() :].strip()
        quote = "'" if '"' in value or "\\" in value else '"'
        hint = f"put the value in quotes: {_code(f'{key[1]}: {quote}{value}{quote}')}"
        return error.at_mark("': ' in a value", hint)
    above = [i for i in range(index) if error.lines[i].strip()]
    if not above:
        return error.at_mark("a colon without a key", "write `key: value`")
    first = above[-1]
    if not _is_text(error.lines[first]):
        indent = _indent(error.lines[first])
        problem = f"is indented more than line {first + 1}, which has a value already"
        hint = f"indent it by {indent} spaces" if indent else "write it without indentation"
        return Explanation(problem, hint, index + 1, _indent(line) + 1)
    while first > 0 and _is_text(error.lines[first - 1]):
        first -= 1
    return _without_key(error.lines, first)


def _without_key(lines: Sequence[str], index: int) -> Explanation:
    """Explain a line that should have a key."""
    line = lines[index]
    hint, problem = blank_after_colon(line), "no blank after the colon"
    if not hint:
        key = _NO_COLON.fullmatch(line)
        hint = f"write {_code(f'{key[1]}: {key[2]}')}" if key else "write `key: value`"
        problem = "no colon after the key"
    return Explanation(problem, hint, index + 1, _indent(line) + 1)


def _first_key(error: _Error) -> Explanation:
    """Explain a first line without a key, which a comment ends."""
    texts = (index for index, line in enumerate(error.lines) if _is_text(line))
    return _without_key(error.lines, next(texts, error.mark.line))


def _character(error: _Error) -> Explanation:
    before, value = error.line[: error.mark.column], error.line[error.mark.column :]
    if value.startswith("\t") and not before.strip():
        return error.at_mark("a tab in the indentation", "indent with spaces")
    if value.startswith("\t"):
        return error.at_mark("a tab", "write a space instead")
    quoted = _code(f"'{value.strip()}'")
    problem = f"a value cannot begin with '{printable(value[:1])}'"
    return error.at_mark(problem, f"put the value in quotes: {quoted}")


def _bracket(error: _Error) -> Explanation:
    closing = error.match[1]
    opening = _OPENING[closing]
    if error.mark.line != error.start.line or "<stream end>" in error.match[0]:
        hint = f"write '{closing}' behind the last item, and commas between the items"
        return error.at_start(f"no '{closing}' for this '{opening}'", hint)
    hint = "separate the items by commas, and put text with ': ' in quotes"
    return error.at_mark(f"no comma in '{opening}...{closing}'", hint)


def _quote(error: _Error) -> Explanation:
    quote = error.lines[error.start.line][error.start.column]
    other = "'" if quote == '"' else '"'
    hint = f"write it behind the value; put a value that has a {quote} in {other}...{other}"
    return error.at_start(f"no closing {quote} for this one", hint)


def _block(error: _Error) -> Explanation:
    if error.match[1] == "-":
        return error.at_mark("a list item among keys", "indent it below its key")
    if error.line[: error.mark.column].strip():
        return error.at_mark("text behind a value", "put the whole value in quotes")
    problem = f"no key above is indented by {error.mark.column} spaces"
    return error.at_mark(problem, "indent it by as many as the keys of its group")


def _alias(error: _Error) -> Explanation:
    problem = f"'*{printable(shortened(error.match[1]))}' refers to nothing"
    return error.at_mark(problem, "put text that begins with '*' in quotes")


def _escape(error: _Error) -> Explanation:
    hint = r"write \\ for a backslash, or put the value in single quotes"
    return error.at_mark("unknown escape in double quotes", hint)


_EXPLAINED: tuple[tuple[str, Callable[[_Error], Explanation]], ...] = (
    ("^mapping values are not allowed here", _colon),
    ("^could not find expected ':'", lambda error: _without_key(error.lines, error.start.line)),
    ("^expected '<document start>'", _first_key),
    ("^found character .* that cannot start any token", _character),
    ("^expected ',' or '([]}])', but got .*", _bracket),
    ("^found unexpected end of stream", _quote),
    ("^expected <block end>, but found '(.*)'", _block),
    ("^found undefined alias '(.*)'", _alias),
    (
        "^but found another document",
        lambda error: error.at_mark("a second document", "delete this line"),
    ),
    ("^found unknown escape character", _escape),
)
"""The parser's words -> the explanation."""
