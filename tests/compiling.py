"""Compile C with zig, the default toolchain: for every ABI, and for this machine."""

from __future__ import annotations

import platform
import subprocess
import tempfile
from pathlib import Path

from opkit import toolchains
from opkit.toolchains.abi import ABIS, Abi
from opkit.toolchains.compiler import cxx_command
from opkit.toolchains.flags import C_LANGUAGE, CHAR
from tests.repositories import ROOT

OPKIT = ROOT / "opkit"
RKNN = OPKIT / "runtimes/rknn"
GUARDED_MEMORY = sorted((OPKIT / "check/harness/memory").glob("*.c"))
INCLUDE = RKNN / "include"
C_SOURCES = Path(__file__).resolve().parent / "c"
HOST = next(abi for abi in ABIS.values() if abi.processor == platform.machine())
LANGUAGES = {"c11": C_LANGUAGE, "c++11": ("-x", "c++", "-std=c++11", *CHAR)}
_STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{ROOT}", f"-I{INCLUDE}")


def compile_c(
    output: Path, *arguments: str | Path, abi: Abi = HOST, language: str = "c11"
) -> subprocess.CompletedProcess[str]:
    """Compile, and link unless a flag prevents it; return the result without checking it.

    All warnings are errors, and nothing traps undefined behavior.

    Args:
        output: the output file; no path here may be relative to the working directory.
        *arguments: the sources, and flags in addition to the strict ones.
        abi: the target; programs and libraries of HOST run on this machine.
        language: one of LANGUAGES.
    """
    compiler = toolchains.find("zig", abi)
    command = cxx_command(compiler) if language.startswith("c++") else compiler.command
    return subprocess.run(
        [*command, *compiler.flags, *_STRICT, *LANGUAGES[language], *arguments, "-o", output],
        # Debug information contains paths relative to the working directory. In a working directory
        # that contains zig itself, zig compiles its libraries for links once more.
        cwd=None if "-c" in arguments else output.parent,
        capture_output=True,
        text=True,
        check=False,
    )


_OF_LINKING = ("-shared", "-static", "-pie", "-no-pie", "-rdynamic", "-s")
_OF_BOTH = "--target="


def build(output: Path, *arguments: str | Path, abi: Abi = HOST, language: str = "c11") -> Path:
    """Compile and link by compile_c, fail on errors, and return the output.

    Passes compile flags to compilations alone: zig would compile a run-time library, and a static C
    library, for each set of flags of a link. Links as C in any language: for C++, zig would compile
    the C++ library, which no header for a device needs.
    """
    output.parent.mkdir(parents=True, exist_ok=True)
    if "-c" in arguments:
        return _made(output, *arguments, abi=abi, language=language)
    compiling, linking = list[str | Path](), list[str | Path]()
    for argument in arguments:
        word = str(argument)
        is_for_both = word.startswith(_OF_BOTH)
        is_link_flag = word in _OF_LINKING or word.startswith(("-l", "-L", "-Wl,"))
        if word.startswith("-") and not is_link_flag:
            compiling.append(argument)
        if is_for_both or is_link_flag or not word.startswith("-"):
            linking.append(argument)
    with tempfile.TemporaryDirectory() as folder:
        for index, argument in enumerate(linking):
            if str(argument).endswith(".c"):
                made = Path(folder, f"{index}.o")
                compilation = ("-c", "-fPIC", argument, *compiling)
                linking[index] = _made(made, *compilation, abi=abi, language=language)
        return _made(output, *linking, abi=abi, language="c11")


def _made(output: Path, *arguments: str | Path, abi: Abi, language: str) -> Path:
    result = compile_c(output, *arguments, abi=abi, language=language)
    assert result.returncode == 0, result.stderr
    return output
