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
        **attachments: str,
    ) -> tuple[RunResult, ClRunResult]:
        """Run the operator once, and return what OpenCL recorded, too.

        Args:
            inputs: name -> array.
            params: name -> value.
            outputs: name -> shape and dtype.
            attachments: those of host_opencl/session.h, without `opencl:`, or of the host runtime,
                without `gpu:`.
        """
        given = {
            f"{'gpu' if name in ('offset', 'thread') else 'opencl'}:{name}": text.encode()
            for name, text in attachments.items()
        }
        given["opencl:program"] = str(self.program.library).encode()
        result = self.operator.run(inputs, params, outputs, given)
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
