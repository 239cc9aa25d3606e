"""`scons check` in a repository: guarded tensors, and success only after a complete run."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.check.target_repositories import check, counts, messages_of, need, write_faults
from tests.marks import slow_first
from tests.repositories import Repository, generate

# Statement of compute for tensors of 1, 2, ... floats -> its message. On a board, all tensors
# lie in one block of memory; here each has its own guards.
STATEMENTS = {
    "((volatile float *)outputs->output.data)[1] = 1;": (
        "the kernel function writes just past the end of the elements of 'output' (4 bytes)"
    ),
    "outputs->output.float32[0] = ((volatile float *)inputs->input.data)[3];": (
        "the kernel function reads 4 bytes past the end of the elements of 'input' (8 bytes)"
    ),
    "((volatile float *)inputs->input.data)[-2] = 1;": (
        "the kernel function writes 8 bytes before the start of the elements of 'input' (12 bytes)"
    ),
    "free(inputs->input.data);": (
        "the operator frees a pointer into the elements of 'input' (16 bytes), which it did not get"
    ),
    "*(volatile int *)(inputs->input.size - 5) = 1;": (
        "the kernel function writes through a NULL pointer"
    ),
}


@pytest.mark.slow
def test_out_of_bounds_access_has_source_line(copy_of_fresh: Repository) -> None:
    need("qemu-arm-static", "qemu-user-static")
    line = write_faults(copy_of_fresh, [*STATEMENTS])
    run = check(copy_of_fresh, "target=rv1126", "verbose=1")
    here, on_target = (
        messages_of(kernel, run.stdout).values() for kernel in ("CPU kernel", "CPU kernel, armhf")
    )
    for text, message in zip(here, STATEMENTS.values(), strict=True):
        assert text.startswith(f"  myoperator_compute.h:{line}: {message}")
        line += 1
    for text, message in zip(on_target, STATEMENTS.values(), strict=True):
        # An ARM processor does not report whether the access was a read or a write.
        assert text.startswith(f"  {re.sub(' (reads|writes) ', ' accesses ', message)}")


# ---- A check passes only after a complete run ----------------------------------------------------

TESTS = """\
import pytest
from opkit.testing import cases, check_cpu_kernel, check_vx_kernel, uniform
CASES = cases([{"input": (3,)}, {"input": (4,)}], [uniform(-1, 1)])

@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case)

def test_vx_kernel():
    check_vx_kernel(CASES[0])

@pytest.mark.skip("later")
def test_more():
    check_cpu_kernel(CASES[0])
"""
SKIPPED = "note: 1 test skipped"


@pytest.fixture(scope="module")
def small_repository(fresh: Repository, tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """Return a built repository with few cases; each test restores it."""
    path = tmp_path_factory.mktemp("small") / fresh.path.name
    shutil.copytree(fresh.path, path)
    (path / "tests/test_myoperator.py").write_text(TESTS)
    return Repository(path)


@pytest.fixture
def small(small_repository: Repository) -> Iterator[Repository]:
    """Yield the small repository, and restore its files after the test."""
    folder = small_repository.path
    names = ("op.yml", "pytest.ini", "myoperator_reference.py", "rknn_kernel_myoperator.vx")
    files = {name: (folder / name).read_text() for name in names}
    yield small_repository
    shutil.rmtree(folder / "tests")
    (folder / "tests").mkdir()
    for name, text in {**files, "tests/test_myoperator.py": TESTS}.items():
        (folder / name).write_text(text)


def errors(output: str) -> list[str]:
    """Return the errors, each in one line again."""
    found = re.findall(r"^error: (.*(?:\n  .*)*)", output, re.MULTILINE)
    return [" ".join(message.split()) for message in found]


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.usefixtures("xdist")
def test_workers_report_the_same(small: Repository) -> None:
    """The table, the counts and the skipped cases equal those of one process."""
    (small.path / "tests/test_later.py").write_text(
        "import pytest; pytest.skip('', allow_module_level=True)"
    )
    alone, with_workers = (small.scons("check", *option) for option in ((), ("workers=2",)))
    assert "bringing up nodes" in with_workers.stdout
    for run in (alone, with_workers):
        assert counts(run.stdout) == {"CPU kernel": 2, "VX kernel": 1}
        assert f"{SKIPPED}; tests/test_later.py skipped" in " ".join(run.stdout.split())
    refused = small.scons("check", "workers=0", check=False)
    assert refused.returncode == 2
    assert refused.stderr == "error: workers: invalid '0' (expected a number up to 999, or auto)\n"


@pytest.mark.slow
@pytest.mark.nightly
def test_one_worker_needs_no_plugin(small: Repository) -> None:
    """No plugin of pytest is loaded here, which would take the option -n."""
    run = small.scons("check", "workers=1")
    assert "bringing up nodes" not in run.stdout
    assert counts(run.stdout) == {"CPU kernel": 2, "VX kernel": 1}


def test_complete_check_prints_summary(small: Repository) -> None:
    run = check(small)
    assert run.returncode == 0, run.stdout + run.stderr
    assert counts(run.stdout) == {"CPU kernel": 2, "VX kernel": 1}
    assert run.stdout.splitlines()[-1] == SKIPPED
    assert errors(run.stderr) == []


OWN_OUTCOMES = """\
import pytest

@pytest.fixture
def absent():
    pytest.skip("no")

def test_fixture(absent): ...

def test_call():
    pytest.xfail("no")

@pytest.mark.xfail
def test_mark():
    assert False

@pytest.mark.parametrize("x", [1, pytest.param(2, marks=pytest.mark.skip)])
def test_param(x): ...
"""


@pytest.mark.slow
@pytest.mark.nightly
def test_own_skips_and_xfails_are_valid(small: Repository) -> None:
    (small.path / "tests/test_own.py").write_text(OWN_OUTCOMES)
    run = check(small)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "3 tests skipped; 2 tests xfailed" in " ".join(run.stdout.split())
    assert errors(run.stderr) == []


IN_THE_MIDDLE = (
    "pytest ended in the middle of tests/test_myoperator.py::test_cpu_kernel[3-uniform], after 0 "
    "of 4 tests; does a kernel, a test or the reference end the process"
)
NO_CPU_CASE = "no case ran on the CPU kernel (every operator has one): "
NO_VX_CASE = "no case ran on the VX kernel (op.yml has kernel_index: 1, so the board runs it)"
NOT_RUN = "tests did not run, the first is tests/test_myoperator.py::test_"
TEST_FILE = "tests/test_myoperator.py"
KERNEL_INDEX_1 = {"op.yml": ("framework:", "kernel_index: 1\nframework:")}

FIRST = f"{TEST_FILE}::test_cpu_kernel[3-uniform]"
DENIED = "{} failed, the first is {}, but pytest's exit status is 0; what changes it, conftest.py?"
ALTERED = "conftest.py skips, xfails or passes 1 test, the first is "
FAILING_TEST = "def test_own():\n    assert 1 == 2\n\n"
WIDE_TOLERANCE = TESTS.replace("(3,)", "(9,)").replace(
    "check_cpu_kernel(case)", "check_cpu_kernel(case, max_error=1)"
)
WRONG_PASSES = "a wrong CPU kernel passes 2 of 2 cases, and shows on the board only: in "
WRONG = {"myoperator_reference.py": ("return", "return 1 #")}
SET_STATUS = """\
import pytest

@pytest.hookimpl({})
def pytest_sessionfinish(session):
    session.exitstatus = 0
"""
ADD_MARK = """\
import pytest

def pytest_collection_modifyitems(items):
    items[0].add_marker(pytest.mark.{}(reason="no"))
"""
CHANGE_OUTCOME = """\
import pytest

@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    report = yield
    if report.failed:
        report.outcome = "passed"
    return report
"""

# File -> (old text, new text), or None to delete the file; the expected errors.
INCOMPLETE: dict[str, tuple[dict[str, tuple[str, str] | None], list[str]]] = {
    "the reference ends the process": (
        {"myoperator_reference.py": ("    shape =", "    import os; os._exit(0)\n    shape =")},
        [IN_THE_MIDDLE],
    ),
    "a test file ends the process": (
        {TEST_FILE: ("import pytest", "import os, pytest; os._exit(0)")},
        ["pytest ended before the first test; does"],
    ),
    "a test ends the run": (
        {TEST_FILE: ("    check_cpu_kernel(case)", "    pytest.exit('now', 0)")},
        [f"4 of 4 {NOT_RUN}", NO_CPU_CASE],
    ),
    "the status of failures is changed": (
        {
            "myoperator_reference.py": ("return", "return 1 #"),
            TEST_FILE: ("import pytest", "import atexit, os, pytest; atexit.register(os._exit, 0)"),
        },
        [DENIED.format("3 tests", FIRST)],
    ),
    "conftest.py sets the status first": (
        {**WRONG, "tests/conftest.py": ("", SET_STATUS.format("tryfirst=True"))},
        [DENIED.format("3 tests", FIRST)],
    ),
    "conftest.py sets the status last": (
        {**WRONG, "tests/conftest.py": ("", SET_STATUS.format("trylast=True"))},
        [DENIED.format("3 tests", FIRST)],
    ),
    "conftest.py hides a file with an error": (
        {
            "tests/test_more.py": ("", "import nothing_of_this_name"),
            "tests/conftest.py": ("", SET_STATUS.format("tryfirst=True")),
        },
        [DENIED.format("1 test", "tests/test_more.py")],
    ),
    "conftest.py skips": (
        {"tests/conftest.py": ("", ADD_MARK.format("skip"))},
        [f"{ALTERED}{FIRST}"],
    ),
    "conftest.py xfails": (
        {**WRONG, "tests/conftest.py": ("", ADD_MARK.format("xfail"))},
        [f"{ALTERED}{FIRST}"],
    ),
    "a fixture of conftest.py skips": (
        {
            "tests/conftest.py": (
                "",
                "import pytest\n@pytest.fixture(autouse=True)\ndef no(request):\n"
                "    if request.node.name.endswith('[3-uniform]'): pytest.skip('no')\n",
            )
        },
        [f"{ALTERED}{FIRST}"],
    ),
    "conftest.py passes": (
        {
            TEST_FILE: ("@pytest.mark.skip", f"{FAILING_TEST}@pytest.mark.skip"),
            "tests/conftest.py": ("", CHANGE_OUTCOME),
        },
        [f"{ALTERED}{TEST_FILE}::test_own"],
    ),
    "emptied": ({TEST_FILE: (TESTS, "")}, [f"{TEST_FILE} has no test, or pytest", NO_CPU_CASE]),
    "deleted": ({TEST_FILE: None}, [NO_CPU_CASE]),
    "all skipped": (
        {TEST_FILE: ("import pytest", "import pytest; pytestmark = pytest.mark.skip('')")},
        [f"{NO_CPU_CASE}4 skipped, the first is tests/test_myoperator.py::test_cpu_kernel[3-"],
    ),
    "the file skips itself": (
        {TEST_FILE: ("import pytest", "import pytest; pytest.skip('', allow_module_level=True)")},
        [f"{NO_CPU_CASE}1 skipped, the first is tests/test_myoperator.py; a test in tests/ has"],
    ),
    "an option deselects": (
        {"pytest.ini": ("addopts =", "addopts = -k 3-uniform")},
        [f"3 of 4 {NOT_RUN}cpu_kernel[4-uniform]"],
    ),
    "conftest.py takes tests out": (
        {"tests/conftest.py": ("", "def pytest_collection_modifyitems(items): del items[2:]")},
        [f"2 of 4 {NOT_RUN}vx_kernel"],
    ),
    "a test catches the failure": (
        {
            "myoperator_reference.py": ('np.array(inputs["input"])', 'inputs["input"] + 1'),
            TEST_FILE: (
                TESTS,
                TESTS.replace("    check", "    with pytest.raises(BaseException): check"),
            ),
        },
        ["3 tests passed although a case failed in it, the first is tests/test_myoperator.py::"],
    ),
    "wide tolerance": (
        {TEST_FILE: (TESTS, WIDE_TOLERANCE)},
        [f"{WRONG_PASSES}{FIRST.replace('3', '9')}, max_error=1 is 54% of the range of 'output', "],
    ),
    "no VX test": ({**KERNEL_INDEX_1, TEST_FILE: ("def test_vx_kernel", "def vx")}, [NO_VX_CASE]),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", slow_first(6, INCOMPLETE))
def test_missing_cases_fail_check(name: str, small: Repository) -> None:
    edits, sentences = INCOMPLETE[name]
    edit(small, edits)
    run = check(small)
    assert run.returncode == 2, run.stdout + run.stderr
    found = errors(run.stderr)
    assert len(found) == len(sentences), run.stdout + run.stderr
    for message, sentence in zip(found, sentences, strict=True):
        assert sentence in message


@pytest.mark.slow
def test_weak_cases_beside_strong_ones_are_a_note(small: Repository) -> None:
    text = WIDE_TOLERANCE.replace(
        "max_error=1", "max_error=1 if case.inputs['input'].size == 9 else 0"
    )
    (small.path / TEST_FILE).write_text(text)
    run = check(small)
    assert (run.returncode, errors(run.stderr)) == (0, []), run.stdout + run.stderr
    note = WRONG_PASSES.replace("2 of", "1 of") + FIRST.replace("3", "9")
    assert f"note: {note}" in " ".join(run.stdout.split())


def edit(repository: Repository, edits: dict[str, tuple[str, str] | None]) -> None:
    for file, change in edits.items():
        path = repository.path / file
        if change is None:
            path.unlink()
            continue
        text = path.read_text() if path.exists() else ""
        assert change[0] in text
        path.write_text(text.replace(*change))


@pytest.mark.slow
def test_bare_pytest_without_cases_fails(
    small: Repository,
) -> None:
    few = small.run("pytest", "-q", "-k", "more", check=False)
    assert (few.returncode, errors(few.stdout)) == (0, []), few.stdout
    edit(small, {TEST_FILE: ("import pytest", "import pytest; pytestmark = pytest.mark.skip('')")})
    run = small.run("pytest", "-q", check=False)
    assert run.returncode == 1, run.stdout
    (message,) = errors(run.stdout)
    assert message.startswith(NO_CPU_CASE)
    (small.path / TEST_FILE).write_text(WIDE_TOLERANCE)
    run = small.run("pytest", "-q", check=False)
    assert run.returncode == 1, run.stdout
    (message,) = errors(run.stdout)
    assert message.startswith(WRONG_PASSES)


def test_missing_vx_file_is_reported(small: Repository) -> None:
    doubled = {"myoperator_reference.py": ('np.array(inputs["input"])', 'inputs["input"] * 2')}
    edit(small, {**KERNEL_INDEX_1, **doubled, "rknn_kernel_myoperator.vx": None})
    run = check(small)
    assert run.returncode == 2, run.stdout + run.stderr
    assert "rknn_kernel_myoperator.vx is missing. Restore the file" in run.stderr


LONG_NAMES = """\
name: ResizeAreaOfAllImagesInBatch
framework: tensorflow
target_platform: rv1126
inputs:
  images_of_the_batch: {type: VX_TYPE_TENSOR}
outputs:
  resized: {type: VX_TYPE_TENSOR}
params:
  align_corners_of_the_images: {type: VX_TYPE_BOOL, default: false}
  half_pixel_centers: {type: VX_TYPE_BOOL, default: false}
runtimes: [rknn, pplnn]
"""


@pytest.mark.slow
@pytest.mark.nightly
def test_tables_of_long_names_have_80_columns(tmp_path: Path) -> None:
    repository = generate(tmp_path, LONG_NAMES)
    usage = repository.scons("-Q", "-h").stdout
    assert "libpplnn_resizeareaofallimagesinbatch.a" in usage
    run = repository.scons("-Q", "check", "verbose=1").stdout
    _, _, printed = run.partition(" cases ====")
    table = printed[printed.index("\n") + 1 : printed.index(" passed in ")].splitlines()[:-1]
    for line in (*usage.splitlines(), *table):
        assert len(line) <= 80, line
    # A name that takes two lines is complete.
    column = slice(table[0].index("case"), table[0].index("max error"))
    names = "".join(line[column].strip() for line in table)
    assert "8-uniform-align_corners_of_the_images=1" in names
