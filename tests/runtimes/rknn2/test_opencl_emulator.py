"""The emulator of OpenCL: right kernels, driven by OpenCL's API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from opkit.opencl.pc_compiler import Program
from opkit.runtimes.rknn2.cl_compiler import compile_cl
from tests.runtimes.rknn2.opencl_api import Array, Run
from tests.runtimes.rknn2.opencl_runs import Result, emulate

KERNELS = Path(__file__).with_name("opencl_kernels.cl")


RNG = np.random.default_rng(43)
X = RNG.standard_normal((6, 8)).astype(np.float32)
INTEGERS = RNG.integers(0, 100, 64).astype(np.int32)


def like(array: Array) -> Array:
    return np.empty_like(array)


def box_mean(x: Array) -> Array:
    mean = np.empty_like(x)
    for i, j in np.ndindex(x.shape):
        total, count = np.float32(0), 0
        for row in x[max(i - 1, 0) : i + 2, max(j - 1, 0) : j + 2]:
            for value in row:
                total, count = total + value, count + 1
        mean[i, j] = total / np.float32(count)
    return mean


def tree_sums(x: Array, size: int) -> Array:
    parts = x.reshape(-1, size)
    while parts.shape[1] > 1:
        half = parts.shape[1] // 2
        parts = parts[:, :half] + parts[:, half:]
    return parts.ravel()


def lanes(x: Array) -> Array:
    v = x.reshape(-1, 4)
    square = v * v
    dots = ((square[:, 0] + square[:, 1]) + square[:, 2]) + square[:, 3]
    return np.ravel(v[:, ::-1] * np.array([1, 2, 3, 4], np.float32) + dots[:, None])


FLAT = X.ravel()
RIGHT: dict[str, tuple[Run, Mapping[str, Array]]] = {
    "add": (
        Run(KERNELS, "add", [FLAT, FLAT[::-1].copy(), "y", np.float32(3)], {"y": FLAT}, [48]),
        {"y": FLAT + FLAT[::-1] * np.float32(3)},
    ),
    "resize": (
        Run(KERNELS, "resize", [X, "y", np.int32(6), np.int32(8)], {"y": X}, [8, 6]),
        {"y": box_mean(X)},
    ),
    "reduce": (
        Run(
            *(KERNELS, "reduce", [FLAT, "y", ("local", 64)], {"y": np.empty(3, np.float32)}),
            *([48], [16]),
        ),
        {"y": tree_sums(FLAT, 16)},
    ),
    "turn": (
        Run(KERNELS, "turn", [INTEGERS, "y"], {"y": INTEGERS}, [64], [8]),
        {"y": INTEGERS.reshape(8, 8)[:, ::-1].ravel()},
    ),
    "divide": (
        Run(
            KERNELS,
            "divide",
            [INTEGERS, "q", "r", np.uint32(7), np.array([5], np.int32)],
            {"q": INTEGERS, "r": INTEGERS.astype(np.uint32)},
            [64],
        ),
        {"q": INTEGERS // 7 + 5, "r": (INTEGERS % 7).astype(np.uint32)},
    ),
    "cumulate": (
        Run(KERNELS, "cumulate", [X, ("scratch", X.nbytes), "y", np.int32(8)], {"y": X}, [6]),
        {"y": np.cumsum(X, axis=1, dtype=np.float32)},
    ),
    "neighbors": (
        Run(KERNELS, "neighbors", [FLAT, ("scratch", 192), "y"], {"y": FLAT}, [48], [12]),
        {"y": np.roll(FLAT.reshape(4, 12), -1, axis=1).ravel()},
    ),
    "vectors": (Run(KERNELS, "vectors", [FLAT, "y"], {"y": FLAT}, [12]), {"y": lanes(FLAT)}),
    "blocks": (
        Run(KERNELS, "blocks", [FLAT, "y", ("local", 16)], {"y": FLAT}, [48], [4]),
        {"y": FLAT.reshape(-1, 4)[:, ::-1].ravel()},
    ),
}


VARIED = {
    "reverse": {"opencl:reverse": "1"},
    "fill": {"opencl:fill": "7"},
    "local_size": {"opencl:local_size": "4 2"},
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return compile_cl(KERNELS, tmp_path_factory.mktemp("cl"))


@pytest.fixture(scope="module")
def results(program: Program) -> dict[str, Result]:
    """The results of all runs, in one process."""
    runs = {name: run for name, (run, _) in RIGHT.items()}
    runs |= {name: replace(runs["resize"], attachments=given) for name, given in VARIED.items()}
    return dict(zip(runs, emulate(program, [*runs.values()]), strict=True))


@pytest.mark.parametrize("name", RIGHT)
def test_right_kernels(results: dict[str, Result], name: str) -> None:
    outputs, result = results[name]
    assert result.problems() == []
    assert [each.kernel for each in result.launches] == [RIGHT[name][0].kernel]
    for output, array in RIGHT[name][1].items():
        np.testing.assert_array_equal(outputs[output], array, strict=True)


@pytest.mark.parametrize("name", VARIED)
def test_order_fill_and_local_size_change_no_results(results: dict[str, Result], name: str) -> None:
    outputs, result = results[name]
    assert result.problems() == []
    assert result.launches[0].local_size == ((4, 2) if name == "local_size" else (8, 1))
    np.testing.assert_array_equal(outputs["y"], RIGHT["resize"][1]["y"], strict=True)
