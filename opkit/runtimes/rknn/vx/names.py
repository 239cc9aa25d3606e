"""Macros that C's preprocessor cannot generate: one for each name."""

from __future__ import annotations

from itertools import product

_INTEGERS = ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong")
_FLOATS = ("half", "float", "double")
_LANES = ("", "2", "3", "4", "8", "16")
_ROUNDINGS = {
    "": "__OPKIT_DEFAULT_ROUNDING",
    "_rte": "__OPKIT_NEAREST_EVEN",
    "_rtz": "__OPKIT_TOWARD_ZERO",
    "_rtp": "__OPKIT_TOWARD_INFINITY",
    "_rtn": "__OPKIT_TOWARD_MINUS_INFINITY",
}


def macros() -> str:
    """Return the header: convert_..., as_..., and int4(...) beside (int4)(...)."""
    lines = ["/* Written by opkit/runtimes/rknn/vx/names.py. */"]
    for element, lanes in product((*_INTEGERS, *_FLOATS), _LANES):
        type_ = element + lanes
        if lanes:
            lines.append(f"#define {type_}(...) ({type_})(__VA_ARGS__)")
        lines.append(f"#define as_{type_}(value) __OPKIT_AS({type_}, value)")
        for saturation, (suffix, rounding) in product(("", "_sat"), _ROUNDINGS.items()):
            if saturation and element in _FLOATS:
                continue
            name = f"convert_{type_}{saturation}{suffix}"
            saturates = int(bool(saturation))
            lines.append(
                f"#define {name}(value) __OPKIT_CONVERT({type_}, value, {saturates}, {rounding})"
            )
    return "\n".join(lines) + "\n"
