"""The OpenVX headers compile everywhere, and match the boards' binaries."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import Symbol, SymbolTableSection

from opkit.toolchains.abi import ABIS, Abi
from tests.compiling import C_SOURCES, INCLUDE, LANGUAGES, RKNN, build, compile_c
from tests.marks import quick_first

STUB = RKNN / "openvx_stub.c"
HEADERS = sorted(path.relative_to(INCLUDE).as_posix() for path in INCLUDE.glob("*/*.h"))
ALL_VX = "".join(f"#include <{name}>\n" for name in HEADERS if name.startswith("VX/"))

each_abi = pytest.mark.parametrize("abi", quick_first(2, ABIS.values()), ids=lambda abi: abi.name)
each_language = pytest.mark.parametrize("language", LANGUAGES)

# The constants of the board's driver and runtime, read from their binaries.
VALUES = {
    "VX_SUCCESS": 0,
    "VX_FAILURE": -1,
    "VX_ERROR_NOT_SUPPORTED": -3,
    "VX_ERROR_NOT_ALLOCATED": -5,
    "VX_ERROR_NO_MEMORY": -8,
    "VX_ERROR_OPTIMIZED_AWAY": -9,
    "VX_ERROR_INVALID_PARAMETERS": -10,
    "VX_ERROR_INVALID_REFERENCE": -12,
    "VX_ERROR_INVALID_FORMAT": -14,
    "VX_ERROR_INVALID_DIMENSION": -15,
    "VX_ERROR_INVALID_VALUE": -16,
    "VX_ERROR_INVALID_TYPE": -17,
    "VX_ERROR_INVALID_GRAPH": -18,
    "VX_ERROR_REFERENCE_NONZERO": -24,
    "VX_STATUS_MIN": -25,
    "VX_TYPE_CHAR": 1,
    "VX_TYPE_INT8": 2,
    "VX_TYPE_UINT8": 3,
    "VX_TYPE_INT16": 4,
    "VX_TYPE_UINT16": 5,
    "VX_TYPE_INT32": 6,
    "VX_TYPE_UINT32": 7,
    "VX_TYPE_INT64": 8,
    "VX_TYPE_UINT64": 9,
    "VX_TYPE_FLOAT32": 10,
    "VX_TYPE_FLOAT64": 11,
    "VX_TYPE_ENUM": 12,
    "VX_TYPE_SIZE": 13,
    "VX_TYPE_FLOAT16": 15,
    "VX_TYPE_BOOL": 16,
    "VX_TYPE_BOOL8": 17,
    "VX_TYPE_RECTANGLE": 0x20,
    "VX_TYPE_KEYPOINT": 0x21,
    "VX_TYPE_COORDINATES2D": 0x22,
    "VX_TYPE_COORDINATES3D": 0x23,
    "VX_TYPE_COORDINATES2DF": 0x24,
    "VX_TYPE_HOG_PARAMS": 0x28,
    "VX_TYPE_HOUGH_LINES_PARAMS": 0x29,
    "VX_TYPE_LINE_2D": 0x2A,
    "VX_TYPE_TENSOR_MATRIX_MULTIPLY_PARAMS": 0x2B,
    "VX_TYPE_REFERENCE": 0x800,
    "VX_TYPE_SCALAR": 0x80D,
    "VX_TYPE_ARRAY": 0x80E,
    "VX_TYPE_TENSOR": 0x815,
    "VX_TYPE_BFLOAT16": 0x81A,
    "VX_TYPE_PROGRAM": 0x900,
    "VX_INPUT": 0,
    "VX_OUTPUT": 1,
    "VX_PARAMETER_STATE_REQUIRED": 0x8000,
    "VX_PARAMETER_STATE_OPTIONAL": 0x8001,
    "VX_CONVERT_POLICY_SATURATE": 0xA001,
    "VX_MEMORY_TYPE_HOST": 0xE001,
    "VX_READ_ONLY": 0x11001,
    "VX_WRITE_ONLY": 0x11002,
    "VX_READ_AND_WRITE": 0x11003,
    "VX_ROUND_POLICY_TO_NEAREST_EVEN": 0x12002,
    "VX_TENSOR_NUMBER_OF_DIMS": 0x081500,
    "VX_TENSOR_DIMS": 0x081501,
    "VX_TENSOR_DATA_TYPE": 0x081502,
    "VX_TENSOR_FIXED_POINT_POSITION": 0x081503,
    "VX_TENSOR_QUANT_FORMAT": 0x781500,
    "VX_TENSOR_ZERO_POINT": 0x781501,
    "VX_TENSOR_SCALE": 0x781502,
    "VX_TENSOR_RANK": 0x781503,
    "VX_TENSOR_PRECISION": 0x781504,
    "VX_TENSOR_LIFETIME": 0x781505,
    "VX_TENSOR_VALUE": 0x781506,
    "VX_ARRAY_ITEMTYPE": 0x080E00,
    "VX_ARRAY_NUMITEMS": 0x080E01,
    "VX_ARRAY_CAPACITY": 0x080E02,
    "VX_ARRAY_ITEMSIZE": 0x080E03,
    "VX_SCALAR_TYPE": 0x080D00,
    "VX_NODE_BORDER": 0x080302,
    "VX_NODE_LOCAL_DATA_SIZE": 0x080303,
    "VX_NODE_LOCAL_DATA_PTR": 0x080304,
    "VX_NODE_VALID_RECT_RESET": 0x080308,
    "VX_NODE_ATTRIBUTE_KERNEL_EXECUTION_PARAMETERS": 0x780300,
    "VX_PROGRAM_ATTRIBUTE_BUILD_LOG": 0x790000,
    "VX_MAX_KERNEL_NAME": 256,
    "VX_MAX_LOG_MESSAGE_LEN": 1024,
    "VX_MAX_WORK_ITEM_DIMENSIONS": 3,
    "sizeof(vx_enum)": 4,
    "sizeof(vx_bool)": 4,
    "sizeof(vx_param_description_t)": 12,
    "sizeof(vx_border_t)": 20,
    # The runtime's number for every custom operator.
    "(uint32_t)(VX_KERNEL_BASE(VX_ID_DEFAULT, 3) + 0x80)": 0xFFF03080,
}
SIZES_BY_POINTER = {
    8: {
        "sizeof(vx_size)": 8,
        "sizeof(vx_kernel_description_t)": 328,
        "offsetof(vx_kernel_description_t, function)": 264,
        "offsetof(vx_kernel_description_t, numParams)": 280,
        "offsetof(vx_kernel_description_t, deinitialize)": 320,
        "sizeof(vx_kernel_execution_parameters_t)": 104,
        "offsetof(vx_kernel_execution_parameters_t, globalWorkSize)": 80,
    },
    4: {
        "sizeof(vx_size)": 4,
        "sizeof(vx_kernel_description_t)": 292,
        "offsetof(vx_kernel_description_t, function)": 260,
        "offsetof(vx_kernel_description_t, numParams)": 268,
        "offsetof(vx_kernel_description_t, deinitialize)": 288,
        "sizeof(vx_kernel_execution_parameters_t)": 52,
        "offsetof(vx_kernel_execution_parameters_t, globalWorkSize)": 40,
    },
}


def declared_functions() -> set[str]:
    text = "".join((INCLUDE / name).read_text() for name in HEADERS if name.startswith("VX/"))
    return set(re.findall(r"VX_API_CALL (\w+)\(", text))


def dynamic_symbols(elf: ELFFile) -> list[Symbol]:
    table = elf.get_section_by_name(".dynsym")
    assert isinstance(table, SymbolTableSection)
    return list(table.iter_symbols())


@each_abi
@each_language
def test_headers_are_self_contained(abi: Abi, language: str, tmp_path: Path) -> None:
    for name in HEADERS:
        source = tmp_path / "source.c"
        source.write_text(f"#include <{name}>\n#include <{name}>\nextern int here;\nint here;\n")
        result = compile_c(tmp_path / "source.o", source, "-c", abi=abi, language=language)
        assert result.returncode == 0, f"{name}: {result.stderr}"


@each_abi
@each_language
def test_values_and_layouts_match_board(abi: Abi, language: str, tmp_path: Path) -> None:
    expected = VALUES | SIZES_BY_POINTER[4 if abi.name == "armhf" else 8]
    lines = (f'VX_STATIC_ASSERT({name} == {value}, "{name}");' for name, value in expected.items())
    source = tmp_path / "values.c"
    source.write_text(ALL_VX + "\n".join(lines) + "\n")
    result = compile_c(tmp_path / "values.o", source, "-c", abi=abi, language=language)
    assert result.returncode == 0, result.stderr


@each_abi
def test_wrong_value_fails_to_compile(abi: Abi, tmp_path: Path) -> None:
    source = tmp_path / "values.c"
    source.write_text(ALL_VX + 'VX_STATIC_ASSERT(sizeof(vx_param_description_t) == 16, "no");\n')
    result = compile_c(tmp_path / "values.o", source, "-c", abi=abi)
    assert result.returncode != 0
    assert "static assertion failed" in result.stderr


@each_abi
@each_language
def test_vendor_style_kernel_compiles(abi: Abi, language: str, tmp_path: Path) -> None:
    source = C_SOURCES / "vendor_style_kernel.c"
    result = compile_c(tmp_path / "kernel.o", source, "-c", abi=abi, language=language)
    assert result.returncode == 0, result.stderr


@each_abi
def test_vendor_style_kernel_links_with_stub(abi: Abi, tmp_path: Path) -> None:
    build(tmp_path / "libOpenVX.so", "-shared", STUB, abi=abi)
    kernel = build(
        tmp_path / "libhalve.so",
        "-shared",
        C_SOURCES / "vendor_style_kernel.c",
        "-Wl,--no-undefined",
        f"-L{tmp_path}",
        "-lOpenVX",
        abi=abi,
    )
    with kernel.open("rb") as file:
        elf = ELFFile(file)
        symbols = {symbol.name: symbol for symbol in dynamic_symbols(elf)}
        dynamic: Any = elf.get_section_by_name(".dynamic")
        needed = [tag.needed for tag in dynamic.iter_tags() if tag.entry.d_tag == "DT_NEEDED"]
        pointer = elf.elfclass // 8
        description = symbols["vx_kernel_Halve_cpu"]
        assert description["st_size"] == (328 if pointer == 8 else 292)
        assert symbols["vx_kernel_Halve_list"]["st_size"] == 3 * pointer
        assert symbols["vxCopyTensorPatch"]["st_shndx"] == "SHN_UNDEF"
        assert "libOpenVX.so" in needed


@each_abi
def test_stub_exports_declared_functions(abi: Abi, tmp_path: Path) -> None:
    stub = build(tmp_path / "libOpenVX.so", "-shared", "-fvisibility=hidden", STUB, abi=abi)
    with stub.open("rb") as file:
        exported = {
            symbol.name
            for symbol in dynamic_symbols(ELFFile(file))
            if symbol["st_shndx"] != "SHN_UNDEF" and symbol["st_info"]["type"] == "STT_FUNC"
        }
    assert {name for name in exported if not name.startswith("_")} == declared_functions()


def test_declared_functions_exist_on_boards() -> None:
    missing_on_boards = {
        "vxGetLogEntry",
        "vxClearLog",
        "vxRegisterHelperAsLogReader",
        "vxCreateNodeByStructure",
        "math_gcd",
    }
    assert not declared_functions() & missing_on_boards
    assert {"vxQueryTensor", "vxCopyTensorPatch", "vxSetNodeAttribute"} <= declared_functions()
