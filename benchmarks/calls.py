"""Programs that call an operator's math, for every ABI: call.c with the operator's header."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.programs import run
from opkit import runtimes, toolchains
from opkit.check.executors import emulator
from opkit.description.parser import PC
from opkit.description.spec import OpSpec
from opkit.files.elementwise import has_table
from opkit.files.generation import generated_files
from opkit.toolchains.abi import ABIS
from opkit.toolchains.flags import C_LANGUAGE
from rknn_op import template
from rknn_op.creation import operator_library

HERE = Path(__file__).resolve().parent
FOLDERS = (template.EXAMPLES, HERE / "examples")

UNARY = ("exp", "tanh", "erf", "sigmoid", "gelu", "mish")
"""The functions of the operators `scalar_*`, which have one input."""

VECTOR_CPU = "rv64,v=true,vext_spec=v1.0,Zfh=true"
"""A processor for qemu-riscv64, with vectors of 128 bits."""

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Call:
    """A call of an operator.

    Attributes:
        shapes: of each tensor, by name: the inputs and the outputs.
        params: param -> its value in C.
    """

    shapes: Mapping[str, Shape]
    params: Mapping[str, str]


def call_of(name: str, root: int) -> Call:
    """Return a call of an operator with about `root` * `root` elements; a power of 2, at least 32.

    Raises:
        KeyError: no call of this operator is known.
    """
    square, channels = (root, root), root // 16
    image = (1, channels, 16, root)
    calls: dict[str, tuple[dict[str, Shape], dict[str, str]]] = {
        "exp": ({"input": square, "output": square}, {}),
        "selu": (
            {"x": square, "y": square},
            {"alpha": "1.6732632F", "gamma": "1.05070098F"},
        ),
        "truncate_div": ({"x": square, "y": square, "output": square}, {}),
        "cum_sum": ({"x": square, "y": square}, {"axis": "1"}),
        **{f"scalar_{unary}": ({"x": square, "y": square}, {}) for unary in UNARY},
        "row_mean": ({"input": square, "output": (root, 1)}, {}),
        "resize_area": (
            {
                "input": (1, root, root // 4, 4),
                "output": (1, root // 2, root // 8, 4),
            },
            {"size": f"{{2, (const int32_t[]){{{root // 2}, {root // 8}}}}}"},
        ),
        "decode_boxes": (
            {
                "deltas": (root, root // 4, 4),
                "anchors": (root // 4, 4),
                "boxes": (root, root // 4, 4),
                "areas": (root, root // 4),
            },
            {
                "image_size": "{2, (const int32_t[]){640, 480}}",
                "max_log_scale": "4.0F",
                "area_scale": "1.0",
            },
        ),
        "layer_norm": (
            {"x": square, "scale": (root,), "bias": (root,), "y": square},
            {"epsilon": "1e-5F"},
        ),
        "softmax": ({"x": square, "y": square}, {}),
        "instance_norm": (
            {"x": image, "scale": (channels,), "bias": (channels,), "y": image},
            {"epsilon": "1e-5F"},
        ),
    }
    return Call(*calls[name])


def write(name: str, folder: Path) -> OpSpec:
    """Write an operator's headers, its own and the generated ones, into a folder."""
    source = next(path / name for path in FOLDERS if (path / name).is_dir())
    spec = runtimes.parse((source / f"{name}.yml").read_text())
    files = {path.name: path.read_text() for path in source.glob("*.h")}
    if source.parent == template.EXAMPLES:
        own = operator_library.named_operator(template.EXAMPLES, name).files(spec)
        files |= {path: data.decode() for path, data in own.items() if path.endswith(".h")}
    generated = generated_files(spec, "", (), files.get(spec.math_file, ""))
    for path, text in {**generated, **files}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return spec


def write_call(spec: OpSpec, call: Call, folder: Path) -> None:
    """Write case.h for call.c, whose tensors are floats."""
    tensors = [
        f"{{&{side}.{tensor.name}, {is_output}, {len(shape)}, {{{', '.join(map(str, shape))}}}}}"
        for side, is_output, group in (
            ("inputs", "false", spec.inputs),
            ("outputs", "true", spec.outputs),
        )
        for tensor in group
        for shape in (call.shapes[tensor.name],)
    ]
    write_case(spec, tensors, call.params, folder)


def write_case(
    spec: OpSpec, tensors: Sequence[str], params: Mapping[str, str], folder: Path
) -> None:
    """Write case.h: the operator's header, its structs, and the call.

    Args:
        spec: the operator.
        tensors: the rows of the program's table.
        params: param -> its value in C.
        folder: with the operator's headers.
    """
    lower = spec.lower
    generated = f"generated/{lower}_compute.h"
    compute = generated if (folder / generated).is_file() else f"{lower}_compute.h"
    values = "".join(f"    .{name} = {value},\n" for name, value in params.items())
    table = ", NULL" if has_table(spec) else ""
    # Without `static`: else the compiler takes the params for constants.
    (folder / "case.h").write_text(
        f'#include "{compute}"\n'
        f"struct {lower}_inputs inputs;\nstruct {lower}_outputs outputs;\n"
        f"struct {lower}_params params = {{\n{values}}};\n"
        f"#define TENSORS {', '.join(tensors)}\n"
        f"#define CALL {lower}_compute(&inputs, &params, &outputs{table})\n"
    )


@dataclass(frozen=True)
class Program:
    """A compiled call: a file, and the command that runs it."""

    path: Path
    command: tuple[str, ...]

    def output(self, *arguments: str) -> bytes:
        """Run the program and return its stdout."""
        command = [*self.command, str(self.path), *arguments]
        return subprocess.run(command, check=True, capture_output=True).stdout


def compiled(
    folder: Path,
    abi_name: str,
    flags: Sequence[str],
    output: str,
    cpu: str = "",
    source: Path = HERE / "call.c",
) -> Program:
    """Compile the call in a folder, statically except for this PC.

    Args:
        folder: with case.h and the headers.
        abi_name: the ABI.
        flags: of the compiler.
        output: the name of the program.
        cpu: zig's `-mcpu`; empty: the ABI's.
        source: the program.
    """
    abi = ABIS[abi_name]
    found = toolchains.find("zig", abi)
    command, path, objects = list(found.command), folder / output, folder / f"{output}.o"
    if abi_name != PC:
        command[-1] = abi.triple.replace("gnu", "musl")
    target = [f"-mcpu={cpu}"] if cpu else [*found.flags, *abi.zig_compact]
    common = [
        "-fno-sanitize=undefined",
        "-ffunction-sections",
        "-w",
        f"-I{folder}",
        f"-I{folder / 'include'}",
    ]
    run([*command, *target, *C_LANGUAGE, *common, *flags, "-c", str(source), "-o", str(objects)])
    # One C library for all flags and processors: zig takes long to compile another.
    link = [*command, *found.flags, *([] if abi_name == PC else ["-static"])]
    run([*link, str(objects), "-lm", "-o", str(path)])
    options = ("-cpu", VECTOR_CPU) if abi_name == "riscv64" else ()
    return Program(path, () if abi_name == PC else (*emulator(abi_name), *options))
