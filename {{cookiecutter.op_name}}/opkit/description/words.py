"""The words that a name in a description cannot be, because a language has reserved them."""

from __future__ import annotations

import keyword
import re

_C_WORDS = frozenset(
    """
    auto break case char const continue default do double else enum extern float for goto if inline
    int long register restrict return short signed sizeof static struct switch typedef union
    unsigned void volatile while _Alignas _Alignof _Atomic _Bool _Complex _Generic _Imaginary
    _Noreturn _Static_assert _Thread_local asm
    bool true false NULL EOF INFINITY NAN errno stdin stdout stderr
    """.split()
)
_OPENCL_WORDS = frozenset(
    """
    half quad complex imaginary uchar ushort uint ulong size_t ptrdiff_t intptr_t uintptr_t
    kernel __kernel global __global local __local constant __constant private __private generic
    __generic read_only __read_only write_only __write_only read_write __read_write uniform pipe
    image1d_t image1d_buffer_t image1d_array_t image2d_t image2d_array_t image3d_t image2d_depth_t
    image2d_array_depth_t sampler_t event_t queue_t vec_step
    """.split()
)
_CXX_WORDS = frozenset(
    """
    alignas alignof and and_eq bitand bitor catch char16_t char32_t class compl const_cast constexpr
    decltype delete dynamic_cast explicit export friend mutable namespace new noexcept not not_eq
    nullptr operator or or_eq private protected public reinterpret_cast static_assert static_cast
    template this thread_local throw try typeid typename using virtual wchar_t xor xor_eq
    """.split()
)
_OPENCL_VECTOR = re.compile(
    r"(bool|u?char|u?short|u?int|u?long|half|float|double|quad)(2|3|4|8|16)"
)


def keyword_of(name: str) -> str | None:
    """Return the language of which the name is a reserved word, or None."""
    if name in _C_WORDS:
        return "C"
    if name in _OPENCL_WORDS or _OPENCL_VECTOR.fullmatch(name) or name.startswith("vx_array_"):
        return "OpenCL"
    if name in _CXX_WORDS:
        return "C++"
    if keyword.iskeyword(name):
        return "Python"
    return None
