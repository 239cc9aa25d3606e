"""Cases that pass alone fail in one process if the kernel keeps state between them."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.check import target_repositories
from tests.repositories import Repository, generate

pytestmark = pytest.mark.slow

KERNELS = ("CPU kernel", "CPU kernel, pplnn", "CPU kernel, rknn2")
DESCRIPTION = """\
name: Stateful
inputs: {x: {type: VX_TYPE_TENSOR}}
outputs: {y: {type: VX_TYPE_TENSOR}}
params: {scale: {type: VX_TYPE_FLOAT32, default: 1.0}}
runtimes: [rknn, pplnn, rknn2]
"""
TESTS = """\
import numpy as np
import pytest

from opkit.testing import Case, check_cpu_kernel


def case(name, size, scale):
    return Case(name, {"x": np.arange(1, size + 1, dtype=np.float32)}, {"scale": scale})


CASES = [case("first", 4, 2.0), case("second", 6, 2.0), case("third", 5, 3.0)]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case)
"""
SCALE = """\
    for (size_t i = 0; i < inputs->x.size; i++) {
        outputs->y.float32[i] = inputs->x.float32[i] * params->scale;
    }
"""
FIRST_PARAMS = """\
    static float table[1];
    if (table[0] == 0) {
        table[0] = params->scale;
    }
    for (size_t i = 0; i < inputs->x.size; i++) {
        outputs->y.float32[i] = inputs->x.float32[i] * table[0];
    }
"""
FIRST_SIZE = """\
    static size_t size;
    size = size == 0 ? inputs->x.size : size;
    for (size_t i = 0; i < size; i++) {
        outputs->y.float32[i] = inputs->x.float32[i] * params->scale;
    }
"""
EXIT_LATER = """\
    static float first;
    first = first == 0 ? params->scale : first;
    if (first != params->scale) {
        exit(0);
    }
"""
# Two nodes share what each of them allocates and frees.
HOOKS = """\
#include <stdlib.h>

static float *table;

static vx_status initialize_cpu_kernel(const struct opkit_call *call)
{
    (void)call;
    table = (float *)malloc(4);
    return table != NULL ? VX_SUCCESS : VX_FAILURE;
}

static vx_status deinitialize_cpu_kernel(const struct opkit_call *call)
{
    (void)call;
    free(table);
    return VX_SUCCESS;
}

static const struct opkit_kernel_hooks kernel_hooks = {
    .initialize_cpu_kernel = initialize_cpu_kernel,
    .deinitialize_cpu_kernel = deinitialize_cpu_kernel,
"""


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    repository = generate(tmp_path_factory.mktemp("stateful"), DESCRIPTION)
    for test in (repository.path / "tests").glob("test_*.py"):
        test.write_text(TESTS)
    reference = repository.path / "stateful_reference.py"
    reference.write_text(
        reference.read_text().replace(
            'np.array(inputs["x"])', 'inputs["x"] * np.float32(params["scale"])'
        )
    )
    return repository


@pytest.fixture
def output(generated: Repository, tmp_path: Path) -> Callable[..., str]:
    """Return a function that writes the math, and returns the output of the check."""

    def check(math: str, *arguments: str, hooks: str = "") -> str:
        path = shutil.copytree(generated.path, tmp_path / "stateful", symlinks=True)
        compute = path / "stateful_compute.h"
        before, after = compute.read_text().split("    (void)params;\n")
        after = after[after.index("    return NULL;\n") :]
        compute.write_text(f"#include <stdlib.h>\n{before}{math}{after}")
        if hooks:
            kernels = path / "rknn_kernel_stateful.c"
            struct = "static const struct opkit_kernel_hooks kernel_hooks = {\n"
            kernels.write_text(kernels.read_text().replace(struct, hooks))
        # The machine's PATH has the emulator, which the default target would use, too.
        tools = os.environ["PATH"] if "target=" in "".join(arguments) else "/nonexistent"
        run = Repository(path).scons("-Q", *arguments, "check", check=False, path=tools)
        assert bool(run.returncode) == bool(hooks or math != SCALE), run.stdout + run.stderr
        return run.stdout

    return check


LOOK = "look for a static variable that keeps something between calls\n"


def test_kernel_without_state_passes(output: Callable[..., str]) -> None:
    assert "in the same process" not in output(SCALE)


@pytest.mark.nightly
def test_table_of_first_params(output: Callable[..., str]) -> None:
    text = output(FIRST_PARAMS)
    for kernel in KERNELS:
        assert (
            f"{kernel} of Stateful, case third:\n"
            "  passes alone, but not after first in the same process:\n"
            f"  y[0] is 2.0, alone 3.0\n  {LOOK}"
        ) in text
    assert "ERROR at teardown of test_cpu_kernel[in one process]" in text
    assert "[100%]" in text
    assert "3 passed, 1 error" in text


@pytest.mark.nightly
def test_size_of_first_case(output: Callable[..., str]) -> None:
    text = output(FIRST_SIZE)
    for kernel in KERNELS:
        assert re.search(
            rf"^{kernel} of Stateful, case second:\n"
            r"  passes alone, but not after first in the same process:\n"
            rf"  y\[4\] is .*\n  one more case fails like it; {LOOK}",
            text,
            re.MULTILINE,
        ), text


@pytest.mark.nightly
@pytest.mark.usefixtures("xdist")
def test_workers_report_state(output: Callable[..., str]) -> None:
    """The first of the workers runs the first and the third case."""
    assert (
        "CPU kernel of Stateful, case third:\n"
        "  passes alone, but not after first in the same process:\n"
    ) in output(FIRST_PARAMS, "workers=2")


def test_fault_in_shared_process(output: Callable[..., str]) -> None:
    text = output(EXIT_LATER + SCALE)
    for kernel in KERNELS:
        assert re.search(
            rf"^{kernel} of Stateful, case third:\n"
            r"  passes alone, but not after first in the same process:\n"
            rf"  .* ends its process with status 0: an operator must not exit\n  {LOOK}",
            text,
            re.MULTILINE,
        ), text


@pytest.mark.nightly
def test_two_nodes_alternate(output: Callable[..., str]) -> None:
    text = output(SCALE, hooks=HOOKS)
    assert re.search(
        r"^CPU kernel of Stateful, case \w+:\n"
        r"  passes alone, but not with the node of \w+ in the same process:\n"
        r"  rknn_kernel_stateful\.c:\d+: the operator frees a block of 4 bytes .* twice\n",
        text,
        re.MULTILINE,
    ), text


@pytest.mark.nightly
def test_state_on_another_instruction_set(output: Callable[..., str]) -> None:
    target_repositories.need("qemu-arm-static", "qemu-user-static")
    text = output(FIRST_PARAMS, "target=rv1126")
    assert (
        "CPU kernel, armhf of Stateful, case third:\n"
        "  passes alone, but not after first in the same process:\n"
    ) in text
