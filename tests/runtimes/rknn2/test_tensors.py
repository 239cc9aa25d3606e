"""The generated glue refuses invalid tensors, in a program that calls it wrongly."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.compiling import C_SOURCES, build
from tests.runtimes.rknn2.support import HEADERS, write_operator

DESCRIPTION = """\
name: Two
runtimes: [rknn2]
inputs: {a: {type: VX_TYPE_TENSOR}, b: {type: VX_TYPE_TENSOR}}
outputs: {y: {type: VX_TYPE_TENSOR}}
params: {size: {type: ints, source: "const:size", default: [1]}}
"""
COMPUTE = """\
#include <stdio.h>
#include "generated/two.h"
static const char *two_compute(const struct two_inputs *inputs, const struct two_params *params,
                               struct two_outputs *outputs)
{
    (void)outputs;
    printf("%zu %zu %d %d\\n", inputs->a.rank, inputs->a.size, inputs->a.type,
           (int)params->size.items[0]);
    return inputs->a.size > 0 && inputs->a.float32[0] < 0 ? "a must not be negative" : NULL;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("two")
    write_operator(folder, DESCRIPTION, COMPUTE)
    sources = (C_SOURCES / "rknn2_tensors.c", folder / "rknn2/two_custom_op.c")
    return build(folder / "tensors", *sources, HEADERS, f"-I{folder}")


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ("nothing", "2 6 0 1"),
        ("single", "1 1 0 1"),
        ("one", "1 6 0 1"),
        ("six", "6 6 0 1"),
        ("undefined", "2 6 0 1"),
        ("int32", "2 6 5 1"),
        ("int64", "2 6 7 1"),
        ("bool", "2 6 2 1"),
        ("constant", "2 6 0 4"),
        ("empty", "2 0 0 1"),
        ("float16", "Two: tensor 'a' is float16 (expected float32, int32, int64 or bool)"),
        ("int8", "Two: tensor 'a' is int8 (expected float32, int32, int64 or bool)"),
        (
            "unknown",
            "Two: tensor 'a' is of an unknown type (expected float32, int32, int64 or bool)",
        ),
        ("nhwc", "Two: tensor 'a' has the layout 1 (expected NCHW or undefined)"),
        ("rank", "Two: tensor 'a' has 7 dimensions (expected 6 at most)"),
        ("count", "Two: tensor 'a' has 5 elements, but its shape has 6"),
        ("memory", "Two: tensor 'y' has no memory"),
        ("few", "Two: the node has 1 inputs (expected 2 to 3)"),
        ("many", "Two: the node has 4 inputs (expected 2 to 3)"),
        ("outputs", "Two: the node has 2 outputs (expected 1)"),
        ("negative", "Two: a must not be negative"),
        ("uninitialized", "Two: the node is not initialized, or already destroyed"),
    ],
)
def test_tensor(program: Path, change: str, line: str) -> None:
    result = subprocess.run([program, change], capture_output=True, text=True, check=False)
    assert (result.stdout + result.stderr).splitlines()[-1] == line
    assert result.returncode == int(line.startswith("Two: "))


def test_math_is_not_called_for_an_empty_output(program: Path) -> None:
    result = subprocess.run([program, "empty output"], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
