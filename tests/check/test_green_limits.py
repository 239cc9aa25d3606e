"""Kernels with right outputs that a board may not run: large stacks and heaps, waits, slow loops.

A kernel with the limits of a device is red where it exceeds the stack, and else a note.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from opkit.check import board_limits
from opkit.check.results import Result
from opkit.check.traits import CaseTraits, TensorTraits
from opkit.runtimes.invocation import STACK_SIZE, Usage
from opkit.testing import Case, Operator, run_cpu_kernel
from tests.marks import slow_first
from tests.repositories import Repository, generate

DESCRIPTION = """\
name: Greedy
runtimes: [rknn2]
inputs: {x: {type: VX_TYPE_TENSOR, dtype: float32}}
outputs: {y: {type: VX_TYPE_TENSOR, same_as: x}}
params: {way: {type: VX_TYPE_INT32, default: 0}}
"""
# Of each way the value of the param, and statements before the copy.
WAYS = {
    "COPY": "",
    "FRAME_OF_6_MB": "frame_of_6_mb();",
    "FRAME_OF_300_KB": "frame_of_300_kb();",
    "ANY_LENGTH": "any_length(outputs->y.size);",
    "RECURSION": "(void)recursion(outputs->y.size);",
    "HEAP": "heap((size_t)1 << 30);",
    "SMALL_HEAP": "heap((size_t)8 << 20);",
    "SLEEP": "sleep_for_a_while();",
    "BUSY": "busy(100000000U);",
    "ALL_PAIRS": "all_pairs(inputs->x.float32, inputs->x.size);",
}
FRAMES = """\
static __attribute__((noinline)) void {name}(void)
{{
    char bytes[{size}];
    bytes[0] = 1;
    __asm__ volatile("" : : "r"(bytes) : "memory");
}}

"""
COMPUTE = """\
#ifndef GREEDY_COMPUTE_H
#define GREEDY_COMPUTE_H

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "generated/greedy.h"

int nanosleep(const struct timespec *time, struct timespec *rest);

FRAMES
static __attribute__((noinline)) void any_length(size_t n)
{
    float array[n + 1];
    array[0] = 1;
    __asm__ volatile("" : : "r"(array) : "memory");
}

static __attribute__((noinline)) int recursion(size_t n)
{
    volatile int one = 1;
    return n == 0 ? 0 : recursion(n - 1) + one;
}

static void heap(size_t size)
{
    volatile char *bytes = malloc(size);
    if (bytes != NULL) {
        bytes[0] = 1;
    }
    free((void *)bytes);
}

static void sleep_for_a_while(void)
{
    const struct timespec time = {.tv_nsec = 100 * 1000 * 1000};
    nanosleep(&time, NULL);
}

static void busy(unsigned turns)
{
    for (volatile unsigned i = 0; i < turns; i++) {
    }
}

static void all_pairs(const float *x, size_t n)
{
    volatile float sum = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < n; k++) {
            sum += x[k] * (float)(i * k % n);
        }
    }
}

static const char *greedy_compute(const struct greedy_inputs *inputs,
                                  const struct greedy_params *params,
                                  struct greedy_outputs *outputs)
{
    switch (params->way) {
CALLS
    default:
        break;
    }
    for (size_t i = 0; i < outputs->y.size; i++) {
        outputs->y.float32[i] = inputs->x.float32[i];
    }
    return NULL;
}

#endif
"""
TESTS = """\
import numpy as np
import pytest

from opkit.testing import Case, check_cpu_kernel

X = np.linspace(-1, 1, {size}, dtype=np.float32)
CASES = [Case(name, {{"x": X}}, {{"way": way}}) for way, name in {ways}]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case)
"""
SIZES = {"FRAME_OF_6_MB": 6 << 20, "FRAME_OF_300_KB": 300 << 10}
LARGE = 2**17 + 3  # elements


def compute_header() -> str:
    frames = "".join(FRAMES.format(name=name.lower(), size=size) for name, size in SIZES.items())
    calls = "\n".join(
        f"    case {way}:\n        {call}\n        break;" for way, call in enumerate(WAYS.values())
    )
    return COMPUTE.replace("FRAMES\n", frames).replace("CALLS", calls)


def write_tests(repository: Repository, size: int, *ways: str) -> None:
    numbered = [(way, name) for way, name in enumerate(WAYS) if name in ways]
    text = TESTS.format(size=size, ways=numbered)
    (repository.path / "tests/test_greedy.py").write_text(text)


@pytest.fixture(scope="module")
def greedy(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    made = generate(tmp_path_factory.mktemp("greedy"), DESCRIPTION)
    (made.path / "greedy_compute.h").write_text(compute_header())
    return made


@pytest.mark.slow
def test_notes_of_check(greedy: Repository) -> None:
    """The build has a warning for each frame and array of any length, with its line."""
    write_tests(greedy, 60, "COPY", "FRAME_OF_300_KB", "HEAP", "SLEEP", "BUSY")
    run = greedy.scons("-Q", "quick=1", "report")
    output = " ".join(run.stdout.split())
    for note in (
        r"a call takes 30\d KiB of the 512 KiB of stack that a thread on the board may have "
        r"\(malloc large arrays\), for example in case FRAME_OF_300_KB",
        r"a call has 1 GiB from malloc at a time, for tensors of 480 bytes; a board has little "
        r"memory, and malloc may return NULL there, for example in case HEAP",
        r"a call waits for 1\d\d\.\d ms \(a sleep, a file, a lock\?\), and so does each inference "
        r"on the board, for example in case SLEEP",
        r"a call computes for .* ms, more than 1,000 times as long as memcpy of its tensors "
        r"\(480 bytes\), and a board is slower \(a loop that runs too often\?\), for example in "
        r"case BUSY",
    ):
        assert re.search(f"note: CPU kernel: {note}", output), output
    assert output.count("note: CPU kernel: ") == 4
    lines = compute_header().splitlines()
    for text, warning in (
        ("void frame_of_300_kb(void)", "stack frame size"),
        ("void frame_of_6_mb(void)", "stack frame size"),
        ("float array[n + 1];", "variable length array used [-Wvla]"),
    ):
        line = next(i for i, each in enumerate(lines, 1) if text in each)
        assert re.search(
            rf"greedy_compute\.h:{line}:\d+: warning: {re.escape(warning)}", run.stderr
        )
    page = (greedy.path / "build/report.html").read_text()
    row = r'<th scope="row">CPU kernel</th><td class="number">30\d KiB</td>'
    assert re.search(rf'{row}<td class="number">1 GiB</td>', page)


@pytest.mark.slow
def test_right_kernels_have_no_note(greedy: Repository) -> None:
    write_tests(greedy, 2000, "COPY", "SMALL_HEAP", "ALL_PAIRS", "RECURSION", "ANY_LENGTH")
    run = greedy.scons("-Q", "quick=1", "check")
    assert "note: CPU kernel" not in run.stdout
    assert re.search(r"^CPU kernel +5 +0 +0 ", run.stdout, re.MULTILINE)


@pytest.mark.slow
@pytest.mark.parametrize("way", slow_first(1, ["FRAME_OF_6_MB", "ANY_LENGTH", "RECURSION"]))
def test_overflow_of_stack(greedy: Repository, way: str) -> None:
    greedy.scons("-Q", "quick=1", "target=x64")
    size = 1 if way == "FRAME_OF_6_MB" else LARGE
    case = Case("large", {"x": np.ones(size, np.float32)}, {"way": [*WAYS].index(way)})
    problem = run_cpu_kernel(case, operator=Operator(greedy.path)).problem
    text = "overflows the stack of 512 KiB, as small as a thread's on the board: an infinite "
    assert re.fullmatch(rf"greedy_compute\.h:\d+: compute {text}.*", problem), problem
    name = way.lower()
    lines = compute_header().splitlines()
    begin = next(i for i, each in enumerate(lines, 1) if f" {name}(" in each)
    assert begin <= int(problem.split(":")[1]) <= begin + 5


MIB = 1 << 20
NOTHING = Usage(stack=0, heap=0, processor=0.0, waiting=0.0)


@pytest.mark.parametrize(
    ("usage", "elements", "note"),
    [
        ({"stack": STACK_SIZE // 2, "heap": 16 * MIB, "processor": 0.01, "waiting": 0.01}, 1, ""),
        ({"stack": STACK_SIZE // 2 + 1}, 1, "256 KiB of the 512 KiB of stack"),
        ({"heap": 16 * MIB + 1}, 1, "16 MiB from malloc at a time, for tensors of 8 bytes"),
        ({"heap": 128 * MIB}, MIB, ""),  # 16 times the tensors
        ({"heap": 129 * MIB}, MIB, "129 MiB from malloc at a time, for tensors of 8 MiB"),
        ({"processor": 0.02, "waiting": 0.05}, 60, "a call computes for 20.0 ms"),
        ({"processor": 0.01, "waiting": 0.05}, 60, "a call waits for 50.0 ms"),
        ({"processor": 0.009, "waiting": 0.01}, 60, ""),
        ({"processor": 0.3}, 1000, ""),  # DFT and MatMul, without a fast algorithm
        ({"processor": 0.5}, 1000, "a call computes for 500.0 ms, more than 1,000 times"),
    ],
)
def test_limits(usage: dict[str, Any], elements: int, note: str) -> None:
    taken = replace(NOTHING, **usage)
    tensor = TensorTraits("float32", (elements,))
    traits = CaseTraits(inputs={"x": tensor}, outputs={"y": tensor})
    found = [*board_limits.notes([Result("CPU kernel", "a", usage=taken, traits=traits)])]
    assert len(found) == bool(note), found
    assert note in "".join(found)
    failed = Result("CPU kernel", "a", "wrong", usage=taken, traits=traits)
    assert not [*board_limits.notes([failed])]


def test_kernels_share_a_note() -> None:
    names = ("CPU kernel", "CPU kernel, rknn2")
    results = [
        Result(name, f"case {seconds}", usage=replace(NOTHING, waiting=seconds))
        for name in names
        for seconds in (0.1, 0.2)
    ]
    (note,) = board_limits.notes(results)
    assert note.startswith("CPU kernel; CPU kernel, rknn2: a call waits for 200.0 ms")
    assert note.endswith("for example in case case 0.2")
