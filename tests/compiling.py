"""C compiled with zig, the default toolchain: for every ABI, and for this machine to run."""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path

from opkit import toolchains
from opkit.toolchains.abi import ABIS, Abi
from opkit.toolchains.compiler import cxx_command
from tests.repositories import TEMPLATE

OPKIT = TEMPLATE / "opkit"
RKNN = OPKIT / "runtimes/rknn"
GUARDED_MEMORY = sorted((OPKIT / "check/harness/memory").glob("*.c"))
INCLUDE = RKNN / "include"
C_SOURCES = Path(__file__).resolve().parent / "c"
HOST = next(abi for abi in ABIS.values() if abi.processor == platform.machine())
LANGUAGES = {"c11": ("-std=c11",), "c++11": ("-x", "c++", "-std=c++11")}
_STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{TEMPLATE}", f"-I{INCLUDE}", "-fPIC")


def compile_c(
    output: Path, *arguments: str | Path, abi: Abi = HOST, language: str = "c11"
) -> subprocess.CompletedProcess[str]:
    """Compile, and link if no flag says otherwise; the caller looks at the result.

    All warnings are errors, and nothing traps undefined behavior.

    Args:
        output: what is written.
        *arguments: the sources, and flags besides those that make the compiler strict.
        abi: what to compile for; programs and libraries of HOST run on this machine.
        language: one of LANGUAGES.
    """
    compiler = toolchains.find("zig", abi)
    command = cxx_command(compiler) if language.startswith("c++") else compiler.command
    return subprocess.run(
        [*command, *compiler.flags, *_STRICT, *LANGUAGES[language], *arguments, "-o", output],
        capture_output=True,
        text=True,
        check=False,
    )


def build(output: Path, *arguments: str | Path, abi: Abi = HOST) -> Path:
    """Compile and link as compile_c does, which must succeed, and return the output."""
    output.parent.mkdir(parents=True, exist_ok=True)
    result = compile_c(output, *arguments, abi=abi)
    assert result.returncode == 0, result.stderr
    return output
