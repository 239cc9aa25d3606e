"""The libraries that stand for libOpenCL, compiled once for a run of the tests."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

from opkit.runtimes.rknn2.opencl_libraries import COMPILE, EMULATOR, LINK, SHIM, Library
from tests.compiling import OPKIT, build
from tests.repositories import folder_of_run


@functools.cache
def emulator() -> Path:
    """Compile the emulator."""
    return _built(EMULATOR)


@functools.cache
def shim() -> Path:
    """Compile the shim."""
    return _built(SHIM)


def _built(library: Library) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="opkit-opencl-", dir=folder_of_run()))
    sources = [source for each in library.sources for source in (OPKIT / each).glob("*.c")]
    return build(folder / "libOpenCL.so", "-shared", *COMPILE, *sources, *LINK)
