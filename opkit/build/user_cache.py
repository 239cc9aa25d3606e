"""user_cache(env): a user's cache of objects independent of the operator, kept below a size.

An entry is an object of SCons, whose time stamp SCons renews at each use, or an unpacked opkit,
whose time stamp `rknn-op` renews. The entries that were not used for the longest time are deleted.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from opkit.build.options import Request, unsubstituted
from opkit.common import file_io
from opkit.common.errors import OpkitError
from opkit.description.spec import OpSpec

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
            trim_folder(folder, int(env["cache_limit"]) * 10**6)


def _use(env: Any, folder: str) -> None:
    # Only here: `rknn-op lint` asks for the folder, and does without SCons.
    from SCons.CacheDir import CacheDir, CacheRetrieveSilent

    class QuietCache(CacheDir):  # type: ignore[misc] # SCons has no types
        """The cache of SCons, without a message for each file from it."""

        def retrieve(self, node: Any) -> bool:
            node_env = node.get_build_env()
            return bool(
                self.is_enabled() and CacheRetrieveSilent(node, [], node_env, execute=1) == 0
            )

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


INTERVAL = 3600
"""Seconds between two looks at the size of a cache."""
KEPT = 24 * 3600
"""Seconds for which a used entry is kept in any case: a build may be using it."""
_TARGET = 0.8
"""The part of the limit that is left after a deletion, so that the next one is not due at once."""
_FOLDERS = re.compile(r"[0-9A-F]{2}|opkit")
_MARK = ".trimmed"


class _Entry(NamedTuple):
    """A file or folder of the cache: its path, bytes, and the time of its last use."""

    path: str
    size: int
    used: float


def trim_folder(cache: Path, limit: int, interval: float = INTERVAL) -> int:
    """Delete the oldest entries of a cache that is larger than the limit.

    One process at a time does it, and none if a process did it less than an interval ago. Other
    processes may read and write the cache meanwhile: a build makes a deleted object again.

    Args:
        cache: the folder, which several machines may share.
        limit: in bytes.
        interval: in seconds.

    Returns:
        The count of deleted bytes.

    Raises:
        OSError: the cache cannot be read or written.
    """
    mark = cache / _MARK
    if mark.exists() and time.time() - mark.stat().st_mtime < interval:
        return 0
    with file_io.opened_folder(cache) as descriptor:
        with suppress(OSError):  # a file system without locks
            if not file_io.try_lock(descriptor):
                return 0
        mark.touch()
        return _delete_oldest([*_entries(cache)], limit)


def _delete_oldest(entries: list[_Entry], limit: int) -> int:
    import shutil  # only here: each build imports this module, and few delete something

    total = sum(entry.size for entry in entries)
    if total <= limit:
        return 0
    deleted = 0
    newest = time.time() - KEPT
    for entry in sorted(entries, key=lambda each: each.used):
        if total - deleted <= limit * _TARGET or entry.used > newest:
            break
        if Path(entry.path).is_dir():
            shutil.rmtree(entry.path, ignore_errors=True)
        else:
            Path(entry.path).unlink(missing_ok=True)
        deleted += entry.size
    return deleted


def _entries(cache: Path) -> Iterator[_Entry]:
    """Yield the entries of a cache, without unfinished ones."""
    for folder in cache.iterdir():
        if not _FOLDERS.fullmatch(folder.name) or not folder.is_dir():
            continue
        with os.scandir(folder) as found:
            for each in found:
                if each.name[0] == "." or each.name.startswith("tmp"):
                    continue
                with suppress(FileNotFoundError):  # another machine may delete it meanwhile
                    stat = each.stat(follow_symlinks=False)
                    is_folder = each.is_dir(follow_symlinks=False)
                    size = folder_size(each.path) if is_folder else stat.st_size
                    yield _Entry(each.path, size, stat.st_mtime)


def folder_size(folder: str) -> int:
    """Return the size of the files in a folder, in bytes."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):  # builds replace files meanwhile
                total += os.lstat(f"{place}/{name}").st_size
    return total
