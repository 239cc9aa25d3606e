"""Generated sources and opkit's declarations against the real ppl.nn, if the tester has it.

* PPLNN_SRC: a checkout of ppl.nn, v0.9.2 to its master of 2024.
* PPLCOMMON_SRC: one of ppl.common, at the commit that PPLNN_SRC/cmake/deps.cmake names.
* PPLNN_INCLUDE: folders of headers that the engines' headers include, separated by colons:
    * `include` of a checkout of ppl.kernel.cpu;
    * of config.h, written by CMake when it configures ppl.nn for x86 (which requires a checkout
      of hpcc, too): BUILD/ppl.kernel.cpu-build/include;
    * of onnx.pb.h, written by the build of ppl.nn: BUILD/generated, or the output of
      protoc for PPLNN_SRC/src/ppl/nn/models/onnx/proto/onnx.proto;
    * of protobuf's headers.

v0.9.2 has an onnx.pb.h in PPLNN_SRC, for protobuf 3.1.0; for another version protoc writes one.
Without an onnx.pb.h, opkit's declarations stand for it.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from opkit.toolchains.abi import ABIS
from tests.compiling import compile_c
from tests.files.texts import DECLARATIONS
from tests.repositories import EXAMPLE_NAMES
from tests.runtimes.pplnn.checkouts import PARSERS, RISCV_OPS, X86_OPS, Checkout, run
from tests.runtimes.pplnn.declarations import Declarations, declarations
from tests.runtimes.pplnn.engines import example, write
from tests.runtimes.pplnn.operators import OPERATORS, files, make_repository
from tests.runtimes.pplnn.snippets import SNIPPETS, check
from tests.runtimes.pplnn.test_upstream import Work, upstream_work

if not (os.environ.get("PPLNN_SRC") and os.environ.get("PPLCOMMON_SRC")):
    pytest.skip(
        "set PPLNN_SRC and PPLCOMMON_SRC to checkouts of ppl.nn and ppl.common to test with them",
        allow_module_level=True,
    )

OF_OPKIT = [f"-I{DECLARATIONS}"]
ANY_OPERATOR = "".join(files(OPERATORS["every_param"]).values())
HEADERS = sorted(
    path
    for path in set(re.findall(r'^#include "([^".][^"]*)"$', ANY_OPERATOR, re.MULTILINE))
    if (DECLARATIONS / path).is_file()
)
"""The headers of ppl.nn that generated files include."""
DERIVED_FROM = [
    *("ppl::nn::ir::Attr", "ppl::nn::KernelImpl", "ppl::nn::OptKernel"),
    *("ppl::nn::x86::X86Kernel", "ppl::nn::x86::X86OptKernel"),
    *("ppl::nn::riscv::RiscvKernel", "ppl::nn::riscv::RiscvOptKernel"),
]
"""The base classes of operators' classes."""
NOT_OF_OPERATORS = re.compile(
    r"onnx::\w+::(set|add)_\w+"  # protobuf's releases differ; ppl.nn's SetNodeAttr() calls them
    r"|ppl::nn::ir::Node::Node|ppl::nn::utils::OpInfoManager::Find"  # other arguments in v0.9.2
)
"""Functions that only ppl.nn, or the tests in its place, call, and operators do not."""


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """Return a copy of the checkout of ppl.nn."""
    ignored = shutil.ignore_patterns(".git", "deps", "*-build", "build")
    return Checkout(shutil.copytree(os.environ["PPLNN_SRC"], tmp_path / "ppl.nn", ignore=ignored))


def headers(root: Path, folder: Path) -> list[str]:
    """Return the options for the include folders other than opkit's.

    Args:
        root: the checkout of ppl.nn.
        folder: for opkit's onnx.pb.h if no other one is found.
    """
    common = Path(os.environ["PPLCOMMON_SRC"])
    folders = [root / "src", root / "include", common / "src", common / "include"]
    folders += map(Path, filter(None, os.environ.get("PPLNN_INCLUDE", "").split(":")))
    shipped = root / "src/ppl/nn/models/onnx/generated/onnx.pb.h"
    if not shipped.is_file() and not any((path / "onnx.pb.h").is_file() for path in folders):
        (folder / "onnx").mkdir()
        shutil.copy(DECLARATIONS / "onnx.pb.h", folder / "onnx")
        folders.append(folder / "onnx")
    return [word for path in folders for word in ("-isystem", str(path))]


@pytest.fixture
def real_headers(tmp_path: Path) -> list[str]:
    """Return the options for the folders of the real headers."""
    return headers(Path(os.environ["PPLNN_SRC"]), tmp_path)


def assert_compiles(source: Path, output: Path, *options: str) -> None:
    """Compile a source for riscv64, or a source for x86 for this PC."""
    abi = ABIS["x64" if "x86" in source.as_posix() else "riscv64"]
    half = "-D__fp16=_Float16"  # the type of riscv's own compiler
    result = compile_c(output, "-c", half, *options, source, abi=abi, language="c++11")
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("name", [*OPERATORS, *EXAMPLE_NAMES])
def test_sources_compile(name: str, real_headers: list[str], tmp_path: Path) -> None:
    if name in OPERATORS:
        repository = make_repository(tmp_path / name, OPERATORS[name])
    else:
        spec, files_of_user = example(name)
        (tmp_path / name).mkdir()
        repository = write(spec, tmp_path / name, files_of_user)
    options = ["-I", f"{repository}/pplnn/src", *real_headers]
    for source in sorted((repository / "pplnn").rglob("*.cc")):
        assert_compiles(source, tmp_path / "source.o", *options)


@pytest.mark.parametrize("name", OPERATORS)
def test_laid_over_checkout(name: str, checkout: Checkout, tmp_path: Path) -> None:
    repository = make_repository(tmp_path / name, OPERATORS[name])
    before = checkout.content()
    options = headers(checkout.root, tmp_path)
    assert run(repository, checkout) == 0
    assert run(repository, checkout, "--check") == 0
    for path in (RISCV_OPS, X86_OPS):
        assert_compiles(checkout.root / path, tmp_path / "ops.o", "-w", *options)
    assert run(repository, checkout, "--revert") == 0
    assert checkout.content() == before


@pytest.fixture
def work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Work:
    return upstream_work(tmp_path / "upstream", capsys)


@pytest.mark.parametrize("name", ["mish", "celu", "resize_area", "roi_align"])
def test_own_form(name: str, work: Work, checkout: Checkout, tmp_path: Path) -> None:
    """The patched ppl.nn compiles; the math too, with a PPLNN_INCLUDE that has ppl.kernel.cpu."""
    checkout.commit()
    work.checkout, kernel_cpu = checkout, work.kernel_cpu
    work.library(name)
    new = [path for path in work.patch() if not path.endswith(".h")]
    own = [f"-I{kernel_cpu.root / folder}" for folder in ("include", "src")]
    options = [*own, "-w", *headers(checkout.root, tmp_path)]
    beside = [
        Path(folder).parent / "src" for folder in os.environ.get("PPLNN_INCLUDE", "").split(":")
    ]
    sources_of_math = next((path for path in beside if (path / "ppl/kernel/x86").is_dir()), None)
    assert sources_of_math, "PPLNN_INCLUDE needs the folder include of a checkout of ppl.kernel.cpu"
    options += ["-isystem", str(sources_of_math)]
    for path in (PARSERS, X86_OPS, *new):
        tree = kernel_cpu if path.endswith(".cpp") else checkout
        assert_compiles(tree.root / path, tmp_path / "x86.o", *options)


@pytest.mark.parametrize("name", SNIPPETS)
def test_strictness(name: str, real_headers: list[str], tmp_path: Path) -> None:
    check(SNIPPETS[name], real_headers, tmp_path)


@pytest.mark.parametrize("header", HEADERS)
def test_declarations(header: str, real_headers: list[str], tmp_path: Path) -> None:
    """The real header has each name of opkit's, in the same file, with the same type and value."""
    own = declarations(header, OF_OPKIT, tmp_path)
    real = declarations(header, real_headers, tmp_path)
    checked = {name: each for name, each in own.items() if not NOT_OF_OPERATORS.fullmatch(name)}
    assert checked
    wrong = {name: each - real.get(name, set()) for name, each in checked.items()}
    assert not {name: each for name, each in wrong.items() if each}
    for name in DERIVED_FROM:
        if name in own:
            assert _required(name, own) == _required(name, real)


def _required(name: str, found: Declarations) -> set[str]:
    """Return the names of a class's pure virtual functions."""
    return {
        each.removeprefix(f"{name}::")
        for each, of_name in found.items()
        if each.startswith(f"{name}::") and any(one.is_pure for one in of_name)
    }
