"""Any damage of a kernel to its process is one failed case, within the timeout."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opkit.check import checking
from opkit.check.harness_client import HarnessKernel
from opkit.check.results import Result
from opkit.common.errors import OpkitError
from opkit.runtimes import parse
from opkit.runtimes.executor import Executor
from opkit.runtimes.invocation import Invocation, RunOptions
from opkit.runtimes.rknn.host_kernels import CONVENTION, CpuKernel
from opkit.testing import Case, Operator, run_cpu_kernel
from tests.check import target_repositories
from tests.check.target_repositories import REFERENCE, enumerators, messages_of, need
from tests.compiling import C_SOURCES, GUARDED_MEMORY, build
from tests.repositories import Repository, generate
from tests.runtimes.rknn.host_build import harness, repository
from tests.time_limits import LONG, time_limit, with_growing_limit

pytestmark = pytest.mark.slow
with_two_processors = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="a set of one processor has no smaller one"
)

MISDEEDS_C = C_SOURCES / "host_misdeeds.c"
DEEDS = enumerators(MISDEEDS_C, "deed")
DESCRIPTION = """\
name: Misdeeds
inputs: {input: {type: VX_TYPE_TENSOR}}
outputs: {output: {type: VX_TYPE_TENSOR}}
params: {deed: {type: VX_TYPE_INT32, default: 0}}
"""

_EXIT = "the kernel ends its process with status 0: an operator must not exit"
_LATE = "the kernel timed out after {limit} s, and SIGALRM does not stop it"
_SIGNAL = "the kernel changes the action of the process on signal"
_UNSET = "(or it depends on uninitialized memory)"
_CHILD = "the kernel starts a process and does not wait for its end (fork)"

MISDEEDS = {
    "EXIT": _EXIT,
    "FAST_EXIT": _EXIT,
    "C_EXIT": _EXIT,
    "QUICK_EXIT": _EXIT,
    "EXIT_LATER": f"in 3 consecutive runs: {_EXIT}",
    "EXIT_AT_EXIT": "a destructor of the library ",  # a crash where the library is already unloaded
    "PTHREAD_EXIT": _EXIT,
    "HANDLE_SEGV": f"{_SIGNAL} 11 (Segmentation fault)",
    "HANDLE_SEGV_AND_CRASH": _EXIT,
    "NO_SIGNAL_STACK": "the kernel ends its process with SIGSEGV",
    "BLOCK_ALARM": "the kernel changes whether signal 14 (Alarm clock) is blocked",
    "BLOCK_ALARM_AND_LOOP": _LATE,
    "IGNORE_ALARM_AND_LOOP": _LATE,
    "STOP_ALARM_AND_LOOP": _LATE,
    "TRAP_FLOATS": "floating-point",
    "ROUND_UP": "the kernel changes the floating-point rounding mode",
    "LIMIT_MEMORY": "",  # the first failing allocation depends on libc
    "LIMIT_FILES": "the kernel changes the process's resource limit 1 (setrlimit)",
    "SMASH_STACK": "the kernel function accesses a misaligned or invalid address",
    "KILL": "the kernel ends its process with SIGKILL",
    "KILL_GROUP": "the kernel ends its process with SIGKILL",
    "KILL_PARENT": "the harness ended with SIGKILL",
    "TERMINATE": "the kernel ends its process with SIGTERM",
    "HANG_UP": "the kernel ends its process with SIGHUP",
    "STOP": "the kernel stops its process with SIGSTOP",
    "FORK": _CHILD,
    "FORK_AND_LOOP": _CHILD,
    "FORK_DAEMON": _CHILD,
    "CLOSE_ALL": "the kernel closes descriptor 0 of the process",
    "CRASH_IN_THREAD": "the kernel function writes through a NULL pointer",
    "LEAVE_THREAD": "the kernel returns before its threads end (pthread_create)",
    "LEAK_DESCRIPTOR": "descriptor 3 (/dev/null) was never closed: from open, fopen, opendir?",
    "LEAK_FILE": "descriptor 3 (/dev/null) was never closed",
    "LEAK_FOLDER": "descriptor 3 (/) was never closed",
    "LEAK_LINE": " was never freed",
    "LEAK_TEXT": "a block of 7 bytes (allocation 1) was never freed",
    "CHANGE_FOLDER": "the kernel changes the process's working directory (chdir)",
    "CHANGE_MASK": "the kernel changes the process's mask of file permissions (umask)",
    "CHANGE_LOCALE": "the kernel changes the process's locale (setlocale, uselocale)",
    "CHANGE_ENVIRONMENT": "the kernel changes the process's environment (setenv, putenv)",
    "CHANGE_PRIORITY": "the kernel changes the process's priority (nice, setpriority)",
    "CHANGE_PROCESSORS": "the kernel changes the process's processors (sched_setaffinity)",
    "UNSET_SIGN": _UNSET,
    "UNSET_ZERO": "only as compiled for delivery, without instrumentation",  # 0 only at full speed
    "UNSET_ALIGNED": _UNSET,
    "UNSET_PAGE": _UNSET,
}
"""A kernel's damage to its process -> message, with the time limit for an endless kernel."""

LIBRARY_MISDEEDS = {
    "CONSTRUCTOR_EXITS": "a constructor of the library ends its process with status 0",
    "CONSTRUCTOR_LOOPS": "a constructor of the library timed out after {limit} s",
    "CONSTRUCTOR_CRASHES": "a constructor of the library writes through a NULL pointer",
    "DESTRUCTOR_EXITS": "a destructor of the library ends its process with status 0",
    "DESTRUCTOR_LOOPS": "a destructor of the library timed out after {limit} s",
    "DESTRUCTOR_CRASHES": "a destructor of the library writes through a NULL pointer",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return repository(tmp_path_factory.mktemp("misdeeds"), MISDEEDS_C.name, DESCRIPTION, REFERENCE)


@pytest.fixture(scope="module")
def _operator(root: Path) -> Operator:
    return Operator(root)


@pytest.fixture
def operator(_operator: Operator) -> Operator:
    """Return an operator that copies; its param selects a fault of the process."""
    _operator.first_timeouts.clear()
    return _operator


def deed_case(deed: str) -> Case:
    elements = np.arange(8, dtype=np.float16)
    return Case(deed.lower(), {"input": elements}, {"deed": DEEDS.index(deed)})


def check(operator: Operator, deed: str = "NOTHING", limit: float = LONG) -> Result:
    with time_limit(limit):
        return run_cpu_kernel(deed_case(deed), operator=operator)


def assert_fails(operator: Operator, deed: str, message: str) -> None:
    """Check a failing kernel; the message of an endless one contains the time limit."""
    beginning, is_endless, _ = message.partition("{limit}")
    limit, result = with_growing_limit(
        lambda seconds: check(operator, deed, seconds if is_endless else LONG),
        lambda result: beginning in result.problem,
    )
    assert result.problem
    assert message.replace("{limit}", f"{limit:g}") in result.problem


def test_each_fault_has_expected_message() -> None:
    allowed = {"NOTHING", "PRINT", "PRINT_MUCH", "PRINT_MUCH_ERRORS"}
    assert sorted(MISDEEDS) == sorted(set(DEEDS) - allowed)


def marked(deeds: Iterable[str]) -> list[Any]:
    return [
        pytest.param(deed, marks=with_two_processors if deed == "CHANGE_PROCESSORS" else ())
        for deed in deeds
    ]


@pytest.mark.parametrize("deed", marked(MISDEEDS))
def test_faulty_case_fails_and_next_case_runs(operator: Operator, deed: str) -> None:
    assert_fails(operator, deed, MISDEEDS[deed])
    assert check(operator).problem == ""


@pytest.mark.parametrize("deed", LIBRARY_MISDEEDS)
def test_constructors_and_destructors(root: Path, deed: str) -> None:
    operator = Operator(root)
    kernel = operator.cpu_kernel
    assert isinstance(kernel, CpuKernel)
    guarded = kernel.instrumented
    assert isinstance(guarded, HarnessKernel)
    executor = replace(guarded.harness.executor, environment={"MISDEED": deed})
    operator.__dict__["cpu_kernel"] = HarnessKernel(
        operator.spec, executor, root, guarded.convention, guarded.attachments
    )
    assert_fails(operator, "NOTHING", LIBRARY_MISDEEDS[deed])


# ---- In a static program, under an emulator ----

# Not available in musl, qemu and a repository: feenableexcept, a memory limit, and threads.
NOT_EMULATED = {"TRAP_FLOATS", "LIMIT_MEMORY", "CRASH_IN_THREAD", "LEAVE_THREAD"}
EMULATED = {
    **{deed: text for deed, text in MISDEEDS.items() if deed not in NOT_EMULATED},
    "SMASH_STACK": "the kernel",  # the place of the crash depends on the processor
    # qemu has descriptors of its own.
    "LEAK_DESCRIPTOR": " (/dev/null) was never closed",
    "LEAK_FILE": " (/dev/null) was never closed",
    "LEAK_FOLDER": " (/) was never closed",
}
CASES = """\
import numpy as np
import pytest

from opkit.check import checking
from opkit.testing import Case, check_cpu_kernel

ELEMENTS = np.arange(8, dtype=np.float16)
CASES = [Case(name, {{"input": ELEMENTS}}, {{"deed": deed}}) for name, deed in {cases}]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case, monkeypatch):
    for name in ("TIME_LIMIT", "SHORT_LIMIT"):
        monkeypatch.setattr(checking, name, 1 if case.name in {endless} else {long_limit})
    check_cpu_kernel(case)
"""


@pytest.fixture(scope="module")
def emulated(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    need("qemu-arm-static", "qemu-user-static")
    repository = generate(tmp_path_factory.mktemp("emulated"), DESCRIPTION)
    shutil.copy(MISDEEDS_C, repository.path / "rknn_kernel_misdeeds.c")
    deeds = [(deed, DEEDS.index(deed)) for deed in EMULATED]
    cases = [case for wrong in deeds for case in (wrong, (f"after_{wrong[0]}", 0))]
    endless = [deed for deed, message in EMULATED.items() if message == _LATE]
    (repository.path / "tests/test_misdeeds.py").write_text(
        CASES.format(cases=cases, endless=endless, long_limit=LONG)
    )
    return repository


@pytest.fixture(scope="module")
def messages(emulated: Repository) -> dict[str, str]:
    """Return the message of each failed case under the emulator."""
    run = target_repositories.check(emulated, "target=rv1126", "verbose=1")
    assert (
        "\nnote: CPU kernel, armhf timed out after 1 s in case BLOCK_ALARM_AND_LOOP" in run.stdout
    )
    return messages_of("CPU kernel, armhf", run.stdout)


def test_no_harness_process_survives(emulated: Repository, messages: dict[str, str]) -> None:
    """Neither children of a kernel nor a kernel without its supervisor survive."""
    assert messages
    harness = str(emulated.path / "build/check/armhf/harness")
    left = []
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if harness in command.read_text(errors="replace"):
                left.append(command.parent.name)
    assert left == []


@pytest.mark.parametrize("deed", marked(EMULATED))
def test_fault_under_emulator(deed: str, messages: dict[str, str]) -> None:
    assert EMULATED[deed].replace("{limit}", "1") in messages[deed]
    assert f"after_{deed}" not in messages


def test_static_harness_fails_to_start(
    emulated: Repository, messages: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert messages
    monkeypatch.setenv("MISDEED", "CONSTRUCTOR_EXITS")
    run = target_repositories.check(emulated, "target=rv1126", "require_target=0")
    assert "did not run on armhf" in run.stderr
    assert "ends before the harness begins; does a constructor of the kernel exit?" in run.stderr
    assert LIBRARY_MISDEEDS["CONSTRUCTOR_EXITS"] in " ".join(run.stdout.split())


# ---- The output of a kernel ----


def test_kernel_output_is_shown(operator: Operator, capfd: pytest.CaptureFixture[str]) -> None:
    result = check(operator, "PRINT")
    assert result.problem == ""
    assert result.note == (
        "CPU kernel: prints 'a line of the kernel's': on a board, into the application's log"
    )
    assert check(operator).note == ""
    assert capfd.readouterr().out == "a line of the kernel's\n"


@pytest.mark.parametrize("deed", ["PRINT_MUCH", "PRINT_MUCH_ERRORS"])
def test_long_output_keeps_head_and_tail(
    operator: Operator, deed: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert check(operator, deed).problem == ""
    out = capfd.readouterr().out
    assert out.startswith("the first line\nthe same hundred bytes")
    assert out.endswith("the last line\n")
    assert re.search(r"^\.\.\. \d{8} bytes left out \.\.\.$", out, re.MULTILINE)
    assert len(out) < 10**5


# ---- A kernel that hangs ----


def test_hanging_kernel_costs_one_timeout(
    operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "TIME_LIMIT", 1.0)
    monkeypatch.setattr(checking, "SHORT_LIMIT", 0.1)
    first = run_cpu_kernel(deed_case("STOP_ALARM_AND_LOOP"), operator=operator)
    assert "timed out after 1 s" in first.problem
    again = run_cpu_kernel(deed_case("BLOCK_ALARM_AND_LOOP"), operator=operator)
    assert "timed out after 0.1 s" in again.problem
    assert again.note == first.note
    assert "in case stop_alarm_and_loop" in first.note
    assert "the timeout of later cases is 0.1 s" in first.note
    assert check(operator).problem == ""


# ---- Another runtime ----

PLAIN = """\
name: Plain
inputs: {x: {type: VX_TYPE_TENSOR}}
outputs: {y: {type: VX_TYPE_TENSOR}}
params: {divisor: {type: VX_TYPE_INT32}, summands: {type: VX_TYPE_ARRAY}}
"""


@pytest.fixture(scope="module")
def plain_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a minimal runtime and of kernel libraries that link with it first."""
    folder = tmp_path_factory.mktemp("plain")
    runtime = folder / "libplain_runtime.so"
    soname = f"-Wl,-soname,{runtime.name}"
    flags = ("-shared", "-O2", "-g", soname, "-lpthread", "-ldl")
    build(runtime, *flags, C_SOURCES / "plain_runtime.c", *GUARDED_MEMORY)
    sanitized = (*flags, "-DHARNESS_ADDRESS_SANITIZER")
    build(folder / "libsanitized.so", *sanitized, C_SOURCES / "plain_runtime.c", *GUARDED_MEMORY)
    for name in ("plain_kernel", "plain_faults"):
        of_kernel = ("-shared", "-O2", "-g", "-ffunction-sections", "-Wl,--gc-sections")
        build(folder / f"lib{name}.so", *of_kernel, C_SOURCES / f"{name}.c", runtime, "-lpthread")
    return folder


def plain_kernel(
    folder: Path,
    symbol: str,
    library: str = "libplain_kernel.so",
    runtime: str = "libplain_runtime.so",
) -> HarnessKernel:
    libraries = [folder / runtime, folder / library]
    command = (str(harness()), *map(str, libraries), symbol)
    executor = Executor("plain", command)
    return HarnessKernel(parse(PLAIN), executor, folder, CONVENTION, library=libraries[1])


def plain_invocation(divisor: int) -> Invocation:
    params = {"divisor": divisor, "summands": [5, 6]}
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    return Invocation({"x": x}, params, {"y": ((2, 3), "float32")})


def test_harness_runs_without_openvx(plain_folder: Path) -> None:
    kernel = plain_kernel(plain_folder, "add")
    run = kernel.run(plain_invocation(2), RunOptions(fill=1))
    assert (run.status, run.fault, run.events, run.log) == (0, "", [], ["this is plain"])
    assert run.outputs["y"].tolist() == [[3, 4, 5], [6, 7, 8]]
    run = kernel.run(plain_invocation(0))
    assert re.match(r"plain_kernel\.c:12: the function divides an integer by zero", run.fault)
    assert run.log == ["this is plain"]
    with pytest.raises(OpkitError, match="has no subtract, by which the runtime"):
        plain_kernel(plain_folder, "subtract").run(plain_invocation(1))


# Kernel -> its fault, event or leak.
PLAIN_FAULTS = {
    "nothing": "",
    "resize": "",
    "read_past_input": "reads just past the end of input 'x' (24 bytes)",
    "write_past_output": "writes 4 bytes past the end of output 'y' (24 bytes)",
    "read_past_param": "reads just past the end of param 'summands' (8 bytes)",
    "use_after_free": "reads byte 4 of a block of 24 bytes (allocation 1) after it was freed",
    "write_past_block": "writes just past the end of a block of 96 bytes (allocation 1)",
    "write_before_output": "the operator wrote up to 1 bytes before the start of output 'y' (24 b",
    "free_twice": "the operator frees a block of 96 bytes (allocation 1) twice",
    "free_input": "the operator frees a pointer into input 'x' (24 bytes), which it did not get f",
    "leak": "a block of 24 bytes (allocation 1) was never freed",
    "change_input": "writes byte 0 of input 'x' (24 bytes), a read-only input",
    "leave_thread": "the function returns before its threads end (pthread_create)",
}


@pytest.mark.parametrize("symbol", PLAIN_FAULTS)
def test_memory_is_guarded_without_openvx(symbol: str, plain_folder: Path) -> None:
    kernel = plain_kernel(plain_folder, symbol, "libplain_faults.so")
    run = kernel.run(plain_invocation(1), RunOptions(fill=0xA5))
    place, _, fault = run.fault.partition(": the function ")
    if fault:
        source = (C_SOURCES / "plain_faults.c").read_text().splitlines()
        begin = next(i for i, line in enumerate(source, 1) if f"int {symbol}(" in line)
        file, _, line = place.partition(":")
        assert file == "plain_faults.c"
        assert begin < int(line) <= source.index("}", begin)
    assert PLAIN_FAULTS[symbol] in "".join([fault, *run.events, *run.leaks])
    assert len([*filter(None, [run.fault]), *run.events, *run.leaks]) == bool(PLAIN_FAULTS[symbol])
    assert run.status == 0


def test_fault_in_libc_has_no_line(plain_folder: Path) -> None:
    kernel = plain_kernel(plain_folder, "parse_unmapped", "libplain_faults.so")
    run = kernel.run(plain_invocation(1), RunOptions(fill=0xA5))
    assert run.fault == "the function reads the unmapped address 0x12340"


def test_changed_input_is_named_without_guard_pages(plain_folder: Path) -> None:
    """AddressSanitizer's memory is not read-only."""
    kernel = plain_kernel(plain_folder, "change_input", "libplain_faults.so", "libsanitized.so")
    run = kernel.run(plain_invocation(1), RunOptions(fill=0xA5))
    assert (run.status, run.fault, run.leaks) == (0, "", [])
    assert run.events == ["the operator changes input 'x'"]


def test_left_process_has_its_own_events(plain_folder: Path) -> None:
    kernel = plain_kernel(plain_folder, "leave_process", "libplain_faults.so")
    run = kernel.run(plain_invocation(1), RunOptions(fill=1))
    first, *others = run.events
    assert "the operator starts a process (fork)" in first
    assert others == ["the function starts a process and does not wait for its end (fork)"]
    assert (run.status, run.fault, run.leaks) == (0, "", [])


def test_output_larger_than_all_else(plain_folder: Path) -> None:
    kernel = plain_kernel(plain_folder, "nothing", "libplain_faults.so")
    call = replace(plain_invocation(1), outputs={"y": ((3 << 20,), "float32")})
    run = kernel.run(call, RunOptions(fill=1))
    assert (run.status, run.fault, run.events) == (0, "", [])
    assert np.all(run.outputs["y"].view(np.uint8) == 1)
    assert run.outputs["y"].shape == (3 << 20,)


def test_fastest_run_is_measured(plain_folder: Path) -> None:
    kernel = plain_kernel(plain_folder, "slow_at_first", "libplain_faults.so")
    kernel.harness.executor = replace(kernel.harness.executor, measures=True)
    assert kernel.run(plain_invocation(1), RunOptions(limit=LONG)).seconds >= 1
    assert kernel.run(plain_invocation(1), RunOptions(repeat=9, limit=LONG)).seconds < 1


# ---- Remaining processes ----


@pytest.fixture(autouse=True)
def no_process_is_left(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """After a case only the harnesses remain, as children of this process."""
    yield
    # The folder tells this run of the tests from others.
    library = f"{tmp_path_factory.getbasetemp()}/misdeeds".encode()
    assert [path for path in Path("/proc").glob("[0-9]*") if _is_left(path, library)] == []


def _is_left(process: Path, library: bytes) -> bool:
    try:
        parent = int((process / "stat").read_text().rpartition(")")[2].split()[1])
        return library in (process / "cmdline").read_bytes() and parent != os.getpid()
    except OSError:  # it has just ended
        return False
