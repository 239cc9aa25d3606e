"""The clangd commands for the files of this runtime that are not plain C."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from opkit.build.compile_commands import EditorCommands
from opkit.description.spec import OpSpec
from opkit.runtimes.rknn.settings import settings
from opkit.runtimes.rknn.vx import names
from opkit.runtimes.rknn.vx.clang import editor_arguments

NAMES = "build/editor/names.h"
LANGUAGE = "build/editor/language.h"
_VX = "opkit/runtimes/rknn/vx"
_PRELUDE = f"{_VX}/prelude"

Entry = tuple[str, tuple[str, ...]]


def commands(root: Path, operator: OpSpec, c_arguments: Sequence[str]) -> EditorCommands:
    """Return the commands for .vx files, the prelude, and C that is compiled in its own way.

    Args:
        root: the repository.
        operator: its description.
        c_arguments: what every C file is compiled with.
    """
    vx_arguments = editor_arguments(settings(operator).vx_version)
    return EditorCommands(
        commands=dict(
            [
                *_kernels(root, vx_arguments),
                *_prelude(root, vx_arguments),
                *_emulator(root, c_arguments),
            ]
        ),
        headers={NAMES: names.macros(), LANGUAGE: _language(operator)},
    )


def _kernels(root: Path, vx_arguments: Sequence[str]) -> Iterator[Entry]:
    for path in root.glob("*.vx"):
        yield path.name, (*vx_arguments, "-include", LANGUAGE, "-x", "cl")


def _language(operator: OpSpec) -> str:
    """Return a header that declares for clangd what the vendor's compiler has built in."""
    return (
        f'#include "{Path(NAMES).name}"\n'
        f"#include <prelude.h>\n"
        "/* A kernel may have the name of a macro. */\n"
        f"#undef {operator.lower}\n"
        "/* Editors ignore local memory; pointers to it are like any other. */\n"
        "#undef local\n"
        "#undef __local\n"
        "#define local\n"
        "#define __local\n"
    )


def _prelude(root: Path, vx_arguments: Sequence[str]) -> Iterator[Entry]:
    """Yield the prelude's headers, each after those that prelude.h includes before it."""
    before = ["-include", NAMES]
    text = (root / _PRELUDE / "prelude.h").read_text(encoding="utf-8")
    for name in ["prelude.h", *re.findall(r'^#include "(\w+\.h)"', text, re.MULTILINE)]:
        file = f"{_PRELUDE}/{name}"
        yield file, (*vx_arguments, *before, "-x", "cl-header")
        if name != "prelude.h":
            before += ["-include", file]


def _emulator(root: Path, c_arguments: Sequence[str]) -> Iterator[Entry]:
    for path in (root / _VX / "runtime").glob("*.[ch]"):
        language = "c" if path.suffix == ".c" else "c-header"
        file = path.relative_to(root).as_posix()
        yield file, (*c_arguments, "-D_GNU_SOURCE", "-x", language, "-std=c11")
