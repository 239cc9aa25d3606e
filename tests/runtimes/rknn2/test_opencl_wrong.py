"""The emulator of OpenCL: wrong kernels, each named with its line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from opkit.opencl.pc_compiler import Program
from opkit.runtimes.rknn2.cl_compiler import compile_cl
from tests.runtimes.rknn2.opencl_api import Array, Run
from tests.runtimes.rknn2.opencl_runs import Result, emulate

KERNELS = Path(__file__).with_name("opencl_wrong.cl")
X = np.arange(1, 33, dtype=np.float32)
INTEGERS = np.arange(1, 33, dtype=np.int32)
LOCAL = ("local", 64)
SCRATCH = ("scratch", X.nbytes)
RACES = "another work item"


def wrong(kernel: str, *arguments: object, local: int = 16, y: Array = X) -> Run:
    """Return the run of a kernel on 32 work items."""
    return Run(KERNELS, kernel, arguments or (X, "y"), {"y": y}, [32], [local])


# kernel -> its run, and a part of the message about it
WRONG: dict[str, tuple[Run, str]] = {
    "beyond": (wrong("beyond"), "read outside 'x', 1 times; first at element 32 by work item (31"),
    "before": (wrong("before"), "write outside 'y', 1 times; first at element -1 by work item (0"),
    "row": (
        Run(KERNELS, "row", (X, "y", np.int32(8)), {"y": X}, [8, 4], [8, 1]),
        "read outside 'x', 8 times; first at element 32 by work item (0, 3, 0)",
    ),
    "wrap": (wrong("wrap"), "read outside of all memory, 1 times"),
    "unset": (wrong("unset", X, SCRATCH, "y"), "read of uninitialized memory 'scratch', 1 times"),
    "unset_local": (
        wrong("unset_local"),
        "read of uninitialized memory 'part', 2 times; first at element 5 by work item (10",
    ),
    "unset_argument": (
        wrong("unset_argument", X, "y", ("local", 68)),
        "read of uninitialized memory 'part', 2 times; first at element 16",
    ),
    "branch": (wrong("branch", X, "y", LOCAL), "barrier that only some work items of a group"),
    "branches": (
        wrong("branches", X, "y", LOCAL),
        "barrier while others of the group wait at another one",
    ),
    "unordered": (wrong("unordered", X, "y", LOCAL), RACES),
    "overtaken": (
        wrong("overtaken", X, "y", LOCAL),
        "read of an element that another work item writes 'part'",
    ),
    "fence": (
        wrong("fence", X, SCRATCH, "y"),
        "read of an element that another work item writes 'scratch'",
    ),
    "accumulate": (wrong("accumulate"), "read of uninitialized memory 'y', 32 times"),
    "same": (wrong("same"), "write of an element that another work item writes 'y'"),
    "groups": (wrong("groups"), "write of an element that another work item reads 'y'"),
    "in_place": (wrong("in_place", X, SCRATCH, "y"), RACES),
    "private_array": (wrong("private_array"), "index outside of the array"),
    "local_array": (
        wrong("local_array"),
        "write of 4 bytes past the end of the __local variable 'part', which has 64 bytes",
    ),
    "null": (wrong("null", X, None, "y"), "read through a null pointer"),
    "constant_input": (wrong("constant_input"), "write to a read-only buffer 'x', 32 times"),
    "overflow": (wrong("overflow", INTEGERS, "y", y=INTEGERS), "signed integer overflow"),
    "cast": (wrong("cast", X, "y", y=INTEGERS), "outside of the integer type's range"),
}
NO_LINE = {
    "integers": (
        wrong("integers"),
        "parameter 'y' of the kernel does not point to float32, which tensor 'y' has",
    ),
    "halves": (wrong("halves"), "output 'y': the GPU kernel never wrote 16 elements"),
    "missing": (
        wrong("missing"),
        "output 'y': the GPU kernel never wrote 2 elements; the first is y[30]",
    ),
    "not_waited": (wrong("not_waited", X, "y", ("local", 16)), "copy of a group without a wait"),
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return compile_cl(KERNELS, tmp_path_factory.mktemp("cl"))


@pytest.fixture(scope="module")
def results(program: Program) -> dict[str, Result]:
    """The results of all kernels, in one process: none has an effect on the next."""
    runs = {name: run for name, (run, _) in {**WRONG, **NO_LINE}.items()}
    runs["right"] = wrong("right")
    return dict(zip(runs, emulate(program, [*runs.values()]), strict=True))


@pytest.mark.parametrize("name", WRONG)
def test_wrong_kernel_is_named_with_its_line(results: dict[str, Result], name: str) -> None:
    lines = KERNELS.read_text().splitlines()
    line = 1 + next(i for i, text in enumerate(lines) if text.endswith(f"/* {name} */"))
    problems = results[name][1].problems()
    assert any(
        f"{KERNELS.name}:{line}:" in problem and WRONG[name][1] in problem for problem in problems
    ), problems


@pytest.mark.parametrize("name", NO_LINE)
def test_omission_is_named(results: dict[str, Result], name: str) -> None:
    assert any(NO_LINE[name][1] in problem for problem in results[name][1].problems())


def test_right_kernel_after_wrong_ones(results: dict[str, Result]) -> None:
    outputs, result = results["right"]
    assert result.problems() == []
    np.testing.assert_array_equal(outputs["y"], X)
