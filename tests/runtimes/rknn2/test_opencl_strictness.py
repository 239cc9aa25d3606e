"""The emulator of OpenCL: statuses of invalid calls, leaks, and programs that do not compile."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opkit.common.errors import OpkitError
from opkit.opencl.pc_compiler import Program
from opkit.runtimes.rknn2.cl_compiler import compile_cl
from opkit.runtimes.rknn2.cl_results import ClRunResult, read_records
from tests.runtimes.rknn2 import opencl_steps as steps
from tests.runtimes.rknn2.opencl_api import (
    Array,
    in_process,
)
from tests.runtimes.rknn2.opencl_builds import emulator


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cl") / "copy.cl"
    path.write_text(steps.SOURCE)
    return path


@pytest.fixture(scope="module")
def program(source: Path) -> Program:
    return compile_cl(source, source.parent / "cache")


def run(
    program: Program, task: steps.Steps, outputs: Mapping[str, Array] | None = None, **more: str
) -> tuple[Any, ClRunResult]:
    """Perform steps in the emulator, in a process."""
    attachments = {f"opencl:{name}": text for name, text in more.items()}
    attachments.setdefault("opencl:program", str(program.library))
    answer, records = in_process(steps.perform, emulator(), attachments, outputs or {}, task)
    result, others = read_records(records.log, records.attachments, outputs or {}, program)
    assert others == []
    return answer, result


# ---- Statuses ------------------------------------------------------------------------------------


def test_statuses_of_platforms(program: Program) -> None:
    found, _ = run(program, steps.statuses_of_platforms)
    assert found == [0, -30, -30, 0, -1, -31, -32, -30, 1]


def test_statuses_of_launches(program: Program) -> None:
    found, result = run(program, steps.statuses_of_launches)
    assert found == {
        "unset": -52,
        "not a multiple": -54,
        "too many in a group": -55,
        "too many in two dimensions": -54,
        "no items": -63,
        "four dimensions": -53,
        "not the required size": -54,
        "required, but none": -54,
        "local memory": -5,
        "right": 0,
        "finish": 0,
        "index": -49,
        "size": -51,
        "a number for a buffer": -51,
        "no buffer": -38,
        "local value": -50,
        "no kernel": -46,
    }
    assert result.misuse == [
        "kernel 'shared' needs 64000 bytes of local memory, and a Mali has 32768"
    ]


def test_statuses_of_buffers(program: Program) -> None:
    found, result = run(program, steps.statuses_of_buffers)
    assert found == {
        "no size": -61,
        "both accesses": -30,
        "unknown flag": -30,
        "memory without a flag": -37,
        "a flag without memory": -37,
        "right": 0,
        "misaligned": -13,
        "too long": -30,
        "empty": -61,
        "of a part": -38,
    }
    assert result.alive == {"context": 1, "command queue": 1, "buffer": 1, "sub-buffer": 2}


# ---- Imports and parts of them -------------------------------------------------------------------


def test_part_of_an_import(program: Program) -> None:
    outputs = {"y": np.zeros(32, np.float32)}
    memory, result = run(program, steps.copy_32, outputs)
    assert result.events == []
    assert result.unwritten == {}
    assert memory == [*[0.0] * 32, *steps.X[:32].tolist(), *[0.0] * 64]


def test_part_of_an_import_ends(program: Program) -> None:
    outputs = {"y": np.zeros(32, np.float32)}
    memory, result = run(program, steps.copy_33, outputs)
    assert [str(event) for event in result.events] == [
        "copy.cl:5: write outside 'y', 1 times; first at element 32 by work item (32, 0, 0)"
    ]
    assert memory[64:] == [0.0] * 64


def test_failure_of_the_third_import(program: Program) -> None:
    found, _ = run(program, steps.import_errors, fail="clImportMemoryARM 3 -6\nclFinish 1 -5")
    assert found == [0, 0, -6, -30]


# ---- Objects -------------------------------------------------------------------------------------


def test_use_after_release(program: Program) -> None:
    found, result = run(program, steps.use_after_release)
    assert found == [-38, -48]
    assert result.misuse == ["a released buffer is used", "a released kernel is used"]
    assert result.alive == {"context": 1, "command queue": 1, "program": 1}
    assert "1 OpenCL object never released: context" in result.problems()


def test_objects_live_as_long_as_they_are_used(program: Program) -> None:
    memory, result = run(program, steps.release_early)
    assert result.problems() == []
    assert memory == np.ones(4, np.float32).tobytes()


def test_fault_is_described(program: Program, tmp_path: Path) -> None:
    file = tmp_path / "text"
    task = partial(steps.divide_by_zero, file=str(file))
    attachments = {"opencl:program": str(program.library)}
    in_process(steps.perform, emulator(), attachments, {}, task, answers=False)
    expected = "divides by zero, or its quotient does not fit in GPU kernel 'by_zero', work item"
    described, log = file.read_text().splitlines()
    assert described == f"True {expected} (0, 0, 0)"
    assert "launch\\tby_zero\\t1\\t1" in log
    assert "undefined" in log
    assert "division by zero" in log
    assert "alive" not in log


def test_two_nodes_are_alive(program: Program) -> None:
    y = np.zeros(8, np.float32)
    records = in_process(steps.two_nodes, emulator(), str(program.library), y)
    result, _ = read_records(records.log, records.attachments, {"y": y}, program)
    assert result.events == []
    assert result.unwritten == {}
    assert result.alive == dict.fromkeys(
        ("context", "command queue", "program", "kernel", "imported buffer"), 1
    )


def test_missing_finish(program: Program) -> None:
    _, result = run(program, steps.forget_finish)
    assert result.misuse == [
        "a command queue is released before clFinish has waited for its commands"
    ]


# ---- Platforms -----------------------------------------------------------------------------------


def test_platform(program: Program) -> None:
    (name, extensions), _ = run(program, steps.texts)
    assert name == "ARM Platform"
    assert {"cl_arm_import_memory", "cl_khr_fp16"} <= {*extensions.split()}


def test_another_platform(program: Program) -> None:
    found, _ = run(program, steps.texts, platform="Clover\ncl_khr_fp16")
    assert found == ("Clover", "cl_khr_fp16")


# ---- Programs ------------------------------------------------------------------------------------


def test_other_program_does_not_build(program: Program) -> None:
    found, _ = run(program, steps.build_others)
    assert [each[:2] for each in found] == [("clBuildProgram", -11)] * 2
    assert found[0][2].endswith("they differ from line 10 on")
    assert 'the build options are "-DN=4"' in found[1][2]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("half h = x[0];", "'__private half' is not allowed"),
        ("double d = x[0];", "requires cl_khr_fp64"),
        ("float *p = x;", "changes address space of pointer"),
        ("VXC_ReadImage(x, x, 0, 0, 0);", "use of undeclared identifier 'VXC_ReadImage'"),
        ("vxc_short8 v;", "use of undeclared identifier 'vxc_short8'"),
        ("y[0] = sinf(x[0]);", "use of undeclared identifier 'sinf'"),
        ("y[0] = max(x[0], 1);", "call to 'max' is ambiguous"),
        ("y[0] = x[0]", "expected ';'"),
        ('#include "other.h"', "the board compiles the text of this file alone"),
    ],
)
def test_source_that_is_not_opencl_c(tmp_path: Path, statement: str, message: str) -> None:
    source = tmp_path / "wrong.cl"
    source.write_text(
        f"__kernel void k(__global float *x, __global float *y)\n{{\n    {statement}\n}}\n"
    )
    with pytest.raises(OpkitError) as caught:
        compile_cl(source, tmp_path / "cache")
    assert f"{source}:3:" in str(caught.value)
    assert message in str(caught.value)


def test_half_with_its_extension(tmp_path: Path) -> None:
    source = tmp_path / "half.cl"
    source.write_text(
        "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
        "__kernel void k(__global const half *x, __global half4 *y)\n"
        "{\n    y[get_global_id(0)] = vload4(get_global_id(0), x) * (half4)(N);\n}\n"
    )
    assert [*compile_cl(source, tmp_path / "cache", "-D N=2").kernels] == ["k"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("int f(int a) { return a; }\n", "no kernel (expected `__kernel void name(`)"),
        (
            "__kernel void k(read_only image2d_t x) {}\n",
            "kernel 'k': parameter 'x' is of type __read_only image2d_t",
        ),
    ],
)
def test_source_without_a_kernel_for_buffers(tmp_path: Path, text: str, message: str) -> None:
    source = tmp_path / "none.cl"
    source.write_text(text)
    with pytest.raises(OpkitError) as caught:
        compile_cl(source, tmp_path / "cache")
    assert message in str(caught.value)


def test_unknown_build_option(tmp_path: Path) -> None:
    source = tmp_path / "copy.cl"
    source.write_text(steps.SOURCE)
    with pytest.raises(OpkitError, match=r"copy\.cl: build option '-O3' is not one of"):
        compile_cl(source, tmp_path / "cache", "-O3")
