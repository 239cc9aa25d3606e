"""Errors of the user in SCons actions: the message alone, without a traceback."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from opkit.errors import OpkitError


def print_errors(action: Callable[..., None]) -> Callable[..., int]:
    """Turn a function that raises OpkitError into a SCons action that prints it and fails."""

    def run(target: Any, source: Any, env: Any) -> int:
        try:
            action(target, source, env)
        except OpkitError as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
        return 0

    return run
