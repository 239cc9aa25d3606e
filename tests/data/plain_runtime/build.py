"""What `scons` builds for the plain runtime."""

from __future__ import annotations

from typing import Any

from SCons.Action import Action

from opkit.build.compile_environment import compiler_for
from opkit.build.harness import GUARDED_MEMORY, harness, linked
from opkit.build.machinery import FOLDER
from opkit.runtimes.build import Build


def _library(env: Any, path: str, *libraries: Any) -> Any:
    compiler = compiler_for(env, "x64")
    source = f"generated/{env['OPERATOR'].lower}_plain.c"
    kernel = compiler.SharedObject(f"{path[:-3]}.o", source)
    return compiler.Command(path, [kernel, *libraries], Action("$SHAREDCOM", "link $TARGET"))


def _declare(env: Any, request: Any) -> list[Any]:
    """Declare the library and what calls it."""
    runtime = linked(
        env,
        "$SHAREDCOM",
        target="build/plain/runtime.so",
        sources=[f"{FOLDER}/runtimes/plain/*.c", GUARDED_MEMORY],
        objects="build/plain/",
        LIBRARIES=["-Wl,-soname,runtime.so", "-lpthread", "-ldl"],
    )
    kernel = _library(env, f"build/plain/{env['OPERATOR'].lower}.so", runtime)
    return [*harness(env), runtime, kernel]


BUILD = Build(
    declare=_declare,
    products=lambda env, _: [_library(env, "build/pc/operator.so")],
)
