"""The log of a run of pytest: missing entries, and its summary."""

from __future__ import annotations

from pathlib import Path

from opkit.check import run_log
from opkit.check.run_log import FinishedTest, RunLog
from opkit.check.session import Session
from opkit.description.describe import CheckedKernel
from opkit.runtimes.executor import Executor

CPU = CheckedKernel("CPU kernel", "check_cpu_kernel")
VX = CheckedKernel("VX kernel", "check_vx_kernel")
BOTH = {CPU: "every operator has one", VX: "op.yml says so"}
ELSEWHERE = {"CPU kernel": ["CPU kernel, armhf"]}
PASSED = [("CPU kernel", False), ("CPU kernel, armhf", False)]


def complete_log() -> RunLog:
    """Return the log of a complete, passing check."""
    return RunLog(
        collected=dict.fromkeys(["t.py::cpu", "t.py::vx"]),
        started="t.py::vx",
        finished={"t.py::cpu": FinishedTest("passed", PASSED), "t.py::vx": passed("VX kernel")},
        status=0,
    )


def passed(kernel: str) -> FinishedTest:
    return FinishedTest("passed", [(kernel, False)])


def test_case_skipped_by_executor_is_not_missing() -> None:
    log = complete_log()
    cpu, elsewhere = PASSED
    log.finished["t.py::cpu"] = FinishedTest("passed", [cpu], [elsewhere[0]])
    assert run_log.missing(log, BOTH, ELSEWHERE, ["t.py"]) == []


def test_case_missing_on_an_executor_is_named() -> None:
    log = complete_log()
    log.finished["t.py::cpu"] = passed("CPU kernel")
    (message,) = run_log.missing(log, BOTH, ELSEWHERE, ["t.py"])
    assert message == "t.py::cpu has 1 result of the CPU kernel, but 0 of the CPU kernel, armhf"


def test_sample_on_executor_suffices() -> None:
    log = complete_log()
    log.finished["t.py::more"] = passed("CPU kernel")
    sampled = ["CPU kernel, armhf"]
    assert run_log.missing(log, BOTH, ELSEWHERE, ["t.py"], sampled) == []
    log.finished["t.py::cpu"] = passed("CPU kernel")
    (message,) = run_log.missing(log, BOTH, ELSEWHERE, ["t.py"], sampled)
    assert message == "no case ran on the CPU kernel, armhf"


def test_xfail_is_not_swallowed_failure() -> None:
    log = complete_log()
    log.finished["t.py::vx"] = FinishedTest("xfailed", [("VX kernel", True)])
    assert run_log.missing(log, BOTH, ELSEWHERE, ["t.py"]) == []


def test_skipped_and_left_out_are_counted() -> None:
    log = complete_log()
    log.finished["t.py::more"] = FinishedTest("failed", [("CPU kernel", True)])
    assert run_log.not_checked(log) == ""
    log.finished["t.py::a"] = log.finished["t.py::b"] = FinishedTest("skipped")
    log.finished["t.py::x"] = FinishedTest("xfailed", [("CPU kernel", True)])
    log.finished["t.py::y"] = FinishedTest("passed", [], ["engine", "CPU kernel, armhf", "engine"])
    log.skipped_files |= {"v.py", "u.py"}
    assert run_log.not_checked(log) == (
        "2 of 2 cases left out on engine; 1 of 2 cases left out on CPU kernel, armhf; "
        "2 tests skipped; 1 test xfailed; u.py skipped; v.py skipped"
    )


def test_more_than_a_tenth_left_out_is_told() -> None:
    log = complete_log()
    for ran, expected in ((9, ""), (8, "1 of 9 cases left out on engine")):
        log.finished["t.py::x"] = FinishedTest("passed", [("engine", False)] * ran, ["engine"])
        assert run_log.not_checked(log) == expected


def strengths(weak: int, cause: str, strong: int) -> RunLog:
    """Return the log of a test with weak and strong cases."""
    cases = [("CPU kernel", "y", cause, "why")] * weak + [("CPU kernel", "y", "", "")] * strong
    return RunLog(finished={"t.py::cpu": FinishedTest("passed", strengths=cases)})


WRONG_PASSES = "a wrong CPU kernel passes {} and shows on the board only: in t.py::cpu, why"


def test_weak_cases_are_noted_and_fail_alone() -> None:
    for cause in ("tolerance", "values"):
        errors, notes = run_log.weak_cases(strengths(2, cause, 0))
        assert (errors, notes) == ([WRONG_PASSES.format("2 of 2 cases,")], [])
    for log, cases in (
        (strengths(1, "tolerance", 9), "1 of 10 cases,"),
        (strengths(2, "values", 1), "2 of 3 cases,"),
    ):
        assert run_log.weak_cases(log) == ([], [WRONG_PASSES.format(cases)])
    for log in (strengths(2, "values", 2), strengths(0, "", 2), complete_log()):
        assert run_log.weak_cases(log) == ([], [])


def finished(test: str, results: object) -> dict[str, object]:
    """Return the log line of a passed test."""
    return {"finished": test, "outcome": "passed", "results": results, "left_out": [], "params": []}


def test_log_round_trip(tmp_path: Path) -> None:
    file = tmp_path / "log"
    assert run_log.read(file) == RunLog()
    for line in (
        {"collected": "t.py::cpu"},
        {"collected": "t.py::vx"},
        {"started": "t.py::cpu"},
        finished("t.py::cpu", PASSED),
        {"started": "t.py::vx"},
        finished("t.py::vx", [("VX kernel", False)]),
        {"skipped": "u.py"},
        {"errored": "v.py"},
        {"altered": "t.py::cpu"},
    ):
        run_log.append(file, line)
    read = run_log.read(file)
    assert (read.status, read.skipped_files) == (None, {"u.py"})
    assert ([*read.errored], [*read.altered]) == (["v.py"], ["t.py::cpu"])
    run_log.append(file, {"complete": 0})
    read = run_log.read(file)
    for names in (read.skipped_files, read.errored, read.altered):
        names.clear()
    assert read == complete_log()
    skipped = {"outcome": "skipped", "results": [], "left_out": ["VX kernel"]}
    run_log.append(file, {"finished": "t.py::x", **skipped, "params": [{"p": "1"}]})
    run_log.append(file, {"complete": 1})
    read = run_log.read(file)
    assert read.finished["t.py::x"] == FinishedTest("skipped", [], ("VX kernel",), ({"p": "1"},))
    assert read.status == 1


def test_session_round_trip(tmp_path: Path) -> None:
    executor = Executor("armhf", ["qemu-arm", "runner"], {"A": "b"}, True)
    for session in (Session(), Session((executor,), Path("log"), Path("records"))):
        session.write(tmp_path / "new/session.json")
        assert Session.read(tmp_path / "new/session.json") == session
