"""Finds an OpenCL on this PC, to run GPU kernels behind the shim: a library, or PoCL's wheels."""

from __future__ import annotations

import importlib.util
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from opkit.common.errors import OpkitError
from opkit.opencl import clang

DEFAULT = "libOpenCL.so.1"
_PROBE = """
import ctypes, json, sys
library = ctypes.CDLL(sys.argv[1])
count, platforms = ctypes.c_uint(), (ctypes.c_void_p * 1)()
status = library.clGetPlatformIDs(1, platforms, ctypes.byref(count))
text = ctypes.create_string_buffer(1024)
def name(number):
    platform, size = ctypes.c_void_p(platforms[0]), ctypes.c_size_t(1024)
    library.clGetPlatformInfo(platform, number, size, text, None)
    return text.value.decode(errors="replace")
print(json.dumps([status, [name(0x902), name(0x901)] if status == 0 and count.value else None]))
"""
_TIMEOUT = 60  # seconds


@dataclass(frozen=True)
class RealOpenCl:
    """An OpenCL with at least one platform.

    Attributes:
        library: the path or the name by which the dynamic loader finds it.
        platform: the name and the version of its first platform.
        environment: variables that a process needs which loads it.
    """

    library: str
    platform: str
    environment: Mapping[str, str] = field(default_factory=dict)


def find_opencl(folder: Path, wanted: str = "") -> RealOpenCl:
    """Find an OpenCL.

    Args:
        folder: for a program `ld` and compiled kernels, which PoCL needs.
        wanted: the path of a library, or of a Python's site-packages; empty: that of the dynamic
            loader, or the wheels of the running Python.

    Raises:
        OpkitError: there is none; the message says where it was looked for, and how to get one.
    """
    looked = []
    for library, environment in _candidates(folder.resolve(), wanted):
        platform, problem = _probe(library, {**os.environ, **environment})
        if platform:
            return RealOpenCl(library, platform, environment)
        looked.append(f"{library}: {problem}")
    if not _packages(wanted):
        looked.append(f"{wanted or sys.prefix}: no Python package pyopencl there")
    raise OpkitError(
        f"no OpenCL on this PC ({'; '.join(looked)}). Install Debian's pocl-opencl-icd, or "
        "run `pip install pyopencl pocl-binary-distribution`"
    )


def _candidates(folder: Path, wanted: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield libraries, with the environments that they need."""
    if wanted and not Path(wanted).is_dir():
        yield wanted, _with_linker(folder)
        return
    if not wanted:
        yield DEFAULT, _with_linker(folder)
    for package in _packages(wanted):
        for library in sorted(package.glob(".libs/libOpenCL*.so*")):
            # Its loader reads this variable, and names PoCL without a path.
            paths = (str(library.parent), os.environ.get("LD_LIBRARY_PATH", ""))
            own = {
                "PYOPENCL_HOME": str(package),
                "LD_LIBRARY_PATH": os.pathsep.join(filter(None, paths)),
            }
            yield str(library), {**_with_linker(folder), **own}


def _packages(wanted: str) -> list[Path]:
    """Return the folder of pyopencl, which is not imported: it would load an OpenCL."""
    if wanted:
        return [Path(wanted, "pyopencl")] if Path(wanted, "pyopencl").is_dir() else []
    found = importlib.util.find_spec("pyopencl")
    return [Path(each) for each in found.submodule_search_locations or ()] if found else []


def _with_linker(folder: Path) -> dict[str, str]:
    """Return an environment with a program `ld`: PoCL starts it for every kernel."""
    programs = folder / "bin"
    programs.mkdir(parents=True, exist_ok=True)
    linker = programs / "ld"
    text = f'#!/bin/sh\nexec {shlex.quote(clang.zig())} ld.lld "$@"\n'
    if not linker.is_file() or linker.read_text(encoding="utf-8") != text:
        linker.write_text(text, encoding="utf-8")
        linker.chmod(0o755)
    paths = (os.environ.get("PATH", os.defpath), str(programs))
    # In one thread, as the harness wants it of an operator.
    own = {"POCL_CACHE_DIR": str(folder / "pocl"), "POCL_DEVICES": "basic"}
    return {"PATH": os.pathsep.join(paths), **own}


def _probe(library: str, environment: Mapping[str, str]) -> tuple[str, str]:
    """Return the platform of a library, or why there is none; it is loaded in a process."""
    try:
        run = subprocess.run(
            [sys.executable, "-I", "-c", _PROBE, library],
            env=environment,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return "", str(error)
    if run.returncode < 0:
        return "", f"it crashes (signal {-run.returncode})"
    if run.returncode > 0:
        return "", run.stderr.strip().rpartition("\n")[2].removeprefix("OSError: ")
    status, names = json.loads(run.stdout)
    return (" ".join(names), "") if names else ("", f"it has no platform (status {status})")
