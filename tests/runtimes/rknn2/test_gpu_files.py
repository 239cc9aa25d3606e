"""The generated files of a GPU kernel: their text, their compilation, and what op.yml refuses."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opkit.common.errors import OpkitError
from opkit.description.reader import DescriptionError
from opkit.description.spec import OpSpec
from opkit.files.elementwise import generated_loop
from opkit.files.skeletons import once_only_files
from opkit.mutation.plan import Plan
from opkit.mutation.run import unchanged_code
from opkit.runtimes import parse
from opkit.runtimes.rknn2 import gpu_files
from opkit.runtimes.rknn2.c_files import c_files
from opkit.runtimes.rknn2.check import CHECK
from opkit.toolchains.abi import ABIS
from tests.compiling import compile_c
from tests.marks import quick_first
from tests.runtimes.rknn2.support import HEADERS, write_operator
from tests.runtimes.rknn2.test_c_files import DESCRIPTIONS

HEAD = "name: Blend\nruntimes: [rknn2]\nkernels: [cpu, gpu]\n"
TENSOR = "{type: VX_TYPE_TENSOR}"
ELEMENTWISE = (
    f"{HEAD}elementwise: true\ninputs: {{x: {TENSOR}, i: {TENSOR}}}\noutputs: {{count: {TENSOR}}}\n"
    "params:\n  alpha: {type: float, default: 1.5}\n  flag: {type: VX_TYPE_BOOL, default: true}\n"
    "  steps: {type: VX_TYPE_UINT32, default: 3}\n  low: {type: VX_TYPE_INT8, default: -1}\n"
)
SCALAR = """\
#ifndef BLEND_SCALAR_H
#define BLEND_SCALAR_H

#include <math.h>

#include "generated/blend.h"

static inline float blend_of(float x, float i, const struct blend_params *params)
{
    return params->flag ? x + params->alpha * i : fabsf(x);
}

#endif
"""
GPU_DESCRIPTIONS = {
    name: text.replace("runtimes: [rknn2]\n", "runtimes: [rknn2]\nkernels: [cpu, gpu]\n")
    for name, text in DESCRIPTIONS.items()
}


def compile_gpu_operator(folder: Path, text: str, abi: str) -> None:
    """Write an operator with its generated GPU kernel, and compile its callbacks."""
    spec = parse(text)
    if spec.elementwise:
        math, files = generated_loop(spec, SCALAR), gpu_files.from_scalar(spec, SCALAR)
        files["blend_scalar.h"] = SCALAR
    else:
        math = once_only_files(spec, [])[f"{spec.lower}_compute.h"]
        files = gpu_files.once_only_files(spec)
    write_operator(folder, text, math)
    for path, content in files.items():
        (folder / path).write_text(content)
    kernel = files[gpu_files.kernel_file(spec)]
    header = folder / "rknn2" / gpu_files.kernel_header(spec)
    header.write_text(gpu_files.kernel_source(kernel, spec))
    source = folder / f"rknn2/{spec.lower}_custom_op.c"
    result = compile_c(folder / "a.o", "-c", source, HEADERS, f"-I{folder}", abi=ABIS[abi])
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("name", quick_first(2, [*GPU_DESCRIPTIONS, "elementwise"]))
def test_callbacks_compile(name: str, tmp_path: Path) -> None:
    compile_gpu_operator(tmp_path, (GPU_DESCRIPTIONS | {"elementwise": ELEMENTWISE})[name], "x64")


@pytest.mark.parametrize("abi", ["aarch64", "armhf"])
def test_callbacks_compile_for_boards(abi: str, tmp_path: Path) -> None:
    compile_gpu_operator(tmp_path, ELEMENTWISE, abi)


def test_operator_of_the_cpu_has_nothing_of_the_gpu() -> None:
    cpu, gpu = parse(DESCRIPTIONS["defaults"]), parse(GPU_DESCRIPTIONS["defaults"])
    assert gpu_files.once_only_files(cpu) == gpu_files.from_scalar(cpu, "") == {}
    assert "gpu" not in c_files(cpu)["rknn2/defaults_custom_op.c"].lower()
    assert "opkit_choose_gpu" in c_files(gpu)["rknn2/defaults_custom_op.c"]


def literal_value(folder: Path, spec: OpSpec, text: str) -> bytes:
    """Return what the strings of C that stand for a kernel's text are when a program runs."""
    (folder / "a.c").write_text(
        f"#include <stdio.h>\n{gpu_files.kernel_source(text, spec)}"
        "int main(void)\n{\n"
        f"    for (size_t i = 0; i < sizeof {spec.lower}_kernel_lines / sizeof(char *); i++) {{\n"
        f"        fputs({spec.lower}_kernel_lines[i], stdout);\n    }}\n"
        "    return 0;\n}\n"
    )
    compiled = compile_c(folder / "a", folder / "a.c")
    assert (compiled.returncode, compiled.stderr) == (0, "")
    return subprocess.run([folder / "a"], capture_output=True, check=True).stdout


def test_kernel_is_the_same_text_in_c(tmp_path: Path) -> None:
    spec = parse(ELEMENTWISE)
    every = "".join(map(chr, range(1, 256)))
    text = f'{every}\n"\\n"\t??/ ??= \\\n%s /* \U0001f600 */ \x001x'.replace("\x00", "\x01")
    assert literal_value(tmp_path, spec, text) == text.encode()


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_literals_are_ascii_without_trigraphs(text: str) -> None:
    literal = gpu_files.kernel_source(text, parse(ELEMENTWISE))
    assert literal.isascii()
    assert "??" not in literal


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            ("i: {type", "i: {dtype: int32, type"),
            "inputs.i.dtype: the GPU kernel gets no int32: librknnrt hands over float32; write "
            "`kernels: [cpu]` (expected float16, float32)",
        ),
        (
            ("{type: VX_TYPE_UINT32, default: 3}", "{type: floats, default: [1.0]}"),
            "params.steps.type: the GPU kernel of an elementwise operator has no FLOATS; write "
            "`kernels: [cpu]` (expected a number of 32 bits or less)",
        ),
        (
            ("{type: VX_TYPE_UINT32, default: 3}", "{type: VX_TYPE_INT64, default: 3}"),
            "params.steps.type: the GPU kernel of an elementwise operator has no VX_TYPE_INT64; "
            "write `kernels: [cpu]` (expected a number of 32 bits or less)",
        ),
    ],
)
def test_op_yml_refuses_what_a_gpu_kernel_does_not_get(
    change: tuple[str, str], message: str
) -> None:
    with pytest.raises(DescriptionError) as raised:
        parse(ELEMENTWISE.replace(*change))
    assert message in str(raised.value)


def test_elementwise_kernel_renames_its_variables() -> None:
    files = gpu_files.from_scalar(parse(ELEMENTWISE), SCALAR)
    kernel = files["rknn2/blend_kernel.cl"]
    assert "__global const float *i,\n    __global float *count,\n" in kernel
    assert "const int i_ = (int)get_global_id(0);" in kernel
    assert "if (i_ < count_) {" in kernel
    assert "fabs(x)" in kernel


def test_kernel_to_change_has_to_compile(tmp_path: Path) -> None:
    spec = parse(GPU_DESCRIPTIONS["no_params"])
    (source,) = CHECK.mutable_sources(spec, Plan(1, 1, (), (), ()))
    path = tmp_path / source.path
    path.parent.mkdir()
    path.write_text(gpu_files.once_only_files(spec)[source.path])
    assert source.root in source.tree(tmp_path)
    with path.open("a") as file:
        file.write("int\n")
    (tmp_path / gpu_files.BUILD_FOLDER).mkdir(parents=True)
    with pytest.raises(OpkitError) as raised:
        unchanged_code(source, tmp_path)
    last = len(path.read_text().splitlines())
    assert str(raised.value) == (
        f"{source.path}:{last}: expected identifier or '('; no case runs this kernel, see scons "
        "check"
    )
