"""`scons check driver=FOLDER`: the cases in the boards' driver, above a stand-in for its hardware.

By default the driver is a fake, the host runtime, which first asks the stand-in what the boards'
driver asks. The vendor's is tested, too, if this is set:

    RKNPU_DRIVER  a folder with its libraries for aarch64 or armhf: libOpenVX.so and dependencies
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from opkit.runtimes.rknn.board_driver import read_driver
from tests.check.target_repositories import check, counts, need, rows, script
from tests.repositories import RKNN_OPERATORS, Repository, generate
from tests.runtimes.rknn import test_params
from tests.runtimes.rknn.driver_build import driver_folder, stand_in
from tests.runtimes.rknn.test_params import limits

pytestmark = pytest.mark.slow

DESCRIPTION = """\
name: Copy
runtimes: [rknn]
inputs: {x: {type: VX_TYPE_TENSOR}}
outputs: {y: {type: VX_TYPE_TENSOR}}
params: {fails: {type: VX_TYPE_BOOL, default: false}}
kernels: [cpu]
"""
TESTS = """\
import numpy as np
import pytest

from opkit.testing import Case, check_cpu_kernel

NUMBERS = np.linspace(-2, 2, 24).reshape(2, 3, 4)
CASES = [Case(name, {"x": NUMBERS.astype(name)}) for name in ("float16", "float32")]


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("changes", [False, True])
def test_cpu_kernel(case, changes):
    check_cpu_kernel(case, changes_reference=changes)
"""
NAMES = ("driver 0.1.2", "librknn_runtime 0.1.2")


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need("qemu-aarch64-static", "qemu-user-static")
    return driver_folder(tmp_path_factory.mktemp("vendor") / "driver", "aarch64")


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    made = generate(tmp_path_factory.mktemp("a repository"), DESCRIPTION)
    (made.path / "tests/test_copy.py").write_text(TESTS)
    return made


def results(output: str) -> Counter[tuple[str, str]]:
    """Return how often a kernel has a result: (kernel, "equal" or "FAILED")."""
    return Counter(
        (kernel, "FAILED" if cells[-1] == "FAILED" else "equal")
        for kernel, found in rows(output, ("driver", "librknn_runtime")).items()
        for cells in found
    )


def test_cases_run_in_driver(repository: Repository, driver: Path) -> None:
    run = check(repository, f"driver={driver}", "verbose=1")
    assert run.returncode == 0, run.stdout + run.stderr
    assert results(run.stdout) == {(name, "equal"): 4 for name in NAMES}
    assert counts(run.stdout) == {"CPU kernel": 4, **dict.fromkeys(NAMES, 4)}


def test_failure_of_kernel_is_seen(repository: Repository, driver: Path, tmp_path: Path) -> None:
    failing = repository.copy(tmp_path)
    compute = failing.path / "copy_compute.h"
    compute.write_text(compute.read_text().replace("return NULL;", 'return "it fails";', 1))
    run = check(failing, f"driver={driver}")
    assert run.returncode != 0
    assert results(run.stdout)[NAMES[0], "FAILED"] == 4
    assert f"4 of 4 cases on the {NAMES[0]}: the kernel returns VX_FAILURE (-1)" in run.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", "driver=nowhere"], "error: driver=nowhere: not a folder; the vendor's public "),
        (["driver={driver}"], "runs the cases; write scons check driver="),
        (
            ["check", "driver={driver}", "target=rv1126", "qemu=qemu-arm-static"],
            "is for aarch64, but qemu= runs programs for armhf; pass a target of aarch64",
        ),
    ],
)
def test_invalid_arguments(
    arguments: list[str], message: str, repository: Repository, driver: Path
) -> None:
    filled = [word.format(driver=driver) for word in arguments]
    run = repository.scons("-Q", *filled, check=False, path=os.environ["PATH"])
    assert run.returncode == 2
    assert message in run.stderr
    assert "Traceback" not in run.stderr


def test_help_names_missing_packages(repository: Repository, tmp_path: Path) -> None:
    """The libraries may be missing on this PC, too."""
    output = repository.scons("-h", path=str(tmp_path)).stdout
    help_text = re.sub(r"\s+", " ", output)
    assert "This PC runs it for no ABI; for aarch64 and armhf run sudo apt install" in help_text
    assert "sudo apt install qemu-user-static" in help_text


SSH = """\
case "$4" in
    /tmp/opkit.*) exec {emulator} "$4" ;;
    *) exec sh -c "$4" ;;
esac
"""


def test_driver_of_board(repository: Repository, tmp_path: Path) -> None:
    need("qemu-arm-static", "qemu-user-static")
    driver = driver_folder(tmp_path / "driver", "armhf")
    hardware = stand_in(read_driver(driver), tmp_path)
    variables = (f"LD_LIBRARY_PATH={tmp_path}:{driver}", f"LD_PRELOAD={hardware}")
    words = ("qemu-arm-static", "-L", "/usr/arm-linux-gnueabihf", *(f"-E {v}" for v in variables))
    script(tmp_path / "ssh", SSH.format(emulator=" ".join(words)))
    path = f"{tmp_path}:{os.environ['PATH']}"
    run = check(
        repository, "driver=board", "verbose=1", "target=rv1126", "qemu=ssh:me@board", path=path
    )
    assert run.returncode == 0, run.stdout + run.stderr
    names = ("driver", "librknn_runtime")  # the version is on the board
    assert results(run.stdout) == {(name, "equal"): 4 for name in names}


RKNPU_DRIVER = os.environ.get("RKNPU_DRIVER", "")
TARGETS = {"aarch64": "rk1808", "armhf": "rv1126"}


@pytest.mark.skipif(not RKNPU_DRIVER, reason="set RKNPU_DRIVER to run the vendor's driver")
@pytest.mark.parametrize("name", RKNN_OPERATORS)
def test_operator_runs_in_vendors_driver(name: str, example: Callable[..., Repository]) -> None:
    """In the driver and in the emulator alone, the kernel has the same differences.

    On armhf these include the elements of float32 cases that NEON flushes to zero.
    """
    folder = Path(RKNPU_DRIVER).absolute()
    abi = read_driver(folder).abi
    run = check(example(name, "rknn"), f"driver={folder}", f"target={TARGETS[abi]}", "verbose=1")
    alone = f"CPU kernel, {abi}"
    table = rows(run.stdout, ("driver", "librknn_runtime", alone))
    expected = [cells[:-1] for cells in table.pop(alone)]
    assert len(table) == 2, run.stdout + run.stderr
    for kernel, found in table.items():
        assert [cells[:-1] for cells in found] == expected, kernel


PARAMS_REFERENCE = """\
import numpy as np

DTYPES = {dtypes}


def output_shapes(inputs, params):
    return {{"output": (len(DTYPES), {row})}}


def reference(inputs, params):
    rows = []
    for name, dtype in DTYPES.items():
        array = np.asarray(params[name], dtype)
        rows.append(np.uint64(array.size).tobytes() + array.tobytes())
    rows = [np.frombuffer(row.ljust({row}, bytes(1)), np.uint8) for row in rows]
    return {{"output": np.stack(rows)}}
"""
PARAMS_TESTS = """\
import numpy as np
import pytest

from opkit.testing import Case, check_cpu_kernel

CASES = [Case(name, {{"input": np.ones(1, np.float16)}}, params) for name, params in {cases}]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case)
"""
EXACT = 2**53
"""Larger integers are not exact in a model."""


@pytest.mark.skipif(not RKNPU_DRIVER, reason="set RKNPU_DRIVER to run the vendor's driver")
def test_params_in_vendors_driver(tmp_path: Path) -> None:
    """The driver and librknn_runtime deliver params of every type, at their limits."""
    cases = [("lowest", limits(0)), ("highest", limits(1))]
    for _, params in cases:
        for name, value in params.items():
            if isinstance(value, int):
                params[name] = max(min(value, EXACT), -EXACT)
        params["p_bool"] = bool(params["p_bool"])
    repository = generate(tmp_path, test_params.DESCRIPTION)
    dtypes = {param.name: param.type.element.dtype for param in test_params.SPEC.params}
    texts = {
        "shown_compute.h": test_params.compute(),
        "shown_reference.py": PARAMS_REFERENCE.format(dtypes=dtypes, row=test_params.ROW),
        "tests/test_shown.py": PARAMS_TESTS.format(cases=cases),
    }
    for path, text in texts.items():
        (repository.path / path).write_text(text)
    run = check(repository, f"driver={Path(RKNPU_DRIVER).absolute()}", "verbose=1")
    assert run.returncode == 0, run.stdout + run.stderr
    assert [*results(run.stdout).values()] == [2, 2]


@pytest.mark.skipif(not RKNPU_DRIVER, reason="set RKNPU_DRIVER to run the vendor's driver")
def test_kernel_runs_in_thread_of_application(repository: Repository, tmp_path: Path) -> None:
    """Of a process's threads the first one has the id of the process."""
    made = repository.copy(tmp_path)
    compute = made.path / "copy_compute.h"
    text = "#include <sys/syscall.h>\nlong syscall(long number, ...);\n" + compute.read_text()
    refusal = 'if (syscall(SYS_gettid) != syscall(SYS_getpid)) { return "another thread"; }'
    compute.write_text(text.replace("    return NULL;", f"    {refusal}\n    return NULL;", 1))
    run = check(made, f"driver={Path(RKNPU_DRIVER).absolute()}", "verbose=1")
    assert run.returncode == 0, run.stdout + run.stderr
    assert set(results(run.stdout).values()) == {4}
