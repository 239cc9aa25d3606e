"""An operator on the GPU in the vendor's librknnrt: what that asks of OpenCL, and what it does.

The OpenCL is PoCL. Runs if these are set, and a Python with the toolkit (see test_simulator.py):

    LIBRKNNRT   the path of librknnrt.so 1.6.0 for armhf
    POCL_ARMHF  a folder with PoCL; docs/rknn2.md has the commands
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from opkit.check.executors import abi_of, emulated
from opkit.runtimes.invocation import Array
from opkit.toolchains.abi import ABIS
from tests.compiling import C_SOURCES, OPKIT, build
from tests.runtimes.rknn2.support import HEADERS
from tests.runtimes.rknn2.test_simulator import toolkit_python

LIBRKNNRT = os.environ.get("LIBRKNNRT", "")
POCL = os.environ.get("POCL_ARMHF", "")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not LIBRKNNRT or not POCL,
        reason="set LIBRKNNRT and POCL_ARMHF to run a GPU operator in the vendor's runtime",
    ),
]

SOURCES = OPKIT / "runtimes/rknn2/librknnrt"
MODEL = Path(__file__).parent / "gpu_model.py"
COUNTING = np.arange(60, dtype="float32")
SUM = (COUNTING + COUNTING / 2).astype("float16").astype("float32")
ENDS = ("_cst_temp", "")
Run = Callable[..., tuple[list[str], Array, str]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a function that runs the application with a model.

    Its arguments are those of gpu_model.py but for the output, and a word for the application. It
    returns the application's lines, the model's output, and stderr.
    """
    folder = tmp_path_factory.mktemp("gpu")
    library = Path(LIBRKNNRT).absolute()
    assert abi_of(library) == "armhf"
    abi = ABIS["armhf"]
    packages = [Path(POCL).absolute() / name / "arm-linux-gnueabihf" for name in ("usr/lib", "lib")]
    opencl, loader = SOURCES / "opencl.c", packages[0] / "libOpenCL.so.1"
    soname = "-Wl,-soname,libOpenCL.so"
    build(folder / "libOpenCL.so", opencl, loader, "-shared", soname, "-ldl", abi=abi)
    build(folder / "npu.so", SOURCES / "npu.c", "-shared", "-ldl", "-lpthread", abi=abi)
    build(
        folder / "application",
        C_SOURCES / "gpu_application.c",
        HEADERS,
        f"-L{library.parent}",
        "-lrknnrt",
        "-ldl",
        "-lpthread",
        "-Wl,--allow-shlib-undefined",
        abi=abi,
    )
    variables = {
        "LD_LIBRARY_PATH": ":".join(map(str, (folder, library.parent, *packages))),
        "LD_PRELOAD": "npu.so",
        "OCL_ICD_VENDORS": str(packages[0] / "libpocl.so.2"),
        "POCL_CACHE_DIR": str(folder),
    }
    command = [*emulated("armhf", variables), str(folder / "application")]

    def run_model(*arguments: str, word: str = "") -> tuple[list[str], Array, str]:
        shape, *constant = arguments
        model = folder / f"{'-'.join(arguments)}.rknn"
        if not model.exists():
            convert = [toolkit_python(), str(MODEL), shape, str(model), *constant]
            subprocess.run(convert, cwd=folder, check=True, capture_output=True)
        ran = subprocess.run(
            [*command, str(model), "output.bin", word],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        output = np.fromfile(folder / "output.bin", "float32")
        return ran.stdout.splitlines(), output, ran.stderr

    return run_model


def test_kernel_computes(run: Run) -> None:
    """Context, queue, kernel and files stay, and `prepare` is never called."""
    lines, output, _ = run("6x10")
    same = ", same file at 0" * 3 + ", same context, same queue, same kernel"
    computed = [f"compute on GPU{same}", "OpenCL returns 0", "run: 0"]
    assert lines == ["init on GPU", "registered: 0", *computed, *computed, "destroy on GPU"]
    assert np.array_equal(output, SUM)


def test_failing_node_goes_to_cpu(run: Run) -> None:
    """The runtime prints nothing of it."""
    lines, output, stderr = run("6x10", word="failing")
    assert [line.partition(",")[0] for line in lines[2:]] == [
        "compute on GPU",
        "compute on CPU",
        "run: 0",
        "compute on CPU",
        "run: 0",
        "destroy on CPU",
    ]
    assert "RKNN" not in stderr
    assert np.array_equal(output, SUM)


def test_failed_registration_leaves_cpu(run: Run) -> None:
    lines, output, stderr = run("6x10", word="wrong")
    computed = ["compute on CPU, b_cst_temp", "run: 0"] * 2
    assert lines == ["registered: -1", "init on CPU", "registered: 0", *computed, "destroy on CPU"]
    assert "register custom op failed for gpu device" in stderr
    assert np.array_equal(output, SUM)


def test_thread_has_its_own_context(run: Run) -> None:
    """The kernel is of the first thread's context, so OpenCL refuses it."""
    lines, output, _ = run("6x10", word="thread")
    assert "other context, other queue, same kernel" in lines[2]
    assert lines[3:6] == ["OpenCL returns -34", "compute on CPU, b_cst_temp", "run: 0"]
    assert np.array_equal(output, SUM)


def test_constants_are_in_one_file(run: Run) -> None:
    lines, output, _ = run("6x10", "0.5")
    first, second, *_ = (line for line in lines if line.startswith("compute on GPU"))
    assert "other file at 0" in first
    assert "other file at 256" in second
    assert np.array_equal(output, COUNTING + 0.5)


def test_cpu_gets_constants_from_second_run(run: Run) -> None:
    """In the first one they are in memory that nothing fills."""
    lines, output, _ = run("6x10", "0.5", word="wrong")
    computed = [line for line in lines if line.startswith("compute")]
    first, second = ([f"compute on CPU, {name}{end}" for name in ("zero", "b")] for end in ENDS)
    assert computed == [*first, *second]
    assert np.array_equal(output, COUNTING + 0.5)


def test_layout_of_npu_is_not_converted(run: Run) -> None:
    """In a float16 model, the runtime's own kernel of the conversion does not compile."""
    lines, _, stderr = run("1x3x4x5")
    assert lines[0] == "registered: -1"
    assert "use of undeclared identifier 'To8'" in stderr
    assert "layout convert failed" in stderr
    assert "compute on CPU, New_input_b_cst_temp" in lines
