"""The table of types agrees with numpy, with itself and with the tables in C."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from opkit.description.types import ELEMENT_TYPES, MAX_RANK, PARAM_TYPES, TENSOR_TYPES, ElementType
from opkit.runtimes.rknn.boards import LIMITS as RKNN_LIMITS
from opkit.runtimes.rknn.deliveries import DELIVERIES, REFUSALS
from opkit.runtimes.rknn.vx.runner import TYPES
from tests.compiling import RKNN, build

NUMPY_KINDS = {"bool": "b", "uint": "u", "int": "i", "float": "f"}
TENSOR_H = RKNN.parents[1] / "compute/tensor.h"
OPENVX_H = RKNN / "openvx.h"
IN_OPENVX = [row for row in ELEMENT_TYPES.values() if row.vx_name]


@pytest.mark.parametrize("row", [t for t in ELEMENT_TYPES.values() if t.dtype], ids=str)
def test_table_matches_numpy(row: ElementType) -> None:
    dtype = np.dtype(row.dtype)
    assert (dtype.kind, dtype.itemsize) == (NUMPY_KINDS[row.kind], row.size)
    if dtype.kind in "iu":
        assert row.limits == (np.iinfo(dtype).min, np.iinfo(dtype).max)


def test_types_without_numpy_dtype() -> None:
    assert ELEMENT_TYPES["int4"].limits == (-8, 7)
    assert ELEMENT_TYPES["uint4"].limits == (0, 15)
    assert (ELEMENT_TYPES["bfloat16"].limits, ELEMENT_TYPES["bfloat16"].size) == (None, 2)
    for name in ("int4", "uint4", "bfloat16"):
        assert ELEMENT_TYPES[name].dtype is None
        # In a process of its own: onnx's ml_dtypes adds such names to numpy.
        numpy = [sys.executable, "-c", f"import numpy; numpy.dtype({name!r})"]
        failed = subprocess.run(numpy, capture_output=True, text=True, check=False)
        assert failed.stderr.splitlines()[-1].startswith("TypeError")


def test_table_matches_c(tmp_path: Path) -> None:
    """Sizes and signs of the C types, the numbers of the headers, and both tables in C."""
    checks = [
        f'_Static_assert(sizeof({row.c_type}) == {row.size}, "{row.name}");'
        for row in ELEMENT_TYPES.values()
    ]
    checks += [
        f'_Static_assert(({row.c_type})-1 {"<" if row.kind == "int" else ">"} 0, "{row.name}");'
        for row in ELEMENT_TYPES.values()
        if row.kind != "float"
    ]
    checks += [
        f'_Static_assert({row.vx_name} == {row.vx_number}, "{row.name}");' for row in IN_OPENVX
    ]
    computed = enumerators(TENSOR_H, "opkit_type", "OPKIT_")
    found = {}
    for line in _run_types_program(checks, tmp_path):
        name, vx_name, type_, device_size, host_size = line.split()
        row = ELEMENT_TYPES[name]
        assert f"VX_TYPE_{vx_name}" == row.vx_name
        assert int(device_size) in (0, row.size)
        assert int(host_size) in (0, row.size)
        found[name] = computed[int(type_)] if int(type_) >= 0 else None
    kernel_gets = {row.name: row.computed_as for row in TENSOR_TYPES}
    assert {name: type_ for name, type_ in found.items() if type_} == kernel_gets


def _run_types_program(checks: Iterable[str], folder: Path) -> list[str]:
    """Return the rows of both tables in C, by a program that also compiles the checks."""
    rows = ", ".join(f'{{"{row.name}", {row.vx_name}}}' for row in IN_OPENVX)
    source = folder / "types.c"
    source.write_text(
        "#include <stdbool.h>\n"
        '#include "opkit/runtimes/rknn/openvx.h"\n'
        f'#include "{RKNN}/host_runtime/hostrt.h"\n'
        + "\n".join(checks)
        + f"""
int main(void)
{{
    static const struct {{ const char *name; vx_enum type; }} rows[] = {{{rows}}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {{
        const struct opkit_type_info *info = opkit_find_type(rows[i].type);
        printf("%s %s %d %zu %zu\\n", rows[i].name, hostrt_type_name(rows[i].type),
               info->element_size == 0 ? -1 : info->type, (size_t)info->element_size,
               (size_t)hostrt_element_size(rows[i].type));
    }}
    return 0;
}}
"""
    )
    program = folder / "types"
    build(program, source, RKNN / "host_runtime/types.c")
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()


def enumerators(header: Path, enum: str, prefix: str) -> list[str]:
    """Return the members of an enum in lower case, without their prefix."""
    body = re.search(rf"enum {enum} \{{([^}}]*)\}}", header.read_text())
    assert body is not None
    return [name.lower() for name in re.findall(rf"{prefix}(\w+)", body[1])]


def test_emulator_type_numbers_match_header() -> None:
    header = RKNN.parents[1] / "opencl/prelude/shared.h"
    assert enumerators(header, "__opkit_type", "__OPKIT_") == list(TYPES)


def test_tensor_h_capacity_matches_max_rank() -> None:
    text = TENSOR_H.read_text()
    capacities = dict(re.findall(r"#define OPKIT_(MAX_\w+) +(\d+)", text))
    assert capacities == {"MAX_RANK": str(MAX_RANK)}


def test_capacity_for_lists_matches_rknn_limit() -> None:
    (capacity,) = re.findall(r"#define OPKIT_RKNN_MAX_ITEMS +(\d+)", OPENVX_H.read_text())
    assert int(capacity) == RKNN_LIMITS.items


def test_lists_of_numbers_are_expressible() -> None:
    floats = PARAM_TYPES["FLOATS"]
    assert (floats.is_list, floats.element.name, floats.onnx) == (True, "float32", "floats")


def test_rknn_delivers_or_refuses_every_param_type() -> None:
    assert DELIVERIES.keys() | REFUSALS.keys() >= PARAM_TYPES.keys()
    assert DELIVERIES.keys() <= PARAM_TYPES.keys() - REFUSALS.keys()
    for name, delivery in DELIVERIES.items():
        assert delivery.element.size == PARAM_TYPES[name].element.size, name
