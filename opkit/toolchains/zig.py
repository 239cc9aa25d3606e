"""zig, the default: one package from PyPI whose clang compiles for every ABI."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shlex
import sys
from collections.abc import Mapping, MutableMapping
from functools import cache
from pathlib import Path

from opkit.toolchains.abi import Abi
from opkit.toolchains.compiler import Compiler, Missing, Options, described, first_program

_CACHE = "ZIG_GLOBAL_CACHE_DIR"


def find(abi: Abi, options: Options) -> Compiler | Missing:
    """Return the zig of the package `ziglang`, or else the one on PATH."""
    package = importlib.util.find_spec("ziglang")
    folders = package.submodule_search_locations if package else None
    places = [str(Path(folder, "zig")) for folder in folders or ()] + ["zig"]
    program = first_program(places)
    if program is None:
        looked = tuple(map(described, places))
        if not folders:
            looked = (f"the package 'ziglang' of {sys.executable}", *looked)
        return Missing("zig", looked, f"{shlex.quote(sys.executable)} -m pip install ziglang")
    # zig traps undefined behavior by default; a device library should not need its run-time.
    return Compiler(
        "zig",
        abi.name,
        (program, "cc", "-target", f"{abi.triple}.{abi.glibc_ceiling}"),
        (f"-mcpu={abi.zig_cpu}", "-fno-sanitize=undefined"),
    )


@cache
def version(program: str) -> str:
    """Return the version of a zig, for the package from a folder's name, without starting zig."""
    folder = Path(program).parent
    installed = (
        sorted(folder.parent.glob("ziglang-*.dist-info")) if folder.name == "ziglang" else []
    )
    if len(installed) == 1:
        return installed[0].name.removeprefix("ziglang-").removesuffix(".dist-info")
    import subprocess  # only here: a command that builds nothing needs it not

    run = subprocess.run([program, "version"], check=True, capture_output=True, text=True)
    return run.stdout.strip()


def place(program: str) -> str:
    """Return a hash of a zig's path, on which its cached libraries depend.

    The path is relative to the working directory if it is inside it (measured with 0.17.1).
    """
    path, here = Path(program).resolve(), Path.cwd().resolve()
    seen = path.relative_to(here) if path.is_relative_to(here) else path
    return hashlib.sha256(os.fsencode(seen)).hexdigest()[:8]


def cache_folder(environment: Mapping[str, str]) -> Path | None:
    """Return the global cache folder of zig, with its C libraries, or None if zig finds none."""
    if named := environment.get(_CACHE):
        return Path(named)
    if home := environment.get("XDG_CACHE_HOME"):
        return Path(home, "zig")
    home = environment.get("HOME")
    return Path(home, ".cache/zig") if home else None


def provide_cache(environment: MutableMapping[str, str], fallback: Path) -> None:
    """Set another cache folder if zig cannot write to its own; a user's choice stays."""
    folder = cache_folder(environment)
    if not environment.get(_CACHE) and (folder is None or not _is_writable(folder)):
        environment[_CACHE] = str(fallback)


def _is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK | os.X_OK)
