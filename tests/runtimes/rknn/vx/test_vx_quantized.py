"""A quantized operator as generated: scale and zero point come from the tensors."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from opkit.check.cases import Quantization
from rknn_op.runtimes.rknn.dot_products import DOT_PRODUCTS
from tests.marks import slow_first
from tests.repositories import Repository, generate

DESCRIPTION = """\
name: Halve
inputs:
  low: {type: VX_TYPE_TENSOR, dtype: uint8}
  other: {type: VX_TYPE_TENSOR, dtype: uint8}
outputs:
  high: {type: VX_TYPE_TENSOR}
  elements: {type: VX_TYPE_TENSOR, dtype: uint8}
params:
  low_scale: {type: VX_TYPE_FLOAT32, default: 1}
"""
LAUNCH, KERNEL, REFERENCE, TESTS = (
    "rknn_kernel_halve.c",
    "rknn_kernel_halve.vx",
    "halve_reference.py",
    "tests/test_halve.py",
)


@pytest.fixture(scope="module")
def quantized(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return generate(tmp_path_factory.mktemp("quantized"), DESCRIPTION)


@pytest.fixture
def copy(quantized: Repository, tmp_path: Path) -> Repository:
    return Repository(Path(shutil.copytree(quantized.path, tmp_path / "Halve", symlinks=True)))


def edit(repository: Repository, file: str, old: str, new: str) -> None:
    path = repository.path / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_generated_test_has_short_lines(quantized: Repository) -> None:
    assert max(map(len, (quantized.path / TESTS).read_text().splitlines())) <= 100


@pytest.mark.slow
def test_generated_kernel_passes(quantized: Repository) -> None:
    """It requantizes: the formats of input and outputs differ in the generated test."""
    checked = quantized.scons("check").stdout
    [(cases, error, ulp)] = re.findall(r"^VX kernel +(\d+) +(\S+) +(\d+) ", checked, re.MULTILINE)
    assert (cases, error, ulp) == ("18", "0", "0")  # 3 shapes, 2 kinds of values, 3 of low_scale
    assert "note: no case" not in checked


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "old", "new"),
    slow_first(
        2,
        [
            pytest.param(KERNEL, "- (float)low_zero_point", "- 4.0f", id="zero point of the input"),
            pytest.param(KERNEL, "* low_scale_", "* 1.0f", id="scale of the input"),
            pytest.param(KERNEL, "+ elements_zero_point", "+ 3", id="zero point of an output"),
            pytest.param(KERNEL, "/ high_scale", "/ 0.5f", id="scale of an output"),
            pytest.param(KERNEL, "TowardZero, 1)", "TowardZero, 0)", id="no clamp"),
            pytest.param(LAUNCH, "HALVE_INDEX_ELEMENTS,", "HALVE_INDEX_LOW,", id="other tensor"),
        ],
    ),
)
def test_wrong_quantization_fails(copy: Repository, file: str, old: str, new: str) -> None:
    edit(copy, file, old, new)
    checked = copy.scons("check", check=False).stdout
    assert re.search(r"^VX kernel .* FAILED$", checked, re.MULTILINE), checked


@pytest.mark.slow
def test_reference_computes_with_numbers(copy: Repository) -> None:
    edit(
        copy, KERNEL, "    /* Write the real", "    low_ *= 0.5f;\n    high_ *= 0.5f;\n    /* Write"
    )
    edit(copy, REFERENCE, 'np.array(inputs["low"])', 'np.array(inputs["low"]) * 0.5')
    run = copy.run("pytest", "-k", "vx", "tests").stdout
    assert re.search(r"^VX kernel .* 0 +0 +-$", run, re.MULTILINE)


@pytest.mark.slow
def test_nan_has_no_element(copy: Repository) -> None:
    edit(copy, REFERENCE, 'np.array(inputs["low"])', 'inputs["low"] * np.float32("nan")')
    run = copy.run("pytest", "-k", "vx", "tests", check=False).stdout
    assert "returns 'high' with NaN, which has no quantized uint8" in " ".join(run.split())


@pytest.mark.slow
def test_tensors_of_another_type_are_refused(copy: Repository) -> None:
    edit(copy, LAUNCH, "VX_TYPE_UINT8", "VX_TYPE_INT8")
    checked = copy.scons("check", check=False).stdout
    problem = "parameter 'high': it holds VX_TYPE_UINT8; the VX kernel is for INT8"
    assert problem in " ".join(checked.split())


@pytest.mark.slow
def test_fixed_point(copy: Repository) -> None:
    edit(copy, TESTS, "scale=0.5, zero_point=3", "fixed_point_position=2")
    assert "FAILED" not in copy.scons("check").stdout


def test_elements_are_the_nearest() -> None:
    quantization = Quantization(0.5, 3)
    elements = np.arange(256, dtype=np.uint8)
    numbers = quantization.numbers(elements)
    assert numbers[:4].tolist() == [-1.5, -1, -0.5, 0]
    np.testing.assert_array_equal(quantization.elements(numbers, elements.dtype), elements)
    beyond = np.array([-np.inf, -9, 0.2, 0.25, 0.3, 0.75, 1e9])
    assert quantization.elements(beyond, elements.dtype).tolist() == [0, 0, 3, 3, 4, 5, 255]


def test_published_table_of_conversions() -> None:
    """Hundreds of published kernels convert int32 to uint8 by this table."""
    words = (0x33333333, 0x11110000, 0x03020100, 0x03020100, 0, 0, 0, 0x2400, *[0] * 8)
    assert DOT_PRODUCTS["pack_ints_to_bytes"].words() == words
