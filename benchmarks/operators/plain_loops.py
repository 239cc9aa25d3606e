"""Compare operators of the library on aarch64 with the plain loops that a user would write.

    python -m benchmarks.operators.plain_loops [--operators Exp ...] [--output benchmarks]

Prints a table; with --output, writes it into RESULTS.md of that folder. qemu counts the
instructions of a call. The library's C is compiled with the flags of a product; the loops, those of
the folder plain, by GCC with -O3.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import rknn_op.creation.operator_library
from benchmarks import calls, instructions, results_file
from benchmarks.calls import Program
from benchmarks.kernels.programs import compiler_version, run
from benchmarks.operators.__main__ import RUNTIME, described, geometric_mean, invocation_of
from benchmarks.operators.calls import (
    Sample,
    boxes,
    constant,
    normal,
    permutations,
    uniform,
)
from opkit.check.executors import emulator
from opkit.check.operators import Operator
from opkit.description.spec import OpSpec, Param
from opkit.files.elementwise import has_table
from opkit.runtimes.invocation import Array, Invocation
from opkit.toolchains.flags import C_LANGUAGE, EXACT, optimization
from rknn_op.creation import new_repository
from rknn_op.creation.choices import Choices

COMMAND = "python -m benchmarks.operators.plain_loops --output benchmarks"
ABI = "aarch64"
GCC = ("aarch64-linux-gnu-gcc", "-O3", "-static")
FOLDER = Path(__file__).parent / "plain"
AIM = 1 / 2

_IMAGE, _ROWS = (1, 4, 32, 32), (8, 768)
SAMPLES: dict[str, Sample] = {
    **{name: Sample({"input": normal(*_IMAGE)}) for name in ("Atan", "Exp", "Softsign")},
    **{name: Sample({"X": normal(*_IMAGE)}) for name in ("Gelu", "IsInf", "Mish")},
    "Acos": Sample({"input": uniform(-1.0, 1.0, *_IMAGE)}),
    "Mean": Sample({"data_0": normal(*_IMAGE), "data_1": normal(*_IMAGE)}),
    "GridSample": Sample({"X": normal(1, 64, 16, 16), "grid": uniform(-1.1, 1.1, 1, 16, 16, 2)}),
    "DeformConv": Sample(
        {
            "X": normal(1, 16, 10, 10),
            "W": normal(16, 16, 3, 3),
            "offset": normal(1, 18, 10, 10),
            "B": normal(16),
            "mask": uniform(0.0, 1.0, 1, 9, 10, 10),
        },
        {"pads": [1, 1, 1, 1], "kernel_shape": [3, 3]},
    ),
    "TopK": Sample({"X": normal(1, 8400), "K": constant([300])}),
    "ScatterElements": Sample(
        {"data": normal(16, 256), "indices": permutations(16, 256), "updates": normal(16, 256)},
        {"axis": 1},
    ),
    "CumSum": Sample({"x": normal(2, 64, 64), "axis": constant(1)}),
    "Trilu": Sample({"input": normal(2, 64, 64)}, {"upper": 0}),
    "NonMaxSuppression": Sample(
        {
            "boxes": boxes(1000),
            "scores": uniform(0.0, 1.0, 1, 1, 1000),
            "max_output_boxes_per_class": constant([100]),
            "iou_threshold": constant([0.5], np.float32),
            "score_threshold": constant([0.25], np.float32),
        }
    ),
    "InstanceNormalization": Sample({"input": normal(*_IMAGE), "scale": normal(4), "B": normal(4)}),
    "LayerNormalization": Sample({"X": normal(*_ROWS), "Scale": normal(768), "B": normal(768)}),
    "Einsum": Sample(
        {"Input_0": normal(1, 2, 32, 64), "Input_1": normal(1, 2, 32, 64)},
        {"equation": "bhqd,bhkd->bhqk"},
    ),
}
"""Operator -> its call. Few elements: qemu writes a line for each executed block."""

_TYPES = {
    "float32": "OPKIT_FLOAT32",
    "int32": "OPKIT_INT32",
    "int64": "OPKIT_INT64",
    "bool": "OPKIT_UINT8",
}


def _c_value(param: Param, value: Any) -> str:
    """Return the value of a param in C."""
    if param.type.is_text:
        return f'"{value}"'
    if param.type.is_list:
        items = ", ".join(map(str, value))
        element = "float" if param.type.element.kind == "float" else "int32_t"
        return f"{{{len(value)}, (const {element}[]){{{items}}}}}"
    return str(value)


def _tensor(member: str, is_output: bool, shape: tuple[int, ...], dtype: Any) -> str:
    """Return a bound_tensor of call.c."""
    sides = ", ".join(map(str, shape))
    kind = _TYPES[np.dtype(dtype).name]
    return f"{{&{member}, {str(is_output).lower()}, {kind}, {len(shape)}, {{{sides}}}}}"


def case_text(spec: OpSpec, invocation: Invocation) -> str:
    """Return case.h: the operator's header, its structs, and the call."""
    lower = spec.lower
    header = f"generated/{lower}_compute.h" if spec.elementwise else f"{lower}_compute.h"
    inputs = invocation.inputs.items()
    outputs = invocation.outputs.items()
    tensors = [_tensor(f"inputs.{name}", False, each.shape, each.dtype) for name, each in inputs]
    tensors += [_tensor(f"outputs.{name}", True, *each) for name, each in outputs]
    params = "".join(
        f"    .{param.name} = {_c_value(param, invocation.params[param.name])},\n"
        for param in spec.params
    )
    table = ", NULL" if has_table(spec) else ""
    return (
        f'#include "{header}"\n'
        f"static struct {lower}_inputs inputs;\nstatic struct {lower}_outputs outputs;\n"
        f"static struct {lower}_params params{f' = {{{chr(10)}{params}}}' if params else ''};\n"
        f"#define TENSORS {', '.join(tensors)}\n"
        f"#define CALL {lower}_compute(&inputs, &params, &outputs{table})\n"
    )


def programs(name: str, folder: Path) -> tuple[dict[str, Program], Invocation]:
    """Compile the library's operator and its plain loops; return them with the call."""
    plan = rknn_op.creation.operator_library.plan(name, folder, Choices(runtimes=[RUNTIME]))
    new_repository.create(plan)
    operator = Operator(folder)
    invocation = invocation_of(operator, SAMPLES[name].call())
    spec = operator.spec
    (folder / "case.h").write_text(case_text(spec, invocation))
    (folder / "data").write_bytes(b"".join(each.tobytes() for each in invocation.inputs.values()))
    shutil.copy(FOLDER / f"{spec.lower}.h", folder / "plain.h")
    source = FOLDER / "call.c"
    flags = (*optimization(ABI, "zig"), *EXACT)
    ours = calls.compiled(folder, ABI, flags, "ours", source=source)
    path = folder / "plain"
    include = [f"-I{folder}", f"-I{folder / 'include'}", "-DPLAIN"]
    run([*GCC, *C_LANGUAGE, *include, str(source), "-o", str(path), "-lm"])
    return {"ours": ours, "plain": Program(path, emulator(ABI))}, invocation


def outputs_of(program: Program, invocation: Invocation, data: Path) -> dict[str, Array]:
    """Return the outputs of a program."""
    content, found = program.output(str(data), "1"), {}
    for name, (shape, dtype) in invocation.outputs.items():
        count = int(np.prod(shape))
        array = np.frombuffer(content, dtype, count)
        content = content[array.nbytes :]
        found[name] = array.reshape(shape)
    return found


def counted(name: str, folder: Path) -> Mapping[str, int]:
    """Return the instructions of a call of the library's operator, and of its plain loops.

    Raises:
        AssertionError: they compute something else.
        RuntimeError: qemu failed.
    """
    found, invocation = programs(name, folder)
    data = folder / "data"
    ours, plain = (outputs_of(program, invocation, data) for program in found.values())
    for output in ours:
        np.testing.assert_allclose(ours[output], plain[output], 1e-3, 1e-3, err_msg=name)
    counts = {}
    for key, program in found.items():
        blocks = instructions.executed(program.command, program.path, [str(data)], folder / "log")
        if blocks is None:
            raise RuntimeError(f"{name}: qemu failed")
        counts[key] = instructions.total(blocks)
    return counts


def section(counts: Mapping[str, Mapping[str, int]]) -> str:
    """Return the benchmark's section of RESULTS.md."""
    ratios = {name: each["ours"] / each["plain"] for name, each in counts.items()}
    rows = [
        [
            name,
            described(SAMPLES[name].call()),
            str(each["plain"]),
            str(each["ours"]),
            f"{ratios[name]:.2f}",
            "yes" if ratios[name] <= AIM else "**no**",
        ]
        for name, each in counts.items()
    ]
    mean = geometric_mean([*ratios.values()])
    rows.append(["geometric mean", "", "", "", f"{mean:.2f}", "yes" if mean <= AIM else "**no**"])
    gcc = run([GCC[0], "--version"]).splitlines()[0]
    head = ["", "inputs", "plain loops", "library", "ratio", "aim holds"]
    return f"""\
## The operator library and plain loops on aarch64

    {COMMAND}

Instructions of a call, counted by qemu. The library: {compiler_version(ABI)};
the loops of benchmarks/operators/plain: {gcc}, -O3.
The aim is at most 1/2. GCC vectorizes the loops of Mean and Softsign, too; that of Mean overflows
where the library does not. The loop of ScatterElements does not check the indices.

{results_file.table(head, rows)}
"""


def main() -> int:
    """Measure, print, and write with --output."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.operators.plain_loops",
        description=(__doc__ or "").splitlines()[0],
    )
    parser.add_argument("--operators", nargs="+", choices=SAMPLES, default=[*SAMPLES])
    parser.add_argument("--output", type=Path, help="the folder of RESULTS.md")
    options = parser.parse_args()
    counts = {}
    for name in options.operators:
        with tempfile.TemporaryDirectory() as folder:
            counts[name] = counted(name, Path(folder, "repository"))
        print(f"{name}: {counts[name]['ours'] / counts[name]['plain']:.2f}", flush=True)
    text = section(counts)
    print(text)
    if options.output:
        print(f"written: {results_file.write_section(options.output, 'plain_loops', text)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
