"""`scons` writes and deletes only its own files in a repository, each as a whole."""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from opkit import manifest, repository
from opkit.common.errors import OpkitError
from tests.repositories import ROOT
from tests.template.conftest import DESCRIPTION

WITH_PARAM = f"{DESCRIPTION}params: {{p: {{type: VX_TYPE_INT32, default: 1}}}}\n"


def texts(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def test_folder_that_is_a_link_is_left_alone(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (root / "generated").rename(outside)
    (root / "generated").symlink_to(outside)
    (root / "op.yml").write_text(WITH_PARAM)
    before = texts(outside)
    with pytest.raises(OpkitError, match=f"generated: is a link to {outside}; "):
        repository.update(root)
    assert texts(outside) == before


@pytest.mark.parametrize("name", ["rknn_op_kept.py", "generated/kept.h"])
def test_file_that_is_a_link_is_left_alone(name: str, root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("precious")
    (root / name).unlink()
    (root / name).symlink_to(outside)
    before = texts(root)
    with pytest.raises(OpkitError, match=f"{name}: is a link to {outside}; "):
        repository.update(root)
    assert outside.read_text() == "precious"
    assert texts(root) == before


def test_manifest_names_no_file_elsewhere(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.h"
    outside.write_text("precious")
    path = root / manifest.PATH
    content = json.loads(path.read_text())
    (root / "door").symlink_to(tmp_path)
    content["generated"].append("door/outside.h")
    path.write_text(json.dumps(content))
    with pytest.raises(OpkitError, match=f"door: is a link to {tmp_path}; "):
        repository.update(root)
    assert outside.read_text() == "precious"


def lay(root: Path, files: Mapping[str, bytes]) -> None:
    """Make a folder with these files."""
    shutil.rmtree(root)
    for name, data in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)


@pytest.mark.slow
def test_interrupted_writing_leaves_whole_files(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At every moment each file has its old or its new text; the next run completes all."""
    old = {**texts(root), "op.yml": WITH_PARAM.encode()}
    lay(root, old)
    repository.update(root)
    new = texts(root)
    replace = Path.replace
    for moment in itertools.count():
        calls = itertools.count()

        def interrupted(
            path: Path, target: Path, moment: int = moment, calls: Iterator[int] = calls
        ) -> Path:
            if next(calls) == moment:
                raise KeyboardInterrupt
            return replace(path, target)

        lay(root, old)
        with monkeypatch.context() as patch:
            patch.setattr(Path, "replace", interrupted)
            try:
                repository.update(root)
                break
            except KeyboardInterrupt:
                pass
        for name, data in texts(root).items():
            assert name.endswith(".new") or data in (old.get(name), new.get(name)), name
        repository.update(root)
        assert texts(root) == new
    assert moment > 2


FULL_DISK = """
import resource, sys
from pathlib import Path
from opkit import repository
from opkit.common.errors import OpkitError
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
try:
    repository.update(Path(sys.argv[1]))
except OpkitError as error:
    print(error)
"""


def test_full_disk_is_a_message(root: Path) -> None:
    (root / "op.yml").write_text(WITH_PARAM)
    before = texts(root)
    run = subprocess.run(
        [sys.executable, "-B", "-c", FULL_DISK, root],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "cannot be written: File too large\n" in run.stdout
    for name, data in texts(root).items():
        assert data == before.get(name) or len(data) <= 2000, name
    repository.update(root)
