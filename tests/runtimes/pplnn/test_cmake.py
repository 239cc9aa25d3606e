"""CMake really configures a small project that is called ppl.nn, with the operators in it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.repositories import ROOT
from tests.runtimes.pplnn.checkouts import STRAY, Checkout, make_checkout, run
from tests.runtimes.pplnn.engines import STRICT, cxx
from tests.runtimes.pplnn.operators import description, make_repository

ROOM = ROOT / "opkit/runtimes/pplnn"
TABLES = {
    "onnx": "src/ppl/nn/models/onnx",
    "riscv": "src/ppl/nn/engines/riscv",
    "x86": "src/ppl/nn/engines/x86",
}
# CMake looks for no compiler; the tests read what it would have one do.
PROJECT = """\
cmake_minimum_required(VERSION 3.14)
foreach(language C CXX)
    set(CMAKE_${language}_COMPILER "${CMAKE_COMMAND}")
    set(CMAKE_${language}_COMPILER_FORCED ON)
endforeach()
project(ppl.nn LANGUAGES CXX)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(external_onnx ${PPLNN_SOURCE_EXTERNAL_ONNX_MODEL_SOURCES})
set(external_x86 ${PPLNN_SOURCE_EXTERNAL_X86_ENGINE_SOURCES})
"""
LIBRARY = """
file(GLOB_RECURSE sources {folder}/*.cc)
if(external_{table})
    list(FILTER sources EXCLUDE REGEX default_register_resources)
endif()
add_library(pplnn_{table}_static STATIC ${{sources}} ${{external_{table}}})
target_include_directories(pplnn_{table}_static PRIVATE
    src ${{PPLNN_SOURCE_EXTERNAL_INCLUDE_DIRECTORIES}})
"""


@dataclass(frozen=True)
class Command:
    """How CMake compiles a source.

    Attributes:
        library: in which library it is.
        arguments: of the compiler.
    """

    library: str
    arguments: Sequence[str]


def make_project(root: Path, tables: Iterable[str] = TABLES, version: str = "v0.10.0") -> Checkout:
    """Make a checkout with a CMakeLists.txt and the default registrations."""
    checkout = make_checkout(root, version)
    libraries = [LIBRARY.format(table=table, folder=TABLES[table]) for table in tables]
    checkout.write("CMakeLists.txt", PROJECT + "".join(libraries))
    for folder in TABLES.values():
        checkout.write(f"{folder}/default_register_resources.cc", "// ours alone\n")
    return checkout


def cmake(checkout: Checkout, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Configure a checkout in the folder `build` beside it."""
    program = shutil.which("cmake", path=sysconfig.get_path("scripts")) or shutil.which("cmake")
    assert program, "install CMake (pip install cmake)"
    folder = checkout.root.parent
    return subprocess.run(
        [program, *arguments, "-S", str(checkout.root), "-B", str(folder / "build")],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def configure(checkout: Checkout, *arguments: str) -> dict[str, Command]:
    """Configure a checkout, which stays as it is; return path -> how a source is compiled.

    Paths are as seen from the folder of the checkout. Sources in two libraries are named once.
    """
    before = checkout.content()
    done = cmake(checkout, *arguments)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    assert checkout.content() == before
    folder = checkout.root.parent
    commands = json.loads((folder / "build/compile_commands.json").read_text())
    found = {}
    for command in commands:
        library = re.search(r"(\w+)\.dir/", command["command"])
        assert library
        name = Path(command["file"]).relative_to(folder).as_posix()
        found[name] = Command(library[1], command["command"].split())
    return found


def injected(*repositories: Path) -> str:
    """Return the option for the injection of operators."""
    files = [repository / "pplnn/cmake/inject.cmake" for repository in repositories]
    if len(files) > 1:
        several = files[0].parents[3] / "several.cmake"
        several.write_text("".join(f'include("{file}")\n' for file in files))
        files = [several]
    return f"-DCMAKE_PROJECT_ppl.nn_INCLUDE={files[0]}"


def sources_of(repository: Path, *tables: str) -> dict[str, str]:
    """Return path -> library of the C++ sources of an operator."""
    place = f"{repository.name}/pplnn/src/ppl/nn"
    folders = {"onnx": "models/onnx", "riscv": "engines/riscv", "x86": "engines/x86"}
    found = {f"{repository.name}/pplnn/register/{t}.cc": f"pplnn_{t}_static" for t in tables}
    for path in (repository / "pplnn/src").rglob("*.cc"):
        name = path.relative_to(repository.parent).as_posix()
        for table in tables:
            is_math = name.startswith(f"{place}/oputils/") and table != "onnx"
            if is_math or name.startswith(f"{place}/{folders[table]}/"):
                found[name] = f"pplnn_{table}_static"
    return found


def written(*tables: str) -> dict[str, str]:
    """Return path -> library of the sources that CMake writes."""
    names = ("operators", "once")
    return {f"build/opkit/{t}_{name}.cc": f"pplnn_{t}_static" for t in tables for name in names}


def libraries(commands: dict[str, Command], *folders: str) -> dict[str, str]:
    """Return path -> library of the compiled sources in folders."""
    return {path: command.library for path, command in commands.items() if path.startswith(folders)}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "ResizeArea", description())


@pytest.mark.parametrize("engine", ["riscv", "x86"])
@pytest.mark.parametrize("version", ["v0.9.2", "v0.10.0"])
def test_injection(engine: str, version: str, repository: Path, tmp_path: Path) -> None:
    project = make_project(tmp_path / "ppl.nn", ("onnx", engine), version)
    assert (project.root / STRAY).exists() == (version == "v0.10.0")
    defaults = [path for path in configure(project) if path.endswith("register_resources.cc")]
    assert len(defaults) == (3 if version == "v0.10.0" else 2)
    commands = configure(project, injected(repository))
    assert not [path for path in commands if path.endswith("register_resources.cc")]
    assert libraries(commands, "ResizeArea", "build") == {
        **sources_of(repository, "onnx", engine),
        **written("onnx", engine),
    }
    for path, command in commands.items():
        for argument in (f"-I{repository}/pplnn/src", "-funsigned-char"):
            assert (argument in command.arguments) == path.startswith("ResizeArea")
    theirs = f"ppl.nn/src/ppl/nn/engines/{engine}/optimizer/{engine}_ops.cc"
    assert commands[theirs].library == f"pplnn_{engine}_static"


def test_hooks(repository: Path, tmp_path: Path) -> None:
    project = make_project(tmp_path / "ppl.nn", ("onnx", "x86"))
    commands = configure(project, "-C", f"{repository}/pplnn/cmake/hooks.cmake")
    assert libraries(commands, "ResizeArea", "build") == {
        **sources_of(repository, "onnx", "x86"),
        **written("onnx", "x86"),
    }
    defaults = [path for path in commands if path.endswith("default_register_resources.cc")]
    assert not defaults
    assert f"-I{repository}/pplnn/src" in commands["build/opkit/x86_once.cc"].arguments
    assert configure(project).keys() == commands.keys()


@pytest.mark.parametrize("way", ["injection", "hooks"])
def test_several_operators(way: str, repository: Path, tmp_path: Path) -> None:
    exp = make_repository(tmp_path / "Exp", description("Exp", "domain: com.acme", params=False))
    project = make_project(tmp_path / "ppl.nn", ("onnx", "x86"))
    hooks = [("-C", f"{each}/pplnn/cmake/hooks.cmake") for each in (repository, exp)]
    option = [word for pair in hooks for word in pair]
    arguments = option if way == "hooks" else [injected(repository, exp)]
    commands = configure(project, *arguments)
    expected = {
        **sources_of(repository, "onnx", "x86"),
        **sources_of(exp, "onnx", "x86"),
        **written("onnx", "x86"),
    }
    assert libraries(commands, "ResizeArea", "Exp", "build") == expected
    source = tmp_path / "build/opkit/x86_operators.cc"
    text = source.read_text().split("RegisterAll()")[1]
    calls = re.findall(r"^ +(?:status = )?(\w+)\(\);", text, re.MULTILINE)
    functions = ["RegisterBuiltinOpImpls", "Register_custom_ResizeArea", "Register_com_acme_Exp"]
    assert calls == functions
    time = source.stat().st_mtime_ns
    assert libraries(configure(project, *arguments), "ResizeArea", "Exp", "build") == expected
    assert source.stat().st_mtime_ns == time


def test_own_sources_flags_and_folders(tmp_path: Path) -> None:
    more = "sources: [tables/sine.c, more.cpp]\ninclude: [tables]\ncflags: [-DSIZE=3, -O3]"
    repository = make_repository(tmp_path / "ResizeArea", description(more=more))
    (repository / "tables").mkdir()
    for path in ("tables/sine.c", "more.cpp"):
        (repository / path).write_text("")
    project = make_project(tmp_path / "ppl.nn", ("onnx", "riscv"))
    commands = configure(project, injected(repository))
    math = {path for path, each in commands.items() if "-DSIZE=3" in each.arguments}
    own = {"ResizeArea/tables/sine.c", "ResizeArea/more.cpp"}
    glue = {path for path in commands if "/oputils/custom/" in path}
    assert math == own | glue
    for path in math:
        assert f"-I{repository}/include" in commands[path].arguments
        assert f"-I{repository}/tables" in commands[path].arguments
        assert commands[path].library == "pplnn_riscv_static"
    hooks = cmake(project, "-C", f"{repository}/pplnn/cmake/hooks.cmake")
    assert hooks.returncode
    assert "do not support the cflags of op.yml (-DSIZE=3;-O3)" in " ".join(hooks.stderr.split())


def test_laid_over_checkout_is_refused(repository: Path, tmp_path: Path) -> None:
    project = make_project(tmp_path / "ppl.nn")
    assert run(repository, project) == 0
    refused = cmake(project, injected(repository))
    assert refused.returncode
    message = " ".join(refused.stderr.split())
    assert "ppl.nn holds custom.ResizeArea already; take it out: python3" in message
    assert run(repository, project, "--revert") == 0
    configure(project, injected(repository))


def test_other_version_is_refused(repository: Path, tmp_path: Path) -> None:
    project = make_project(tmp_path / "ppl.nn", version="v0.9.2")
    (project.root / TABLES["riscv"] / "default_register_resources.cc").unlink()
    refused = cmake(project, injected(repository))
    assert refused.returncode
    message = " ".join(refused.stderr.split())
    assert "pplnn_riscv_static has no default_register_resources.cc" in message


# What the rest of ppl.nn would do, with two operators in it.
PROGRAM = """\
#include "ppl/nn/engines/x86/optimizer/opt_kernel_creator_manager.h"
#include "ppl/nn/models/onnx/param_parser_manager.h"

static int builtin;

namespace ppl { namespace nn {

namespace onnx {
ppl::common::RetCode RegisterResourcesOnce();
}
namespace x86 {
ppl::common::RetCode RegisterResourcesOnce();
void RegisterBuiltinOpImpls();
void RegisterBuiltinOpImpls()
{
    builtin++;
}
}

}}

static bool IsThere(const char *domain, const char *type, uint64_t version)
{
    const auto &parsers = *ppl::nn::onnx::ParamParserManager::GetInstance();
    const auto &ops = *ppl::nn::x86::OptKernelCreatorManager::GetInstance();
    const bool has_parser = parsers.Find(domain, type, version) != nullptr;
    return has_parser && ops.Find(domain, type, version) != nullptr;
}

int main()
{
    for (int i = 0; i < 2; i++) {
        if (ppl::nn::onnx::RegisterResourcesOnce() != ppl::common::RC_SUCCESS ||
            ppl::nn::x86::RegisterResourcesOnce() != ppl::common::RC_SUCCESS) {
            return 1;
        }
    }
    if (builtin != 1) {
        return 2;
    }
    const bool both = IsThere("custom", "ResizeArea", 1) && IsThere("com.acme", "Exp", 3);
    return both && !IsThere("custom", "ResizeArea", 2) && !IsThere("custom", "Exp", 3) ? 0 : 3;
}
"""


@pytest.mark.parametrize("way", ["injection", "hooks"])
def test_operators_are_registered(way: str, repository: Path, tmp_path: Path) -> None:
    """What CMake would compile runs, on the declarations of ppl.nn that opkit has."""
    text = description("Exp", "domain: com.acme\nopset: [2, 3]", params=False)
    exp = make_repository(tmp_path / "Exp", text)
    project = make_project(tmp_path / "ppl.nn", ("onnx", "x86"))
    hooks = [("-C", f"{each}/pplnn/cmake/hooks.cmake") for each in (repository, exp)]
    option = [word for pair in hooks for word in pair]
    arguments = option if way == "hooks" else [injected(repository, exp)]
    commands = configure(project, *arguments)
    sources = libraries(commands, "ResizeArea", "Exp", "build")
    # In one, as CMAKE_UNITY_BUILD does it: each includes much.
    program = tmp_path / "program.cc"
    program.write_text("".join(f'#include "{path}"\n' for path in sources) + PROGRAM)
    folders = [f"{repository}/pplnn/src", f"{exp}/pplnn/src", f"{ROOM}/declarations"]
    options = [f"-I{folder}" for folder in folders]
    command = [*cxx(), *STRICT, *options, str(program), "-o", str(tmp_path / "program")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert subprocess.run([tmp_path / "program"], check=False).returncode == 0
