"""The lines of the user's C that no case runs, and its conditions with one outcome in all cases.

Error returns do not count: a case that reaches one fails. Neither does code for other processors.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from pathlib import Path

from opkit.check.coverage_mapping import Region, regions
from opkit.files.source_check import without_comments

_GENERATED = "/* Generated "  # the first words of generated files
_LABELS = re.compile(r"((case\b[^:]*|default)\s*:\s*)+")
_ERROR = re.compile(
    r"""(return\b[^"]*|\w+\s*=\s*)?"              # of a message
    |return\s*\(?-\s*\d+\)?$
    |return\b.*(ERR|FAIL|INVALID|NOT_SUPPORTED|NO_MEM|fail|error)
    |goto\b|(abort|exit)\s*\(""",
    re.VERBOSE | re.DOTALL,
)
_TEST = re.compile(  # before `problem` is returned
    r"(?:if\s*\(\s*(\w+)\s*(?:!=\s*(?:0|[A-Z]\w*)|<\s*0)?\s*\)|return\s+(\w+)\s*==[^;{}]*)\s*$"
)
_VARIABLE = re.compile(r"(?:return\s+)?([A-Za-z_]\w*)")
_NAME = re.compile(r"\b[A-Za-z_]\w*")
_CALL = re.compile(r"\b(?!if\b)(\w+)\s*\(")
_OUTCOME = re.compile(r"[{\s]*(return\s+)?(false|true|NULL|-?\d+)[;}\s]*")
_POINTER_TEST = re.compile(r"!?\w+(\s*[!=]=\s*NULL)?")
_DISPATCH = {f"opkit_has_{name}()" for name in ("avx2", "avx512", "vnni")}
_MAX_RANGES = 8  # of a file in the note


@dataclass
class FileCoverage:
    """The coverage of a file.

    Attributes:
        file: its path in the repository.
        lines: its text.
        code: the numbers of the lines with code.
        not_run: the numbers of those that no case runs, even in part.
        partly: the numbers of those with another part that no case runs.
        excused: the numbers of those that no passing case runs on this PC.
        conditions: number of a line -> its conditions with one outcome, each with that outcome.
    """

    file: str
    lines: Sequence[str]
    code: set[int] = field(default_factory=set)
    not_run: set[int] = field(default_factory=set)
    partly: set[int] = field(default_factory=set)
    excused: set[int] = field(default_factory=set)
    conditions: dict[int, list[tuple[str, str]]] = field(default_factory=dict)


def coverage(root: Path, counts: Mapping[Path, Sequence[int]]) -> list[FileCoverage]:
    """Return the coverage of each of the user's files, merged over libraries and functions.

    Args:
        root: the repository.
        counts: library -> its counters.
    """
    runs: Counter[Region] = Counter()
    as_false: Counter[Region] = Counter()
    by_file: dict[str, set[Region]] = {}
    for library, own in counts.items():
        for region, count, other in regions(library, own):
            runs[region] += max(count, 0)
            as_false[region] += max(other, 0)
            by_file.setdefault(region.file, set()).add(region)
    found = []
    for name in sorted(by_file):
        path = Path(name).resolve()
        if path.is_relative_to(root.resolve()) and path.is_file():
            data = path.read_bytes()
            if not data.startswith(_GENERATED.encode()):
                file = path.relative_to(root.resolve()).as_posix()
                ordered = sorted(by_file[name], key=_outer_first)
                found.append(_of_file(file, data, ordered, runs, as_false))
    return found


class _Source:
    """The text of a file, by the positions of regions: columns are bytes."""

    def __init__(self, data: bytes) -> None:
        text = data.decode("latin-1")  # a character a byte
        self.starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
        self.code = without_comments(text)
        self.with_strings = without_comments(text, keeps_strings=True)

    def span(self, region: Region) -> tuple[int, int]:
        """Return the offsets of a region's first character, and behind its last one."""
        (first, column), (last, end) = region.start, region.end
        return self.starts[first - 1] + column - 1, self.starts[last - 1] + end - 1

    def head(self, region: Region) -> tuple[int, int]:
        """Return the offsets of the part of a statement before a region: `if (...)` of a block."""
        start, _ = self.span(region)
        return max(self.code.rfind(mark, 0, start) + 1 for mark in ";{}"), start

    def text(self, start: int, end: int) -> str:
        """Return the code between offsets, without comments and strings."""
        return self.code[start:end]

    def name(self, region: Region) -> str:
        """Return the name of the function of an outermost region."""
        call = _CALL.search(self.text(*self.head(region)))
        return call[1] if call else ""

    def lines(self, region: Region) -> Iterator[tuple[int, bool]]:
        """Yield each line with code in a region: its number, and whether code is before it."""
        start, end = self.span(region)
        for number in range(region.start[0], region.end[0] + 1):
            first, behind = self.starts[number - 1], self.starts[number]
            if re.search(r"\w", self.code[max(start, first) : min(end, behind)]):
                yield number, bool(re.search(r"\w", self.code[first : max(start, first)]))

    def last_statement(self, region: Region) -> str:
        """Return the last statement of a region, without labels."""
        start, end = self.span(region)
        end = start + len(self.with_strings[start:end].rstrip("\n ;}"))
        last = max(start, *(self.code.rfind(mark, start, end) + 1 for mark in ";{}"))
        return _LABELS.sub("", self.with_strings[last:end].strip())

    def is_error_return(self, region: Region) -> bool:
        """Return whether the last statement of a region is an error return."""
        statement = self.last_statement(region)
        if _ERROR.match(statement):
            return True
        if not (name := _VARIABLE.fullmatch(statement)):
            return False
        test = _TEST.search(self.code[slice(*self.head(region))])
        is_tested = test is not None and name[1] in test.groups()
        start, end = self.span(region)
        return is_tested or bool(
            re.search(rf"\b{name[1]}\s*=\s*[\"-]", self.with_strings[start:end])
        )


def _of_file(
    file: str,
    data: bytes,
    ordered: Sequence[Region],
    runs: Mapping[Region, int],
    as_false: Mapping[Region, int],
) -> FileCoverage:
    """Return the coverage of a file with these regions, outer ones before inner ones."""
    source = _Source(data)
    found = FileCoverage(file, data.decode(errors="replace").split("\n"))
    code = [region for region in ordered if not region.is_condition]
    constant = [
        region
        for region in ordered
        if region.is_condition and bool(runs[region]) != bool(as_false[region])
    ]
    functions = [*_outermost(code)]
    not_run = [*_outermost([region for region in code if not runs[region]])]
    errors = {
        region for region in code if region not in functions and source.is_error_return(region)
    }
    # Functions whose result an error return tests have error returns of their own: `false`.
    heads = [source.text(*source.head(region)) for region in errors]
    tested = {name for head in heads for name in _CALL.findall(head)}
    for variable in {name for head in heads for name in _NAME.findall(head)}:
        tested.update(re.findall(rf"\b{variable}\s*=\s*(\w+)\s*\(", source.code))
    tests = [each for each in functions if source.name(each) in tested]
    dispatchers = [
        function
        for function in functions
        for each in constant
        if _is_in(each, [function]) and source.text(*source.span(each)) in _DISPATCH
    ]
    elsewhere = {
        name for each in dispatchers for name in _NAME.findall(source.text(*source.span(each)))
    }

    for region in code:
        found.code.update(line for line, _ in source.lines(region))
    for region in not_run:
        lines = dict(source.lines(region))
        text = source.text(*source.span(region))
        is_outcome = _is_in(region, tests) and _OUTCOME.fullmatch(text) is not None
        is_elsewhere = _is_in(region, dispatchers) or source.name(region) in elsewhere
        if region in errors or is_outcome or is_elsewhere:
            found.excused.update(line for line, is_part in lines.items() if not is_part)
        else:
            found.not_run.update(line for line, is_part in lines.items() if not is_part)
            found.partly.update(line for line, is_part in lines.items() if is_part)

    told = [source.head(region) for region in (*not_run, *errors)]
    for region in constant:
        start, end = source.span(region)
        text = " ".join(source.with_strings[start:end].split())
        is_told = any(first <= start and end <= last for first, last in told)
        head = source.text(*source.head(region)).strip()
        is_outcome = _is_in(region, tests) and head.startswith("return")
        if not (is_told or is_outcome or _POINTER_TEST.fullmatch(text) or text in _DISPATCH):
            outcome = "true" if runs[region] else "false"
            found.conditions.setdefault(region.start[0], []).append((text, outcome))
    return found


def _outermost(ordered: Iterable[Region]) -> Iterator[Region]:
    """Yield the regions that are in no other one."""
    end = (0, 0)
    for region in ordered:
        if region.end > end:
            end = region.end
            yield region


def _outer_first(region: Region) -> tuple[int, int, int, int]:
    (last, end) = region.end
    return (*region.start, -last, -end)


def _is_in(region: Region, others: Iterable[Region]) -> bool:
    return any(each.start <= region.start and region.end <= each.end for each in others)


def note(files: Iterable[FileCoverage]) -> str:
    """Return a sentence with the lines that no case runs; empty: there are none.

    A file whose lines all do not run, such as that of a VX kernel without cases, is left out.
    """
    places = []
    for each in files:
        if each.not_run | each.partly | each.excused >= each.code:
            continue
        ranges = _ranges(each.not_run | each.partly, sorted(each.code))
        shown = [
            f"{first}-{last}" if last > first else f"{first}{' in part' * (first in each.partly)}"
            for first, last in ranges[:_MAX_RANGES]
        ]
        more = [f"{len(ranges) - _MAX_RANGES} more"] if len(ranges) > _MAX_RANGES else []
        if ranges:
            places.append(f"{each.file}:{', '.join([*shown, *more])}")
    if not places:
        return ""
    return (
        f"no case runs {'; '.join(places)}. Wrong code there stays unnoticed: add cases that reach "
        "it, or delete it; `scons report` shows these lines"
    )


def _ranges(lines: Iterable[int], code: Sequence[int]) -> list[tuple[int, int]]:
    """Return the first and last of lines in a row, between which is no other line with code."""
    ranges: list[tuple[int, int]] = []
    following = dict(pairwise(code))
    for line in sorted(lines):
        if ranges and following.get(ranges[-1][1]) == line:
            ranges[-1] = (ranges[-1][0], line)
        else:
            ranges.append((line, line))
    return ranges
