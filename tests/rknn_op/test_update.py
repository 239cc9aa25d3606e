"""`rknn-op update`: an older repository gets this version, and the user's files stay."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from opkit import manifest, repository
from opkit.common.errors import OpkitError
from opkit.version import VERSION
from tests.marks import quick_first
from tests.repositories import EXAMPLES, ROOT
from tests.rknn_op.command import commit, git, rknn_op, snapshot, succeeded
from tests.rknn_op.older import COPIED, OLD, add_work, age, age_copied_file, age_wheel


@pytest.fixture(scope="module")
def now(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository of this version; do not change it."""
    path = tmp_path_factory.mktemp("now") / "exp"
    succeeded("create", "-c", EXAMPLES / "exp/exp.yml", "-p", path)
    return path


@pytest.fixture
def old(now: Path, tmp_path: Path) -> Path:
    """Return a repository of an older version with a user's work."""
    path = shutil.copytree(now, tmp_path / "exp")
    age(path)
    add_work(path)
    return path


@pytest.fixture
def path(now: Path, tmp_path: Path) -> Path:
    """Return a repository of this version."""
    return shutil.copytree(now, tmp_path / "exp")


def as_updated(old: Path, now: Path) -> dict[str, bytes]:
    """Return the expected update: generated files of this version, the rest unchanged."""
    written = manifest.from_text((now / manifest.PATH).read_text())
    replaced = {*written.generated, ".cruft.json", "requirements.txt", "requirements.lock"}
    folders = ("rknn_opkit-", "generated/")
    kept = {
        path: content for path, content in snapshot(old).items() if not path.startswith(folders)
    }
    new = {
        path: content
        for path, content in snapshot(now).items()
        if path.startswith(folders) or path in replaced
    }
    once = json.loads((old / manifest.PATH).read_text())["written once"]
    texts = kept | new
    content = json.loads(texts[manifest.PATH]) | {"written once": once}
    texts[manifest.PATH] = (json.dumps(content, indent=2) + "\n").encode()
    return texts


def test_update(old: Path, now: Path) -> None:
    expected = as_updated(old, now)
    done = succeeded("update", old)
    assert snapshot(old) == expected
    assert done.stdout.startswith(f"{old}: from {OLD} to {VERSION}\n")
    assert re.search(rf"^  rknn_opkit-{VERSION}\S+: new$", done.stdout, re.MULTILINE)
    assert re.search(rf"^  rknn_opkit-{OLD}\S+: deleted$", done.stdout, re.MULTILINE)
    assert "  generated/exp.h: changed\n" in done.stdout
    assert "  generated/gone.h: deleted\n" in done.stdout
    again = rknn_op("update", old)
    assert again.stdout == f"{old}: up to date with {VERSION}\n"


@pytest.mark.slow
def test_lock_follows_the_line_of_onnx(old: Path) -> None:
    """The line is of `rknn-op create --from`, or the user's own."""
    requirements, lock = old / "requirements.txt", old / "requirements.lock"
    plain = rknn_op("update", old), lock.read_text()
    requirements.write_text(requirements.read_text() + "onnx>=1.16  # evaluates\n")
    assert rknn_op("update", old).exit_code == plain[0].exit_code == 0
    assert requirements.read_text().endswith("\nonnx>=1.16  # evaluates\n")
    assert lock.read_text().count("\nonnx==") == 1
    assert lock.read_text().startswith(plain[1][: plain[1].index("exceptiongroup==")])
    assert rknn_op("update", old).stdout == f"{old}: up to date with {VERSION}\n"
    requirements.write_text(requirements.read_text().replace("onnx", "# onnx"))
    rknn_op("update", old)
    assert lock.read_text() == plain[1]


def test_changes_of_skeletons_are_shown(old: Path) -> None:
    """The diff contains the template's changes, without the user's."""
    shown = rknn_op("update", "--dry-run", old).stdout
    assert "README.md is yours and stays. In the template it has changed:" in shown
    assert "-## What to do" in shown
    assert "+## Files" in shown
    assert "mine" not in shown
    assert "exp_compute.h is yours" not in shown


@pytest.mark.parametrize("arguments", [["--dry-run"], []])
def test_deleted_wheel_comes_back(now: Path, path: Path, arguments: list[str]) -> None:
    (wheel,) = path.glob("rknn_opkit-*.whl")
    wheel.unlink()
    done = succeeded("update", *arguments, path)
    assert f"  {wheel.name}: new\n" in done.stdout
    assert (snapshot(path) == snapshot(now)) == (not arguments)


@pytest.mark.slow
def test_dry_run_and_diff(old: Path) -> None:
    before = snapshot(old)
    shown = rknn_op("update", "--dry-run", "--diff", old)
    assert snapshot(old) == before
    assert re.search(rf"^-rknn-opkit=={re.escape(OLD)}\+", shown.stdout, re.MULTILINE)
    assert re.search(rf"^\+rknn-opkit=={re.escape(VERSION)}\+", shown.stdout, re.MULTILINE)
    assert "-/* Older. */" in shown.stdout
    assert rknn_op("update", "--diff", old).stdout == shown.stdout
    assert snapshot(old) == before
    (entry,) = json.loads(rknn_op("update", "--dry-run", "--json", old).stdout)
    assert (entry["from"], entry["to"]) == (OLD, VERSION)
    assert entry["changed"]["generated/gone.h"] == "deleted"
    assert entry["yours"] == ["README.md"]
    assert snapshot(old) == before
    assert rknn_op("update", "--json", old).exit_code == 2


@pytest.mark.slow
def test_own_edits_are_not_news(old: Path) -> None:
    """The wheel has the template's old texts of copied files."""
    (old / "pytest.ini").write_text("# mine\n")
    (old / ".gitignore").unlink()
    age_copied_file(old, "SConstruct", lambda text: f"# Older.\n{text}")
    sconstruct = old / "SConstruct"
    sconstruct.write_text(f"# Older.\n{sconstruct.read_text()}# Mine.\n")
    shown = succeeded("update", old)
    assert "pytest.ini" not in shown.stdout
    assert "SConstruct is yours and stays. In the template it has changed:" in shown.stdout
    assert "\n-# Older.\n" in shown.stdout
    assert "revert this update with git, and\nrun `rknn-op update --merge`.\n" in shown.stdout
    assert sconstruct.read_text().startswith("# Older.\n")
    assert not (old / ".gitignore").exists()  # the user deleted it


def test_merge(old: Path) -> None:
    age_copied_file(old, "SConstruct", lambda text: f"# Older.\n{text}")
    age_copied_file(old, "pytest.ini", lambda text: f"# Older.\n{text}")
    text = (old / "SConstruct").read_text()
    (old / "SConstruct").write_text(f"# Older.\n{text}# Mine.\n")
    (old / "pytest.ini").write_text("# Mine, in the same line.\n")
    done = succeeded("update", "--merge", old)
    assert (old / "SConstruct").read_text() == f"{text}# Mine.\n"
    assert (old / "README.md").read_text().endswith("mine\n")
    assert "## Files\n" in (old / "README.md").read_text()
    assert (old / "pytest.ini").read_text() == "# Mine, in the same line.\n"
    assert done.stdout.endswith("may be in the same lines:\n  pytest.ini\n")


@pytest.mark.slow
def test_merge_replaces_files_without_edits(now: Path, path: Path) -> None:
    """The old wheel, of another build of this version, has their texts."""
    for name in (".gitignore", "pytest.ini", ".github/workflows/ci.yml"):
        age_copied_file(path, name, lambda text: f"# Older.\n{text.splitlines()[0]}\n")
        (path / name).write_text(f"# Older.\n{(now / name).read_text().splitlines()[0]}\n")
    age_wheel(path, VERSION)
    done = rknn_op("update", "--merge", path)
    assert done.stdout.startswith(f"{path}: updated to {VERSION}\n")
    assert "  .github/workflows/ci.yml: changed\n" in done.stdout
    assert "yours" not in done.stdout
    assert "by hand" not in done.stdout
    assert snapshot(path) == snapshot(now)


def test_merge_replaces_skeletons_without_edits(now: Path, path: Path) -> None:
    """Their digests are in the manifest; the code that made them is no more."""
    content = json.loads((path / manifest.PATH).read_text())
    for name in ("exp_reference.py", "tests/test_exp.py"):
        older = f"# Older.\n{(path / name).read_text().splitlines()[0]}\n"
        (path / name).write_text(older)
        content["written once"][name] = manifest.digest(older.encode())
    (path / manifest.PATH).write_text(json.dumps(content))
    with (path / "tests/test_exp.py").open("a") as file:
        file.write("# mine\n")
    age_wheel(path, VERSION)
    done = succeeded("update", "--merge", path)
    assert "  exp_reference.py: changed\n" in done.stdout
    changed = {name for name, data in snapshot(path).items() if snapshot(now).get(name) != data}
    assert changed == {"tests/test_exp.py", manifest.PATH}
    assert (path / "tests/test_exp.py").read_text().endswith("# mine\n")
    once = [json.loads((each / manifest.PATH).read_text())["written once"] for each in (path, now)]
    assert {name for name in once[1] if once[0][name] != once[1][name]} == {"tests/test_exp.py"}


def test_new_file_of_the_template_is_written(old: Path, now: Path) -> None:
    age_copied_file(old, "pytest.ini", None)
    (old / "pytest.ini").unlink()
    assert "  pytest.ini: new\n" in rknn_op("update", old).stdout
    assert (old / "pytest.ini").read_text() == (now / "pytest.ini").read_text()


@pytest.mark.slow
def test_version_without_copied_files(old: Path) -> None:
    """An update cannot tell the user's edits from the template's changes."""
    for path in COPIED:
        age_copied_file(old, path, None)
    (old / "pytest.ini").write_text("# mine\n")
    shown = rknn_op("update", "--merge", old).stdout
    assert "pytest.ini is yours and stays" in shown
    assert (old / "pytest.ini").read_text() == "# mine\n"


@pytest.mark.slow
def test_dry_run_knows_sources_in_folders_called_build(old: Path) -> None:
    (old / "src/build").mkdir(parents=True)
    (old / "src/build/more.c").write_text("int more;\n")
    (old / "op.yml").write_text((old / "op.yml").read_text() + "\nsources: [src/build/more.c]\n")
    succeeded("update", "--dry-run", old)


def test_uncommitted_changes_are_refused(old: Path) -> None:
    commit(old)
    (old / "exp_compute.h").write_text("changed")
    before = snapshot(old)
    refused = rknn_op("update", old)
    assert refused.exit_code == 1
    assert "has changes that are not committed (exp_compute.h); commit them" in refused.stderr
    assert snapshot(old) == before
    succeeded("update", "--dry-run", old)
    succeeded("update", "--allow-dirty", old)
    assert (old / "exp_compute.h").read_text() == "changed"


@pytest.mark.slow
@pytest.mark.parametrize(("count", "names"), [(3, "a0, a1, a2"), (4, "a0, a1, a2, ...")])
def test_first_uncommitted_changes_are_named(old: Path, count: int, names: str) -> None:
    commit(old)
    for index in range(count):
        (old / f"a{index}").write_text("")
    refused = rknn_op("update", old)
    assert refused.exit_code == 1
    assert f"has changes that are not committed ({names}); commit them" in refused.stderr


@pytest.mark.slow
def test_changes_outside_of_the_repository_are_allowed(old: Path) -> None:
    """A repository may be a folder of a larger one."""
    commit(old.parent)
    (old.parent / "other").write_text("")
    succeeded("update", old)


@pytest.mark.slow
def test_dry_run_copies_no_builds_and_environments(old: Path) -> None:
    for name in ("build", ".venv", ".git", ".cache"):
        (old / name).mkdir()
        os.mkfifo(old / name / "pipe")  # which cannot be copied
    succeeded("update", "--dry-run", old)


@pytest.mark.slow
def test_skeletons_are_shown_only_if_an_older_version_wrote_them(now: Path, path: Path) -> None:
    (path / "pytest.ini").write_text("# mine\n")
    assert rknn_op("update", "--dry-run", path).stdout == f"{path}: up to date with {VERSION}\n"


@pytest.mark.parametrize(
    "text", quick_first(1, ["{}", "[]", "no JSON", '{"context": {"cookiecutter": []}}'])
)
def test_other_record_of_cruft_stays(old: Path, text: str) -> None:
    (old / ".cruft.json").write_text(text)
    succeeded("update", old)
    assert (old / ".cruft.json").read_text() == text


def test_many(old: Path, now: Path, tmp_path: Path) -> None:
    done = rknn_op("update", old, tmp_path / "none", now)
    assert done.exit_code == 1
    assert f"{now}: up to date" in done.stdout
    assert f"{old}: from {OLD}" in done.stdout
    problem, last = done.stderr.splitlines()
    assert "none is not an operator repository" in problem
    assert last == "error: 1 of 3 repositories were not updated"


@pytest.mark.slow
def test_cruft_takes_over(old: Path, now: Path) -> None:
    """The file for cruft names this version, and the current description."""
    (old / "op.yml").write_text((old / "op.yml").read_text() + "# mine\n")
    state = json.loads((old / ".cruft.json").read_text())
    state |= {"template": "elsewhere", "commit": "older", "kept": 1}
    state["context"]["cookiecutter"] |= {"_template": "elsewhere", "runtimes": "older", "kept": 2}
    (old / ".cruft.json").write_text(json.dumps(state))
    succeeded("update", old)
    state = json.loads((old / ".cruft.json").read_text())
    answers = state["context"]["cookiecutter"]
    assert answers.pop("config").endswith("# mine")
    assert (state.pop("kept"), answers.pop("kept")) == (1, 2)
    expected = json.loads((now / ".cruft.json").read_text())
    expected["context"]["cookiecutter"].pop("config")
    assert state == expected


@pytest.mark.slow
def test_interrupted_update_is_completed_though_git_sees_it(
    old: Path, now: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OpkitError("no room left")

    expected = as_updated(old, now)
    commit(old)
    with monkeypatch.context() as patch:
        patch.setattr(repository, "write", fail)
        assert rknn_op("update", old).exit_code == 1
    assert git(old, "status", "--porcelain")
    succeeded("update", old)
    assert snapshot(old) == expected


@pytest.mark.slow
def test_killed_update_is_completed(old: Path, now: Path, tmp_path: Path) -> None:
    """An update killed at any moment keeps the user's files, and the next run completes it."""
    expected = as_updated(old, now)
    mine = {path: expected[path] for path in ("exp_compute.h", "README.md", "notes.txt", "op.yml")}
    command = [sys.executable, "-m", "rknn_op", "update"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    kept = tmp_path / "kept"
    shutil.copytree(old, kept)
    started = time.monotonic()
    subprocess.run([*command, kept], env=environment, check=True, capture_output=True)
    seconds = time.monotonic() - started
    moments = random.Random(13)
    for number in range(5):
        folder = tmp_path / f"killed{number}"
        shutil.copytree(old, folder)
        run = subprocess.Popen([*command, folder], env=environment, stdout=subprocess.DEVNULL)
        time.sleep(moments.uniform(0.3, 1) * seconds)
        run.kill()
        run.wait()
        assert {path: (folder / path).read_bytes() for path in mine} == mine
        succeeded("update", folder)
        assert snapshot(folder) == expected, number
