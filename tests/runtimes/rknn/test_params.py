"""The generated reader of params gives the math the board's values, for any values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from opkit.description.types import PARAM_TYPES
from opkit.runtimes import parse
from opkit.runtimes.invocation import Invocation, Kernel, RunOptions
from opkit.runtimes.rknn.calling_convention import CONVENTION
from opkit.runtimes.rknn.deliveries import DELIVERIES
from opkit.runtimes.rknn.host_kernels import host_kernel
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
    root = tmp_path_factory.mktemp("shown")
    once = once_only_files(SPEC)
    files = once | generated_files(SPEC, once["shown_reference.py"])
    for path, text in {**files, "shown_compute.h": compute()}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    host = root / "build/host"
    host.mkdir(parents=True)
    for program in (host_runtime(), harness()):
        (host / program.name).symlink_to(program)
    library = root / "build/x64/libshown.so"
    flags = ("-shared", f"-I{root}", f"-L{host}", "-lOpenVX", "-lm")
    build(library, root / "rknn_kernel_shown.c", *flags)
    return host_kernel(SPEC, library, host)


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
