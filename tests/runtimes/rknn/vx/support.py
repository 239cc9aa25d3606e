"""Run VX kernels of the tests: from a file, or generated from expressions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import DTypeLike, NDArray

from opkit.opencl.pc_compiler import Program
from opkit.runtimes.invocation import Value
from opkit.runtimes.rknn.vx.compiler import compile_vx
from opkit.runtimes.rknn.vx.launch import Border, Launch
from opkit.runtimes.rknn.vx.runner import VxRunResult, emulator
from tests.runtimes.rknn.host_build import vx_runtime

Array = NDArray[Any]
KERNELS = Path(__file__).parent
# integer type of kernels -> minimum, maximum
INTEGERS: dict[str, tuple[int, int]] = {
    "char": (-(2**7), 2**7 - 1),
    "uchar": (0, 2**8 - 1),
    "short": (-(2**15), 2**15 - 1),
    "ushort": (0, 2**16 - 1),
    "int": (-(2**31), 2**31 - 1),
    "uint": (0, 2**32 - 1),
    "long": (-(2**63), 2**63 - 1),
    "ulong": (0, 2**64 - 1),
}
UP_TO_32_BITS = [name for name in INTEGERS if not name.endswith("long")]


def line_of(file: str, text: str) -> int:
    """Return the number of the first line of a kernel's source that contains a text."""
    lines = (KERNELS / file).read_text().splitlines()
    return 1 + next(index for index, line in enumerate(lines) if text in line)


def shared_folder(factory: pytest.TempPathFactory) -> Path:
    """Return one folder for the compilations of all tests of the run, with one cache."""
    folder = factory.getbasetemp() / "vx"
    folder.mkdir(exist_ok=True)
    return folder


def launch(
    size: Sequence[int],
    scale: Sequence[int] = (1, 1, 1),
    local: Sequence[int] = (0, 0, 0),
    offset: Sequence[int] = (0, 0, 0),
) -> Launch:
    return Launch(len(size), tuple(offset), tuple(scale), tuple(local), tuple(size))


def run_vx(
    program: Program,
    kernel: str,
    where: Launch,
    inputs: Mapping[str, Array],
    outputs: Mapping[str, tuple[tuple[int, ...], DTypeLike]],
    params: Sequence[Value] = (),
    **options: Any,
) -> VxRunResult:
    """Run a kernel in a harness of its own."""
    emulated = emulator(program, kernel, vx_runtime())
    try:
        return emulated.run(where, inputs, outputs, params, **options)
    finally:
        emulated.harness.close()


def run(*arguments: Any, **options: Any) -> VxRunResult:
    """Run a kernel that neither crashes nor does anything undefined; see run_vx."""
    outcome = run_vx(*arguments, **options)
    assert outcome.fault == ""
    assert outcome.undefined == []
    return outcome


def param(value: Any) -> Value:
    """Return the argument of a kernel for a numpy scalar or array."""
    array = np.asarray(value)
    return Value("p", array.dtype.name, array.shape, array.tobytes())


def int32(value: int) -> Value:
    return param(np.int32(value))


def float32(value: float) -> Value:
    return param(np.float32(value))


def int32_array(*values: int) -> Value:
    return param(np.array(values, np.int32))


_LETTER = {"f": "f", "i": "i", "u": "ui"}
_VECTOR = {"f": "float4", "i": "int4", "u": "uint4"}


def compute(
    folder: Path,
    name: str,
    expressions: Sequence[str],
    inputs: Mapping[str, Array],
    result: DTypeLike,
    before: str = "",
) -> Array:
    """Return the value of each expression on each element; the inputs are its variables.

    The inputs are 1-D arrays of the same length, a multiple of four, of float32, int32 or uint32;
    in the expressions they are vectors of four. The result's first axis counts the expressions.
    """
    length = len(next(iter(inputs.values())))
    kind = np.dtype(result).kind
    reads = [
        f"    {_VECTOR[array.dtype.kind]} {each} = "
        f"read_image{_LETTER[array.dtype.kind]}(in_{each}, at);"
        for each, array in inputs.items()
    ]
    writes = [
        f"    at.z = {index}; write_image{_LETTER[kind]}(result, at, {expression});"
        for index, expression in enumerate(expressions)
    ]
    parameters = [f"image2d_array_t in_{each}" for each in inputs] + ["image2d_array_t result"]
    source = folder / f"{name}.vx"
    source.write_text(
        f"__kernel void {name}({', '.join(parameters)})\n{{\n"
        "    int4 at = (int4)(get_global_id(0), 0, 0, 0);\n"
        + "\n".join([*reads, before, *writes])
        + "\n}\n"
    )
    program = compile_vx(source, folder / "cache")
    outcome = run(
        *(program, name, launch((length // 4,), (4,)), inputs),
        {"result": ((len(expressions), 1, length), result)},
    )
    assert outcome.events == []
    assert outcome.unwritten == {}
    return outcome.outputs["result"][:, 0, :]


def border(policy: str, value: float = 0) -> Border:
    return Border(policy, value=value)
