"""library(env, target, abi): compile all sources, archive the math, build the cases' libraries."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from SCons.Action import Action

from opkit.build.compile_environment import compiler_for
from opkit.build.harness import GUARDED, Parts, harness, runtime_library
from opkit.build.libraries import (
    archive,
    instrumented,
    kernel_objects,
    profiled_objects,
    thread_libraries,
)
from opkit.build.machinery import FOLDER as MACHINERY
from opkit.build.recorded_inputs import operator_object
from opkit.files import c_parts
from opkit.runtimes.pplnn.describe import NAME
from opkit.runtimes.pplnn.files import generated_files, operator_source
from opkit.runtimes.pplnn.tree_names import SOURCES, names
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
    """Return the node of `build/<target>/libpplnn_<op>.a`; it requires that all sources compile.

    One object is made of all sources with ppl.nn's headers: a source that includes them all is
    compiled in a fifth of the time of its nine parts.
    """
    operator = env["OPERATOR"]
    folder = f"{FOLDER}/{abi_name}"
    abi_env = compiler_for(env, abi_name, cxx=True)
    path = f"build/{target}/libpplnn_{operator.lower}.a"
    compiled = math_sources(env)
    packed = archive(abi_env, path, math_objects(abi_env, compiled, folder))
    source_env = abi_env.Clone()
    flags = [*abi_env["CCFLAGS"], *CHECKED, *WARNINGS, *ERRORS]
    source_env.Replace(CXXFLAGS=list(CXX), CCFLAGS=flags)
    source_env.Append(CPPPATH=[f"#{SOURCES}", f"#{RUNTIME}/declarations"])
    parts = [
        path
        for path in sorted(generated_files(operator))
        if path.startswith("pplnn/") and path.endswith(".cc") and path not in compiled
    ]
    source = f"{folder}/sources.cc"
    source_env.Command(source, [], Action(_include, None, varlist=["PARTS"]), PARTS=parts)
    abi_env.Depends(packed, operator_object(source_env, f"{folder}/sources.o", source))
    return packed


def _include(target: Any, source: Any, env: Any) -> None:
    text = "".join(f'#include "{path}"\n' for path in env["PARTS"])
    Path(target[0].path).write_text(text, encoding="utf-8")


HOST = f"{FOLDER}/host"
DRIVER = f"{RUNTIME}/harness/*.c"


def host(env: Any, reports: bool) -> list[Any]:
    """Return the nodes of harness, driver and libraries for this PC, in `build/pplnn/host/`.

    Args:
        env: the environment.
        reports: whether a report follows, which needs the profiled library.
    """
    driver = runtime_library(env, f"{HOST}/libpplnn_driver.so", DRIVER)
    host_env = compiler_for(env, "x64", cxx=True)
    delivered, profiled = f"{HOST}/delivered", f"{HOST}/profiled"
    checked_env = instrumented(host_env)
    libraries = [
        _library(host_env, delivered, _kernel(host_env, delivered, []), driver),
        _library(checked_env, HOST, _kernel(checked_env, HOST, GUARDED), driver),
    ]
    if reports:
        glue, *others = math_sources(env)
        objects = [
            *profiled_objects(
                host_env,
                profiled,
                [],
                lambda flags: math_objects(host_env, [glue], profiled, flags),
                c_parts.definitions(env["OPERATOR"]),
            ),
            *math_objects(host_env, others, profiled),
            *kernel_objects(host_env, [operator_source(env["OPERATOR"])], profiled),
        ]
        libraries.append(_library(host_env, profiled, objects, driver))
    return [harness(env), driver, *libraries]


def _library(env: Any, folder: str, objects: list[Any], driver: Any) -> Any:
    """Return the node of the operator's library for the driver, in a folder."""
    library = env.Command(
        f"{folder}/lib{env['OPERATOR'].lower}.so",
        objects,
        Action("$SHAREDCOM", "$SHAREDCOMSTR"),
        LIBRARIES=[
            *("-Wl,-z,defs", "-Wl,--no-as-needed", f"-L{HOST}", "-lpplnn_driver", "-lm"),
            *thread_libraries(env),
        ],
    )
    env.Depends(library, driver)
    return library


def _guarded_kernel(env: Any, folder: str, flags: Sequence[str]) -> list[Any]:
    return _kernel(env, folder, [*GUARDED, *flags])


def _kernel(env: Any, folder: str, flags: Sequence[str]) -> list[Any]:
    table = [operator_source(env["OPERATOR"])]
    sources = math_sources(env)
    return [*math_objects(env, sources, folder, flags), *kernel_objects(env, table, folder)]


def harness_parts(env: Any) -> Parts:
    """Return the parts of static harnesses."""
    entry = f"{env['OPERATOR'].lower}_pplnn"
    return Parts(f"{NAME}-", entry, _guarded_kernel, (DRIVER,), cxx=True)
