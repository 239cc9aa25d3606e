"""User errors in SCons actions: the message without a traceback."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from opkit.errors import OpkitError
from opkit.terminal import print_message


def print_errors(action: Callable[..., None]) -> Callable[..., int]:
    """Return a SCons action that calls a function, and prints an OpkitError and fails."""

    def run(target: Any, source: Any, env: Any) -> int:
        try:
            action(target, source, env)
        except OpkitError as error:
            print_message("error", error)
            return 1
        return 0

    return run
