"""apply.py --upstream: patches with an operator in the form of ppl.nn's own operators."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

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


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return make_checkout(tmp_path / "ppl.nn", is_git=True)


@pytest.fixture
def kernel_cpu(tmp_path: Path) -> Checkout:
    """Return a tree in place of ppl.kernel.cpu, which has none of the operator's files."""
    tree = Checkout(tmp_path / "ppl.kernel.cpu")
    tree.write("README.md", "# A tree\n")
    tree.commit()
    return tree


def library_repository(folder: Path, name: str) -> Path:
    """Write the repository of an operator of the library."""
    spec, files_of_user = engines.example(name)
    engines.write(spec, folder, files_of_user)
    (folder / spec.math_file).write_text((files_of_user / spec.math_file).read_text())
    (folder / "op.yml").write_text(engines.example_text(name))
    return folder


def own_repository(folder: Path, text: str) -> Path:
    """Write the repository of an operator with the math of the skeleton."""
    make_repository(folder, text)
    (folder / "op.yml").write_text(text)
    return folder


def patched(repository: Path, checkout: Checkout, kernel_cpu: Checkout) -> list[str]:
    """Write the patches, apply them, and return the paths of the new files, ppl.nn's first."""
    for tree in (checkout, kernel_cpu):
        patch = repository / "build/upstream" / f"{tree.root.name}.patch"
        tree.git("apply", "--whitespace=error-all", str(patch))
    new = [tree.git("ls-files", "--others").splitlines() for tree in (checkout, kernel_cpu)]
    return [path for paths in new for path in paths]


def patch_in(folder: Path, name: str, checkout: Checkout, kernel_cpu: Checkout) -> Path:
    """Make the repository of an operator of the library, apply its patches, and return it."""
    repository = library_repository(folder, name)
    assert run(repository, checkout, str(kernel_cpu.root), *AUTHOR) == 0
    patched(repository, checkout, kernel_cpu)
    return repository


@pytest.mark.parametrize("name", quick_first(3, OPERATORS))
def test_patches(name: str, checkout: Checkout, kernel_cpu: Checkout, tmp_path: Path) -> None:
    repository = library_repository(tmp_path / "op", name)
    before = checkout.content(), kernel_cpu.content()
    assert run(repository, checkout, str(kernel_cpu.root), *AUTHOR) == 0
    assert (checkout.content(), kernel_cpu.content()) == before
    files = patched(repository, checkout, kernel_cpu)
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
    patches = "".join(path.read_text() for path in (repository / "build/upstream").iterdir())
    added = re.findall(r"^\+.*", patches, re.MULTILINE)
    assert not [line for line in added if re.search(r"(?i)opkit|rknn|op\.yml|generated", line)]


def test_registration(checkout: Checkout, kernel_cpu: Checkout, tmp_path: Path) -> None:
    patch_in(tmp_path / "op", "resize_area", checkout, kernel_cpu)
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


@pytest.mark.parametrize("name", quick_first(3, OPERATORS))
def test_format(name: str, checkout: Checkout, kernel_cpu: Checkout, tmp_path: Path) -> None:
    """ppl.nn's files are clean for its clang-format, but for the user's own C."""
    repository = library_repository(tmp_path / "op", name)
    assert run(repository, checkout, str(kernel_cpu.root), *AUTHOR) == 0
    patched(repository, checkout, kernel_cpu)
    assert_format(checkout)


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


def test_every_param(checkout: Checkout, kernel_cpu: Checkout, tmp_path: Path) -> None:
    repository = own_repository(tmp_path / "op", PARAMS)
    math_file = repository / "everyparam_compute.h"
    math_file.write_text(math_file.read_text().replace(" in op.yml", ""))  # the placeholder
    assert run(repository, checkout, str(kernel_cpu.root), *AUTHOR) == 0
    patched(repository, checkout, kernel_cpu)
    assert_format(checkout)
    parser = checkout.read("src/ppl/nn/models/onnx/parsers/onnx/parse_every_param_param.cc")
    assert 'GetNodeAttr(pb_node, "e", &param->e, "near\\"est");' in parser
    assert 'if (!onnx::utils::GetNodeAttr(pb_node, "f", &param->f)) {' in parser
    assert "if (param->d.size() != 3) {" in parser
    reshape = checkout.read("src/ppl/nn/oputils/onnx/reshape_every_param.cc")
    assert "*info->GetInput<TensorImpl>(1)->GetShape();" in reshape
    assert "Store(outputs.z, info->GetOutput<TensorImpl>(1)->GetShape());" in reshape
    math = kernel_cpu.read("include/ppl/kernel/x86/fp32/every_param.h")
    assert "const float *i_,\n    const int64_t *row_," in math


def test_only_used_helpers(checkout: Checkout, kernel_cpu: Checkout, tmp_path: Path) -> None:
    patch_in(tmp_path / "op", "mish", checkout, kernel_cpu)
    helpers = kernel_cpu.read("src/ppl/kernel/x86/fp32/mish/mish_common.h")
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


def computed(kernel_cpu: Checkout, name: str, folder: Path, **values: str) -> list[float]:
    """Compile the math of a patched tree with a program that calls it; return its numbers."""
    main = folder / "main.cc"
    main.write_text(MAIN.format(header=f"ppl/kernel/x86/{name}.h", **values))
    source = next((kernel_cpu.root / "src/ppl/kernel/x86").rglob("*.cpp"))
    folders = [kernel_cpu.root / "include", kernel_cpu.root / "src", C_SOURCES / "ppl_kernel_cpu"]
    includes = [f"-I{path}" for path in folders]
    flags = ["-std=c++11", "-Wall", "-Wextra", "-Werror", "-O1"]
    command = [*engines.cxx(), *flags, *includes, str(main), str(source), "-o", f"{main}.out"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    done = subprocess.run([f"{main}.out"], capture_output=True, text=True, check=True)
    return [float(word) for word in done.stdout.split()]


def test_elementwise_math(checkout: Checkout, kernel_cpu: Checkout, tmp_path: Path) -> None:
    patch_in(tmp_path / "op", "celu", checkout, kernel_cpu)
    found = computed(
        kernel_cpu,
        "fp32/celu",
        tmp_path,
        shapes="x{{3}}",
        tensors="    const float in[] = {-1, 0, 2};",
        output_type="float",
        count="3",
        call="celu_fp32(&x, in, 2.0f, output)",
    )
    np.testing.assert_allclose(found, [2 * np.expm1(-0.5), 0, 2], rtol=1e-6)


def test_broadcast_math(checkout: Checkout, kernel_cpu: Checkout, tmp_path: Path) -> None:
    patch_in(tmp_path / "op", "xor", checkout, kernel_cpu)
    found = computed(
        kernel_cpu,
        "bool/xor",
        tmp_path,
        shapes="a{{2, 1, 2}}, b{{3, 1}}, c{{2, 3, 2}}",
        tensors="    const uint8_t in[] = {0, 1, 1, 1}, other[] = {0, 1, 0};",
        output_type="uint8_t",
        count="12",
        call="xor_ndarray_bool(&a, &b, &c, in, other, output)",
    )
    a = np.array([[[0, 1]], [[1, 1]]], bool)
    b = np.array([[0], [1], [0]], bool)
    assert found == np.logical_xor(a, b).ravel().tolist()


def test_tensor_math(checkout: Checkout, kernel_cpu: Checkout, tmp_path: Path) -> None:
    patch_in(tmp_path / "op", "resize_area", checkout, kernel_cpu)
    found = computed(
        kernel_cpu,
        "fp32/resize_area",
        tmp_path,
        shapes="x{{1, 2, 4, 1}}, y{{1, 1, 2, 1}}",
        tensors="    const float in[] = {1, 2, 3, 4, 5, 6, 7, 8};\n"
        "    const int32_t size[] = {1, 2};",
        output_type="float",
        count="2",
        call="resize_area_ndarray_fp32(&x, &y, in, size, 2, false, output)",
    )
    assert found == [3.5, 5.5]


# ---- Refusals ----


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("threads: 4", "op.yml: threads: "),
        ("cflags: [-DA=1]", "op.yml: cflags: -DA=1: "),
        ("sources: [a.cc]", "a.cc: in ppl.nn's own form, the math is one C file"),
        ("include: [a]", "a: in ppl.nn's own form, the math is one C file"),
    ],
)
def test_unsupported_keys(
    more: str, message: str, checkout: Checkout, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = own_repository(tmp_path / "op", description(more=more))
    assert run(repository, checkout, *AUTHOR) == 2
    assert message in capsys.readouterr().err
    assert not (repository / "build").exists()


@pytest.mark.parametrize(
    ("dtype", "message"),
    [("float16", "float16 is not supported"), ("uint8", "no folder for x86 operators of uint8")],
)
def test_unsupported_dtypes(
    dtype: str, message: str, checkout: Checkout, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = description().replace("VX_TYPE_TENSOR", f"VX_TYPE_TENSOR, dtype: {dtype}")
    assert run(own_repository(tmp_path / "op", text), checkout, *AUTHOR) == 2
    assert f"op.yml: x: dtype: {message}" in capsys.readouterr().err.replace(
        "ppl.kernel.cpu has ", ""
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('#include "own.h"', "includes own.h"),
        ("/* As rknn does. */", "names 'rknn'"),
    ],
)
def test_unsupported_math(
    line: str, message: str, checkout: Checkout, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = own_repository(tmp_path / "op", description())
    math = repository / "resizearea_compute.h"
    text = math.read_text().replace(
        "#define RESIZEAREA_COMPUTE_H\n", f"#define RESIZEAREA_COMPUTE_H\n{line}\n"
    )
    math.write_text(text)
    (repository / "own.h").write_text("")
    number = text.splitlines().index(line) + 1
    assert run(repository, checkout, *AUTHOR) == 2
    assert f"resizearea_compute.h:{number}: {message}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("path", "text", "message"),
    [
        ("src/ppl/nn/engines/x86/a.h", "class MishOp final {\n", "has a class MishOp already"),
        ("src/ppl/nn/engines/x86/kernels/custom/mish_kernel.h", "", "exists; rename the operator"),
    ],
)
def test_existing_names(
    path: str,
    text: str,
    message: str,
    checkout: Checkout,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    checkout.write(path, text)
    assert run(library_repository(tmp_path / "op", "mish"), checkout, *AUTHOR) == 2
    error = capsys.readouterr().err
    assert path in error
    assert message in error


def test_existing_math(
    checkout: Checkout, kernel_cpu: Checkout, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel_cpu.write("include/ppl/kernel/x86/fp32/mish.h", "")
    repository = library_repository(tmp_path / "op", "mish")
    assert run(repository, checkout, str(kernel_cpu.root), *AUTHOR) == 2
    assert "fp32/mish.h: exists" in capsys.readouterr().err


def test_overlaid_checkout(
    checkout: Checkout, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = library_repository(tmp_path / "op", "mish")
    assert run(repository, checkout) == 0
    assert run(repository, checkout, *AUTHOR) == 2
    assert "is a line of custom.Mish, laid over the checkout; " in capsys.readouterr().err


@pytest.mark.parametrize("options", [["--upstream"], ["--author", "Jo"], ["a"]])
def test_usage(options: list[str], checkout: Checkout, tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as stop:
        run(tmp_path, checkout, *options)
    assert stop.value.code == 2


@pytest.mark.parametrize("author", [" ", "Jo\nDoe", "Jo\\"])
def test_invalid_author(
    author: str, checkout: Checkout, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = library_repository(tmp_path / "op", "mish")
    assert run(repository, checkout, "--upstream", "--author", author) == 2
    assert "expected a name in one line" in capsys.readouterr().err


def test_without_opkit(checkout: Checkout, tmp_path: Path) -> None:
    need("git", "git")
    repository = library_repository(tmp_path / "op", "mish")
    script = str(repository / "pplnn/apply.py")
    command = [sys.executable, "-I", "-S", script, str(checkout.root), *AUTHOR]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "--upstream requires opkit" in done.stderr
    assert apply.PATCHES not in done.stdout
