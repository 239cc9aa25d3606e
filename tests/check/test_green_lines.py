"""A green check names the lines of the user's C that no case runs; `scons report` shows them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from opkit.check import line_counts
from opkit.check.line_coverage import FileCoverage, note
from tests.marks import slow_first
from tests.repositories import Repository, generate

DESCRIPTION = """\
name: MyOperator
inputs: {input: {type: VX_TYPE_TENSOR}}
outputs: {output: {type: VX_TYPE_TENSOR}}
kernels: [cpu]
runtimes: [rknn, pplnn]
"""
TESTS = """\
import pytest
from opkit.testing import cases, check_cpu_kernel, ramp
CASES = cases([{"input": (size,)} for size in (1, 2, 3)], [ramp()], dtype="float32")

@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case)
"""
HELPERS = """\
#define LARGEST(n) ((n) > 500000 ? 500000 : (n)) /* PART */

static float scaled(float x, size_t n)
{
    if (n > 500000) {
        /* Large tensors. */
        x = x * 2; /* NOT RUN */
    }
    return x;
}

static float never_called(float x)
{
    return x + 1; /* NOT RUN */
}

"""
CHECKS = """\
#include <stdlib.h>

static bool fits(size_t n)
{
    if (n > 500000) {
        return false;
    }
    return n < 900000;
}

static const char *check_size(size_t n)
{
    return n > 500000 ? "input must not be large" : NULL;
}

static int status_of(size_t n)
{
    if (n > 500000) {
        return -1;
    }
    return 0;
}

"""
WRONG = [
    "y[0] = scaled(y[0], LARGEST(n));",
    "y[0] = n > 500000 ? never_called(y[0]) : y[0]; /* PART */",
    "for (size_t i = 500000; i < n; i++) { /* PART */\n        y[i] = 1; /* NOT RUN */\n    }",
    """switch (n) {
    case 500000: /* NOT RUN */
        y[0] = 1; /* NOT RUN */
        break; /* NOT RUN */
    default:
        break;
    }""",
    "y[0] = n > 500000 && (y[0] = 1) > 0 ? y[0] : y[0]; /* PART */",
    "if (n < 500000) {\n        y[0] = y[0] + 0;\n    }",
]
RIGHT = [
    """float *copy = (float *)malloc(n * sizeof *copy);
    if (copy == NULL) {
        return "no memory";
    }
    free(copy);""",
    """if (!fits(n)) {
        return "input must not be large";
    }""",
    """const char *problem = check_size(n);
    if (problem != NULL) {
        return problem;
    }""",
    """if (status_of(n) != 0) {
        problem = "failed";
        return problem;
    }""",
    # Only in a process with several cases.
    """static int calls;
    if (calls > 0) {
        y[0] = y[0] + 0;
    }
    calls = 1;""",
    """if (n == 3) {
        y[0] = y[0] + 0;
    } else if (n < 3) {
        y[0] = y[0] + 0;
    }""",
]
BY_RUNTIME = """\
#ifdef __cplusplus
    const int is_cxx = 1;
#else
    const int is_cxx = 0;
#endif
    if (is_cxx) {
        y[0] = y[0] + 0;
    } else {
        y[0] = y[0] + 0;
    }"""
BEGIN = "    const size_t n = inputs->input.size;\n    float *const y = outputs->output.float32;"


def write(repository: Repository, statements: list[str], helpers: str = "") -> dict[str, set[int]]:
    """Write a compute with statements; return remark -> the lines that have it."""
    path = repository.path / "myoperator_compute.h"
    before, after = path.read_text().split("\n    return NULL;\n")
    before = before.replace("/*\n * Computes", f"{helpers}/*\n * Computes")
    text = "\n".join(
        [before, BEGIN, *(f"    {each}" for each in statements), "    return NULL;", after]
    )
    path.write_text(text)
    (repository.path / "tests/test_myoperator.py").write_text(TESTS)
    return {
        remark: {number for number, line in enumerate(text.split("\n"), 1) if remark in line}
        for remark in ("NOT RUN", "PART")
    }


def noted(output: str) -> str:
    """Return the places in the note, without line breaks."""
    found = re.search(r"note: no case runs (.*?)\. Wrong code", " ".join(output.split()))
    return found[1] if found else ""


def lines_of(places: str, file: str) -> set[int]:
    """Return the numbers of a file's lines."""
    (ranges,) = [place.removeprefix(f"{file}:") for place in places.split("; ")]
    found = set[int]()
    for each in ranges.replace(" in part", "").split(", "):
        first, _, last = each.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    repository = generate(tmp_path_factory.mktemp("lines"), DESCRIPTION)
    repository.scons("target=x64")
    return repository


@pytest.fixture
def operator(generated: Repository, tmp_path: Path) -> Repository:
    return generated.copy(tmp_path)


@pytest.mark.slow
def test_lines_are_named_and_shown(operator: Repository) -> None:
    expected = write(operator, [*RIGHT, *WRONG], CHECKS + HELPERS)
    output = operator.scons("-Q", "report").stdout
    assert lines_of(noted(output), "myoperator_compute.h") == set().union(*expected.values())
    page = (operator.path / "build/report.html").read_text()
    rows = re.findall(r'<td class="number">(\d+)</td>.*<td>(.*)</td></tr>', page)
    for remark, text in (("NOT RUN", "no case"), ("PART", "a part in no case")):
        assert {int(number) for number, told in rows if text in told.split("; ")} == expected[
            remark
        ]
    assert "n &lt; 500000: true in all cases" in [told for _, told in rows]


@pytest.mark.slow
@pytest.mark.parametrize("options", slow_first(1, [["case=1-float32-ramp"], ["quick=1"]]), ids=str)
def test_incomplete_runs_have_no_note(operator: Repository, options: list[str]) -> None:
    write(operator, WRONG, HELPERS)
    assert noted(operator.scons("-Q", "check", "verbose=1", *options).stdout) == ""


@pytest.mark.slow
@pytest.mark.nightly
def test_failed_run_has_no_note(operator: Repository) -> None:
    write(operator, [*WRONG, "y[0] = y[0] + 1;"], HELPERS)
    assert noted(operator.scons("-Q", "check", check=False).stdout) == ""


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.usefixtures("xdist")
def test_lines_are_merged_over_processes(operator: Repository) -> None:
    write(operator, RIGHT, CHECKS)
    output = operator.scons("-Q", "check", "workers=2").stdout
    assert noted(output) == "", output


@pytest.mark.slow
def test_lines_are_merged_over_runtimes(operator: Repository) -> None:
    write(operator, [BY_RUNTIME])
    assert noted(operator.scons("-Q", "check").stdout) == ""


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (8, "1, 3, 5, 7, 9, 11, 13, 15"),
        (9, "1, 3, 5, 7, 9, 11, 13, 15, 1 more"),
        (11, "1, 3, 5, 7, 9, 11, 13, 15, 3 more"),
    ],
)
def test_note_has_the_first_lines(count: int, shown: str) -> None:
    file = FileCoverage("sum.h", [], code={*range(30)}, not_run={*range(1, 2 * count, 2)})
    assert note([file]).startswith(f"no case runs sum.h:{shown}. Wrong code")


def test_counters_of_processes_are_added(tmp_path: Path) -> None:
    (tmp_path / "1.json").write_text('{"libsum.so": [1, 0, 3]}')
    (tmp_path / "2.json").write_text('{"libsum.so": [1, 0, 0], "libother.so": [5]}')
    (tmp_path / "other.txt").write_text("")
    assert line_counts.load(tmp_path) == {Path("libsum.so"): [2, 0, 3], Path("libother.so"): [5]}
    assert line_counts.load(tmp_path / "nothing") == {}
