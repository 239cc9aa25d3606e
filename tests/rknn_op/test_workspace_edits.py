"""New operators by name, first commits and merged updates in workspaces."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from opkit import manifest
from rknn_op.creation.wheel import wheel
from tests.check.target_repositories import need
from tests.rknn_op.command import assert_error, commit, git, rknn_op, snapshot, succeeded
from tests.rknn_op.older import change_wheel

OLD = "rknn_opkit-0.1.9+0123456789ab-py3-none-any.whl"

DESCRIPTION = """\
name: {name}
runtimes: [rknn2]
inputs: {{x: {{type: VX_TYPE_TENSOR}}}}
outputs: {{y: {{type: VX_TYPE_TENSOR}}}}
"""


@pytest.fixture
def ws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a new workspace with a first commit and one operator, made by its name."""
    need("git", "git")
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Ann")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "ann@acme")
    folder = tmp_path / "team"
    succeeded("create", "One", "--yes", "--workspace", folder, "--git")
    return folder


def test_new_operator_by_name(ws: Path) -> None:
    """The workspace has one repository of git; a later operator does not get its own."""
    assert git(ws, "log", "--format=%s").startswith("Create team with rknn-op ")
    assert git(ws, "status", "--porcelain") == ""
    assert not (ws / "One" / wheel()[0].name).exists()
    assert_error(
        rknn_op("create", "Two", "--yes", "--workspace", ws, "--git"),
        "is in the git repository",
    )
    assert not (ws / "Two").exists()
    succeeded("create", "Two", "--yes", "--workspace", ws)
    assert (ws / "Two/op.yml").is_file()
    assert_error(rknn_op("create", "Two", "--yes", "--workspace", ws), f"{ws}/Two already exists")


@pytest.mark.slow
def test_rename_and_doctor(ws: Path) -> None:
    """The lines of a member's README.md are those of the template, with its paths."""
    assert rknn_op("doctor", "-p", ws).stdout.count("workspace") == 1
    done = succeeded("rename", "Other", "-p", ws / "One")
    assert "The old name is still" not in done.stdout
    assert "Other.rknnop" in (ws / "One/README.md").read_text()
    assert rknn_op("lint", ws).stderr == "no problems\n"
    (ws / "One/other_compute.h").unlink()
    broken = rknn_op("doctor", "-p", ws)
    assert broken.exit_code == 1
    assert "1 problem" in broken.stdout


def test_merged_update(ws: Path) -> None:
    """The texts of a member are compared, with its paths of shared files."""
    text = (ws / "One/SConstruct").read_text()
    assert "-r ../requirements.txt" in text
    _age(ws, "opkit/copied/SConstruct")
    (ws / "One/SConstruct").write_text(f"# Older.\n{text}# Mine.\n")
    commit(ws)
    dry = rknn_op("update", "--diff", ws)
    assert "SConstruct is yours and stays" in dry.stdout
    assert "requirements.txt" not in dry.stdout.partition("SConstruct is yours")[2]
    assert git(ws, "status", "--porcelain") == ""
    succeeded("update", "--merge", ws)
    assert (ws / "One/SConstruct").read_text() == f"{text}# Mine.\n"
    assert not (ws / "One/.gitignore").exists()
    assert rknn_op("update", ws).stdout.count("up to date") == 2


@pytest.mark.parametrize(
    ("options", "existing"),
    [
        ("One --yes", ""),
        ("--library Selu", ""),
        ("-c a.yml -c b.yml", ""),
        ("-c a.yml", "README.md"),
        ("-c a.yml -c b.yml", "rknn-op.toml"),
    ],
)
def test_dry_run_lists_what_is_written(
    options: str, existing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The workspace is new, a folder of the user, or exists."""
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        Path(f"{name}.yml").write_text(DESCRIPTION.format(name=name.upper()))
    if existing == "rknn-op.toml":
        succeeded("workspace", "init", "team")
    elif existing:
        Path("team").mkdir()
        Path("team", existing).write_text("mine\n")
    before = snapshot(tmp_path)
    command = ["create", *options.split(), "--workspace", "team"]
    plan = json.loads(rknn_op(*command, "--dry-run", "--json").stdout)
    text = rknn_op(*command, "--dry-run").stdout
    assert snapshot(tmp_path) == before
    succeeded(*command)
    paths = [
        str(Path(entry["folder"], path))
        for entry in plan
        for files in entry["files"].values()
        for path in files
    ]
    assert sorted(paths) == sorted({*snapshot(tmp_path)} - {*before})
    if "b.yml" not in options:
        shown = {word for word in text.split() if not word.endswith(":")}
        listed = {path for entry in plan for files in entry["files"].values() for path in files}
        assert listed <= shown
        assert len(shown - listed) <= 6  # the words of the titles


def test_dry_run_refuses_as_the_run(tmp_path: Path) -> None:
    (tmp_path / "requirements.lock").write_text("mine\n")
    for more in ([], ["--dry-run"]):
        done = rknn_op("create", "One", "--yes", "--workspace", tmp_path, *more)
        assert_error(done, "requirements.lock already exists")
    assert {*snapshot(tmp_path)} == {"requirements.lock"}


# ---- The user's files at the root ----------------------------------------------------------------

ROOT_FILES = {
    ".github/workflows/ci.yml": "opkit/workspace_files/ci.yml",
    ".gitignore": "opkit/workspace_files/gitignore",
    ".pre-commit-config.yaml": "opkit/workspace_files/pre-commit-config.yaml",
    "README.md": "opkit/workspace_files/README.md",
}
"""Path -> entry of the wheel."""


def _append(path: Path, text: str) -> str:
    path.write_text(path.read_text() + text)
    return path.read_text()


def test_root_is_merged_three_ways(ws: Path) -> None:
    """An own edit is no news of the template; a deleted file stays deleted."""
    ci, readme = ws / ".github/workflows/ci.yml", ws / "README.md"
    new_ci = ci.read_text()
    _age(ws, *(ROOT_FILES[path] for path in ROOT_FILES if path != ".pre-commit-config.yaml"))
    ci.write_text(f"# Older.\n{new_ci}# Mine.\n")
    readme.write_text("# Mine, in the same line.\n")
    (ws / ".gitignore").unlink()
    own = _append(ws / ".pre-commit-config.yaml", "# Mine.\n")
    before = _commit(ws)
    dry = rknn_op("update", "--diff", "--merge", ws)
    assert snapshot(ws) == before
    plan = rknn_op("update", "--dry-run", "--json", ws)
    entry = json.loads(plan.stdout)[0]
    assert (entry["yours"], entry["conflicts"]) == (
        [".github/workflows/ci.yml", "README.md"],
        ["README.md"],
    )
    assert entry["unknown"] == []
    done = succeeded("update", "--merge", ws)
    assert "  .github/workflows/ci.yml: changed\n" in done.stdout
    assert "README.md is yours and stays. In the template it has changed:" in done.stdout
    assert "may be in the same lines:\n  README.md\n" in done.stdout
    assert ".pre-commit-config.yaml" not in done.stdout + dry.stdout
    assert "-# Older.\n" in dry.stdout
    assert ci.read_text() == f"{new_ci}# Mine.\n"
    assert readme.read_text() == "# Mine, in the same line.\n"
    assert (ws / ".pre-commit-config.yaml").read_text() == own
    assert not (ws / ".gitignore").exists()
    assert rknn_op("update", ws).stdout.count("up to date") == 2


def test_interrupted_merge_is_completed(ws: Path) -> None:
    """The old wheel is removed last: until then, the next run merges the same again."""
    ci = ws / ".github/workflows/ci.yml"
    new = ci.read_text()
    _age(ws, ROOT_FILES[".github/workflows/ci.yml"])
    ci.write_text(f"# Older.\n{new}# Mine.\n")
    _commit(ws)
    old = (ws / OLD).read_bytes()
    succeeded("update", "--merge", ws)
    (ws / OLD).write_bytes(old)
    succeeded("update", "--merge", ws)
    assert ci.read_text() == f"{new}# Mine.\n"
    assert not (ws / OLD).exists()


def test_new_file_at_the_root_is_written(ws: Path) -> None:
    _age(ws, missing=[ROOT_FILES[".gitignore"]])
    (ws / ".gitignore").unlink()
    _commit(ws)
    assert "  .gitignore: new\n" in rknn_op("update", ws).stdout
    assert (ws / ".gitignore").read_text().startswith("build/\n")


def test_workspace_without_old_texts(ws: Path) -> None:
    """The user's files stay; those with other texts are listed."""
    _age(ws, missing=[*ROOT_FILES.values(), "opkit/workspace_files/rknn-op.toml"])
    mine = _append(ws / "README.md", "Mine.\n")
    (ws / ".gitignore").unlink()
    _commit(ws)
    done = succeeded("update", "--merge", ws)
    assert (
        "\nNot compared, because the old wheel does not have the template's texts of these\n"
        "files; they stay, and differ from those of `rknn-op workspace init`:\n"
        f"  README.md\n{ws}/One: from"
    ) in done.stdout
    assert (ws / "README.md").read_text() == mine
    assert not (ws / ".gitignore").exists()


def _commit(ws: Path) -> dict[str, bytes]:
    """Commit all, and return the files."""
    commit(ws)
    return snapshot(ws)


def _age(ws: Path, *names: str, missing: Sequence[str] = ()) -> None:
    """Turn the wheel into an older one.

    Args:
        ws: the workspace.
        *names: entries with another text.
        missing: entries that the older wheel does not have.
    """

    def older(name: str, data: bytes) -> bytes | None:
        more = b"# Older.\n" if name in names else b""
        return None if name in missing else more + data

    with zipfile.ZipFile(ws / wheel()[0].name) as archive:
        assert {*names, *missing} <= {*archive.namelist()}
    change_wheel(ws, older, "0.1.9+0123456789ab", "One")
    file = ws / "One" / manifest.PATH
    file.write_text(json.dumps(json.loads(file.read_text()) | {"version": "0.1.9"}))
