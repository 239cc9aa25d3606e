"""The small changes of C sources: each kind, and the changes that no case could notice."""

from __future__ import annotations

from pathlib import Path

import pytest

from opkit.mutation import c_source
from opkit.mutation.mutants import KINDS, Change, changes
from opkit.mutation.plan import ComputeHeader, Plan
from opkit.mutation.run import lines, ordered
from tests.compiling import compile_c
from tests.marks import quick_first

STRUCTS = """\
struct sum_params { float low; float high; int axis; };
struct opkit_tensor { unsigned long rank; unsigned long size; };
void *calloc(unsigned long, unsigned long);
"""
# Kind -> a function -> its changes of that kind.
EXPECTED = {
    "comparison": (
        "int f(int a, int b) { return a < b ? a <= 1 : a > 2 && b >= 3 && a /* < */ == b; }",
        [
            "`a < b` -> `a <= b`",
            "`a <= 1` -> `a < 1`",
            "`a > 2 && b >= 3 && a == b` -> `a >= 2 && b >= 3 && a == b`",
            "`a > 2 && b >= 3 && a == b` -> `a > 2 && b > 3 && a == b`",
            "`a > 2 && b >= 3 && a == b` -> `a > 2 && b >= 3 && a != b`",
        ],
    ),
    "+1": (
        "int g(int n) { return n; } "
        "void f(int *x, int i) { int y = i; x[i] = g(x[y]); char c = 'a'; (void)c; }",
        [
            "`n` -> `n + 1`",
            "`int y = i` -> `int y = i + 1`",
            "`x[i] = g(x[y])` -> `x[i + 1] = g(x[y])`",
            "`x[i] = g(x[y])` -> `x[i] = g(x[y]) + 1`",
            "`x[i] = g(x[y])` -> `x[i] = g(x[y] + 1)`",
            "`x[i] = g(x[y])` -> `x[i] = g(x[y + 1])`",
        ],
    ),
    "operands": (
        "float g(float a, float b) { return a + b; } "
        "float f(float a, float b, int n) "
        "{ a = a - b * 2; return n > 2 ? g(a, b) : (float)(n << 1) / (float)(n % 3); }",
        [
            "`a = a - b * 2` -> `a = (b * 2) - a`",
            "`g(a, b)` -> `g(b, a)`",
            "`n > 2 ? g(a, b) : (float)(n << 1) / (float)(n % 3)` -> "
            "`n > 2 ? (float)(n << 1) / (float)(n % 3) : g(a, b)`",
            "`(float)(n << 1) / (float)(n % 3)` -> `(float)(n % 3) / (float)(n << 1)`",
            "`(float)(n << 1) / (float)(n % 3)` -> `(float)(1 << n) / (float)(n % 3)`",
            "`(float)(n << 1) / (float)(n % 3)` -> `(float)(n << 1) / (float)(3 % n)`",
        ],
    ),
    "statement": (
        "void g(int *x) { *x = 1; } #define SET(x, y) do { (x) = (y); } while (0)\n"
        "void f(int *x) { int y = 2; *x += y; for (int i = 0; i < y; i++) { if (i) continue; "
        "g(x); } SET(*x, (y)); return; }",
        [
            "drop `*x = 1`",
            "drop `*x += y`",
            "drop `continue`",
            "drop `g(x)`",
            "drop `SET(*x, (y))`",
        ],
    ),
    "constant": (
        "float f(float x) { return x * 0.5F + 2.5e-1F + 0x1FU + (float)(0 + 10L) - 1e30F "
        "+ 0x1.8p1F; }",
        ["1.5F", "1.25F", "0x20U", "1", "11L", "2e+30F", "4.0F"],
    ),
    "param": (
        "float f(const struct sum_params *params, int n, int m, float x, struct opkit_tensor *t) "
        "{ int k = n; (void)t->rank; return params->low * x + (float)params->axis + k; }",
        ["`int k = n` -> `int k = m`", "`params->low * x` -> `params->high * x`"],
    ),
}
# What is not changed, of that kind.
UNNOTICED = {
    "comparison": [
        "float f(float x) { return x < 0 ? 0 : x; }",
        "float f(float x, float y) { return (x >= y) ? x : y; }",
        "void f(float *x, int c) { if (c && *x > 6) { *x = 6; } }",
        "int f(const int *x, const int *y) { return x < y; }",
        'const char *f(int n) { if (n < 4) { return "n must be 4 or more"; } return 0; }',
    ],
    "constant": [
        "void *f(int n) { return calloc((unsigned long)n + 1, 4); }",
        "unsigned long f(void) { return sizeof(int[3]); }",
        'const char *f(int n) { if (n < 4 || n > 7) return "n must be 4 to 7"; return "3"; }',
    ],
    "+1": ["int *f(int *x) { return x; }", "_Bool f(_Bool x) { return x; }"],
    "operands": ["int f(int x) { return x - x; }", "int f(int a, int b) { return a * b + a; }"],
}


def changes_of(path: Path, text: str, root: str = "") -> list[Change]:
    path.write_text(text)
    tree = ComputeHeader(path.name, Plan(1, 1, [], [], [])).tree(path.parent)
    return changes(c_source.read(tree, path.name), path.read_bytes(), path.name, root)


def source_of(kind: str) -> str:
    return STRUCTS + EXPECTED[kind][0].replace(" #define", "\n#define")


def test_every_kind_is_expected() -> None:
    assert EXPECTED.keys() == KINDS.keys()


@pytest.mark.parametrize("kind", EXPECTED)
def test_changes_of_a_kind(tmp_path: Path, kind: str) -> None:
    found = [each for each in changes_of(tmp_path / "sum.h", source_of(kind)) if each.kind == kind]
    texts = [" ".join("".join(lines(each)).split()).split(" ", 1)[1] for each in found]
    if kind == "constant":
        texts = [each.text.decode() for each in found]
    assert sorted(texts) == sorted(EXPECTED[kind][1])


@pytest.mark.parametrize("kind", quick_first(2, EXPECTED))
def test_changed_source_compiles(tmp_path: Path, kind: str) -> None:
    source = tmp_path / "sum.c"
    for change in changes_of(source, source_of(kind)):
        source.write_bytes(change.apply(source_of(kind).encode()))
        run = compile_c(tmp_path / "sum.o", "-c", "-w", source)
        assert run.returncode == 0, run.stderr


@pytest.mark.parametrize(
    ("kind", "text"), [(kind, text) for kind, texts in UNNOTICED.items() for text in texts]
)
def test_obvious_equivalents_are_left_out(tmp_path: Path, kind: str, text: str) -> None:
    found = changes_of(tmp_path / "sum.h", STRUCTS + text)
    assert [each for each in found if each.kind == kind] == []


def test_only_functions_of_the_source_that_run(tmp_path: Path) -> None:
    (tmp_path / "other.h").write_text("static int other(int x) { return x - 1; }\n")
    text = (
        '#include "other.h"\n'
        "#define TWICE(x) ((x) - 1)\n"
        "static int inner(int x) {\n return TWICE(x - 2); }\n"
        "static int unused(int x) { return x - 3; }\n"
        "static int outer(int x) { return inner(x) + other(x); }\n"
    )
    of_all, of_outer = (changes_of(tmp_path / "sum.h", text, root) for root in ("", "outer"))
    swapped = [(each.line, each.after) for each in of_all if each.kind == "operands"]
    assert swapped == [(4, "2 - x"), (5, "3 - x")]
    assert {each.line for each in of_outer} == {4, 6}


def test_order_is_the_same_and_spread(tmp_path: Path) -> None:
    body = "".join(f"    x[{n}] = x[{n}] < {n}.5F ? {n}.0F : x[{n}];\n" for n in range(10))
    found = changes_of(tmp_path / "sum.h", f"void f(float *x)\n{{\n{body}}}\n")
    order = list(ordered(found, b"seed"))
    assert order == list(ordered(iter(found), b"seed"))
    assert order != list(ordered(found, b"other seed"))
    assert sorted(order, key=repr) == sorted(found, key=repr)
    first = order[:10]
    assert len({each.line for each in first}) >= 8
    assert {each.kind for each in first} == {each.kind for each in found}


def test_long_lines_are_folded() -> None:
    long = "a_rather_long_name_of_a_variable + another_long_name_of_a_variable"
    change = Change("sum_compute.h", "+1", 12, (0, 1), b"x", long, f"{long} + 1")
    assert lines(change) == ["sum_compute.h:12", f"    `{long}`", f"    -> `{long} + 1`"]
    dropped = Change("sum_compute.h", "statement", 12, (0, 1), b"", f"{long};{long};", "")
    assert lines(dropped) == ["sum_compute.h:12", f"    drop `{long}...`"]
    assert max(map(len, [*lines(change), *lines(dropped)])) <= 80


def test_argument_of_a_macro_is_shown_with_its_call(tmp_path: Path) -> None:
    text = (
        "#define MOVE(to, from, modifier) ((to) = (from) + (modifier))\n"
        "#define MODIFIER(a, b) ((a) * (b))\n"
        "void f(int *the_first, int *the_other_one)\n{\n"
        "    MOVE(the_first[0], the_other_one[0], MODIFIER(3, 4));\n}\n"
    )
    found = [lines(each) for each in changes_of(tmp_path / "sum.h", text) if each.line == 5]
    assert ["sum.h:5 `MODIFIER(3, 4)` -> `MODIFIER(3, 5)`"] in found
    assert ["sum.h:5 `the_other_one[0]` -> `the_other_one[1]`"] in found
    assert ["sum.h:5 drop `MOVE(the_first[0], the_other_one[0], MODIFIER(3, 4))`"] in found
