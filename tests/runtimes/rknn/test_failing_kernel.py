"""A failing CPU kernel, which the board does not report: its log and its outputs."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.compiling import C_SOURCES
from tests.repositories import generate
from tests.runtimes.c_math import compute_text
from tests.runtimes.rknn.host_build import compile_program

DESCRIPTION = """\
name: Failing
inputs: {x: {type: VX_TYPE_TENSOR}}
outputs: {y: {type: VX_TYPE_TENSOR}, z: {type: VX_TYPE_TENSOR}}
"""
COMPUTE = compute_text(
    "failing",
    """\
    for (int i = 0; i < 2; i++) {
        outputs->y.float32[i] = 2;
        outputs->z.int32[i] = 3;
    }
    if (inputs->x.float32[0] < 0) {
        return "x must not be negative";
    }""",
)


def test_failing_call_is_logged_and_invalidates_output(tmp_path: Path) -> None:
    root = generate(tmp_path, DESCRIPTION).path
    (root / "failing_compute.h").write_text(COMPUTE)
    program = tmp_path / "failing_operator"
    sources = (C_SOURCES / "failing_operator.c", root / "rknn_kernel_failing.c")
    compile_program(program, *sources, include=(root,))
    result = subprocess.run([program], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines() == [
        "0: 4000 4000 3 3",
        "0: ffff ffff -1 -1",
        "0: ffff ffff -1 -1",
        "0: 4000 4000 3 3",
        "log -1: Failing: x must not be negative",
        "log -1: Failing: x must not be negative",
    ]
    assert result.stderr == "Failing: x must not be negative\n" * 2
