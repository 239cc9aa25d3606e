"""Expands the macros of a `.vx` source, except the prelude's; `#line` keeps its lines.

A correction inside a macro would hold for each of its uses. In the expanded text each use has a
text of its own.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_DEFINITION = re.compile(r"#define (\w+)(\(.*?\))?(?: (.*))?$", re.MULTILINE)
_NUMBER = re.compile(r"[-(\s]*\d[\w.+\-)\s]*")
_INTERNAL = re.compile(r"__opkit_", re.IGNORECASE)
# A line marker of the preprocessor, and the directive that means the same
_MARKER = re.compile(rb'^# (\d+) ("(?:[^"\\\n]|\\.)*")[ \d]*$', re.MULTILINE)
_LINE = re.compile(rb'^#line (\d+)(?: "((?:[^"\\\n]|\\.)*)")?[ ]*$', re.MULTILINE)
_REPEATED = re.compile(rb"^(?:#line .*\n)+(?=#line )", re.MULTILINE)
_ESCAPE = re.compile(r"\\(.)")


class Origin(NamedTuple):
    """The place of a line in a source.

    Attributes:
        file: as the nearest `#line` names it, or empty without one.
        line: from 1.
    """

    file: str
    line: int


def kept_macros(definitions: str) -> str:
    """Return macros that keep the names of the prelude's macros in an expanded text.

    A name expands to itself; a number stays, because an `#if` of the source may compare it.

    Args:
        definitions: the macros of the prelude, as clang writes them with -dM.
    """
    return "".join(
        f"#undef {name}\n#define {name} "
        f"{body if not parameters and _NUMBER.fullmatch(body) else name}\n"
        for name, parameters, body in _DEFINITION.findall(definitions)
        if not _INTERNAL.match(name)
    )


def with_line_directives(preprocessed: bytes) -> bytes:
    """Return a preprocessed text with its line markers as `#line` directives, one at a place."""
    return _REPEATED.sub(b"", _MARKER.sub(rb"#line \1 \2", preprocessed))


def without_line_directives(data: bytes) -> bytes:
    """Return a text of the same length in which `#line` directives are spaces."""
    return _LINE.sub(lambda found: b" " * len(found[0]), data)


def origin(data: bytes, line: int) -> Origin:
    """Return the place in the source of a line of a text with `#line` directives."""
    begin = 0
    for _ in range(line - 1):
        begin = data.find(b"\n", begin) + 1
    file, base, last = "", 1, 0
    for directive in _LINE.finditer(data, 0, begin):
        if directive[2] is not None:
            file = _ESCAPE.sub(r"\1", directive[2].decode(errors="surrogateescape"))
        base, last = int(directive[1]), directive.end() + 1
    return Origin(file, base + data.count(b"\n", last, begin))
