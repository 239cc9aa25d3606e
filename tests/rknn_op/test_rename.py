"""`rknn-op rename`: all files of a repository have the new name, or none."""

from __future__ import annotations

import re
import shutil
import subprocess
from contextlib import nullcontext
from pathlib import Path

import pytest

from opkit import repository_files
from rknn_op.upkeep import renaming
from tests.check.target_repositories import need
from tests.marks import quick_first
from tests.repositories import Repository
from tests.rknn_op.command import assert_error, rknn_op, snapshot, succeeded


@pytest.fixture
def made(tmp_path: Path) -> Path:
    folder = tmp_path / "made"
    options = ("--library", "ResizeArea", "--runtime", "rknn,pplnn,rknn2")
    succeeded("create", *options, "-p", folder)
    return folder


@pytest.mark.slow
def test_everything_has_the_new_name(made: Path) -> None:
    reference = made / "resizearea_reference.py"
    text = reference.read_text(encoding="utf-8")
    reference.write_text(f"{text}\nABOUT = 'ResizeArea of mine'\n", encoding="utf-8")
    (made / "notes.md").write_text("resizearea_compute.h\n", encoding="utf-8")
    files = {name.replace("resizearea", "zoom_area") for name in snapshot(made)}

    done = succeeded("rename", "Zoom_Area", "-p", made)
    assert "resizearea_compute.h -> zoom_area_compute.h\n" in done.stdout
    line = text.count("\n") + 2
    assert f"  zoom_area_reference.py:{line}\n" in done.stdout
    assert {*snapshot(made)} == files
    assert (made / "notes.md").read_text(encoding="utf-8") == "zoom_area_compute.h\n"
    for path, data in snapshot(made).items():
        if not path.endswith(".whl"):
            assert not re.search(rb"resizearea|RESIZEAREA", data), path
    succeeded("lint", made)
    Repository(made).scons("check", "quick=1")


def test_names_of_params_and_functions_stay(tmp_path: Path) -> None:
    folder = tmp_path / "log"
    config = tmp_path / "log.yml"
    config.write_text(
        "name: Log\nruntimes: [rknn2]\ninputs:\n  x: {type: VX_TYPE_TENSOR}\n"
        "outputs:\n  y: {type: VX_TYPE_TENSOR}\nparams:\n  log_base: {type: int, default: 2}\n",
        encoding="utf-8",
    )
    succeeded("create", "-c", config, "-p", folder)
    mine = folder / "log_compute.h"
    more = "/* params->log_base, log_base; opkit_log(x); np.log_x; log(2); Log */\n"
    more += "#define LOG_2 log_of\n"
    mine.write_text(mine.read_text(encoding="utf-8") + more, encoding="utf-8")
    succeeded("rename", "Lg", "-p", folder)
    text = (folder / "lg_compute.h").read_text(encoding="utf-8")
    assert text.endswith(more.replace("LOG_2 log_of", "LG_2 lg_of"))
    assert "log_base:" in (folder / "op.yml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("zoom-area", "is not a C identifier"),
        ("ResizeArea", "the operator's name is ResizeArea already"),
        ("Taken", "taken_compute.h exists"),
        ("int", "choose another name"),
    ],
)
def test_invalid_name_changes_nothing(made: Path, name: str, message: str) -> None:
    (made / "taken_compute.h").touch()
    before = snapshot(made)
    assert_error(rknn_op("rename", name, "-p", made), message)
    assert snapshot(made) == before


def test_error_changes_nothing(made: Path) -> None:
    reference = made / "resizearea_reference.py"
    reference.write_text("def reference(\n", encoding="utf-8")
    before = snapshot(made)
    assert_error(rknn_op("rename", "Zoom", "-p", made), "zoom_reference.py")
    assert snapshot(made) == before


def test_failed_write_changes_nothing(made: Path) -> None:
    """A folder is where one of the last generated files has to be."""
    (made / "rknn_op_zoom.py").mkdir()
    before, folders = snapshot(made), {path for path in made.rglob("*") if path.is_dir()}
    assert_error(rknn_op("rename", "Zoom", "-p", made), "rknn_op_zoom.py: cannot be written")
    assert snapshot(made) == before
    assert {path for path in made.rglob("*") if path.is_dir()} == folders


def test_missing_file_changes_nothing(made: Path) -> None:
    (made / "resizearea_reference.py").unlink()
    before = snapshot(made)
    assert_error(rknn_op("rename", "Zoom", "-p", made), "resizearea_reference.py: not found")
    assert snapshot(made) == before


def test_dry_run_and_uncommitted_changes(made: Path) -> None:
    need("git", "git")
    subprocess.run(["git", "init", "--quiet", made], check=True)
    before = snapshot(made)
    succeeded("rename", "Zoom", "-p", made, "--dry-run")
    assert_error(rknn_op("rename", "Zoom", "-p", made), "--allow-dirty")
    assert snapshot(made) == before
    succeeded("rename", "Zoom", "-p", made, "--allow-dirty")


def test_name_of_another_operator_of_the_workspace(tmp_path: Path) -> None:
    ws = tmp_path / "ws"
    options = ("--runtime", "rknn2", "--workspace", str(ws))
    succeeded("create", *options, "--library", "Selu", "Mish")
    before = snapshot(ws)
    for name in ("Mish", "MISH"):
        for more in ((), ("--dry-run",)):
            refused = rknn_op("rename", name, "-p", ws / "Selu", *more)
            assert_error(refused, f"already the name of the operator in {ws}/Mish; pass another")
    assert snapshot(ws) == before
    succeeded("rename", "SELU", "-p", ws / "Selu")


def test_built_files_of_the_old_name_are_deleted(made: Path) -> None:
    built = ("rv1126/ResizeArea.rknnop", "x64/libresizearea.so", "rknn2/x64/librkcst_resizearea.so")
    kept = ("x64/openvx/stub.o", "results/1.npz", "x64/resizeareas.o")
    for path in (*built, *kept, "report.html", "report.json"):
        (made / "build" / path).parent.mkdir(parents=True, exist_ok=True)
        (made / "build" / path).touch()
    plan = rknn_op("rename", "Zoom", "-p", made, "--dry-run")
    assert (made / "build" / built[0]).exists()
    done = rknn_op("rename", "Zoom", "-p", made)
    assert plan.stdout == done.stdout
    assert f"build/{built[0]}: deleted\n" in done.stdout
    left = {path for path in snapshot(made) if path.startswith("build/")}
    assert left == {f"build/{path}" for path in kept}


@pytest.mark.parametrize("link", ["resizearea_reference.py", "tests", "rknn_op_resizearea.py"])
def test_links_are_refused(made: Path, tmp_path: Path, link: str) -> None:
    (made / link).rename(tmp_path / Path(link).name)
    (made / link).symlink_to(tmp_path / Path(link).name)
    before = snapshot(made)
    for more in (["--dry-run"], []):
        refused = rknn_op("rename", "Zoom", "-p", made, *more)
        assert_error(refused, f"{made / link}: is a link to {tmp_path}", "replace it by a copy")
    assert snapshot(made) == before


def test_link_without_the_name_stays(made: Path, tmp_path: Path) -> None:
    (tmp_path / "common.h").write_text("int common;\n", encoding="utf-8")
    (made / "common.h").symlink_to(tmp_path / "common.h")
    succeeded("rename", "Zoom", "-p", made)
    assert (made / "common.h").is_symlink()


@pytest.mark.parametrize("writes", quick_first(1, [1, 8, 14, 30, -1]))
def test_killed_rename_is_completed(
    made: Path, tmp_path: Path, writes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next run completes a rename that ended after any write, even before op.yml."""
    expected = tmp_path / "expected"
    shutil.copytree(made, expected)
    succeeded("rename", "Zoom", "-p", expected)
    done = 0

    class Killed(BaseException):
        pass

    def write(root: Path, path: str | Path, data: bytes) -> None:
        nonlocal done
        done += 1
        if done == writes or (writes < 0 and path == "op.yml"):
            raise Killed
        usual(root, path, data)

    usual = repository_files.write_bytes
    with monkeypatch.context() as patch:
        patch.setattr(renaming, "restored_on_error", lambda *_: nullcontext())
        for module in (renaming, repository_files):
            patch.setattr(module, "write_bytes", write)
        with pytest.raises(Killed):
            rknn_op("rename", "Zoom", "-p", made)
    succeeded("rename", "Zoom", "-p", made)
    assert snapshot(made) == snapshot(expected)
