"""The VX kernel of an elementwise operator, generated from the user's function of one element."""

from __future__ import annotations

from collections.abc import Iterator

from opkit.common.code_layout import wrapped
from opkit.common.complaint import Complaint
from opkit.common.text import render
from opkit.description.spec import OpSpec, Param
from opkit.files.opencl_scalar import MEMBER_TYPES, Kernel, function_name, scalar_in_opencl
from opkit.files.operator_texts import free_name
from opkit.runtimes.rknn.deliveries import DELIVERIES
from opkit.runtimes.rknn.kernel_skeletons import vx_arguments, vx_file
from opkit.runtimes.rknn.settings import has_vx_kernel

_VARIABLES = ("coord", "elements", "halves", "low", "high", "low_halves", "high_halves", "params")
_LANES = "VXC_MODIFIER(0, 7, 0, VXC_RM_TowardZero, 0)"
_HALF_OF_LANES = "VXC_MODIFIER(0, 3, 0, VXC_RM_TowardZero, 0)"
_WAY_OUT = "write `kernels: [cpu]`"


def vx_complaints(spec: OpSpec) -> Iterator[Complaint]:
    """Yield an error for each tensor and param that the generated VX kernel does not take."""
    if not spec.elementwise or not has_vx_kernel(spec):
        return
    for section, tensors in (("inputs", spec.inputs), ("outputs", spec.outputs)):
        for tensor in tensors:
            if tensor.dtype not in (None, "float16"):
                problem = f"the VX kernel of an elementwise operator has no {tensor.dtype}"
                field = f"{section}.{tensor.name}.dtype"
                yield Complaint("", problem, field=field, hint=_WAY_OUT, expected="float16")
    for param in spec.params:
        if param.type.is_list or param.type.element.name not in MEMBER_TYPES:
            problem = f"the VX kernel of an elementwise operator has no {param.type.name}"
            expected = "a number of 32 bits or less"
            field = f"params.{param.name}.type"
            yield Complaint("", problem, field=field, hint=_WAY_OUT, expected=expected)


def _kernel(spec: OpSpec) -> Kernel:
    return Kernel("VX kernel", vx_file(spec), spec.lower)


def generated_vx(spec: OpSpec, scalar: str) -> dict[str, str]:
    """Return path -> text of the VX kernel; empty if the operator has none.

    Args:
        spec: the operator, which is elementwise.
        scalar: the text of `<op>_scalar.h`.

    Raises:
        SourceError: OpenCL C does not have a word of that text.
    """
    if not has_vx_kernel(spec):
        return {}
    names = {name: free_name(name, spec) for name in _VARIABLES}
    halves = [
        (f"{free_name(f'{each.name}_low', spec)}", f"{free_name(f'{each.name}_high', spec)}")
        for each in spec.inputs
    ]
    reads = [
        "\n".join(_read(each.name, pair, names))
        for each, pair in zip(spec.inputs, halves, strict=True)
    ]
    members = [f"    {MEMBER_TYPES[each.type.element.name]} {each.name};" for each in spec.params]
    text = render(
        "runtimes/rknn/templates/elementwise.vx",
        **names,
        name=spec.name,
        lower=spec.lower,
        members="\n".join(members or ["    char none;"]),
        scalar=scalar_in_opencl(spec, scalar, _kernel(spec)),
        declaration=wrapped(f"__kernel void {spec.lower}(", vx_arguments(spec), ")"),
        values=", ".join(map(_value, spec.params)) or "0",
        floats="\n".join(f"    float4 {low}, {high};" for low, high in halves),
        reads="\n".join(reads),
        calls="".join(
            _call(spec, names[half], [pair[index] for pair in halves], lane, names["params"])
            for index, half in enumerate(("low", "high"))
            for lane in "xyzw"
        ),
        write=wrapped(
            "    VXC_WriteImage2DArray(",
            [spec.outputs[0].name, names["coord"], names["elements"], _LANES],
            ");",
        ),
    )
    return {vx_file(spec): text}


def _value(param: Param) -> str:
    """Return the member's value: an argument of 32 bits, of which a short type has the low ones."""
    own = MEMBER_TYPES[param.type.element.name]
    return param.name if own == DELIVERIES[param.type.name].vx_type else f"({own}){param.name}"


def _read(tensor: str, pair: tuple[str, str], names: dict[str, str]) -> Iterator[str]:
    """Yield the statements that read the elements of an input, and make floats of them."""
    elements, halves = names["elements"], names["halves"]
    where = [elements, tensor, names["coord"], "VXC_5BITOFFSET_XY(0, 0)", _LANES]
    yield wrapped("    VXC_ReadImage2DArray(", where, ");")
    yield f"    _viv_asm(COPY, {halves}, {elements}, 16);"
    for floats, half in zip(pair, ("low", "high"), strict=True):
        product = [floats, halves, halves, _HALF_OF_LANES, f"{half}_halves_to_floats"]
        yield wrapped("    VXC_DP4x4(", product, ");")


def _call(spec: OpSpec, result: str, inputs: list[str], lane: str, params: str) -> str:
    """Return the statement that computes an element."""
    arguments = [*(f"{name}.{lane}" for name in inputs), f"&{params}"]
    function = function_name(f"{spec.lower}_of", _kernel(spec))
    return wrapped(f"    {result}.{lane} = {function}(", arguments, ");") + "\n"
