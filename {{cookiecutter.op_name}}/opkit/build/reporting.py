"""A user's mistake ends the build with its message alone, and with no package."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from opkit.errors import OpkitError


def discard(packages: Iterable[str | Path]) -> None:
    """Delete packages that no longer are what the sources say."""
    for package in packages:
        Path(package).unlink(missing_ok=True)


@contextmanager
def stop_at_user_errors(
    leave: Callable[[int], Any], packages: Iterable[Path] = ()
) -> Iterator[None]:
    """While SConstruct is read: print the message of an OpkitError and leave with status 2.

    Args:
        leave: ends the build with a status.
        packages: what is deleted then, as it no longer is what the sources say.
    """
    try:
        yield
    except OpkitError as error:
        print(f"error: {error}", file=sys.stderr)
        discard(packages)
        leave(2)


def reported(action: Callable[..., None]) -> Callable[..., int]:
    """Turn a function that raises OpkitError into a SCons action that prints it and fails."""

    def run(target: Any, source: Any, env: Any) -> int:
        try:
            action(target, source, env)
        except OpkitError as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
        return 0

    return run
