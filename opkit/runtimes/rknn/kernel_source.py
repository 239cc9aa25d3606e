"""The C files of an operator's kernels: the generated callbacks and list, and the user's file."""

from __future__ import annotations

from opkit.c_layout import block_comment, wrapped
from opkit.description.spec import OpSpec
from opkit.runtimes.rknn.settings import settings
from opkit.text import render

LAUNCH_HEADER = "include/opkit/runtimes/rknn/launch.h"

ELEMENTS_PER_ITEM = 8
"""The elements of a work item of the VX kernel, as generated."""

_CPU_KERNEL = """\
 * The runtime loads the library, looks up the kernel list at the end, and takes from it the CPU
 * kernel."""
_BOTH_KERNELS = """\
 * The runtime loads the library, looks up the kernel list at the end, and takes from it the
 * description that op.yml's kernel_index names: 0 is the CPU kernel, 1 the VX kernel."""


def kernels_header(spec: OpSpec) -> str:
    """Return the generated header: the callbacks, their descriptions, and the list of them."""
    lower, upper = spec.lower, spec.lower.upper()
    arguments = ("&arguments.inputs", "&arguments.params", "&arguments.outputs")
    vx_kernel = (
        f"{render('runtimes/rknn/templates/kernels_vx.h', lower=lower, upper=upper)}\n"
        if settings(spec).has_vx_kernel
        else ""
    )
    return render(
        "runtimes/rknn/templates/kernels.h",
        name=spec.name,
        lower=lower,
        upper=upper,
        about=_BOTH_KERNELS if settings(spec).has_vx_kernel else _CPU_KERNEL,
        operator_name=wrapped("static const char operator_name[] = ", [f'"{spec.name}"'], ";"),
        compute=wrapped(f"        const char *problem = {lower}_compute(", arguments, ");"),
        vx_kernel=vx_kernel,
        list="\n".join(f"    &{kernel}_kernel_description," for kernel in settings(spec).kernels),
    )


def kernel_file(spec: OpSpec) -> str:
    """Return the initial text of the user's .c file."""
    about = block_comment(_about_vx(spec) if settings(spec).has_vx_kernel else _about_cpu(spec))
    include = f'#include "{spec.lower}_compute.h"\n#include "{kernels_include(spec)}"\n'
    if not settings(spec).has_vx_kernel:
        return f"{about}\n{include}"
    return f'{about}\n{include}#include "{LAUNCH_HEADER}"\n\n{vx_launch(spec)}'


def kernels_include(spec: OpSpec) -> str:
    """Return the path under which the user's .c file includes the generated header."""
    return f"generated/{spec.lower}_kernels.h"


def vx_launch(spec: OpSpec) -> str:
    """Return the part of the user's .c file that sets up the VX kernel."""
    output = spec.outputs[0].name
    index = f"{spec.lower.upper()}_INDEX_{output.upper()}"
    return render(
        "runtimes/rknn/templates/kernel_vx_launch.c",
        elements=str(ELEMENTS_PER_ITEM),
        describe=wrapped(
            "    OPKIT_TRY(opkit_describe_half_tensor(",
            ["call", index, f'"{output}"', "&output"],
            "));",
        ),
    )


def _about_cpu(spec: OpSpec) -> str:
    return (
        f"The kernels of {spec.name}: the callbacks and the list that RKNN's runtime looks up are "
        f"in {kernels_include(spec)}, the math is in {spec.lower}_compute.h.\n\n"
        "A function that has to run once, before the first inference, goes below the include and "
        "into a struct `kernel_hooks`: opkit/runtimes/rknn/kernel_hooks.h says how."
    )


def _about_vx(spec: OpSpec) -> str:
    return (
        f"The kernels of {spec.name}: how the VX kernel in rknn_kernel_{spec.lower}.vx is "
        "launched, and what else has to be done before the first inference.\n\n"
        f"The callbacks and the list that RKNN's runtime looks up are in {kernels_include(spec)}, "
        f"the math is in {spec.lower}_compute.h."
    )
