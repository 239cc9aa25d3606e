"""Checks a `.cl` source by clang's own OpenCL C 1.2, and reads the parameters of its kernels.

The prelude, with which a source is compiled to run, is more than that language: it has the
instructions of `.vx` kernels, and no address spaces.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from opkit.common.errors import OpkitError
from opkit.common.scratch import whole_folder
from opkit.opencl import clang
from opkit.toolchains.clang_ast import DUMP, Node, top_level

EXTENSIONS = (
    "cl_khr_byte_addressable_store",
    *(
        f"cl_khr_{memory}_int32_{kind}_atomics"
        for memory, kind in product(("global", "local"), ("base", "extended"))
    ),
)
"""The extensions that need no pragma, or that every OpenCL 1.2 has."""

_INCLUDE = re.compile(r"(?m)^[ \t]*#[ \t]*include\b.*$")
_HALF = re.compile(r"(?m)^\s*#\s*pragma\s+OPENCL\s+EXTENSION\s+cl_khr_fp16\s*:\s*enable\b")
_INTEGERS = ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong")
_LANES = (2, 3, 4, 8, 16)
_KERNEL = {"DeviceKernelAttr", "OpenCLKernelAttr"}  # as newer and older versions of clang name it
_SPACES = ("global", "constant", "local")
_SPACE = re.compile(r"\b__(global|constant|local|private)\b")
_QUALIFIER = re.compile(r"\b(?:const|volatile|restrict|__restrict)\b")
_SUMMARY = re.compile(r"^\d+ (?:warning|error)s?\b.*generated\.$")


@dataclass(frozen=True)
class ClParameter:
    """A parameter of a `.cl` kernel.

    Attributes:
        name: its name.
        space: `global`, `constant` or `local` of a pointer; empty of a value.
        type: the type of the value, or of an element behind the pointer; without qualifiers.
    """

    name: str
    space: str
    type: str


def check_opencl_c(
    source: Path, folder: Path, macros: tuple[str, ...] = ()
) -> tuple[dict[str, tuple[ClParameter, ...]], str]:
    """Return the kernels of a source with their parameters, and the compiler's warnings.

    Args:
        source: the `.cl` file.
        folder: the cache.
        macros: definitions by build options, such as `-DN=4`.

    Raises:
        OpkitError: it is not OpenCL C 1.2; the message has the compiler's errors, with lines.
    """
    try:
        text = source.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise OpkitError(f"{source} cannot be read: {error.strerror}") from None
    included = _INCLUDE.search(text)
    if included is not None:
        line = 1 + text.count("\n", 0, included.start())
        raise OpkitError(
            f"{source}:{line}: error: '{included[0].strip()}': the board compiles the text of this "
            "file alone (expected the code itself)"
        )
    result = run_clang(source, text, folder, "-fsyntax-only", *DUMP, *macros)
    messages = "\n".join(
        line for line in result.stderr.splitlines() if not _SUMMARY.match(line)
    ).strip()
    if result.returncode != 0:
        raise OpkitError(messages or f"{source} cannot be compiled")
    kernels = {
        node["name"]: tuple(_parameters(node, source))
        for node in top_level(result.stdout)
        if node["kind"] == "FunctionDecl"
        and any(child["kind"] in _KERNEL for child in node.get("inner", ()) if "kind" in child)
    }
    return kernels, messages


def run_clang(
    source: Path, text: str, folder: Path, *flags: str
) -> subprocess.CompletedProcess[str]:
    """Run clang on a source as OpenCL C 1.2, as it would compile it for a GPU.

    Args:
        source: the `.cl` file.
        text: its text.
        folder: the cache.
        flags: what to do, and definitions.
    """
    extensions = (*EXTENSIONS, *(["cl_khr_fp16"] if _HALF.search(text) else []))
    return clang.run_unchecked(
        *(clang.zig(), "clang", "-x", "cl", "-cl-std=CL1.2", "-target", "x86_64-linux-gnu"),
        *("-nostdinc", "-iquote", str(_headers(folder)), "-isystem", str(clang.PRELUDE)),
        *("-Xclang", "-fdeclare-opencl-builtins"),
        *("-Xclang", f"-cl-ext=-all,{','.join(f'+{name}' for name in extensions)}"),
        *("-iquote", str(source.parent.resolve()), *flags, str(source)),
    )


def _parameters(function: Node, source: Path) -> Iterator[ClParameter]:
    for node in function.get("inner", ()):
        if node["kind"] != "ParmVarDecl":
            continue
        type_, name = str(node["type"]["qualType"]), str(node.get("name", ""))
        known = str(node["type"].get("desugaredQualType", type_))
        pointee, star, _ = (type_ if "*" in type_ else known).rpartition("*")
        if re.search(r"\b(?:image\w*_t|sampler_t|event_t)\b", known):
            raise OpkitError(
                f"{source}: kernel '{function['name']}': parameter '{name}' is of type "
                f"{_plain(type_)} (expected a pointer to __global, __constant or __local, or a "
                "value)"
            )
        if star:
            space = next(each for each in _SPACES if f"__{each}" in pointee)
            yield ClParameter(name, space, _plain(pointee))
        else:
            yield ClParameter(name, "", _plain(type_))


def _plain(type_: str) -> str:
    return " ".join(_QUALIFIER.sub(" ", _SPACE.sub(" ", type_)).split())


def _headers(folder: Path) -> Path:
    """Return the folder of the header that clang's table of built-ins includes."""
    text = _header()
    name = f"language-{clang.digest(text.encode())[:16]}"

    def build(target: Path) -> None:
        (target / "opencl-c-base.h").write_text(text, encoding="utf-8")

    return whole_folder(folder / name, build)


def _header() -> str:
    """Return the types and the constants of OpenCL C 1.2 that clang does not know by itself."""
    lines = [
        *(f"typedef unsigned {name} u{name};" for name in ("char", "short", "int", "long")),
        "typedef __SIZE_TYPE__ size_t;",
        "typedef __PTRDIFF_TYPE__ ptrdiff_t;",
        "typedef __INTPTR_TYPE__ intptr_t;",
        "typedef __UINTPTR_TYPE__ uintptr_t;",
        "typedef uint cl_mem_fence_flags;",
        "#define CLK_LOCAL_MEM_FENCE 1",
        "#define CLK_GLOBAL_MEM_FENCE 2",
        "#define __opencl_c_named_address_space_builtins 1",
        '#include "limits.h"',
        "int printf(__constant const char *restrict format, ...) "
        "__attribute__((format(printf, 1, 2)));",
        *_types((*_INTEGERS, "float")),
        "#ifdef cl_khr_fp16",
        "#pragma OPENCL EXTENSION cl_khr_fp16 : enable",
        *_types(("half",)),
        "#endif",
    ]
    return "\n".join((*lines, ""))


def _types(elements: tuple[str, ...]) -> Iterator[str]:
    for element in elements:
        yield f"#define as_{element}(value) __builtin_astype((value), {element})"
        for lanes in _LANES:
            name = f"{element}{lanes}"
            yield f"typedef {element} {name} __attribute__((ext_vector_type({lanes})));"
            yield f"#define as_{name}(value) __builtin_astype((value), {name})"
