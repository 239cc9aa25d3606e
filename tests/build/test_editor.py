"""compile_commands.json of `scons compiledb`, as clangd reads it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import ziglang

from opkit import toolchains
from opkit.runtimes import parse
from opkit.runtimes.rknn.build import editor_commands
from opkit.toolchains import Compiler, ToolchainError
from opkit.toolchains.abi import ABIS
from opkit.toolchains.headers import glibc_version, system_folders
from tests.check.target_repositories import need
from tests.language_server import errors, language_server
from tests.repositories import Repository, generate, generate_example

LIBC = Path(ziglang.__file__).parent / "lib" / "libc" / "include"


@pytest.fixture(scope="module")
def unbuilt(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Repository]:
    """Return an example's repository, or "fresh", after `scons compiledb` and no build."""
    made: dict[str, Repository] = {}

    def get(name: str) -> Repository:
        if name not in made:
            folder = tmp_path_factory.mktemp(name)
            fresh = name == "fresh"
            made[name] = generate(folder) if fresh else generate_example(folder, name)
            made[name].scons("compiledb")
        return made[name]

    return get


def entries(repository: Repository) -> dict[str, list[str]]:
    """Return file -> arguments of compile_commands.json."""
    database = json.loads((repository.path / "compile_commands.json").read_text())
    assert {entry["directory"] for entry in database} == {str(repository.path)}
    found = {entry["file"]: entry["arguments"] for entry in database}
    assert len(found) == len(database)
    return found


def sources(repository: Repository) -> set[str]:
    """Return all sources in C, C++ and VX C, except in templates."""
    ends = ("c", "cc", "cpp", "h", "hpp", "vx")
    paths = [path for end in ends for path in repository.path.rglob(f"*.{end}")]
    names = {path.relative_to(repository.path).as_posix() for path in paths}
    return {name for name in names if "/templates/" not in name and not name.startswith("build/")}


@pytest.mark.parametrize("version", [1, 2])
def test_vx_version_of_description(version: int, tmp_path: Path) -> None:
    spec = parse(
        f"name: Op\nvx_version: {version}\ninputs: {{a: {{type: VX_TYPE_TENSOR}}}}\n"
        "outputs: {b: {type: VX_TYPE_TENSOR}}\n"
    )
    (tmp_path / "op.vx").touch()
    (arguments,) = editor_commands(tmp_path, spec).commands.values()
    assert f"-DVX_VERSION={version}" in arguments


def test_every_source_has_command(
    unbuilt: Callable[[str], Repository],
) -> None:
    repository = unbuilt("fresh")
    assert set(entries(repository)) == sources(repository)
    assert "rknn_kernel_myoperator.vx" in sources(repository)
    assert not [*repository.path.rglob("*.o"), *repository.path.rglob("*.so")]


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("name", ["mish", "resize_area"])
def test_example_has_no_errors(name: str, unbuilt: Callable[[str], Repository]) -> None:
    repository = unbuilt(name)
    files = entries(repository)
    assert set(files) == sources(repository)
    with language_server(repository.path) as server:
        assert errors(server, files) == []


EVERYWHERE = """\
name: Everywhere
runtimes: [rknn, pplnn, rknn2]
inputs: {x: {type: VX_TYPE_TENSOR}, more: {type: VX_TYPE_TENSOR}}
outputs: {y: {type: VX_TYPE_TENSOR, same_as: x}, other: {type: VX_TYPE_TENSOR}}
params:
  count: {type: int, default: 3}
  factor: {type: float}
  sizes: {type: ints}
  flag: {type: VX_TYPE_BOOL}
  letter: {type: VX_TYPE_CHAR}
"""
OWN_FILES = {
    "src/own.h": "typedef int char_is_unsigned[(char)-1 > 0 ? 1 : -1];\n",
    "src/own.c": '#include "own.h"\n',
    "src/own.cpp": '#include "own.h"\n#include "own.hpp"\n',
    "src/own.hpp": "#include <array>\nusing Pair = std::array<float, 2>;\n",
}


@pytest.mark.slow
@pytest.mark.nightly
def test_every_file_of_all_runtimes_has_no_errors(tmp_path: Path) -> None:
    repository = generate(tmp_path, EVERYWHERE)
    for name, text in OWN_FILES.items():
        path = repository.path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    with (repository.path / "op.yml").open("a") as file:
        file.write("sources: [src/own.c, src/own.cpp]\ninclude: [src]\n")
    repository.scons("compiledb")
    files = entries(repository)
    assert set(files) == sources(repository)
    assert set(files) >= {*OWN_FILES, "pplnn/src/ppl/nn/params/custom/everywhere_param.h"}
    with language_server(repository.path) as server:
        assert errors(server, files) == []


def test_compute_header_has_no_warnings(unbuilt: Callable[[str], Repository]) -> None:
    with language_server(unbuilt("fresh").path) as server:
        assert server.diagnose("myoperator_compute.h") == []


def test_errors_in_c_and_vx(unbuilt: Callable[[str], Repository], tmp_path: Path) -> None:
    root = tmp_path / "MyOperator"
    shutil.copytree(unbuilt("fresh").path, root)
    repository = Repository(root)
    for file, right, wrong in (
        ("myoperator_compute.h", "return NULL;", "return inputs->outputs;"),
        ("rknn_kernel_myoperator.vx", "vxc_short8 ", "vxc_short9 "),
    ):
        path = root / file
        text = path.read_text()
        assert text.count(right) == 1
        path.write_text(text.replace(right, wrong))
        number = text[: text.index(right)].count("\n") + 1
        repository.scons("compiledb", check=False)
        with language_server(root) as server:
            assert errors(server, [file])[0].startswith(f"{file}:{number}: ")


def test_local_memory_and_pointers(unbuilt: Callable[[str], Repository], tmp_path: Path) -> None:
    root = tmp_path / "MyOperator"
    shutil.copytree(unbuilt("fresh").path, root)
    file = "more.vx"
    (root / file).write_text(
        '#include "cl_viv_vx_ext.h"\n'
        "float first(__local const float *items) { return items[0]; }\n"
        "__kernel void more(__read_only image2d_array_t input)\n"
        "{\n"
        "    __local float sums[4];\n"
        "    sums[get_local_id(0)] = 1;\n"
        "    barrier(CLK_LOCAL_MEM_FENCE);\n"
        '    printf("%f", first(sums));\n'
        "}\n"
    )
    Repository(root).scons("compiledb")
    with language_server(root) as server:
        assert errors(server, [file]) == []


@pytest.mark.slow
def test_libc_headers_match_compiler(unbuilt: Callable[[str], Repository]) -> None:
    repository = unbuilt("exp")
    with language_server(repository.path) as server:
        found = server.includes("include/opkit/runtimes/rknn/openvx.h")
        assert found["stdlib.h"].is_relative_to(LIBC)
        assert found["string.h"].is_relative_to(LIBC)
        assert found["stdarg.h"].parent.name == "include"
        assert found["stdarg.h"].parents[2].name == "clang"
        assert found["VX/vx.h"].is_relative_to(repository.path)


def test_gcc_headers() -> None:
    compiler = Compiler("gnu", "x64", (need("gcc", "gcc"),), ())
    folders = system_folders(compiler)
    assert [folder for folder in folders if Path(folder, "stdlib.h").is_file()]
    assert not [folder for folder in folders if Path(folder, "stddef.h").exists()]
    assert glibc_version(compiler, ABIS["x64"]) == ()


def test_headers_match_abi_glibc() -> None:
    compiler = toolchains.find("zig", ABIS["x64"])
    assert glibc_version(compiler, ABIS["x64"]) == ("-D__GLIBC_MINOR__=17",)


def test_compiler_without_search_list_error(tmp_path: Path) -> None:
    program = tmp_path / "cc"
    program.write_text("#!/bin/sh\necho 'no license' >&2\nexit 3\n")
    program.chmod(0o755)
    with pytest.raises(ToolchainError, match="does not list its include folders, but prints\nno l"):
        system_folders(Compiler("gnu", "x64", (str(program),), ()))
    with pytest.raises(ToolchainError, match="cannot be run: No such file"):
        system_folders(Compiler("gnu", "x64", (str(tmp_path / "none"),), ()))
