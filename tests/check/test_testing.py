"""opkit.testing: cases, the comparison, and the messages about a wrong kernel."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opkit.check import checking
from opkit.check.comparison import compare, context, ulp_distance
from opkit.check.session import Session
from opkit.check.tolerance import OutputTolerance
from opkit.common.errors import OpkitError
from opkit.runtimes.invocation import Array
from opkit.testing import (
    Case,
    Operator,
    Values,
    cases,
    check_cpu_kernel,
    integers,
    ramp,
    run_cpu_kernel,
    special,
    uniform,
)
from tests.check.target_repositories import DESCRIPTION, FAULTS, FAULTS_C, REFERENCE
from tests.repositories import installed_opkit
from tests.runtimes.rknn.host_build import repository
from tests.time_limits import LONG, time_limit, with_growing_limit


@pytest.fixture(scope="module")
def faults(tmp_path_factory: pytest.TempPathFactory) -> Operator:
    """Return an operator that copies; its param selects a fault."""
    return Operator(
        repository(tmp_path_factory.mktemp("faults"), "host_faults.c", DESCRIPTION, REFERENCE)
    )


def fault_case(name: str) -> Case:
    numbers = np.linspace(-2, 2, 40).reshape(2, 5, 4).astype(np.float16)
    return Case(name.lower(), {"input": numbers}, {"fault": FAULTS.index(name)})


# ---- Each fault has its own message ----

KERNEL = "the kernel function"
BLOCK = "a block of 80 bytes (allocation 2)"
MESSAGES = {
    "READ_PAST_END": f"{KERNEL} reads just past the end of {BLOCK}",
    "WRITE_PAST_END": f"{KERNEL} writes 4 bytes past the end of a block of 80 bytes (allocation 3)",
    "WRITE_BEFORE_START": f"{KERNEL} writes 2 bytes before the start of a block of 80",
    "UNWRITTEN": "output output[0, 0, 1] was never written, nor were 29 more (or it depends on",
    "UNSET_MEMORY": "output output[0, 0, 3] was never written (or it depends on uninitialized",
    "UNSET_HUGE_MEMORY": "output output[0, 0, 3] was never written (or it depends on uninitialized",
    "UNSET_STACK": "output output[0, 0, 1] was never written (or it depends on uninitialized",
    "LEAK_MEMORY": "a block of 80 bytes (allocation 4) was never freed",
    "LEAK_MAP": "'input' was mapped and not unmapped",
    "LEAK_REFERENCE": "an object of type VX_TYPE_SCALAR was made and not released",
    "RELEASE_PARAMETER": "'input' had 1 references before the call and has 0 after it",
    "RELEASE_SCALAR": "'fault' is released, but only the runtime holds it",
    "DIVIDE_BY_ZERO": f"{KERNEL} divides an integer by zero",
    "LOOP": f"{KERNEL} timed out after 0.2 s: an infinite loop?",
    "STACK_OVERFLOW": f"{KERNEL} overflows the stack of ",
    "USE_AFTER_FREE": f"{KERNEL} reads byte 6 of a block of 10 bytes (allocation 4) after it was",
    "USE_AFTER_REALLOC": f"{KERNEL} reads byte 0 of a block of 10 bytes (allocation 4) after it",
    "FREE_TWICE": "the operator frees a block of 24 bytes (allocation 4) twice",
    "FREE_FOREIGN": f"the operator frees a pointer into {BLOCK}, which it did not get from malloc",
    "NULL_POINTER": f"{KERNEL} writes through a NULL pointer",
    "ABORT": f"{KERNEL} calls abort",
    "TRAP": f"{KERNEL} runs into an illegal instruction",
    "SHORT_BUFFER": "past the end of a block of 2 bytes (allocation 4), inside vxCopyTensorPatch",
    "MAP_PAST_END": f"{KERNEL} reads just past the end of the data of 'input' (80 bytes)",
    "NO_OP_COPY": "vxCopyTensorPatch copies nothing: user_stride[0] = 4 means VX_TYPE_FLOAT32",
    "LONG_DIMS": "vxQueryTensor(VX_TENSOR_DIMS) asks for 24 bytes of a tensor with 3 dimensions",
    "OVERLAPPING_STRIDES": "vxCopyTensorPatch gets strides by which elements overwrite each other",
    "MEMORY_TYPE": "vxCopyTensorPatch gets the unknown memory type 0x7",
    "MAP_VIEW": "vxMapTensorPatch of a view maps its parent's first elements, without gaps",
    "UNIFORM": "vxSetNodeUniform crashes the board's driver: the node's kernel is a CPU kernel",
    "LEFT_LOCAL_DATA": "crashes the board's driver: it frees VX_NODE_LOCAL_DATA_PTR, which the",
    "STATUS": "the kernel returns VX_ERROR_INVALID_VALUE (-16)\n  log: parameter 'fault': is 26",
    "OTHER_RESULT": "1 of 40 elements of output 'output' are wrong, the worst is output[0, 1, 1]: "
    "the kernel gives 1.0, the reference -1.4873046875 (31219 ulp apart, allowed: 0 ulp)\n"
    "      input[0, 1, 1] = -1.4873046875\n      fault = ",
    "NAN_RESULT": "the kernel gives nan, the reference -1.4873046875 (NaN is only equal to NaN)",
    "NOT_REPEATABLE": "output is not deterministic over 3 runs: does the kernel keep something",
    "FAIL_LATER": "in 3 consecutive runs: the kernel returns VX_FAILURE (-1)",
}


# For faults in the operator's own code: the text of the reported line.
FAULTS_IN_LINE = {
    "READ_PAST_END": "halves[0] = ((volatile uint16_t *)input->data)[count];",
    "WRITE_PAST_END": "halves[count + 2] = 0;",
    "WRITE_BEFORE_START": "halves[-1] = 0;",
    "DIVIDE_BY_ZERO": "sink = 7 / zero;",
    "LOOP": "while (zero == 0) {",
    "STACK_OVERFLOW": "",  # any line: the place depends on the remaining stack
    "USE_AFTER_FREE": "halves[0] = freed[3];",
    "USE_AFTER_REALLOC": "sink = old[0];",
    "NULL_POINTER": "*(volatile int *)(uintptr_t)zero = 1;",
    "TRAP": "__builtin_trap();",
    "MAP_PAST_END": "sink = ((volatile uint16_t *)memory)[count]",
}


def test_fault_messages() -> None:
    assert sorted(MESSAGES) == sorted(set(FAULTS) - {"NONE"})


@pytest.mark.parametrize("fault", MESSAGES)
def test_fault_is_explained_and_next_case_runs(faults: Operator, fault: str) -> None:
    def explained(limit: float) -> str:
        with time_limit(limit), pytest.raises(pytest.fail.Exception) as failure:
            check_cpu_kernel(fault_case(fault), operator=faults)
        return str(failure.value)

    if fault == "LOOP":
        limit, message = with_growing_limit(explained, lambda text: f"{KERNEL} timed out" in text)
    else:
        limit, message = LONG, explained(LONG)
    assert message.startswith(f"CPU kernel of Faults, case {fault.lower()}:\n  ")
    assert MESSAGES[fault].replace("0.2 s", f"{limit:g} s") in message
    line = re.search(r"^  host_faults\.c:(\d+): the kernel function", message, re.MULTILINE)
    if fault in FAULTS_IN_LINE:
        assert line, message
        assert FAULTS_IN_LINE[fault] in FAULTS_C.read_text().splitlines()[int(line[1]) - 1]
    else:
        assert line is None
    with time_limit(LONG):
        check_cpu_kernel(fault_case("NONE"), operator=faults)


def test_passing_kernel_is_timed(faults: Operator) -> None:
    result = run_cpu_kernel(fault_case("NONE"), operator=faults)
    assert (result.problem, result.max_error, result.max_ulp) == ("", 0, 0)
    assert result.seconds is not None
    assert 0 < result.seconds < math.inf


@pytest.mark.parametrize("number", [math.inf, -math.inf, math.nan])
def test_equal_elements_have_no_error(number: float) -> None:
    array = np.array([number, 1.0], np.float32)
    difference = compare(array, array.copy(), OutputTolerance())
    assert (difference.max_error, difference.max_ulp, difference.wrong) == (0, 0, 0)
    other = compare(array, np.ones(2, np.float32), OutputTolerance())
    assert (other.max_error, other.wrong, other.worst) == (math.inf, 1, (0,))


def test_cause_is_without_elements(faults: Operator) -> None:
    result = run_cpu_kernel(fault_case("UNWRITTEN"), operator=faults)
    assert result.cause == "output elements that the kernel does not write"
    result = run_cpu_kernel(fault_case("OTHER_RESULT"), operator=faults)
    assert (result.cause, result.appearance) == ("wrong elements in output 'output'", "")


def test_error_within_tolerance_passes(faults: Operator) -> None:
    # -1.487 instead of 1: 2.487 apart, and 15859 + 15360 halves.
    case = fault_case("OTHER_RESULT")
    assert "allowed: 31218 ulp" in run_cpu_kernel(case, max_ulp=31218, operator=faults).problem
    result = run_cpu_kernel(case, max_ulp=31219, operator=faults)
    assert (result.problem, result.max_ulp, result.max_error) == ("", 31219, 2.4873046875)
    assert not run_cpu_kernel(case, max_error=2.4873046875, operator=faults).problem
    assert "0 ulp or 2.48" in run_cpu_kernel(case, max_error=2.48, operator=faults).problem


# ---- Invalid cases; for invalid references see test_mistakes.py ----


@pytest.mark.parametrize(
    ("case", "message"),
    [
        (Case("c", {"input": np.zeros(3)}), "input 'input' is float64; the board's tensors are"),
        (Case("c", {"input": np.zeros((), np.float16)}), "has shape (); the board takes 1 to 6"),
        (
            Case("c", {"input": np.zeros((2, 0), np.float16)}),
            "the board takes no dimension of 0",
        ),
        (Case("c", {"input": np.zeros((1,) * 7, np.float16)}), "the board takes 1 to 6 dimensions"),
    ],
)
def test_mismatched_case_is_explained(faults: Operator, case: Case, message: str) -> None:
    assert message in run_cpu_kernel(case, operator=faults).problem


def test_unbuilt_repository_error(tmp_path: Path) -> None:
    (tmp_path / "op.yml").write_text(DESCRIPTION)
    (tmp_path / "faults_reference.py").write_text(REFERENCE)
    with pytest.raises(OpkitError, match=r"harness not found; run `scons target=x64`"):
        run_cpu_kernel(fault_case("NONE"), operator=Operator(tmp_path))


# ---- Comparing ----


def halves(*values: float) -> Array:
    return np.array(values, np.float16)


@pytest.mark.parametrize(
    ("first", "second", "distance"),
    [
        (1.0, 1.0, 0),
        (1.0, 1.0009765625, 1),
        (0.0, -0.0, 0),
        (6e-8, -6e-8, 2),  # the smallest subnormals, with 0 between them
        (65504.0, np.inf, 1),
        (-np.inf, np.inf, 2 * 0x7C00),
        (np.nan, np.nan, 0),
        (np.nan, -np.nan, 0),
        (np.nan, 1.0, 2**63),
        (-np.inf, np.nan, 2**63),
    ],
)
def test_ulp_distance(first: float, second: float, distance: int) -> None:
    assert ulp_distance(halves(first), halves(second)).tolist() == [distance]
    assert ulp_distance(halves(second), halves(first)).tolist() == [distance]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.uint32, np.uint64])
def test_ulp_distance_integers(dtype: type) -> None:
    info = np.iinfo(dtype)
    ends = ulp_distance(np.array([info.min], dtype), np.array([info.max], dtype))
    assert ends.tolist() == [2**info.bits - 1]


@given(st.floats(width=16, allow_nan=False), st.integers(1, 300))
def test_ulp_distance_counts_steps(value: float, steps: int) -> None:
    start = halves(value)
    end = start
    for _ in range(steps):
        end = np.nextafter(end, np.float16(np.inf))
    if np.isfinite(end).all():
        assert ulp_distance(start, end).tolist() == [steps]


def test_compare_finds_worst_wrong_element() -> None:
    expected = np.zeros((2, 3), np.float16)
    actual = expected.copy()
    actual[0, 2] = 6e-8
    actual[1, 1] = 1
    difference = compare(actual, expected, OutputTolerance(max_ulp=1))
    assert (difference.wrong, difference.worst, difference.max_error) == (1, (1, 1), 1.0)
    assert compare(actual, expected, OutputTolerance()).worst == (1, 1)
    assert compare(actual, expected, OutputTolerance(max_error=1.0)).wrong == 0


def test_compare_infinity_equals_itself_only() -> None:
    difference = compare(halves(np.inf, np.inf), halves(np.inf, 1), OutputTolerance(max_error=1e9))
    assert (difference.wrong, difference.max_error) == (1, np.inf)


def test_context_counts_nan() -> None:
    inputs = {"x": halves(np.nan, 2, -1), "y": halves(np.nan, np.nan), "z": halves(1, np.inf)}
    assert [*context(inputs, {"p": 3}, (4,), (0,))] == [
        "x is float16 3, from -1.0 to 2.0, 1 NaN",
        "y is float16 2, all NaN",
        "z is float16 2, from 1.0 to inf",
        "p = 3",
    ]


def test_context_has_the_index_of_each_input() -> None:
    inputs = {
        "same": np.arange(6).reshape(2, 3),
        "row": np.arange(3),
        "column": np.arange(2).reshape(2, 1),
        "one": np.array([7]),
        "other": np.arange(4),
        "deeper": np.zeros((1, 2, 3)),
    }
    assert [*context(inputs, {}, (2, 3), (1, 2))] == [
        "same[1, 2] = 5",
        "row[2] = 2",
        "column[1, 0] = 1",
        "one[0] = 7",
        "other is int64 4, from 0 to 3",
        "deeper is float64 1x2x3, from 0.0 to 0.0",
    ]


# ---- Making cases ----


def test_case_names() -> None:
    made = cases(
        shapes=[{"input": (1, 6, 5, 3)}, {"input": (2,)}],
        values=[uniform(-1, 1), special()],
        params=[{"size": [4, 4], "align_corners": False}],
    )
    assert [str(case) for case in made] == [
        "1x6x5x3-uniform-size=4,4-align_corners=0",
        "1x6x5x3-special-size=4,4-align_corners=0",
        "2-uniform-size=4,4-align_corners=0",
        "2-special-size=4,4-align_corners=0",
    ]
    assert made[0].inputs["input"].shape == (1, 6, 5, 3)
    assert made[0].params == {"size": [4, 4], "align_corners": False}


def test_case_names_are_unique() -> None:
    made = cases(
        shapes=[{"x": (3,), "y": (2, 3)}],
        values=[uniform(0, 1), uniform(0, 2), {"x": ramp(), "y": integers(1, 9)}],
        params=[{}, {}],
        dtype={"x": "int32", "output": "float16"},
    )
    assert [str(case) for case in made] == [
        "3+2x3-int32+float16-uniform(0,1)",
        "3+2x3-int32+float16-uniform(0,1)-2",
        "3+2x3-int32+float16-uniform(0,2)",
        "3+2x3-int32+float16-uniform(0,2)-2",
        "3+2x3-int32+float16-ramp+integers(1,9)",
        "3+2x3-int32+float16-ramp+integers(1,9)-2",
    ]
    assert made[0].output_dtypes == {"output": "float16"}
    assert [array.dtype.name for array in made[0].inputs.values()] == ["int32", "float16"]


def generate_values(values: Values, shape: tuple[int, ...], dtype: str) -> Array:
    return cases([{"input": shape}], [values], dtype=dtype)[0].inputs["input"]


def test_values_are_deterministic_per_input() -> None:
    shapes = [{"x": (50,), "y": (50,)}]
    first, second = (cases(shapes, [uniform(-1, 1)])[0].inputs for _ in range(2))
    assert first["x"].tobytes() == second["x"].tobytes() != first["y"].tobytes()


def test_values_are_within_limits() -> None:
    numbers = generate_values(uniform(-1, 3), (1000,), "float32")
    assert (numbers.min() >= -1, numbers.max() <= 3, np.ptp(numbers) > 3.9) == (True, True, True)
    assert np.unique(generate_values(integers(2, 5), (1000,), "float16")).tolist() == [2, 3, 4, 5]
    assert np.unique(generate_values(uniform(1, 3), (1000,), "uint8")).tolist() == [1, 2, 3]
    assert generate_values(ramp(), (2, 3), "int16").tolist() == [[0, 1, 2], [3, 4, 5]]


def test_special_values() -> None:
    values = generate_values(special(), (100,), "float16")
    expected = [0, 6e-8, 6.0976e-05, 6.1035e-05, 1, 1.001, 65504, np.inf]
    for value in halves(*expected):
        assert value in values
        assert -value in values
    assert np.isnan(values).any()
    assert np.signbit(values[values == 0]).any()
    assert np.unique(generate_values(special(), (100,), "int8")).tolist() == [-128, -1, 0, 1, 127]
    assert np.unique(generate_values(special(), (100,), "uint8")).tolist() == [0, 1, 255]


def test_special_values_of_two_inputs_combine() -> None:
    inputs = cases([{"x": (400,), "y": (400,)}], [special()])[0].inputs
    pairs = set(zip(inputs["x"].view(np.uint16), inputs["y"].view(np.uint16), strict=True))
    assert len(pairs) == 18 * 18


def test_endless_loop_shortens_later_timeouts(
    faults: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "TIME_LIMIT", 0.2)
    monkeypatch.setattr(checking, "SHORT_LIMIT", 0.1)
    monkeypatch.setattr(faults, "first_timeouts", {})
    result = run_cpu_kernel(fault_case("LOOP"), operator=faults)
    assert result.note == (
        "CPU kernel timed out after 0.2 s in case loop; the timeout of later cases is 0.1 s"
    )
    assert "timed out after 0.1 s" in run_cpu_kernel(fault_case("LOOP"), operator=faults).problem


# ---- In a repository ----

TESTS = """\
import pytest
from opkit.testing import Case, cases, check_cpu_kernel, uniform

FAULTS = (%d, 0)
CASES = cases([{"input": (2, 3)}], [uniform(-1, 1)], [{"fault": fault} for fault in FAULTS])


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case)
"""


def run_pytest(
    root: Path, *options: str, tests: Sequence[str] = ("test_faults.py",)
) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "opkit.check.pytest_plugin",
        "-p",
        "no:cacheprovider",
    ]
    return subprocess.run(
        [*command, "-o", "pythonpath=.", *tests, *options],
        cwd=root,
        env={
            "PATH": "/nonexistent",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": installed_opkit(),
        },
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def own_repository(tmp_path: Path) -> Path:
    root = repository(tmp_path / "faults", "host_faults.c", DESCRIPTION, REFERENCE)
    (root / "test_faults.py").write_text(TESTS % FAULTS.index("READ_PAST_END"))
    return root


@pytest.mark.slow
def test_plugin_continues_after_crash(own_repository: Path) -> None:
    Session().write(own_repository / "session.json")
    run = run_pytest(own_repository, "--opkit-session=session.json")
    assert run.returncode == 1, run.stdout + run.stderr
    assert "1 failed, 1 passed" in run.stdout
    failures = run.stdout.partition(" FAILURES ")[2].partition(" kernels against ")[0]
    assert max(map(len, failures.splitlines())) <= 80
    assert (
        " ".join(failures.split()).count(
            "reads just past the end of a block of 12 bytes (allocation 2)"
        )
        == 1
    )
    assert "another exception" not in run.stdout
    assert "Traceback" not in run.stdout
    rows = [
        line.split()
        for line in run.stdout.splitlines()
        if "us" in line[-3:] or line.endswith("FAILED")
    ]
    assert [row[2:] for row in rows] == [
        ["2", "0", "0", "1", "FAILED"],
        ["2x3-uniform-fault=1", "-", "-", "FAILED"],
    ]


@pytest.mark.slow
def test_session_checks_two_operators(own_repository: Path, tmp_path: Path) -> None:
    """Each operator has its own libraries, in tests that name no operator."""
    other = repository(
        tmp_path / "others",
        "host_misdeeds.c",
        DESCRIPTION.replace("Faults", "Misdeeds"),
        REFERENCE,
    )
    host_runtime = other / "build/host/libOpenVX.so"
    data = host_runtime.read_bytes()
    host_runtime.unlink()
    host_runtime.write_bytes(data)
    (other / "test_misdeeds.py").write_text(
        TESTS.replace("(2, 3)", "(8,)").replace("cpu_kernel(case):", "other(case):") % 0
    )
    Session().write(own_repository / "session.json")
    run = run_pytest(
        own_repository, "--opkit-session=session.json", tests=("test_faults.py", str(other))
    )
    assert "1 failed, 3 passed" in run.stdout, run.stdout + run.stderr
    assert "CPU kernel of Faults, case 2x3-uniform-fault=1:" in run.stdout


def test_plugin_stops_on_failed_build(own_repository: Path) -> None:
    (own_repository / "SConstruct").write_text("raise SystemExit('no compiler for x64')\n")
    run = run_pytest(own_repository)
    assert run.returncode == 1
    assert "`scons target=x64` failed:" in run.stdout + run.stderr
    assert "no compiler for x64" in run.stdout + run.stderr
    assert "test_cpu_kernel" not in run.stdout


@pytest.mark.slow
def test_plugin_builds_first(own_repository: Path) -> None:
    (own_repository / "SConstruct").write_text(
        "assert ARGUMENTS == {'target': 'x64'}\nopen('built', 'w').close()\n"
    )
    run = run_pytest(own_repository)
    assert "1 failed, 1 passed" in run.stdout
    assert (own_repository / "built").exists()
    assert "own shapes" not in run.stdout
    right = run_pytest(
        own_repository, tests=["test_faults.py::test_cpu_kernel[2x3-uniform-fault=0]"]
    )
    assert "the CPU kernel also ran on " in right.stdout
