"""Strict and lenient boards: padding behind buffers, and launches in whole groups."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from opkit.common.errors import OpkitError
from opkit.opencl.pc_compiler import Program
from opkit.runtimes.rknn.vx.compiler import compile_vx
from opkit.runtimes.rknn.vx.emulated_kernel import HARMLESS, notes, problems
from opkit.runtimes.rknn.vx.launch import PADDED
from tests.runtimes.rknn.vx.support import int32, int32_array, launch, run, run_vx

SOURCE = """\
__kernel void load(image2d_t y, vx_array_int list, int at)
{
    int4 v = vload4(0, list.item + at);
    write_imagei(y, (int2)(0), v.xyzx);
}
__kernel void element(image2d_t y, vx_array_int list, int at)
{
    write_imagei(y, (int2)(0), (int4)(list.item[at]));
}
__kernel void store(image2d_array_t y)
{
    int8 descriptor;
    _viv_asm(COPY, descriptor, y, 32);
    vstore4((int4)(7), 0, (int *)(uintptr_t)descriptor.s0);
    write_imagei(y, (int2)(0), (int4)(5));
}
__kernel __attribute__((reqd_work_group_size(8, 1, 1))) void groups(image2d_t y)
{
    __local int sums[8];
    sums[get_local_id(0)] = get_global_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    write_imagei(y, (int2)(get_global_id(0) * 4, 0), (int4)(sums[get_local_id(0) ^ 1]));
}
"""
PADDED_LIST = {"y": ((1, 4), "int32")}


@pytest.fixture(scope="module")
def program(vx_folder: Path) -> Program:
    source = vx_folder / "board.vx"
    source.write_text(SOURCE)
    return compile_vx(source, vx_folder / "cache")


@pytest.mark.slow
def test_vector_of_a_short_array(program: Program) -> None:
    params = [int32_array(7, 8, 9), int32(0)]
    strict = run_vx(program, "load", launch((1,)), {}, PADDED_LIST, params)
    assert "past the end of the argument 'list', which has 12 bytes" in strict.fault
    outcome = run(program, "load", launch((1,)), {}, PADDED_LIST, params, board="lenient")
    assert outcome.outputs["y"].tolist() == [[7, 8, 9, 7]]
    assert problems(outcome, HARMLESS | PADDED) == []
    (note,) = notes(outcome, HARMLESS | PADDED)
    assert note.startswith("board.vx:3: read of padding bytes 'list', 1 times; first at")
    assert note.endswith("a board has memory there, which the elements do not fill")


def test_padding_has_an_end(program: Program) -> None:
    for at, is_inside in ((1, True), (15, True), (17, False), (-1, False)):
        arguments = [int32_array(7, 8, 9), int32(at)]
        outcome = run_vx(
            *(program, "load", launch((1,)), {}, PADDED_LIST, arguments), board="lenient"
        )
        assert (outcome.fault == "") == is_inside, at


def test_elements_in_the_padding(program: Program) -> None:
    arguments = [int32_array(7, 8, 9), int32(3)]
    outcome = run(*(program, "element", launch((1,)), {}, PADDED_LIST, arguments), board="lenient")
    assert [event.kind for event in outcome.events] == ["read of padding bytes"]
    assert outcome.outputs["y"].tolist() == [[0x7E7E7E7E] * 4]


def test_store_into_the_padding(program: Program) -> None:
    outputs = {"y": ((1, 3), "int32")}
    assert "accesses memory past" in run_vx(program, "store", launch((1,)), {}, outputs).fault
    outcome = run(program, "store", launch((1,)), {}, outputs, board="lenient")
    assert outcome.outputs["y"].tolist() == [[5, 5, 5]]
    assert "write of padding bytes" in [event.kind for event in outcome.events]


def test_launch_of_no_whole_groups(program: Program) -> None:
    outputs = {"y": ((1, 40), "int32")}
    with pytest.raises(OpkitError, match=r"globalWorkSize\[0\] = 10 is not a multiple"):
        run_vx(program, "groups", launch((10,)), {}, outputs)
    outcome = run(program, "groups", launch((10,)), {}, outputs, board="lenient")
    expected = np.repeat(np.arange(10) ^ 1, 4)
    np.testing.assert_array_equal(outcome.outputs["y"][0], expected)
    assert outcome.rounded.startswith("globalWorkSize (10,) is rounded up to (16,), whole groups")
    assert outcome.rounded in notes(outcome)
    with pytest.raises(OpkitError, match="is not a multiple of localWorkSize"):
        run_vx(program, "groups", launch((10,), local=(8,)), {}, outputs, board="lenient")


def test_launch_of_whole_groups(program: Program) -> None:
    outputs = {"y": ((1, 64), "int32")}
    outcome = run(program, "groups", launch((16,)), {}, outputs, board="lenient")
    assert (outcome.rounded, notes(outcome)) == ("", [])
