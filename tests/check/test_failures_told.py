"""`scons check` tells each cause of failures once, in lines of at most 80 columns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from opkit.check.results import Result
from opkit.check.terminal_summary import FinishedTest, cases, failures, kernels, left_out, notes
from opkit.check.traits import CaseTraits, TensorTraits
from tests.repositories import Repository, generate

DESCRIPTION = """\
name: Told
inputs: {x: {type: VX_TYPE_TENSOR}}
outputs: {y: {type: VX_TYPE_TENSOR}}
params: {mode: {type: VX_TYPE_INT32, default: 0}}
"""
TESTS = """\
import pytest
from opkit.testing import cases, check_cpu_kernel, uniform
CASES = cases(
    [{"x": (width,)} for width in range(2, 14)], [uniform(1, 2)], [{"mode": 0}, {"mode": 1}]
)

@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case)
"""
COMPUTE = "    return NULL;"
RULE = "    # Write the real rule"


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """Return an operator with 24 cases; each test edits its files for a time."""
    repository = generate(tmp_path_factory.mktemp("told"), DESCRIPTION)
    (repository.path / "tests/test_told.py").write_text(TESTS)
    return repository


WRONG_SHAPE = "return {'y': (3,)}"


@contextmanager
def changed(repository: Repository, compute: str = "", reference: str = "") -> Iterator[None]:
    """Add a line to the math in C or to the shape rule in numpy, for a time."""
    edits = {"told_compute.h": (COMPUTE, compute), "told_reference.py": (RULE, reference)}
    texts = {name: (repository.path / name).read_text() for name in edits}
    for name, (place, line) in edits.items():
        before, after = texts[name].rsplit(place, 1)
        (repository.path / name).write_text(f"{before}    {line}\n{place}{after}")
    try:
        yield
    finally:
        for name, text in texts.items():
            (repository.path / name).write_text(text)


def check(repository: Repository, compute: str = "", reference: str = "") -> tuple[str, str]:
    """Check with a mistake; return what pytest prints, and its part about the causes."""
    with changed(repository, compute, reference):
        run = repository.scons("-Q", "check", check=False)
    assert run.returncode == 2, run.stdout + run.stderr
    printed = run.stdout.partition("check tests/\n")[2]
    assert max(map(len, printed.splitlines())) <= 80, printed
    return printed, printed.partition(" causes of failures ")[2]


@pytest.mark.slow
def test_failures_of_a_param_are_one_message(told: Repository) -> None:
    printed, groups = check(told, "    outputs->y.float32[1] += (float)params->mode;")
    assert groups.splitlines()[1:5] == [
        "12 of 24 cases on the CPU kernel: wrong elements in output 'y'",
        "  all failures have mode=1, all passes 0",
        "  the smallest, in tests/test_told.py::test_cpu_kernel:",
        "  2-uniform-mode=1",
    ]
    assert re.search(r"1 of 2 elements of output 'y' are wrong, the worst is y\[1\]", groups)
    assert re.search(r"^ +x\[1\] = 1\.\d+$", groups, re.MULTILINE)
    assert printed.count("are wrong") == 1
    assert "FAILURES" not in printed
    assert "FAILED tests/" not in printed
    assert "12 failed, 12 passed" in printed
    assert re.search(r"^CPU kernel +24 .* 12 FAILED$", printed, re.MULTILINE)
    assert re.findall(r"^CPU kernel +\d+-uniform-mode=(\d) ", printed, re.MULTILINE) == ["1"] * 12
    assert "scons verbose=1 check" in groups


@pytest.mark.slow
def test_failures_of_a_shape_name_it_and_its_look(told: Repository) -> None:
    statement = (
        "    if (outputs->y.size % 2 == 1) { for (size_t i = 0; i < outputs->y.size; i++)"
        " { outputs->y.float32[i] *= 2.0F; } }"
    )
    _, groups = check(told, statement)
    assert "12 of 24 cases on the CPU kernel: wrong elements in output 'y'" in groups
    assert "  all failures have an odd x.shape[-1], no pass has" in groups
    assert "  y: each element is the reference's times 2\n" in groups


@pytest.mark.slow
@pytest.mark.nightly
def test_mistake_of_the_reference_is_told_once(told: Repository) -> None:
    printed, groups = check(told, reference=WRONG_SHAPE)
    assert groups.count("output_shapes says (3,)") == 1
    assert re.search(
        r"^22 of 24 cases: told_reference\.py:\d+: the reference returns", groups, re.M
    )
    assert printed.count("told_reference.py") == 1


@pytest.mark.slow
def test_passing_check_is_one_row(told: Repository) -> None:
    own = r"the CPU kernel also ran on \d+ shapes of the check's own\n"
    for command, shapes in ((["SCons", "-Q", "check", "quick=1"], ""), (["pytest"], own)):
        printed = told.run(*command).stdout
        _, _, summary = printed.partition(" kernels against their reference ====")
        rows = r"=+\n+kernel .*\nCPU kernel +24 +0 +0 .* [mu]s\n"
        assert re.fullmatch(rows + shapes + r"(=+ )?24 passed in .*\n", summary), printed


@pytest.mark.slow
@pytest.mark.nightly
def test_verbose_check_shows_every_case(told: Repository) -> None:
    printed = told.scons("-Q", "check", "quick=1", "verbose=1").stdout
    row = r"^CPU kernel +\d+-uniform-mode=\d +0 +0 .* [mu]s$"
    assert len(re.findall(row, printed, re.MULTILINE)) == 24


@pytest.mark.slow
@pytest.mark.nightly
def test_verbose_check_shows_every_failure(told: Repository) -> None:
    with changed(told, reference=WRONG_SHAPE):
        run = told.scons("-Q", "check", "verbose=1", check=False)
    assert run.stdout.count("but its output_shapes says (3,)") == 22 + 1  # and the headline
    assert "22 of 24 cases" in run.stdout


@pytest.mark.slow
@pytest.mark.nightly
def test_single_failure_is_shown_by_pytest(
    told: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI", raising=False)  # there, pytest does not cut lines of its summary
    test = "tests/test_told.py::test_cpu_kernel[2-uniform-mode=0]"
    with changed(told, reference=WRONG_SHAPE):
        run = told.run("pytest", "-q", test, check=False)
    assert "causes of failures" not in run.stdout
    assert "says (3,)" in run.stdout
    assert " FAILURES " in run.stdout
    assert max(map(len, run.stdout.splitlines())) <= 80


@pytest.mark.slow
def test_failure_of_a_test_itself_keeps_its_traceback(told: Repository) -> None:
    (told.path / "tests/test_more.py").write_text("def test_more():\n    assert 1 == 2\n")
    with changed(told, reference=WRONG_SHAPE):
        run = told.run("pytest", "-q", check=False)
    (told.path / "tests/test_more.py").unlink()
    assert "E       assert 1 == 2" in run.stdout
    assert run.stdout.count("FAILED tests/") == 1
    assert "22 of 24 cases" in run.stdout
    assert "23 failed, 2 passed" in run.stdout


# ---- Without a repository ----


def test_printed_lines_of_the_smallest_failure() -> None:
    traits = [CaseTraits({}, {"x": TensorTraits("float16", (size,))}) for size in (9, 2)]
    tests = [
        FinishedTest(f"t.py::f[{name}]", [Result("CPU kernel", name, "bad\nlog: 3", traits=one)],
                     printed=f"log: 3\nfrom {name}\n")
        for name, one in zip("ab", traits, strict=True)
    ]  # fmt: skip
    lines = failures(tests, are_shown=False)
    assert lines[:6] == [
        "2 of 2 cases on the CPU kernel: bad",
        "  the smallest, in t.py::f:",
        "  b",
        "    log: 3",
        "    printed:",
        "      from b",
    ]
    assert failures(tests, are_shown=True) == lines[:3]


def test_error_outside_of_the_cases_is_told_once() -> None:
    inside = FinishedTest("t.py::f[a]", [Result("VX kernel", "a", "k.vx:3: error\n  x")])
    outside = [FinishedTest(f"t.py::g[{i}]", [], problem="k.vx:3: error\n  x") for i in "ab"]
    assert failures([*outside, inside], are_shown=True)[0] == (
        "1 of 1 cases on the VX kernel: k.vx:3: error"
    )
    assert failures(outside, are_shown=True)[0] == "2 outside of the cases: k.vx:3: error"


def test_notes_that_differ_in_numbers_are_one() -> None:
    results = [Result("VX kernel", "a", note=f"VX kernel: {count} writes") for count in (3, 4)]
    assert notes([*results, Result("VX kernel", "b")], []) == [
        "note: VX kernel: 3 writes (2 cases)"
    ]
    long = notes([Result("VX kernel", "a", note="word " * 40)], [])
    assert max(map(len, long)) <= 80


def test_reasons_of_cases_left_out_have_counts() -> None:
    """Reasons that differ in numbers are one."""
    results = [
        Result("CPU kernel", "a"),
        Result("engine", "a", left_out="cases with int8: it has none"),
        Result("engine", "b"),
        Result("engine", "c", left_out="cases beyond 3"),
        Result("driver", "c", left_out="cases beyond 3"),
        Result("engine", "d", left_out="cases beyond 4"),
    ]
    assert left_out(results) == [
        "engine leaves out cases with int8: it has none (1 of 4)",
        "engine leaves out cases beyond 3 (2 of 4)",
        "driver leaves out cases beyond 3 (1 of 1)",
    ]


def test_no_table_without_results() -> None:
    for table in (kernels, cases):
        assert table([Result("CPU kernel", "a", left_out="some")]) == []
        assert len(table([Result("CPU kernel", "a")])) == 2


def test_row_of_a_kernel_has_the_largest_numbers() -> None:
    results = [
        Result("CPU kernel", "a", max_error=0.5, max_ulp=1, seconds=1e-6),
        Result("VX kernel", "a", "bad", max_error=2.5, max_ulp=9),
        Result("VX kernel", "b", max_error=0.0, max_ulp=0),
        Result("CPU kernel", "b", max_error=0.25, max_ulp=3, seconds=2e-6),
        Result("CPU kernel", "c", left_out="some"),
    ]
    assert kernels(results) == [
        "kernel      cases  max error  max ulp  max time",
        "CPU kernel      2        0.5        3    2.0 us",
        "VX kernel       2        2.5        9  1 FAILED",
    ]
