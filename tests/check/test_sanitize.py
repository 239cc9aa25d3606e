"""`scons sanitize=... check`: undefined behavior is reported with file and line."""

from __future__ import annotations

import itertools
import os
import shutil
from pathlib import Path

import pytest

from opkit.check.sanitizers import explain, parse_sanitizers
from opkit.common.errors import OpkitError
from opkit.runtimes.rknn import rknnop
from opkit.runtimes.rknn.boards import CHIPS
from tests.check.target_repositories import (
    FAULTS_C,
    check,
    counts,
    faults_repository,
    messages_of,
    need,
    write_faults,
)
from tests.repositories import Repository

pytestmark = pytest.mark.slow

BOTH = "CPU kernel, address,undefined"


@pytest.fixture(autouse=True)
def gcc() -> None:
    need("gcc", "gcc")


# Statement of compute -> its message.
UNDEFINED = {
    "volatile int32_t big = INT32_MAX; big = big + 1;": "signed integer overflow: 2147483647 + 1",
    "volatile int bits = 32; bits = 1 << bits;": "shift exponent 32 is too large for 32-bit type",
    "volatile float big = 3e9F; volatile int32_t whole = (int32_t)big; (void)whole;": (
        "3e+09 is outside the range of representable values of type 'int'"
    ),
    "volatile int zero = 0; zero = 1 / (zero | 0);": "division by zero",
}
ADDRESS = {
    "((volatile char *)outputs->output.data)[4 * outputs->output.size] = 1;": (
        "heap-buffer-overflow\n  WRITE of size 1\n"
    ),
}


def built(repository: Repository) -> dict[Path, bytes]:
    """Return the files for the board: the packages, and the libraries of all ABIs."""
    build = repository.path / "build"
    packages = [build / chip / "MyOperator.rknnop" for chip in CHIPS]
    found = [*packages, *(build / abi / "libmyoperator.so" for abi in rknnop.ABIS)]
    return {path: path.read_bytes() for path in found}


def test_compute_fault_has_source_line(copy_of_fresh: Repository) -> None:
    expected = {**UNDEFINED, **ADDRESS}
    first = write_faults(copy_of_fresh, list(expected))
    copy_of_fresh.scons("target=all")
    before = built(copy_of_fresh)
    run = check(copy_of_fresh, "sanitize=address,undefined", "verbose=1")
    assert run.returncode == 2
    messages = messages_of(BOTH, run.stdout)
    # The last case is correct.
    assert list(messages) == [f"{size}-ramp" for size, _ in enumerate(expected, 1)]
    for line, text, message in zip(itertools.count(first), messages.values(), expected.values()):
        assert text.startswith(f"  myoperator_compute.h:{line}: {message}")

    # The sanitized build changes no product, and `scons -c` deletes it.
    assert before == built(copy_of_fresh)
    folder = copy_of_fresh.path / "build/check/address,undefined"
    assert (folder / "harness").is_file()
    copy_of_fresh.scons("-c")
    assert not folder.exists()


def test_single_sanitizer(copy_of_fresh: Repository) -> None:
    line = write_faults(copy_of_fresh, [*UNDEFINED][:1])
    run = check(copy_of_fresh, "sanitize=undefined", "verbose=1")
    assert messages_of("CPU kernel, undefined", run.stdout)["1-ramp"].startswith(
        f"  myoperator_compute.h:{line}: signed integer overflow"
    )
    assert list(counts(run.stdout)) == ["CPU kernel", "CPU kernel, undefined"]


@pytest.mark.nightly
def test_fault_kinds(tmp_path: Path) -> None:
    names = ["USE_AFTER_FREE", "FREE_TWICE", "STACK_OVERFLOW", "MAP_PAST_END", "FREE_FOREIGN"]
    run = check(faults_repository(tmp_path, names), "sanitize=address,undefined", "verbose=1")
    messages = messages_of(BOTH, run.stdout)
    assert list(messages) == names  # and no correct case among them
    source = FAULTS_C.read_text().splitlines()

    def place(text: str) -> str:
        return f"rknn_kernel_faults.c:{1 + next(i for i, row in enumerate(source) if text in row)}"

    assert f"{place('halves[0] = freed[3]')}: heap-use-after-free\n" in messages["USE_AFTER_FREE"]
    freed = f"  freed here:\n    in misuse_malloc, {place('freed = malloc(10)')[:-1]}"
    assert freed in messages["USE_AFTER_FREE"]
    assert ": attempting double-free\n" in messages["FREE_TWICE"]
    assert (
        f"{place('free(input->data + 1)')}: attempting free on address which was not"
        in (messages["FREE_FOREIGN"])
    )
    assert ": stack-overflow\n" in messages["STACK_OVERFLOW"]
    assert len(messages["STACK_OVERFLOW"].splitlines()) < 10
    assert (
        f"{place('sink = ((volatile uint16_t *)memory)[count]')}: heap-buffer-overflow\n"
        in messages["MAP_PAST_END"]
    )


def test_missing_compiler_error(fresh: Repository) -> None:
    run = check(fresh, "sanitize=address", path="/nonexistent")
    assert run.returncode == 2
    assert "sanitize=address requires gcc or clang" in run.stderr
    assert "sudo apt install gcc" in run.stderr


@pytest.mark.parametrize(("name", "is_noted"), [("thread", True), ("undefined", False)])
def test_loops_without_threads_are_noted(fresh: Repository, name: str, is_noted: bool) -> None:
    run = fresh.scons("-n", f"sanitize={name}", "check", path=os.environ["PATH"])
    note = "note: sanitize=thread: op.yml has no `threads`, so opkit_parallel_for is serial\n"
    assert (note in run.stdout) == is_noted
    assert f"sanitize={name}: compiled with {shutil.which('gcc')}\n" in run.stdout


def test_sanitizer_names() -> None:
    assert parse_sanitizers("") == []
    assert parse_sanitizers("undefined, address,undefined") == ["address", "undefined"]
    assert parse_sanitizers("none") == []
    with pytest.raises(OpkitError, match=r"unknown sanitizer 'none' \(expected address, undefined"):
        parse_sanitizers("none,address")
    expected = r"unknown sanitizer 'memory' \(expected address, undefined, thread, none\)"
    with pytest.raises(OpkitError, match=expected):
        parse_sanitizers("address,memory")


def test_unrelated_stderr_is_not_explained() -> None:
    assert explain("", Path()) == ""
    assert explain("exp_compute.h: something else\n#0 0x1 in main x.c:3\n", Path()) == ""
