"""opkit's header of librknnrt, and its users, compile for every ABI without a warning."""

from __future__ import annotations

from pathlib import Path

import pytest

from opkit.toolchains.abi import ABIS
from tests.compiling import LANGUAGES, compile_c
from tests.marks import quick_first
from tests.runtimes.rknn2.support import HEADERS, RUNTIME


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("abi", quick_first(2, ABIS))
def test_header_compiles(abi: str, language: str, tmp_path: Path) -> None:
    """The header itself asserts the layouts."""
    source = tmp_path / "source.c"
    source.write_text("#include <rknn_custom_op.h>\n")
    result = compile_c(tmp_path / "o", "-c", source, HEADERS, abi=ABIS[abi], language=language)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("    uint32_t h_stride;\n", "rknn_tensor_attr"),
        ("    uint64_t phys_addr;\n", "rknn_tensor_mem"),
        ("    rknn_gpu_op_context gpu_ctx;\n", "rknn_custom_op_context"),
        ("    uint64_t cl_source_size;\n", "rknn_custom_op"),
    ],
)
def test_other_layout_is_an_error(line: str, message: str, tmp_path: Path) -> None:
    text = (RUNTIME / "include/rknn_custom_op.h").read_text()
    assert text.count(line) == 1
    source = tmp_path / "source.c"
    source.write_text(text.replace(line, ""))
    result = compile_c(tmp_path / "o", "-c", source)
    assert "static assertion failed due to requirement" in result.stderr
    assert f": {message}\n" in result.stderr


@pytest.mark.parametrize("abi", quick_first(2, ABIS))
def test_helpers_compile(abi: str, tmp_path: Path) -> None:
    source = tmp_path / "source.c"
    source.write_text(f'#include "{RUNTIME / "custom_op.h"}"\n')
    result = compile_c(tmp_path / "o", "-c", source, HEADERS, abi=ABIS[abi])
    assert (result.returncode, result.stderr) == (0, "")
