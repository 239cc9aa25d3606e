"""What compilers say of the operator's own sources, and which of it stops a build.

What is an error here is undefined when a device runs it. gcc before 14 only warns, and compiles a
call of a function that nobody declared, or one that ends without returning its value.
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
    """Return what stops a build of C with a toolchain.

    clang counts a lost `const` among the incompatible pointers, gcc does not.
    """
    return (*C_ERRORS, *(_CLANG_C if toolchain == "zig" else ()))
