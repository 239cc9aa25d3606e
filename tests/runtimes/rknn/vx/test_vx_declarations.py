"""The declarations of a `.vx` source, in every valid spelling of C."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from opkit.common.errors import OpkitError
from opkit.opencl.signatures import VxKernel
from opkit.runtimes.rknn.vx.compiler import compile_vx
from tests.marks import quick_first
from tests.runtimes.rknn.vx.support import launch, run


def kernels_of(vx_folder: Path, name: str, text: str) -> dict[str, VxKernel]:
    source = vx_folder / f"{name}.vx"
    source.write_text(text)
    return compile_vx(source, vx_folder / "cache").kernels


def parameters(kernel: VxKernel) -> list[tuple[str, str, str]]:
    return [(each.kind, each.type, each.name) for each in kernel.parameters]


# ---- Signatures ----------------------------------------------------------------------------------


def test_argument_spellings(vx_folder: Path) -> None:
    text = """
#define TENSOR(name) __read_only image2d_array_t name
#define SIZES vx_array_int sizes, vx_array_float factors
#define GROUP 2 * 4
typedef int count_t;
typedef bool flag_t;
typedef image3d_t volume;
/* __kernel void not_one(int a) { } */
constant char text[] = "__kernel void nor_this(int a) { }";
kernel __attribute__((reqd_work_group_size(GROUP, sizeof(int), 1)))
void k(TENSOR(x), __write_only image2d_t y __attribute__((unused)), volume z, SIZES,
       const count_t n, flag_t on, unsigned u __attribute__((annotate("(int b, int c)"))),
       float const f, __global const int *p, int *q)
{
}
"""
    kernels = kernels_of(vx_folder, "arguments", text)
    assert list(kernels) == ["k"]
    assert parameters(kernels["k"]) == [
        ("tensor", "image2d_array_t", "x"),
        ("tensor", "image2d_t", "y"),
        ("tensor", "volume", "z"),
        ("array", "vx_array_int", "sizes"),
        ("array", "vx_array_float", "factors"),
        ("scalar", "int", "n"),
        ("scalar", "bool", "on"),
        ("scalar", "uint", "u"),
        ("scalar", "float", "f"),
        ("pointer", "int *", "p"),
        ("pointer", "int *", "q"),
    ]
    assert kernels["k"].group == (8, 4, 1)


@pytest.mark.parametrize("version", [1, 2])
def test_kernels_by_macro_or_forward_declared(vx_folder: Path, version: int) -> None:
    text = """
__kernel void declared(image2d_array_t a);
#define KERNEL(suffix, ...) \\
    __attribute__((reqd_work_group_size(1, 2, 3))) __kernel void of_##suffix(__VA_ARGS__) { }
KERNEL(one, image2d_array_t a, int b)
KERNEL(two, float c)
#if VX_VERSION == 2
KERNEL(three, /* not b, */ bool d)
#endif
void declared(image2d_array_t x) { }
"""
    source = vx_folder / "by_macros.vx"
    source.write_text(text)
    kernels = compile_vx(source, vx_folder / "cache", vx_version=version).kernels
    expected = {
        "of_one": [("tensor", "image2d_array_t", "a"), ("scalar", "int", "b")],
        "of_two": [("scalar", "float", "c")],
        "of_three": [("scalar", "bool", "d")],
        "declared": [("tensor", "image2d_array_t", "x")],
    }
    if version == 1:
        del expected["of_three"]
    assert {name: parameters(kernel) for name, kernel in kernels.items()} == expected
    groups = {name: (1, 2, 3) if name != "declared" else None for name in kernels}
    assert {name: kernel.group for name, kernel in kernels.items()} == groups


@pytest.mark.parametrize(
    ("signature", "message"),
    [
        ("void k(__local int *p)", r"'p' is of type __local int \*; the board passes a tensor"),
        ("void k(long n)", "'n' is of type long; the board passes"),
        ("void k(struct { int a; } s)", "'s' is of type .*; the board passes"),
        ("int k(image2d_array_t x)", r"kernel 'k' returns int \(expected void\)"),
    ],
)
def test_invalid_kernel_signatures(vx_folder: Path, signature: str, message: str) -> None:
    text = f"__kernel {signature} {{ {'return 1;' if signature.startswith('int') else ''} }}\n"
    with pytest.raises(OpkitError, match=message):
        kernels_of(vx_folder, f"refused_{abs(hash(signature))}", text)


@pytest.mark.parametrize("header", ["of a kernel.h", "names.h", "kernel.h"])
def test_changed_include_recompiles(vx_folder: Path, header: str) -> None:
    for type_ in ("int", "float", "int"):
        (vx_folder / header).write_text(f"#define TYPE {type_}\n")
        (kernel,) = kernels_of(
            *(vx_folder, "including"), f'#include "{header}"\n__kernel void k(TYPE a) {{ }}\n'
        ).values()
        assert parameters(kernel) == [("scalar", type_, "a")]


# ---- Barriers and uniforms -----------------------------------------------------------------------


def test_barriers_and_uniforms_in_helpers(vx_folder: Path) -> None:
    text = """
_viv_uniform float used, unused;
_viv_uniform VXC_512Bits table;
extern _viv_uniform int later;
#define WAIT barrier(CLK_LOCAL_MEM_FENCE)
void deepest(int n);
float helper(float x)
{
    constant char brace[] = "}";
    deepest(brace[0]);
    return x * used;
}
void deepest(int n)
{
    if (n) { WAIT; deepest(n - 1); }
}
void read(image2d_array_t x, vxc_short8 *v)
{
    vxc_short8 w = *v;
    VXC_DP2x8(w, w, w, VXC_MODIFIER(0, 7, 0, VXC_RM_TowardZero, 0), table);
    if (later > 2) { v->s0 = w.s1; }
}
float innocent(float x)
{
    int used = 3, barrier = 4; /* unused: barrier(0) */
    for (int i = 0; i < used; i++) { while (x > 4) { x /= 2; } }
    return x + used + barrier;
}
__kernel void waits(image2d_array_t x) { helper(2); }
__kernel void reads(image2d_array_t x) { vxc_short8 v = (vxc_short8)(1); read(x, &v); }
__kernel void plain(image2d_array_t x) { if (innocent(2) > 1) { for (;;) { break; } } }
__kernel void last(image2d_array_t x)
{
    event_t e = 0;
    if (unused > 1) { wait_group_events(1, &e); }
}
_viv_uniform int later;
"""
    kernels = kernels_of(vx_folder, "uses", text)
    assert {name: (kernel.barrier, kernel.uniforms) for name, kernel in kernels.items()} == {
        "waits": (True, ("used",)),
        "reads": (False, ("table", "later")),
        "plain": (False, ()),
        "last": (True, ("unused",)),
    }


# ---- Local memory --------------------------------------------------------------------------------

LOCAL = """
#define SHARED __local
#define SHARED_ARRAY(type, name, size) SHARED type name[size]
typedef int *pointer;
typedef struct {{
    __local int *first; /* __local int not_one[4]; */
    local int *second;
}} both;

int sum(SHARED int *values, both b)
{{
    __local const int *p = values;
    return p[0] + b.first[1] + b.second[2];
}}

__kernel __attribute__((reqd_work_group_size(4, 1, 1))) void k(image2d_array_t y)
{{
    int id = get_local_id(0);
    constant char text[] = "__local int *p";
    {declaration}
    values[id] = id + 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    both b = {{values, values}};
    int result = values[(id + 1) % 4] * 100 + sum({pointer}, b);
    barrier(CLK_LOCAL_MEM_FENCE);
    int distance = {pointer} - values;
    write_imagei(y, (int2)(4 * get_global_id(0), 0), (int4)(result, distance, text[0], 0));
}}
"""


@pytest.mark.parametrize("debug", quick_first(1, [False, True]))
@pytest.mark.parametrize(
    ("declaration", "pointer"),
    [
        ("__local int values[4];", "values"),
        ("local int values[4]; local int *p = values + id;", "p"),
        ("int __local values[4]; int __local *p = values + id;", "p"),
        ("SHARED int values[4], more[4]; SHARED int *const p = values; more[id] = 1;", "p"),
        ("SHARED_ARRAY(int, values, 4), other[2]; other[0] = 1;", "values"),
        ("__local int values[4], *p = values + id, other;  other = 1;", "p"),
        ("SHARED int /* a, b */ *p, values[4] /* , */ , *q = values; p = q + id;", "p"),
        ("__local pointer p; __local int values[4]; p = values;", "p"),
    ],
)
def test_local_memory_spellings(
    vx_folder: Path, declaration: str, pointer: str, debug: bool
) -> None:
    source = vx_folder / "local.vx"
    source.write_text(LOCAL.format(declaration=declaration, pointer=pointer))
    program = compile_vx(source, vx_folder / "cache", debug=debug)
    outcome = run(program, "k", launch((8,), (1,), (4,)), {}, {"y": ((1, 32), np.int32)})
    result, distance, text, _ = outcome.outputs["y"].reshape(2, 4, 4).transpose(2, 0, 1)
    moved = "+ id" in declaration
    expected = [100 * ((i + 1) % 4 + 1) + [1, 2, 3, 4][i if moved else 0] + 2 + 3 for i in range(4)]
    np.testing.assert_array_equal(result, [expected] * 2)
    np.testing.assert_array_equal(distance, [range(4) if moved else [0] * 4] * 2)
    np.testing.assert_array_equal(text, ord("_"))


def test_split_declarations_keep_locations(vx_folder: Path) -> None:
    source = vx_folder / "split.vx"
    source.write_text(
        "__kernel void k(image2d_array_t y)\n{\n"
        "    __local int values[4], *p = values; if (p = values) { p++; }\n"
        "    if (p = values) { p++; }\n}\n"
    )
    diagnostics = compile_vx(source, vx_folder / "cache").diagnostics
    assert "split.vx:3:47: warning: using the result of an assignment" in diagnostics
    assert "split.vx:4:11: warning: using the result of an assignment" in diagnostics


@pytest.mark.parametrize(
    ("declaration", "message"),
    [
        ("typedef __local int shared;", "1: `__local` of a typedef, 'shared', is not emulated"),
        ("void f(void) { __local int *__local p; }", "1: `__local` of a pointer itself, 'p', is"),
        ("struct s { __local int a[4]; };", "1: `__local` of a member of a struct, 'a', is not"),
        (
            "#define BOTH __local int a[4], *p = a;\nvoid f(void) { BOTH }",
            "2: one declaration of variables in local memory and of pointers to it is not emulated",
        ),
    ],
)
def test_unsupported_local_memory(vx_folder: Path, declaration: str, message: str) -> None:
    source = vx_folder / "refused_local.vx"
    source.write_text(f"{declaration}\n__kernel void k(image2d_array_t y) {{ }}\n")
    with pytest.raises(OpkitError) as caught:
        compile_vx(source, vx_folder / "cache")
    assert f"{source}:{message}" in str(caught.value)
