"""Generated sources against checkouts of ppl.nn and ppl.common, where the tester has them.

PPLNN_SRC and PPLCOMMON_SRC are the checkouts. PPLNN_INCLUDE may name more folders, separated by
colons: that of protobuf, and that of the onnx.pb.h which a build of ppl.nn writes. Without it the
declarations in opkit stand for that file.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from opkit.toolchains.abi import ABIS
from tests.compiling import compile_c
from tests.repositories import TEMPLATE
from tests.runtimes.pplnn.checkouts import RISCV_OPS, X86_OPS, Checkout, run
from tests.runtimes.pplnn.operators import description, make_repository

if not (os.environ.get("PPLNN_SRC") and os.environ.get("PPLCOMMON_SRC")):
    pytest.skip(
        "set PPLNN_SRC and PPLCOMMON_SRC to checkouts of ppl.nn and ppl.common to test with them",
        allow_module_level=True,
    )

PARAMS = """\
params:
  a: {type: int}
  b: {type: float, default: 0.5}
  c: {type: ints, default: [1, 2]}
  d: {type: floats, length: 3}
  e: {type: string, default: nearest}
"""
OPERATORS = {
    "every_param": description("EveryParam", PARAMS, params=False),
    "no_param": description("NoParam", "domain: com.acme", params=False),
}


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """Return a copy of the checkout of ppl.nn."""
    ignored = shutil.ignore_patterns(".git", "deps", "*-build", "build")
    return Checkout(shutil.copytree(os.environ["PPLNN_SRC"], tmp_path / "ppl.nn", ignore=ignored))


@pytest.fixture(params=OPERATORS)
def repository(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return make_repository(tmp_path / request.param, OPERATORS[request.param])


def headers(checkout: Checkout, tmp_path: Path) -> list[str]:
    """Return the options for the folders of headers that are not ours."""
    common = Path(os.environ["PPLCOMMON_SRC"])
    folders = [checkout.root / "src", checkout.root / "include", common / "src", common / "include"]
    folders += map(Path, filter(None, os.environ.get("PPLNN_INCLUDE", "").split(":")))
    if not any((folder / "onnx.pb.h").is_file() for folder in folders):
        (tmp_path / "onnx").mkdir()
        shutil.copy(TEMPLATE / "opkit/runtimes/pplnn/include/onnx.pb.h", tmp_path / "onnx")
        folders.append(tmp_path / "onnx")
    return [word for folder in folders for word in ("-isystem", str(folder))]


def assert_compiles(source: Path, output: Path, *options: str) -> None:
    """Compile a source: for riscv64, or for this PC what is of x86."""
    abi = ABIS["x64" if "x86" in source.as_posix() else "riscv64"]
    half = "-D__fp16=_Float16"  # the type of riscv's own compiler
    result = compile_c(output, "-c", half, *options, source, abi=abi, language="c++11")
    assert result.returncode == 0, result.stderr


def test_sources_compile(repository: Path, checkout: Checkout, tmp_path: Path) -> None:
    options = ["-I", f"{repository}/pplnn/src", *headers(checkout, tmp_path)]
    for source in sorted((repository / "pplnn").rglob("*.cc")):
        assert_compiles(source, tmp_path / "source.o", *options)


def test_laid_over_checkout(repository: Path, checkout: Checkout, tmp_path: Path) -> None:
    before = checkout.content()
    options = headers(checkout, tmp_path)
    assert run(repository, checkout) == 0
    assert run(repository, checkout, "--check") == 0
    for path in (RISCV_OPS, X86_OPS):
        assert_compiles(checkout.root / path, tmp_path / "ops.o", "-w", *options)
    assert run(repository, checkout, "--revert") == 0
    assert checkout.content() == before
