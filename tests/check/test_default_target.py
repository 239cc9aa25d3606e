"""`scons check` runs a sample of the cases on the default target's instruction set, in qemu."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import pytest

from opkit.check.cases import Case
from opkit.check.collection import BUDGET, ELEMENTS, sample
from tests.check.target_repositories import counts, need, rows
from tests.repositories import Repository, generate

pytestmark = pytest.mark.slow

THREE = """\
name: MyOperator
inputs: {input: {type: VX_TYPE_TENSOR}}
outputs: {output: {type: VX_TYPE_TENSOR}}
kernels: [cpu]
target_platform: RV1126
runtimes: [rknn, pplnn, rknn2]
"""


def many_cases(count: int) -> str:
    return f"""\
import pytest
from opkit.testing import cases, check_cpu_kernel, ramp
CASES = cases([{{"input": (size,)}} for size in range(1, {count} + 1)], [ramp()])

@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case)

def test_one():
    check_cpu_kernel(CASES[0])
"""


def check(repository: Repository, *arguments: str) -> str:
    """Run `scons check` with the machine's emulators; return its stdout."""
    run = repository.scons("-Q", "check", *arguments, check=False, path=os.environ["PATH"])
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


@pytest.fixture
def qemu() -> None:
    for processor in ("aarch64", "arm", "riscv64"):
        need(f"qemu-{processor}-static", "qemu-user-static")


@pytest.mark.usefixtures("qemu")
def test_every_runtime_runs_on_its_default_target(tmp_path: Path) -> None:
    printed = check(generate(tmp_path, THREE))
    table = counts(printed)
    others = ["armhf", "pplnn riscv64", "rknn2 aarch64"]
    kernels = ["pplnn", "rknn2", *others]
    assert sorted(table) == sorted(["CPU kernel", *(f"CPU kernel, {name}" for name in kernels)])
    assert {*table.values()} == {6}
    assert " a sample" not in printed


@pytest.mark.nightly
@pytest.mark.usefixtures("qemu", "xdist")
def test_sample_of_many_cases(copy_of_fresh: Repository) -> None:
    (copy_of_fresh.path / "tests/test_myoperator.py").write_text(many_cases(BUDGET + 20))
    printed = check(copy_of_fresh, "verbose=1")
    # One test is without a parameter.
    expected = {"CPU kernel": BUDGET + 21, "CPU kernel, aarch64": BUDGET + 1}
    assert counts(printed) == expected
    sampled = [case for case, *_ in rows(printed)["CPU kernel, aarch64"]]
    assert len(sampled) == BUDGET + 1
    note = f"note: aarch64 ran {BUDGET + 1} of {BUDGET + 21} cases, a sample; target=... check runs"
    assert f"{note} all\n" in printed
    in_parallel = rows(check(copy_of_fresh, "workers=2", "verbose=1"))["CPU kernel, aarch64"]
    assert [case for case, *_ in in_parallel] == sampled
    assert counts(check(copy_of_fresh, "target=rk1808"))["CPU kernel, aarch64"] == BUDGET + 21


@pytest.mark.usefixtures("qemu")
def test_failure_on_chip_fails(copy_of_fresh: Repository) -> None:
    """The PC's and the chip's results differ without undefined behavior."""
    compute = copy_of_fresh.path / "myoperator_compute.h"
    text = compute.read_text()
    wrong = "#if defined(__aarch64__)\n    return NULL;\n#endif\n"
    start = text.index("{", text.index("myoperator_compute(")) + 2
    compute.write_text(text[:start] + wrong + text[start:])
    path = os.environ["PATH"]
    run = copy_of_fresh.scons("-Q", "check", "verbose=1", check=False, path=path)
    assert run.returncode == 2
    assert re.search(r"^CPU kernel, aarch64 of MyOperator, case ", run.stdout, re.MULTILINE)
    assert not re.search(r"^CPU kernel of MyOperator, case ", run.stdout, re.MULTILINE)


@pytest.mark.nightly
def test_missing_emulator_is_one_line(tmp_path: Path) -> None:
    repository = generate(tmp_path, THREE)
    run = repository.scons("-Q", "check")
    notes = [line for line in run.stdout.splitlines() if line.startswith("note: not run")]
    names = "armhf, riscv64, aarch64"
    assert notes == [f"note: not run on {names}: no qemu (apt install qemu-user-static)"]
    assert len(notes[0]) <= 80
    assert "build/check" not in run.stdout
    assert "not run" not in repository.scons("-Q", "check", "quick=1").stdout


@pytest.mark.usefixtures("qemu")
@pytest.mark.parametrize("option", ["quick=1", "target=x64"])
def test_option_runs_on_pc_only(fresh: Repository, option: str) -> None:
    assert list(counts(check(fresh, option))) == ["CPU kernel", "VX kernel"]


# ---- The sample ----


def case(name: str, elements: int = 1) -> Case:
    return Case(name, {"x": np.zeros(elements, np.int8)}, {})


MANY = [case(f"{number}-ramp") for number in range(200)]


def test_sample_depends_on_cases_only() -> None:
    names = sample([MANY])
    assert len(names) == BUDGET
    assert sample([MANY[::-1]]) == names
    assert sample([MANY, MANY[:100]]) != frozenset()
    # A new case takes the place of at most one other.
    assert len(names - sample([[*MANY, case("new")]])) <= 1
    assert sample([MANY[:BUDGET]]) == {each.name for each in MANY[:BUDGET]}


def test_sample_has_cases_of_every_test() -> None:
    few = [case("a"), case("b")]
    assert {"a", "b"} < sample([MANY, few])
    assert sample([MANY, [], few]) == sample([MANY, few])


def test_large_cases_cost_more() -> None:
    large = [case(f"{number}-large", BUDGET // 4 * ELEMENTS) for number in range(10)]
    assert len(sample([large])) == 3
    huge = case("huge", 2 * BUDGET * ELEMENTS)
    assert sample([[huge]]) == {"huge"}
    assert "huge" not in sample([[huge, *MANY]])
