"""OpenCL C 1.2 as on the board: its macros, its restrictions, and files in any encoding."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from opkit.common.errors import OpkitError
from opkit.opencl.pc_compiler import Program
from opkit.runtimes.rknn.vx.compiler import compile_vx
from tests.runtimes.rknn.vx.support import launch, run


def compiled(folder: Path, name: str, text: str | bytes) -> Program:
    source = folder / f"standard_{name}.vx"
    source.write_bytes(text.encode() if isinstance(text, str) else text)
    return compile_vx(source, folder / "cache")


def test_language_macros(vx_folder: Path) -> None:
    forbidden = ["cl_khr_fp64", "CL_VERSION_2_0", "CL_VERSION_3_0", "__opencl_c_fp64"]
    text = "".join(f"#ifdef {name}\n#error {name}\n#endif\n" for name in forbidden)
    text += (
        "#if __OPENCL_VERSION__ != 120 || __OPENCL_C_VERSION__ != 120 || __IMAGE_SUPPORT__ != 1\n"
        "#error version\n#endif\n"
        "#if CL_VERSION_1_0 != 100 || CL_VERSION_1_1 != 110 || CL_VERSION_1_2 != 120\n"
        "#error versions\n#endif\n#ifndef cl_khr_fp16\n#error half\n#endif\n"
        "__kernel void k(image2d_t x) {}\n"
    )
    assert compiled(vx_folder, "macros", text).diagnostics == ""


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("#include <stdio.h>", ":1:10: fatal error: 'stdio.h' file not found"),
        ("float f(void) { return expf(1.0f); }", ":1:24: error: use of undeclared .*'expf'"),
        ("int getpid(void);", ":1: 'getpid' is declared, but defined nowhere"),
    ],
)
def test_libraries_of_the_pc_are_unavailable(vx_folder: Path, line: str, message: str) -> None:
    call = "getpid();" if "getpid" in line else ""
    with pytest.raises(OpkitError, match=message):
        compiled(vx_folder, "pc", f"{line}\n__kernel void k(image2d_t x) {{ {call} }}\n")


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("int f(int n) { return n < 2 ? 1 : n * f(n - 1); }", "'f' is recursive"),
        ("int n;", "'n' is a program-scope variable that is not constant"),
        ("const float *n;", "'n' is a program-scope variable that is not constant"),
        ("int f(void) { static int n = 3; return n++; }", "'n' is static in a function"),
        ("int f(void) { int (^g)(int) = ^(int n) { return n; }; return g(1); }", "a block"),
    ],
)
def test_invalid_opencl_is_a_warning(vx_folder: Path, line: str, what: str) -> None:
    program = compiled(vx_folder, "forbidden", f"\n{line}\n__kernel void k(image2d_t x) {{ }}\n")
    assert program.diagnostics == (
        f"{program.source}:2: warning: {what}, which OpenCL C 1.2 forbids"
    )


def test_valid_opencl_has_no_warning(vx_folder: Path) -> None:
    text = (
        "_viv_uniform VXC_512Bits table;\n_viv_uniform int n;\n__constant float a[2] = {1, 2};\n"
        "const int b = 3;\nint f(int n) { return n + b; }\n"
        "__kernel void k(image2d_t x) { __local int s[4]; s[0] = f(f(n)); }\n"
    )
    assert compiled(vx_folder, "allowed", text).diagnostics == ""


def test_files_in_any_encoding(vx_folder: Path) -> None:
    head = "\N{BYTE ORDER MARK}/* 卷积 */\n".encode() + "// 卷积核\n".encode("gbk")
    kernel = "__kernel void k(image2d_t y) { write_imagei(y, (int2)(0), (int4)(__LINE__)); }\n"
    program = compiled(vx_folder, "encoding", head + kernel.encode())
    assert program.diagnostics == ""
    outcome = run(program, "k", launch((1,)), {}, {"y": ((1, 4), "int32")})
    assert outcome.outputs["y"].tolist() == [[3, 3, 3, 3]]
    with pytest.raises(OpkitError, match=":4:1: error: unknown type name 'nothing'"):
        compiled(vx_folder, "encoding_error", head + kernel.encode() + b"nothing n; // \xff\n")


def test_vectors_at_addresses_of_elements(vx_folder: Path) -> None:
    text = (
        "__kernel void k(image2d_t y)\n{\n    int8 v = (int8)(0, 1, 2, 3, 4, 5, 6, 7);\n"
        "    int *p = (int *)&v;\n"
        "    write_imagei(y, (int2)(0), *(int4 *)(p + 1) + *(int4 *)(p + 2));\n}\n"
    )
    program = compiled(vx_folder, "addresses", text)
    outcome = run(program, "k", launch((1,)), {}, {"y": ((1, 4), "int32")})
    np.testing.assert_array_equal(outcome.outputs["y"], [[3, 5, 7, 9]])


def test_only_kernels_that_run_have_code(vx_folder: Path) -> None:
    source = vx_folder / "standard_two.vx"
    source.write_text(
        "_viv_uniform int n;\n"
        "__kernel void k(image2d_t y) { write_imagei(y, (int2)(0), (int4)(n)); }\n"
        "__kernel void other(image2d_t y) { write_imagei(y, (int2)(0), (int4)(5)); }\n"
    )
    program = compile_vx(source, vx_folder / "cache", kernels=["k"])
    assert list(program.kernels) == ["k", "other"]
    assert b"__opkit_entry_other" not in program.library.read_bytes()
    outcome = run(
        *(program, "k", launch((1,)), {}, {"y": ((1, 4), "int32")}),
        uniforms={"n": np.int32(7).tobytes()},
    )
    assert outcome.outputs["y"].tolist() == [[7, 7, 7, 7]]
