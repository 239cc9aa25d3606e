"""The C files of an operator's kernels: the generated callbacks and list, and the user's file."""

from __future__ import annotations

from typing import NamedTuple

from opkit.common.code_layout import block_comment, wrapped
from opkit.common.errors import OpkitError
from opkit.common.text import render
from opkit.description.spec import OpSpec, Tensor
from opkit.files.elementwise import has_table
from opkit.files.operator_texts import free_name, has_only
from opkit.runtimes.rknn.settings import KERNELS, has_vx_kernel
from opkit.toolchains.flags import is_cxx

DOT_PRODUCTS_HEADER = "include/opkit/runtimes/rknn/dot_products.h"
ELEMENTWISE_LAUNCH_HEADER = "include/opkit/runtimes/rknn/elementwise_launch.h"
LAUNCH_HEADER = "include/opkit/runtimes/rknn/launch.h"

ELEMENTS_PER_ITEM = 8
"""The elements of a work item of the VX kernel, as generated."""

_ABOUT_HALVES = "16-bit elements in a register of 128 bits"
_ABOUT_BYTES = "their numbers fill two registers of 128 bits"
_TABLES = ("low_bytes_to_floats", "high_bytes_to_floats", "pack_ints_to_bytes")

_CPU_KERNEL = """\
 * The runtime loads the library, looks up the kernel list at the end, and takes from it the CPU
 * kernel."""
_BOTH_KERNELS = """\
 * The runtime loads the library, looks up the kernel list at the end, and takes from it the
 * description that op.yml's kernel_index names: 0 is the CPU kernel, 1 the VX kernel."""


def kernels_header(spec: OpSpec) -> str:
    """Return the generated header: the callbacks, their descriptions, and the list of them."""
    lower, upper = spec.lower, spec.lower.upper()
    arguments = ["&arguments.inputs", "&arguments.params", "&arguments.outputs"]
    if has_table(spec):
        arguments.append("opkit_find_table(node)")
    vx_kernel = (
        f"{render('runtimes/rknn/templates/kernels_vx.h', lower=lower, upper=upper)}\n"
        if has_vx_kernel(spec)
        else ""
    )
    return render(
        "runtimes/rknn/templates/kernels.h",
        compute_header=f"{lower}_compute.h" if spec.elementwise else f"../{lower}_compute.h",
        name=spec.name,
        lower=lower,
        upper=upper,
        about=_BOTH_KERNELS if has_vx_kernel(spec) else _CPU_KERNEL,
        operator_name=wrapped("static const char operator_name[] = ", [f'"{spec.name}"'], ";"),
        compute=wrapped(f"        const char *problem = {lower}_compute(", arguments, ");"),
        vx_kernel=vx_kernel,
        list="\n".join(
            f"    &{kernel}_kernel_description," for kernel in KERNELS if kernel in spec.kernels
        ),
    )


def kernel_file(spec: OpSpec) -> str:
    """Return the initial text of the user's .c file."""
    header = kernels_include(spec)
    include = f'#include "{header}"\n'
    if not spec.elementwise:  # generated headers include each other
        include = f'#include "{spec.lower}_compute.h"\n{include}'
    if not has_vx_kernel(spec):
        about = block_comment(
            f"The CPU kernel of {spec.name}: the callbacks and the kernel list are in {header}, "
            f"the math is in {spec.math_file}.\n\n"
            "For a set-up before the first inference, define a struct `kernel_hooks` below the "
            "include; see include/opkit/runtimes/rknn/kernel_hooks.h."
        )
        return f"{about}\n{include}"
    about = block_comment(
        f"The kernels of {spec.name}: launch and set-up of the VX kernel in "
        f"rknn_kernel_{spec.lower}.vx.\n\n"
        f"The callbacks and the kernel list are in {header}, the math is in {spec.math_file}."
    )
    include += "".join(f"{line}\n" for line in launch_includes(spec))
    return f"{about}\n{include}\n{vx_launch(spec)}"


def kernels_include(spec: OpSpec) -> str:
    """Return the path under which the user's .c file includes the generated header."""
    return f"generated/{spec.lower}_kernels.h"


def launch_includes(spec: OpSpec) -> list[str]:
    """Return the lines that include the headers for vx_launch()."""
    if spec.elementwise:
        return [f'#include "{ELEMENTWISE_LAUNCH_HEADER}"']
    headers = [DOT_PRODUCTS_HEADER] if is_quantized(spec) else []
    return [f'#include "{header}"' for header in (*headers, LAUNCH_HEADER)]


def vx_launch(spec: OpSpec) -> str:
    """Return the part of the user's .c file that sets up the VX kernel."""
    if spec.elementwise:
        tensors = [f'"{each.name}"' for each in (*spec.inputs, *spec.outputs)]
        names = wrapped("    static const char *const names[] = {", tensors, "};")
        return render("runtimes/rknn/templates/elementwise_launch.c", names=names)
    output = spec.outputs[0]
    described = _try("opkit_describe_half_tensor", *_parameter(spec, output), "&output")
    about, others = _ABOUT_HALVES, list[str]()
    if is_quantized(spec):
        about = _ABOUT_BYTES
        described = _try(
            "opkit_describe_vx_tensor", *_parameter(spec, output), "VX_TYPE_UINT8", "&output"
        )
        others = [
            *(_try("opkit_set_uniform", "call", f'"{name}"', f"opkit_{name}") for name in _TABLES),
            *(
                _try(
                    "opkit_set_quantization",
                    *_parameter(spec, each.tensor),
                    *(f'"{each.scale}"', f'"{each.zero_point}"'),
                )
                for each in quantizations(spec)
            ),
        ]
    return render(
        "runtimes/rknn/templates/kernel_vx_launch.c",
        about=about,
        elements=str(ELEMENTS_PER_ITEM),
        describe="\n".join((described, *others)),
    )


def _parameter(spec: OpSpec, tensor: Tensor) -> tuple[str, str, str]:
    """Return the arguments of launch.h's functions for a tensor."""
    return "call", f"{spec.lower.upper()}_INDEX_{tensor.name.upper()}", f'"{tensor.name}"'


def _try(function: str, *arguments: str) -> str:
    return wrapped(f"    OPKIT_TRY({function}(", arguments, "));")


class QuantizedTensor(NamedTuple):
    """A tensor with the names of the uniforms for its quantization."""

    tensor: Tensor
    scale: str
    zero_point: str


def is_quantized(spec: OpSpec) -> bool:
    """Whether the VX kernel, as generated, is for quantized tensors of uint8."""
    return has_only(spec, "uint8")


def quantizations(spec: OpSpec) -> list[QuantizedTensor]:
    """Return the first input and all outputs, which the VX kernel uses as generated."""
    return [
        QuantizedTensor(
            tensor,
            free_name(f"{tensor.name}_scale", spec),
            free_name(f"{tensor.name}_zero_point", spec),
        )
        for tensor in (spec.inputs[0], *spec.outputs)
    ]


def kernel_sources(spec: OpSpec) -> list[str]:
    """Return the paths of the sources, the kernel list's first.

    Raises:
        OpkitError: op.yml lists the file of the kernel list, which is compiled anyway.
    """
    kernel = f"rknn_kernel_{spec.lower}.c"
    for source in spec.sources:
        if source.path == kernel:
            raise OpkitError(
                f"{source.where}: {kernel} is compiled anyway; delete it from the list"
            )
    return [kernel, *(source.path for source in spec.sources)]


def has_cxx(spec: OpSpec) -> bool:
    """Return whether any of the sources is C++."""
    return any(is_cxx(source.path) for source in spec.sources)
