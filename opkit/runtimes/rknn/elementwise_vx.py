"""The VX kernel of an elementwise operator, generated from the user's function of one element."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opkit.common.code_layout import wrapped
from opkit.common.complaint import Complaint, SourceError
from opkit.common.text import render
from opkit.description.spec import OpSpec, Param
from opkit.files.source_check import without_comments
from opkit.runtimes.rknn.deliveries import DELIVERIES
from opkit.runtimes.rknn.kernel_skeletons import vx_arguments, vx_file
from opkit.runtimes.rknn.kernel_source import free_name
from opkit.runtimes.rknn.settings import has_vx_kernel

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

_MACROS = {"opkit_sigmoid": "(1.0f / (1.0f + exp(-(x))))"}
"""Function of one argument -> its text in OpenCL C."""

_OTHER_WAYS = {
    "acos": "atan2(sqrt(1.0f - (x) * (x)), x)",
    "asin": "atan2(x, sqrt(1.0f - (x) * (x)))",
    "atan": "atan2(x, 1.0f)",
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


def scalar_in_opencl(spec: OpSpec, text: str) -> str:
    """Return the functions of `<op>_scalar.h` as OpenCL C.

    Args:
        spec: the operator.
        text: the text of the file.

    Raises:
        SourceError: OpenCL C has no such word, or the kernel has its name.
    """
    text = _FOR_CPU.sub(lambda found: "\n" * found[0].count("\n"), text)
    for line, problem in _problems(spec, text):
        problem = f"rknn_kernel_{spec.lower}.vx: {problem}"
        hint = "write `kernels: [cpu]` in op.yml for an operator without a VX kernel"
        raise SourceError(Complaint(spec.math_file, problem, line, hint=hint))
    code = without_comments(text)
    own = set(_DEFINITION.findall(code))
    used = set(re.findall(r"[A-Za-z_]\w*", code))
    macros = {name: _MACROS[name] for name in used & {*_MACROS}}
    words = {word: name for word, name in _WORDS.items() if word in used - own}
    for word in [word for word, name in words.items() if name == spec.lower]:
        macros[word] = _OTHER_WAYS[words.pop(word)]
    words |= {name: function_name(spec, name) for name in own if name.startswith(spec.lower)}
    body = re.sub(r"[A-Za-z_]\w*", lambda word: words.get(word[0], word[0]), _body(text))
    body = re.sub(r"\bstatic\s+inline\s+|\binline\s+", "", body)
    body = re.sub(r"^static\s+const\s+", "__constant ", body, flags=re.MULTILINE)
    lines = [f"#define {name}(x) {macros[name]}" for name in sorted(macros)]
    return "\n".join([*lines, *([""] if lines else []), body])


def function_name(spec: OpSpec, name: str) -> str:
    """Return a function's name in the VX kernel.

    It does not begin with the kernel's name: the board would take the function for a kernel.
    """
    if not name.startswith(spec.lower):
        return name
    prefix = "of_" if not "of_".startswith(spec.lower) else "element_"
    return f"{prefix}{name}"


def _body(text: str) -> str:
    """Return the text without its guard, its includes and the comment above them."""
    if guard := _GUARD.search(text):
        text = text[guard.end() :]
        text = text[: text.rindex("#endif")]
    text = _INCLUDE.sub("", text)
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def _problems(spec: OpSpec, text: str) -> Iterator[tuple[int, str]]:
    """Yield line and problem of each word that the VX kernel cannot have."""
    code = without_comments(text)

    def line(place: int) -> int:
        return code.count("\n", 0, place) + 1

    for include in _INCLUDE.finditer(text):
        header = include["header"]
        if not re.fullmatch(rf'{_HEADERS}|"generated/{spec.lower}\.h"', header):
            problem = f"a VX kernel cannot include {header}; put its functions into this file"
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
        elif word["call"] and name not in own and (verb := _hidden(name, spec.lower)):
            problem = f"`{name}` {verb} {spec.lower} in OpenCL C, a name that the kernel itself has"
            yield line(word.start()), problem


def _hidden(name: str, kernel: str) -> str:
    """Return how a function of C needs the function that a kernel of its name hides, or nothing."""
    if _WORDS.get(name, name) == kernel and (name == kernel or kernel not in _OTHER_WAYS):
        return "is"
    return "calls" if re.search(rf"\b{kernel}\(", _MACROS.get(name, "")) else ""


_TYPES = {
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
"""Element type of a param -> the type of the VX kernel's member."""
_VARIABLES = ("coord", "elements", "halves", "low", "high", "low_halves", "high_halves", "params")
_LANES = "VXC_MODIFIER(0, 7, 0, VXC_RM_TowardZero, 0)"
_HALF_OF_LANES = "VXC_MODIFIER(0, 3, 0, VXC_RM_TowardZero, 0)"
_WAY_OUT = "write `kernels: [cpu]`"


def vx_complaints(spec: OpSpec) -> Iterator[Complaint]:
    """Yield an error for each tensor and param that the generated VX kernel does not take."""
    if not spec.elementwise or not has_vx_kernel(spec):
        return
    for section, tensors in (("inputs", spec.inputs), ("outputs", spec.outputs)):
        for tensor in tensors:
            if tensor.dtype not in (None, "float16"):
                problem = f"the VX kernel of an elementwise operator has no {tensor.dtype}"
                field = f"{section}.{tensor.name}.dtype"
                yield Complaint("", problem, field=field, hint=_WAY_OUT, expected="float16")
    for param in spec.params:
        if param.type.is_list or param.type.element.name not in _TYPES:
            problem = f"the VX kernel of an elementwise operator has no {param.type.name}"
            expected = "a number of 32 bits or less"
            field = f"params.{param.name}.type"
            yield Complaint("", problem, field=field, hint=_WAY_OUT, expected=expected)


def generated_vx(spec: OpSpec, scalar: str) -> dict[str, str]:
    """Return path -> text of the VX kernel; empty if the operator has none.

    Args:
        spec: the operator, which is elementwise.
        scalar: the text of `<op>_scalar.h`.

    Raises:
        SourceError: OpenCL C does not have a word of that text.
    """
    if not has_vx_kernel(spec):
        return {}
    names = {name: free_name(name, spec) for name in _VARIABLES}
    halves = [
        (f"{free_name(f'{each.name}_low', spec)}", f"{free_name(f'{each.name}_high', spec)}")
        for each in spec.inputs
    ]
    reads = [
        "\n".join(_read(each.name, pair, names))
        for each, pair in zip(spec.inputs, halves, strict=True)
    ]
    members = [f"    {_TYPES[each.type.element.name]} {each.name};" for each in spec.params]
    text = render(
        "runtimes/rknn/templates/elementwise.vx",
        **names,
        name=spec.name,
        lower=spec.lower,
        members="\n".join(members or ["    char none;"]),
        scalar=scalar_in_opencl(spec, scalar),
        declaration=wrapped(f"__kernel void {spec.lower}(", vx_arguments(spec), ")"),
        values=", ".join(map(_value, spec.params)) or "0",
        floats="\n".join(f"    float4 {low}, {high};" for low, high in halves),
        reads="\n".join(reads),
        calls="".join(
            _call(spec, names[half], [pair[index] for pair in halves], lane, names["params"])
            for index, half in enumerate(("low", "high"))
            for lane in "xyzw"
        ),
        write=wrapped(
            "    VXC_WriteImage2DArray(",
            [spec.outputs[0].name, names["coord"], names["elements"], _LANES],
            ");",
        ),
    )
    return {vx_file(spec): text}


def _value(param: Param) -> str:
    """Return the member's value: an argument of 32 bits, of which a short type has the low ones."""
    own = _TYPES[param.type.element.name]
    return param.name if own == DELIVERIES[param.type.name].vx_type else f"({own}){param.name}"


def _read(tensor: str, pair: tuple[str, str], names: dict[str, str]) -> Iterator[str]:
    """Yield the statements that read the elements of an input, and make floats of them."""
    elements, halves = names["elements"], names["halves"]
    where = [elements, tensor, names["coord"], "VXC_5BITOFFSET_XY(0, 0)", _LANES]
    yield wrapped("    VXC_ReadImage2DArray(", where, ");")
    yield f"    _viv_asm(COPY, {halves}, {elements}, 16);"
    for floats, half in zip(pair, ("low", "high"), strict=True):
        product = [floats, halves, halves, _HALF_OF_LANES, f"{half}_halves_to_floats"]
        yield wrapped("    VXC_DP4x4(", product, ");")


def _call(spec: OpSpec, result: str, inputs: list[str], lane: str, params: str) -> str:
    """Return the statement that computes an element."""
    arguments = [*(f"{name}.{lane}" for name in inputs), f"&{params}"]
    function = function_name(spec, f"{spec.lower}_of")
    return wrapped(f"    {result}.{lane} = {function}(", arguments, ");") + "\n"
