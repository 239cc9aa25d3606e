"""The glue of GPU kernels: launches, arguments, buffers, and the way back to the CPU."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from opkit.files.skeletons import once_only_files
from opkit.runtimes import parse
from opkit.runtimes.invocation import Array
from tests.runtimes.rknn2.gpu_operators import (
    BLEND,
    BLEND_SCALAR,
    SCALE,
    SCALE_COMPUTE,
    SCALE_FILES,
    GpuOperator,
    build_gpu_operator,
)
from tests.time_limits import LONG, with_growing_limit

RNG = np.random.default_rng(7)
# Small multiples of 1/8: sums and products are exact.
X = (RNG.integers(-64, 64, (2, 3, 5)) / 8).astype(np.float32)
COLUMN = (RNG.integers(-64, 64, (3, 1)) / 8).astype(np.float32)
DEFAULTS = {"alpha": 1.5, "flag": True, "steps": 3, "low": -1}
OUTPUT = {"count": (X.shape, "float32")}


@pytest.fixture(scope="module")
def blend(tmp_path_factory: pytest.TempPathFactory, host: Path) -> GpuOperator:
    return build_gpu_operator(tmp_path_factory.mktemp("blend"), host, BLEND, BLEND_SCALAR)


def test_elementwise_kernel_broadcasts(blend: GpuOperator) -> None:
    result, found = blend.run({"x": X, "i": COLUMN}, DEFAULTS, OUTPUT)
    assert (result.status, result.fault, result.events, result.leaks) == (0, "", [], [])
    assert found.problems() == []
    assert [launch.kernel for launch in found.launches] == ["blend_kernel"]
    assert found.launches[0].global_size == (30, 1, 1)
    np.testing.assert_array_equal(result.outputs["count"], X + np.float32(1.5) * COLUMN)


def test_params_of_all_types_reach_the_kernel(blend: GpuOperator) -> None:
    params = {"alpha": 0.5, "flag": False, "steps": 7, "low": -128}
    result, found = blend.run({"x": X, "i": COLUMN}, params, OUTPUT)
    assert found.problems() == []
    assert len(found.launches) == 1
    expected = np.abs(X) * np.float32(7) + np.float32(-128)
    np.testing.assert_array_equal(result.outputs["count"], expected)


def test_output_without_elements_needs_no_launch(blend: GpuOperator) -> None:
    empty = np.zeros((2, 0), np.float32)
    output = {"count": ((2, 0), "float32")}
    result, found = blend.run({"x": empty, "i": np.ones(1, np.float32)}, DEFAULTS, output)
    assert (result.status, result.printed, found.launches, found.alive) == (0, "", [], {})


# A sub-buffer begins at a multiple of 128 bytes; others are copies, as librknnrt's constants.
@pytest.mark.parametrize("offset", ["128", "4096", "64", "4"])
def test_inputs_begin_within_their_memory(blend: GpuOperator, offset: str) -> None:
    result, found = blend.run({"x": X, "i": COLUMN}, DEFAULTS, OUTPUT, offset=offset)
    assert (result.status, result.printed, found.problems()) == (0, "", [])
    assert len(found.launches) == 1
    np.testing.assert_array_equal(result.outputs["count"], X + np.float32(1.5) * COLUMN)


def test_another_thread_has_another_context(blend: GpuOperator) -> None:
    result, found = blend.run({"x": X, "i": COLUMN}, DEFAULTS, OUTPUT, thread="")
    assert (result.status, result.printed, found.problems()) == (0, "", [])
    assert len(found.launches) == 1
    np.testing.assert_array_equal(result.outputs["count"], X + np.float32(1.5) * COLUMN)


FAILURES = {
    "clGetContextInfo 1 -34": "clGetContextInfo: CL_INVALID_CONTEXT (-34)",
    "clCreateProgramWithSource 1 -6": "clCreateProgramWithSource: CL_OUT_OF_HOST_MEMORY (-6)",
    "clBuildProgram 1 -11": "clBuildProgram: CL_BUILD_PROGRAM_FAILURE (-11)",
    "clCreateKernel 1 -46": "clCreateKernel: CL_INVALID_KERNEL_NAME (-46)",
    "clImportMemoryARM 1 -6": "clImportMemoryARM: CL_OUT_OF_HOST_MEMORY (-6)",
    "clImportMemoryARM 3 -59": "clImportMemoryARM: CL_INVALID_OPERATION (-59)",
    "clSetKernelArg 2 -38": "clSetKernelArg: CL_INVALID_MEM_OBJECT (-38)",
    "clSetKernelArg 5 -51": "clSetKernelArg: argument 4 of the kernel: CL_INVALID_ARG_SIZE (-51)",
    "clCreateBuffer 1 -4": "clCreateBuffer: CL_MEM_OBJECT_ALLOCATION_FAILURE (-4)",
    "clEnqueueNDRangeKernel 1 -54": "clEnqueueNDRangeKernel: CL_INVALID_WORK_GROUP_SIZE (-54)",
    "clFinish 1 -5": "clFinish: CL_OUT_OF_RESOURCES (-5)",
    "clFinish 1 -9999": "clFinish: an error (-9999)",
}


@pytest.mark.parametrize("failure", FAILURES)
def test_failure_of_opencl_lets_the_cpu_compute(blend: GpuOperator, failure: str) -> None:
    result, found = blend.run({"x": X, "i": COLUMN}, DEFAULTS, OUTPUT, fail=failure)
    assert (result.status, result.fault, result.events, result.leaks) == (0, "", [], [])
    assert result.printed == f"Blend: {FAILURES[failure]}; the CPU computes"
    assert found.alive == {}
    np.testing.assert_array_equal(result.outputs["count"], X + np.float32(1.5) * COLUMN)


COPY = (
    "name: Spin\nruntimes: [rknn2]\nkernels: [cpu, gpu]\n"
    "inputs: {x: {type: VX_TYPE_TENSOR}}\noutputs: {y: {type: VX_TYPE_TENSOR}}\n"
)
SPIN = """\
__kernel void spin_kernel(__global const float *x, __global float *y, const int count)
{
    const int i = (int)get_global_id(0);

    while (x[i] > 0.0f) {
    }
    y[i] = 1.0f / (float)(int)x[i];
    if ((int)x[i] / (int)x[i] > count) {
        y[i] = 0.0f;
    }
}
"""


@pytest.fixture(scope="module")
def spin(tmp_path_factory: pytest.TempPathFactory, host: Path) -> GpuOperator:
    math = once_only_files(parse(COPY), [])["spin_compute.h"]
    folder = tmp_path_factory.mktemp("spin")
    return build_gpu_operator(folder, host, COPY, math, {"rknn2/spin_kernel.cl": SPIN})


@pytest.mark.parametrize(
    ("number", "problem"),
    [
        (1, "compute did not end in time in GPU kernel 'spin_kernel', work item (2, 0, 0)"),
        (0, "compute divides by zero, or its quotient does not fit in GPU kernel 'spin_kernel'"),
    ],
)
def test_fault_in_a_kernel_is_described(spin: GpuOperator, number: int, problem: str) -> None:
    x = np.array([-1, -1, number, -1], np.float32)

    def fault(limit: float) -> str:
        spin.operator.limit = limit
        return spin.run({"x": x}, {}, {"y": ((4,), "float32")})[0].fault

    assert problem in with_growing_limit(fault, lambda found: "spin_kernel" in found)[1]
    spin.operator.limit = LONG
    good = np.full(4, -1, np.float32)
    result, found = spin.run({"x": good}, {}, {"y": ((4,), "float32")})
    assert (result.fault, found.problems()) == ("", [])
    np.testing.assert_array_equal(result.outputs["y"], good)


@pytest.fixture(scope="module")
def scale(tmp_path_factory: pytest.TempPathFactory, host: Path) -> GpuOperator:
    folder = tmp_path_factory.mktemp("scale")
    return build_gpu_operator(folder, host, SCALE, SCALE_COMPUTE, SCALE_FILES)


FACTORS = [0.5, -2.0, 4.0]
SCALE_PARAMS = {"factors": FACTORS, "rounds": [1, 1], "times": 3}


def of_scale(x: Array) -> dict[str, Array]:
    factors = np.resize(np.array(FACTORS, np.float32), x.size).reshape(x.shape)
    return {"y": x * factors * np.float32(3), "rest": x.ravel()[::-1].reshape(x.shape)}


@pytest.mark.parametrize("shape", [(1,), (7, 5), (64,)])
def test_arguments_of_all_kinds(scale: GpuOperator, shape: tuple[int, ...]) -> None:
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    outputs = dict.fromkeys(("y", "rest"), (shape, "float32"))
    result, found = scale.run({"x": x}, SCALE_PARAMS, outputs)
    assert (result.status, result.printed, result.leaks, found.problems()) == (0, "", [], [])
    assert (found.launches[0].global_size, found.launches[0].local_size) == (
        (64, 1, 1),
        (64, 1, 1),
    )
    for name, expected in of_scale(x).items():
        np.testing.assert_array_equal(result.outputs[name], expected)


def test_launch_leaves_a_call_to_the_cpu(scale: GpuOperator) -> None:
    x = np.arange(65, dtype=np.float32)
    outputs = dict.fromkeys(("y", "rest"), (x.shape, "float32"))
    result, found = scale.run({"x": x}, SCALE_PARAMS, outputs)
    problem = "x has more elements than a group has work items"
    assert result.printed == f"Scale: {problem}; the CPU computes"
    assert (result.status, result.leaks, found.launches, found.alive) == (0, [], [], {})
    for name, expected in of_scale(x).items():
        np.testing.assert_array_equal(result.outputs[name], expected)


@pytest.mark.parametrize(
    "failure", ["clCreateBuffer 1 -4", "clCreateBuffer 2 -4", "clSetKernelArg 7 -51"]
)
def test_failure_between_arguments_frees_the_others(scale: GpuOperator, failure: str) -> None:
    x = np.arange(9, dtype=np.float32)
    outputs = dict.fromkeys(("y", "rest"), (x.shape, "float32"))
    result, found = scale.run({"x": x}, SCALE_PARAMS, outputs, fail=failure)
    assert result.printed.endswith("; the CPU computes")
    assert (result.status, result.leaks, found.launches, found.alive) == (0, [], [], {})
    for name, expected in of_scale(x).items():
        np.testing.assert_array_equal(result.outputs[name], expected)


def test_buffers_stay_between_calls(scale: GpuOperator) -> None:
    """Three tensors are imported once, and scratch memory is made once, for three calls."""
    x = np.arange(9, dtype=np.float32)
    outputs = dict.fromkeys(("y", "rest"), (x.shape, "float32"))
    failures = "clImportMemoryARM 4 -6\nclCreateBuffer 5 -6"  # 1 scratch, and 3 arrays
    result, found = scale.run({"x": x}, SCALE_PARAMS, outputs, repeat=3, fail=failures)
    assert (result.status, result.printed, found.problems()) == (0, "", [])
    assert len(found.launches) == 3
    result, found = scale.run({"x": x}, SCALE_PARAMS, outputs, repeat=3, fail="clCreateBuffer 4 -6")
    assert result.printed == "Scale: clCreateBuffer: CL_OUT_OF_HOST_MEMORY (-6); the CPU computes"
    assert len(found.launches) == 2


WRONG_ARGUMENTS = {
    "swapped": (
        "__global float *y, __global const float *x, const int count",
        ["the GPU kernel changes the input 'x'", "the GPU kernel never wrote 4 elements"],
    ),
    "halves": (
        "__global const half *x, __global half *y, const int count",
        ["parameter 'x' of the kernel does not point to float32, which tensor 'x' has"],
    ),
    "missing": (
        "__global const float *x, __global float *y",
        ["clSetKernelArg: argument 2 of the kernel: CL_INVALID_ARG_INDEX (-49); the CPU computes"],
    ),
    "wider": (
        "__global const float *x, __global float *y, const long count",
        ["clSetKernelArg: argument 2 of the kernel: CL_INVALID_ARG_SIZE (-51); the CPU computes"],
    ),
    "more": (
        "__global const float *x, __global float *y, const int count, const int more",
        ["clEnqueueNDRangeKernel: CL_INVALID_KERNEL_ARGS (-52); the CPU computes"],
    ),
}


@pytest.mark.parametrize("name", WRONG_ARGUMENTS)
def test_wrong_arguments_are_told(name: str, host: Path, tmp_path: Path) -> None:
    parameters, problems = WRONG_ARGUMENTS[name]
    pragma = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n" if name == "halves" else ""
    kernel = (
        f"{pragma}__kernel void spin_kernel({parameters})\n"
        "{\n    y[get_global_id(0)] = x[get_global_id(0)];\n}\n"
    )
    math = once_only_files(parse(COPY), [])["spin_compute.h"]
    operator = build_gpu_operator(tmp_path, host, COPY, math, {"rknn2/spin_kernel.cl": kernel})
    x = np.arange(1, 5, dtype=np.float32)
    result, found = operator.run({"x": x}, {}, {"y": ((4,), "float32")})
    told = "\n".join([result.printed, *result.events, *found.problems()])
    assert all(problem in told for problem in problems), told
