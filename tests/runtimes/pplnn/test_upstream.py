"""apply.py --upstream: patches with an operator in the form of ppl.nn's own operators."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opkit.runtimes.pplnn import apply
from tests.check.target_repositories import need
from tests.compiling import C_SOURCES
from tests.marks import quick_first
from tests.runtimes.pplnn import engines
from tests.runtimes.pplnn.checkouts import PARSERS, X86_OPS, Checkout, make_checkout, run
from tests.runtimes.pplnn.operators import description, make_repository

OPERATORS = ["mish", "celu", "sum", "xor", "resize_area", "top_k", "einsum"]
"""Elementwise operators, with and without params, and others; some have a shape rule."""
AUTHOR = ("--upstream", "--author", "Jo Doe")
STYLE = (
    "{BasedOnStyle: Google, AccessModifierOffset: -4, AlignOperands: DontAlign,"
    " AllowShortBlocksOnASingleLine: Never, AllowShortFunctionsOnASingleLine: Empty,"
    " AllowShortIfStatementsOnASingleLine: Never, AllowShortLambdasOnASingleLine: Empty,"
    " AllowShortLoopsOnASingleLine: false, BreakConstructorInitializers: BeforeComma,"
    " ColumnLimit: 120, CompactNamespaces: true, DerivePointerAlignment: false,"
    " FixNamespaceComments: true, IncludeBlocks: Preserve, IndentCaseLabels: true,"
    " IndentWidth: 4, PointerAlignment: Left, SortIncludes: Never,"
    " SpacesBeforeTrailingComments: 1}"
)
"""The options in ppl.nn's .clang-format that matter to operators."""


@dataclass
class Work:
    """An operator's repository, and trees in place of ppl.nn and ppl.kernel.cpu."""

    folder: Path
    checkout: Checkout
    kernel_cpu: Checkout
    capsys: pytest.CaptureFixture[str]

    @property
    def repository(self) -> Path:
        return self.folder / "op"

    def library(self, name: str) -> None:
        """Write the repository of an operator of the library."""
        spec, files_of_user = engines.example(name)
        engines.write(spec, self.repository, files_of_user)
        math = (files_of_user / spec.math_file).read_text()
        (self.repository / spec.math_file).write_text(math)
        (self.repository / "op.yml").write_text(engines.example_text(name))

    def own(self, text: str) -> None:
        """Write the repository of an operator with the math of the skeleton."""
        make_repository(self.repository, text)
        (self.repository / "op.yml").write_text(text)
        [math] = self.repository.glob("*_compute.h")
        math.write_text(math.read_text().replace(" in op.yml", ""))  # the placeholder

    def patch(self) -> list[str]:
        """Write the patches and apply them; return the paths of the new files, ppl.nn's first."""
        assert run(self.repository, self.checkout, str(self.kernel_cpu.root), *AUTHOR) == 0
        new = []
        for tree in (self.checkout, self.kernel_cpu):
            patch = self.repository / "build/upstream" / f"{tree.root.name}.patch"
            tree.git("apply", "--whitespace=error-all", str(patch))
            new += tree.git("ls-files", "--others").splitlines()
        return new

    def refused(self, *options: str) -> str:
        """Run the command; return the message."""
        assert run(self.repository, self.checkout, *(options or AUTHOR)) == 2
        return self.capsys.readouterr().err


def upstream_work(folder: Path, capsys: pytest.CaptureFixture[str]) -> Work:
    kernel_cpu = Checkout(folder / "ppl.kernel.cpu")  # has none of the operator's files
    kernel_cpu.write("README.md", "# A tree\n")
    kernel_cpu.commit()
    return Work(folder, make_checkout(folder / "ppl.nn", is_git=True), kernel_cpu, capsys)


@pytest.fixture
def work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Work:
    return upstream_work(tmp_path, capsys)


@pytest.mark.parametrize("name", quick_first(3, OPERATORS))
def test_patches(name: str, work: Work) -> None:
    work.library(name)
    checkout, kernel_cpu = work.checkout, work.kernel_cpu
    before = checkout.content(), kernel_cpu.content()
    assert run(work.repository, checkout, str(kernel_cpu.root), *AUTHOR) == 0
    assert (checkout.content(), kernel_cpu.content()) == before
    files = work.patch()
    where = f"src/ppl/nn/engines/x86/optimizer/ops/custom/{name}_op.cc"
    element = "bool" if name == "xor" else "fp32"
    math = f"src/ppl/kernel/x86/{element}/{name}/{name}_{element}.cpp"
    assert {where, math, f"include/ppl/kernel/x86/{element}/{name}.h"} <= {*files}
    assert checkout.git("diff", "--stat").count("|") == 2  # the two tables
    for tree in (checkout, kernel_cpu):
        for path in tree.git("ls-files", "--others").splitlines():
            text = tree.read(path)
            assert text.startswith("// Copyright Jo Doe\n//\n// Licensed under the Apache License")
            if path.endswith(".h"):
                macro = re.sub(r"\W", "_", path.partition("/")[2]).upper()
                prefix = "_ST_HPC_" if tree is checkout else "__ST_"
                assert f"#ifndef {prefix}{macro}_\n#define {prefix}{macro}_\n" in text
    folder = work.repository / "build/upstream"
    patches = "".join(path.read_text() for path in folder.iterdir())
    added = re.findall(r"^\+.*", patches, re.MULTILINE)
    assert not [line for line in added if re.search(r"(?i)opkit|rknn|op\.yml|generated", line)]
    assert_format(checkout)


def test_registration(work: Work) -> None:
    work.library("resize_area")
    work.patch()
    checkout = work.checkout
    added = re.findall(r"^\+(?!\+).*", checkout.git("diff"), re.MULTILINE)
    assert added == [
        '+#include "ppl/nn/engines/x86/optimizer/ops/custom/resize_area_op.h"',
        '+    RegisterOptKernelCreator<ResizeAreaOp>("custom", "ResizeArea", 1, 1);',
        '+#include "ppl/nn/models/onnx/parsers/custom/parse_resize_area_param.h"',
        '+    PPL_REGISTER_OP_WITH_PARAM("custom", "ResizeArea", 1, 1, '
        "ppl::nn::custom::ResizeAreaParam,",
        "+                               ppl::nn::custom::ParseResizeAreaParam, "
        "ppl::nn::custom::PackResizeAreaParam);",
    ]
    lines = checkout.read(X86_OPS).splitlines()
    assert (
        lines[lines.index('#include "ppl/nn/engines/x86/optimizer/ops/onnx/north_op.h"') + 1]
        == (added[0][1:])
    )
    assert lines[lines.index(added[1][1:]) + 1] == "}"
    assert added[4][1:] in checkout.read(PARSERS)


def assert_format(checkout: Checkout) -> None:
    """Assert that the new files in ppl.nn are formatted, but for the user's own C."""
    paths = checkout.git("ls-files", "--others").splitlines()
    own = [path for path in paths if not path.endswith("_shapes.h")]
    clang_format = Path(sys.executable).with_name("clang-format")
    command = [str(clang_format), f"--style={STYLE}", "--dry-run", "--Werror", *own]
    done = subprocess.run(command, cwd=checkout.root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


PARAMS = """\
name: EveryParam
runtimes: [pplnn]
domain: ""
inputs:
  i: {type: VX_TYPE_TENSOR}
  row: {type: VX_TYPE_TENSOR, dtype: int64}
outputs:
  y: {type: VX_TYPE_TENSOR, same_as: row, dtype: int32}
  z: {type: VX_TYPE_TENSOR}
params:
  a: {type: int, min: -5, doc: "A \\\\"}
  a_count: {type: VX_TYPE_BOOL, default: true}
  b: {type: float, default: 0.5}
  c:
    type: ints
    default: [1, 2, 1000000, 1000001, 1000002, 1000003, 1000004, 1000005, 1000006, 1000007]
  d: {type: floats, length: 3, min: 0, max: 100.5}
  e: {type: string, default: "near\\"est", choices: [linear, "near\\"est"]}
  f: {type: string}
  g: {type: VX_TYPE_CHAR, default: 200}
"""


def test_every_param(work: Work) -> None:
    work.own(PARAMS)
    work.patch()
    checkout = work.checkout
    assert_format(checkout)
    parser = checkout.read("src/ppl/nn/models/onnx/parsers/onnx/parse_every_param_param.cc")
    assert 'GetNodeAttr(pb_node, "e", &param->e, "near\\"est");' in parser
    assert 'if (!onnx::utils::GetNodeAttr(pb_node, "f", &param->f)) {' in parser
    assert "if (param->d.size() != 3) {" in parser
    assert '"attribute[a] must be -5 or more."' in parser
    reshape = checkout.read("src/ppl/nn/oputils/onnx/reshape_every_param.cc")
    assert "*info->GetInput<TensorImpl>(1)->GetShape();" in reshape
    assert "Store(outputs.z, info->GetOutput<TensorImpl>(1)->GetShape());" in reshape
    math = work.kernel_cpu.read("include/ppl/kernel/x86/fp32/every_param.h")
    assert "const float *i_,\n    const int64_t *row_," in math


@pytest.mark.parametrize(
    ("input_", "output", "folder"),
    [("int32", "bool", "int32"), ("bool", "int32", "bool"), ("int64", "float32", "fp32")],
)
def test_folder_of_math(input_: str, output: str, folder: str, work: Work) -> None:
    """The math is in the folder of the first tensor's dtype, but floats come first."""
    work.own(
        "name: Mixed\nruntimes: [pplnn]\n"
        f"inputs: {{x: {{type: VX_TYPE_TENSOR, dtype: {input_}}}}}\n"
        f"outputs: {{y: {{type: VX_TYPE_TENSOR, dtype: {output}}}}}\n"
    )
    work.patch()
    assert f"mixed_ndarray_{folder}(" in work.kernel_cpu.read(
        f"include/ppl/kernel/x86/{folder}/mixed.h"
    )


def test_only_used_helpers(work: Work) -> None:
    work.library("mish")
    work.patch()
    helpers = work.kernel_cpu.read("src/ppl/kernel/x86/fp32/mish/mish_common.h")
    assert "static inline float mish_exp(float x)" in helpers
    assert "mish_log" not in helpers
    assert "mish_tensor" not in helpers


MAIN = """
#include <stdio.h>
#include "{header}"

int main()
{{
    ppl::common::TensorShape {shapes};
{tensors}
    {output_type} output[{count}] = {{}};
    const uint32_t status = ppl::kernel::x86::{call};
    for (auto value : output) {{
        printf("%.9g ", (double)value);
    }}
    return (int)status;
}}
"""


_XOR = np.logical_xor([[[0, 1]], [[1, 1]]], [[0], [1], [0]])


@pytest.mark.parametrize(
    ("name", "header", "shapes", "tensors", "output", "call", "expected"),
    [
        (
            *("celu", "fp32/celu", "x{{3}}", "const float in[] = {-1, 0, 2};", ("float", 3)),
            "celu_fp32(&x, in, 2.0f, output)",
            [2 * np.expm1(-0.5), 0, 2],
        ),
        (
            *("xor", "bool/xor", "a{{2, 1, 2}}, b{{3, 1}}, c{{2, 3, 2}}"),
            "const uint8_t in[] = {0, 1, 1, 1}, other[] = {0, 1, 0};",
            ("uint8_t", 12),
            "xor_ndarray_bool(&a, &b, &c, in, other, output)",
            _XOR.ravel(),
        ),
        (
            *("resize_area", "fp32/resize_area", "x{{1, 2, 4, 1}}, y{{1, 1, 2, 1}}"),
            "const float in[] = {1, 2, 3, 4, 5, 6, 7, 8}; const int32_t size[] = {1, 2};",
            ("float", 2),
            "resize_area_ndarray_fp32(&x, &y, in, size, 2, false, output)",
            [3.5, 5.5],
        ),
    ],
)
def test_math(
    name: str,
    header: str,
    shapes: str,
    tensors: str,
    output: tuple[str, int],
    call: str,
    expected: Any,
    work: Work,
) -> None:
    """Compile the math of a patched tree with a program that calls it."""
    work.library(name)
    work.patch()
    main = work.folder / "main.cc"
    type_, count = output
    header = f"ppl/kernel/x86/{header}.h"
    values = {"output_type": type_, "count": count, "tensors": f"    {tensors}"}
    main.write_text(MAIN.format(header=header, shapes=shapes, call=call, **values))
    root = work.kernel_cpu.root
    source = next((root / "src/ppl/kernel/x86").rglob("*.cpp"))
    folders = (root / "include", root / "src", C_SOURCES / "ppl_kernel_cpu")
    flags = ["-std=c++11", "-Wall", "-Wextra", "-Werror", "-O1", *(f"-I{each}" for each in folders)]
    command = [*engines.cxx(), *flags, str(main), str(source), "-o", f"{main}.out"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    done = subprocess.run([f"{main}.out"], capture_output=True, text=True, check=True)
    np.testing.assert_allclose([float(word) for word in done.stdout.split()], expected, rtol=1e-6)


# ---- Refusals ----


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (description(more="threads: 4"), "op.yml: threads: "),
        (description(more="cflags: [-DA=1]"), "op.yml: cflags: -DA=1: "),
        (description(more="sources: [a.cc]"), "a.cc: in ppl.nn's own form, the math is one C file"),
        (description(more="include: [a]"), "a: in ppl.nn's own form, the math is one C file"),
        (
            description().replace("TENSOR", "TENSOR, dtype: float16"),
            "op.yml: x: dtype: float16 is not supported",
        ),
        (
            description().replace("TENSOR", "TENSOR, dtype: uint8"),
            "op.yml: x: dtype: ppl.kernel.cpu has no folder for x86 operators of uint8",
        ),
    ],
)
def test_unsupported_descriptions(text: str, message: str, work: Work) -> None:
    work.own(text)
    assert message in work.refused()
    assert not (work.repository / "build").exists()


@pytest.mark.parametrize(
    ("line", "message"),
    [('#include "own.h"', "includes own.h"), ("/* As rknn does. */", "names 'rknn'")],
)
def test_unsupported_math(line: str, message: str, work: Work) -> None:
    work.own(description())
    math = work.repository / "resizearea_compute.h"
    guard = "#define RESIZEAREA_COMPUTE_H\n"
    text = math.read_text().replace(guard, f"{guard}{line}\n")
    math.write_text(text)
    (work.repository / "own.h").write_text("")
    number = text.splitlines().index(line) + 1
    assert f"resizearea_compute.h:{number}: {message}" in work.refused()


@pytest.mark.parametrize(
    ("path", "text", "message"),
    [
        ("src/ppl/nn/engines/x86/a.h", "class MishOp final {\n", "has a class MishOp already"),
        ("src/ppl/nn/engines/x86/kernels/custom/mish_kernel.h", "", "exists; rename the operator"),
        ("include/ppl/kernel/x86/fp32/mish.h", "", "exists"),
    ],
)
def test_existing_names(path: str, text: str, message: str, work: Work) -> None:
    (work.checkout if "/nn/" in path else work.kernel_cpu).write(path, text)
    work.library("mish")
    error = work.refused(str(work.kernel_cpu.root), *AUTHOR)
    assert path in error
    assert message in error


def test_overlaid_checkout(work: Work) -> None:
    work.library("mish")
    assert run(work.repository, work.checkout) == 0
    assert "is a line of custom.Mish, laid over the checkout; " in work.refused()


@pytest.mark.parametrize("options", [["--upstream"], ["--author", "Jo"], ["a"]])
def test_usage(options: list[str], work: Work) -> None:
    with pytest.raises(SystemExit) as stop:
        run(work.folder, work.checkout, *options)
    assert stop.value.code == 2


@pytest.mark.parametrize("author", [" ", "Jo\nDoe", "Jo\\"])
def test_invalid_author(author: str, work: Work) -> None:
    work.library("mish")
    assert "expected a name in one line" in work.refused("--upstream", "--author", author)


def test_without_opkit(work: Work) -> None:
    need("git", "git")
    work.library("mish")
    script, root = work.repository / "pplnn/apply.py", work.checkout.root
    command = [sys.executable, "-I", "-S", str(script), str(root), *AUTHOR]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "--upstream requires opkit" in done.stderr
    assert apply.PATCHES not in done.stdout
