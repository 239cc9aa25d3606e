"""`scons target=... check`: the cases on the boards' instruction sets, emulated or on a board."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from opkit.check import harness_client
from opkit.check.executors import GREETING, ExecutorError, launch
from opkit.check.harness_client import HarnessKernel
from opkit.runtimes import parse
from opkit.runtimes.executor import Executor
from opkit.runtimes.invocation import Invocation, RunOptions
from opkit.runtimes.rknn.host_kernels import CONVENTION
from tests.check.target_repositories import (
    DESCRIPTION,
    FAULTS,
    check,
    counts,
    faults_repository,
    need,
    problems,
    rows,
    script,
)
from tests.check.test_testing import MESSAGES
from tests.marks import slow_first
from tests.repositories import Repository
from tests.time_limits import LONG

pytestmark = pytest.mark.slow

ABIS = ("aarch64", "armhf")
KERNELS = [
    "CPU kernel",
    "CPU kernel, address,undefined",
    "CPU kernel, aarch64",
    "CPU kernel, armhf",
]


@pytest.fixture
def qemu() -> None:
    for program in ("qemu-aarch64-static", "qemu-arm-static"):
        need(program, "qemu-user-static")


# ---- Passing kernels ----


@pytest.mark.usefixtures("qemu")
@pytest.mark.parametrize("name", slow_first(1, ["row_mean", "truncate_div"]))
def test_example_passes_on_all_targets(name: str, example: Callable[..., Repository]) -> None:
    """All cases; a sample of the other examples' runs in tests/build/test_build.py."""
    need("gcc", "gcc")
    run = check(example(name, "rknn"), "target=all", "sanitize=undefined,address", "verbose=1")
    assert run.returncode == 0, run.stdout + run.stderr
    assert re.search(r"^sanitize=address,undefined: compiled with /\S+$", run.stdout, re.MULTILINE)
    table = rows(run.stdout)
    assert list(table) == KERNELS
    names = [[case for case, *_ in cases] for cases in table.values()]
    assert names[0] != []
    assert all(other == names[0] for other in names)
    # The times of an emulator or a sanitizer do not predict a board's.
    assert {time for kernel in KERNELS[1:] for *_, time in table[kernel]} == {"-"}


@pytest.mark.usefixtures("qemu")
def test_check_runs_chip_instruction_set_only(fresh: Repository) -> None:
    for target, abi in {"rk1808": "aarch64", "rv1109": "armhf"}.items():
        run = check(fresh, f"target={target}")
        assert list(counts(run.stdout)) == ["CPU kernel", f"CPU kernel, {abi}", "VX kernel"]


# ---- Wrong kernels ----


@pytest.fixture(scope="session")
def failures(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], str]:
    """Return the message of every failed case: (kernel, case) -> message."""
    names = [name for name in FAULTS if name != "NONE"]
    repository = faults_repository(tmp_path_factory.mktemp("faults"), names, limit=1)
    run = check(repository, "target=all", "verbose=1")
    assert run.returncode == 2, run.stdout + run.stderr
    return problems(run.stdout)


def arm_message(message: str) -> str:
    """Return the message of a processor that does not report whether an access was a read."""
    return re.sub(r"\b(reads|writes)\b", "accesses", message)


@pytest.mark.usefixtures("qemu")
@pytest.mark.parametrize("abi", ABIS)
@pytest.mark.parametrize("fault", sorted(set(MESSAGES) - {"DIVIDE_BY_ZERO"}))
def test_fault_message_matches_pc(
    abi: str, fault: str, failures: dict[tuple[str, str], str]
) -> None:
    expected = arm_message(MESSAGES[fault]).replace("0.2 s", "1 s")
    assert expected in failures[f"CPU kernel, {abi}", fault]


@pytest.mark.usefixtures("qemu")
def test_division_by_zero_is_not_a_fault_on_arm(failures: dict[tuple[str, str], str]) -> None:
    found = [kernel for kernel, case in failures if case == "DIVIDE_BY_ZERO"]
    assert found == ["CPU kernel"]


@pytest.mark.usefixtures("qemu")
def test_case_after_fault_runs(failures: dict[tuple[str, str], str]) -> None:
    assert failures
    assert [case for _, case in failures if case.startswith("after")] == []


# ---- No emulator ----


def test_missing_emulator_fails_after_other_cases(fresh: Repository) -> None:
    run = check(fresh, "target=rv1126", path="/nonexistent")
    assert run.returncode == 2
    assert re.search(r"^\d+ passed", run.stdout, re.MULTILINE)
    assert list(counts(run.stdout)) == ["CPU kernel", "VX kernel"]
    (line,) = [line for line in run.stderr.splitlines() if line.startswith("error:")]
    assert "the cases did not run on armhf: no emulator for armhf" in line
    for word in ("qemu-arm-static and qemu-arm on PATH (/nonexistent)", "apt install qemu-user"):
        assert word in line
    assert "Traceback" not in run.stderr


def test_require_target_0(fresh: Repository) -> None:
    run = check(fresh, "target=all", "require_target=0", path="/nonexistent")
    assert run.returncode == 0, run.stdout + run.stderr
    warnings = re.findall(r"^warning: .* did not run on (\w+)", run.stderr, re.MULTILINE)
    assert warnings == list(ABIS)


@pytest.mark.nightly
def test_failing_case_fails_with_require_target_0(
    copy_of_fresh: Repository,
) -> None:
    compute = copy_of_fresh.path / "myoperator_compute.h"
    compute.write_text(compute.read_text().replace("return NULL;", 'return "no";'))
    run = check(copy_of_fresh, "target=rv1126", "require_target=0", path="/nonexistent")
    assert run.returncode == 2


def test_conflicting_options(fresh: Repository) -> None:
    board = check(fresh, "target=all", "qemu=ssh:board")
    assert (board.returncode, board.stderr) == (
        2,
        "error: qemu=ssh:board is one board; pass its chip with target=\n",
    )
    assert "pass the target too, for example target=rv1126" in check(fresh, "qemu=qemu-arm").stderr


# ---- Another emulator, and a board ----


@pytest.mark.usefixtures("qemu")
def test_custom_emulator(fresh: Repository, tmp_path: Path) -> None:
    log = tmp_path / "log"
    emulator = script(tmp_path / "my emulator", f'echo "$1" >>"{log}"\nexec qemu-arm-static "$2"')
    run = check(fresh, "target=rv1126", f"qemu='{emulator}' -fast")
    assert run.returncode == 0, run.stdout + run.stderr
    # Started once to see that it works, and once for all cases.
    assert log.read_text() == "-fast\n-fast\n"
    assert counts(run.stdout)["CPU kernel, armhf"] > 1


@pytest.mark.parametrize(
    ("qemu", "message"),
    [
        ("no-such-emulator -x", "looked for no-such-emulator on PATH"),
        ("false -x", "^false -x harness does not run: exit status 1$"),
        ("sh -c 'echo no such machine >&2; exit 3'", "harness does not run: no such machine$"),
        ("ssh:", "ssh: names no host"),
        ("ssh:-oProxyCommand=x", "names no host"),
    ],
)
def test_broken_executor(qemu: str, message: str) -> None:
    with pytest.raises(ExecutorError, match=message), launch("armhf", Path("harness"), qemu):
        pass


SSH = """\
echo "$@" >>"{folder}/log"
case "$4" in
    /tmp/opkit.*) exec qemu-arm-static "$4" ;;
    *) exec sh -c "$4" ;;
esac
"""


@pytest.mark.usefixtures("qemu")
def test_board(fresh: Repository, tmp_path: Path) -> None:
    script(tmp_path / "ssh", SSH.format(folder=tmp_path))
    path = f"{tmp_path}:{os.environ['PATH']}"
    run = check(fresh, "target=rv1126", "qemu=ssh:me@board", "verbose=1", path=path)
    assert run.returncode == 0, run.stdout + run.stderr
    table = rows(run.stdout)
    # On a board the time is the board's.
    assert all(time.endswith("s") for *_, time in table["CPU kernel, armhf"])
    calls = (tmp_path / "log").read_text().splitlines()
    assert all(call.startswith("-o ConnectTimeout=10 me@board ") for call in calls)
    copied = calls[-1].partition("rm -f ")[2]
    assert copied.startswith("/tmp/opkit.")
    assert f"-o ConnectTimeout=10 me@board {copied}" in calls
    assert not Path(copied).exists()


def test_unreachable_board(fresh: Repository, tmp_path: Path) -> None:
    script(tmp_path / "ssh", "echo 'ssh: connect to host board: timed out' >&2\nexit 255\n")
    path = f"{tmp_path}:{os.environ['PATH']}"
    run = check(fresh, "target=rv1126", "qemu=ssh:board", path=path)
    assert run.returncode == 2
    assert "did not run on armhf: ssh:board: cannot copy the kernel: ssh: connect" in run.stderr


# ---- A process that does not answer ----

CALL = Invocation({"input": np.zeros(3, np.float16)}, {"fault": 0}, {"output": ((3,), "float16")})


def outcome_of(tmp_path: Path, python: str) -> str:
    greeting = f"print({GREETING.decode().strip()!r}, flush=True); "
    executor = Executor("here", (sys.executable, "-c", greeting + python))
    kernel = HarnessKernel(parse(DESCRIPTION), executor, tmp_path, CONVENTION)
    return kernel.run(CALL, RunOptions(limit=0)).fault


@pytest.mark.parametrize(
    ("python", "message"),
    [
        ("import sys; sys.exit('boom')", "ended with status 1\n  boom"),
        ("import os; os.kill(os.getpid(), 9)", "ended with SIGKILL"),
        ("print('garbage')", "ended with status 0"),
        ("print('status 2'); print('0', end='')", "ended with status 0"),
        ("input(); import time; time.sleep(99)", "no answer after 1 s"),
    ],
)
def test_process_without_answer(
    tmp_path: Path, python: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    timeout = 1.0 if "no answer" in message else LONG
    monkeypatch.setattr(
        harness_client, "TIMEOUT", timeout - harness_client.GRACE * (harness_client.STAGES + 1)
    )
    assert message in outcome_of(tmp_path, python)
