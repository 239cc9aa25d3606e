"""A check finds an element that a later call does not write, although the kernel keeps memory."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.repositories import generate

pytestmark = pytest.mark.slow

TESTS = """\
import numpy as np
import pytest

from opkit.testing import Case, check_cpu_kernel

CASES = [Case(str(size), {{"x": np.arange(1, size + 1).astype("{dtype}")}}) for size in (4, 6, 5)]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case)
"""
# The fifth call in a process is the second one of a node, beside another node.
COPY = """\
    static int calls;
    const size_t skipped = ++calls == 5 ? 1 : inputs->x.size;
    for (size_t i = 0; i < inputs->x.size; i++) {{
        if (i != skipped) {{
            outputs->y.{member}[i] = inputs->x.{member}[i];
        }}
    }}
"""


@pytest.mark.parametrize(
    ("runtimes", "dtype", "member", "kernels", "problem"),
    [
        ("rknn, pplnn", "float16", "float32", ("CPU kernel", "CPU kernel, pplnn"), r"y\[1\] is "),
        # The fill of new memory has no exact float32.
        ("rknn2", "int32", "int32", ("CPU kernel",), "compute returns status -1"),
    ],
    ids=["halves", "integers"],
)
def test_element_that_a_second_call_does_not_write(
    tmp_path: Path, runtimes: str, dtype: str, member: str, kernels: tuple[str, ...], problem: str
) -> None:
    declared = f", dtype: {dtype}" if member == dtype else ""
    repository = generate(
        tmp_path,
        f"name: Stale\nruntimes: [{runtimes}]\n"
        f"inputs: {{x: {{type: VX_TYPE_TENSOR{declared}}}}}\n"
        "outputs: {y: {type: VX_TYPE_TENSOR}}\n",
    )
    for test in (repository.path / "tests").glob("test_*.py"):
        test.write_text(TESTS.format(dtype=dtype))
    compute = repository.path / "stale_compute.h"
    before, after = compute.read_text().split("    (void)params;\n")
    after = after[after.index("    return NULL;\n") :]
    compute.write_text(f"{before}    (void)params;\n{COPY.format(member=member)}{after}")
    run = repository.scons("-Q", "check", check=False)
    for kernel in kernels:
        assert re.search(
            rf"^{kernel} of Stale, case \d:\n"
            r"  passes alone, but not with the node of .* in the same process:\n"
            rf"  {problem}",
            run.stdout,
            re.MULTILINE,
        ), run.stdout + run.stderr
