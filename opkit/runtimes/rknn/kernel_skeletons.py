"""The initial text of the user's files."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import repeat

from opkit.common.code_layout import wrapped
from opkit.common.text import render
from opkit.description.spec import OpSpec
from opkit.files.operator_texts import CASE_DTYPE, free_name, has_only
from opkit.runtimes.files import TestText
from opkit.runtimes.rknn.deliveries import DELIVERIES
from opkit.runtimes.rknn.kernel_source import (
    ELEMENTS_PER_ITEM,
    QuantizedTensor,
    is_quantized,
    kernel_file,
    quantizations,
)
from opkit.runtimes.rknn.settings import has_vx_kernel

# One whole work item; several, the last in part; the same in several rows and slices.
_CASE_SHAPES = (
    (ELEMENTS_PER_ITEM,),
    (3, 2 * ELEMENTS_PER_ITEM + ELEMENTS_PER_ITEM // 2),
    (2, 3, 2, 2 * ELEMENTS_PER_ITEM + 1),
)

_VARIABLES = ("coord", "elements", "low", "high", "low_steps", "high_steps")
_LANES = "VXC_MODIFIER(0, 7, 0, VXC_RM_TowardZero, 0)"
_HALF_OF_LANES = "VXC_MODIFIER(0, 3, 0, VXC_RM_TowardZero, 0)"
_CLAMPED_LANES = "VXC_MODIFIER(0, 7, 0, VXC_RM_TowardZero, 1)"


def once_only_files(spec: OpSpec) -> dict[str, str]:
    """Return path -> text of the files of the kernels, which are written once."""
    files = {f"rknn_kernel_{spec.lower}.c": kernel_file(spec)}
    if has_vx_kernel(spec) and not spec.elementwise:
        files[vx_file(spec)] = vx_kernel(spec)
    return files


def tests(spec: OpSpec) -> TestText:
    """Return the test of the VX kernel; as generated, that kernel copies halves or uint8."""
    if not has_vx_kernel(spec):
        return TestText()
    if is_quantized(spec):
        return TestText(("TensorFormat", "check_vx_kernel"), vx_test(spec), _CASE_SHAPES)
    if has_only(spec, CASE_DTYPE):
        return TestText(("check_vx_kernel",), vx_test(spec), _CASE_SHAPES)
    return TestText()


def vx_file(spec: OpSpec) -> str:
    """Return the name of the file that holds the VX kernel."""
    return f"rknn_kernel_{spec.lower}.vx"


def vx_arguments(spec: OpSpec) -> list[str]:
    """Return the VX kernel's arguments, as its parameter list has them."""
    return [
        *(f"__read_only image2d_array_t {input_.name}" for input_ in spec.inputs),
        *(f"__write_only image2d_array_t {output.name}" for output in spec.outputs),
        *(f"{DELIVERIES[param.type.name].vx_type} {param.name}" for param in spec.params),
    ]


def _vx_notes(spec: OpSpec) -> str:
    """Return the notes for the file's first comment on scalars that are not 32 bits wide."""
    lines = []
    for param in spec.params:
        element, type_ = param.type.element, param.type.name
        if element.size == 8:
            note = f"the low 32 bits of a {type_}: use a 32-bit type instead"
            lines.append(f" *   {param.name}: {note}\n")
        elif element.size < 4 and element.kind == "int":
            lines.append(f" *   {param.name}: {type_}, not sign-extended\n")
    return "".join([" *\n", *lines]) if lines else ""


def vx_kernel(spec: OpSpec) -> str:
    """Return the text of the .vx file."""
    names = {name: free_name(name, spec) for name in _VARIABLES}
    values = {
        **names,
        "name": spec.name,
        "lower": spec.lower,
        "notes": _vx_notes(spec),
        "declaration": wrapped(f"__kernel void {spec.lower}(", vx_arguments(spec), ")"),
        "read": wrapped(
            "    VXC_ReadImage2DArray(",
            [
                *(names["elements"], spec.inputs[0].name, names["coord"]),
                *("VXC_5BITOFFSET_XY(0, 0)", _LANES),
            ],
            ");",
        ),
    }
    writes = [
        wrapped(
            "    VXC_WriteImage2DArray(",
            [output.name, names["coord"], names["elements"], _LANES],
            ");",
        )
        for output in spec.outputs
    ]
    if not is_quantized(spec):
        return render("runtimes/rknn/templates/kernel.vx", **values, writes="\n".join(writes))
    first, *outputs = quantizations(spec)
    quantized = map(_quantize, outputs, writes, repeat(names))
    return render(
        "runtimes/rknn/templates/kernel_uint8.vx",
        **values,
        uniforms="\n".join(
            f"_viv_uniform float {each.scale};\n_viv_uniform int {each.zero_point};"
            for each in (first, *outputs)
        ),
        unpack=_unpack(first, names),
        writes="\n".join(quantized),
    )


def _unpack(input_: QuantizedTensor, names: Mapping[str, str]) -> str:
    """Return the statements that make numbers of the elements of an input."""
    elements = names["elements"]
    products = [
        wrapped(
            "    VXC_DP4x4(",
            [names[half], elements, elements, _HALF_OF_LANES, f"{half}_bytes_to_floats"],
            ");",
        )
        for half in ("low", "high")
    ]
    numbers = [
        f"    {names[half]} = ({names[half]} - (float){input_.zero_point}) * {input_.scale};"
        for half in ("low", "high")
    ]
    return "\n".join((*products, *numbers))


def _quantize(output: QuantizedTensor, write: str, names: Mapping[str, str]) -> str:
    """Return the statements that make elements of the numbers, and write them to an output."""
    steps = [
        f"    {names[f'{half}_steps']} = convert_int4_rte({names[half]} / {output.scale}) + "
        f"{output.zero_point};"
        for half in ("low", "high")
    ]
    pack = wrapped(
        "    VXC_DP2x8(",
        [
            *(names["elements"], names["low_steps"], names["high_steps"], _CLAMPED_LANES),
            "pack_ints_to_bytes",
        ],
        ");",
    )
    return "\n".join((*steps, pack, write))


def vx_test(spec: OpSpec) -> str:
    """Return the test that runs the VX kernel on every case."""
    if not is_quantized(spec):
        return render("runtimes/rknn/templates/test_vx.py")
    formats = [
        f'    "{tensor.name}": TensorFormat(scale={scale}, zero_point={zero_point}),'
        for tensors, scale, zero_point in ((spec.inputs, 0.5, 3), (spec.outputs, 0.25, 5))
        for tensor in tensors
    ]
    return render("runtimes/rknn/templates/test_vx_uint8.py", formats="\n".join(formats))
