"""`rknn-op`: each verb, run as a user does."""

from __future__ import annotations

import errno
import fcntl
import functools
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import time
import zipfile
from collections.abc import Callable, Mapping
from importlib import metadata
from pathlib import Path

import pytest
from click.testing import Result

from benchmarks.command import build_wheel
from opkit import repository, runtimes
from opkit.version import VERSION
from rknn_op import all_or_nothing, template
from rknn_op.cli import VERBS
from rknn_op.creation import new_repository
from rknn_op.creation.wheel import STORED
from rknn_op.creation.wheel import wheel as wheel_of_opkit
from rknn_op.verbs import common
from tests.processes import marked
from tests.repositories import EXAMPLE_NAMES, EXAMPLES, ROOT, Repository, generate
from tests.rknn_op import command as command_
from tests.rknn_op.command import assert_error, rknn_op, snapshot, succeeded

EXP = str(EXAMPLES / "exp/exp.yml")


pytestmark = pytest.mark.usefixtures("folder")


process = functools.partial(command_.process, PATH="/nonexistent")
"""Run the command in a separate process, with a PATH without a compiler."""


def made(path: Path) -> dict[str, bytes]:
    """Return the files without .cruft.json, which cookiecutter does not make."""
    files = snapshot(path)
    files.pop(".cruft.json", None)  # not from an installed wheel: it does not know its origin
    return files


def test_help_describes_every_verb() -> None:
    shown = rknn_op("--help").stdout
    for verb, text in VERBS.items():
        assert re.search(rf"^  {verb} +{re.escape(text)}$", shown, re.MULTILINE), verb
        own = succeeded(verb, "-h")
        assert own.stdout.splitlines()[2] == f"  {text}"
        assert max(map(len, own.stdout.splitlines())) <= 80


def test_internal_error_has_traceback_and_link(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("out of order")

    monkeypatch.setattr(new_repository, "created", broken)
    result = rknn_op("create", "-c", EXP, "-p", "exp")
    assert result.exit_code == 70
    assert "RuntimeError: out of order" in result.stderr
    assert f"This is a bug of rknn-op {VERSION}. Please report it to" in result.stderr
    assert not [*folder.iterdir()]


def test_create_equals_cookiecutter(folder: Path) -> None:
    succeeded("create", "--config", EXP, "--path", "a/b/my_exp")
    assert made(folder / "a/b/my_exp") == snapshot(generate(folder, EXP, "plain").path)


def test_create_ignores_user_settings(folder: Path) -> None:
    home = folder.parent / "home"
    (home / ".cookiecutterrc").write_text("default_context: {op_name: other, config: other}\n")
    succeeded("create", "-c", EXP, "-p", "my_exp")
    assert [path.name for path in folder.iterdir()] == ["my_exp"]
    assert [path.name for path in home.iterdir()] == [".cookiecutterrc"]


@pytest.mark.parametrize("make", [Path.mkdir, Path.touch, lambda p: p.symlink_to("nowhere")])
def test_create_refuses_existing_folder(make: Callable[[Path], None], folder: Path) -> None:
    make(folder / "taken")
    assert_error(rknn_op("create", "-c", EXP, "-p", "taken"), "taken already exists")


@pytest.mark.parametrize("path", ["a b", "-", ".hidden", "ü", "{{x}}"])
def test_create_refuses_invalid_folder_name(path: str, folder: Path) -> None:
    assert_error(rknn_op("create", "-c", EXP, "-p", f"./{path}"), f"invalid folder name {path!r}")
    assert not [*folder.iterdir()]


def test_create_in_unwritable_folder_and_without_description(folder: Path) -> None:
    (folder / "file").touch()
    assert_error(rknn_op("create", "-c", EXP, "-p", "file/exp"), "file/exp: cannot be made")
    assert_error(rknn_op("create", "-c", "no.yml"), "no.yml: cannot be read: No such file")


def test_create_is_all_or_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = all_or_nothing.write_new_files

    def failing(root: str, files: Mapping[str, bytes]) -> None:
        write(root, files)
        assert Path(root, "op.yml").is_file()
        raise OSError(errno.ENOSPC, "no room left")

    with monkeypatch.context() as patch:
        patch.setattr(all_or_nothing, "write_new_files", failing)
        assert_error(rknn_op("create", "-c", EXP, "-p", "my_exp"), "no room left")
    assert not [*folder.iterdir()]


def test_create_keeps_concurrent_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = all_or_nothing.write_new_files

    def meanwhile(root: str, files: Mapping[str, bytes]) -> None:
        write(root, files)
        (folder / "my_exp").mkdir(exist_ok=True)

    with monkeypatch.context() as patch:
        patch.setattr(all_or_nothing, "write_new_files", meanwhile)
        assert_error(rknn_op("create", "-c", EXP, "-p", "my_exp"), "my_exp already exists")
    assert [*folder.rglob("*")] == [folder / "my_exp"]


def test_create_reports_errors_of_the_file_system(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """EAGAIN, the error of a taken lock, is reported, too."""

    def refused(*_: object) -> None:
        raise BlockingIOError(errno.EAGAIN, "no write now")

    monkeypatch.setattr(all_or_nothing, "write_new_files", refused)
    assert_error(rknn_op("create", "-c", EXP, "-p", "exp"), "exp: cannot be made: no write now")
    assert not [*folder.iterdir()]


def test_create_needs_no_locks(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without them, folders of killed runs stay."""

    def refused(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, "no locks here")

    monkeypatch.setattr(fcntl, "flock", refused)
    succeeded("create", "-c", EXP, "-p", "exp")
    assert [path.name for path in folder.iterdir()] == ["exp"]


@pytest.mark.slow
def test_killed_create_leaves_no_permanent_files(folder: Path) -> None:
    """At every moment the repository is whole or absent, and the next run deletes leftovers."""
    started = time.monotonic()
    assert process("create", "-c", EXP, "-p", "whole", cwd=folder).returncode == 0
    seconds = time.monotonic() - started
    whole = made(folder / "whole")
    for part in range(1, 9):
        command = [sys.executable, "-m", "rknn_op", "create", "-c", EXP, "-p", "killed"]
        run = subprocess.Popen(command, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)})
        time.sleep(seconds * part / 9)
        run.kill()
        run.wait()
        if (folder / "killed").exists():
            assert made(folder / "killed") == whole
            shutil.rmtree(folder / "killed")
    succeeded("create", "-c", EXP, "-p", "killed")
    assert sorted(path.name for path in folder.iterdir()) == ["killed", "whole"]


def test_killed_create_of_several_leaves_no_process(folder: Path) -> None:
    command = [sys.executable, "-m", "rknn_op", "create", "-p", "many", "-c"]
    configs = [EXAMPLES / name / f"{name}.yml" for name in EXAMPLE_NAMES]
    environment = {**os.environ, "CREATE": str(folder), "PYTHONPATH": str(ROOT)}
    run = subprocess.Popen([*command, *configs], cwd=folder, env=environment)
    while not (folder / "many").exists() and run.poll() is None:
        time.sleep(0.001)
    run.kill()
    run.wait()
    end = time.monotonic() + 60
    while marked(f"CREATE={folder}"):
        assert time.monotonic() < end
        time.sleep(0.01)


def test_create_leaves_no_temporary_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = folder / "tmp"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    assert process("create", "-c", EXP, "-p", "my_exp", cwd=folder).returncode == 0
    assert not [*scratch.iterdir()]


@pytest.mark.parametrize("verb", ["build", "check"])
def test_build_and_check_require_repository(verb: str, folder: Path) -> None:
    assert_error(rknn_op(verb), "not an operator repository", "op.yml", "rknn-op create")
    (folder / "op.yml").touch()
    assert_error(rknn_op(verb, "-p", folder), "not an operator repository", "SConstruct")


@pytest.mark.slow
def test_build_and_check_run_scons(example: Callable[..., Repository], folder: Path) -> None:
    path = str(example("exp", "rknn").path)
    built = process("build", "-p", path, "-t", "RV1126", cwd=folder)
    assert built.returncode == 0, built.stdout + built.stderr
    assert built.stdout == f"{path}/build/rv1126/Exp.rknnop\n"
    assert "up to date" in built.stderr
    checked = process("check", "-p", path, cwd=folder)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "passed" in checked.stdout


@pytest.mark.slow
@pytest.mark.nightly
def test_sconsflags_do_not_change_check(
    copy_of_fresh: Repository, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With -n nothing would run, -i would ignore the failure, and -c would delete the build."""
    reference = copy_of_fresh.path / "myoperator_reference.py"
    reference.write_text(reference.read_text().replace("np.array(", "1 + np.array("))

    def check() -> tuple[int, list[str]]:
        run = process("check", "-p", str(copy_of_fresh.path), cwd=folder)
        return run.returncode, re.findall(r"^CPU kernel +\d+ .*", run.stdout, re.MULTILINE)

    without = check()
    assert without[0] == 2
    assert "FAILED" in without[1][0]
    for flags in ("-n", "-i", "-q", "-c", "--version"):
        monkeypatch.setenv("SCONSFLAGS", flags)
        assert check() == without, flags


def test_build_forwards_options_and_exit_status(copy_of_fresh: Repository, folder: Path) -> None:
    path = str(copy_of_fresh.path)
    refused = process("build", "-p", path, "--", "verbos=1", cwd=folder)
    assert refused.returncode == 2
    assert "did you mean 'verbose'?" in refused.stdout + refused.stderr
    listed = rknn_op("build", "-p", path, "-t", "rk9999")
    assert listed.exit_code == 2
    assert "'rk1806', 'rk1808', " in listed.stderr


def test_report_of_a_single_repository_is_its_own(copy_of_fresh: Repository) -> None:
    done = succeeded("report", "-p", copy_of_fresh.path, "--", "-n")
    assert done.stdout == ""
    assert not (copy_of_fresh.path / "build/report.html").exists()
    assert not Path("build").exists()


def test_host_library_is_not_a_product(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The name of a library for this PC may look like a plugin's."""
    text = Path(EXP).read_text().replace("name: Exp", "name: my_exp")
    text = re.sub("runtimes: .*", "runtimes: [rknn2]", text)
    (folder / "my_exp.yml").write_text(
        re.sub("target_platform: .*", "target_platform: RK3588", text)
    )
    succeeded("create", "-c", "my_exp.yml", "-p", "made")
    for target in ("x64", "rk3588"):
        (folder / "made/build" / target).mkdir(parents=True)
        (folder / "made/build" / target / "libmy_exp.so").touch()

    def built(*arguments: object, **_: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess([], 0)

    monkeypatch.setattr(common, "scons", built)
    assert rknn_op("build", "-p", "made", "-t", "x64").stdout == ""
    for options in ([], ["-t", "all"], ["-t", "rk3588"]):
        built_now = rknn_op("build", "-p", "made", *options).stdout
        assert built_now == "made/build/rk3588/libmy_exp.so\n"


@pytest.mark.slow
def test_build_and_check_many(
    example: Callable[..., Repository], copy_of_fresh: Repository, folder: Path
) -> None:
    """Two repositories, two targets and a folder that is no repository: one table, one status."""
    good = [str(example("exp", "rknn").path), str(copy_of_fresh.path)]
    (folder / "none").mkdir()
    targets = ("rk1808", "rv1126")
    options = [word for target in targets for word in ("-t", target)]
    built = process("build", *options, "-p", *good, "none", cwd=folder)
    assert built.returncode == 1
    expected = [
        f"{path}/build/{target}/{name}.rknnop"
        for path, name in zip(good, ("Exp", "MyOperator"), strict=True)
        for target in targets
    ]
    assert built.stdout.splitlines() == expected
    rows = [line.split() for line in built.stderr.split("\nrepository ")[1].splitlines()[1:]]
    assert [(row[0], row[2], row[3]) for row in rows] == [
        (path, f"target={target}", "failed" if path == "none" else "done")
        for path in (*good, "none")
        for target in targets
    ]
    assert "none is not an operator repository" in built.stderr
    checked = process("check", "-j", "1", "-p", *good, cwd=folder)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert [line.split()[3] for line in checked.stdout.splitlines()[1:]] == ["done", "done"]


@pytest.mark.parametrize(
    ("action", "config", "path"),
    [("--action", "--config", "--op_path"), ("-a", "-c", "-p")],
)
def test_command_line_of_the_vendor(action: str, config: str, path: str, folder: Path) -> None:
    succeeded(path, "a/op", action, "create", config, EXP)
    assert repository.load(folder / "a/op").name == "Exp"
    assert_error(rknn_op(action, "build", path, "b"), "b is not an operator repository")
    for incomplete in ([action, "create", path, "c"], [action, "build"], [path, "c"]):
        refused = rknn_op(*incomplete)
        assert refused.exit_code == 2
        assert config in refused.stderr or path in refused.stderr or action in refused.stderr


# ---- Many at once --------------------------------------------------------------------------------


def test_create_many(folder: Path) -> None:
    """An invalid description does not stop the others, and is listed at the end."""
    configs = []
    for number in range(12):
        text = Path(EXP).read_text().replace("name: Exp", f"name: Exp{number}")
        (folder / f"{number}.yml").write_text(text)
        configs.append(f"{number}.yml")
    (folder / "3.yml").write_text("name: 3\n")
    (folder / "7.yml").write_text((folder / "6.yml").read_text())
    result = rknn_op("create", "-p", "made", "-c", *configs)
    assert result.exit_code == 1
    names = [f"Exp{number}" for number in range(12) if number not in (3, 7)]
    assert sorted(path.name for path in (folder / "made").iterdir()) == sorted(names)
    created = result.stdout.splitlines()
    assert [*map(str, created)] == [f"made/{name}" for name in names]
    *problems, last = result.stderr.splitlines()
    assert any(line.startswith("error: 3.yml:1: ") for line in problems)
    again = "error: 7.yml: made/Exp6 is the repository of 6.yml; change one name"
    assert again in problems
    assert last == "error: 2 of 12 repositories were not made"
    assert len(problems) == 2
    succeeded("create", "-c", "0.yml", "-p", "alone")
    assert made(folder / "alone") == made(folder / "made/Exp0")


def test_create_with_other_runtimes_and_target(folder: Path) -> None:
    options = ["--runtime", "rknn", "--runtime", "pplnn,rknn2", "--target", "rk3588"]
    succeeded("create", "-c", EXP, "-p", "exp", *options)
    spec = repository.load(folder / "exp")
    assert spec.runtimes == ("rknn", "pplnn", "rknn2")
    assert spec.target_platform == "rk3588"
    assert (folder / "exp/rknn2").is_dir()
    wrong = rknn_op("create", "-c", EXP, "-p", "other", "--runtime", "rknn3")
    assert_error(wrong, "exp.yml, changed by options:", "unknown runtime 'rknn3'")
    assert_error(rknn_op("create", "-c", EXP, "-p", "x", "--target", "rk1"), "unknown value 'rk1'")
    assert [path.name for path in folder.iterdir()] == ["exp"]


FOREIGN = """\
name: Zoom
framework: {framework}
target_platform: {target}  # a comment
# Another.
kernels:
- cpu
- vx
out_binary: zoom
inputs: {{x: {{type: VX_TYPE_TENSOR}}}}
outputs: {{y: {{type: VX_TYPE_TENSOR}}}}
"""
ADAPTED = """\
name: Zoom
kernels: [cpu]
runtimes: [{runtime}]
framework: tensorflow
target_platform: {target}  # a comment
# Another.
inputs: {{x: {{type: VX_TYPE_TENSOR}}}}
outputs: {{y: {{type: VX_TYPE_TENSOR}}}}
"""


def assert_warnings(result: Result, target: str, *runtimes: str) -> None:
    expected = [
        "warning: zoom.yml:3: target_platform: RV1126 is not for "
        f"{', '.join(runtimes)}; op.yml has {target}",
        f"warning: zoom.yml:5: kernels: vx is not for {', '.join(runtimes)}; left out of op.yml",
        "warning: zoom.yml:8: out_binary: is for the runtime rknn; left out of op.yml",
    ]
    assert result.exit_code == 0, result.stderr
    assert result.stderr.splitlines() == expected[not target :]


def test_create_drops_keys_of_other_runtimes(folder: Path) -> None:
    (folder / "zoom.yml").write_text(FOREIGN.format(framework="tensorflow", target="RV1126"))
    for runtime, target in {"rknn2": "rk3588", "pplnn": "riscv64"}.items():
        created = rknn_op("create", "-c", "zoom.yml", "-p", runtime, "--runtime", runtime)
        assert_warnings(created, target, runtime)
        made = (folder / runtime / "op.yml").read_text()
        assert made.partition("\n")[2] == ADAPTED.format(runtime=runtime, target=target)
        succeeded("lint", folder / runtime)
    both = rknn_op("create", "-c", "zoom.yml", "--dry-run", "--runtime", "pplnn,rknn2")
    assert_warnings(both, "riscv64", "pplnn", "rknn2")
    assert rknn_op("create", "-c", "zoom.yml", "-p", "all", "--runtime", "rknn2,rknn").stderr == ""
    options = ["--runtime", "rknn2", "--target", "rk3576"]
    assert_warnings(rknn_op("create", "-c", "zoom.yml", "-p", "rk3576", *options), "", "rknn2")
    assert repository.load(folder / "rk3576").target_platform == "rk3576"
    wrong = rknn_op("create", "-c", "zoom.yml", "--runtime", "rknn2", "--target", "rv1126")
    assert_error(wrong, "--target: rv1126 is a chip of RKNN-Toolkit; pass --runtime rknn")


def test_create_takes_framework_of_runtime(folder: Path) -> None:
    text = FOREIGN.format(framework="onnx", target="'RK3568'").replace(
        "kernels:\n- cpu\n- vx\n", ""
    )
    (folder / "zoom.yml").write_text(text.replace("out_binary: zoom", "runtimes: [rknn2]"))
    created = rknn_op("create", "-c", "zoom.yml", "--runtime", "rknn")
    assert created.stderr.splitlines() == [
        "warning: zoom.yml:2: framework: onnx is not for rknn; op.yml has tensorflow",
        "warning: zoom.yml:3: target_platform: RK3568 is not for rknn; op.yml has rk1808",
    ]
    spec = repository.load(folder / "Zoom")
    assert (spec.framework, spec.target_platform) == ("tensorflow", "rk1808")
    assert rknn_op("create", "-c", "zoom.yml", "-p", "x", "--runtime", "rknn2,pplnn").stderr == ""


def test_create_many_drops_keys_of_other_runtimes(folder: Path) -> None:
    (folder / "zoom.yml").write_text(FOREIGN.format(framework="tensorflow", target="RV1126"))
    created = rknn_op("create", "-c", "zoom.yml", EXP, "--runtime", "rknn2")
    assert created.stdout == "Zoom\nExp\n"
    assert len(created.stderr.splitlines()) == 4
    assert created.stderr.splitlines()[2].startswith("warning: zoom.yml:8: out_binary: is for ")


def test_create_with_license(folder: Path) -> None:
    """The repository equals cookiecutter's, with the same answers for cruft."""
    chosen = ["--license", "mit", "--author", "A & B"]
    succeeded("create", "-c", EXP, "-p", "exp", *chosen)
    assert "(c)" in (text := (folder / "exp/LICENSE").read_text())
    assert "A & B" in text
    answers = json.loads((folder / "exp/.cruft.json").read_text())["context"]["cookiecutter"]
    questions = json.loads((template.ROOT / "cookiecutter.json").read_text())
    asked = {name for name in questions if not name.startswith("_")}
    assert {name for name in answers if not name.startswith("_")} == asked
    assert (answers["license"], answers["author"]) == ("mit", "A & B")
    wrong = rknn_op("create", "-c", EXP, "-p", "other", "--license", "GPL")
    assert_error(wrong, "license: invalid 'GPL' (expected none, 0BSD, ")
    assert [path.name for path in folder.iterdir()] == ["exp"]


def test_dry_run_lists_files_of_create(folder: Path) -> None:
    shown = succeeded("create", "-c", EXP, "-p", "exp", "--dry-run")
    assert not [*folder.iterdir()]
    assert max(map(len, shown.stdout.splitlines())) <= 80
    rknn_op("create", "-c", EXP, "-p", "exp")
    files = {*snapshot(folder / "exp")}
    assert files <= {*shown.stdout.split()}
    many = ("create", "-c", EXP, EXP, "-p", "all", "--dry-run")
    assert rknn_op(*many).stdout == "all/Exp\n"
    assert not (folder / "all").exists()


@pytest.mark.slow
def test_one_process_at_a_time_makes_a_repository(folder: Path) -> None:
    """Of concurrent processes one makes the repository; the others report that it exists."""
    command = [sys.executable, "-m", "rknn_op", "create", "-c", EXP, "-p", "exp"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    runs = [
        subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    errors = [run.communicate()[1] for run in runs]
    assert sorted(run.returncode for run in runs) == [0, 1, 1, 1]
    for run, error in zip(runs, errors, strict=True):
        if run.returncode:
            assert "exp already exists" in error
    assert [path.name for path in folder.iterdir()] == ["exp"]
    assert made(folder / "exp") == snapshot(generate(folder, EXP, "plain").path)


def test_targets_list_requirements() -> None:
    lines = rknn_op("targets").stdout.splitlines()
    assert max(map(len, lines)) <= 80
    entries = {entry["target"]: entry for entry in json.loads(rknn_op("targets", "--json").stdout)}
    for runtime in runtimes.available().values():
        for target in runtime.describe.targets.values():
            (line,) = (line for line in lines if line.startswith(f"{target.name} "))
            abis = (target.abi, *target.other_abis)
            assert line.split()[1:4] == [runtime.name, target.family or "-", "/".join(abis)]
            assert line.endswith(target.needs or "-")
            assert not target.look_up or f"    {target.look_up}" in lines
            assert entries.pop(target.name) == {
                "target": target.name,
                "runtime": runtime.name,
                "family": target.family,
                "abis": [*abis],
                "needs": target.needs,
                "look_up": target.look_up,
            }
    assert not entries


@pytest.mark.parametrize(
    ("command", "status", "errors"),
    [
        ("targets --json > file", 0, ""),
        ("targets --json >&-", 0, ""),
        ("targets --json > /dev/full", 1, "error: No space left on device\n"),
        ("targets nothing", 2, None),
        ("inspect nothing", 1, "error: nothing: cannot be read: No such file or directory\n"),
    ],
)
def test_exit_status(folder: Path, command: str, status: int, errors: str | None) -> None:
    """The output is complete."""
    done = subprocess.run(
        f"{shlex.quote(sys.executable)} -m rknn_op {command}",
        shell=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status
    assert errors is None or done.stderr == errors
    if command.endswith("file"):
        assert json.loads((folder / "file").read_text())


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str) -> None:
    script = rknn_op("completion", shell).stdout
    assert "_RKNN_OP_COMPLETE" in script
    if shutil.which(shell):
        checked = subprocess.run([shell, "-n"], input=script, text=True, check=False)
        assert checked.returncode == 0
    words = {
        "COMP_WORDS": "rknn-op cr",
        "COMP_CWORD": "cr" if shell == "fish" else "1",
        "_RKNN_OP_COMPLETE": f"{shell}_complete",
    }
    done = subprocess.run(
        [sys.executable, "-c", "from rknn_op.__main__ import main; main()"],
        env={**os.environ, **words, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "create" in done.stdout


def test_build_takes_targets_of_every_runtime(folder: Path) -> None:
    for runtime in runtimes.available().values():
        for target in runtime.describe.targets:
            assert "is not an operator repository" in rknn_op("build", "-t", target).stderr


@pytest.mark.slow
@pytest.mark.nightly
def test_demo_of_another_runtime(folder: Path) -> None:
    """The runtime is that of the example's target, and the only one."""
    done = process("demo", "resize_area", cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    for kernel in ("CPU kernel", "VX kernel"):
        assert re.search(rf"^ +{kernel} +\d+  ", done.stdout, re.MULTILINE), done.stdout
    listing = done.stdout.partition("Files in resize_area:\n\n")[2].partition("\n\n")[0]
    for line in listing.splitlines():
        assert (folder / "resize_area" / line.split()[0]).is_file(), line
    assert "build/rv1126/ResizeArea.rknnop" in listing
    summary = done.stdout[done.stdout.index("Files in ") :]
    assert max(map(len, summary.splitlines())) <= 80
    assert not (folder / "resize_area/pplnn").exists()


def test_demo_existing_folder_or_unknown_example(folder: Path) -> None:
    (folder / "deform_conv").mkdir()
    assert_error(rknn_op("demo"), "deform_conv already exists")
    unknown = rknn_op("demo", "resize")
    assert unknown.exit_code == 2
    assert all(f"'{name}'" in unknown.stderr for name in EXAMPLE_NAMES)


@pytest.mark.slow
def test_demo_shows_scons_output_on_failure(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(EXAMPLES / "exp", folder / "operators/exp")
    (folder / "operators/exp/exp_compute.h").write_text("#error out of order\n")
    monkeypatch.setattr(template, "EXAMPLES", folder / "operators")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    result = rknn_op("demo", "exp", "-p", "made")
    assert result.exit_code == 1
    assert "out of order" in result.stdout
    assert result.stderr == "error: `scons target=rv1126` failed in made; its output is above\n"


@pytest.mark.slow
def test_wheel_runs_by_uvx(folder: Path) -> None:
    """The wheel's dependencies come from this machine instead of a network."""
    scratch = folder.parent
    wheel = build_wheel(scratch)
    with zipfile.ZipFile(wheel) as archive:  # no command makes opkit's wheel
        own, data = wheel_of_opkit()
        assert archive.read(f"rknn_op/template/{STORED}/{own.name}") == data
    (distribution,) = metadata.distributions(path=[str(wheel)])
    needed = [line for line in distribution.requires or () if "extra ==" not in line]
    assert needed
    (scratch / "without").write_text(
        "".join(f"{each.partition(';')[0]}; python_version < '3'\n" for each in needed)
    )
    (folder / "exp.yml").write_text(Path(EXP).read_text())

    here = scratch / "here_already"
    here.mkdir()
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if not path.name.startswith("rknn_op"):
            (here / path.name).symlink_to(path)

    def uvx(*arguments: str) -> str:
        done = subprocess.run(
            [
                *(sys.executable, "-m", "uv", "tool", "run", "--offline", "--no-config"),
                *("--python", sys.executable, "--overrides", str(scratch / "without")),
                *("--from", str(wheel), "rknn-op", *arguments),
            ],
            cwd=folder,
            env={
                **{k: v for k, v in os.environ.items() if k != "PYTHONPYCACHEPREFIX"},
                "PYTHONPATH": str(here),
                "UV_CACHE_DIR": str(scratch / "cache"),
            },
            check=False,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    uvx("create", "-c", "exp.yml", "-p", "made")
    assert made(folder / "made") == snapshot(generate(folder, EXP, "plain").path)
    assert uvx("--version") == f"rknn-op, version {VERSION}\n"
    # rknn-op caches its bytecode, as uv does not: without it each start would take twice as long.
    assert [*(scratch / "cache").rglob("opkit/**/parser.*.pyc")]
