"""The commands of a build and their output: not interleaved, and every diagnostic once.

A source is compiled for several ABIs in parallel. SCons alone would interleave the output of the
commands and repeat each warning for each ABI. zig's first link for an ABI compiles a C library,
which takes a minute and is announced. zig caches the library for all repositories with zig at the
same path; a marker file beside the library records the finished link.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from opkit.toolchains import zig
from opkit.toolchains.abi import ABIS


def run(
    command: Sequence[str],
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    kept_files: Sequence[int] = (),
) -> subprocess.CompletedProcess[str]:
    """Run a command without input; `stdout` has its output and its errors, in order.

    Args:
        command: the program and its arguments.
        folder: the working directory; None: the current one.
        environment: its environment; None: this process's.
        kept_files: open files of this process, which stay open in the command.

    Raises:
        OSError: the command cannot be started.
    """
    return subprocess.run(
        command,
        cwd=folder,
        env=environment,
        pass_fds=kept_files,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )


_LANGUAGES = {"cc": "C", "c++": "C++"}


class FirstLinks:
    """The C libraries that one run of SCons has announced."""

    def __init__(self) -> None:
        self._announced: set[str] = set()
        self._lock = threading.Lock()

    def announce(self, arguments: Sequence[str], environment: Mapping[str, str]) -> Path | None:
        """Print the reason for the delay if a command is a first link.

        Args:
            arguments: the command, as words of a shell.
            environment: its environment.

        Returns:
            The marker file to make after the command succeeds, or None if it is not a first link.
        """
        library = linked_library(arguments)
        caches = zig.cache_folder(environment)
        if library is None or caches is None:
            return None
        language, target = library
        program = shlex.split(arguments[0])[0]
        compiler = f"{zig.version(program)}-{zig.place(program)}"
        marker = caches / f"opkit-{compiler}-{language}-{target}"
        if marker.exists():
            return None
        text = f"compiling the {_LANGUAGES[language]} library of {_abi(target)}, once"
        with self._lock:
            if text not in self._announced:
                self._announced.add(text)
                print(text, file=sys.stderr, flush=True)
        return marker


def linked_library(arguments: Sequence[str]) -> tuple[str, str] | None:
    """Return the language and the target of a link by zig, or None if it is another command."""
    _, *rest = arguments
    if rest[:1] and rest[0] in _LANGUAGES and rest[1:2] == ["-target"] and "-c" not in rest:
        return rest[0], rest[2]
    return None


def _abi(target: str) -> str:
    """Return the name of a target's ABI for messages; musl is for static programs."""
    for abi in ABIS.values():
        if target.startswith(abi.triple):
            return abi.name
        if target == abi.triple.replace("gnu", "musl"):
            return f"{abi.name}, for static programs"
    return target


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
            if finished.returncode and shutil.disk_usage(Path.cwd()).free < 1 << 20:
                # zig then fails without a reason.
                error = f"error: {Path.cwd()}: less than 1 MB is left on the disk\n"
                sys.stderr.write(self.unprinted(error))
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
