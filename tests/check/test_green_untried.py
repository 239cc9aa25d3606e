"""Kernels that are wrong where cases rarely go: limits of 8-bit outputs, an empty input."""

from __future__ import annotations

import re

import pytest

from tests.repositories import Repository, generate

pytestmark = pytest.mark.slow

DESCRIPTION = """\
name: Quant
runtimes: [pplnn]
inputs:
  x: {type: VX_TYPE_TENSOR, dtype: float32}
  bias: {type: VX_TYPE_TENSOR, dtype: float32, doc: "[1], or [0] for none."}
outputs:
  y: {type: VX_TYPE_TENSOR, same_as: x, dtype: int8}
  sign: {type: VX_TYPE_TENSOR, same_as: x, dtype: int8}
params: {kind: {type: int, default: 0}}
"""
REFERENCE = """\
import numpy as np


def output_shapes(input_shapes, params):
    return {"y": input_shapes["x"], "sign": input_shapes["x"]}


def reference(inputs, params):
    x = inputs["x"]
    y = np.rint(x + inputs["bias"] if inputs["bias"].size else x)
    return {"y": np.clip(y, -128, 127).astype("int8"), "sign": np.sign(x).astype("int8")}
"""
KINDS = ("bias->size > 0 ? bias->float32[0] : 0", "bias->float32[0]")
COMPUTE = """\
#ifndef QUANT_COMPUTE_H
#define QUANT_COMPUTE_H

#include "generated/quant.h"

#include <math.h>

static const char *quant_compute(const struct quant_inputs *inputs,
                                 const struct quant_params *params, struct quant_outputs *outputs)
{
    const struct opkit_tensor *bias = &inputs->bias;

    for (size_t i = 0; i < inputs->x.size; i++) {
        const float x = inputs->x.float32[i];
        float b = 0;
        KINDS
        const float y = rintf(x + b);
        outputs->y.int8[i] = (int8_t)(ROUNDED);
        outputs->sign.int8[i] = (int8_t)((x > 0) - (x < 0));
    }
    return NULL;
}

#endif
"""
WRAPS, SATURATES = "(long)y", "y > 127 ? 127 : y < -128 ? -128 : y"
TESTS = """\
import numpy as np
import pytest

from opkit.testing import Case, check_cpu_kernel

X = np.array({x}, "float32")
CASES = [
    Case(f"{{kind}}-{{size}}", {{"x": X, "bias": np.ones(size, "float32")}}, {{"kind": kind}})
    for kind in {kinds}
    for size in (0, 1)
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case)
"""


@pytest.fixture(scope="module")
def quant(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """Return an operator with 8-bit outputs; each test writes its math and its cases."""
    made = generate(tmp_path_factory.mktemp("quant"), DESCRIPTION)
    (made.path / "quant_reference.py").write_text(REFERENCE)
    return made


def check(
    repository: Repository, rounded: str, x: list[float], kinds: list[int]
) -> tuple[int, str]:
    """Check the operator; return the status, and the output with single blanks."""
    lines = [f"if (params->kind == {kind}) {{ b = {text}; }}" for kind, text in enumerate(KINDS)]
    text = COMPUTE.replace("KINDS", "\n        ".join(lines)).replace("ROUNDED", rounded)
    (repository.path / "quant_compute.h").write_text(text)
    (repository.path / "tests/test_quant.py").write_text(TESTS.format(x=x, kinds=kinds))
    run = repository.scons("quick=1", "verbose=1", "check", check=False)
    return run.returncode, " ".join((run.stdout + run.stderr).split())


NOTE = "note: no case has {} in output 'y', at which the reference saturates: a kernel that wraps "


@pytest.mark.parametrize(
    ("rounded", "x", "status", "limits"),
    [
        (WRAPS, [-3, 0, 9], 0, [-128, 127]),
        (SATURATES, [-3, 0, 999], 0, [-128]),
        (SATURATES, [-999, 0, 999], 0, []),
        (WRAPS, [-999, 0, 999], 2, []),
    ],
    ids=["wraps", "saturates", "saturates at both", "wraps in a case"],
)
def test_limits_without_a_case_have_notes(
    quant: Repository, rounded: str, x: list[float], status: int, limits: list[int]
) -> None:
    """A label, which has no such limits, has no note."""
    found, output = check(quant, rounded, x, [0])
    assert found == status, output
    assert [limit for limit in (-128, 127) if NOTE.format(limit) in output] == limits
    assert output.count("at which the reference saturates") == len(limits), output


def test_empty_input_that_is_read_is_reported(quant: Repository) -> None:
    """An optional input that a model leaves out may be an empty one."""
    status, output = check(quant, SATURATES, [-999, 0, 999], [0, 1])
    assert status == 2
    problem = r"the kernel reads just past the end of input 'bias' \(0 bytes\)"
    assert re.search(rf"case 1-0: quant_compute\.h:\d+: {problem}", output), output
    assert "1 failed, 3 passed" in output
