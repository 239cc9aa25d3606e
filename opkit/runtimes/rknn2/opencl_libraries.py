"""The two libraries that stand for libOpenCL on this PC: their sources and their flags."""

from __future__ import annotations

from dataclasses import dataclass

_SHARED = "runtimes/rknn2/host_opencl"


@dataclass(frozen=True)
class Library:
    """A library with OpenCL's API, and opkit_opencl_begin and opkit_opencl_end.

    Attributes:
        folder: the name of its folder, in which it is libOpenCL.so.
        sources: the folders of its C sources, in that of opkit.
    """

    folder: str
    sources: tuple[str, ...]


EMULATOR = Library("emulator", ("opencl/runtime", _SHARED, f"{_SHARED}/emulator"))
SHIM = Library("shim", (_SHARED, f"{_SHARED}/shim"))
COMPILE = ("-std=c11", "-D_GNU_SOURCE", "-O2", "-g", "-fPIC", "-fno-sanitize=undefined")
LINK = ("-Wl,-Bsymbolic", "-Wl,-z,defs", "-Wl,-soname,libOpenCL.so", "-lm", "-ldl")
