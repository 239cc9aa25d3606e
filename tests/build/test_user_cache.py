"""The user's cache of objects that do not depend on the operator."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
import ziglang
from SCons.CacheDir import CacheDir
from SCons.Script.SConscript import SConsEnvironment

from opkit.build.recorded_inputs import inputs_file
from opkit.build.user_cache import NAME, cache_folder, user_cache
from opkit.common.errors import OpkitError
from opkit.toolchains.compile_inputs import Inputs, prerequisites
from tests.compiling import C_SOURCES, build
from tests.repositories import Repository, generate, installed_opkit

SHARED = ("build/host/libOpenVX.so", "build/host/vx_runtime.so", "build/x64/openvx/libOpenVX.so")


@pytest.mark.slow
def test_second_repository_uses_cache(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    # zig compiles the startup code with the first program; it contains the folder's path.
    build(tmp_path_factory.mktemp("first") / "program", C_SOURCES / "half_program.c")
    cache = tmp_path / "cache"
    one, two = (generate(tmp_path / name) for name in ("one", "two"))
    one.scons(f"cache={cache}", "target=x64")
    for file in cache.rglob("*"):
        assert not file.is_file() or str(tmp_path).encode() not in file.read_bytes()
    # With another opkit, the changed sources are compiled, and their dependents made again.
    other = shutil.copytree(installed_opkit(), tmp_path / "other")
    source = other / "opkit/runtimes/rknn/host_runtime/graph.c"
    source.write_text(source.read_text() + "extern int one_more;\n")
    monkeypatch.setattr("tests.repositories.installed_opkit", lambda: str(other))
    printed = two.scons("-Q", f"cache={cache}", "target=x64").stdout
    assert "from cache" not in printed
    made = printed.splitlines()
    assert {line for line in made if line.startswith(("compile ", "link "))} <= {
        "compile build/x64/rknn_kernel_myoperator.c.o",
        "link build/x64/libmyoperator.so",
        "compile build/host/rknn_kernel_myoperator.c.o",
        "link build/host/libmyoperator.so",
        "compile build/host/graph.o",
        "link build/host/libOpenVX.so",
    }
    assert "compile build/host/graph.o" in made
    two.scons("-c")
    verbose = two.scons("-Q", f"cache={cache}", "target=x64", "verbose=1").stdout
    assert "Retrieved `build/host/libOpenVX.so' from cache" in verbose
    # So is the prelude of VX kernels, which clang finds under the same path in every repository.
    (prelude,) = cache.glob("prelude-*.pch")
    used = (one.path / "build/vx" / prelude.name, two.path / "build/vx" / prelude.name)
    assert prelude.read_bytes() == used[0].read_bytes() == used[1].read_bytes()
    for name in SHARED:
        assert (one.path / name).read_bytes() == (two.path / name).read_bytes()


@pytest.mark.slow
@pytest.mark.nightly
def test_cache_key_has_all_inputs(copy_of_fresh: Repository) -> None:
    """SCons' key has the files that it finds itself; the compiler must not read others."""
    copy_of_fresh.scons("-c")
    copy_of_fresh.scons("cache=none", "target=x64")
    tree = copy_of_fresh.scons("-Q", "-n", "--tree=all", "build/host", "build/x64/openvx").stdout
    zig = str(Path(ziglang.__file__).parent)
    shared = 0
    for node, dependencies in dependencies_of_nodes(tree).items():
        listed = copy_of_fresh.path / f"{node}.d"
        if listed.is_file() and not inputs_file(str(copy_of_fresh.path / node)).exists():
            read = map(os.path.normpath, prerequisites(listed.read_text()))
            assert {file for file in read if not file.startswith(zig)} <= dependencies, node
            shared += 1
    assert shared > 20


def test_prerequisites_of_a_rule_in_several_lines() -> None:
    rule = "out.o: one.c folder/two\\ words.h \\\n  price$$.h \\\n last.h\n"
    assert prerequisites(rule) == ["one.c", "folder/two words.h", "price$.h", "last.h"]


def test_stored_inputs_of_a_compile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("src").mkdir()
    Path("sum.c").write_text('#include "sum.h"\n')
    Path("sum.h").write_text("int sum(int a, int b);\n")
    file = Path("sum.o.inputs")
    assert Inputs.load(file) is None
    Inputs.found(["sum.c", "sum.h"], ["src"]).store(file)
    inputs = Inputs.load(file)
    assert inputs is not None
    assert inputs.paths() == {"sum.c", "sum.h", "src/sum.c", "src/sum.h"}
    assert inputs.are_current()
    Path("src/sum.h").write_text("")
    assert not inputs.are_current()
    Path("src/sum.h").unlink()
    Path("sum.h").write_text("int sum(int a);\n")
    assert not inputs.are_current()
    file.write_text("[]")
    assert Inputs.load(file) is None


def dependencies_of_nodes(tree: str) -> dict[str, set[str]]:
    """Return the direct and indirect dependencies of each node in a tree of `scons --tree=all`."""
    found: dict[str, set[str]] = {}
    above: list[tuple[int, str]] = []
    for line in tree.splitlines():
        branch, _, node = line.partition("+-")
        above = [(depth, each) for depth, each in above if depth < len(branch)]
        for _, each in above:
            found[each].add(node)
        above.append((len(branch), node))
        found.setdefault(node, set())
    return found


def test_cache_none(copy_of_fresh: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.delenv("HOME")
    for arguments in ((), ("cache=none",)):
        (copy_of_fresh.path / "build/x64/openvx/libOpenVX.so").unlink()
        made = copy_of_fresh.scons("-Q", "build/x64/openvx/libOpenVX.so", *arguments).stdout
        assert "link build/x64/openvx/libOpenVX.so" in made


def test_cache_folder_location(tmp_path: Path) -> None:
    home, xdg = str(tmp_path / "home"), str(tmp_path / "xdg")
    assert cache_folder("none", {"HOME": home}) is None
    assert cache_folder("", {}) is None
    assert cache_folder("", {"HOME": home}) == tmp_path / "home/.cache" / NAME
    assert cache_folder("", {"HOME": home, "XDG_CACHE_HOME": xdg}) == tmp_path / "xdg" / NAME
    # The specification of XDG_CACHE_HOME ignores relative paths.
    assert cache_folder("", {"HOME": home, "XDG_CACHE_HOME": "xdg"}) == (
        tmp_path / "home/.cache" / NAME
    )
    assert cache_folder(f"{tmp_path}/own", {}) == tmp_path / "own"


def test_cache_folder_not_writable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    assert cache_folder("", {"HOME": f"{tmp_path}/file"}) is None
    with pytest.raises(OpkitError, match=r"cache=.*/file/a: .* cannot be made: Not a directory"):
        cache_folder(f"{tmp_path}/file/a", {})
    # For root, as in containers, every folder is writable.
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert cache_folder("", {"HOME": str(tmp_path)}) is None
    with pytest.raises(OpkitError, match="is not writable; name another folder, or cache=none"):
        cache_folder(str(tmp_path), {})


def test_parallel_builds_make_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another build writes the settings of the cache between SCons' look and its own writing."""
    environment = SConsEnvironment(
        tools=[], TOOLCHAIN="zig", CC=["zig"], cache=str(tmp_path), verbose=False
    )
    write = CacheDir._add_config

    def write_twice(cache: CacheDir, path: str) -> None:
        write(cache, path)
        write(cache, path)

    monkeypatch.setattr(CacheDir, "_add_config", write_twice)
    cached = user_cache(environment)
    assert cached.get_CacheDir().config == {"prefix_len": 2}
