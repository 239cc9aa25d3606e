"""Measure the cost of PPLNN's glue, and vectorization on riscv64, as a Markdown table.

    python -m benchmarks.pplnn [--examples exp ...] [--runs 31] [--output benchmarks]

Prints the table; with --output, writes it into RESULTS.md of that folder.

On this PC: the time of a call through the glue against that of the bare math on the same floats,
2^20 of them, compiled as `scons target=x64-pplnn` does. On riscv64: the instructions per element of
a call through the glue, as qemu executes them one by one, compiled without and with the vector
extension. Code that is not vectorized executes as many instructions with it.
"""

from __future__ import annotations

import subprocess
import tempfile
from dataclasses import dataclass
from math import prod
from pathlib import Path

from benchmarks import instructions, results_file
from benchmarks.calls import VECTOR_CPU
from opkit import runtimes, toolchains
from opkit.check.executors import ExecutorError, emulator
from opkit.description.spec import OpSpec
from opkit.files.generation import generated_files
from opkit.files.skeletons import once_only_files
from opkit.runtimes.pplnn.tree_names import SOURCES, names
from opkit.toolchains.abi import ABIS
from opkit.toolchains.compiler import cxx_command
from opkit.toolchains.flags import CXX_LANGUAGE
from rknn_op.creation import operator_library

ROOT = Path(__file__).resolve().parent.parent
COMMAND = "python -m benchmarks.pplnn --output benchmarks"
LINK = ("-fno-sanitize=undefined",)
OPTIMIZED = ("-O2", "-ffp-contract=off", "-w")
FLOAT16, FLOAT32 = 5, 6  # ppl::common::datatype_t
AIM = 1.1
CPUS = {"rv64gc": "baseline_rv64", "rv64gcv": "baseline_rv64+v", "rv64gc_zfh": "baseline_rv64+zfh"}
"""Instruction set -> `-mcpu` of zig."""

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Case:
    """A call of an example.

    Attributes:
        inputs: shapes.
        outputs: shapes.
        params: C++ statements that set the params.
    """

    inputs: tuple[Shape, ...]
    outputs: tuple[Shape, ...]
    params: str = ""


def cases(large: bool) -> dict[str, Case]:
    """Return a call of each example: with 2^20 elements, or with 2^12."""
    n = 2**10 if large else 2**6
    return {
        "exp": Case(((n, n),), ((n, n),)),
        "truncate_div": Case(((n, n), (n, n)), ((n, n),)),
        "row_mean": Case(((n, n),), ((n, 1),)),
        "resize_area": Case(
            ((1, n, n // 4, 4),),
            ((1, n // 2, n // 8, 4),),
            f"static const int32_t size[] = {{{n // 2}, {n // 8}}}; params.size = {{2, size}}",
        ),
        "decode_boxes": Case(
            ((n, n // 4, 4), (n // 4, 4)),
            ((n, n // 4, 4), (n, n // 4)),
            "static const int32_t image_size[] = {640, 480}; params.image_size = {2, image_size}; "
            "params.max_log_scale = 4.0F; params.area_scale = 1",
        ),
    }


def described(name: str) -> OpSpec:
    """Return the description of an example for PPLNN alone."""
    lines = (ROOT / "operators" / name / f"{name}.yml").read_text().splitlines(keepends=True)
    others = ("framework", "kernels", "runtimes", "target_platform")
    text = "".join(line for line in lines if not line.startswith(others))
    return runtimes.parse(f"runtimes: [pplnn]\n{text}")


def write(name: str, folder: Path) -> OpSpec:
    """Write the files of an example for PPLNN into a folder."""
    spec = described(name)
    chosen = runtimes.selected(spec)
    texts = {**once_only_files(spec, chosen), **generated_files(spec, "", chosen)}
    mine = operator_library.named_operator(ROOT / "operators", name).files(spec)
    for path, data in {**{path: text.encode() for path, text in texts.items()}, **mine}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return spec


def write_case(spec: OpSpec, case: Case, type_: int, folder: Path) -> None:
    """Write the header that selects the operator and its call."""
    where = names(spec)

    def tensors(shapes: tuple[Shape, ...]) -> str:
        return ", ".join(
            f"{{{type_}, {len(shape)}, {{{', '.join(map(str, shape))}}}, nullptr}}"
            for shape in shapes
        )

    views = [
        f"{{&{side}[{index}], &{struct}.{tensor.name}, false}}"
        for side, struct, group in (("inputs", "in", spec.inputs), ("outputs", "out", spec.outputs))
        for index, tensor in enumerate(group)
    ]
    (folder / "case.h").write_text(
        f'#include "{SOURCES}/{where.glue}.cc"\n'
        f"static {spec.lower}_inputs in;\nstatic {spec.lower}_outputs out;\n"
        f"#define INPUTS {tensors(case.inputs)}\n#define OUTPUTS {tensors(case.outputs)}\n"
        f"#define VIEWS {', '.join(views)}\n#define PARAMS {spec.lower}_params\n"
        f"#define SET_PARAMS {case.params}\n"
        f"#define GLUE ppl::nn::{where.folder}::Run{where.title}"
        "(inputs, params, outputs, scratch)\n"
        f"#define BARE {spec.lower}_compute(&in, &params, &out)\n"
    )


def compiled(folder: Path, abi_name: str, cpu: str, output: str) -> Path:
    """Compile the program, statically except for this PC."""
    compiler = toolchains.find("zig", ABIS[abi_name])
    command = list(cxx_command(compiler))
    if abi_name != "x64":
        command[-1] = ABIS[abi_name].triple.replace("gnu", "musl")
    program = folder / output
    source = ROOT / "benchmarks/pplnn.cc"
    flags = [f"-mcpu={cpu}", *LINK, *CXX_LANGUAGE, *OPTIMIZED]
    includes = [f"-I{folder}", f"-I{folder / SOURCES}"]
    objects = folder / f"{output}.o"
    subprocess.run([*command, *flags, *includes, "-c", source, "-o", objects], check=True)
    # One libc for all instruction sets: each takes long to compile; the program calls little of it.
    link = [*compiler.command[:-1], command[-1], f"-mcpu={ABIS[abi_name].zig_cpu}", *LINK]
    static = [] if abi_name == "x64" else ["-static"]
    subprocess.run([*link, *static, objects, "-lm", "-o", program], check=True)
    return program


def measured(name: str, runs: int, work: Path) -> list[list[str]]:
    """Measure an example and return its rows."""
    spec = write(name, work)
    write_case(spec, cases(large=True)[name], FLOAT32, work)
    program = compiled(work, "x64", ABIS["x64"].zig_cpu, "time")
    printed = subprocess.run(
        [program, "time", str(runs)], check=True, capture_output=True, text=True
    ).stdout
    glue, bare = map(float, printed.split())
    small = cases(large=False)[name]
    elements = prod(small.inputs[0])
    rows = []
    for type_, dtype in ((FLOAT32, "float32"), (FLOAT16, "float16")):
        write_case(spec, small, type_, work)
        counts = []
        for cpu in CPUS.values():
            program = compiled(work, "riscv64", cpu, f"count-{cpu}")
            command = [*emulator("riscv64"), "-cpu", VECTOR_CPU]
            blocks = instructions.executed(command, program, ["glue"], work / "log")
            counts.append(None if blocks is None else instructions.total(blocks))
        times = [f"{glue / bare:.2f} x", "yes" if glue <= AIM * bare else "no"]
        rows.append(
            [
                f"{name}, {dtype}",
                *(times if dtype == "float32" else ["", ""]),
                *("-" if count is None else f"{count / elements:.1f}" for count in counts),
            ]
        )
    return rows


def section(rows: list[list[str]], runs: int) -> str:
    """Return the benchmark's section of RESULTS.md."""
    head = ["", "glue / bare math", f"at most {AIM} x"]
    return f"""\
## PPLNN

    {COMMAND}

{results_file.machine()}; {results_file.medians(runs)}, in which both took turns.

On this PC, at 2^20 floats: the time of a call through the glue, as PPLNN's kernels make it, by that
of the bare math. On riscv64: instructions for each element of the first input, at 2^12 of them, in
qemu; compiled for the instruction set in the column's head. `-`: this qemu fails while it counts.

{results_file.table([*head, *CPUS], rows)}
"""


def main() -> None:
    """Measure, print, and write with --output."""
    known = list(cases(large=False))
    parser = results_file.parser("pplnn", __doc__, runs=31)
    parser.add_argument("--examples", nargs="+", choices=known, default=known)
    options = parser.parse_args()
    try:
        emulator("riscv64")
    except ExecutorError as error:
        raise SystemExit(f"error: {error}") from None
    rows = []
    for name in options.examples:
        with tempfile.TemporaryDirectory() as folder:
            rows += measured(name, options.runs, Path(folder))
    text = section(rows, options.runs)
    results_file.finish(options.output, "pplnn", text)


if __name__ == "__main__":
    main()
