"""Announces zig's first link for an ABI, which compiles a C library and takes a minute.

zig caches the library for all repositories with zig at the same path. A marker file beside the
library records the finished link.
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
