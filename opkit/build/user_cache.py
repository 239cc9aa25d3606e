"""user_cache(env): a user's cache of objects independent of the operator."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from opkit.build import cache_limit
from opkit.build.options import Request, unsubstituted
from opkit.description.spec import OpSpec
from opkit.errors import OpkitError

NAME = "rknn-op-template"


def options(variables: Any, operator: OpSpec) -> None:
    """Add the option for the cache's folder."""
    text = "a folder of objects for all operators, or none; default: in the user's cache folder"
    variables.Add("cache", text, "")
    variables.Add(
        "cache_limit", "the size of that folder in megabytes; the oldest objects are deleted", 1000
    )


def check(env: Any, request: Request) -> None:
    """Refuse an invalid size.

    Raises:
        OpkitError: the size is not a number.
    """
    if not re.fullmatch(r"[1-9][0-9]{0,6}", str(env["cache_limit"])):
        raise OpkitError(
            f"cache_limit: invalid {str(env['cache_limit'])!r} (expected a number of megabytes)"
        )


def user_cache(env: Any, by_content: bool = False) -> Any:
    """Return a copy of the environment that uses the user's cache.

    Every repository has its zig in another folder, so the cache identifies zig by its version, one
    of the flags, not by its path. Objects of other compilers are shared if their program is one of
    the inputs.

    Args:
        env: the environment.
        by_content: whether its compiler is not zig, and an input by its content.
    """
    cached = env.Clone()
    if by_content:
        cached.Replace(IMPLICIT_COMMAND_DEPENDENCIES=True)
        # Otherwise all debug information would name the folder of the first repository.
        here = unsubstituted(str(Path.cwd()))
        cached.Append(CCFLAGS=["$(", f"-fdebug-prefix-map={here}=.", "$)"])
    elif env["TOOLCHAIN"] == "zig":
        program, *rest = env["CC"]
        cached.Replace(CC=["$(", program, "$)", *rest])
        cached.Append(CCFLAGS=["-fdebug-compilation-dir=."])  # as above
    else:
        return cached
    folder = shared_folder(env)
    if folder is not None:
        _use(cached, unsubstituted(str(folder)))
    return cached


def trim(env: Any) -> None:
    """Keep the cache below its limit, if it can be read and written."""
    folder = shared_folder(env)
    if folder is not None:
        with suppress(OSError):
            cache_limit.trim(folder, int(env["cache_limit"]) * 10**6)


def _use(env: Any, folder: str) -> None:
    # Only here: `rknn-op lint` asks for the folder, and does without SCons.
    from SCons.CacheDir import CacheDir

    from opkit.build.quiet_cache import QuietCache

    kind = CacheDir if env["verbose"] else QuietCache
    try:
        env.CacheDir(folder, kind)
    except FileExistsError:  # two builds found it empty, and the other one has written its settings
        env.CacheDir(folder, kind)


def shared_folder(env: Any) -> Path | None:
    """Return the folder of the user's cache, or None if there is no cache or nothing is built.

    Raises:
        OpkitError: the folder that `cache=` names cannot be written to.
    """
    if any(env.GetOption(option) for option in ("clean", "help", "no_exec")):
        return None
    return cache_folder(env["cache"], os.environ)


def cache_folder(option: str, environment: Mapping[str, str]) -> Path | None:
    """Return the folder of the user's cache, made if absent, or None if there is no cache.

    Args:
        option: the value of `cache=`: a folder, `none`, or empty for the user's own.
        environment: the variables, such as XDG_CACHE_HOME and HOME.

    Raises:
        OpkitError: the folder that the option names cannot be written to.
    """
    if option == "none":
        return None
    own = _user_cache_home(environment)
    if option:
        folder = Path(os.path.expanduser(option)).absolute()  # noqa: PTH111 - without a home: as it is
    elif own is not None:
        folder = own / NAME
    else:
        return None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK | os.X_OK):
            return folder
        problem = "is not writable"
    except OSError as error:
        problem = f"cannot be made: {error.strerror}"
    if option:
        raise OpkitError(f"cache={option}: {folder} {problem}; name another folder, or cache=none")
    return None


def _user_cache_home(environment: Mapping[str, str]) -> Path | None:
    """Return the folder of all caches of a user, as XDG defines it."""
    named = Path(environment.get("XDG_CACHE_HOME", ""))
    if named.is_absolute():
        return named
    home = environment.get("HOME")
    return Path(home) / ".cache" if home else None
