"""The files of a GPU kernel: the kernel in OpenCL C, and its launch."""

from __future__ import annotations

from collections.abc import Iterator

from opkit.common.code_layout import wrapped
from opkit.common.complaint import Complaint
from opkit.common.text import render
from opkit.description.describe import CheckedKernel
from opkit.description.spec import OpSpec, Param
from opkit.files.opencl_scalar import MEMBER_TYPES, Kernel, scalar_in_opencl
from opkit.files.operator_texts import free_name
from opkit.runtimes.files import TestText

GPU = "gpu"
"""The GPU kernel in `kernels`."""
GPU_KERNEL = CheckedKernel("GPU kernel", "check_gpu_kernel")
KERNEL_SUFFIX = "_kernel.cl"
BUILD_FOLDER = "build/rknn2"
"""The folder of the built files of this runtime."""
HOST_FOLDER = f"{BUILD_FOLDER}/host"
"""Those that run on this PC."""
_NUMBERS = {
    "float32": ("float", "opkit_add_float(launch, {});"),
    "uint32": ("uint", "opkit_add_int(launch, (int32_t){});"),
}
_INTEGER = ("int", "opkit_add_int(launch, {});")
"""The type of a number in OpenCL C, and the statement that adds it to a launch."""

_AS_FLOATS = ("int32", "int64")
"""The dtypes of inputs that librknnrt 1.6.0 hands over as float32; later, the CPU computes."""


def kernel_file(spec: OpSpec) -> str:
    """Return the path of the GPU kernel."""
    return f"rknn2/{spec.lower}{KERNEL_SUFFIX}"


def launch_file(spec: OpSpec) -> str:
    """Return the path of the launch of the GPU kernel."""
    return f"rknn2/{spec.lower}_gpu.h"


def kernel_name(spec: OpSpec) -> str:
    """Return the name of the kernel's function, which no function of OpenCL C has."""
    return f"{spec.lower}_kernel"


def kernel_header(spec: OpSpec) -> str:
    """Return the name of the header with the kernel's text, which the build makes."""
    return f"{spec.lower}_kernel_source.h"


def once_only_files(spec: OpSpec) -> dict[str, str]:
    """Return path -> text of the user's files of the GPU kernel."""
    if GPU not in spec.kernels or spec.elementwise:
        return {}
    return {kernel_file(spec): _kernel(spec), launch_file(spec): _launch(spec)}


def from_scalar(spec: OpSpec, scalar: str) -> dict[str, str]:
    """Return path -> text of the generated files of the GPU kernel of an elementwise operator.

    Args:
        spec: the operator.
        scalar: the text of `<op>_scalar.h`.

    Raises:
        SourceError: OpenCL C does not have a word of that text.
    """
    if GPU not in spec.kernels:
        return {}
    return {
        kernel_file(spec): _elementwise_kernel(spec, scalar),
        launch_file(spec): _elementwise_launch(spec),
    }


def complaints(spec: OpSpec) -> Iterator[Complaint]:
    """Yield an error for each tensor and param that a GPU kernel does not get."""
    if GPU not in spec.kernels:
        return
    hint = "write `kernels: [cpu]`"
    whole = () if spec.elementwise else _AS_FLOATS
    for section, tensors, more in (("inputs", spec.inputs, whole), ("outputs", spec.outputs, ())):
        for tensor in tensors:
            if tensor.dtype not in (None, "float16", "float32", *more):
                yield Complaint(
                    "",
                    f"the GPU kernel gets no {tensor.dtype}: librknnrt hands over float32",
                    field=f"{section}.{tensor.name}.dtype",
                    hint=hint,
                    expected=", ".join(("float16", "float32", *more)),
                )
    for param in spec.params if spec.elementwise else ():
        if param not in _numbers(spec):
            yield Complaint(
                "",
                f"the GPU kernel of an elementwise operator has no {param.type.name}",
                field=f"params.{param.name}.type",
                hint=hint,
                expected="a number of 32 bits or less",
            )


def expected_kernels(spec: OpSpec) -> dict[CheckedKernel, str]:
    """Return the kernels that a check must run besides the CPU kernel, with the reason."""
    return {GPU_KERNEL: "op.yml has it in `kernels`"} if GPU in spec.kernels else {}


def tests(spec: OpSpec) -> TestText:
    """Return the test of the GPU kernel."""
    if GPU not in spec.kernels:
        return TestText()
    text = render("runtimes/rknn2/templates/test_gpu.py")
    return TestText(("check_gpu_kernel",), text)


def kernel_source(text: str, spec: OpSpec) -> str:
    """Return the header with the lines of the kernel as strings of C.

    Args:
        text: the kernel in OpenCL C.
        spec: the operator.
    """
    lines = "".join(f"    {_literal(line)},\n" for line in text.splitlines(keepends=True))
    return f"static const char *const {spec.lower}_kernel_lines[] = {{\n{lines}}};\n"


def _literal(line: str) -> str:
    """Return a line as a string literal in C."""
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r", "?": "\\?"}
    encoded = "".join(
        escapes.get(each) or (each if each.isascii() else _octal(each)) for each in line
    )
    return f'"{encoded}"'


def _octal(character: str) -> str:
    return "".join(f"\\{byte:03o}" for byte in character.encode())


def _numbers(spec: OpSpec) -> list[Param]:
    """Return the params that the kernel gets as they are: numbers of at most 32 bits."""
    return [
        param
        for param in spec.params
        if not param.type.is_list and not param.type.is_text and param.type.element.bits <= 32
    ]


def _form(param: Param) -> tuple[str, str]:
    return _NUMBERS.get(param.type.element.name, _INTEGER)


def _arguments(spec: OpSpec, *others: str) -> list[str]:
    """Return the parameters of the kernel as generated, with others between tensors and params."""
    return [
        *(f"__global const float *{each.name}" for each in spec.inputs),
        *(f"__global float *{each.name}" for each in spec.outputs),
        *others,
        *(f"const {_form(each)[0]} {each.name}" for each in _numbers(spec)),
        f"const int {free_name('count', spec)}",
    ]


def _added(spec: OpSpec) -> str:
    """Return the statements that add the params to the launch."""
    return "".join(
        f"    {_form(each)[1].format(f'params->{each.name}')}\n" for each in _numbers(spec)
    )


def _launch_declaration(spec: OpSpec) -> str:
    lower = spec.lower
    arguments = [
        f"const struct {lower}_inputs *inputs",
        f"const struct {lower}_params *params",
        f"const struct {lower}_outputs *outputs",
        "struct opkit_launch *launch",
    ]
    return wrapped(f"static const char *{lower}_launch(", arguments, ")")


def _kernel(spec: OpSpec) -> str:
    i, first = free_name("i", spec), spec.inputs[0].name
    return render(
        "runtimes/rknn2/templates/kernel.cl",
        name=spec.name,
        launch=f"{spec.lower}_gpu.h",
        declaration=wrapped(f"__kernel void {kernel_name(spec)}(", _arguments(spec), ")"),
        copies="\n".join(f"        {each.name}[{i}] = {first}[{i}];" for each in spec.outputs),
        output=spec.outputs[0].name,
        i=i,
        count=free_name("count", spec),
    )


def _launch(spec: OpSpec) -> str:
    added = _added(spec)
    return render(
        "runtimes/rknn2/templates/gpu.h",
        name=spec.name,
        lower=spec.lower,
        upper=spec.lower.upper(),
        kernel=f"{spec.lower}{KERNEL_SUFFIX}",
        declaration=_launch_declaration(spec),
        input=spec.inputs[0].name,
        output=spec.outputs[0].name,
        added=added,
        unused="" if added else "    (void)params;\n",
    )


def _elementwise_kernel(spec: OpSpec, scalar: str) -> str:
    lower, output = spec.lower, spec.outputs[0].name
    kernel = Kernel("GPU kernel", kernel_file(spec), kernel_name(spec))
    i, params = free_name("i", spec), free_name("params", spec)
    others: list[str] = []
    elements = [f"{spec.inputs[0].name}[{i}]"]
    if len(spec.inputs) > 1:
        rank, table = free_name("rank", spec), free_name("table", spec)
        others = [f"const int {rank}", f"__constant const int *{table}"]
        elements = [
            f"{each.name}[{lower}_place({i}, {rank}, {table}, {table} + {index + 1} * {rank})]"
            for index, each in enumerate(spec.inputs)
        ]
    members = [
        f"    {MEMBER_TYPES[each.type.element.name]} {each.name};" for each in _numbers(spec)
    ]
    return render(
        "runtimes/rknn2/templates/elementwise.cl",
        name=spec.name,
        lower=lower,
        members="\n".join(members or ["    char none;"]),
        scalar=scalar_in_opencl(spec, scalar, kernel),
        place=render("runtimes/rknn2/templates/elementwise_place.cl", lower=lower)
        if others
        else "",
        declaration=wrapped(f"__kernel void {kernel.name}(", _arguments(spec, *others), ")"),
        values=", ".join(each.name for each in _numbers(spec)) or "0",
        call=wrapped(f"        {output}[{i}] = {lower}_of(", [*elements, f"&{params}"], ");"),
        i=i,
        params=params,
        count=free_name("count", spec),
    )


def _elementwise_launch(spec: OpSpec) -> str:
    output, added = spec.outputs[0].name, _added(spec)
    broadcast = ""
    if len(spec.inputs) > 1:
        broadcast = render(
            "runtimes/rknn2/templates/elementwise_broadcast.h",
            output=output,
            tensors=", ".join(f"&inputs->{each.name}" for each in spec.inputs),
            input_count=str(len(spec.inputs)),
        )
    unused = [
        *([] if broadcast else ["    (void)inputs;\n"]),
        *([] if added else ["    (void)params;\n"]),
    ]
    return render(
        "runtimes/rknn2/templates/elementwise_gpu.h",
        name=spec.name,
        lower=spec.lower,
        upper=spec.lower.upper(),
        declaration=_launch_declaration(spec),
        broadcast=broadcast,
        output=output,
        added=added,
        unused="".join(unused),
    )
