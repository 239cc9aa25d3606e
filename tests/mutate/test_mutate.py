"""`scons check mutate=N`: the cases of an operator on changed kernels."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from opkit.check.session import FILE, LOG, Session, command
from tests.marks import quick_first, slow_first
from tests.processes import marked
from tests.repositories import Repository, generate, installed_opkit

# y is x below `low` moved by it, else scaled by `high`.
DESCRIPTION = """\
name: Bend
{runtime}
inputs: {{x: {{type: VX_TYPE_TENSOR}}}}
outputs: {{y: {{type: VX_TYPE_TENSOR}}}}
params: {{low: {{type: VX_TYPE_FLOAT32}}, high: {{type: VX_TYPE_FLOAT32}}}}
"""
RUNTIMES = {
    "rknn": "kernels: [cpu]",
    "pplnn": "runtimes: [pplnn]",
    "rknn2": "runtimes: [rknn2, pplnn]",
}
COMPUTE = """\
#ifndef BEND_COMPUTE_H
#define BEND_COMPUTE_H
#include "generated/bend.h"

static const char *bend_compute(const struct bend_inputs *inputs,
                                const struct bend_params *params, struct bend_outputs *outputs)
{
    if (inputs->x.type != OPKIT_FLOAT32 || outputs->y.type != OPKIT_FLOAT32) {
        return "x and y must be float16 or float32";
    }
    for (size_t i = 0; i < outputs->y.size; i++) {
        const float x = inputs->x.float32[i];
        outputs->y.float32[i] = x < params->low ? x - params->low : x * params->high;
    }
    return NULL;
}
#endif
"""
REFERENCE = """\
import numpy as np


def output_shapes(input_shapes, params):
    return {"y": input_shapes["x"]}


def reference(inputs, params):
    x, low, high = inputs["x"], np.float32(params["low"]), np.float32(params["high"])
    return {"y": np.where(x < low, x - low, x * high)}
"""
TESTS = """\
import pytest
from opkit.testing import cases, check_cpu_kernel, ramp, uniform

CASES = cases([{{"x": (50,)}}], [{values}], [{{"low": 2.0, "high": 3.0}}], dtype="float32")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case)
"""
GOOD, WEAK = TESTS.format(values="ramp()"), TESTS.format(values="uniform(0, 4)")
ONE_LIVES = """\
your cases notice {noticed} of {total} changes; this one lives:
bend_compute.h:13 `x < params->low` -> `x <= params->low`
Add a case that fails with such a change, unless the change makes no difference.
"""


def write(repository: Repository, tests: str) -> Repository:
    (repository.path / "bend_compute.h").write_text(COMPUTE)
    (repository.path / "bend_reference.py").write_text(REFERENCE)
    (repository.path / "tests/test_bend.py").write_text(tests)
    return repository


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    folder = tmp_path_factory.mktemp("bend")
    return write(generate(folder, DESCRIPTION.format(runtime=RUNTIMES["rknn"])), GOOD)


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return path -> content and time of the files of a repository outside of build/."""
    left_out = {"build", "__pycache__", ".pytest_cache"}
    return {
        str(path): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file() and not left_out & {*path.relative_to(folder).parts}
    }


def printed(run: subprocess.CompletedProcess[str]) -> str:
    """Return the output of the command after the build."""
    lines = run.stdout.partition("changes of the kernels\n")[2]
    assert max(map(len, [*lines.splitlines(), ""])) <= 80
    return lines.removesuffix("scons: done building targets.\n")


@pytest.mark.slow
@pytest.mark.nightly
def test_good_cases_notice_all(repository: Repository) -> None:
    write(repository, GOOD).scons("target=x64")
    before = snapshot(repository.path)
    run = repository.scons("check", "mutate=99")
    number = re.match(r"mutate=99: there are no more than (\d+) changes\n", printed(run))
    assert number is not None, run.stdout
    assert int(number[1]) >= 12
    assert printed(run)[number.end() :] == f"your cases notice all {number[1]} changes\n"
    assert snapshot(repository.path) == before
    assert [*(repository.path / "build/mutation").iterdir()] == []


@pytest.mark.slow
@pytest.mark.nightly
def test_survivor_is_named_with_its_line(repository: Repository) -> None:
    run = write(repository, WEAK).scons("check", "mutate=99")
    assert run.returncode == 0
    text = printed(run)
    (total,) = re.findall(r"no more than (\d+) changes", text)
    expected = ONE_LIVES.format(noticed=int(total) - 1, total=total)
    assert text.partition("\n")[2] == expected


@pytest.mark.slow
@pytest.mark.parametrize("runtime", slow_first(1, ["pplnn", "rknn2"]))
def test_first_runtime(tmp_path: Path, runtime: str) -> None:
    description = DESCRIPTION.format(runtime=RUNTIMES[runtime])
    repository = write(generate(tmp_path, description), GOOD)
    run = repository.scons("check", "mutate=4")
    assert printed(run) == "your cases notice all 4 changes\n"


@pytest.mark.slow
def test_red_check_is_said_at_once(repository: Repository) -> None:
    write(repository, GOOD)
    (repository.path / "bend_reference.py").write_text(REFERENCE.replace("x * high", "x"))
    run = repository.scons("check", "mutate=9", check=False)
    assert run.returncode == 2
    assert "error: the cases fail without any change; see scons check\n" in run.stderr
    assert printed(run) == "scons: building terminated because of errors.\n"


@pytest.mark.slow
@pytest.mark.nightly
def test_kernel_that_no_case_runs_has_to_compile(tmp_path: Path) -> None:
    description = DESCRIPTION.format(runtime="runtimes: [rknn2]\nkernels: [cpu, gpu]")
    repository = write(generate(tmp_path, description), GOOD)
    path = repository.path / "rknn2/bend_kernel.cl"
    path.write_text(path.read_text().replace("(i < count)", "(i < counts)"))
    run = repository.scons("check", "mutate=1", check=False)
    assert run.stderr.startswith(
        "error: rknn2/bend_kernel.cl:17: use of undeclared identifier 'counts'; did you\n"
        "  mean 'count'?; no case runs this kernel, see scons check\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    quick_first(
        1,
        {
            ("check", "mutate=0"): "mutate: invalid '0' (expected a number from 1 to 9999)",
            ("check", "mutate=-1"): "mutate: invalid '-1' (expected a number from 1 to 9999)",
            ("mutate=5",): "mutate=5 requires check: scons check mutate=5",
            ("report", "mutate=5"): "mutate=5 requires check: scons check mutate=5",
            ("check", "mutate=5", "target=rv1126", "sanitize=address"): (
                "mutate= runs on all cores of this PC; leave out sanitize=, target="
            ),
        }.items(),
    ),
)
def test_invalid_arguments(repository: Repository, arguments: list[str], message: str) -> None:
    run = repository.scons(*arguments, check=False)
    assert (run.returncode, run.stderr) == (2, f"error: {message}\n")


LOOP = """\
    for (size_t i = 0; i < outputs->y.size;) {
        outputs->y.float32[i] = inputs->x.float32[i] < params->low
                                    ? inputs->x.float32[i] - params->low
                                    : inputs->x.float32[i] * params->high;
        i++;
    }
    return NULL;
}
#endif
"""


@pytest.mark.slow
@pytest.mark.nightly
def test_endless_loop_is_noticed(repository: Repository, tmp_path: Path) -> None:
    """Dropping `i++` makes one; the time of a kernel is short then."""
    path = tmp_path / "Bend"
    shutil.copytree(repository.path, path, symlinks=True)
    copy = write(Repository(path), GOOD)
    (path / "bend_compute.h").write_text(COMPUTE.partition("    for")[0] + LOOP)
    text = printed(copy.scons("check", "mutate=99"))
    assert "your cases notice all" in text
    (path / "bend_compute.h").write_text(
        (COMPUTE.partition("    for")[0] + LOOP).replace("i++;", "")
    )
    copy.scons("target=x64")
    Session(log=LOG, time_limit=0.5).write(path / FILE)
    run = copy.run(*command()[2:], check=False)
    assert "CPU kernel timed out after 0.5 s in case 50-float32-ramp" in run.stdout


@pytest.mark.slow
def test_interrupted_run_leaves_nothing(repository: Repository, tmp_path: Path) -> None:
    write(repository, GOOD).scons("target=x64")
    run = subprocess.Popen(
        [sys.executable, "-m", "SCons", "check", "mutate=50"],
        cwd=repository.path,
        env={**os.environ, "PYTHONPATH": installed_opkit(), "MUTATE": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    scratch = repository.path / "build/mutation"
    deadline = time.monotonic() + 120
    while not [*scratch.glob(".scratch-*/*/build/check/log.jsonl")]:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.killpg(run.pid, signal.SIGINT)  # as a terminal does
    _, errors = run.communicate(timeout=60)
    assert run.returncode != 0
    assert all("interrupted" in line for line in errors.splitlines()), errors
    assert not marked(f"MUTATE={tmp_path}")
    assert [*scratch.iterdir()] == []
