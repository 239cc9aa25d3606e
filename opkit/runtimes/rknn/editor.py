"""The clangd commands for .vx files."""

from __future__ import annotations

from pathlib import Path

from opkit.build.compile_commands import EditorCommands
from opkit.description.spec import OpSpec
from opkit.runtimes.rknn.settings import settings
from opkit.runtimes.rknn.vx import names
from opkit.runtimes.rknn.vx.clang import editor_arguments

NAMES = "build/editor/names.h"
LANGUAGE = "build/editor/language.h"


def commands(root: Path, operator: OpSpec) -> EditorCommands:
    """Return the commands for the .vx files of a repository."""
    arguments = editor_arguments(settings(operator).vx_version)
    return EditorCommands(
        commands={
            path.name: (*arguments, "-include", LANGUAGE, "-x", "cl") for path in root.glob("*.vx")
        },
        headers={NAMES: names.macros(), LANGUAGE: _language(operator)},
    )


def _language(operator: OpSpec) -> str:
    """Return a header with the vendor compiler's built-ins, for clangd."""
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
