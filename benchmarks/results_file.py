"""RESULTS.md, with one section per benchmark, and the description of the machine."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path

NAME = "RESULTS.md"
_HEAD = "# Results of the benchmarks\n\nEach section names the command that makes it.\n"


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
