"""Compiler warnings for the operator's own sources, and the errors that stop a build.

The errors are undefined behavior on a device. gcc before 14 only warns: it compiles the call of an
undeclared function, and a function that ends without returning its value.
"""

from __future__ import annotations

WARNINGS = ("-Wall", "-Wextra", "-Wpedantic")

ERRORS = ("-Werror=return-type",)
"""For C and C++."""

C_ERRORS = (
    "-Werror=implicit-function-declaration",
    "-Werror=implicit-int",
    "-Werror=incompatible-pointer-types",
    "-Werror=int-conversion",
)
"""For C; all of these are errors in C++ anyway."""

_CLANG_C = ("-Wno-error=incompatible-pointer-types-discards-qualifiers",)


def c_errors(toolchain: str) -> tuple[str, ...]:
    """Return the flags for the errors that stop a build of C with a toolchain.

    clang counts a lost `const` among the incompatible pointers, gcc does not.
    """
    return (*C_ERRORS, *(_CLANG_C if toolchain == "zig" else ()))
