"""The C compiler of the tests: zig, for every ABI of the boards and for this machine."""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path

import ziglang

from opkit.toolchains.abi import ABIS, Abi

ZIG = Path(ziglang.__file__).parent / "zig"
REPOSITORY = Path(__file__).parent.parent / "{{cookiecutter.op_name}}"
RKNN = REPOSITORY / "opkit/runtimes/rknn"
INCLUDE = RKNN / "include"
C_SOURCES = Path(__file__).parent / "c"
STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{REPOSITORY}", f"-I{INCLUDE}")
LANGUAGES = {"c11": ("cc", "-x", "c", "-std=c11"), "c++11": ("c++", "-x", "c++", "-std=c++11")}
HOST = next(abi for abi in ABIS.values() if abi.triple.startswith(platform.machine()))


def compile_c(
    source: Path, output: Path, *flags: str, abi: Abi = HOST, language: str = "c11"
) -> subprocess.CompletedProcess[str]:
    """Compile a source with all warnings as errors; the caller looks at the result."""
    command, *standard = LANGUAGES[language]
    target = ("-target", f"{abi.triple}.{abi.glibc_ceiling}", f"-mcpu={abi.zig_cpu}")
    return subprocess.run(
        [ZIG, command, *target, *STRICT, "-fPIC", *standard, source, "-o", output, *flags],
        capture_output=True,
        text=True,
        check=False,
    )


def build_library(source: Path, output: Path, *flags: str, abi: Abi = HOST) -> Path:
    """Compile a source to a shared library, which must succeed."""
    result = compile_c(source, output, "-shared", *flags, abi=abi)
    assert result.returncode == 0, result.stderr
    return output
