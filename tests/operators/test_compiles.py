"""The math of the library's operators compiles without warnings, for boards and in C++."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from opkit.runtimes import parse
from opkit.runtimes.pplnn.tree_names import SOURCES, names
from opkit.toolchains.abi import ABIS
from tests.compiling import compile_c
from tests.marks import sampled
from tests.repositories import ONNX_OPERATORS, library_kernels

pytestmark = pytest.mark.slow

SOURCE_ABIS = {"c11": "armhf", "c++11": "riscv64"}
"""Language -> an ABI of the runtime whose source is in that language, unlike this PC's."""
GNU = {"c11": ("gcc", "-std=c11"), "c++11": ("g++", "-x", "c++", "-std=c++11")}
STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")


def sources(repository: Path) -> dict[str, Path]:
    """Return language -> the source that includes the math: RKNN-Toolkit2's, and PPLNN's."""
    spec = parse((repository / "op.yml").read_text())
    found = {
        "c11": repository / f"rknn2/{spec.lower}_custom_op.c",
        "c++11": repository / f"{SOURCES}/{names(spec).glue}.cc",
    }
    return {language: source for language, source in found.items() if source.exists()}


@pytest.mark.parametrize("op_type", sampled(ONNX_OPERATORS.values()))
def test_math_has_no_warnings(op_type: str, tmp_path: Path) -> None:
    root = library_kernels(op_type).path
    includes = [f"-I{root / folder}" for folder in (".", "include", "include/librknnrt", SOURCES)]
    for language, source in sources(root).items():
        flags, abi = [*includes, "-c", "-O0", str(source)], ABIS[SOURCE_ABIS[language]]
        made = compile_c(tmp_path / "o", *flags, abi=abi, language=language)
        assert (made.returncode, made.stderr) == (0, ""), abi.name
        compiler, *standard = GNU[language]
        if shutil.which(compiler):
            command = [compiler, *standard, *STRICT, *includes, "-fsyntax-only", str(source)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert (done.returncode, done.stderr) == (0, ""), compiler
