"""Invalid uses of memory, the stack and the work-group, reported with their source line."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from elftools.elf.elffile import ELFFile

from opkit.opencl.pc_compiler import Program
from opkit.runtimes.rknn.vx.compiler import compile_vx
from opkit.runtimes.rknn.vx.runner import VxRunResult
from tests.marks import slow_first
from tests.repositories import Repository
from tests.runtimes.rknn.host_build import harness
from tests.runtimes.rknn.vx.support import (
    KERNELS,
    int32,
    int32_array,
    launch,
    line_of,
    param,
    run_vx,
)

Y = ((1, 1, 32), np.int32)
SHORTS = np.arange(-16, 16, dtype=np.int16).reshape(1, 1, 32)


@pytest.fixture(scope="module")
def faults(vx_folder: Path) -> Program:
    return compile_vx(KERNELS / "faults.vx", vx_folder / "cache")


def run_fault(program: Program, kernel: str, number: int, **options: Any) -> VxRunResult:
    """Run four work items of a kernel with the parameters output, arrays and a number."""
    signature = program.kernels[kernel]
    values = {
        "vx_array_int": int32_array(*range(5)),
        "vx_array_char": param(np.arange(12, dtype=np.int8)),
        "int": int32(number),
    }
    return run_vx(
        *(program, kernel, launch((4,), local=(signature.group or (0,))[:1]), {}, {"y": Y}),
        [values[each.type] for each in signature.parameters[1:]],
        uniforms={"table": np.arange(5, dtype=np.int32).tobytes()} if signature.uniforms else None,
        **options,
    )


def messages(result: VxRunResult) -> list[str]:
    """Return all reports of a run, without the folders of files and the columns."""
    found = [*result.undefined, *map(str, result.events), *([result.fault] * bool(result.fault))]
    return [re.sub(r"^(?:.*/)?(faults\.vx:\d+)(?::\d+)?: ", r"\1: ", text) for text in found]


# kernel -> a valid number, an invalid number, and the message about it
MEMORY = {
    "local_write": (
        *(1, 2),
        "write of 4 bytes past the end of the __local variable 'sums', which has 20 bytes; "
        "work item (3, 0, 0)",
    ),
    "local_read": (
        *(5, 6),
        "read of 2 bytes past the end of the __local variable 'row', which has 12 bytes; "
        "work item (0, 0, 0)",
    ),
    "local_index": (
        *(0, 1),
        "write of 4 bytes past the end of the __local variable 'sums', which has 16 bytes; "
        "work item (3, 0, 0)",
    ),
    "private_pointer": (
        *(6, 7),
        "write of 4 bytes past the end of the private variable 'values', which has 28 bytes; "
        "work item (0, 0, 0)",
    ),
    "private_index": (*(6, 7), "index outside of the array; work item (0, 0, 0)"),
    "table_index": (*(4, 5), "index outside of the array; work item (0, 0, 0)"),
    "table_pointer": (
        *(4, 5),
        "the kernel accesses memory past the end of the uniform 'table', which has 20 bytes; "
        "work item (0, 0, 0)",
    ),
    "array_read": (
        *(4, 5),
        "the kernel accesses memory past the end of the argument 'values', which has 20 bytes; "
        "work item (0, 0, 0)",
    ),
    "array_write": (
        *(0, -1),
        "the kernel accesses memory before the argument 'values', which has 20 bytes; "
        "work item (0, 0, 0)",
    ),
    "misaligned": (*(4, 5), "access through a null or misaligned pointer; work item (0, 0, 0)"),
}


@pytest.mark.parametrize("kernel", MEMORY)
def test_access_outside_of_variable(faults: Program, kernel: str) -> None:
    inside, outside, sentence = MEMORY[kernel]
    assert messages(run_fault(faults, kernel, inside)) == []
    line = line_of("faults.vx", f"/* {kernel} */")
    found = messages(run_fault(faults, kernel, outside))
    assert any(text.startswith(f"faults.vx:{line}: {sentence}") for text in found), found


def test_private_variable_before_first(faults: Program) -> None:
    (text,) = messages(run_fault(faults, "private_before", -1))
    assert "write of 4 bytes before the private variable 'values', which has 28 bytes" in text


def test_copy_past_end_of_local_memory(faults: Program) -> None:
    (text,) = messages(run_fault(faults, "local_copy", 0))
    line = line_of("faults.vx", "/* local_copy */")
    assert text.startswith(
        f"faults.vx:{line}: write of 4 bytes past the end of the __local variable 'part'"
    )


def test_local_memory_flooded(faults: Program) -> None:
    first, fault = messages(run_fault(faults, "local_flood", 10**8))
    line = line_of("faults.vx", "/* local_flood */")
    assert first.startswith(f"faults.vx:{line}: write of 4 bytes past the end of the __local vari")
    assert fault.startswith(f"faults.vx:{line}: the kernel crashed with SIGSEGV at address 0x")


def test_memory_of_runtime_is_out_of_reach(faults: Program) -> None:
    with harness().open("rb") as file:
        elf: Any = ELFFile(file)
        symbols = elf.get_section_by_name(".symtab").get_symbol_by_name("printed")
        assert elf["e_type"] == "ET_EXEC"
    (text,) = messages(run_fault(faults, "wild", symbols[0]["st_value"]))
    line = line_of("faults.vx", "/* wild */")
    assert text.startswith(f"faults.vx:{line}: the kernel crashed with SIGSEGV at address 0x")


@pytest.mark.parametrize("kernel", ["stack_overflow", "stack_overflow_of_group"])
def test_stack_overflow(faults: Program, kernel: str) -> None:
    assert messages(run_fault(faults, kernel, 5)) == []
    (text,) = messages(run_fault(faults, kernel, 10**6))
    line = line_of("faults.vx", "int deep(int n)")
    sentence = r"the kernel overflows its stack; work item \(0, 0, 0\)"
    assert re.match(rf"faults\.vx:({line}|{line + 1}): {sentence}", text)


@pytest.mark.parametrize("kernel", ["division", "remainder_of_shorts"])
def test_vector_division_by_zero(faults: Program, kernel: str) -> None:
    assert messages(run_fault(faults, kernel, 2)) == []
    (text,) = messages(run_fault(faults, kernel, 0))
    line = line_of("faults.vx", f"/* {kernel} */")
    assert text.startswith(
        f"faults.vx:{line}: the kernel divides by zero, or its quotient does not fit; "
        "work item (0, 0, 0)"
    )


def test_barrier_in_divergent_flow(faults: Program) -> None:
    for kernel, sentence, item in (
        ("barrier_of_some", "barrier that only some work items of a group reach, 2 times", 0),
        ("two_barriers", "barrier while others of the group wait at another one, 2 times", 2),
    ):
        for everyone in (0, 4):
            assert messages(run_fault(faults, kernel, everyone)) == []
        (text,) = messages(run_fault(faults, kernel, 2))
        line = line_of("faults.vx", f"/* {kernel} */")
        assert text.startswith(f"faults.vx:{line}: {sentence}")
        assert text.endswith(f"by work item ({item}, 0, 0)")
    assert messages(run_fault(faults, "barrier_in_loop", 3)) == []


@pytest.mark.parametrize("kernel", ["text_of_number", "text_of_address"])
def test_printf_of_invalid_text(faults: Program, kernel: str) -> None:
    (text,) = messages(run_fault(faults, kernel, 5))
    line = line_of("faults.vx", f"/* {kernel} */")
    assert text.startswith(f"faults.vx:{line}: printf of another type, 4 times")


# ---- Wrong results that real kernels had --------------------------------------------------------


def run_on_shorts(program: Program, kernel: str, scale: int, **options: Any) -> VxRunResult:
    return run_vx(
        *(program, kernel, launch((32 // scale,), (scale,)), {"x": SHORTS}),
        {"y": (SHORTS.shape, SHORTS.dtype)},
        **options,
    )


def test_launch_scale_too_large_leaves_elements_out(faults: Program) -> None:
    assert run_on_shorts(faults, "eight", 8).unwritten == {}
    assert run_on_shorts(faults, "eight", 16).unwritten == {"y": (16, (0, 0, 8))}


def test_launch_scale_too_small_shows_in_reverse_order(faults: Program) -> None:
    for scale, same in ((8, True), (4, False)):
        one, other = (
            run_on_shorts(faults, "eight", scale, reverse=reverse).outputs["y"]
            for reverse in (False, True)
        )
        assert np.array_equal(one, other) == same


def test_unwritten_lane_holds_pattern(faults: Program) -> None:
    y = run_on_shorts(faults, "unwritten_lane", 8).outputs["y"].reshape(4, 8)
    np.testing.assert_array_equal(y[:, :4], SHORTS.reshape(4, 8)[:, :4])
    np.testing.assert_array_equal(y.view(np.uint16)[:, 4:], 0xAAAA)


def test_signed_sum_in_unsigned_is_wrong_below_zero(faults: Program) -> None:
    for sign, mean in ((1, 5), (-1, 2**30 - 5)):
        x = np.full((1, 4), sign * 5, np.int32)
        outcome = run_vx(
            *(faults, "unsigned_sum", launch((1,)), {"x": x}, {"y": (x.shape, x.dtype)})
        )
        np.testing.assert_array_equal(outcome.outputs["y"], mean)


# ---- In a repository ----------------------------------------------------------------------------


WRONG = [
    (
        "__local int sums[4]; __local int *end = sums; "
        "end[get_image_width(input) == 31 ? 4 : 0] = 1; low.x += 0 * sums[0];",
        "write of 4 bytes past the end of the __local variable 'sums', which has 16 bytes; ",
    ),
    (
        "low += 0 * convert_float4((int4)(7) / (int4)(get_image_width(input) - 31));",
        "the kernel divides by zero, or its quotient does not fit; ",
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "problem"),
    slow_first(1, WRONG),
    ids=["local", "division"],
)
def test_fault_fails_one_case_and_others_run(
    fault: str, problem: str, example: Callable[..., Repository], tmp_path: Path
) -> None:
    path = Path(shutil.copytree(example("exp", "rknn").path, tmp_path / "exp"))
    kernel = path / "rknn_kernel_exp.vx"
    text = kernel.read_text()
    assert "low = exp2(" in text
    kernel.write_text(text.replace("low = exp2(", f"{fault} low = exp2("))
    line = kernel.read_text().splitlines().index(f"    {fault} low = exp2(low * LOG2_E);") + 1
    checked = Repository(path).scons("verbose=1", "check", check=False).stdout
    rows = re.findall(r"^VX kernel +(\S*[a-z]\S*) .*?(FAILED)?$", checked, re.MULTILINE)
    assert {bool(failed) for _, failed in rows} == {True, False}
    assert all("31" in case for case, failed in rows if failed)
    assert f"rknn_kernel_exp.vx:{line}: {problem}" in " ".join(checked.split())
