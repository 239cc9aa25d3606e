"""The initial text of the user's files."""

from __future__ import annotations

from opkit.c_layout import wrapped
from opkit.description.spec import OpSpec, Param
from opkit.files.cases import has_halves
from opkit.runtimes.files import TestText
from opkit.runtimes.rknn.deliveries import DELIVERIES
from opkit.runtimes.rknn.kernel_source import ELEMENTS_PER_ITEM, kernel_file
from opkit.runtimes.rknn.settings import settings
from opkit.text import render

# One whole work item; several, the last in part; the same in several rows and slices.
_CASE_SHAPES = (
    (ELEMENTS_PER_ITEM,),
    (3, 2 * ELEMENTS_PER_ITEM + ELEMENTS_PER_ITEM // 2),
    (2, 3, 2, 2 * ELEMENTS_PER_ITEM + 1),
)


def once_only_files(spec: OpSpec) -> dict[str, str]:
    """Return path -> text of the files of the kernels, which are written once."""
    files = {f"rknn_kernel_{spec.lower}.c": kernel_file(spec)}
    if settings(spec).has_vx_kernel:
        files[vx_file(spec)] = vx_kernel(spec)
    return files


def tests(spec: OpSpec) -> TestText:
    """Return the test of the VX kernel; as generated, that kernel copies halves."""
    if not settings(spec).has_vx_kernel or not has_halves(spec):
        return TestText()
    return TestText(("check_vx_kernel",), vx_test(), _CASE_SHAPES)


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


def _vx_note(param: Param) -> str:
    """Return a note on a scalar that is not 32 bits wide, or an empty string."""
    element = param.type.element
    if element.size == 8:
        return f"the low 32 bits of a {param.type.name}: use a 32-bit type instead"
    if element.size < 4 and element.kind == "int":
        return f"{param.type.name}, not sign-extended"
    return ""


def _vx_notes(spec: OpSpec) -> str:
    """Return the notes on params for the file's first comment."""
    notes = [(param.name, _vx_note(param)) for param in spec.params]
    lines = [f" *   {name}: {note}\n" for name, note in notes if note]
    return "".join([" *\n", *lines]) if lines else ""


def _free(name: str, spec: OpSpec) -> str:
    """Return a variable name that is not a parameter's."""
    while any(parameter.name == name for parameter in spec.parameters):
        name += "_"
    return name


def vx_kernel(spec: OpSpec) -> str:
    """Return the text of the .vx file."""
    modifier = "VXC_MODIFIER(0, 7, 0, VXC_RM_TowardZero, 0)"
    coord, elements = (_free(name, spec) for name in ("coord", "elements"))
    return render(
        "runtimes/rknn/templates/kernel.vx",
        name=spec.name,
        lower=spec.lower,
        notes=_vx_notes(spec),
        declaration=wrapped(f"__kernel void {spec.lower}(", vx_arguments(spec), ")"),
        coord=coord,
        elements=elements,
        read=wrapped(
            "    VXC_ReadImage2DArray(",
            [elements, spec.inputs[0].name, coord, "VXC_5BITOFFSET_XY(0, 0)", modifier],
            ");",
        ),
        writes="\n".join(
            wrapped("    VXC_WriteImage2DArray(", [output.name, coord, elements, modifier], ");")
            for output in spec.outputs
        ),
    )


def vx_test() -> str:
    """Return the test that runs the VX kernel on every case."""
    return render("runtimes/rknn/templates/test_vx.py")
