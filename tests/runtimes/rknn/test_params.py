"""The generated reader of params gives the math the board's values, for any values."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from opkit.description.spec import OpSpec
from opkit.description.types import PARAM_TYPES
from opkit.runtimes import parse
from opkit.runtimes.invocation import Invocation, Kernel, RunOptions
from opkit.runtimes.rknn.deliveries import DELIVERIES
from opkit.runtimes.rknn.host_kernels import CONVENTION, host_kernel
from tests.compiling import build
from tests.description.descriptions import values
from tests.files.texts import generated_files, once_only_files
from tests.runtimes.rknn.host_build import harness, host_runtime

LISTS = {"pair": 2, "full": 16, "any": None}
NAMES = {f"p_{name.removeprefix('VX_TYPE_').lower()}": name for name in DELIVERIES}
SCALARS = {name: type_ for name, type_ in NAMES.items() if not PARAM_TYPES[type_].is_list}
ROW = 72
"""Bytes of a param in the output: the count of its items in 8 bytes, then the items."""

DESCRIPTION = "\n".join(
    [
        "name: Shown",
        "kernels: [cpu]",
        "inputs: {input: {type: VX_TYPE_TENSOR}}",
        "outputs: {output: {type: VX_TYPE_TENSOR, dtype: uint8}}",
        "params:",
        *(f"  {name}: {{type: {type_}}}" for name, type_ in SCALARS.items()),
        "  pair: {type: VX_TYPE_ARRAY, length: 2}",
        "  full: {type: VX_TYPE_ARRAY, length: 16}",
        "  any: {type: VX_TYPE_ARRAY}",
    ]
)
SPEC = parse(DESCRIPTION)


def compute() -> str:
    """Return the math: it copies the params' memory to the output."""
    lines = [
        f"row = show(row, 1, &params->{param.name}, sizeof params->{param.name});"
        if not param.type.is_list
        else f"row = show(row, params->{param.name}.count, params->{param.name}.items, "
        f"params->{param.name}.count * sizeof(int32_t));"
        for param in SPEC.params
    ]
    return (
        '#pragma once\n#include <string.h>\n#include "generated/shown.h"\n'
        "static uint8_t *show(uint8_t *row, uint64_t count, const void *items, size_t size)\n"
        f"{{ memset(row, 0, {ROW}); memcpy(row, &count, 8); memcpy(row + 8, items, size);"
        f" return row + {ROW}; }}\n"
        "static const char *shown_compute(const struct shown_inputs *inputs,"
        " const struct shown_params *params, struct shown_outputs *outputs)\n"
        "{ uint8_t *row = outputs->output.uint8; (void)inputs; "
        f'{" ".join(lines)} return row ? NULL : "none"; }}\n'
    )


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Kernel:
    return built(SPEC, tmp_path_factory.mktemp("shown"), {"shown_compute.h": compute()})


def built(spec: OpSpec, root: Path, own: Mapping[str, str]) -> Kernel:
    """Compile the CPU kernel of an operator with files of its user."""
    once = once_only_files(spec)
    files = once | generated_files(spec, once[f"{spec.lower}_reference.py"])
    for path, text in {**files, **own}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    host = root / "build/host"
    host.mkdir(parents=True)
    for program in (host_runtime(), harness()):
        (host / program.name).symlink_to(program)
    library = root / f"build/x64/lib{spec.lower}.so"
    flags = ("-shared", f"-I{root}", f"-L{host}", "-lOpenVX", "-lm")
    build(library, root / f"rknn_kernel_{spec.lower}.c", *flags)
    return host_kernel(spec, library, host)


ANY = st.fixed_dictionaries({p.name: values(p.type, p.length) for p in SPEC.params})


def limits(which: int) -> dict[str, Any]:
    """Return the lowest or the highest value of each param."""
    ends = {p.name: (p.type.element.limits or (-3.4e38, 3.4e38))[which] for p in SPEC.params}
    return {
        p.name: [ends[p.name]] * (p.length or 1 + 15 * which) if p.type.is_list else ends[p.name]
        for p in SPEC.params
    }


@given(ANY)
@example(limits(0))
@example(limits(1))
@settings(max_examples=40, deadline=None)
def test_math_gets_delivered_values(kernel: Kernel, params: dict[str, Any]) -> None:
    outputs = {"output": ((len(SPEC.params), ROW), "uint8")}
    invocation = Invocation({"input": np.zeros(1, np.float16)}, params, outputs)
    result = kernel.run(invocation, RunOptions(fill=0x7E))
    assert (result.status, result.fault, result.leaks) == (0, "", []), result.printed
    delivered = CONVENTION.marshal(SPEC.params, params)
    for param, value, row in zip(SPEC.params, delivered, result.outputs["output"], strict=True):
        count = value.shape[0] if value.shape else 1
        assert row[:8].view(np.uint64)[0] == count
        assert row[8:].tobytes() == value.data.ljust(ROW - 8, b"\0"), param.name
        given = params[param.name]
        dtype = param.type.element.dtype
        if param.type.element.bits < 64 or param.type.element.kind == "float":
            # Wider integers go through a double.
            assert value.data == np.array(given, dtype).tobytes(), param.name


LIMITED = """\
name: Limited
kernels: [cpu]
inputs: {input: {type: VX_TYPE_TENSOR}}
outputs: {output: {type: VX_TYPE_TENSOR}}
params:
  axis: {type: VX_TYPE_INT32, default: 0, min: -2, max: 1}
  count: {type: VX_TYPE_UINT8, default: 1, min: 0, max: 3}
  ratio: {type: VX_TYPE_FLOAT32, default: 0.5, min: 0.1, max: 1}
  wide: {type: VX_TYPE_FLOAT64, default: 0.1, choices: [0.1, 0.5]}
  strides: {type: VX_TYPE_ARRAY, default: [1, 1], choices: [1, 2]}
"""


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Kernel:
    return built(parse(LIMITED), tmp_path_factory.mktemp("limited"), {})


@pytest.mark.parametrize(
    ("params", "problem"),
    [
        ({"axis": -2, "count": 3, "ratio": 0.1, "wide": 0.5, "strides": [2]}, ""),
        ({"axis": 2}, "param 'axis' is 2 (expected -2 to 1)"),
        ({"count": 4}, "param 'count' is 4 (expected 0 to 3)"),
        ({"ratio": 0.05}, "param 'ratio' is 0.05 (expected 0.1 to 1)"),
        ({"wide": 0.25}, "param 'wide' is 0.25 (expected 0.1, 0.5)"),
        ({"strides": [1, 2, 3]}, "param 'strides' has the item 3 (expected 1, 2)"),
    ],
)
def test_value_that_op_yml_does_not_allow(
    limited: Kernel, params: dict[str, Any], problem: str
) -> None:
    values_ = {param.name: param.default for param in parse(LIMITED).params} | params
    inputs = {"input": np.ones(3, np.float16)}
    invocation = Invocation(inputs, values_, {"output": ((3,), "float16")})
    result = limited.run(invocation, RunOptions(fill=0x7E))
    assert result.log == ([f"Limited: {problem}"] if problem else [])
    assert result.status == (-16 if problem else 0), result.printed
