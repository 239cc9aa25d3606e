"""The library's operators pass the tests of their own repositories."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from opkit.check import run_log
from opkit.check.run_log import RunLog
from opkit.check.session import Session
from opkit.files.source_check import unread_params
from opkit.runtimes import expected_kernels, parse
from tests.check.target_repositories import counts, need
from tests.marks import SAMPLE, slow_first
from tests.repositories import ONNX_OPERATORS, Repository, library_kernels

pytestmark = pytest.mark.slow

NAMES = [*ONNX_OPERATORS.values()]
BY_DAY, AT_NIGHT = ([name for name in NAMES if (name in SAMPLE) is kind] for kind in (True, False))
# Groups are small enough to balance the workers.
GROUPS = [*(BY_DAY[each::2] for each in range(2)), *(AT_NIGHT[each::5] for each in range(5))]
OF_EACH_KIND = ["Exp", "CumSum", "NonMaxSuppression", "Xor"]
"""Elementwise, on all runtimes; params from inputs; several outputs and counts of inputs; bool."""


@pytest.mark.parametrize("names", slow_first(2, GROUPS))
def test_own_tests_pass(names: list[str], tmp_path: Path) -> None:
    """Run the tests of several repositories in one process, with the builds of `scons check`."""
    repositories = [library_kernels(name).copy(tmp_path) for name in names]
    session, log = tmp_path / "session.json", tmp_path / "log.jsonl"
    Session(log=log).write(session)
    folders = " ".join(repository.path.name for repository in repositories)
    # With a folder of all repositories as pytest's root, the ids of tests begin with a repository.
    (tmp_path / "pytest.ini").write_text(f"[pytest]\npythonpath = {folders}\n")
    done = repositories[0].run(
        *("pytest", "-q", "-c", str(tmp_path / "pytest.ini"), f"--rootdir={tmp_path}"),
        *("-p", "opkit.check.pytest_plugin", "-p", "no:cacheprovider"),
        *("-o", "empty_parameter_set_mark=fail_at_collect", f"--opkit-session={session}"),
        *(str(repository.path / "tests") for repository in repositories),
    )
    assert re.search(r"^\d+ passed in", done.stdout, re.MULTILINE), done.stdout
    found = run_log.read(log)
    for repository in repositories:
        assert_complete(found, repository)


def assert_complete(log: RunLog, repository: Repository) -> None:
    """Assert that all kernels of a repository ran, with all params, on cases that tell."""
    spec = parse((repository.path / "op.yml").read_text())
    own = {
        test: finished
        for test, finished in log.finished.items()
        if test.startswith(f"{repository.path.name}/")
    }
    ran = {kernel for finished in own.values() for kernel, _ in finished.results}
    assert ran >= {kernel.name for kernel in expected_kernels(spec)}
    assert [*unread_params(repository.path, spec)] == []
    assert run_log.weak_cases(RunLog(finished=own)) == ([], [])


@pytest.mark.parametrize("name", slow_first(1, OF_EACH_KIND))
def test_repository_passes_its_check(name: str, tmp_path: Path) -> None:
    """On this PC; those of other examples also run in qemu, see tests/build/test_build.py."""
    checked = library_kernels(name).copy(tmp_path).scons("target=x64", "check")
    assert re.search(r"^\d+ passed", checked.stdout, re.MULTILINE)


def test_lost_subnormals_of_armhf_are_tolerated(tmp_path: Path) -> None:
    """Its vectors replace subnormals by zeros; the cases of Mish have some."""
    tools = str(Path(need("qemu-arm-static", "qemu-user-static")).parent)
    repository = library_kernels("Mish").copy(tmp_path)
    checked = repository.scons("target=rv1126", "check", path=tools)
    assert counts(checked.stdout)["CPU kernel, armhf"] == 13
