"""The tensors of a VX kernel: their attributes, their ranks, and writes outside of them."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opkit.check.checking import run_kernel
from opkit.common.errors import OpkitError
from opkit.runtimes.rknn.vx_checks import vx_kernel
from opkit.testing import Border, Case, Operator, TensorFormat, check_vx_kernel, run_vx_kernel
from tests.runtimes.rknn.host_build import repository, vx_runtime
from tests.runtimes.rknn.vx.support import KERNELS, Array, line_of

DESCRIPTION = """\
name: Tensors
vx_version: 2
inputs: {input: {type: VX_TYPE_TENSOR}}
outputs: {output: {type: VX_TYPE_TENSOR, dtype: float32}}
params:
  items: {type: VX_TYPE_UINT32}
  rows: {type: VX_TYPE_UINT32}
  bfloat16: {type: VX_TYPE_UINT32, default: 0}
"""
REFERENCE = """\
import numpy as np


def output_shapes(input_shapes, params):
    return {"output": tuple(input_shapes["input"])}


def reference(inputs, params):
    numbers = inputs["input"]
    if params["bfloat16"]:
        numbers = (numbers.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return {"output": numbers.astype(np.float32)}
"""


@pytest.fixture(scope="module")
def operator(tmp_path_factory: pytest.TempPathFactory) -> Operator:
    root = repository(tmp_path_factory.mktemp("tensors"), "host_tensors.c", DESCRIPTION, REFERENCE)
    shutil.copy(KERNELS / "tensors.vx", root / "rknn_kernel_tensors.vx")
    (root / "build/host/vx_runtime.so").symlink_to(vx_runtime())
    return Operator(root)


def case(numbers: Array, **params: Any) -> Case:
    """Return a case with a launch over all elements."""
    rows = numbers.shape[-2] if numbers.ndim > 1 else 1
    needed = {"items": -(-numbers.shape[-1] // 4), "rows": rows}
    return Case("case", {"input": numbers}, {**needed, **params})


def numbers(dtype: str, *shape: int) -> Array:
    values = np.random.default_rng(len(shape)).integers(-100, 100, shape)
    return values.astype(dtype)


@pytest.mark.parametrize("shape", [(8,), (3, 8), (2, 3, 8), (2, 2, 3, 8)], ids=len)
@pytest.mark.parametrize("dtype", ["float16", "float32", "int8", "uint8", "int16"])
def test_ranks_and_types(operator: Operator, dtype: str, shape: tuple[int, ...]) -> None:
    check_vx_kernel(case(numbers(dtype, *shape)), operator=operator)


def elements_as_numbers(case: Case, formats: dict[str, TensorFormat], operator: Operator) -> str:
    """Return the problem of a quantized kernel if the reference computes with the elements."""
    kernel = vx_kernel(operator, formats=formats)
    return run_kernel(kernel, operator, case, "VX kernel").problem


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
def test_affine_quantization(operator: Operator, dtype: str) -> None:
    quantized = case(numbers(dtype, 3, 8))
    formats = {"input": TensorFormat(scale=0.25, zero_point=7)}
    check_vx_kernel(quantized, formats=formats, operator=operator)
    problem = elements_as_numbers(quantized, formats, operator)
    assert problem.startswith("24 of 24 elements of output 'output' are wrong")


def test_fixed_point_position(operator: Operator) -> None:
    fixed = case(numbers("int16", 3, 8))
    formats = {"input": TensorFormat(fixed_point_position=5)}
    check_vx_kernel(fixed, formats=formats, operator=operator)
    assert "output[0, 0]" in elements_as_numbers(fixed, formats, operator)


def test_bfloat16(operator: Operator) -> None:
    bits = (numbers("float32", 3, 8).view(np.uint32) >> 16).astype(np.uint16).view(np.int16)
    formats = {"input": TensorFormat(bfloat16=True)}
    check_vx_kernel(case(bits, bfloat16=1), formats=formats, operator=operator)


def test_invalid_formats(operator: Operator) -> None:
    with pytest.raises(OpkitError, match="a scale or a fixed_point_position, not both"):
        TensorFormat(scale=1, fixed_point_position=1)
    with pytest.raises(
        OpkitError, match=r"formats has 'x', which is not a tensor; op\.yml has: in"
    ):
        run_vx_kernel(case(numbers("int8", 1, 4)), formats={"x": TensorFormat()}, operator=operator)


# ---- Writes outside -----------------------------------------------------------------------------

EDGE = Border("edge")


@pytest.mark.parametrize("width", [12, 10, 4])
def test_launch_rounded_up_drops_writes(operator: Operator, width: int) -> None:
    rounded = case(numbers("int16", 3, width), items=4)
    check_vx_kernel(rounded, operator=operator)
    note = run_vx_kernel(rounded, operator=operator).note
    count = 4 * 3 * (4 - -(-width // 4))
    line = line_of("tensors.vx", "write_imagef(output, at, (elements")
    assert re.fullmatch(
        rf"VX kernel: .*tensors\.vx:{line}: write outside by a padding work item "
        rf"'output', {count} times; first at .*; a board drops it",
        note,
    )
    assert run_vx_kernel(case(numbers("int16", 3, width)), operator=operator).note == ""


@pytest.mark.parametrize(
    "launch",
    [{"items": 5}, {"items": 8}, {"items": 3, "rows": 4}, {"items": 4, "rows": 4}],
    ids=lambda launch: str(launch),
)
def test_other_writes_outside_fail(operator: Operator, launch: dict[str, int]) -> None:
    wrong = case(numbers("int16", 3, 12), **launch)
    problem = run_vx_kernel(wrong, operator=operator).problem
    assert re.search(r"tensors\.vx:\d+: write outside 'output', \d+ times", problem)
    allowed = run_vx_kernel(wrong, writes_outside="dropped", operator=operator)
    assert (allowed.problem, "write outside 'output'" in allowed.note) == ("", True)
    with pytest.raises(
        OpkitError, match=r"unknown writes_outside 'no' \(expected failure, dropped"
    ):
        run_vx_kernel(wrong, writes_outside="no", operator=operator)
    with pytest.raises(OpkitError, match=r"unknown board 'rk' \(expected strict, lenient\)"):
        run_vx_kernel(wrong, board="rk", operator=operator)


# ---- Which kernel, and which language -----------------------------------------------------------


def test_description_names_kernel_of_file(operator: Operator, tmp_path: Path) -> None:
    check_vx_kernel(case(numbers("int8", 1, 8)), operator=operator)
    root = shutil.copytree(operator.root, tmp_path / "copy", symlinks=True)
    path = root / "rknn_kernel_tensors.vx"
    text = path.read_text()
    for name, message in (
        ("to_floats", "the board would run 'to_floats' for 'to_float', because it takes the first"),
        ("from_float", "has no kernel 'to_float', which is the name in vx_kernel_description; it "),
    ):
        path.write_text(text.replace("void to_float(", f"void {name}("))
        problem = run_vx_kernel(case(numbers("int8", 1, 8)), operator=Operator(root)).problem
        assert message in problem


@pytest.mark.parametrize("version", [1, 2])
def test_vx_version_of_description(operator: Operator, tmp_path: Path, version: int) -> None:
    root = shutil.copytree(operator.root, tmp_path / "copy", symlinks=True)
    path = root / "rknn_kernel_tensors.vx"
    path.write_text(f"#if VX_VERSION != {version}\n#error\n#endif\n{path.read_text()}")
    description = DESCRIPTION if version == 2 else DESCRIPTION.replace("vx_version: 2\n", "")
    (root / "op.yml").write_text(description)
    check_vx_kernel(case(numbers("int8", 1, 8)), operator=Operator(root))
