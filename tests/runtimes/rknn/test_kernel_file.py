"""rknn_kernel_<op>.c: its hooks, and a file with its own callbacks."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.compiling import C_SOURCES
from tests.repositories import Repository, generate
from tests.runtimes.rknn.host_build import compile_program
from tests.runtimes.rknn.test_failing_kernel import COMPUTE, DESCRIPTION

HOOKS = """
static int calls;

static vx_status make_table(const struct opkit_call *call)
{
    printf("initialize %s, call %d\\n", call->operator_name, ++calls);
    return RESULT;
}

static vx_status free_table(const struct opkit_call *call)
{
    printf("deinitialize, %u parameters\\n", (unsigned)call->count);
    return VX_SUCCESS;
}

static const struct opkit_kernel_hooks kernel_hooks = {
    .initialize_cpu_kernel = make_table,
    .deinitialize_cpu_kernel = free_table,
};
"""


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the repository of an operator with only a CPU kernel, which fails for some inputs."""
    root = generate(tmp_path_factory.mktemp("hooks"), f"{DESCRIPTION}kernels: [cpu]\n").path
    (root / "failing_compute.h").write_text(COMPUTE)
    return root


def run(root: Path, folder: Path, addition: str) -> list[str]:
    """Return the output of a graph of the operator, with a text added to the user's file."""
    source = root / "rknn_kernel_failing.c"
    changed = root / "changed.c"
    changed.write_text(source.read_text() + addition)
    program = folder / "program"
    sources = (C_SOURCES / "failing_operator.c", changed)
    compile_program(program, *sources, include=(root,))
    result = subprocess.run([program], capture_output=True, text=True, check=True)
    return result.stdout.splitlines()


def test_set_up_and_tear_down_run_once(failing: Path, tmp_path: Path) -> None:
    lines = run(failing, tmp_path, HOOKS.replace("RESULT", "VX_SUCCESS"))
    assert lines[0] == "initialize Failing, call 1"
    assert lines[-1] == "deinitialize, 3 parameters"
    assert lines[1:-1] == run(failing, tmp_path, "")


def test_failed_set_up_prevents_inference(failing: Path, tmp_path: Path) -> None:
    refused = HOOKS.replace("RESULT", 'opkit_fail(call, VX_ERROR_NO_MEMORY, NULL, "no table")')
    lines = run(failing, tmp_path, refused)
    assert "log -8: Failing: no table" in lines
    assert not any(line.startswith("0: ") for line in lines)
    assert "deinitialize, 3 parameters" in lines


@pytest.mark.slow
def test_file_with_own_callbacks_still_builds(
    example: Callable[..., Repository], tmp_path: Path
) -> None:
    """A complete kernel file, with callbacks, tables and kernel list, builds."""
    repository = Repository(Path(shutil.copytree(example("exp", "rknn").path, tmp_path / "Exp")))
    shutil.copy(C_SOURCES / "whole_file_kernel.c", repository.path / "rknn_kernel_exp.c")
    built = repository.scons("target=all")
    assert "link build/x64/libexp.so" in built.stdout
    assert built.stderr == ""
    checked = repository.scons("check")
    assert "FAILED" not in checked.stdout
    for kernel in ("CPU kernel", "VX kernel"):
        assert f"\n{kernel} " in checked.stdout
