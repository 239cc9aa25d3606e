"""Params as constant inputs: a node has such an input, or an attribute of that name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opkit.check.harness_client import HarnessKernel
from opkit.description.spec import Param
from opkit.runtimes.executor import Executor
from opkit.runtimes.invocation import CallingConvention, Invocation, RunOptions, RunResult, Value
from opkit.runtimes.rknn2.host_kernel import CONVENTION
from tests.marks import quick_first
from tests.runtimes.rknn2.support import Operator, build_operator

DESCRIPTION = """\
name: Sum
runtimes: [rknn2]
inputs: {x: {type: VX_TYPE_TENSOR}}
outputs: {y: {type: VX_TYPE_TENSOR}}
params:
  a: {type: ints, length: 2, source: "const:a"}
  b: {type: float, default: 0.5, source: "const:b"}
"""

COMPUTE = """\
#include "generated/sum.h"
static const char *sum_compute(const struct sum_inputs *inputs, const struct sum_params *params,
                               struct sum_outputs *outputs)
{
    const int32_t *a = params->a.items;
    outputs->y.float32[0] = inputs->x.float32[0] + (float)(a[0] + a[1]) + params->b;
    return NULL;
}
"""


def attributes(inputs: str) -> CallingConvention:
    """Return the calling convention of a node of which only `inputs` are inputs, no attributes."""

    def value(param: Param, value: Any) -> Value:
        return CONVENTION.value(
            param if param.name in inputs else param._replace(source=None), value
        )

    return replace(CONVENTION, value=value)


@pytest.fixture(scope="module")
def operator(host: Path, tmp_path_factory: pytest.TempPathFactory) -> Operator:
    return build_operator(tmp_path_factory.mktemp("sum"), host, DESCRIPTION, COMPUTE)


def run(operator: Operator, inputs: str, **attachments: bytes) -> RunResult:
    files = (operator.host / "harness", operator.host / "librknnrt.so", operator.library)
    executor = Executor("x64", (*map(str, files), operator.entry))
    kernel = HarnessKernel(operator.spec, executor, operator.host, attributes(inputs))
    kernel.attachments = {f"attribute:{name}": value for name, value in attachments.items()}
    arrays = {"x": np.ones(1, np.float32)}
    call = Invocation(arrays, {"a": [2, 3], "b": 10.0}, {"y": ((1,), "float32")})
    try:
        return kernel.run(call, RunOptions(fill=0x7E))
    finally:
        kernel.close()


@pytest.mark.parametrize("inputs", quick_first(1, ["ab", "a", ""]))
def test_constant_is_input_or_attribute(inputs: str, operator: Operator) -> None:
    result = run(operator, inputs)
    assert result.fault + result.printed == ""
    assert result.outputs["y"].tolist() == [16.0]


def test_missing_constant_has_default(operator: Operator) -> None:
    assert run(operator, "a", b=b"").outputs["y"].tolist() == [6.5]


def test_missing_constant_without_default(operator: Operator) -> None:
    result = run(operator, "", a=b"")
    assert (result.status, result.stage) == (-1, "init")
    assert result.printed.startswith("Sum: the node has no input or attribute 'a'")
