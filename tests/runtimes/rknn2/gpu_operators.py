"""Build operators with a GPU kernel without SCons, and run them in the emulator of OpenCL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opkit.files.elementwise import generated_loop
from opkit.opencl.pc_compiler import Program
from opkit.runtimes.invocation import Array, RunResult
from opkit.runtimes.rknn2 import gpu_files
from opkit.runtimes.rknn2.cl_compiler import compile_cl
from opkit.runtimes.rknn2.cl_results import ClRunResult, read_records
from opkit.runtimes.rknn2.gpu_kernel import OPTIONS
from tests.runtimes.rknn2.opencl_builds import emulator
from tests.runtimes.rknn2.support import Operator, build_plugin, write_operator

BLEND = """\
name: Blend
runtimes: [rknn2]
kernels: [cpu, gpu]
elementwise: true
inputs: {x: {type: VX_TYPE_TENSOR}, i: {type: VX_TYPE_TENSOR}}
outputs: {count: {type: VX_TYPE_TENSOR}}
params:
  alpha: {type: float, default: 1.5}
  flag: {type: VX_TYPE_BOOL, default: true}
  steps: {type: VX_TYPE_UINT32, default: 3}
  low: {type: VX_TYPE_INT8, default: -1}
"""
BLEND_SCALAR = """\
#ifndef BLEND_SCALAR_H
#define BLEND_SCALAR_H

#include <math.h>

#include "generated/blend.h"

static inline float blend_of(float x, float i, const struct blend_params *params)
{
    const float sum = x + params->alpha * i;

    return params->flag ? sum : fabsf(x) * (float)params->steps + (float)params->low;
}

#endif
"""


@dataclass
class GpuOperator:
    """An operator with a GPU kernel.

    Attributes:
        operator: on the stand-in for librknnrt.
        program: its kernel, compiled for the emulator.
    """

    operator: Operator
    program: Program

    def run(
        self,
        inputs: Mapping[str, Array],
        params: Mapping[str, Any],
        outputs: Mapping[str, tuple[tuple[int, ...], str]],
        repeat: int = 1,
        **attachments: str,
    ) -> tuple[RunResult, ClRunResult]:
        """Run the operator once, and return what OpenCL recorded, too.

        Args:
            inputs: name -> array.
            params: name -> value.
            outputs: name -> shape and dtype.
            repeat: the count of calls.
            attachments: those of host_opencl/session.h, without `opencl:`, or of the host runtime,
                without `gpu:`.
        """
        given = {
            f"{'gpu' if name in ('offset', 'thread') else 'opencl'}:{name}": text.encode()
            for name, text in attachments.items()
        }
        given["opencl:program"] = str(self.program.library).encode()
        result = self.operator.run(inputs, params, outputs, given, repeat)
        found, result.log = read_records(
            result.log, result.attachments, result.outputs, self.program
        )
        return result, found


def write_gpu_operator(folder: Path, text: str, math: str, files: Mapping[str, str] = {}) -> Path:
    """Write the files of an operator with a GPU kernel; return the path of the kernel.

    Args:
        folder: the folder of the repository.
        text: the description.
        math: the C of the user: of one element, or of whole tensors.
        files: path -> text of the user's files of the GPU kernel, instead of the generated ones.
    """
    spec = write_operator(folder, text, math)
    kernels = {**gpu_files.once_only_files(spec), **files}
    if spec.elementwise:
        (folder / spec.math_file).write_text(math)
        (folder / spec.compute_header).write_text(generated_loop(spec, math))
        kernels = gpu_files.from_scalar(spec, math)
    for path, content in kernels.items():
        (folder / path).write_text(content)
    header = folder / "rknn2" / gpu_files.kernel_header(spec)
    header.write_text(gpu_files.kernel_source(kernels[gpu_files.kernel_file(spec)], spec))
    return folder / gpu_files.kernel_file(spec)


def build_gpu_operator(
    folder: Path, host: Path, text: str, math: str, files: Mapping[str, str] = {}
) -> GpuOperator:
    """Write and build an operator with a GPU kernel; see write_gpu_operator."""
    kernel = write_gpu_operator(folder, text, math, files)
    name = kernel.name.removesuffix(gpu_files.KERNEL_SUFFIX)
    sources = [folder / f"rknn2/{name}_{part}.c" for part in ("custom_op", "plugin")]
    library = build_plugin(folder / f"librkcst_{name}.so", host, *sources)
    environment = {"RKNN_OP_DEVICE": "gpu", "RKNN_OP_OPENCL": str(emulator())}
    spec = write_operator(folder, text, math)
    operator = Operator(spec, library, host, environment=environment)
    return GpuOperator(operator, compile_cl(kernel, folder / "cl", OPTIONS))


SCALE = """\
name: Scale
runtimes: [rknn2]
kernels: [cpu, gpu]
inputs: {x: {type: VX_TYPE_TENSOR}}
outputs: {y: {type: VX_TYPE_TENSOR}, rest: {type: VX_TYPE_TENSOR}}
params:
  factors: {type: floats, default: [1.0]}
  rounds: {type: ints, length: 2, default: [1, 1]}
  times: {type: int, default: 1}
"""
SCALE_COMPUTE = """\
#ifndef SCALE_COMPUTE_H
#define SCALE_COMPUTE_H

#include "generated/scale.h"

static const char *scale_compute(const struct scale_inputs *inputs,
                                 const struct scale_params *params, struct scale_outputs *outputs)
{
    for (size_t i = 0; i < inputs->x.size; i++) {
        const float factor = params->factors.items[i % params->factors.count];

        outputs->y.float32[i] = inputs->x.float32[i] * factor * (float)params->times;
        outputs->rest.float32[i] = inputs->x.float32[inputs->x.size - 1 - i];
    }
    return NULL;
}

#endif
"""
SCALE_FILES = {
    "rknn2/scale_kernel.cl": """\
/* One group: items leave products in scratch memory, and the reversed input in local memory. */
__kernel void scale_kernel(__global const float *x, __global float *y, __global float *rest,
                           __constant float *factors, const int factor_count,
                           __global float *scratch, __local float *reversed, const float times,
                           __global const int *nothing, const int count)
{
    const int i = (int)get_global_id(0);

    if (i < count) {
        scratch[i] = x[i] * factors[i % factor_count];
        reversed[count - 1 - i] = x[i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < count) {
        y[i] = nothing == 0 ? scratch[i] * times : 0.0f;
        rest[i] = reversed[i];
    }
}
""",
    "rknn2/scale_gpu.h": """\
#ifndef SCALE_GPU_H
#define SCALE_GPU_H

#include "../generated/scale.h"
#include "../include/opkit/runtimes/rknn2/launch.h"

static const char *scale_launch(const struct scale_inputs *inputs,
                                const struct scale_params *params,
                                const struct scale_outputs *outputs, struct opkit_launch *launch)
{
    const struct opkit_tensor *x = &inputs->x;
    float factors[16];

    (void)outputs;
    if (x->size > 64) {
        return "x has more elements than a group has work items";
    }
    for (size_t i = 0; i < params->factors.count; i++) {
        factors[i] = params->factors.items[i];
    }
    launch->global_size[0] = x->size;
    launch->local_size[0] = 64;
    opkit_add_array(launch, factors, params->factors.count * sizeof *factors);
    opkit_add_int(launch, (int32_t)params->factors.count);
    opkit_add_scratch(launch, x->size * sizeof(float));
    opkit_add_local(launch, 64 * sizeof(float));
    opkit_add_float(launch, (float)params->times);
    opkit_add_array(launch, NULL, 0);
    opkit_add_int(launch, (int32_t)x->size);
    return NULL;
}

#endif
""",
}
"""An operator with two outputs, whose launch adds arguments of all kinds."""
