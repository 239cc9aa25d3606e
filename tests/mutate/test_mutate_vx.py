"""`scons check mutate=N` of an operator with a VX kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from opkit.mutation.c_source import read
from opkit.mutation.mutants import changes
from opkit.mutation.plan import Plan
from opkit.runtimes import parse
from opkit.runtimes.rknn.check import CHECK, VxSource
from tests.mutate.test_mutate import printed
from tests.repositories import Repository, generate

DESCRIPTION = """\
name: Same
inputs: {x: {type: VX_TYPE_TENSOR}}
outputs: {y: {type: VX_TYPE_TENSOR}}
"""
# What the generated kernel does, and another kernel, which never runs.
KERNEL = """\
#include "cl_viv_vx_ext.h"

#define WHOLE VXC_MODIFIER(0, 7, 0, VXC_RM_TowardZero, 0)

__kernel void same(__read_only image2d_array_t x, __write_only image2d_array_t y)
{
    int4 coord = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);
    vxc_short8 elements;
    VXC_ReadImage2DArray(elements, x, coord, VXC_5BITOFFSET_XY(0, 0), WHOLE);
    VXC_WriteImage2DArray(y, coord, elements, WHOLE);
}

__kernel void other(__read_only image2d_array_t x, __write_only image2d_array_t y)
{
    int4 coord = (int4)(1, 2, 3, 0);
    vxc_short8 elements;
    VXC_ReadImage2DArray(elements, x, coord, VXC_5BITOFFSET_XY(0, 0), WHOLE);
    VXC_WriteImage2DArray(y, coord, elements, WHOLE);
}
"""
TESTS = """\
import pytest
from opkit.testing import cases, check_cpu_kernel, check_vx_kernel, uniform

CASES = cases([{{"x": {shape}}}], [uniform(-1, 1)])


@pytest.mark.parametrize("case", CASES, ids=str)
def test_kernels(case):
    check_cpu_kernel(case)
    check_vx_kernel(case)
"""


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    made = generate(tmp_path_factory.mktemp("same"), DESCRIPTION)
    (made.path / "rknn_kernel_same.vx").write_text(KERNEL)
    return made


def survivors(repository: Repository, shape: str) -> list[str]:
    (repository.path / "tests/test_same.py").write_text(TESTS.format(shape=shape))
    text = printed(repository.scons("check", "mutate=99"))
    return [line for line in text.splitlines() if line.startswith(("rknn_", "same_", "    "))]


# Elements that are not converted do not saturate: a change that makes no difference.
SATURATES = [
    "rknn_kernel_same.vx:3",
    "    `VXC_MODIFIER(0, 7, 0, VXC_RM_TowardZero, 0)`",
    "    -> `VXC_MODIFIER(0, 7, 0, VXC_RM_TowardZero, 1)`",
]


# In the one work item of a case with one row, all ids are 0.
AXES = {
    "rknn_kernel_same.vx:7 `get_global_id(0)` -> `get_global_id(1)`",
    "rknn_kernel_same.vx:7 `get_global_id(1)` -> `get_global_id(2)`",
    "rknn_kernel_same.vx:7 `get_global_id(2)` -> `get_global_id(3)`",
}


@pytest.mark.parametrize(
    ("more", "paths"),
    [
        ("", ["rknn_kernel_same.vx"]),
        ("kernels: [cpu]", []),
        ("elementwise: true", []),  # the file is made of the math in C
    ],
)
def test_sources_to_change(more: str, paths: list[str]) -> None:
    found = CHECK.mutable_sources(parse(f"{DESCRIPTION}{more}\n"), Plan(1, 1, (), (), ()))
    assert [each.path for each in found] == paths


@pytest.mark.slow
@pytest.mark.nightly
def test_cases_of_one_row_do_not_notice_the_axes(repository: Repository) -> None:
    assert {*survivors(repository, "(7,)")} >= AXES


@pytest.mark.slow
@pytest.mark.nightly
def test_cases_of_several_rows_notice_all(repository: Repository) -> None:
    assert survivors(repository, "(2, 3, 10)") == SATURATES


@pytest.mark.slow
def test_source_that_clang_takes_only_corrected(repository: Repository, tmp_path: Path) -> None:
    """The rest of it is changed."""
    source = VxSource(parse(DESCRIPTION))
    wider = "    int4 wider = coord * 2.0f;\n    VXC_Write"
    (tmp_path / source.path).write_text(KERNEL.replace("    VXC_Write", wider, 1))
    tree = read(source.tree(tmp_path), source.path)
    found = changes(tree, (tmp_path / source.path).read_bytes(), source.path, source.root)
    assert {7, 9, 11} <= {change.line for change in found}
    for change in found:
        (tmp_path / source.path).write_bytes(
            change.apply(KERNEL.replace("    VXC_Write", wider, 1).encode())
        )
        assert change.line == 10 or source.build(tmp_path)
