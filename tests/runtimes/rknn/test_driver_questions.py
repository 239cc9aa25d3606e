"""The host runtime answers the questions of driver_questions.c as the boards' driver 1.7.5.

The driver itself is tested, too, if this is set:

    RKNPU_DRIVER  a folder with its libraries for aarch64 or armhf: libOpenVX.so and dependencies

It runs in qemu, above the stand-in for its hardware layer, with the C library of the ABI in
/usr/TRIPLE (Debian: libc6-arm64-cross and libstdc++6-arm64-cross, or -armhf-). The table in
tests/data has a line for each question: the driver's answers on both ABIs, and a part of the host
runtime's event.
"""

from __future__ import annotations

import csv
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from opkit.runtimes.rknn.board_driver import read_driver
from opkit.toolchains.abi import ABIS, Abi
from tests.check.target_repositories import need
from tests.compiling import C_SOURCES, GUARDED_MEMORY, HOST, RKNN, build
from tests.runtimes.rknn.driver_build import stand_in
from tests.runtimes.rknn.host_build import compile_program

SOURCE = C_SOURCES / "driver_questions.c"
HOST_RUNTIME = RKNN / "host_runtime"
TABLE = Path(__file__).parents[2] / "data/rknpu_driver_1.7.5.tsv"


class Answer(NamedTuple):
    """The program's output after a question."""

    text: str
    events: str


def read_table() -> list[dict[str, str]]:
    with TABLE.open(newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def ask(command: Sequence[str | Path]) -> dict[str, Answer]:
    """Run the program and return question -> answer."""
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    lines = (f"{line}\t".split("\t") for line in result.stdout.splitlines())
    return {question: Answer(text.strip(), events) for question, text, events, *_ in lines}


def emulator(abi: Abi) -> str:
    program = f"qemu-{abi.processor}-static"
    need(program, "qemu-user-static")
    return program


def host_program(abi: Abi, folder: Path) -> list[str | Path]:
    """Return the command that queries the host runtime, compiled for an ABI."""
    program = folder / "driver_questions"
    sources = [SOURCE, *sorted(HOST_RUNTIME.glob("*.c")), *GUARDED_MEMORY]
    if abi is HOST:
        compile_program(program, *sources)
        return [program]
    # Static, so that qemu needs no file of the foreign system.
    target = (f"--target={abi.triple.replace('gnu', 'musl')}", "-static", "-DHARNESS_STATIC")
    build(program, *target, "-O1", f"-I{HOST_RUNTIME}", *sources, abi=abi)
    return [emulator(abi), program]


def differs(expected: str, event: str, given: Answer) -> bool:
    """Return whether an answer of the host runtime differs from the driver's, or lacks its event.

    Where the driver ends with SIGSEGV, any answer of the host runtime is right, with an event.
    """
    reported = event in given.events if event else given.events == ""
    return not reported or (given.text != expected and not expected.endswith("SIGSEGV"))


@pytest.mark.slow
@pytest.mark.parametrize(("abi", "column"), [(HOST, "aarch64"), (ABIS["armhf"], "armhf")])
def test_host_runtime_answers_as_driver(abi: Abi, column: str, tmp_path: Path) -> None:
    answers, table = ask(host_program(abi, tmp_path)), read_table()
    assert [row["question"] for row in table] == list(answers)
    assert [
        (row, answers[row["question"]])
        for row in table
        if differs(row[column], row["event"], answers[row["question"]])
        # glibc aborts on an invalid free; the C library of static programs does not.
        and (abi is HOST or not row[column].endswith("SIGABRT"))
    ] == []


def test_crashes_have_events() -> None:
    for row in read_table():
        for abi in ("aarch64", "armhf"):
            crashes = row[abi].endswith("SIGSEGV")
            assert crashes == ("crashes the board's driver" in row["event"]), row


@pytest.mark.skipif(
    "RKNPU_DRIVER" not in os.environ,
    reason="set RKNPU_DRIVER to ask the boards' driver; it is the vendor's",
)
def test_driver_answers_as_recorded(tmp_path: Path) -> None:
    driver = read_driver(Path(os.environ["RKNPU_DRIVER"]))
    abi = ABIS[driver.abi]
    build(tmp_path / "stub/libOpenVX.so", "-shared", RKNN / "openvx_stub.c", abi=abi)
    program = build(
        tmp_path / "driver_questions", SOURCE, f"-L{tmp_path / 'stub'}", "-lOpenVX", abi=abi
    )
    libraries = f"LD_LIBRARY_PATH={stand_in(driver, tmp_path).parent}:{driver.folder}"
    answers = ask([emulator(abi), "-L", f"/usr/{abi.triple}", "-E", libraries, program])
    assert {question: answer.text for question, answer in answers.items()} == {
        row["question"]: row[abi.name] for row in read_table()
    }
