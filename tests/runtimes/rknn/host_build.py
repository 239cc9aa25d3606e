"""Compile the harness, both runtimes and libraries of operators with zig."""

from __future__ import annotations

import ctypes
import functools
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from opkit.build.harness import COMPILE as HARNESS_COMPILE
from opkit.runtimes.rknn.scons.host_runtime import VX_COMPILE, VX_LINK
from tests.compiling import C_SOURCES, GUARDED_MEMORY, OPKIT, RKNN, build
from tests.repositories import folder_of_run

_OPTIMIZED = ("-O2", "-g")


@functools.cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="opkit-host-", dir=folder_of_run()))


@functools.cache
def host_runtime() -> Path:
    """Compile the host runtime, once per process."""
    sources = (*sorted((RKNN / "host_runtime").glob("*.c")), *GUARDED_MEMORY)
    flags = ("-shared", *_OPTIMIZED, "-Wl,-soname,libOpenVX.so", "-lpthread", "-ldl")
    return build(_folder() / "libOpenVX.so", *flags, *sources)


@functools.cache
def harness() -> Path:
    """Compile the program that runs kernels, with the flags of a repository; once per run."""
    sources = sorted((OPKIT / "check/harness").glob("*.c"))
    return build(host_runtime().with_name("harness"), *HARNESS_COMPILE, *sources, "-ldl")


@functools.cache
def vx_runtime() -> Path:
    """Compile the emulator's part of the harness, beside it, with the flags of a repository."""
    sources = [*(OPKIT / "opencl/runtime").glob("*.c"), *(RKNN / "vx/runtime").glob("*.c")]
    return build(harness().with_name("vx_runtime.so"), "-shared", *VX_COMPILE, *sources, *VX_LINK)


class Runtime:
    """The host runtime, loaded into this process to call its functions one by one."""

    def __init__(self) -> None:
        self.library: Any = ctypes.CDLL(str(host_runtime()))
        self.library.vxCreateContext.restype = ctypes.c_void_p
        self.library.hostrt_log_entry.restype = ctypes.c_char_p

    def do(self, name: str, *arguments: Any) -> None:
        """Call a function that returns a status."""
        assert self.library[name](*arguments) == 0

    def log(self, kind: int) -> list[str]:
        """Return the entries of a log."""
        status = ctypes.c_int32()
        texts: list[str] = []
        while text := self.library.hostrt_log_entry(
            kind, ctypes.c_size_t(len(texts)), ctypes.byref(status)
        ):
            texts.append(text.decode(errors="replace").rstrip())
        return texts

    @contextmanager
    def context(self) -> Iterator[int]:
        """Yield a context with empty logs; its release releases its objects."""
        self.library.hostrt_log_clear()
        handle = ctypes.c_void_p(self.library.vxCreateContext())
        assert handle.value is not None
        try:
            yield handle.value
        finally:
            self.do("vxReleaseContext", ctypes.byref(handle))


@functools.cache
def loaded_runtime() -> Runtime:
    """Return the host runtime, loaded once."""
    return Runtime()


def operator_library(output: Path, source: str) -> None:
    """Compile an operator's library from a file in tests/c."""
    libraries = (f"-L{host_runtime().parent}", "-lOpenVX", "-lm", "-lpthread", "-DWITH_THREADS")
    build(output, "-shared", *_OPTIMIZED, C_SOURCES / source, *libraries)


def compile_program(output: Path, *sources: Path, include: Sequence[Path] = ()) -> None:
    """Compile a program that calls the host runtime and uses its malloc, as operators do."""
    folder = host_runtime().parent
    headers = [f"-I{path}" for path in (RKNN / "host_runtime", *include)]
    # A program that reads the runtime's internals is compiled with the runtime's sources.
    linked = [f"-L{folder}", "-lOpenVX", f"-Wl,-rpath,{folder}"]
    is_runtime = any(path.parent.name == "host_runtime" for path in sources)
    libraries = ["-ldl", "-lpthread"] if is_runtime else linked
    build(output, "-O1", "-g", *headers, *sources, *libraries)


def repository(root: Path, source: str, description: str, reference: str) -> Path:
    """Make the part of a repository for tests of its kernels, built for x64."""
    name = description.split("name: ", 1)[1].split()[0].lower()
    root.mkdir(parents=True, exist_ok=True)
    (root / "op.yml").write_text(description)
    (root / f"{name}_reference.py").write_text(reference)
    for folder in ("x64", "host"):
        operator_library(root / "build" / folder / f"lib{name}.so", source)
    for program in (host_runtime(), harness()):
        (root / "build/host" / program.name).symlink_to(program)
    return root
