"""Says which step takes a minute: zig's first link for an ABI, which compiles a C library.

zig keeps the library in its cache for all repositories that have zig in the same place. Beside the
library, a file says that it has been linked.
"""

from __future__ import annotations

import shlex
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from opkit.toolchains import zig
from opkit.toolchains.abi import ABIS

_LANGUAGES = {"cc": "C", "c++": "C++"}


class FirstLinks:
    """The libraries that one run of SCons has announced."""

    def __init__(self) -> None:
        self._announced: set[str] = set()
        self._lock = threading.Lock()

    def announce(self, arguments: Sequence[str], environment: Mapping[str, str]) -> Path | None:
        """Say what a command waits for, if it is such a link.

        Args:
            arguments: the command, as words of a shell.
            environment: its environment.

        Returns:
            The file to make once the command has succeeded; None: it is no such link.
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
    """Return zig's language and target if the arguments are those of one of its links."""
    _, *rest = arguments
    if rest[:1] and rest[0] in _LANGUAGES and rest[1:2] == ["-target"] and "-c" not in rest:
        return rest[0], rest[2]
    return None


def _abi(target: str) -> str:
    """Return the ABI of a target; that with musl is for programs that need no library."""
    for abi in ABIS.values():
        if target.startswith(abi.triple):
            return abi.name
        if target == abi.triple.replace("gnu", "musl"):
            return f"{abi.name}, for static programs"
    return target
