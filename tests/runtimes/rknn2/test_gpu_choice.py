"""The choice between GPU and CPU before an operator is registered."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.compiling import OPKIT, build
from tests.runtimes.rknn2.gpu_operators import BLEND, BLEND_SCALAR, write_gpu_operator
from tests.runtimes.rknn2.support import HEADERS

CPU, GPU = 1, 2
APPLICATION = """\
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "rknn2/blend_custom_op.h"

void rknn_custom_op_get_op_attr(rknn_custom_op_context *op_ctx, const char *attr_name,
                                rknn_custom_op_attr *op_attr)
{
    (void)op_ctx;
    (void)attr_name;
    (void)op_attr;
}

/* Refuses operators of the GPU, as librknnrt does in some models. */
int rknn_register_custom_ops(rknn_context ctx, rknn_custom_op *op, uint32_t custom_op_num)
{
    (void)ctx;
    printf("register %d %d\\n", (int)op->target, (int)custom_op_num);
    return op->target == RKNN_TARGET_TYPE_GPU ? -1 : 0;
}

int main(int argc, char **argv)
{
    if (argc > 2) {
        printf("%d\\n", blend_register_all(0));
        return 0;
    }
    rknn_custom_op *op = blend_custom_op();
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    void *symbol = library != NULL ? dlsym(library, "alive_objects") : NULL;
    int (*alive)(void) = NULL;

    memcpy(&alive, &symbol, sizeof symbol);
    printf("%d %d %d\\n", (int)op->target, op == blend_custom_op(), alive != NULL ? alive() : 0);
    printf("%s %d\\n", op->cl_kernel_name, op->cl_kernel_source != NULL);
    return 0;
}
"""


@dataclass(frozen=True)
class Application:
    """An application that registers an operator with a GPU kernel, and its libOpenCL."""

    program: Path
    opencl: Path

    def run(self, **environment: str) -> tuple[int, str]:
        """Return the target of the operator, and what was printed on stderr.

        Asserts that a second call has the same answer, and that all objects are released.
        """
        run = subprocess.run(
            [self.program, self.opencl],
            env={"RKNN_OP_OPENCL": str(self.opencl), **environment},
            capture_output=True,
            text=True,
            check=True,
        )
        first, second = run.stdout.splitlines()
        target, is_same, alive = map(int, first.split())
        assert (is_same, alive) == (1, 0)
        assert second == ("opkit_empty 1" if target == GPU else " 0")
        return target, run.stderr


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Application:
    folder = tmp_path_factory.mktemp("choice")
    write_gpu_operator(folder, BLEND, BLEND_SCALAR)
    (folder / "main.c").write_text(APPLICATION)
    ours = (folder / f"rknn2/{name}.c" for name in ("blend_custom_op", "register_all"))
    sources = [folder / "main.c", *ours]
    program = build(folder / "main", *sources, HEADERS, f"-I{folder}", "-ldl", "-lm", "-lpthread")
    stand_in = Path(__file__).with_name("counting_opencl.c")
    opencl = build(folder / "libOpenCL.so", stand_in, f"-I{OPKIT.parent}", "-shared")
    return Application(program, opencl)


def test_gpu_is_chosen_without_a_word(application: Application) -> None:
    assert application.run() == (GPU, "")


NO_MEMORY = "CL_OUT_OF_HOST_MEMORY (-6)"
BUILD = "clBuildProgram: CL_BUILD_PROGRAM_FAILURE (-11): <source>:3: unknown name 'z'"
REASONS = {
    ("RKNN_OP_OPENCL", "/nonexistent/libOpenCL.so"): "RKNN_OP_OPENCL names no library",
    ("FAIL", "clGetPlatformIDs 1"): "OpenCL has no platform",
    ("PLATFORM", "Portable Computing Language"): "OpenCL's first platform is not ARM's",
    ("FAIL", "clGetDeviceIDs 1"): "OpenCL has no GPU",
    ("EXTENSIONS", "cl_khr_fp16"): "OpenCL lacks the extension cl_arm_import_memory",
    ("FAIL", "clCreateContext 1"): f"clCreateContext: {NO_MEMORY}",
    ("FAIL", "clCreateCommandQueue 1"): f"clCreateCommandQueue: {NO_MEMORY}",
    ("FAIL", "clCreateProgramWithSource 1"): f"clCreateProgramWithSource: {NO_MEMORY}",
    ("FAIL", "clBuildProgram 1"): BUILD,
    ("FAIL", "clCreateKernel 1"): f"clCreateKernel: {NO_MEMORY}",
    ("FAIL", "clBuildProgram 2"): BUILD,
    ("FAIL", "clCreateKernel 2"): f"clCreateKernel: {NO_MEMORY}",
    ("FAIL", "clCreateBuffer 1"): f"clCreateBuffer: {NO_MEMORY}",
    ("FAIL", "clSetKernelArg 1"): "clSetKernelArg: CL_OUT_OF_RESOURCES (-5)",
    ("FAIL", "clEnqueueNDRangeKernel 1"): "clEnqueueNDRangeKernel: CL_OUT_OF_RESOURCES (-5)",
    ("FAIL", "clEnqueueReadBuffer 1"): "clEnqueueReadBuffer: CL_OUT_OF_RESOURCES (-5)",
    ("WRONG", "1"): "a trial kernel gives the sum 17 instead of 16",
}


@pytest.mark.parametrize("condition", REASONS, ids=" ".join)
def test_cpu_is_chosen_and_one_line_says_why(
    application: Application, condition: tuple[str, str]
) -> None:
    expected = f"Blend: {REASONS[condition]}; the CPU computes\n"
    assert application.run(**dict([condition])) == (CPU, expected)


def test_device_is_the_users_choice(application: Application) -> None:
    assert application.run(RKNN_OP_DEVICE="cpu") == (CPU, "")
    assert application.run(RKNN_OP_DEVICE="gpu", WRONG="1") == (GPU, "")
    told = "Blend: RKNN_OP_DEVICE=npu (expected cpu or gpu)\n"
    assert application.run(RKNN_OP_DEVICE="npu") == (GPU, told)


def test_missing_library_is_no_reason_to_fail(application: Application) -> None:
    environment = {"LD_LIBRARY_PATH": ""}
    run = subprocess.run(
        [application.program], env=environment, capture_output=True, text=True, check=True
    )
    assert run.stdout.startswith("1 1 ")
    assert run.stderr in (
        "Blend: there is no libOpenCL.so; the CPU computes\n",
        "Blend: libOpenCL.so has no function clImportMemoryARM; the CPU computes\n",
    )


def test_operator_that_librknnrt_refuses_on_the_gpu_is_registered_for_the_cpu(
    application: Application,
) -> None:
    run = subprocess.run(
        [application.program, application.opencl, "register"],
        env={"RKNN_OP_OPENCL": str(application.opencl)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout == "register 2 1\nregister 1 1\n0\n"
    assert run.stderr == "Blend: librknnrt refuses it on the GPU (-1); the CPU computes\n"
