"""Output of compilers and linkers: not interleaved, and every diagnostic once.

A source is compiled for several ABIs in parallel. SCons alone would interleave the output of the
commands and repeat each warning for each ABI.
"""

from __future__ import annotations

import re
import shutil
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from opkit.build.c_library import FirstLinks
from opkit.build.command import run

# The lines above a diagnostic: the including file, or the function.
_CONTEXT = re.compile(r"In file included from |\s+from |In file included|\S+: (In|At) ")
_DIAGNOSTIC = re.compile(r"\S.*?:\d+:\d+: (fatal error|error|warning): ")
# The count of diagnostics, which includes repeated ones.
_COUNT = re.compile(r"\d+ (warning|error)s?( and \d+ errors?)? generated\.|cc1(plus)?: some warn")


class Output:
    """Prints the new diagnostics of the commands of one run of SCons.

    Args:
        kept_files: open files that stay open in the commands, such as the repository's lock.
    """

    def __init__(self, kept_files: Sequence[int] = ()) -> None:
        self._kept_files = kept_files
        self._first_links = FirstLinks()
        self._printed: set[str] = set()
        self._lock = threading.Lock()

    def spawn(
        self,
        shell: str,
        escape: object,
        command: str,
        arguments: Sequence[str],
        environment: Mapping[str, str],
    ) -> int:
        """Run a command in place of SCons' SPAWN, print its output, and return its status."""
        marker = self._first_links.announce(arguments, environment)
        line = [shell, "-c", " ".join(arguments)]
        finished = run(line, environment=environment, kept_files=self._kept_files)
        with self._lock:
            sys.stderr.write(self.unprinted(finished.stdout))
            if finished.returncode:
                sys.stderr.write(self.unprinted(_full_disk()))
            sys.stderr.flush()
        if marker is not None and finished.returncode == 0:
            with suppress(OSError):
                marker.touch()
        return finished.returncode

    def unprinted(self, text: str) -> str:
        """Return the diagnostics of a command not printed before; record them as printed."""
        new = []
        for context, diagnostic in _diagnostics(text):
            if diagnostic not in self._printed:
                self._printed.add(diagnostic)
                new.append(context + diagnostic)
        return "".join(new)


def _full_disk() -> str:
    """Return a message if the disk is full: zig then fails without a reason."""
    if shutil.disk_usage(Path.cwd()).free >= 1 << 20:
        return ""
    return f"error: {Path.cwd()}: less than 1 MB is left on the disk\n"


def _diagnostics(text: str) -> Iterator[tuple[str, str]]:
    """Yield (context lines above, diagnostic with the notes below) for each diagnostic."""
    context, diagnostic = "", ""
    for line in text.splitlines(keepends=True):
        if _COUNT.match(line):
            continue
        above = bool(_CONTEXT.match(line))
        if (above or _DIAGNOSTIC.match(line)) and diagnostic:
            yield context, diagnostic
            context, diagnostic = "", ""
        if above:
            context += line
        else:
            diagnostic += line
    if context or diagnostic:
        yield context, diagnostic
