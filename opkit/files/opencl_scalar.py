"""The function of one element of an elementwise operator, in OpenCL C."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from opkit.common.complaint import Complaint, SourceError
from opkit.description.spec import OpSpec
from opkit.files.source_check import without_comments

_SAME = """
    exp exp2 expm1 log log2 log10 log1p sqrt cbrt sin cos tan asin acos atan sinh cosh tanh asinh
    acosh atanh erf erfc pow fabs floor ceil trunc round rint fma fmax fmin fmod copysign hypot
    ldexp remainder fdim atan2
""".split()
"""C's functions of double that OpenCL C has for float; C's of float have an `f` at the end."""

_OPKIT = """
    exp expm1 log log1p sin cos tan asin acos atan sinh cosh tanh erf pow sqrt rsqrt
""".split()
"""The functions of opkit/compute/math.h that OpenCL C has, without `opkit_`."""

_WORDS = {
    **{f"{name}f": name for name in _SAME},
    **{f"opkit_{name}": name for name in _OPKIT},
    **{f"opkit_{name}_fast": name for name in ("sin", "cos", "tan", "tanh")},
    "nearbyintf": "rint",
    "opkit_float_bits": "as_uint",
    "opkit_float_from_bits": "as_float",
    "int8_t": "char",
    "uint8_t": "uchar",
    "int16_t": "short",
    "uint16_t": "ushort",
    "int32_t": "int",
    "uint32_t": "uint",
}
"""Word of C -> word of OpenCL C."""

MEMBER_TYPES = {
    "bool": "bool",
    "char": "uchar",
    "int8": "char",
    "uint8": "uchar",
    "int16": "short",
    "uint16": "ushort",
    "int32": "int",
    "uint32": "uint",
    "float32": "float",
}
"""Element type of a param -> the type of the kernel's member."""

_MACROS = {
    "opkit_at_least": "((x) < (limit) ? (limit) : (x))",
    "opkit_at_most": "((x) > (limit) ? (limit) : (x))",
    "opkit_sigmoid": "(1.0f / (1.0f + exp(-(x))))",
}
"""Function of x, or of x and a limit -> its text in OpenCL C."""

_OTHER_WAYS = {
    "acos": "atan2(sqrt(1.0f - (x) * (x)), x)",
    "asin": "atan2(x, sqrt(1.0f - (x) * (x)))",
    "atan": "atan2(x, 1.0f)",
    "ceil": "(-floor(-(x)))",
    "cosh": "(0.5f * (exp(x) + exp(-(x))))",
    "exp": "exp2((x) * 1.44269504f)",
    "log": "(log2(x) * 0.693147181f)",
    "sinh": "(0.5f * (expm1(x) - expm1(-(x))))",
    "tan": "(sin(x) / cos(x))",
}
"""Function that a kernel of its name hides -> another way to compute it."""

_KNOWN = {*_SAME, *_WORDS.values(), "isnan", "isinf", "isfinite", "signbit", "abs", "min", "max"}
_KEYWORDS = {"if", "for", "while", "switch", "return", "sizeof", "defined"}

_HINTS = {
    "memcpy": "opkit_float_bits and opkit_float_from_bits give the bits of a float, and back",
    "double": "write float",
}
_REFUSED = ("double", "long", "int64_t", "uint64_t", "size_t", "goto")
"""Words of C that VX kernels have not, or with another meaning."""

_HEADERS = (
    r'<(math|stdint|stdbool|stddef|string|float|limits)\.h>|"([\w./]*/)?opkit/compute/\w+\.h"'
)
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*(?P<header>\S+)[^\n]*\n", re.MULTILINE)
_DEFINITION = re.compile(
    r"^[ \t]*(?:[A-Za-z_][\w \t*]*?[ \t*])(\w+)\s*\([^;{}()]*\)\s*\{", re.MULTILINE
)
_GUARD = re.compile(r"^[ \t]*#[ \t]*ifndef[ \t]+(\w+)\s+#[ \t]*define[ \t]+\1\b", re.MULTILINE)
_FOR_CPU = re.compile(
    r"^[ \t]*#[ \t]*if[ \t]+defined\((?:OPKIT_FP16|OPKIT_ELEMENTWISE_H)\).*?"
    r"^[ \t]*#[ \t]*endif[^\n]*\n",
    re.MULTILINE | re.DOTALL,
)
"""Functions for the CPU: those of halves, and of rows."""
_DOUBLE = re.compile(r"(?<![\w.])(\d+\.\d*|\.\d+)([eE][+-]?\d+)?(?![\w.])")


class Kernel(NamedTuple):
    """A kernel of an elementwise operator in OpenCL C.

    Attributes:
        what: its kind, for messages: "VX kernel".
        file: its path.
        name: the name of its function.
    """

    what: str
    file: str
    name: str


def scalar_in_opencl(spec: OpSpec, text: str, kernel: Kernel) -> str:
    """Return the functions of `<op>_scalar.h` as OpenCL C.

    Args:
        spec: the operator.
        text: the text of the file.
        kernel: the kernel that calls them.

    Raises:
        SourceError: OpenCL C has no such word, or the kernel has its name.
    """
    text = _FOR_CPU.sub(lambda found: "\n" * found[0].count("\n"), text)
    for line, problem in _problems(spec, text, kernel):
        problem = f"{kernel.file}: {problem}"
        hint = f"write `kernels: [cpu]` in op.yml for an operator without a {kernel.what}"
        raise SourceError(Complaint(spec.math_file, problem, line, hint=hint))
    code = without_comments(text)
    own = set(_DEFINITION.findall(code))
    used = set(re.findall(r"[A-Za-z_]\w*", code))
    macros = {name: _MACROS[name] for name in used & {*_MACROS}}
    words = {word: name for word, name in _WORDS.items() if word in used - own}
    for word in [word for word, name in words.items() if name == kernel.name]:
        macros[word] = _OTHER_WAYS[words.pop(word)]
    words |= {name: function_name(name, kernel) for name in own}
    body = re.sub(r"[A-Za-z_]\w*", lambda word: words.get(word[0], word[0]), _body(text))
    body = re.sub(r"\bstatic\s+inline\s+|\binline\s+", "", body)
    body = re.sub(r"^static\s+const\s+", "__constant ", body, flags=re.MULTILINE)
    lines = [
        f"#define {name}({'x, limit' if '(limit)' in text else 'x'}) {text}"
        for name, text in sorted(macros.items())
    ]
    return "\n".join([*lines, *([""] if lines else []), body])


def function_name(name: str, kernel: Kernel) -> str:
    """Return a function's name beside the kernel.

    It does not begin with the kernel's name, by whose beginning some drivers find kernels.
    """
    if not name.startswith(kernel.name):
        return name
    prefix = "of_" if not "of_".startswith(kernel.name) else "element_"
    return f"{prefix}{name}"


def _body(text: str) -> str:
    """Return the text without its guard, its includes and the comment above them."""
    if guard := _GUARD.search(text):
        text = text[guard.end() :]
        text = text[: text.rindex("#endif")]
    text = _INCLUDE.sub("", text)
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def _problems(spec: OpSpec, text: str, kernel: Kernel) -> Iterator[tuple[int, str]]:
    """Yield line and problem of each word that the kernel cannot have."""
    code = without_comments(text)

    def line(place: int) -> int:
        return code.count("\n", 0, place) + 1

    for include in _INCLUDE.finditer(text):
        header = include["header"]
        if not re.fullmatch(rf'{_HEADERS}|"generated/{spec.lower}\.h"', header):
            problem = f"a {kernel.what} cannot include {header}; put its functions into this file"
            yield text.count("\n", 0, include.start()) + 1, problem
    own = set(_DEFINITION.findall(code))
    if f"{spec.lower}_of" not in own:
        yield 1, f"there is no function {spec.lower}_of"
    for literal in _DOUBLE.finditer(code):
        yield line(literal.start()), f"{literal[0]} is a double; write {literal[0]}f"
    macros = re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)\(", code, re.MULTILINE)
    known = {*own, *macros, *_KNOWN, *_KEYWORDS, *_WORDS, *_MACROS}
    for word in re.finditer(r"(?<![\w.])(?P<word>[A-Za-z_]\w*)(?P<call>\s*\()?", code):
        name = word["word"]
        if name in _REFUSED or (word["call"] and name not in known):
            hint = f": {_HINTS[name]}" if name in _HINTS else ""
            yield line(word.start()), f"`{name}` does not exist in OpenCL C{hint}"
        elif word["call"] and name not in own and (verb := _hidden(name, kernel.name)):
            problem = (
                f"`{name}` {verb} {kernel.name} in OpenCL C, a name that the kernel itself has"
            )
            yield line(word.start()), problem


def _hidden(name: str, kernel: str) -> str:
    """Return how a function of C needs the function that a kernel of its name hides, or nothing."""
    if _WORDS.get(name, name) == kernel and (name == kernel or kernel not in _OTHER_WAYS):
        return "is"
    return "calls" if re.search(rf"\b{kernel}\(", _MACROS.get(name, "")) else ""
