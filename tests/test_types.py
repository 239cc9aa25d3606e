"""The table of types agrees with numpy, with itself and with the tables that C has of its own."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from opkit.check.invocation import Items, marshal
from opkit.description.spec import MAX_ITEMS, Param
from opkit.description.types import ELEMENT_TYPES, PARAM_TYPES, TENSOR_TYPES, ElementType, ParamType
from tests.compiling import RKNN, build

NUMPY_KINDS = {"bool": "b", "unsigned": "u", "signed": "i", "float": "f"}
IN_OPENVX = [row for row in ELEMENT_TYPES.values() if row.vx_name]


@pytest.mark.parametrize("row", [t for t in ELEMENT_TYPES.values() if t.in_numpy], ids=str)
def test_numpy_agrees(row: ElementType) -> None:
    dtype = np.dtype(row.name)
    assert (dtype.kind, dtype.itemsize) == (NUMPY_KINDS[row.kind], row.size)
    if dtype.kind in "iu":
        assert row.limits == (np.iinfo(dtype).min, np.iinfo(dtype).max)


def test_types_without_a_numpy_dtype() -> None:
    assert ELEMENT_TYPES["int4"].limits == (-8, 7)
    assert ELEMENT_TYPES["uint4"].limits == (0, 15)
    assert (ELEMENT_TYPES["bfloat16"].limits, ELEMENT_TYPES["bfloat16"].size) == (None, 2)
    for name in ("int4", "uint4", "bfloat16"):
        with pytest.raises(TypeError):
            np.dtype(name)


def test_c_agrees(tmp_path: Path) -> None:
    """Sizes and signs of the C types, the numbers of the headers, and both tables in C."""
    checks = [
        f'_Static_assert(sizeof({row.c_type}) == {row.size}, "{row.name}");'
        for row in ELEMENT_TYPES.values()
    ]
    checks += [
        f'_Static_assert(({row.c_type})-1 {"<" if row.kind == "signed" else ">"} 0, "{row.name}");'
        for row in ELEMENT_TYPES.values()
        if row.kind != "float" and row.c_type != "char"  # whose sign is the processor's choice
    ]
    checks += [
        f'_Static_assert({row.vx_name} == {row.vx_number}, "{row.name}");' for row in IN_OPENVX
    ]
    rows = ", ".join(f'{{"{row.name}", {row.vx_name}}}' for row in IN_OPENVX)
    source = tmp_path / "types.c"
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
    program = tmp_path / "types"
    build(program, source, RKNN / "host_runtime/types.c")
    lines = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    computed = _computed_types()
    found = {}
    for line in lines.splitlines():
        name, vx_name, type_, device_size, host_size = line.split()
        row = ELEMENT_TYPES[name]
        assert f"VX_TYPE_{vx_name}" == row.vx_name
        assert int(device_size) in (0, row.size)
        assert int(host_size) in (0, row.size)
        found[name] = computed[int(type_)] if int(type_) >= 0 else None
    kernel_gets = {row.name: row.computed_as for row in TENSOR_TYPES}
    # A tensor of BOOL8 can be read on the board; the check has no cases of such.
    assert found.pop("bool") == "uint8"
    assert {name: type_ for name, type_ in found.items() if type_} == kernel_gets


def _computed_types() -> list[str]:
    """Return the members of enum opkit_type in lower case, without their prefix."""
    text = (RKNN.parents[1] / "compute/tensor.h").read_text()
    body = re.search(r"enum opkit_type \{([^}]*)\}", text)
    assert body is not None
    return [name.lower() for name in re.findall(r"OPKIT_(\w+)", body[1])]


def test_lists_of_numbers_are_expressible() -> None:
    floats = PARAM_TYPES["FLOATS"]
    assert (floats.is_list, floats.element.name, floats.onnx) == (True, "float32", "floats")
    assert (floats.delivered, floats.limits) == (None, None)


@pytest.mark.parametrize("row", [t for t in PARAM_TYPES.values() if t.delivered], ids=str)
def test_what_is_delivered_has_the_size_that_the_table_says(row: ParamType) -> None:
    value = marshal(Param("p", row), [1] * MAX_ITEMS if row.is_list else 1)
    if isinstance(value, Items):
        assert row.is_list
        assert value.items == (1,) * MAX_ITEMS
    else:
        assert (value.type, len(value.data)) == (row.delivered, row.size)
