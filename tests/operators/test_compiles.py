"""The math of the library's operators compiles without warnings, for boards and in C++."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from opkit.runtimes import parse
from opkit.runtimes.pplnn.names import SOURCES, names
from opkit.toolchains.abi import ABIS
from tests.compiling import compile_c
from tests.repositories import ONNX_OPERATORS, library_kernels

pytestmark = pytest.mark.slow

GNU = {"c11": ("gcc", "-std=c11"), "c++11": ("g++", "-x", "c++", "-std=c++11")}
STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")


def sources(repository: Path) -> dict[str, Path]:
    """Return language -> the source that includes the math: RKNN-Toolkit2's, and PPLNN's."""
    spec = parse((repository / "op.yml").read_text())
    return {
        "c11": repository / f"rknn2/{spec.lower}_custom_op.c",
        "c++11": repository / f"{SOURCES}/{names(spec).glue}.cc",
    }


@pytest.mark.parametrize("op_type", ONNX_OPERATORS.values())
def test_math_has_no_warnings(op_type: str, tmp_path: Path) -> None:
    """In C on 32-bit ARM, and with GCC; library_kernels builds both languages for 64 bits."""
    root = library_kernels(op_type).path
    includes = [f"-I{root / folder}" for folder in (".", "include", "include/librknnrt", SOURCES)]
    made_of = sources(root)
    flags = [*includes, "-c", "-O0", str(made_of["c11"])]
    made = compile_c(tmp_path / "o", *flags, abi=ABIS["armhf"])
    assert (made.returncode, made.stderr) == (0, "")
    for language, source in made_of.items():
        compiler, *standard = GNU[language]
        if shutil.which(compiler):
            command = [compiler, *standard, *STRICT, *includes, "-fsyntax-only", str(source)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert (done.returncode, done.stderr) == (0, ""), compiler
