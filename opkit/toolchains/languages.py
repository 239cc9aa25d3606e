"""The flags of compilers for the languages of operators."""

from __future__ import annotations

CXX_SUFFIXES = (".cc", ".cpp", ".cxx")

CHAR = ("-funsigned-char",)
"""For C and C++: a char is unsigned on every device, and signed on this PC by default."""

C_LANGUAGE = ("-std=c11", *CHAR)

CXX_LANGUAGE = ("-std=c++14", *CHAR, "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics")
"""C++ without a C++ library at run time: devices may have none, or an older one."""


def is_cxx(path: str) -> bool:
    """Return whether a source is C++."""
    return path.endswith(CXX_SUFFIXES)
