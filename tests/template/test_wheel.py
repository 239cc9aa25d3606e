"""The wheel of opkit in a repository: the same bytes everywhere, and no other wheel is run."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from opkit import manifest, repository
from opkit.common.errors import OpkitError
from rknn_op import own_opkit, template
from rknn_op.creation.wheel import DISTRIBUTION, requirements, wheel
from rknn_op.own_opkit import environment
from tests.marks import slow_first
from tests.repositories import ROOT, Repository, copy_template
from tests.rknn_op.command import assert_error, rknn_op, succeeded
from tests.rknn_op.older import change_wheel

PRINT = "from rknn_op.creation.wheel import wheel; w, data = wheel(); print(w.name, w.sha256)"
MEGABYTE = 1_000_000


def made_by(template: Path, **variables: str) -> list[str]:
    """Make the wheel of a template in another process; return its name and hash."""
    command = [sys.executable, "-c", PRINT]
    done = subprocess.run(
        command,
        cwd=template,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


# ---- The file ------------------------------------------------------------------------------------


def test_same_sources_make_same_bytes(tmp_path: Path) -> None:
    """The sources' folder, owner and neighbors do not change the bytes."""
    own, data = wheel()
    copy = copy_template(tmp_path / "template")
    for path in sorted((copy / "opkit").rglob("*"), reverse=True):
        path.chmod(0o700)
        os.utime(path, (1, 1))
    (copy / "opkit/__pycache__").mkdir()
    (copy / "opkit/__pycache__/x.pyc").write_bytes(b"x")
    (copy / "opkit/.version.py.swp").write_bytes(b"x")
    variables = {"TZ": "Asia/Shanghai", "PYTHONHASHSEED": "7", "LC_ALL": "C"}
    assert made_by(copy, **variables) == [own.name, hashlib.sha256(data).hexdigest()]


def test_entries_depend_on_nothing_else() -> None:
    with zipfile.ZipFile(io.BytesIO(wheel()[1])) as archive:
        entries = archive.infolist()
    assert [entry.filename for entry in entries] == sorted(entry.filename for entry in entries)
    assert {entry.compress_type for entry in entries} == {zipfile.ZIP_STORED}
    assert {entry.date_time for entry in entries} == {(1980, 1, 1, 0, 0, 0)}
    assert {(entry.create_system, entry.external_attr >> 16) for entry in entries} == {
        (3, 0o100644)
    }


def test_size_and_content() -> None:
    own, data = wheel()
    assert len(data) <= 2.9 * MEGABYTE
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = archive.namelist()
        information = f"rknn_opkit-{own.version}.dist-info"
        assert f"{information}/licenses/LICENSE" in names
        metadata = archive.read(f"{information}/METADATA").decode()
    files = [
        path for path in (ROOT / "opkit").rglob("*") if path.is_file() and path.suffix != ".pyc"
    ]
    expected = {path.relative_to(ROOT).as_posix() for path in files}
    copied = {f"opkit/copied/{path}" for path in template.files()}
    assert copied <= {*names}
    assert {name for name in names if name.startswith("opkit/")} - copied == expected - {
        "opkit/LICENSE"
    }
    assert [
        line.removeprefix("Requires-Dist: ")
        for line in metadata.splitlines()
        if line.startswith("Requires-Dist")
    ] == requirements()


def test_version_names_the_bytes(tmp_path: Path) -> None:
    copy = copy_template(tmp_path / "template")
    (copy / "opkit/check/harness/main.c").open("a").write("\n")
    name, _ = made_by(copy)
    assert name != wheel()[0].name
    assert name.startswith("rknn_opkit-0.2.0+")


def test_repository_has_the_wheel_and_its_hash(made: Path) -> None:
    own, data = wheel()
    assert repository.read_manifest(made).wheel == own
    assert [path.name for path in made.glob("*.whl")] == [own.name]
    assert (made / own.name).read_bytes() == data
    assert (
        f"\n{DISTRIBUTION}=={own.version} \\\n    --hash=sha256:{own.sha256}\n"
        in (made / "requirements.lock").read_text()
    )


# ---- Installing it -------------------------------------------------------------------------------


@pytest.fixture
def index(tmp_path: Path) -> str:
    """Return the address of an index with packages of the wheel's name and other bytes."""
    folder = tmp_path / "index" / DISTRIBUTION
    folder.mkdir(parents=True)
    links = []
    for version in ("0.2.0", "99.0.0"):
        name = f"rknn_opkit-{version}-py3-none-any.whl"
        information = f"rknn_opkit-{version}.dist-info"
        with zipfile.ZipFile(folder / name, "w") as archive:
            archive.writestr("opkit/__init__.py", "raise SystemExit('taken')\n")
            about = f"Metadata-Version: 2.1\nName: {DISTRIBUTION}\nVersion: {version}\n"
            archive.writestr(f"{information}/METADATA", about)
            archive.writestr(f"{information}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
            archive.writestr(f"{information}/RECORD", "")
        links.append(f'<a href="{name}">{name}</a>')
    (folder / "index.html").write_text("\n".join(links))
    return folder.parent.as_uri()


def install(tool: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Install into a folder by pip or uv, from another working directory."""
    commands = {
        "pip": ["pip", "install", "--quiet", "--disable-pip-version-check", "--no-cache-dir"],
        "uv": ["uv", "pip", "install", "--quiet", "--no-cache", "--python", sys.executable],
    }
    return subprocess.run(
        [sys.executable, "-m", *commands[tool], "--no-deps", "--target", folder, *arguments],
        cwd="/",
        env={k: v for k, v in os.environ.items() if not k.startswith(("PIP_", "UV_"))},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(params=["pip", "uv"])
def tool(request: pytest.FixtureRequest) -> str:
    """Return an installer."""
    return str(request.param)


@pytest.mark.slow
@pytest.mark.parametrize(
    "through", slow_first(1, ["", "other.txt"]), ids=["directly", "through another file"]
)
def test_pin_installs_the_wheel_and_no_other(
    tool: str, through: str, made: Path, tmp_path: Path, index: str
) -> None:
    own, _ = wheel()
    file = made / "requirements.txt"
    if through:
        (tmp_path / through).write_text(f"-r {file}\n")
        file = tmp_path / through
    done = install(tool, tmp_path / "here", "--index-url", index, "-r", str(file))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "here/opkit/VERSION").read_text() == f"{own.version}\n"


@pytest.mark.slow
def test_hashes_are_required(tool: str, root: Path, tmp_path: Path) -> None:
    lock = (root / "requirements.lock").read_text()
    alone = root / "alone.txt"
    first = re.match(r"(?:.*\n)+?    --hash=.*\n", lock)
    assert first
    alone.write_text(first[0])  # the other lines would need a network
    arguments = ["--no-index", "--require-hashes", "-r", str(alone)]
    if tool == "pip":  # as in CI: the lock has the hash of the line in requirements.txt
        arguments += ["-r", str(root / "requirements.txt")]
    assert install(tool, tmp_path / "here", *arguments).returncode == 0
    (name,) = root.glob("*.whl")
    name.write_bytes(name.read_bytes() + b"\0")
    refused = install(tool, tmp_path / "there", *arguments)
    assert refused.returncode != 0
    assert "hash" in refused.stderr.lower()
    assert not (tmp_path / "there/opkit").exists()


# ---- No wrong version ----------------------------------------------------------------------------


def test_scons_without_opkit_names_install_command(root: Path, tmp_path: Path) -> None:
    own, _ = wheel()
    command = [sys.executable, "-m", "SCons", "-Q"]
    hidden = 'import sys\nsys.modules["rknn_op"] = None\n'  # it may be installed
    (tmp_path / "sitecustomize.py").write_text(hidden)
    without = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        command, cwd=root, env=without, capture_output=True, text=True, check=False
    )
    problem = "error: No module named 'opkit'; run: pip install -r requirements.txt\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", problem)

    built = root / "build/rk1808/Kept.rknnop"
    built.parent.mkdir(parents=True)
    built.write_bytes(b"built before")
    other = {**os.environ, "PYTHONPATH": str(ROOT)}  # the template's opkit, which has no digest
    done = subprocess.run(command, cwd=root, env=other, capture_output=True, text=True, check=False)
    problem = (
        f"error: this repository needs rknn-opkit {own.version}, and 0.2.0 is installed; run: pip "
        "install -r requirements.txt\n"
    )
    assert (done.returncode, done.stdout, done.stderr) == (2, "", problem)
    assert built.exists()


@pytest.mark.slow
def test_scons_takes_the_repositorys_wheel(root: Path, tmp_path: Path) -> None:
    """With rknn-op and no installed opkit, SConstruct executes only the manifest's wheel."""
    template = tmp_path / "site/rknn_op/template"
    shutil.copytree(ROOT / "rknn_op", template.parent, ignore=shutil.ignore_patterns("__pycache__"))
    template.mkdir()
    (template / "opkit").symlink_to(ROOT / "opkit")
    (path,) = root.glob("*.whl")
    site = Repository(root, str(template.parent.parent))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("opkit/__main__.py", "")
    refused = site.scons("-Q", check=False)
    problem = f"error: {path}: is not the file that the manifest names by its hash; restore it"
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr.startswith(problem)
    assert not (root / "build").exists()

    path.write_bytes(wheel()[1])
    assert "2 passed" in site.scons("check", "quick=1", "case=8-uniform").stdout
    assert (root / "build/opkit").readlink().parent.name == wheel()[0].sha256


def test_sconstruct_is_short(made: Path) -> None:
    assert len((made / "SConstruct").read_text().splitlines()) <= 15


def changed(root: Path) -> None:
    """Replace a repository's wheel by one that leaves a file in each build."""
    version = "0.2.0+0123456789ab"
    more = {"opkit/sconstruct.py": b"\nPath('another').touch()\n"}

    def change(name: str, data: bytes) -> bytes:
        return f"{version}\n".encode() if name == "opkit/VERSION" else data + more.get(name, b"")

    change_wheel(root, change, version)


@pytest.mark.slow
def test_each_repository_is_built_with_its_own(made: Path, root: Path) -> None:
    changed(root)
    succeeded("build", "-p", made, "-p", root, "-t", "x64")
    assert [(each / "another").exists() for each in (made, root)] == [False, True]


def test_wheel_of_other_bytes_is_not_executed(root: Path) -> None:
    changed(root)
    (path,) = root.glob("*.whl")
    path.write_bytes(path.read_bytes() + b"\0")
    for verb in ("build", "check"):
        done = rknn_op(verb, "-p", root)
        assert_error(done, f"{path}: is not the file that the manifest names by its hash")
    path.unlink()
    assert_error(
        rknn_op("check", "-p", root),
        f"{path}: cannot be read: No such file or directory; restore it",
    )


def test_invalid_wheel_is_a_message(root: Path) -> None:
    (path,) = root.glob("*.whl")
    path.write_bytes(b"no wheel")
    content = json.loads((root / manifest.PATH).read_text())
    content["wheel"]["sha256"] = hashlib.sha256(b"no wheel").hexdigest()
    (root / manifest.PATH).write_text(json.dumps(content))
    assert_error(rknn_op("check", "-p", root), f"{path}: is not a wheel: ")


@pytest.mark.slow
def test_wheel_is_unpacked_once_and_whole(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Concurrent runs unpack it once, and a run after an interruption unpacks it again."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(root.parent / "cache"))
    with ThreadPoolExecutor(8) as threads:
        folders = {*threads.map(own_opkit.unpacked, 8 * [root])}
    (folder,) = folders
    assert [path.name for path in folder.parent.iterdir()] == [wheel()[0].sha256]
    with zipfile.ZipFile(io.BytesIO(wheel()[1])) as archive:
        for name in archive.namelist():
            assert (folder / name).read_bytes() == archive.read(name)
    before = (folder / "opkit").stat()
    assert own_opkit.unpacked(root) == folder
    after = (folder / "opkit").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert environment(root)["PYTHONPATH"].startswith(str(folder))


def test_lost_manifest_is_named(root: Path) -> None:
    (root / manifest.PATH).unlink()
    with pytest.raises(OpkitError, match=f"{manifest.PATH}: not found"):
        own_opkit.unpacked(root)
    refused = Repository(root).scons(check=False)
    restore = f"restore it (`git checkout {manifest.PATH}`), or run `rknn-op update`"
    assert refused.stderr == f"error: {manifest.PATH}: not found; {restore}\n"


@pytest.mark.slow
@pytest.mark.nightly
def test_requirements_are_sufficient(root: Path) -> None:
    """A repository works in an environment of its requirements, on a PATH without compilers."""
    environment = root.parent / "venv"
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    pip = [str(environment / "bin/pip"), "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "-r", "requirements.txt"], cwd=root, check=True)
    listed = subprocess.run(
        [environment / "bin/pip", "list"], check=True, capture_output=True, text=True
    ).stdout
    assert "rknn-opkit" in listed
    assert "rknn-op-template" not in listed
    for arguments in (["check"], ["target=all"]):
        done = subprocess.run(
            [environment / "bin/scons", "-Q", *arguments],
            cwd=root,
            env={**os.environ, "PATH": "/nonexistent"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    by_hand = subprocess.run(
        [environment / "bin/pytest", "-q"], cwd=root, capture_output=True, text=True, check=False
    )
    assert by_hand.returncode == 0, by_hand.stdout
