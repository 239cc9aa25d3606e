"""No command writes or deletes a file through a symbolic link of a repository."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from opkit import repository_files
from opkit.build import machinery, scons_state
from opkit.common.errors import OpkitError
from rknn_op import scons_runs
from rknn_op.scons_runs import Processes
from tests.repositories import EXAMPLES, Repository
from tests.rknn_op.command import rknn_op, snapshot, succeeded
from tests.rknn_op.older import age

TEXT = b"precious"


def link_to_file(link: Path, target: Path) -> None:
    """Replace a file by a link to another one."""
    link.unlink(missing_ok=True)
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(target)


def link_to_folder(link: Path, target: Path) -> None:
    """Replace a folder by a link to another one with the same files."""
    target.unlink()
    if link.is_dir():
        shutil.copytree(link, target, symlinks=True)
        shutil.rmtree(link)
    else:
        target.mkdir()
    link.symlink_to(target)


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """Return a file outside of the repository."""
    path = tmp_path / "outside"
    path.write_bytes(TEXT)
    return path


def contents(path: Path) -> object:
    return path.read_bytes() if path.is_file() else snapshot(path)


LINKS: Sequence[tuple[str, Callable[[Path, Path], None]]] = (
    *((name, link_to_file) for name in ("build/.lock", "build/.sconsign", "build/report.html")),
    *((name, link_to_file) for name in ("build/x64/libmyoperator.so", "generated/manifest.json")),
    *((name, link_to_folder) for name in ("build", "build/x64", "build/vx", "generated")),
)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "replace"), LINKS, ids=[name for name, _ in LINKS])
def test_build_refuses_links(
    name: str, replace: Callable[[Path, Path], None], copy_of_fresh: Repository, outside: Path
) -> None:
    if name == "generated/manifest.json":  # a valid one
        outside.write_bytes((copy_of_fresh.path / name).read_bytes())
    replace(copy_of_fresh.path / name, outside)
    before = contents(outside)
    cleaning = [["-c"]] if name.startswith("build") else []
    for arguments in ([], ["check"], ["report"], ["compiledb"], *cleaning):
        done = copy_of_fresh.scons(*arguments, check=False)
        assert done.returncode == 2
        assert f"{name}: is a link to {outside}; " in done.stderr
        assert "replace it by a copy of its target" in done.stderr
    assert contents(outside) == before


@pytest.mark.slow
def test_editor_commands_are_not_written_through_a_link(
    copy_of_fresh: Repository, outside: Path
) -> None:
    """SCons replaces the link."""
    commands = copy_of_fresh.path / "compile_commands.json"
    commands.symlink_to(outside)
    copy_of_fresh.scons("compiledb")
    assert not commands.is_symlink()
    assert outside.read_bytes() == TEXT


def test_link_of_the_build_is_replaced(copy_of_fresh: Repository, tmp_path: Path) -> None:
    """build/opkit is a link that each build makes; its target is never written."""
    link = copy_of_fresh.path / machinery.FOLDER
    other = tmp_path / "other"
    other.mkdir()
    for beside in (link, link.with_name(".opkit.new")):
        link_to_file(beside, other)
    machinery.provide(copy_of_fresh.path)
    assert link.readlink() == machinery.OPKIT
    assert not [*other.iterdir()]


UPDATED = (
    *("requirements.txt", "requirements.lock", ".cruft.json", "generated/exp.h"),
    *("generated/manifest.json", "rknn_op_exp.py"),
)


@pytest.mark.parametrize("arguments", [(), ("--dry-run",)], ids=" ".join)
@pytest.mark.parametrize("name", UPDATED)
def test_update_refuses_links(
    name: str, arguments: Sequence[str], tmp_path: Path, outside: Path
) -> None:
    root = tmp_path / "made"
    succeeded("create", "-c", EXAMPLES / "exp/exp.yml", "-p", root)
    age(root)
    outside.write_bytes((root / name).read_bytes())
    link_to_file(root / name, outside)
    before = snapshot(tmp_path)
    done = rknn_op("update", *arguments, root)
    assert done.exit_code == 1
    assert f"{name}: is a link to {outside}; " in done.stderr
    assert snapshot(tmp_path) == before


def test_lint_writes_nothing_into_a_repository(copy_of_fresh: Repository, outside: Path) -> None:
    build = copy_of_fresh.path / "build"
    link_to_folder(build, outside)
    before = snapshot(copy_of_fresh.path), contents(outside)
    rknn_op("lint", copy_of_fresh.path)
    assert (snapshot(copy_of_fresh.path), contents(outside)) == before


def test_partial_file_that_is_a_link_is_not_followed(tmp_path: Path, outside: Path) -> None:
    (tmp_path / ".file.new").symlink_to(outside)
    repository_files.write_bytes(tmp_path, "file", b"new")
    assert (tmp_path / "file").read_bytes() == b"new"
    assert outside.read_bytes() == TEXT


def test_dangling_links_and_links_in_between(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "real").mkdir(parents=True)
    (root / "dangling").symlink_to("nowhere")
    (root / "inner").symlink_to("real")
    (root / "real/outer").symlink_to("../..")
    for path, link in (("dangling", "dangling"), ("inner/outer/a/b", "inner/outer")):
        with pytest.raises(OpkitError, match=f"{root / link}: is a link to "):
            repository_files.write_text(root, path, "")
    repository_files.write_text(root, "inner/file", "a folder in the repository")
    assert (root / "real/file").is_file()


def test_lock_is_not_written_through_a_link(tmp_path: Path, outside: Path) -> None:
    (tmp_path / "build").mkdir()
    (tmp_path / scons_state.LOCK).symlink_to(outside)
    with pytest.raises(OpkitError, match=rf"\.lock: is a link to {outside}; "):
        scons_state.acquire_lock(tmp_path)
    assert outside.read_bytes() == TEXT


@pytest.mark.slow
@pytest.mark.nightly
def test_repository_is_built_without_a_cache_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its opkit is unpacked in build/, where `scons -c` leaves it."""
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("HOME", raising=False)
    root = tmp_path / "made"
    rknn_op("create", "-c", EXAMPLES / "exp/exp.yml", "-p", root)
    for options in ([], ["-c"], []):
        with Processes() as processes:
            arguments = ("target=x64", *options)
            done = scons_runs.scons(processes, root, *arguments, stdout=subprocess.PIPE)
        assert done.returncode == 0, done.stdout
    assert (root / machinery.FOLDER).readlink().is_relative_to(root / machinery.UNPACKED)
