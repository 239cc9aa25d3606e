"""The flags of compilers: languages, optimization, warnings and the errors that stop a build."""

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


EXACT = ("-ffp-contract=off",)
"""No fused multiplication and addition, which rounds once instead of twice: an operator's own
arithmetic has the same bits on every ABI, so that a check on this PC holds for the board. With
`-std=c11` it is the default of GCC, but not of clang. clang fuses the functions of
opkit/compute/math.h all the same: they are within their error either way."""

# Four vectors side by side in each vectorized loop: a processor that executes instructions in order
# waits less for the result of the previous one.
_INTERLEAVE = ("-mllvm", "-force-vector-interleave=4")

_CLANG = {
    **dict.fromkeys(("x64", "aarch64", "arm64-v8a"), ("-O2", *_INTERLEAVE)),
    # 16 vector registers are too few for four vectors side by side.
    **dict.fromkeys(("armhf", "armeabi-v7a"), ("-O2",)),
    "riscv64": ("-O2",),  # RISC-V has vectors of any length, of several registers each
}
_CLANG_TOOLCHAINS = ("zig", "ndk")

# At -O2, GCC before 12 vectorizes only when told. It vectorizes comparisons of floats only if they
# may set flags of the processor that the source does not set; no operator reads these flags.
_GNU = ("-O2", "-ftree-vectorize", "-fno-trapping-math")


def optimization(abi: str, toolchain: str) -> tuple[str, ...]:
    """Return the flags for fast code, to which EXACT belongs.

    Args:
        abi: the name of the ABI.
        toolchain: of the compiler, as in Compiler.
    """
    return _CLANG[abi] if toolchain in _CLANG_TOOLCHAINS else _GNU


WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wvla", f"-Wframe-larger-than={128 << 10}")
"""Arrays of any length, and those of a quarter of a check's stack, are for malloc."""

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
    return (*C_ERRORS, *(_CLANG_C if toolchain in _CLANG_TOOLCHAINS else ()))
