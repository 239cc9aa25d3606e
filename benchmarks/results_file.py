"""RESULTS.md, with one section per benchmark: its command line, its figures, the machine."""

from __future__ import annotations

import argparse
import os
import platform
import re
from collections.abc import Collection
from pathlib import Path

NAME = "RESULTS.md"
WORSE = 1.25
"""A figure above this multiple of the last record is worse; below it are the machine's moods."""
_HEAD = "# Results of the benchmarks\n\nEach section names the command that makes it.\n"


def parser(name: str, description: str | None, runs: int = 0) -> argparse.ArgumentParser:
    """Return the parser of a benchmark's command line, with `--output`.

    Args:
        name: the module in `benchmarks`.
        description: its docstring, of which the first line is shown.
        runs: the default of `--runs`; 0: there is no such option.
    """
    made = argparse.ArgumentParser(
        prog=f"python -m benchmarks.{name}", description=(description or "").splitlines()[0]
    )
    if runs:
        made.add_argument("--runs", type=int, default=runs, help="the runs of each measurement")
    made.add_argument("--output", type=Path, help="the folder of RESULTS.md")
    return made


def finish(folder: Path | None, name: str, text: str) -> None:
    """Print a section, and write it into the folder's RESULTS.md; None: print it only."""
    print(text)
    if folder:
        print(f"written: {write_section(folder, name, text)}")


def write_section(folder: Path, name: str, text: str) -> Path:
    """Write a section into the folder's RESULTS.md, replacing the section of that name.

    Args:
        folder: of RESULTS.md; made if it is missing.
        name: the name of the benchmark.
        text: the section, Markdown, with its heading.

    Returns:
        The file.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / NAME
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    section = f"{begin}\n\n{text.strip()}\n\n{end}"
    written = path.read_text() if path.is_file() else _HEAD
    pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    if pattern.search(written):
        written = pattern.sub(lambda _: section, written)
    else:
        written = f"{written.rstrip()}\n\n{section}\n"
    path.write_text(written)
    return path


def section_of(folder: Path, name: str) -> str:
    """Return a section of the folder's RESULTS.md; empty: there is none."""
    path = folder / NAME
    written = path.read_text() if path.is_file() else ""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    return written.partition(begin)[2].partition(end)[0]


def figures(section: str, columns: Collection[str]) -> dict[tuple[str, str], float]:
    """Return (first cell of the row, head of the column) -> number, in the tables of a section.

    Args:
        section: Markdown.
        columns: the heads of the columns to read.
    """
    found: dict[tuple[str, str], float] = {}
    head: list[str] = []
    for line in section.splitlines():
        if not line.startswith("|"):
            head = []
            continue
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if not head:
            head = cells
        for column, cell in zip(head, cells, strict=False):
            if column in columns and re.fullmatch(r"[\d,]+(\.\d+)?", cell):
                found[cells[0], column] = float(cell.replace(",", ""))
    return found


def worse(before: str, after: str, columns: Collection[str]) -> list[str]:
    """Return a line for each figure that is worse than before by more than a quarter.

    A figure that one of the sections lacks is not compared.

    Args:
        before: the section of the last record; empty: there is none.
        after: the section now.
        columns: the heads of the columns with figures of which less is better.
    """
    old, new = figures(before, columns), figures(after, columns)
    return [
        f"{row}: {new[row, column]:g} {column}, {old[row, column]:g} in the last record"
        for row, column in old
        if (row, column) in new and new[row, column] > WORSE * old[row, column]
    ]


def machine() -> str:
    """Return the description of the machine: cores, processor, Python."""
    information = Path("/proc/cpuinfo")
    found = re.search(
        r"^model name\s*:\s*(.+)$",
        information.read_text() if information.is_file() else "",
        re.MULTILINE,
    )
    processor = f"{found.group(1)}, " if found else ""
    python = f"Python {platform.python_version()}"
    return f"{os.cpu_count()} cores, {processor}{platform.machine()}, {python}"


def medians(runs: int) -> str:
    """Return the sentence on medians for RESULTS.md."""
    return f"medians of {runs} runs" if runs > 1 else "one run"


def table(head: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table; all columns but the first are aligned to the right."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
