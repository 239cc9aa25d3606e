"""The memory of tensors of halves, which a kernel keeps between its runs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from opkit import runtimes
from opkit.files.generation import generated_files
from tests.compiling import C_SOURCES
from tests.repositories import ROOT
from tests.runtimes.c_math import compute_text
from tests.runtimes.pplnn.engines import STRICT, cxx, write

DESCRIPTION = """\
name: Doubled
runtimes: [pplnn]
inputs: {x: {type: VX_TYPE_TENSOR}}
outputs: {y: {type: VX_TYPE_TENSOR, same_as: x}}
"""
COMPUTE = compute_text("doubled", "for (size_t i = 0; i < inputs->x.size; i++) { ELEMENT }")
DOUBLE_FLOAT = "outputs->y.float32[i] = 2 * inputs->x.float32[i];"
DOUBLE_HALF = (
    "outputs->y.float16[i] = opkit_float_to_half(2 * opkit_half_to_float(inputs->x.float16[i]));"
)
RUNS = """\
1000: right, 2 allocations
1000: right, 0 allocations
3: right, 0 allocations
999: right, 0 allocations
2000: right, 2 allocations
1000: right, 0 allocations
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(runtimes.parse(DESCRIPTION), tmp_path)


def output(folder: Path, *flags: str) -> str:
    """Build and run the program, and return its output."""
    program, source = folder / "memory", C_SOURCES / "pplnn_memory.cc"
    command = [*cxx(), *STRICT, "-O1", f"-I{folder}", f"-I{folder}/pplnn/src", f"-I{ROOT}"]
    subprocess.run([*command, *flags, source, "-o", program, "-lpthread"], check=True)
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout


def test_kernel_keeps_memory(folder: Path) -> None:
    (folder / "doubled_compute.h").write_text(COMPUTE.replace("ELEMENT", DOUBLE_FLOAT))
    assert output(folder) == f"{RUNS}2 blocks\n0 wrong, 0 blocks\n"


def test_halves_as_they_are_need_no_memory(folder: Path) -> None:
    (folder / "doubled_compute.h").write_text(COMPUTE.replace("ELEMENT", DOUBLE_HALF))
    glue = folder / "pplnn/src/ppl/nn/oputils/custom/doubled_glue.cc"
    text = glue.read_text()
    assert text.count("OPKIT_FLOAT32") == 1
    glue.write_text(text.replace("OPKIT_FLOAT32", "OPKIT_FLOAT16"))
    runs = RUNS.replace("2 allocations", "0 allocations")
    assert output(folder) == f"{runs}0 blocks\n0 wrong, 0 blocks\n"


@pytest.mark.slow
@pytest.mark.parametrize("flags", [(), ("-fsanitize=thread",)], ids=["plain", "thread sanitizer"])
def test_kernels_share_a_table(tmp_path: Path, flags: tuple[str, ...]) -> None:
    """With OPKIT_GUARDED, every kernel uses a table; the first run of the first one fills it."""
    text = DESCRIPTION.replace(", same_as: x", "") + "elementwise: true\n"
    folder = write(runtimes.parse(text), tmp_path)
    scalar = (folder / "doubled_scalar.h").read_text()
    assert scalar.count("return x;") == 1
    (folder / "doubled_scalar.h").write_text(scalar.replace("return x;", "return 2.0f * x;"))
    spec = runtimes.parse(text)
    header = generated_files(spec, "", runtimes.selected(spec), scalar)[spec.compute_header]
    (folder / spec.compute_header).write_text(header)
    runs = RUNS.replace("2 allocations", "0 allocations").replace("0 all", "1 all", 1)
    assert output(folder, "-DOPKIT_GUARDED", *flags) == f"{runs}1 blocks\n0 wrong, 0 blocks\n"
