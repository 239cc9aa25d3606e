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

from tests.check.target_repositories import check, need
from tests.repositories import RKNN_EXAMPLES, Repository, generate
from tests.runtimes.rknn.driver_build import driver_folder

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
def test_cpu_kernel(case):
    check_cpu_kernel(case)
"""
NAMES = ("driver 0.1.2", "librknn_runtime 0.1.2")


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need("qemu-aarch64-static", "qemu-user-static")
    return driver_folder(tmp_path_factory.mktemp("vendor") / "driver", "aarch64")


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    made = generate(tmp_path_factory.mktemp("repository"), DESCRIPTION)
    (made.path / "tests/test_copy.py").write_text(TESTS)
    return made


def results(output: str) -> Counter[tuple[str, str]]:
    """Return how often a kernel has a result: (kernel, "equal" or "FAILED")."""
    lines = (re.split(r"  +", line) for line in output.splitlines())
    return Counter(
        (words[0], "FAILED" if words[-1] == "FAILED" else "equal")
        for words in lines
        if len(words) > 2 and words[0].startswith(("driver", "librknn_runtime"))
    )


def test_cases_run_in_driver(repository: Repository, driver: Path) -> None:
    run = check(repository, f"driver={driver}")
    assert run.returncode == 0, run.stdout + run.stderr
    assert results(run.stdout) == {(name, "equal"): 2 for name in NAMES}
    checked = "; ".join(f"{name}: 2 cases" for name in NAMES)
    assert checked in re.sub(r"\s+", " ", run.stdout)


def test_failure_of_kernel_is_seen(repository: Repository, driver: Path, tmp_path: Path) -> None:
    failing = repository.copy(tmp_path)
    compute = failing.path / "copy_compute.h"
    compute.write_text(compute.read_text().replace("return NULL;", 'return "it fails";', 1))
    run = check(failing, f"driver={driver}")
    assert run.returncode != 0
    assert results(run.stdout)[NAMES[0], "FAILED"] == 2


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


RKNPU_DRIVER = os.environ.get("RKNPU_DRIVER", "")


@pytest.mark.skipif(not RKNPU_DRIVER, reason="set RKNPU_DRIVER to run the vendor's driver")
@pytest.mark.parametrize("name", RKNN_EXAMPLES)
def test_example_runs_in_vendors_driver(name: str, example: Callable[..., Repository]) -> None:
    run = check(example(name, "rknn"), f"driver={Path(RKNPU_DRIVER).absolute()}")
    found = results(run.stdout)
    assert found, run.stdout + run.stderr
    assert {result for _, result in found} == {"equal"}, run.stdout + run.stderr
