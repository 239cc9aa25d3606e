"""`scons check librknnrt=PATH`: the cases in the vendor's runtime, above a stand-in for the NPU.

By default the runtime is fake_librknnrt.c, with a toolkit of its own. The vendor's is tested, too,
if this is set, and a Python with the toolkit (see test_simulator.py):

    LIBRKNNRT   the path of librknnrt.so for aarch64 or armhf, 1.6.0 or later
    POCL_ARMHF  a folder with PoCL for armhf; see test_librknnrt_gpu.py
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from opkit.check.executors import emulated
from opkit.common.errors import OpkitError
from opkit.toolchains.abi import ABIS
from tests.check.target_repositories import check, counts, need, rows, script
from tests.compiling import C_SOURCES, OPKIT, build
from tests.marks import slow_first
from tests.repositories import Repository, generate
from tests.runtimes.rknn2.support import HEADERS
from tests.runtimes.rknn2.test_simulator import toolkit_python

pytestmark = pytest.mark.slow

STAND_IN = Path(__file__).parent / "rknn_stand_in"
DESCRIPTION = """\
name: Weighted
runtimes: [rknn2]
inputs:
  x: {type: VX_TYPE_TENSOR}
  n: {type: VX_TYPE_TENSOR, dtype: int64}
outputs:
  y: {type: VX_TYPE_TENSOR, same_as: x}
  sum: {type: VX_TYPE_TENSOR, dtype: int32}
  twice: {type: VX_TYPE_TENSOR, dtype: int64}
  odd: {type: VX_TYPE_TENSOR, dtype: bool}
params:
  mode: {type: string, default: as "is"}
  factor: {type: float, default: 0.1}
  offsets: {type: ints}
  weights: {type: floats, source: const:weights}
"""
COMPUTE = """\
#include <string.h>

#include "generated/weighted.h"

static const char *weighted_compute(const struct weighted_inputs *inputs,
                                    const struct weighted_params *params,
                                    struct weighted_outputs *outputs)
{
    const float sign = strcmp(params->mode, "as \\"is\\"") == 0 ? 1 : -1;

    for (size_t i = 0; i < inputs->x.size; i++) {
        const float weight = params->weights.items[i % params->weights.count];
        outputs->y.float32[i] = sign * (inputs->x.float32[i] * params->factor * weight);
    }
    for (size_t i = 0; i < inputs->n.size; i++) {
        const int64_t n = inputs->n.int64[i];
        outputs->sum.int32[i] = (int32_t)(n + params->offsets.items[i % params->offsets.count]);
        outputs->twice.int64[i] = 2 * n;
        outputs->odd.uint8[i] = n % 2 != 0;
    }
    return NULL;
}
"""
REFERENCE = """\
import numpy as np


def output_shapes(input_shapes, params):
    n = tuple(input_shapes["n"])
    return {"y": tuple(input_shapes["x"]), "sum": n, "twice": n, "odd": n}


def reference(inputs, params):
    def along(name, like):
        return np.resize(np.asarray(params[name]), like.size).reshape(like.shape)

    x, n = inputs["x"].astype(np.float64), inputs["n"]
    y = x * np.float32(params["factor"]) * along("weights", x)
    return {
        "y": (y if params["mode"] == 'as "is"' else -y).astype(inputs["x"].dtype),
        "sum": (n + along("offsets", n)).astype(np.int32),
        "twice": 2 * n,
        "odd": n % 2 != 0,
    }
"""
TESTS = """\
import numpy as np
import pytest

from opkit.testing import Case, check_cpu_kernel

SHAPES = {"table": (3, 4), "image": (2, 3, 5, 4), "row": (5,)}
PARAMS = {"offsets": [-7, 2**21], "weights": [0.5, 2.0]}
OTHERS = PARAMS | {"mode": "\\t\\\\", "factor": 0.25}


def case(shape, dtype, params):
    x = np.linspace(-2, 2, int(np.prod(SHAPES[shape]))).reshape(SHAPES[shape]).astype(dtype)
    return Case(f"{shape}-{dtype}", {"x": x, "n": np.arange(-30, 30).reshape(3, 4, 5, 1)}, params)


CASES = [case("table", "float16", PARAMS), case("image", "float16", PARAMS)]
CASES += [case("image", "float32", OTHERS), case("row", "float32", OTHERS)]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=1)
"""
FAKE_VERSION = "1.6.0"


def libraries(abi: str) -> None:
    """Skip the test, or fail in CI, without the ABI's emulator and its C library."""
    need(f"qemu-{ABIS[abi].processor}-static", "qemu-user-static")
    try:
        emulated(abi, {})
    except OpkitError as error:
        if os.environ.get("CI"):
            pytest.fail(str(error))
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def fake(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a function from an ABI to the fake runtime for it."""
    folder = tmp_path_factory.mktemp("a runtime")

    def library(abi: str) -> Path:
        libraries(abi)
        path = folder / abi / "librknnrt.so"
        source = C_SOURCES / "fake_librknnrt.c"
        soname = "-Wl,-soname,librknnrt.so"
        return (
            path
            if path.exists()
            else build(path, source, HEADERS, "-shared", soname, abi=ABIS[abi])
        )

    return library


@pytest.fixture(scope="module")
def toolkit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a Python with the fake toolkit."""
    folder = tmp_path_factory.mktemp("toolkit")
    information = folder / "rknn_toolkit2-0.1.2.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Name: rknn-toolkit2\nVersion: 0.1.2\n")
    python = folder / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={folder}:{STAND_IN} exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    return python


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    made = generate(tmp_path_factory.mktemp("a repository"), DESCRIPTION)
    (made.path / "weighted_compute.h").write_text(COMPUTE)
    (made.path / "weighted_reference.py").write_text(REFERENCE)
    (made.path / "tests/test_weighted.py").write_text(TESTS)
    return made


def arguments(toolkit: Path, library: Path) -> list[str]:
    return [f"rknn2_python={toolkit}", f"librknnrt={library}"]


def results(output: str) -> dict[str, str]:
    """Return the runtime's rows in the table of cases: case -> max error, or FAILED."""
    return {
        case: cells[-1] if cells[-1] == "FAILED" else cells[0]
        for found in rows(output, "librknnrt").values()
        for case, *cells in found
    }


@pytest.mark.parametrize("abi", slow_first(1, ["armhf", "aarch64"]))
def test_cases_run_in_runtime(
    abi: str, repository: Repository, toolkit: Path, fake: Callable[[str], Path]
) -> None:
    run = check(repository, "verbose=1", *arguments(toolkit, fake(abi)))
    assert run.returncode == 0, run.stdout + run.stderr
    names = ("table-float16", "image-float16", "image-float32", "row-float32")
    assert [*results(run.stdout)] == [*names]
    text = re.sub(r"\s+", " ", run.stdout)
    assert counts(run.stdout)[f"librknnrt {FAKE_VERSION}, {abi}"] == 4
    assert "filled in inputs of rank 4" in text


def test_failures_in_runtime_are_seen(
    repository: Repository, toolkit: Path, fake: Callable[[str], Path], tmp_path: Path
) -> None:
    """The kernel is wrong where it runs for armhf alone, and fails at the last case."""
    failing = repository.copy(tmp_path)
    compute = failing.path / "weighted_compute.h"
    wrong = """\
#ifdef __arm__
    outputs->sum.int32[1]++;
    if (inputs->x.rank == 1) {
        return "it fails";
    }
#endif
    return NULL;"""
    compute.write_text(compute.read_text().replace("    return NULL;", wrong, 1))
    run = check(failing, *arguments(toolkit, fake("armhf")))
    assert run.returncode != 0
    assert list(results(run.stdout).values()) == ["FAILED"] * 4
    assert "1 of 60 elements of output 'sum' are wrong" in run.stdout
    assert "log: rknn_run returns -1" in run.stdout
    assert "Weighted: it fails" in run.stdout


SSH = """\
case "$4" in
    /tmp/opkit.*) exec {command} "$4" ;;
    *) exec sh -c "$4" ;;
esac
"""


@pytest.mark.nightly
def test_board(
    repository: Repository, toolkit: Path, fake: Callable[[str], Path], tmp_path: Path
) -> None:
    """A board has its own library and driver; here the latter is the idle one, for no images."""
    copy, library = repository.copy(tmp_path), fake("armhf")
    tests = copy.path / "tests/test_weighted.py"
    text = tests.read_text().replace("(2, 3, 5, 4)", "(6, 5, 4)").replace("(3, 4, 5, 1)", "(3, 20)")
    tests.write_text(text)
    npu = OPKIT / "runtimes/rknn2/librknnrt/npu.c"
    build(tmp_path / "npu.so", npu, "-shared", "-ldl", "-lpthread", abi=ABIS["armhf"])
    command = shlex.join(emulated("armhf", {"LD_PRELOAD": str(tmp_path / "npu.so")}))
    script(tmp_path / "ssh", SSH.format(command=command))
    words = [f"rknn2_python={toolkit}", "target=rk3588", "abi=armhf", "qemu=ssh:board"]
    path = f"{tmp_path}:{os.environ['PATH']}"
    run = check(copy, *words, f"librknnrt={library}", path=path)
    assert run.returncode == 0, run.stdout + run.stderr
    checked = re.sub(r"\s+", " ", run.stdout)
    assert "librknnrt, rk3588: the board's version 1.6.0 (fake), driver 0.9.8" in checked
    assert counts(run.stdout)["librknnrt, rk3588"] == 4


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["check", "librknnrt=nowhere"], "librknnrt=nowhere: No such file or directory; expected "),
        (["librknnrt={armhf}"], "librknnrt={armhf} runs the cases; write scons check librknnrt="),
        (
            ["check", "librknnrt={armhf}", "target=rk3588", "qemu=qemu-aarch64-static"],
            "is for armhf, but qemu= runs programs for aarch64; pass a target of armhf",
        ),
        (
            ["check", "librknnrt={no_operators}"],
            "version 1.5.2 has no custom operators; expected librknnrt.so of Linux, 1.6.0 or later",
        ),
        (
            ["check", "librknnrt={armhf}", "librknnrt_opencl=nowhere"],
            "usr/lib/arm-linux-gnueabihf/libOpenCL.so.1 not found; expected the packages pocl-",
        ),
        (
            ["check", "librknnrt_opencl=pocl"],
            "librknnrt_opencl=pocl is the OpenCL of librknnrt= in qemu; write scons check ",
        ),
    ],
)
def test_invalid_arguments(
    words: list[str],
    message: str,
    repository: Repository,
    toolkit: Path,
    fake: Callable[[str], Path],
    tmp_path: Path,
) -> None:
    source = tmp_path / "old.c"
    source.write_text(
        'extern const char *version;\nconst char *version = "librknnrt version: 1.5.2";\n'
    )
    old = build(tmp_path / "old.so", source, "-shared", abi=ABIS["armhf"])
    paths = {"armhf": str(fake("armhf")), "no_operators": str(old)}
    filled = [word.format(**paths) for word in words]
    run = repository.scons(
        "-Q", f"rknn2_python={toolkit}", *filled, check=False, path=os.environ["PATH"]
    )
    assert run.returncode == 2
    assert message.format(**paths) in run.stderr
    assert "Traceback" not in run.stderr


def test_help_names_missing_packages(repository: Repository) -> None:
    text = re.sub(r"\s+", " ", repository.scons("-h").stdout)
    assert "; for aarch64 and armhf run sudo apt install qemu-user-static" in text


def test_older_runtime_for_name_of_onnx(
    toolkit: Path, fake: Callable[[str], Path], tmp_path: Path
) -> None:
    description = DESCRIPTION.replace("runtimes:", "op_type: Celu\nruntimes:")
    repository = generate(tmp_path, description)
    words = ["check", *arguments(toolkit, fake("armhf"))]
    run = repository.scons("-Q", *words, check=False, path=os.environ["PATH"])
    assert run.returncode == 2
    assert "version 1.6.0 aborts in rknn_init at op_type Celu, ONNX's own name" in run.stderr


LIBRKNNRT = os.environ.get("LIBRKNNRT", "")
POCL = os.environ.get("POCL_ARMHF", "")


@pytest.mark.skipif(not LIBRKNNRT, reason="set LIBRKNNRT to run the vendor's runtime")
def test_cases_run_in_vendors_runtime(repository: Repository) -> None:
    words = arguments(Path(toolkit_python()), Path(LIBRKNNRT).absolute())
    run = check(repository, "verbose=1", *words)
    assert run.returncode == 0, run.stdout + run.stderr
    assert len(results(run.stdout)) == 4


@pytest.mark.skipif(not LIBRKNNRT, reason="set LIBRKNNRT to run the vendor's runtime")
@pytest.mark.parametrize(
    "name", slow_first(1, ["not", "piecewise_linear", "center_crop_pad", "linear_attention"])
)
def test_example_runs_in_vendors_runtime(name: str, example: Callable[..., Repository]) -> None:
    words = arguments(Path(toolkit_python()), Path(LIBRKNNRT).absolute())
    run = check(example(name, "rknn2"), "verbose=1", *words)
    found = results(run.stdout)
    assert found, run.stdout + run.stderr
    assert "FAILED" not in found.values(), run.stdout + run.stderr


@pytest.mark.skipif(not LIBRKNNRT, reason="set LIBRKNNRT to run the vendor's runtime")
def test_kernel_runs_in_thread_of_application(repository: Repository, tmp_path: Path) -> None:
    """Of a process's threads the first one has the id of the process."""
    made = repository.copy(tmp_path)
    compute = made.path / "weighted_compute.h"
    text = "#include <sys/syscall.h>\nlong syscall(long number, ...);\n" + compute.read_text()
    refusal = 'if (syscall(SYS_gettid) != syscall(SYS_getpid)) { return "another thread"; }'
    compute.write_text(text.replace("    return NULL;", f"    {refusal}\n    return NULL;", 1))
    words = arguments(Path(toolkit_python()), Path(LIBRKNNRT).absolute())
    run = check(made, *words, "verbose=1")
    assert run.returncode == 0, run.stdout + run.stderr
    assert len(results(run.stdout)) == 4


@pytest.mark.skipif(not LIBRKNNRT or not POCL, reason="set LIBRKNNRT and POCL_ARMHF")
def test_check_names_device(repository: Repository) -> None:
    words = arguments(Path(toolkit_python()), Path(LIBRKNNRT).absolute())
    run = check(repository, "verbose=1", *words, f"librknnrt_opencl={POCL}")
    assert run.returncode == 0, run.stdout + run.stderr
    assert "the CPU kernel computed in librknnrt" in re.sub(r"\s+", " ", run.stdout)


GPU_DESCRIPTION = """\
name: Blend
runtimes: [rknn2]
kernels: [cpu, gpu]
elementwise: true
inputs: {x: {type: VX_TYPE_TENSOR}, other: {type: VX_TYPE_TENSOR}}
outputs: {y: {type: VX_TYPE_TENSOR}}
params: {factor: {type: float, default: 0.5}}
"""
GPU_SCALAR = """\
#ifndef BLEND_SCALAR_H
#define BLEND_SCALAR_H

#include "generated/blend.h"

static inline float blend_of(float x, float other, const struct blend_params *params)
{
    return x + params->factor * other;
}

#endif
"""
GPU_REFERENCE = """\
import numpy as np


def output_shapes(input_shapes, params):
    return {"y": np.broadcast_shapes(input_shapes["x"], input_shapes["other"])}


def reference(inputs, params):
    return {"y": inputs["x"] + np.float32(params["factor"]) * inputs["other"]}
"""
GPU_TESTS = """\
import pytest

from opkit.testing import cases, check_cpu_kernel, check_gpu_kernel, integers

CASES = cases(
    shapes=[{"x": (6, 10), "other": (6, 10)}, {"x": (2, 3, 5), "other": (3, 1)}],
    values=[integers(-8, 8)],
    params=[{"factor": 0.25}],
    dtype="float32",
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_gpu_kernel(case):
    check_gpu_kernel(case)
"""


@pytest.mark.skipif(not LIBRKNNRT or not POCL, reason="set LIBRKNNRT and POCL_ARMHF")
def test_gpu_kernel_runs_in_vendors_runtime(tmp_path: Path) -> None:
    made = generate(tmp_path / "gpu", GPU_DESCRIPTION)
    (made.path / "blend_scalar.h").write_text(GPU_SCALAR)
    (made.path / "blend_reference.py").write_text(GPU_REFERENCE)
    (made.path / "tests/test_blend.py").write_text(GPU_TESTS)
    words = arguments(Path(toolkit_python()), Path(LIBRKNNRT).absolute())
    run = check(made, "verbose=1", *words, f"librknnrt_opencl={POCL}")
    assert run.returncode == 0, run.stdout + run.stderr
    assert len(results(run.stdout)) == 2
    text = re.sub(r"\s+", " ", run.stdout)
    assert "the GPU kernel, on PoCL, computed in librknnrt" in text
    assert "the CPU kernel computed" not in text
