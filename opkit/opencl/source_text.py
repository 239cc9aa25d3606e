"""The text of a `.vx` source for clang: expanded macros, and corrections.

The macros of a source are expanded, except the prelude's; `#line` keeps its lines. Code that the
board's compiler accepts and clang rejects is corrected in the compiled text.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
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


_ROUNDS = 12  # one corrects what another one is part of
_REPACKED = b"__opkit_repacked("

_ERROR = re.compile(
    r"^(?P<file>.+?):(?P<line>\d+):(?P<column>\d+):(?P<ranges>(?:\{[-\d:]+\})*):? "
    r"error: (?P<text>.*)"
)
_PASTED = re.compile(r"pasting formed '.*', an invalid preprocessing token")
_EXPANDED = re.compile(r"(?P<file>.+?):\d+:\d+:\S* note: expanded from macro '")
_RANGE = re.compile(r"\{(\d+):(\d+)-(\d+):(\d+)\}")
_NOT_VIABLE = re.compile(r".*: note: .* no known conversion from (.*) for (\d+)\w\w argument")
_VECTOR = re.compile(r"'([^']*)' \(vector of (\d+) '(\w+)' values\)")
_AKA = re.compile(r" \(aka '[^']*'\)")
_PLAIN_HALVES = {"__opkit_plain_half", "_Float16"}
_HALVES = {"half", "__opkit_packed_half", *_PLAIN_HALVES}
_WORD = re.compile(r"(?<!of type )'(\w+)'(?! values)")
_RANK = "scalar operand type has greater rank"
_MIXED = "implicit conversions between vector types"
_NO_CALL = "no matching function for call"
_MISSING = re.compile(
    r"too few elements in vector initialization \(expected (\d+) elements?, have (\d+)\)"
)
_ZEROS = re.compile(rb"\{\s*((?:[-+]?0*\.?0*[fFhH]?\s*,\s*)*[-+]?0+\.?0*[fFhH]?)\s*\}")
_OPERAND = re.compile(
    rb"(?:<<|>>|&&|\|\||[-+*/%&|^<>=!])=?\s*(?P<operand>[-+~!\s]*(?:[A-Za-z_]\w*|\())"
)
_CALL = re.compile(rb"\w+\s*\(")
_SUFFIX = re.compile(rb"\s*(?:\.\s*\w+|[(\[])")
_COMPARISON = "__attribute__((ext_vector_type("  # how clang spells the type of a comparison


@dataclass(frozen=True)
class Warned:
    """A spelling that the board's compiler may refuse, by its place in the text."""

    line: int
    column: int
    text: str


@dataclass(frozen=True)
class _Edit:
    """Text to write before and after a part of the text, which its offsets give."""

    begin: int
    end: int
    before: bytes
    after: bytes = b")"
    warning: Warned | None = None


def corrected(
    data: bytes, source: str, errors: Callable[[bytes], str]
) -> tuple[bytes, list[Warned]]:
    """Return a text with all corrections, and the warnings about them.

    Args:
        data: the text.
        source: its path, as in clang's messages.
        errors: returns what clang says of a text, with source ranges and without its lines.
    """
    warnings: list[Warned] = []
    for _ in range(_ROUNDS):
        edits: list[_Edit] = []  # from the last to the first, without overlapping ones
        found = {*_edits(errors(data), data, source)}
        for edit in sorted(found, key=lambda each: (each.begin, each.end), reverse=True):
            if not edits or edit.end <= edits[-1].begin:
                edits.append(edit)
        if not edits:
            break
        for edit in edits:
            inside = edit.before + data[edit.begin : edit.end] + edit.after
            data = data[: edit.begin] + inside + data[edit.end :]
        warnings += [edit.warning for edit in reversed(edits) if edit.warning]
    return data, warnings


def pasted(messages: str) -> list[Warned] | None:
    """Return warnings about pasted tokens that the preprocessor leaves apart.

    None if the preprocessor reports another error.

    Args:
        messages: clang's messages while it preprocesses a text.
    """
    errors = [error for error in map(_ERROR.match, messages.splitlines()) if error]
    if not all(_PASTED.match(error["text"]) for error in errors):
        return None
    return [Warned(int(each["line"]), int(each["column"]), each["text"]) for each in errors]


def in_macros(messages: str, own: tuple[str, ...]) -> bool:
    """Return whether an error is in a macro of the source or of its included files.

    Args:
        messages: clang's messages.
        own: the first characters of the paths of the emulator's own files.
    """
    notes = (note for note in map(_EXPANDED.match, messages.splitlines()) if note)
    return any(not note["file"].startswith(own) for note in notes)


def _edits(messages: str, data: bytes, source: str) -> Iterable[_Edit]:
    lines = [0]
    for line in data.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    at, is_call = 0, False
    for text in messages.splitlines():
        note = _NOT_VIABLE.match(text)
        if is_call and note is not None and _is_repacking(note[1], _VECTOR.findall(note[1])):
            is_call = False
            argument = _argument(data, at, int(note[2]))
            if argument is not None:
                yield _Edit(*argument, _REPACKED)
        message = _ERROR.match(text)
        if message is None or message["file"] != source:
            continue
        at = lines[int(message["line"]) - 1] + int(message["column"]) - 1
        is_call = message["text"].startswith(_NO_CALL)
        ranges = [
            (lines[int(a) - 1] + int(b) - 1, lines[int(c) - 1] + int(d) - 1)
            for a, b, c, d in _RANGE.findall(message["ranges"])
        ]
        edit = _edit(_AKA.sub("", message["text"]), data, at, ranges)
        if edit is None or edit.begin == edit.end:
            continue
        # A kernel sees one type of half, so an error about the two is no warning.
        words = _AKA.sub("", message["text"])
        elements = {element for _, _, element in _VECTOR.findall(words)}
        mixes_halves = _HALVES & elements and _HALVES & set(_WORD.findall(words))
        if edit.before != _REPACKED and not mixes_halves:
            warning = Warned(int(message["line"]), int(message["column"]), message["text"])
            edit = replace(edit, warning=warning)
        yield edit


def _edit(text: str, data: bytes, at: int, ranges: list[tuple[int, int]]) -> _Edit | None:
    """Return the correction of an error, or None if it is not one of these."""
    vectors = _VECTOR.findall(text)
    if text.startswith(_RANK) and len(vectors) == 1 and len(ranges) == 2:
        element = vectors[0][2]
        cast = b"(%s)(" % element.removeprefix("__opkit_packed_").encode()
        is_second = text.index("(vector of") < text.index(" and '")
        scalar: tuple[int, int] | None = ranges[is_second]
        if ranges[0] == ranges[1]:  # in a macro, where both are that of its use
            scalar = _operand(data, at) if is_second else None
        if scalar is None or data.startswith(cast, scalar[0]):
            return None
        return _Edit(*scalar, cast)
    missing = _MISSING.match(text)
    if missing is not None:  # the zeros that `{0}` leaves out; None for other numbers
        zeros = _ZEROS.match(data, at)
        count = int(missing[1]) - int(missing[2])
        return zeros and _Edit(zeros.start(1), zeros.end(1), b"", b", 0" * count)
    if not _is_repacking(text, vectors) and not _is_conversion(text, vectors, data, ranges):
        return None
    if not text.startswith(_MIXED):
        value = _whole(data, *ranges[0])
    elif data[at : at + 1] == b"?":  # the operand behind the colon
        choices = [*_parts(data, at + 1, b":")]
        value = choices[1] if len(choices) == 2 else None
    else:
        value = _operand(data, at)
    return None if value is None else _Edit(*value, _REPACKED)


def _is_repacking(text: str, vectors: list[tuple[str, str, str]]) -> bool:
    """Return whether an error is about two vectors that differ by how they are packed.

    Up to four lanes the difference shows on the board: it is the kernel's to say, but for the
    result of a comparison and for the parts of a longer vector.
    """
    if len(vectors) == 1:  # a part of a longer vector
        target = re.match(r"initializing '(\w+)' with an expression of incompatible type", text)
        return target is not None and _differ(target[1], vectors[0][2])
    if len(vectors) != 2:
        return False
    (name, lanes, element), (other_name, other_lanes, other) = vectors
    if lanes != other_lanes or not _differ(element, other):
        return False
    return int(lanes) >= 8 or _COMPARISON in name or _COMPARISON in other_name


def _is_conversion(
    text: str, vectors: list[tuple[str, str, str]], data: bytes, ranges: list[tuple[int, int]]
) -> bool:
    """Return whether a packed vector gets the value of convert_...() lane by lane.

    Likely: published kernels are right so. The name says nothing of how its result is packed.
    """
    if len(vectors) != 2 or not ranges or text.startswith(_MIXED):
        return False
    (_, lanes, element), (_, other_lanes, other) = vectors
    return (
        lanes == other_lanes
        and _differ(element, other)
        and data.startswith(b"convert_", ranges[0][0])
    )


def _differ(element: str, other: str) -> bool:
    """Return whether two types of elements are one, plain and packed."""
    packings = []  # the name of each in the language, and whether it is a packed one's
    for each in (element, other):
        name = "half" if each in _HALVES else each.removeprefix("__opkit_packed_")
        is_plain = each in _PLAIN_HALVES if each in _HALVES else name == each
        packings.append((name, is_plain))
    return packings[0][0] == packings[1][0] and packings[0][1] != packings[1][1]


def _whole(data: bytes, begin: int, end: int) -> tuple[int, int] | None:
    """Return a range with the parenthesis that clang leaves out behind `(short8)(1`."""
    missing = data.count(b"(", begin, end) - data.count(b")", begin, end)
    if missing == 1 and data[end : end + 1] == b")":
        return begin, end + 1
    return (begin, end) if missing == 0 else None


def _operand(data: bytes, at: int) -> tuple[int, int] | None:
    """Return the range of the operand behind the operator at an offset."""
    found = _OPERAND.match(data, at)
    if found is None:
        return None
    end = _closed(data, found.end())
    while (more := _SUFFIX.match(data, end)) is not None:
        end = _closed(data, more.end())
    return found.start("operand"), end


def _parts(data: bytes, begin: int, separator: bytes) -> Iterator[tuple[int, int]]:
    """Yield the ranges between separators, up to the end of the expression."""
    depth = 0
    for index in range(begin, len(data)):
        character = data[index : index + 1]
        if depth == 0 and character in (separator, b")", b"]", b"}", b";", b","):
            inside = data[begin:index]
            yield begin + len(inside) - len(inside.lstrip()), begin + len(inside.rstrip())
            if character != separator:
                return
            begin = index + 1
        depth += (character in (b"(", b"[")) - (character in (b")", b"]"))


def _argument(data: bytes, call: int, position: int) -> tuple[int, int] | None:
    """Return the range of an argument of the call at an offset; None if a macro makes the call."""
    name = _CALL.match(data, call)
    if name is None:
        return None
    return next(itertools.islice(_parts(data, name.end(), b","), position - 1, None), None)


def _closed(data: bytes, end: int) -> int:
    """Return the offset itself, or behind a bracket the end of the bracket's partner."""
    depth = 0
    for index in range(end - 1, len(data)):
        depth += data[index : index + 1] in (b"(", b"[")
        depth -= data[index : index + 1] in (b")", b"]")
        if depth <= 0:
            return max(index + 1, end)
    return end
