"""`rknn-op workspace`, and `rknn-op create` inside of one."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest
import yaml

from opkit import manifest, repository
from opkit.ci import workspace
from opkit.common.errors import OpkitError
from rknn_op.creation.choices import DEFAULT_EXTRAS, left_out
from rknn_op.creation.wheel import extra_in, extra_lines, wheel
from rknn_op.upkeep.chosen_operators import changed_operators, operators
from tests.report.browser import look
from tests.repositories import Repository
from tests.rknn_op.command import assert_error, commit, git, rknn_op, snapshot, succeeded

TEXT = """\
name: {name}
runtimes: [{runtime}]
inputs: {{x: {{type: VX_TYPE_TENSOR}}}}
outputs: {{y: {{type: VX_TYPE_TENSOR}}}}
"""
SHARED = {
    *(".devcontainer/devcontainer.json", ".gitattributes", ".github/dependabot.yml"),
    *(".github/workflows/ci.yml", ".gitignore", ".pre-commit-config.yaml"),
    *("docs/cases.md", "requirements.lock", "requirements.txt", wheel()[0].name),
}
"""The files that both a repository and the root of a workspace have."""


def description(folder: Path, name: str, runtime: str) -> str:
    path = folder / f"{name}.yml"
    path.write_text(TEXT.format(name=name, runtime=runtime))
    return str(path)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace with operators of two runtimes; do not change it."""
    folder = tmp_path_factory.mktemp("team")
    one, two = description(folder, "One", "rknn2"), description(folder, "Two", "pplnn")
    done = succeeded("create", "--workspace", folder / "ws", "-c", one, "-c", two)
    assert done.stdout == f"{folder}/ws/One\n{folder}/ws/Two\n"
    return folder / "ws"


@pytest.fixture
def ws(made: Path, tmp_path: Path) -> Path:
    """Return a copy of the workspace."""
    return shutil.copytree(made, tmp_path / "ws", symlinks=True)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the repository of the first operator, which stands alone; do not change it."""
    folder = tmp_path_factory.mktemp("alone")
    succeeded("create", "-c", description(folder, "One", "rknn2"), "-p", folder / "One")
    return folder / "One"


def test_shared_files_are_at_the_root_alone(made: Path, alone: Path) -> None:
    files = {*snapshot(made)}
    assert files >= SHARED
    at_the_root = {path for path in files if not path.startswith(("One/", "Two/"))}
    assert at_the_root - SHARED == {
        *("README.md", "docs/gpu.md", "docs/vx.md", "rknn-op.toml"),
        *(".github/actions/operators/action.yml", manifest.PATH),
    }
    member, whole = snapshot(made / "One"), snapshot(alone)
    missing = {*whole} - {*member} - {".cruft.json"}
    assert missing == {*SHARED, ".github/actions/operator/action.yml"} - {*left_out(DEFAULT_EXTRAS)}
    different = {path for path in member if member[path] != whole[path]}
    assert different == {"README.md", "SConstruct", manifest.PATH}
    assert "pip install -r ../requirements.txt" in (made / "One/SConstruct").read_text()


def test_readme_names_the_files_of_the_workspace(made: Path) -> None:
    text = (made / "One/README.md").read_text()
    assert "(cd .. && python3 -m venv .venv && " in text
    assert "    ../.venv/bin/scons check " in text
    assert "](../docs/cases.md)" in text
    assert "* `../README.md`: the workspace, with packages" in text
    assert "requirements.txt" not in text


@pytest.mark.slow
def test_scons_in_a_member(ws: Path) -> None:
    """A build writes no shared file into the member, and lint has no complaint."""
    before = snapshot(ws)
    member = Repository(ws / "One")
    member.scons("-Q", "quick=1", "check")
    assert {path for path in snapshot(ws) if "/build/" not in path} - {
        path for path in snapshot(ws) if "__pycache__" in path or ".pytest_cache" in path
    } == {*before}
    succeeded("lint", ws / "One", ws / "Two")


def test_changed_lock_of_the_root(ws: Path) -> None:
    """Its hash is in the root's manifest; a member has none of its own."""
    assert repository.read_manifest(ws / "One").lock == ""
    with (ws / "requirements.lock").open("a") as file:
        file.write("other==1\n")
    problem = "requirements.lock: is not the file that {}generated/manifest.json names by its hash"
    assert f"{ws}/{problem.format('')}" in rknn_op("lint", ws).stdout
    refused = Repository(ws / "One").scons("check", check=False)
    assert f"error: ../{problem.format('../')}" in refused.stderr
    ci = Repository(ws).run("opkit.ci.workspace", "generated", check=False)
    assert (ci.returncode, ci.stderr.startswith(f"error: {problem.format('')}")) == (1, True)
    Repository(ws / "One").run("opkit.ci.lock")
    succeeded("lint", ws)
    succeeded("update", "--allow-dirty", ws)
    assert "other" not in (ws / "requirements.lock").read_text()
    succeeded("lint", ws)
    repository.refuse_changed_lock(ws)


def test_member_needs_the_wheel_of_the_root(ws: Path) -> None:
    (ws / wheel()[0].name).unlink()
    done = rknn_op("lint", ws / "One")
    assert done.exit_code == 1
    assert "cannot be read" in done.stdout
    assert_error(
        rknn_op("create", "-c", description(ws.parent, "Three", "rknn2"), "-p", ws / "Three"),
        f"run `rknn-op update {ws}`",
    )
    assert not (ws / "Three").exists()


def test_create_in_deeper_folders(ws: Path) -> None:
    folder = ws / "vision/Deep"
    done = succeeded("create", "-c", description(ws.parent, "Deep", "rknn2"), "-p", folder)
    assert f"cd {ws}\n" in done.stdout
    assert "cd vision/Deep && ../../.venv/bin/scons check\n" in done.stdout
    assert "](../../docs/cases.md)" in (folder / "README.md").read_text()
    assert not (folder / "requirements.txt").exists()


@pytest.mark.parametrize(
    ("place", "phrase"),
    [("One/Inner", "is in an operator of the workspace"), ("build/Op", "no operator in build")],
)
def test_places_without_members(ws: Path, place: str, phrase: str) -> None:
    before = snapshot(ws)
    text = description(ws.parent, "Inner", "rknn2")
    assert_error(rknn_op("create", "-c", text, "-p", ws / place), phrase)
    assert snapshot(ws) == before


def test_invalid_description_makes_no_workspace(tmp_path: Path) -> None:
    (tmp_path / "bad.yml").write_text("name: Bad\n")
    good = description(tmp_path, "Good", "rknn2")
    ws = tmp_path / "ws"
    done = rknn_op("create", "--workspace", ws, "-c", good, "-c", tmp_path / "bad.yml")
    assert_error(done, "bad.yml")
    assert not ws.exists()


def test_init_keeps_files_of_the_user(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("mine\n")
    (tmp_path / "requirements.txt").write_text("scipy\n")
    done = succeeded("workspace", "init", tmp_path)
    assert done.stderr == f"{tmp_path}/README.md exists and stays\n"
    assert (tmp_path / "README.md").read_text() == "mine\n"
    text = (tmp_path / "requirements.txt").read_text()
    assert text.endswith(f"rknn-opkit=={wheel()[0].version}\nscipy\n")
    assert_error(rknn_op("workspace", "init", tmp_path), "is a workspace")
    assert_error(rknn_op("workspace", "init", tmp_path / "docs"), "is in the workspace")


def test_init_overwrites_nothing(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/cases.md").write_text("mine\n")
    before = snapshot(tmp_path)
    assert_error(rknn_op("workspace", "init", tmp_path), "docs/cases.md already exists")
    assert snapshot(tmp_path) == before


def test_failed_init_leaves_nothing(tmp_path: Path) -> None:
    """A file is where a folder of the workspace has to be."""
    (tmp_path / ".github").write_text("mine\n")
    before = snapshot(tmp_path)
    assert_error(rknn_op("workspace", "init", tmp_path), ".github")
    assert snapshot(tmp_path) == before
    assert {path.name for path in tmp_path.iterdir()} == {".github"}


def test_init_refuses_repository_and_link(alone: Path, tmp_path: Path) -> None:
    assert_error(rknn_op("workspace", "init", alone), "is an operator repository")
    (tmp_path / "requirements.txt").symlink_to(tmp_path / "other")
    assert_error(rknn_op("workspace", "init", tmp_path), "requirements.txt: is a link")


# ---- All operators -------------------------------------------------------------------------------


def test_lint_takes_all_operators(ws: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ws)
    assert rknn_op("lint").output == "no problems\n"
    (ws / "One/rknn2/one_plugin.c").unlink()
    (ws / "docs/vx.md").write_text("older\n")
    done = rknn_op("lint")
    assert done.exit_code == 1
    first, second = done.stdout.splitlines()
    assert first.startswith("docs/vx.md: is not the file of this version")
    assert second.startswith("One/rknn2/one_plugin.c: not found")
    succeeded("lint", "Two")
    monkeypatch.chdir(ws.parent)
    assert rknn_op("lint", "ws").stdout.count("\n") == 2


def test_members_are_limited(ws: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ws)
    toml = ws / "rknn-op.toml"
    assert [str(each) for each in operators([])] == ["One", "Two"]
    toml.write_text('members = ["T*"]\n')
    assert [str(each) for each in operators([])] == ["Two"]
    for text, phrase in {
        'members = ["vision/*"]': "'vision/*' matches no folder with op.yml",
        "members = 1": "expected a list of folders",
        'member = ["One"]': "did you mean 'members'?",
        "members = [": "invalid TOML",
    }.items():
        toml.write_text(text)
        assert_error(rknn_op("lint"), f"{toml.name}: ", phrase)


def test_build_leaves_out_other_targets(ws: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ws)
    done = succeeded("build", "-t", "rk3588", "--", "-n")
    assert "One         scons target=rk3588 -n  done" in done.stderr
    assert "target=rk3588: left out 1 of 2 operators, which have no such target\n" in done.stderr
    assert_error(rknn_op("build", "-t", "rk1808"), "target=rk1808: none of 2 operators has")


@pytest.mark.slow
def test_report_of_the_team(ws: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page has a row for each kernel, and the reason of an operator without results."""
    monkeypatch.chdir(ws)
    (ws / "Two/op.yml").write_text("name: Two\n")
    three = description(ws.parent, "Three", "rknn2")
    succeeded("create", "-c", three, "-p", "deep/Folder")
    done = rknn_op("report", "--", "quick=1")
    assert done.exit_code == 1
    page = (ws / "build/report.html").read_text()
    assert "3 operators, 2 kernels, 12 results:" in page
    assert '<span class="bad">1 failed</span>, 2 passed' in page
    assert '<a href="../One/build/report.html">One</a>' in page
    assert '<a href="../deep/Folder/build/report.html">Three</a> (deep/Folder)' in page
    assert (ws / "One/build/report.html").is_file()
    (row,) = re.findall(r"<tr>.*Two.*", page)
    assert "op.yml" in row
    assert look(ws / "build/report.html", 1280).console == []


def test_two_operators_of_a_name(ws: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ws / "One", ws / "vision/Copy")
    monkeypatch.chdir(ws)
    problem = "op.yml:2: name: One is also the name of the operator in"
    for arguments in ([], ["One"], ["vision/Copy"]):
        done = rknn_op("lint", *arguments)
        assert done.exit_code == 1
        assert (f"One/{problem} vision/Copy" in done.stdout) == (arguments != ["vision/Copy"])
        assert (f"vision/Copy/{problem} One" in done.stdout) == (arguments != ["One"])
    refused = rknn_op("bundle", "-t", "rk3588", "-o", "out")
    assert_error(refused, problem, "or run `rknn-op rename NEW -p One`")
    succeeded("rename", "Three", "-p", "vision/Copy")
    succeeded("lint")


def test_two_repositories_of_a_name_in_one_command(alone: Path, tmp_path: Path) -> None:
    shutil.copytree(alone, tmp_path / "Copy")
    succeeded("lint", alone, f"{alone}/../One")
    succeeded("lint", tmp_path / "Copy")
    done = rknn_op("lint", alone, tmp_path / "Copy")
    assert done.exit_code == 1
    assert "2 problems" in done.stderr


def test_changed_operators(ws: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ws)
    commit(ws)

    def changed(ref: str = "HEAD") -> list[str]:
        return [str(each) for each in changed_operators(operators([]), ref)]

    assert rknn_op("check", "--changed").stdout == "no operator differs from HEAD\n"
    (ws / "README.md").write_text("mine\n")
    (ws / "One/build").mkdir()
    (ws / "One/build/ignored").write_text("")
    assert changed() == []
    (ws / "Two/tests/new.txt").write_text("")
    assert changed() == ["Two"]
    commit(ws)
    assert changed() == []
    assert changed("HEAD^") == ["Two"]
    (ws / "requirements.txt").write_text("scipy\n")
    assert changed() == ["One", "Two"]
    assert_error(rknn_op("check", "--changed", "nothing"), "git diff failed: ", "nothing")
    with pytest.raises(OpkitError, match="git diff failed: "):
        changed("--output=x")
    assert not (ws / "x").exists()


# ---- CI ------------------------------------------------------------------------------------------


def test_ci_checks_all_or_changed_operators(ws: Path) -> None:
    """A commit must have the generated files; operators without the target are left out."""
    commit(ws)
    opkit = Repository(ws)
    assert opkit.run("opkit.ci.workspace", "generated", path=os.environ["PATH"]).stderr == ""
    (ws / "docs/vx.md").unlink()
    git(ws, "add", ".")
    (ws / "One/op.yml").write_text(
        (ws / "One/op.yml").read_text() + "params: {p: {type: VX_TYPE_INT8}}\n"
    )
    refused = opkit.run("opkit.ci.workspace", "generated", check=False, path=os.environ["PATH"])
    assert refused.returncode == 1
    first, second = refused.stderr.splitlines()
    assert first.startswith("error: docs/vx.md: not in git")
    assert second.startswith("error: One: generated/one.h")
    commit(ws)
    done = opkit.run(
        *("opkit.ci.workspace", "check", "--changed=HEAD^", "--target=riscv64"),
        path=os.environ["PATH"],
    )
    assert "1 of 1 operators have no target riscv64" in done.stdout


def test_ci_prints_the_products(
    ws: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    products = ["One/build/rk3588/librkcst_one.so", "Two/build/riscv64/libpplnn_two.a"]
    for path in (*products, "One/build/rk3588/other.txt"):
        (ws / path).parent.mkdir(parents=True, exist_ok=True)
        (ws / path).touch()
    before = snapshot(ws)
    monkeypatch.chdir(ws)
    assert workspace.main(["products"]) == 0
    assert capsys.readouterr().out.splitlines() == products
    assert snapshot(ws) == before


def test_workflow_and_action_of_a_workspace(made: Path, alone: Path) -> None:
    workflow = yaml.safe_load((made / ".github/workflows/ci.yml").read_text())
    action = yaml.safe_load((made / ".github/actions/operators/action.yml").read_text())
    (job,) = workflow["jobs"].values()
    assert job["steps"][1]["with"].keys() == action["inputs"].keys()
    pins = [
        {*re.findall(r"uses: (actions/.*)", (root / path).read_text())}
        for root, path in (
            (made, ".github/actions/operators/action.yml"),
            (alone, ".github/actions/operator/action.yml"),
        )
    ]
    assert pins[0] == pins[1]
    commands = " ".join(step.get("run", "") for step in action["runs"]["steps"])
    assert "${{" not in commands
    assert commands.count("python -m opkit.ci.workspace") == 2


# ---- Update --------------------------------------------------------------------------------------


def test_update_of_a_workspace(ws: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything becomes that of this version; an operator alone is refused before."""
    expected = snapshot(ws)
    old = "rknn_opkit-0.1.9+0123456789ab-py3-none-any.whl"
    (ws / wheel()[0].name).rename(ws / old)
    (ws / "docs/vx.md").write_text("older\n")
    for member in ("One", "Two"):
        file = ws / member / manifest.PATH
        file.write_text(file.read_text().replace(wheel()[0].name, old).replace("0.2.0", "0.1.9"))
    pins = (ws / "requirements.txt").read_text()
    (ws / "requirements.txt").write_text(pins.replace(wheel()[0].version, "0.1.9+0123456789ab"))
    before = snapshot(ws)
    monkeypatch.chdir(ws)
    assert_error(rknn_op("update", "One"), f"run `rknn-op update {ws}`")
    dry = rknn_op("update", "--dry-run")
    assert (dry.exit_code, snapshot(ws)) == (0, before)
    done = rknn_op("update")
    assert done.stdout == dry.stdout
    assert done.stdout.startswith(".: from 0.1.9 to 0.2.0\n")
    for change in (f"{wheel()[0].name}: new", f"{old}: deleted", "docs/vx.md: changed"):
        assert f"\n  {change}\n" in done.stdout
    assert "\nTwo: from 0.1.9 to 0.2.0\n" in done.stdout
    assert snapshot(ws) == expected
    assert rknn_op("update").stdout.count("up to date") == 3


def test_update_of_a_broken_operator_changes_nothing(ws: Path) -> None:
    (ws / "Two/op.yml").write_text("name: Two\n")
    (ws / wheel()[0].name).unlink()
    before = snapshot(ws)
    assert_error(rknn_op("update", ws), "Two/op.yml")
    assert snapshot(ws) == before


# ---- Add and eject -------------------------------------------------------------------------------


def test_add_and_eject_are_exact(ws: Path, alone: Path) -> None:
    """A repository that joins and leaves has the same bytes, as has an operator that leaves."""
    member = ws / "Joined"
    shutil.copytree(alone, member)
    before = snapshot(member)
    (member / "README.md").write_text(before["README.md"].decode() + "mine\n")
    before = snapshot(member)
    assert "has a wheel of its own" in rknn_op("lint", ws).stdout
    added = succeeded("workspace", "add", member)
    assert f"  {wheel()[0].name}: deleted\n" in added.stdout
    assert {*snapshot(member)} == {*snapshot(ws / "One")}
    one = shutil.move(ws / "One", ws.parent / "One")
    assert rknn_op("lint", ws).output == "no problems\n"
    shutil.move(one, ws / "One")
    succeeded("workspace", "eject", member)
    assert snapshot(member) == {**before, ".cruft.json": snapshot(member)[".cruft.json"]}
    assert rknn_op("lint", member).output == "no problems\n"
    ejected = succeeded("workspace", "eject", ws / "One")
    assert f"{ws}/One stands alone; move it out of the workspace {ws}\n" in ejected.stdout
    assert f"  {wheel()[0].name}: written\n" in ejected.stdout
    assert snapshot(ws / "One") == snapshot(alone)


def test_add_keeps_work_of_the_user(ws: Path, alone: Path) -> None:
    shutil.rmtree(ws / "One")
    member = shutil.copytree(alone, ws / "Joined")
    (member / "requirements.txt").write_text((alone / "requirements.txt").read_text() + "scipy\n")
    (member / ".github/workflows/ci.yml").write_text("mine\n")
    (member / "docs/mine.md").write_text("mine\n")
    before = snapshot(member)
    (member / ".git").mkdir()
    done = rknn_op("workspace", "add", member)
    (member / ".git").rmdir()
    assert f"{member}/.github/workflows/ci.yml is not the template's, and stays" in done.stderr
    assert f"{member}/.git is a repository of git of its own" in done.stderr
    assert (member / ".github/workflows/ci.yml").read_text() == "mine\n"
    assert (member / "docs/mine.md").read_text() == "mine\n"
    assert (ws / "requirements.txt").read_text().endswith("\nscipy\n")
    succeeded("lint", ws)
    succeeded("workspace", "eject", member)
    after = snapshot(member)
    assert {path for path in before if before[path] != after.get(path)} <= {".cruft.json"}


def test_add_refuses(ws: Path, alone: Path, tmp_path: Path) -> None:
    outside = shutil.copytree(alone, tmp_path / "outside")
    assert_error(rknn_op("workspace", "add", outside), "is not in a workspace")
    assert_error(rknn_op("workspace", "add", ws / "One"), "is an operator of the workspace")
    assert_error(rknn_op("workspace", "eject", outside), "is not an operator of a workspace")
    old = shutil.copytree(alone, ws / "Old")
    text = (old / manifest.PATH).read_text()
    (old / manifest.PATH).write_text(text.replace(wheel()[0].sha256, "0" * 64))
    assert_error(rknn_op("workspace", "add", old), f"run `rknn-op update {old}`")


@pytest.mark.parametrize("verb", ["add", "eject"])
def test_failure_changes_nothing(ws: Path, alone: Path, verb: str) -> None:
    """A file is a link, which no command follows or replaces."""
    member = shutil.copytree(alone, ws / "Joined") if verb == "add" else ws / "One"
    (member / "README.md").rename(member / "real.md")
    (member / "README.md").symlink_to("real.md")
    before = snapshot(ws)
    assert_error(rknn_op("workspace", verb, member), "README.md: is a link")
    assert snapshot(ws) == before


def test_packages_of_references_are_added_once() -> None:
    both = extra_lines("onnxruntime")
    assert extra_lines("onnx", both) == extra_lines("onnxruntime", both) == ""
    more = extra_lines("onnxruntime", extra_lines("onnx"))
    assert [line.partition(">")[0] for line in more.splitlines()] == ["onnxruntime"]
    assert (extra_in(both), extra_in(extra_lines("onnx"))) == ("onnxruntime", "onnx")
