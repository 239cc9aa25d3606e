"""The compiler's messages in the words of the `.vx` language."""

from __future__ import annotations

import re

from opkit.opencl.signatures import USER

_MESSAGE = re.compile(r"^(?P<file>.+?):\d+:(?:\d+:)? (?P<level>error|warning|note|fatal error): ")

PORTABLE = (
    "the portable spelling makes the scalar a vector of the same type, "
    "for instance `v < (vxc_short8)(0)`, or casts it to the element's type, `v + (int)n`"
)

_TYPES = "all arguments must be of one type, and no built-in function takes double"

_GEOMETRY = r"(?:dot|cross|(?:fast_)?(?:length|distance|normalize))\b"

# Pattern in a message of clang -> its replacement. Texts: most runs compile none of them.
_WORDING: tuple[tuple[str, str], ...] = (
    (r"call to '__opkit_refused_\w+' declared with 'error' attribute: ", ""),
    (r"static assertion failed(?: due to requirement '.*?')?: ", ""),
    (
        (
            r"(scalar operand type has greater rank than the type of the vector element)\. "
            r"(\(.*\))"
        ),
        rf"\1 \2; {PORTABLE}",
    ),
    (
        r"(cannot convert between .* as implicit conversion would cause truncation)",
        rf"\1; {PORTABLE}",
    ),
    (
        (
            rf"(no matching function for call to '(?!read_image|write_image|{_GEOMETRY})\w+'|"
            r"call to '\w+' is ambiguous|"
            r"passing '.*double\d+' .*to parameter of incompatible type '.*')"
        ),
        rf"\1; {_TYPES}",
    ),
    (
        rf"(no matching function for call to '(?:{_GEOMETRY})')",
        r"\1; it takes float or half, and vectors of them of up to four elements, and no built-in "
        "function takes double",
    ),
    (
        r"(no matching function for call to '(?:read|write)_image\w+')",
        r"\1; a coordinate is an int, int2 or int4, and samplers are not emulated",
    ),
    (
        r"(too few elements in vector initialization \(.*\))",
        r"\1; what the board's compiler makes of the others is not known: write them, or `(v)(x)`",
    ),
    (r"use of undeclared identifier '__OPKIT_ASM_(\w+)'", r"_viv_asm has no operation '\1'"),
    (
        r"use of undeclared identifier '__OPKIT_OP_(\w+)'",
        r"'\1' is not emulated: of VXC_OP1 to VXC_OP5, img_load, img_store, img_load_3d, "
        r"img_store_3d, vload2 to vload16 and vstore2 to vstore16 are",
    ),
    (
        r"use of undeclared identifier '(_?VXC_\w+|_viv_\w+)'",
        r"'\1' is not emulated, or not part of the language",
    ),
    (r"__opkit_repacked(?=\()", ""),
    (r"'__(?:private|generic|global) ", "'"),
    (USER, ""),
    (
        (
            r"^(.*incompatible type.*\(vector of [234] '__opkit_packed_.*|"
            r".*\(vector of [234] '__opkit_packed_.*incompatible type.*)"
        ),
        r"\1; a plain vector of up to four is not packed: 32 bits for each",
    ),
    (r"__opkit_packed_(\w+)' values", r"\1' values, packed"),
    (r"'(?:__opkit_plain_half|_Float16)'", "'half'"),
)


def readable(output: str, prelude: str, cache: str) -> str:
    """Return the compiler's output without its notes on the emulator's own files.

    Args:
        output: clang's stderr.
        prelude: the folder of the prelude, as clang prints it.
        cache: the folder of the emulator's generated files.
    """
    lines: list[str] = []
    keep = True
    for line in output.splitlines():
        message = _MESSAGE.match(line)
        if message:
            own = message["file"].startswith((prelude, cache, "<"))
            keep = not (own and message["level"] == "note")
            for pattern, wording in _WORDING:
                line = re.sub(pattern, wording, line)
        elif re.match(r"^(\d+ (warning|error)s?\b.*generated\.|In file included from )", line):
            keep = False
        if keep:
            lines.append(line)
    return "\n".join(lines)
