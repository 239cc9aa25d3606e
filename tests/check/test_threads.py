"""Operators with `threads` in op.yml: their check with 1, 2 and 7 threads, and its sanitizer."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from tests.check.target_repositories import need
from tests.marks import slow_first
from tests.repositories import Repository, generate

pytestmark = pytest.mark.slow

DESCRIPTION = """\
name: Twice
runtimes: [{runtimes}]
threads: {threads}
inputs: {{x: {{type: VX_TYPE_TENSOR, dtype: float32}}}}
outputs: {{y: {{type: VX_TYPE_TENSOR, same_as: x}}}}
"""
COMPUTE = """\
#ifndef TWICE_COMPUTE_H
#define TWICE_COMPUTE_H

#include "generated/twice.h"
#include "include/opkit/compute/parallel.h"

#include <pthread.h>

struct twice_loop {
    const struct twice_inputs *inputs;
    struct twice_outputs *outputs;
    float *sum;
};

static void twice_part(const void *context, size_t begin, size_t end)
{
    const struct twice_loop *loop = (const struct twice_loop *)context;
    const float *x = loop->inputs->x.float32;
    float *y = loop->outputs->y.float32;

    for (size_t i = begin; i < end; i++) {
        y[i] = 2 * x[i];
        STATEMENT
    }
}

static void *sleep_forever(void *unused)
{
    for (;;) {
        pthread_testcancel();
    }
    return unused;
}

static const char *twice_compute(const struct twice_inputs *inputs,
                                 const struct twice_params *params, struct twice_outputs *outputs)
{
    float sum = 0;
    const struct twice_loop loop = {inputs, outputs, &sum};

    (void)params;
    (void)sleep_forever;
    opkit_parallel_for(outputs->y.size, 1, twice_part, &loop);
    AFTERWARDS
    return sum < -1 ? "the sum is too small" : NULL;
}

#endif
"""
CASES = """
import numpy as np
import pytest

from opkit.testing import Case, check_cpu_kernel

CASES = [Case(str(n), {"x": 0.1 * np.arange(n, dtype=np.float32)}) for n in (1, 2, 5, 5000)]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case)
"""
SUM = "*loop->sum += x[i];"


def repository(folder: Path, runtimes: str = "rknn2", threads: str = "3") -> Repository:
    folder.mkdir(exist_ok=True)
    made = generate(folder, DESCRIPTION.format(runtimes=runtimes, threads=threads))
    reference = made.path / "twice_reference.py"
    reference.write_text(reference.read_text().replace('np.array(inputs["x"])', '2 * inputs["x"]'))
    (made.path / "tests/test_twice.py").write_text(CASES)
    write(made)
    return made


def write(repository: Repository, statement: str = "", afterwards: str = "") -> int:
    """Write the math with statements in the part and after the loop; return the former's line."""
    text = COMPUTE.replace("STATEMENT", statement).replace("AFTERWARDS", afterwards)
    (repository.path / "twice_compute.h").write_text(text)
    return COMPUTE.splitlines().index("        STATEMENT") + 1


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    built = repository(tmp_path_factory.mktemp("threads"))
    built.scons("target=x64")
    return built


@pytest.fixture
def twice(made: Repository, tmp_path: Path) -> Repository:
    shutil.copytree(made.path, tmp_path / "Twice", symlinks=True)
    return Repository(tmp_path / "Twice")


def check(repository: Repository, *options: str) -> tuple[int, str]:
    """Run the cases; return status and output with single blanks."""
    run = repository.scons(
        "verbose=1", *options, "check", check=False, path=f"{os.environ['PATH']}"
    )
    return run.returncode, " ".join((run.stdout + run.stderr).split())


VARIABLE, ELEMENT = "a variable", "an element of output 'y'"
PARTS = {
    "sum": ("const float own = x[i]; *loop->sum += own;", VARIABLE),
    "counter": ("*loop->sum += 1; if (*loop->sum > 1e9F) { y[0] = 0; }", VARIABLE),
    "slots": ("static float slots[3]; slots[begin % 3] += x[i];", VARIABLE),
    "scratch": ("static volatile float t; t = 2 * x[i]; y[i] = t;", VARIABLE),
    "table": ("static float two; if (two == 0) { two = 2; } y[i] = two * x[i];", VARIABLE),
    "overlap": ("if (end < loop->outputs->y.size) { y[end] = 2 * x[end]; }", ELEMENT),
    "neighbor": ("if (i > 0 && y[i - 1] > 1e9F) { y[i] = 0; }", ELEMENT),
    "own variable": ("volatile float own[2] = {x[i], 0}; y[i] = own[0] + own[0] + own[1];", ""),
    "own byte of a word": ("((volatile unsigned char *)loop->sum)[begin % 2] = 0;", ""),
    "input": ("if (x[0] > 1e9F) { y[i] = 0; }", ""),
}
"""Statements of a part that rarely change the result -> the statement, the memory of a race."""


@pytest.mark.parametrize("runtimes", ["rknn2", "pplnn", "rknn, rknn2"])
@pytest.mark.parametrize("threads", slow_first(1, ["3", "auto"]))
def test_independent_parts_pass(tmp_path: Path, runtimes: str, threads: str) -> None:
    status, output = check(repository(tmp_path, runtimes, threads), "quick=1")
    assert status == 0, output
    assert "4 passed" in output
    assert "no effect" not in output


@pytest.mark.nightly
def test_parts_fit_stack_of_check(twice: Repository) -> None:
    """The calling thread, which has a small stack, runs parts, too."""
    statement = 'char bytes[{} << 10]; __asm__ volatile("" : : "r"(bytes) : "memory");'
    write(twice, statement.format(100))
    status, output = check(twice, "quick=1")
    assert status == 0, output
    write(twice, statement.format(600))
    status, output = check(twice, "quick=1")
    assert status == 2
    assert "compute overflows the stack of 512 KiB" in output


def test_passes_on_target(twice: Repository) -> None:
    need("qemu-aarch64-static", "qemu-user-static")
    status, output = check(twice, "target=rk3588")
    assert status == 0, output
    assert "CPU kernel, aarch64 4 " in output


@pytest.mark.nightly
def test_dependence_on_order(twice: Repository) -> None:
    """An odd count of threads takes the parts from the last one to the first."""
    write(twice, "*loop->sum = y[i];", "outputs->y.float32[outputs->y.size - 1] = sum;")
    status, output = check(twice, "quick=1")
    assert status == 2
    assert "CPU kernel of Twice, case 5000: " in output
    assert re.search(r"with [27] threads, y\[4999\] differs from the result of one thread", output)
    assert "CPU kernel of Twice, case 1: " not in output


@pytest.mark.nightly
def test_races_have_lines(twice: Repository) -> None:
    """Without a sanitizer, and whatever the timing: a case for each kind of part."""
    lines = [
        f"if (loop->kind == {kind}) {{ {text} }}" for kind, (text, _) in enumerate(PARTS.values())
    ]
    first = write(twice, "\n".join(lines))
    math, tests = twice.path / "twice_compute.h", twice.path / "tests/test_twice.py"
    text = math.read_text().replace("float *sum;\n", "float *sum;\n    int kind;\n", 1)
    math.write_text(text.replace("outputs, &sum}", "outputs, &sum, params->kind}"))
    with (twice.path / "op.yml").open("a") as description:
        description.write("params: {kind: {type: VX_TYPE_INT32}}\n")
    tests.write_text(
        CASES.partition("CASES =")[0]
        + f"NAMES = {[*PARTS]}\n"
        + 'X = {"x": 0.1 * np.arange(500, dtype=np.float32)}\n'
        + 'CASES = [Case(name, X, {"kind": kind}) for kind, name in enumerate(NAMES)]\n'
        + CASES[CASES.index("\n\n@pytest") :]
    )
    status, output = check(twice)
    assert status == 2
    for line, (name, (_, memory)) in enumerate(PARTS.items(), first + 1):
        _, is_red, problem = output.partition(f"CPU kernel of Twice, case {name}: ")
        assert bool(is_red) == bool(memory), name
        # Either of two accesses may be the second one.
        race = (
            rf"with 2 threads: twice_compute\.h:({first}|{line}): data race: a part of "
            f"opkit_parallel_for (reads|writes) {memory} .*that another part (writes|uses); "
            "parts run at the same time, so each must write elements of its own, to be combined "
            "after the loop"
        )
        assert not memory or re.match(race, problem), problem[:500]


@pytest.mark.nightly
def test_atomic_operation_is_no_race(twice: Repository) -> None:
    write(twice, "__atomic_store_n((int *)loop->sum, 0, __ATOMIC_RELAXED);")
    status, output = check(twice)
    assert status == 0, output
    assert "threads" not in output


@pytest.mark.nightly
def test_undivided_loop_has_note(twice: Repository) -> None:
    """Parts that start in the middle are wrong, but no case has one."""
    write(twice, "if (begin > 0) { y[i] = 0; }")
    path = twice.path / "twice_compute.h"
    path.write_text(path.read_text().replace("y.size, 1, twice_part", "y.size, 8192, twice_part"))
    status, output = check(twice, "quick=1")
    assert status == 0, output
    assert "note: no case has a loop with several parts, so `threads` in op.yml was not" in output
    assert "add a case with more than `grain` elements for opkit_parallel_for" in output


@pytest.mark.nightly
def test_fault_in_thread_has_line(twice: Repository) -> None:
    line = write(twice, "if (begin == 1) { ((volatile float *)y)[loop->outputs->y.size] = 1; }")
    status, output = check(twice, "quick=1")
    assert status == 2
    assert "with 2 threads: " in output
    assert f"twice_compute.h:{line}: " in output
    assert "just past the end of output 'y'" in output


@pytest.mark.nightly
def test_undefined_behavior_in_threads_has_line(twice: Repository) -> None:
    line = write(twice, "volatile int big = 2147483647; if (begin > 0) { big = big + 1; }")
    status, output = check(twice)
    assert status == 2
    assert f"twice_compute.h:{line}: signed integer overflow" in output


@pytest.mark.nightly
def test_memory_in_threads(twice: Repository) -> None:
    own = "float *own = (float *)malloc(4); *own = y[i]; y[i] = *own; free(own);"
    write(twice, own)
    text = (twice.path / "twice_compute.h").read_text()
    (twice.path / "twice_compute.h").write_text(
        text.replace("#include <pthread.h>", "#include <pthread.h>\n#include <stdlib.h>")
    )
    status, output = check(twice, "quick=1")
    assert status == 0, output


@pytest.mark.nightly
def test_stray_thread_is_reported(twice: Repository) -> None:
    """The threads of the operator are known to the check; a kernel's own must end."""
    write(twice, "", "{ pthread_t own; pthread_create(&own, NULL, sleep_forever, NULL); }")
    status, output = check(twice, "quick=1")
    assert status == 2
    assert "compute returns before its threads end (pthread_create)" in output


def test_sanitizer_finds_race(twice: Repository) -> None:
    need("gcc", "gcc")
    line = write(twice, SUM)
    status, output = check(twice, "sanitize=thread", "quick=1")
    assert status == 2
    assert f"with 2 threads: twice_compute.h:{line}: data race" in output
    assert f"in twice_part, twice_compute.h:{line}" in output


@pytest.mark.nightly
def test_sanitizer_accepts_independent_parts(twice: Repository) -> None:
    need("gcc", "gcc")
    status, output = check(twice, "sanitize=thread", "quick=1")
    assert status == 0, output
    assert "CPU kernel, thread 4 " in output


def test_math_without_loop_has_note(twice: Repository) -> None:
    path = twice.path / "twice_compute.h"
    call = "opkit_parallel_for(outputs->y.size, 1, twice_part, &loop);"
    path.write_text(path.read_text().replace(call, "twice_part(&loop, 0, outputs->y.size);"))
    status, output = check(twice, "quick=1")
    assert status == 0, output
    note = "`threads` in op.yml has no effect: the math does not call opkit_parallel_for"
    assert f"note: twice_compute.h: {note}" in output


@pytest.mark.nightly
def test_elementwise_loop_is_no_race(tmp_path: Path) -> None:
    """Its parts share opkit's caches of what the processor has."""
    elementwise = "elementwise: true\nruntimes: [rknn2, pplnn]\nthreads: 3\n"
    made = generate(
        tmp_path,
        "name: Plain\ninputs: {x: {type: VX_TYPE_TENSOR}}\n"
        f"outputs: {{y: {{type: VX_TYPE_TENSOR, same_as: x}}}}\n{elementwise}",
    )
    sizes = "for dtype in ('float32', 'float16')]"
    tests = CASES.replace(
        "0.1 * np.arange(n, dtype=np.float32)", "(np.arange(70001) % 7).astype(dtype)"
    )
    tests = tests.replace("for n in (1, 2, 5, 5000)]", sizes).replace("str(n)", "dtype")
    (made.path / "tests/test_plain.py").write_text(tests)
    status, output = check(made)
    assert status == 0, output
    assert "in op.yml was not tried" not in output
