"""Compare the language of `.vx` kernels on the PC with another implementation of OpenCL C.

    python -m benchmarks.opencl [--types char float] [--output benchmarks]

Needs pyopencl (PyPI) and an installed implementation, such as PoCL (Debian: pocl-opencl-icd).
Every operator, built-in function and conversion is computed for every type and width by both, on
the same values, some of them extreme. Undefined results of OpenCL are left out, except for NaN
in min, max, clamp and ilogb. Transcendental functions are compared with numpy, in the tests.
"""

from __future__ import annotations

import random
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import results_file
from opkit.runtimes.rknn.vx.compiler import compile_vx
from tests.runtimes.rknn.vx.support import INTEGERS, launch, run_vx

COMMAND = "python -m benchmarks.opencl --output benchmarks"
LANES = (1, 2, 3, 4, 8, 16)
SEEDS = (0, 1)
SIGNED = {1: "char", 2: "short", 4: "int", 8: "long"}
FLOATS = (0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, -7.75, 100.25, 255.5, -128.5, 32767.5, 1e10, -1e10)
SPECIAL_FLOATS = (*FLOATS, 1e38, float("inf"), float("-inf"), float("nan"))
IN_RANGE = (0.5, 1.5, 2.5, 3.25, 100.75, 7.5, 12.0, 0.0)
ROUNDINGS = ("", "_rte", "_rtz", "_rtp", "_rtn")
SLOT = 32  # words for one result

Expression = tuple[str, str]  # the type of the result, and the text


def dtype_of(element: str) -> np.dtype[Any]:
    """Return numpy's type of a scalar of OpenCL's."""
    name = element.removeprefix("u")
    kind = "f" if element == "float" else "u" if name != element else "i"
    sizes = {"char": 1, "short": 2, "int": 4, "long": 8, "float": 4}
    return np.dtype(f"{kind}{sizes[name]}")


def named(element: str, lanes: int) -> str:
    """Return the name of a vector, or of a scalar."""
    return element if lanes == 1 else f"{element}{lanes}"


# ---- Expressions over a, b and c, over d from 1 to 6, and over the scalars s and t ---------------


def conversions(element: str, lanes: int) -> Iterator[Expression]:
    """Yield conversions to every type."""
    for other in (*INTEGERS, "float"):
        target = named(other, lanes)
        rounded = ROUNDINGS if "float" in (element, other) else ROUNDINGS[:1]
        for rounding in rounded:
            if other == "float":
                yield target, f"convert_{target}{rounding}(a)"
                continue
            yield target, f"convert_{target}_sat{rounding}(a)"
            # Out of range a float's value is undefined.
            yield target, f"convert_{target}{rounding}({'e' if element == 'float' else 'a'})"
        if dtype_of(other).itemsize == dtype_of(element).itemsize:
            yield target, f"as_{target}(a)"


def comparisons(element: str, lanes: int) -> Iterator[Expression]:
    """Yield comparisons and logic, between vectors and with a scalar."""
    size = dtype_of(element).itemsize
    result = "int" if lanes == 1 else named(SIGNED[size], lanes)
    for operator in ("==", "!=", "<", ">", "<=", ">=", "&&", "||"):
        yield result, f"a {operator} b"
        if lanes > 1:
            yield result, f"a {operator} s"
            yield result, f"s {operator} a"
    yield result, "!a"
    yield named(element, lanes), "a > b ? a : b"


def float_expressions(lanes: int) -> Iterator[Expression]:
    """Yield the operators and functions of float."""
    vector, mask = named("float", lanes), named("int", lanes)
    for operator in "+-*/":
        yield vector, f"a {operator} b"
        yield vector, f"a {operator} s"
    for name in "fabs floor ceil trunc rint round sign sqrt degrees radians -".split():
        yield vector, f"{name}(a)"
    for name in "fmin fmax max min copysign fdim step maxmag minmag nextafter fmod".split():
        yield vector, f"{name}(a, b)"
    for name in ("clamp", "mix"):
        yield vector, f"{name}(a, ({vector})(0.25f), ({vector})(0.75f))"
    yield vector, "fma(a, b, c)"
    yield vector, "ldexp(a, 3)"
    yield vector, "bitselect(a, b, c)"
    yield vector, "select(a, b, a > b)"
    yield mask, "ilogb(b)"
    for name in "isnan isinf isfinite isnormal signbit".split():
        yield mask, f"{name}(a)"
    for name in "equal notequal greater greaterequal less lessequal lessgreater".split():
        yield mask, f"is{name}(a, b)"
    for name in ("isordered", "isunordered"):
        yield mask, f"{name}(a, b)"
    if lanes > 1:
        for text in ("fmin(a, s)", "max(a, s)", "clamp(a, 0.0f, 1.0f)", "step(0.5f, a)"):
            yield vector, text


def integer_expressions(element: str, lanes: int) -> Iterator[Expression]:
    """Yield operators and functions of an integer type."""
    dtype = dtype_of(element)
    size, is_signed = dtype.itemsize, dtype.kind == "i"
    vector, signed = named(element, lanes), SIGNED[size]
    unsigned = named(f"u{signed}", lanes)
    promoted = vector if lanes > 1 or size >= 4 else "int"
    # Sums that overflow a signed type are undefined, unless they are promoted.
    low = "({} & 0xfff)" if is_signed and size >= 4 else "{}"
    for operator in "&|^":
        yield promoted, f"a {operator} b"
        yield promoted, f"a {operator} s"
    for operator in "+-*":
        if not (element == "ushort" and lanes == 1 and operator == "*"):
            yield promoted, f"{low.format('a')} {operator} {low.format('b')}"
        if lanes > 1:
            yield vector, f"{low.format('a')} {operator} {low.format('s')}"
    for operator in "/%":
        yield promoted, f"a {operator} d"
    yield promoted, f"{f'(a & ({vector})(7))' if is_signed else 'a'} << d"
    yield promoted, "a >> d"
    yield promoted, "~a"
    yield promoted, "-(a >> 1)"
    for text in ("clz(a)", "popcount(a)", "rotate(a, d)", "mad_hi(a, b, c)", "mad_sat(a, b, c)"):
        yield vector, text
    for name in "add_sat hadd rhadd max min mul_hi sub_sat".split():
        yield vector, f"{name}(a, b)"
    yield vector, "clamp(a, min(b, c), max(b, c))"
    yield vector, "bitselect(a, b, c)"
    yield vector, f"select(a, b, as_{unsigned}(a))"
    yield unsigned, "abs(a)"
    yield unsigned, "abs_diff(a, b)"
    if size < 8:
        wide = f"{'' if is_signed else 'u'}{SIGNED[2 * size]}"
        yield named(wide, lanes), f"upsample(a, as_{unsigned}(b))"
    if size == 4:
        yield vector, "mad24(a & 0x7ff, b & 0x7ff, c & 0xfff)"
    if lanes > 1:
        yield from _parts_of_integers(element, lanes)


def _parts_of_integers(element: str, lanes: int) -> Iterator[Expression]:
    """Yield the operations of vectors alone: on elements, which are promoted, and on parts."""
    vector, size = named(element, lanes), dtype_of(element).itemsize
    for text in ("max(a, s)", "min(a, s)", "clamp(a, min(s, t), max(s, t))"):
        yield vector, text
    if size < 4:
        for text in ("a.s0 + a.s1", "a.s0 - a.s1", "-a.s0", "~a.s0", "(a.s0 & 7) << 3", "a.s0 * 3"):
            yield "int", text
    for text in ("a.s0 < a.s1", "a.s0 == b.s1", "any(a < b)", "all(a < b)"):
        yield "int", text
    if lanes != 3 and lanes > 2:
        part = named(element, lanes // 2)
        yield part, "a.lo & a.hi"
        yield part, "a.odd ^ a.even"
        yield named(SIGNED[size], lanes // 2), "a.lo < a.hi"
    if lanes == 4:
        yield element, "a.lo.lo"
        yield vector, "a.wzyx"


def expressions(element: str, lanes: int) -> list[Expression]:
    """Return all expressions of a type."""
    own = float_expressions(lanes) if element == "float" else integer_expressions(element, lanes)
    return [*own, *comparisons(element, lanes), *conversions(element, lanes)]


# ---- Kernels -------------------------------------------------------------------------------------


def _literal(element: str, value: float) -> str:
    if element == "float":
        return f"as_float({np.float32(value).view(np.uint32)}u)"
    if value == INTEGERS["long"][0]:
        return "(long)0x8000000000000000ul"
    suffix = {"uint": "u", "long": "l", "ulong": "ul"}.get(element, "")
    return f"({element})({value}{suffix})"


def _values(element: str, seed: str) -> list[float]:
    chance = random.Random(f"{element} {seed}")
    if element == "float":
        return [chance.choice(SPECIAL_FLOATS) for _ in range(16)]
    lowest, highest = INTEGERS[element]
    extreme = [lowest, highest, lowest + 1, highest - 1, 0, 1, 2, 3, highest // 2]
    return [chance.choice([*extreme, chance.randint(lowest, highest)]) for _ in range(16)]


def variables(element: str, lanes: int, seed: int) -> Iterator[str]:
    """Yield the declarations of the variables; volatile ones prevent constant folding."""
    vector = named(element, lanes)
    values = {name: _values(element, f"{seed} {name}") for name in "abcs"}
    small = [1 + (seed + index) % 6 for index in range(16)]
    values |= {"e": [*IN_RANGE, *IN_RANGE]} if element == "float" else {"d": list(small)}
    for name, numbers in values.items():
        type_, count = (element, 1) if name == "s" else (vector, lanes)
        literals = ", ".join(_literal(element, value) for value in numbers[:count])
        yield f"    volatile {type_} volatile_{name} = ({type_})({literals});"
        yield f"    {type_} {name} = volatile_{name};"
    yield f"    {element} t = {_literal(element, 3)};"


def kernel(macro: str, parameter: str, element: str, lanes: int, seed: int) -> str:
    """Return a kernel that gives each expression to the macro PUT(index, type, expression)."""
    puts = (
        f"    PUT({index}, {type_}, {text})"
        for index, (type_, text) in enumerate(expressions(element, lanes))
    )
    lines = [*variables(element, lanes, seed), *puts]
    body = "\n".join(lines)
    return f"{macro}\n__kernel void k({parameter})\n{{\n{body}\n}}\n"


Implementation = Callable[[str, int, int], "np.ndarray[Any, Any]"]


def installed_implementation() -> tuple[str, Implementation]:
    """Return the name of pyopencl's default implementation, and a function that computes by it."""
    import pyopencl

    context = pyopencl.create_some_context(interactive=False)
    queue = pyopencl.CommandQueue(context)
    macro = f"#define PUT(i, T, ...) *(__global T *)(out + {SLOT} * (i)) = (__VA_ARGS__);"

    def compute(element: str, lanes: int, seed: int) -> np.ndarray[Any, Any]:
        text = kernel(macro, "__global uint *out", element, lanes, seed)
        program = pyopencl.Program(context, text).build(options=["-cl-std=CL1.2"])
        out = np.zeros((len(expressions(element, lanes)), SLOT), np.uint32)
        flags = pyopencl.mem_flags.READ_WRITE | pyopencl.mem_flags.COPY_HOST_PTR
        memory = pyopencl.Buffer(context, flags, hostbuf=out)
        program.k(queue, (1,), None, memory)
        pyopencl.enqueue_copy(queue, out, memory)
        return out

    return context.devices[0].platform.version, compute


def emulator(folder: Path) -> Implementation:
    """Return a function that computes in the emulator."""
    words = ", ".join(f"words.w[4 * j + {index}]" for index in range(4))
    macro = (
        f"#define PUT(i, T, ...) {{ union {{ T value; uint w[{SLOT}]; }} words; "
        f"for (int j = 0; j < {SLOT}; j++) words.w[j] = 0; words.value = (__VA_ARGS__); "
        f"for (int j = 0; j < {SLOT // 4}; j++) "
        f"write_imageui(result, (int2)(4 * j, i), (uint4)({words})); }}"
    )

    def compute(element: str, lanes: int, seed: int) -> np.ndarray[Any, Any]:
        source = folder / f"{element}{lanes}_{seed}.vx"
        source.write_text(kernel(macro, "image2d_t result", element, lanes, seed))
        program = compile_vx(source, folder / "cache")
        shape = (len(expressions(element, lanes)), SLOT)
        outputs = {"result": (shape, np.uint32)}
        result = run_vx(program, "k", launch((1,)), {}, outputs)
        if result.fault:
            raise RuntimeError(f"{source}: {result.fault}")
        return result.outputs["result"]

    return compute


def differences(
    one: Implementation, other: Implementation, element: str, lanes: int
) -> tuple[int, list[str]]:
    """Return the count of compared expressions, and the differences."""
    found, count = list[str](), 0
    for seed in SEEDS:
        results = one(element, lanes, seed), other(element, lanes, seed)
        for (type_, text), *slots in zip(expressions(element, lanes), *results, strict=True):
            name = re.sub(r"\d+$", "", type_)
            size = dtype_of(name).itemsize * int(type_[len(name) :] or 1)
            first, second = (np.frombuffer(slot.tobytes()[:size], dtype_of(name)) for slot in slots)
            count += 1
            if not np.array_equal(first, second, equal_nan=name == "float"):
                found.append(f"{named(element, lanes)}: {text} is {first}, not {second}")
    return count, found


def report(types: Sequence[str]) -> str:
    """Return the section of RESULTS.md."""
    version, other = installed_implementation()
    total, found = 0, list[str]()
    with tempfile.TemporaryDirectory() as folder:
        for element, lanes in product(types, LANES):
            count, different = differences(emulator(Path(folder)), other, element, lanes)
            total += count
            found += different
    for each in found:
        print(each)
    # ilogb of NaN is implementation-defined: INT_MIN or INT_MAX.
    of_nan = [
        each
        for each in found
        if ("nan" in each and re.search(r": (max|min|clamp)\(", each)) or ": ilogb(" in each
    ]
    rows = [
        ["compared", f"{total:,}"],
        ["different, NaN in min, max, clamp and ilogb, which OpenCL leaves open", str(len(of_nan))],
        ["different otherwise", str(len(found) - len(of_nan))],
    ]
    return (
        "## The language of .vx files and OpenCL C\n\n"
        f"    {COMMAND} --types {' '.join(types)}\n\n"
        f"{version}. Operators, built-in functions and conversions of {', '.join(types)}.\n\n"
        + results_file.table(["results", ""], rows)
    )


def main() -> None:
    """Compare, print, and write with --output."""
    parser = results_file.parser("opencl", __doc__)
    every = [*INTEGERS, "float"]
    parser.add_argument("--types", nargs="+", choices=every, default=every, help="of elements")
    options = parser.parse_args()
    text = report(options.types)
    results_file.finish(options.output, "opencl", text)


if __name__ == "__main__":
    main()
