"""Reads of a VX kernel outside of a tensor, and their detection by a check."""

from __future__ import annotations

import math
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from opkit.common.errors import OpkitError
from opkit.testing import Border, Case, Operator, check_vx_kernel, run_vx_kernel
from tests.runtimes.rknn.host_build import repository, vx_runtime
from tests.runtimes.rknn.vx.support import KERNELS, line_of
from tests.time_limits import LONG, time_limit, with_growing_limit

DESCRIPTION = """\
name: Border
inputs: {input: {type: VX_TYPE_TENSOR}}
outputs: {output: {type: VX_TYPE_TENSOR}}
params:
  mode: {type: VX_TYPE_INT32, default: 0}
  bits: {type: VX_TYPE_UINT32, default: 0}
  size: {type: VX_TYPE_INT32, default: 20}
  what: {type: VX_TYPE_INT32, default: 0}
  outside: {type: VX_TYPE_FLOAT32, default: 0}
"""
# NaN: the nearest element
REFERENCE = """\
import numpy as np


def output_shapes(input_shapes, params):
    return {"output": tuple(input_shapes["input"])}


def reference(inputs, params):
    outside = params["outside"]
    how = {"mode": "edge"} if outside > 1e29 else {"constant_values": outside}
    wide = np.pad(inputs["input"], ((0, 0), (1, 1)), **how)
    return {"output": wide[:, :-2] + wide[:, 2:]}
"""
UNDEFINED, CONSTANT, REPLICATE = 0xC000, 0xC001, 0xC002
FLOATS, INTEGERS, ENDLESS, CRASH = range(4)
EDGE = 1e30  # stands for the nearest element
DEPENDS = "depends on values outside of the tensors"


@pytest.fixture(scope="module")
def operator(tmp_path_factory: pytest.TempPathFactory) -> Operator:
    root = repository(tmp_path_factory.mktemp("border"), "host_border.c", DESCRIPTION, REFERENCE)
    shutil.copy(KERNELS / "border.vx", root / "rknn_kernel_border.vx")
    (root / "build/host/vx_runtime.so").symlink_to(vx_runtime())
    return Operator(root)


def case(dtype: str = "float16", **params: float) -> Case:
    numbers = np.arange(1, 22).reshape(3, 7).astype(dtype)
    what = INTEGERS if numbers.dtype.kind in "iu" else FLOATS
    return Case("case", {"input": numbers}, {"what": what, **params})


def test_result_depending_on_poison_fails(operator: Operator) -> None:
    for border in (None, Border()):
        problem = run_vx_kernel(case(), border=border, operator=operator).problem
        assert f"output element output[0, 0] (and 5 more) {DEPENDS}" in problem
        line = line_of("border.vx", "read_imagef(input, before)")
        assert re.search(rf"border\.vx:{line}: read outside 'input', \d+ times; first at", problem)


@pytest.mark.parametrize("dtype", ["float16", "float32", "int8", "int16"])
@pytest.mark.parametrize(
    ("border", "outside"),
    [(Border("edge"), EDGE), (Border("constant"), 0), (Border("constant", value=5), 5)],
    ids=["edge", "0", "5"],
)
def test_border_argument(border: Border, outside: float, dtype: str, operator: Operator) -> None:
    check_vx_kernel(case(dtype, outside=outside), border=border, operator=operator)
    wrong = run_vx_kernel(case(dtype, outside=3), border=border, operator=operator)
    assert wrong.problem.startswith("6 of 21 elements of output 'output' are wrong")


@pytest.mark.parametrize("dtype", ["int8", "int16"])
def test_nan_outside_is_0_for_integers(dtype: str, operator: Operator) -> None:
    check_vx_kernel(case(dtype), border=Border("constant", value=math.nan), operator=operator)


# type -> the bits of a constant, and their value
CONSTANTS = {
    "float16": (0xFFFF3C00, 1),
    "float32": (0xC0200000, -2.5),
    "int8": (0x123456FE, -2),
    "int16": (0x1234FFFE, -2),
}


@pytest.mark.parametrize("given", [None, Border("constant", value=9)], ids=["none", "9"])
def test_initializer_border_has_precedence(given: Border | None, operator: Operator) -> None:
    replicated = case(mode=REPLICATE, outside=EDGE)
    check_vx_kernel(replicated, border=given, operator=operator)
    for dtype, (bits, number) in CONSTANTS.items():
        constant = case(dtype, mode=CONSTANT, bits=bits, outside=number)
        check_vx_kernel(constant, border=given, operator=operator)


def test_undefined_border_is_default(operator: Operator) -> None:
    undefined = case(mode=UNDEFINED, bits=0, outside=EDGE)
    assert DEPENDS in run_vx_kernel(undefined, operator=operator).problem
    check_vx_kernel(undefined, border=Border("edge"), operator=operator)


def test_invalid_border_mode(operator: Operator) -> None:
    problem = run_vx_kernel(case(mode=0xC003), operator=operator).problem
    assert "the node's border has the mode 0xC003, which is unknown" in problem
    with pytest.raises(
        OpkitError, match=r"unknown border 'replicate' \(expected poison, edge, con"
    ):
        Border("replicate")


@pytest.mark.parametrize("size", [4, 16, 24])
def test_border_attribute_wrong_size(size: int, operator: Operator) -> None:
    problem = run_vx_kernel(case(size=size), operator=operator).problem
    assert problem == (
        "validate or initialize returns VX_ERROR_INVALID_PARAMETERS (-10)\n"
        f"log: vxSetNodeAttribute: attribute 0x80302 has 20 bytes, not {size}"
    )


# ---- Kernels without an end ----------------------------------------------------------------------


def failure(case: Case, operator: Operator, limit: float = LONG) -> str:
    with time_limit(limit), pytest.raises(pytest.fail.Exception) as failed:
        check_vx_kernel(case, operator=operator)
    return str(failed.value)


def test_endless_loop_is_stopped(operator: Operator) -> None:
    line = line_of("border.vx", "while (what == ENDLESS")
    limit, message = with_growing_limit(
        lambda seconds: failure(case(what=ENDLESS), operator, seconds),
        lambda text: "it was in work item (0, 1, 0)" in text,
    )
    assert re.search(
        r"VX kernel of Border, case case:\n.*rknn_kernel_border\.vx:"
        rf"({line}|{line + 1}|{line + 2}): the kernel did not end within {limit:g} s; it was in "
        r"work item \(0, 1, 0\)$",
        message,
    )


def test_crash_is_reported(operator: Operator) -> None:
    line = line_of("border.vx", "(size - 20 + mode) = 1;")
    assert re.search(
        rf"VX kernel of Border, case case:\n.*rknn_kernel_border\.vx:{line}: the kernel crashed "
        r"with SIGSEGV at address .*, in work item \(0, 1, 0\)$",
        failure(case(what=CRASH), operator),
    )


def test_unbuilt_runtime(operator: Operator, tmp_path: Path) -> None:
    root = shutil.copytree(operator.root, tmp_path / "copy", symlinks=True)
    (root / "build/host/vx_runtime.so").unlink()
    with pytest.raises(pytest.fail.Exception, match=r"vx_runtime.so not found; run `scons target="):
        check_vx_kernel(case(), operator=Operator(root))
