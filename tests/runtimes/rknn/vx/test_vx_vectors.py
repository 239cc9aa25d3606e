"""Vectors of every type and width, plain and packed: operators and the promotion of elements.

Each lane of a vector's result is compared with the same operator of C on scalars.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from opkit.runtimes.rknn.vx.compiler import compile_vx
from tests.marks import quick_first, slow_first
from tests.runtimes.rknn.vx.support import INTEGERS, int32, launch, run

FLOATS = ("half", "float")
LANES = (2, 3, 4, 8, 16)
# of the elements of each type: sums leave the range of 8 and of 16 bits
VALUES = {
    "char": (100, -90),
    "uchar": (200, 190),
    "short": (30000, -29000),
    "ushort": (60000, 59000),
    "half": (100, -90),
    "float": (100, -90),
}
LETTERS = "0123456789abcdef"


def signed(element: str) -> str:
    """Return the element type of a comparison's result."""
    return {"half": "short", "float": "int"}.get(element, element.removeprefix("u"))


def _is_packed_type(prefix: str, element: str, lanes: int) -> bool:
    if not prefix:
        return True
    if element in ("int", "uint", "long", "ulong", "float"):
        return False
    return lanes <= 8 or element in ("char", "uchar")


def _checks(prefix: str, element: str, lanes: int) -> Iterator[tuple[str, str, str]]:
    """Yield (type, vector, scalar) expressions: operands a and b, scalar s, and n = 3."""
    vector, mask = f"{prefix}{element}{lanes}", f"{prefix}{signed(element)}{lanes}"
    of_masks = signed(element)
    for operator in "+-*/":
        yield vector, f"a {operator} b", f"({element})(x {operator} y)"
        yield vector, f"a {operator} s", f"({element})(x {operator} s)"
        yield vector, f"s {operator} a", f"({element})(s {operator} x)"
    if element not in FLOATS:
        for operator in "%&|^":
            yield vector, f"a {operator} b", f"({element})(x {operator} y)"
        yield vector, f"a {operator} s", f"({element})(x {operator} s)"
        yield vector, "~a", f"({element})~x"
        yield vector, "a >> 3", f"({element})(x >> 3)"
        yield vector, "a << 2", f"({element})(x << 2)"
        yield vector, "add_sat(a, b)", "add_sat(x, y)"
        yield mask, "!(a - a)", f"({of_masks})-1"
        yield mask, "a && b", f"({of_masks})-1"
    yield vector, "-a", f"({element})-x"
    for operator in ("<", ">", "<=", ">=", "==", "!="):
        yield mask, f"a {operator} b", f"({of_masks})-(x {operator} y)"
        yield mask, f"a {operator} s", f"({of_masks})-(x {operator} s)"
    yield vector, "a > b ? a : b", "x > y ? x : y"
    yield vector, "select(a, b, a > b)", "x > y ? y : x"
    yield vector, "max(a, b)", "x > y ? x : y"
    yield vector, "max(a, s)", "x > s ? x : s"
    yield vector, "clamp(a, s, s)", "s"


def _scalar_checks(element: str, lanes: int) -> Iterator[str]:
    """Yield comparisons of elements with scalars of C; p and q correspond to s0 and s1."""
    promoted = "a.s0 + a.s1|-a.s0|a.s0 > a.s1 ? a.s0 : a.s1|a.s0 * 2 + 1|n ? a.s0 : -a.s1"
    integers = "~a.s0|a.s0 << 2|a.s1 >> 1|(a.s0 + a.s1) >> 1|!a.s0|a.s0 | a.s1|a.s0 % a.s1"
    for text in [*promoted.split("|"), *(integers.split("|") if element not in FLOATS else [])]:
        yield f"({text}) == ({text.replace('a.s0', 'p').replace('a.s1', 'q')})"
    yield "max(a.s0, s) == max(p, s) && min(s, a.s1) == min(s, q)"
    yield "clamp(a.s0, s, s) == s && max(a.s0, a.s1) == max(p, q)"
    if lanes in (4, 8, 16):
        yield f"a.lo.lo.s0 == p && a.lo.hi.s0 == a.s{lanes // 4}" if lanes > 4 else "a.lo.lo == p"


def _block(prefix: str, element: str, lanes: int, first: int) -> tuple[list[str], int]:
    vector = f"{prefix}{element}{lanes}"
    pair = VALUES.get(element, (1000, 700 if element[0] == "u" else -700))
    values = [pair[i % 2] // (1 + i // 2) for i in range(lanes)]
    others = [pair[i % 2] // (2 + i // 2) for i in range(lanes)]
    lines = [
        "    {",
        f"        {element} s = 3, p = {values[0]}, q = {values[1]};",
        f"        {vector} a = ({vector})({', '.join(map(str, values))});",
        f"        {vector} b = ({vector})({', '.join(map(str, others))});",
    ]
    number = first
    for type_, expression, scalar in _checks(prefix, element, lanes):
        lines.append(f"        {{ {type_} r = {expression}; int right = 1;")
        lines += [
            f"        {{ {element} x = {x}, y = {y}; right &= r.s{LETTERS[i]} == ({scalar}); }}"
            for i, (x, y) in enumerate(zip(values, others, strict=True))
        ]
        lines.append(f"        RIGHT({number}, right); }}")
        number += 1
    for condition in _scalar_checks(element, lanes):
        lines.append(f"        RIGHT({number}, {condition});")
        number += 1
    if lanes >= 8:
        half = f"{prefix}{element}{lanes // 2}"
        lines.append(f"        {{ {half} r = a.lo; {vector} t = ({vector})(r, a.hi);")
        lines.append(f"        RIGHT({number}, all(t == a) && r.s0 == p); }}")
        number += 1
    return [*lines, "    }"], number


@pytest.mark.slow
@pytest.mark.parametrize("element", slow_first(2, [*FLOATS, *INTEGERS]))
def test_operators(vx_folder: Path, element: str) -> None:
    lines, count = list[str](), 0
    for prefix, lanes in product(("", "vxc_"), LANES):
        if _is_packed_type(prefix, element, lanes):
            block, count = _block(prefix, element, lanes, count)
            lines += block
    source = vx_folder / f"operators_{element}.vx"
    source.write_text(
        "#define RIGHT(number, condition) \\\n"
        "    at.x = (number), write_imagei(result, at, (int4)((condition) ? 1 : 0))\n"
        "__kernel void operators(image2d_t result, int n)\n{\n    int2 at = (int2)(0);\n"
        + "\n".join(lines)
        + "\n}\n"
    )
    program = compile_vx(source, vx_folder / "cache", debug=True)
    assert program.diagnostics == ""
    outcome = run(
        *(program, "operators", launch((1,)), {}, {"y": ((1, count + 3), "int32")}), [int32(3)]
    )
    wrong = np.flatnonzero(outcome.outputs["y"][0, :count] != 1)
    assert [_line_of(source, int(number)) for number in wrong] == []


def _line_of(source: Path, number: int) -> str:
    lines = source.read_text().splitlines()
    index = next(i for i, line in enumerate(lines) if f"RIGHT({number}," in line)
    return "\n".join(lines[max(0, index - 1) : index + 1])


CORRECTED = {
    "vxc_short8 m = v < 0;": True,
    "vxc_short8 m = v + 1 < n;": True,
    "v += n * 2;": True,
    "v = SAME(v + n);": True,
    "int4 i = (int4)(1) + (uint)3;": True,
    "vxc_short8 m = v > w; short8 s = v; v = s;": False,
    "v = v & (v > w);": False,
    "vxc_short8 m = ~(v > w) & v;": False,
    "vxc_short4 m = v.lo > v.hi; uchar4 u = 3; char4 c = u > (uchar4)(2);": False,
    "short8 s = 2; v = max(v, s); v = select(v, s, v > w); s = min(s, max(v, (short8)(0)));": False,
    "short8 s = 2; v = v > w ? v : s; s = v > w ? s : v;": False,
    "vxc_char8 c = 1; v.s0 = c.s0; v ^= c.s1; switch (v.s2) { case 1: v = c.s0 == v.s0; }": False,
    "v = clamp(v, 0, 6); half4 h = max((half4)(1), 0); v = max(v, v.s1);": False,
    "short8 s = (short8)(v.lo, v.hi); v = (vxc_short8)(s.lo, s.hi);": False,
    "vxc_half8 h = (half)2; h = h * (half)3 + h.s0; half8 g = h; g = g * (half)3;": False,
}


@pytest.mark.parametrize("statement", quick_first(5, CORRECTED))
def test_corrections(vx_folder: Path, statement: str) -> None:
    """A correction keeps line numbers, and a warning gives the portable spelling."""
    source = vx_folder / f"corrected_{list(CORRECTED).index(statement)}.vx"
    source.write_text(
        "#define SAME(x) x\n__kernel void k(image2d_t result, int n)\n{\n"
        f"    vxc_short8 v = (vxc_short8)(1), w = v;\n    {statement}\n"
        "    write_imagei(result, (int2)(0), (int4)(__LINE__));\n}\n"
    )
    program = compile_vx(source, vx_folder / "cache")
    lines = program.diagnostics.splitlines()
    assert [":5:" in line and "the portable spelling" in line for line in lines] == [
        True for _ in lines
    ]
    assert (lines != []) == CORRECTED[statement]
    outcome = run(program, "k", launch((1,)), {}, {"y": ((1, 4), "int32")}, [int32(3)])
    assert outcome.outputs["y"][0, 0] == 6


def test_corrected_values(vx_folder: Path) -> None:
    source = vx_folder / "corrected_values.vx"
    source.write_text(
        "__kernel void k(image2d_t result, int n)\n{\n"
        "    vxc_short8 v = (vxc_short8)(-2, -1, 0, 1, 2, 3, 4, 5);\n"
        "    vxc_short8 m = v + n < 4, w = v & (v > 1);\n"
        "    write_imagei(result, (int2)(0), convert_int4(m.lo));\n"
        "    write_imagei(result, (int2)(4, 0), convert_int4(w.hi));\n}\n"
    )
    program = compile_vx(source, vx_folder / "cache")
    outcome = run(program, "k", launch((1,)), {}, {"y": ((1, 8), "int32")}, [int32(3)])
    assert outcome.outputs["y"].tolist() == [[-1, -1, -1, 0, 2, 3, 4, 5]]
