"""`rknn-op rename`: all files of a repository have the new name, or none."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.check.target_repositories import need
from tests.repositories import Repository
from tests.rknn_op.command import assert_error, rknn_op, snapshot


@pytest.fixture
def made(tmp_path: Path) -> Path:
    folder = tmp_path / "made"
    options = ("--library", "ResizeArea", "--runtime", "rknn,pplnn,rknn2")
    assert rknn_op("create", *options, "-p", str(folder)).exit_code == 0
    return folder


@pytest.mark.slow
def test_everything_has_the_new_name(made: Path) -> None:
    reference = made / "resizearea_reference.py"
    text = reference.read_text(encoding="utf-8")
    reference.write_text(f"{text}\nABOUT = 'ResizeArea of mine'\n", encoding="utf-8")
    (made / "notes.md").write_text("resizearea_compute.h\n", encoding="utf-8")
    files = {name.replace("resizearea", "zoom_area") for name in snapshot(made)}

    done = rknn_op("rename", "Zoom_Area", "-p", str(made))
    assert done.exit_code == 0, done.output
    assert "resizearea_compute.h -> zoom_area_compute.h\n" in done.stdout
    line = text.count("\n") + 2
    assert f"  zoom_area_reference.py:{line}\n" in done.stdout
    assert {*snapshot(made)} == files
    assert (made / "notes.md").read_text(encoding="utf-8") == "zoom_area_compute.h\n"
    for path, data in snapshot(made).items():
        if not path.endswith(".whl"):
            assert not re.search(rb"resizearea|RESIZEAREA", data), path
    assert rknn_op("lint", str(made)).exit_code == 0
    Repository(made).scons("check", "quick=1")


def test_names_of_params_and_functions_stay(tmp_path: Path) -> None:
    folder = tmp_path / "log"
    config = tmp_path / "log.yml"
    config.write_text(
        "name: Log\nruntimes: [rknn2]\ninputs:\n  x: {type: VX_TYPE_TENSOR}\n"
        "outputs:\n  y: {type: VX_TYPE_TENSOR}\nparams:\n  log_base: {type: int, default: 2}\n",
        encoding="utf-8",
    )
    assert rknn_op("create", "-c", str(config), "-p", str(folder)).exit_code == 0
    mine = folder / "log_compute.h"
    more = "/* params->log_base; opkit_log(x); np.log_x; log(2); Log */\n#define LOG_2 log_of\n"
    mine.write_text(mine.read_text(encoding="utf-8") + more, encoding="utf-8")
    assert rknn_op("rename", "Lg", "-p", str(folder)).exit_code == 0
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
    assert_error(rknn_op("rename", name, "-p", str(made)), message)
    assert snapshot(made) == before


def test_error_changes_nothing(made: Path) -> None:
    reference = made / "resizearea_reference.py"
    reference.write_text("def reference(\n", encoding="utf-8")
    before = snapshot(made)
    assert_error(rknn_op("rename", "Zoom", "-p", str(made)), "zoom_reference.py")
    assert snapshot(made) == before


def test_failed_write_changes_nothing(made: Path) -> None:
    """A folder is where one of the last generated files has to be."""
    (made / "rknn_op_zoom.py").mkdir()
    before, folders = snapshot(made), {path for path in made.rglob("*") if path.is_dir()}
    assert_error(rknn_op("rename", "Zoom", "-p", str(made)), "rknn_op_zoom.py: cannot be written")
    assert snapshot(made) == before
    assert {path for path in made.rglob("*") if path.is_dir()} == folders


def test_missing_file_changes_nothing(made: Path) -> None:
    (made / "resizearea_reference.py").unlink()
    before = snapshot(made)
    assert_error(rknn_op("rename", "Zoom", "-p", str(made)), "resizearea_reference.py: not found")
    assert snapshot(made) == before


def test_dry_run_and_uncommitted_changes(made: Path) -> None:
    need("git", "git")
    subprocess.run(["git", "init", "--quiet", made], check=True)
    before = snapshot(made)
    assert rknn_op("rename", "Zoom", "-p", str(made), "--dry-run").exit_code == 0
    assert_error(rknn_op("rename", "Zoom", "-p", str(made)), "--allow-dirty")
    assert snapshot(made) == before
    assert rknn_op("rename", "Zoom", "-p", str(made), "--allow-dirty").exit_code == 0
