"""Where the time of kernels goes: the statistics, and the profiled builds of each runtime."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opkit.build import libraries
from opkit.check import harness_client
from opkit.check.operators import Operator
from opkit.check.profile import (
    MAX_CALLS,
    MIN_CALLS,
    PHASES,
    CallProfile,
    Profile,
    calls_for,
    profile_of,
)
from opkit.check.results import load
from opkit.runtimes import parse
from opkit.runtimes.invocation import Invocation, ProfiledKernel, RunOptions
from opkit.testing import cases, uniform
from tests.marks import slow_first
from tests.repositories import Repository, generate

KERNELS = ("CPU kernel", "CPU kernel, pplnn", "CPU kernel, rknn2")
DESCRIPTION = """
name: Busy
kernels: [cpu]
runtimes: [rknn, pplnn, rknn2]
threads: 2
inputs: {input: {type: VX_TYPE_TENSOR}}
outputs: {output: {type: VX_TYPE_TENSOR}}
params:
  rounds: {type: VX_TYPE_INT32, default: 0}
  megabytes: {type: VX_TYPE_INT32, default: 0}
"""
INCLUDES = """\
#include <stdlib.h>

#include "generated/busy.h"
#include "include/opkit/compute/parallel.h"

struct busy_loop {
    const struct busy_inputs *inputs;
    const struct busy_params *params;
    struct busy_outputs *outputs;
};

/* Each round takes about a nanosecond for an element. */
static void busy_part(const void *context, size_t begin, size_t end)
{
    const struct busy_loop *loop = (const struct busy_loop *)context;

    for (size_t i = begin; i < end; i++) {
        volatile float value = loop->inputs->input.float32[i];
        for (int32_t round = 0; round < loop->params->rounds; round++) {
            value = value + 0.0F;
        }
        loop->outputs->output.float32[i] = value;
    }
}
"""
COMPUTE = """\
    if (params->megabytes > 0) {
        void *memory = malloc((size_t)params->megabytes << 20);
        if (memory == NULL) {
            return "no memory";
        }
        for (int32_t page = 0; page < params->megabytes << 8; page++) {
            ((volatile char *)memory)[(size_t)page << 12] = 1;
        }
        free(memory);
    }
    const struct busy_loop loop = {inputs, params, outputs};
    opkit_parallel_for(outputs->output.size, 4096, busy_part, &loop);
    return NULL;
}

#endif
"""
TESTS = """
from opkit.testing import cases, check_cpu_kernel, uniform
import pytest

SHAPES = [{"input": (4,)}, {"input": (2, 3)}, {"input": (5,)}, {"input": (64, 1024)}]
CASES = [
    case
    for dtype in ("float16", "float32")
    for case in cases(shapes=SHAPES, values=[uniform(-1, 1)], dtype=dtype)
]

@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case)
"""


def call(seconds: float, **ticks: int) -> CallProfile:
    return CallProfile(seconds, {**dict.fromkeys(PHASES, 0), **ticks})


def test_calls_at_both_ends_are_left_out() -> None:
    calls = [call(seconds, math=3, copy=1) for seconds in (9.0, 2e-6, 1e-9, 4e-6, 3e-6, 1e-6, 8.0)]
    profile = profile_of(calls, 10)
    assert profile.calls == 7
    assert profile.total == pytest.approx(3000)
    assert profile.nanoseconds == pytest.approx(
        {"copy": 750, "conversion": 0, "math": 2250, "allocation": 0, "other": 0}
    )
    assert profile.per_element["math"] == pytest.approx(225)
    assert list(profile.per_element) == list(PHASES)


@pytest.mark.parametrize(("count", "middle"), [(1, 1), (2, 1.5), (3, 2), (4, 2.5), (5, 3)])
def test_few_calls(count: int, middle: float) -> None:
    calls = [call(number * 1e-9, math=1) for number in range(1, count + 1)]
    assert profile_of(calls, 1).total == pytest.approx(middle)


def test_number_of_calls() -> None:
    assert calls_for(0.001) == 10
    assert calls_for(1.0) == MIN_CALLS
    assert calls_for(0.0) == calls_for(1e-6) == MAX_CALLS


def test_record_of_a_call() -> None:
    assert CallProfile.parse("0.000001500 copy 1 math 22") == CallProfile(
        1.5e-6, {"copy": 1, "math": 22}
    )


def test_phases_are_those_of_the_harness() -> None:
    header = Path(harness_client.__file__).with_name("harness") / "memory/profile.h"
    assert tuple(re.findall(r'X\(\w+, "(\w+)"\)', header.read_text())) == PHASES


def test_header_includes_functions_before_it_times_them() -> None:
    operator = parse(DESCRIPTION)
    lines = libraries.profile_header(
        [libraries.HALVES, libraries.math_phase(operator)]
    ).splitlines()
    included = lines.index('#include "busy_compute.h"')
    math = "#define busy_compute(...) PROFILE(PROFILE_MATH, busy_compute(__VA_ARGS__))"
    assert lines.index(math) > included
    # The math's own conversions are timed, too.
    assert any("opkit_halves_to_floats(...)" in line for line in lines[:included])


# ---- The profiled builds ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """Return a repository with a report. Params make its math slow, or allocate memory."""
    repository = generate(tmp_path_factory.mktemp("busy"), DESCRIPTION)
    path = repository.path / "busy_compute.h"
    text = path.read_text()
    text = text.replace('#include "generated/busy.h"\n', INCLUDES, 1)
    body = text.index("{", text.index("busy_compute(")) + 2
    path.write_text(text[:body] + COMPUTE)
    (repository.path / "tests/test_busy.py").write_text(TESTS)
    repository.scons("report", "quick=1")
    return repository


def shares(repository: Repository, name: str, dtype: str, **params: int) -> dict[str, float]:
    """Return the shares of the phases of a kernel's call.

    Measures again while other processes slow down the profiled or the delivered kernel.

    Raises:
        AssertionError: the measurement itself changes the time of a call.
    """
    operator = Operator(repository.path)
    kernel = operator.cpu_kernels()[name]
    assert isinstance(kernel, ProfiledKernel)
    (case,) = cases(
        shapes=[{"input": (128, 1024)}], values=[uniform(-1, 1)], params=[params], dtype=dtype
    )
    invocation = operator.prepare(case).invocation
    whole: list[float] = []
    while len(whole) < 10:
        run = kernel.profile(invocation, 9, 10)
        assert (run.status, run.fault) == (0, "")
        profile = profile_of([CallProfile.parse(record) for record in run.profiles], 1)
        delivered = kernel.run(invocation, RunOptions(repeat=9))
        assert delivered.profiles == []
        whole.append(profile.total / (1e9 * delivered.seconds))
        if 0.5 < whole[-1] < 3:
            return {phase: time / profile.total for phase, time in profile.nanoseconds.items()}
    raise AssertionError(whole)


@pytest.mark.slow
@pytest.mark.parametrize("name", slow_first(1, KERNELS))
def test_slow_math_is_math(busy: Repository, name: str) -> None:
    assert shares(busy, name, "float32", rounds=50)["math"] > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("name", slow_first(1, KERNELS))
def test_new_memory_is_allocation(busy: Repository, name: str) -> None:
    # The pages are new in the math, which uses them first, but their cost is that of malloc.
    assert shares(busy, name, "float32", megabytes=100)["allocation"] > 0.7


@pytest.mark.slow
@pytest.mark.parametrize("name", slow_first(1, KERNELS))
def test_halves_are_converted(busy: Repository, name: str) -> None:
    converts = name != "CPU kernel, rknn2"  # which gets float32
    halves, floats = (shares(busy, name, dtype) for dtype in ("float16", "float32"))
    assert (halves["conversion"] > 0.01) == converts
    assert floats["conversion"] < 0.01
    assert (floats["copy"] > 0.01) == (name == "CPU kernel")


@pytest.mark.slow
@pytest.mark.nightly
def test_integers_of_librknnrt_are_converted(tmp_path: Path) -> None:
    description = (
        DESCRIPTION.replace("rknn, pplnn, ", "")
        .replace("threads: 2\n", "")
        .replace("kernels: [cpu]\n", "")
    )
    description = description.replace("TENSOR}}", "TENSOR, dtype: int32}}")
    repository = generate(tmp_path, description)
    repository.scons("report", "quick=1")
    operator = Operator(repository.path)
    kernel = operator.cpu_kernels()["CPU kernel"]
    assert isinstance(kernel, ProfiledKernel)
    data = np.arange(4096, dtype=np.int32)
    outputs: dict[str, Any] = {"output": ((4096,), np.int32)}
    invocation = Invocation({"input": data}, {"rounds": 0, "megabytes": 0}, outputs)
    run = kernel.profile(invocation, 9, 10)
    profile = profile_of([CallProfile.parse(record) for record in run.profiles], 4096)
    assert profile.nanoseconds["conversion"] > 0.3 * profile.total


@pytest.mark.slow
def test_report_has_a_profile_of_each_kernel_and_dtype(busy: Repository) -> None:
    records = load(busy.path / "build/results")
    profiles = {
        (record.result.kernel, record.inputs["input"]): record.result.profile for record in records
    }
    for kernel in KERNELS:
        for dtype in ("float16", "float32"):
            sizes = [profiles[kernel, f"{dtype} {shape}"] for shape in ("4", "2x3", "5", "64x1024")]
            # Only a case larger than those before it is measured.
            elements = [profile and profile.elements for profile in sizes]
            assert elements == [4, 6, None, 65536]
            assert isinstance(sizes[-1], Profile)
            assert sizes[-1].calls >= MIN_CALLS
            assert sizes[-1].nanoseconds["math"] > 0
    text = (busy.path / "build/report.html").read_text()
    assert text.count('<div class="profile">') == 6


@pytest.mark.slow
@pytest.mark.nightly
def test_check_builds_no_profiled_library(busy: Repository) -> None:
    for path in busy.path.glob("build/**/profiled/*"):
        if path.is_file():
            path.unlink()
    busy.scons("check", "quick=1")
    assert [*busy.path.glob("build/**/profiled/*.so")] == []
