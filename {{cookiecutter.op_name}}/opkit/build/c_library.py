"""Says which step takes a minute: zig's first link for an ABI, which compiles a C library.

zig keeps the library in its cache for all repositories. Beside it, a file for each library that
was linked says that it is there.
"""

from __future__ import annotations

import shlex
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from opkit.toolchains import zig
from opkit.toolchains.abi import ABIS

_LANGUAGES = {"cc": "C", "c++": "C++"}

Spawn = Callable[[str, object, str, Sequence[str], Mapping[str, str]], int]
"""Runs a command: SCons' SPAWN."""


def exists(env: Any) -> bool:
    """Whether the tool can be used: always."""
    return True


def generate(env: Any) -> None:
    """Let commands of the environment, and of its clones, be announced."""
    env["SPAWN"] = FirstLinks(env["SPAWN"]).spawn


class FirstLinks:
    """The libraries that one run of SCons has announced.

    Args:
        spawn: runs a command.
    """

    def __init__(self, spawn: Spawn) -> None:
        self._spawn = spawn
        self._announced: set[str] = set()
        self._lock = threading.Lock()

    def spawn(
        self,
        shell: str,
        escape: object,
        command: str,
        arguments: Sequence[str],
        environment: Mapping[str, str],
    ) -> int:
        """Run a command as SCons' SPAWN does; say what it waits for if it is such a link."""
        library = linked_library(arguments)
        caches = zig.cache_folder(environment)
        if library is None or caches is None:
            return self._spawn(shell, escape, command, arguments, environment)
        language, target = library
        program = shlex.split(arguments[0])[0]
        marker = caches / f"opkit-{zig.version(program)}-{language}-{target}"
        if not marker.exists():
            self._announce(language, target)
        status = self._spawn(shell, escape, command, arguments, environment)
        if status == 0 and not marker.exists():
            with suppress(OSError):
                marker.touch()
        return status

    def _announce(self, language: str, target: str) -> None:
        text = f"compiling the {_LANGUAGES[language]} library of {_abi(target)}, once"
        with self._lock:
            if text not in self._announced:
                self._announced.add(text)
                print(text, file=sys.stderr, flush=True)


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
