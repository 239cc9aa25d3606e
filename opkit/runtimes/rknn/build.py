"""The targets of `scons` for RKNN-Toolkit 1.x: libraries, packages, and the host runtime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from opkit.build.compile_commands import EditorCommands
from opkit.description.parser import PC
from opkit.description.spec import OpSpec
from opkit.opencl import clang
from opkit.runtimes.build import Build
from opkit.runtimes.rknn import boards, rknnop
from opkit.runtimes.rknn.scons import driver, package, vx_commands
from opkit.runtimes.rknn.scons.host_runtime import harness_parts, host
from opkit.runtimes.rknn.settings import settings

NAMES = "build/editor/names.h"
LANGUAGE = "build/editor/language.h"


def editor_commands(root: Path, operator: OpSpec) -> EditorCommands:
    """Return the commands for the .vx files of a repository; clangd includes the prelude."""
    arguments = (
        *clang.language(settings(operator).vx_version),
        *("-target", "x86_64-linux-gnu", "-I", str(clang.PRELUDE)),
        *("-include", LANGUAGE, "-x", "cl"),
    )
    language = (  # a header with the vendor compiler's built-ins
        f'#include "{Path(NAMES).name}"\n'
        "#include <prelude.h>\n"
        "/* A kernel may have the name of a macro. */\n"
        f"#undef {operator.lower}\n"
        "/* Editors ignore local memory; pointers to it are like any other. */\n"
        "#undef local\n"
        "#undef __local\n"
        "#define local\n"
        "#define __local\n"
    )
    return EditorCommands(
        commands={path.name: arguments for path in root.glob("*.vx")},
        headers={NAMES: clang.macros(), LANGUAGE: language},
    )


def _notes(spec: OpSpec) -> str:
    table = "\n".join(f"  {line}" for line in boards.target_table().splitlines())
    return (
        f"The package is build/<target>/{spec.name}.rknnop.\n\n"
        f"The minimum version on each chip, and where to look it up:\n\n{table}"
    )


def _declare(env: Any, request: Any) -> Sequence[Any]:
    """Declare the libraries and the commands for the VX kernel."""
    needed = [package.device_library(env, PC)]
    if request.for_this_pc or request.commands:
        needed += host(env, "report" in request.commands)
    if not request.for_this_pc:
        for abi in rknnop.ABIS:
            package.device_library(env, abi)
    vx_commands.vx_kernel(env)
    vx_commands.vx_debugger(env, request, needed)
    env.Clean(needed[0], ["build/check", "build/report.html", "build/results"])
    return needed


def _packages(env: Any, targets: Mapping[str, str]) -> Sequence[Any]:
    libraries = [package.device_library(env, abi) for abi in rknnop.ABIS]
    return [package.package(env, target, libraries) for target in targets]


BUILD = Build(
    declare=_declare,
    products=_packages,
    tools=(package, driver, vx_commands),
    notes=_notes,
    harness_parts=harness_parts,
    vendor_programs=driver.driver_programs,
    editor_commands=editor_commands,
)
