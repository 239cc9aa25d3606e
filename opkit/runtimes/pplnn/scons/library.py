"""library(env, target, abi): compile all sources, and archive the math with its glue."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from SCons.Action import Action

from opkit.build.compile_environment import compiler_for
from opkit.build.libraries import archive, kernel_objects
from opkit.build.machinery import FOLDER as MACHINERY
from opkit.build.recorded_inputs import operator_object
from opkit.runtimes.pplnn.generated import generated_files
from opkit.runtimes.pplnn.names import SOURCES, names
from opkit.toolchains.flags import CHAR, ERRORS, WARNINGS

RUNTIME = f"{MACHINERY}/runtimes/pplnn"
FOLDER = "build/pplnn"
# ppl.nn's own options. The sources include opkit's declarations of its headers. They are compiled
# as a check, and never linked: ppl.nn's build compiles them again.
CXX = ("-std=c++11", *CHAR)
# libc++'s headers include others only for sources that forget their own; without those, a source
# compiles in half the time.
CHECKED = ("-O0", "-D_LIBCPP_REMOVE_TRANSITIVE_INCLUDES")


def math_sources(env: Any) -> list[str]:
    """Return the paths of the glue, and of the user's sources."""
    operator = env["OPERATOR"]
    glue = f"{SOURCES}/{names(operator).glue}.cc"
    return [glue, *(source.path for source in operator.sources)]


def math_objects(
    env: Any, sources: Sequence[str], folder: str, flags: Sequence[str] = ()
) -> list[Any]:
    """Return the nodes of the objects of the glue and of the user's sources.

    Args:
        env: the environment of an ABI's compiler for C++.
        sources: of math_sources.
        folder: the folder of the objects.
        flags: more flags, for C and C++.
    """
    math_env = env.Clone()
    math_env.Append(CPPPATH=[f"#{SOURCES}"])
    return kernel_objects(math_env, sources, folder, CCFLAGS=list(flags))


def library(env: Any, target: str, abi_name: str) -> Any:
    """Return the node of `build/<target>/libpplnn_<op>.a`; it requires that all sources compile."""
    operator = env["OPERATOR"]
    folder = f"{FOLDER}/{abi_name}"
    abi_env = compiler_for(env, abi_name, cxx=True)
    path = f"build/{target}/libpplnn_{operator.lower}.a"
    packed = archive(abi_env, path, math_objects(abi_env, math_sources(env), folder))
    abi_env.Depends(packed, _checked_object(abi_env, folder))
    return packed


def _checked_object(env: Any, folder: str) -> list[Any]:
    """Return the node of one object from all sources with ppl.nn's headers, in a list.

    A source that includes them all is compiled in a fifth of the time of its nine parts.
    """
    source_env = env.Clone()
    source_env.Replace(CXXFLAGS=list(CXX), CCFLAGS=[*env["CCFLAGS"], *CHECKED, *WARNINGS, *ERRORS])
    source_env.Append(CPPPATH=[f"#{SOURCES}", f"#{RUNTIME}/declarations"])
    compiled = math_sources(env)
    parts = [
        path
        for path in sorted(generated_files(env["OPERATOR"]))
        if path.startswith("pplnn/") and path.endswith(".cc") and path not in compiled
    ]
    source = f"{folder}/sources.cc"
    source_env.Command(source, [], Action(_include, None, varlist=["PARTS"]), PARTS=parts)
    return operator_object(source_env, f"{folder}/sources.o", source)


def _include(target: Any, source: Any, env: Any) -> None:
    text = "".join(f'#include "{path}"\n' for path in env["PARTS"])
    Path(target[0].path).write_text(text, encoding="utf-8")
