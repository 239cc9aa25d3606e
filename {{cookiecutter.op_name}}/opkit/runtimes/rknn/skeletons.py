"""The files that are the user's from the moment they are written."""

from __future__ import annotations

from collections.abc import Callable

from opkit.c_layout import wrapped
from opkit.description.spec import OpSpec, Param, ParamValue, Tensor
from opkit.description.types import ELEMENT_TYPES
from opkit.runtimes.rknn.kernel_source import kernel_file
from opkit.runtimes.rknn.readme import readme
from opkit.text import fill

LINE_LENGTH = 100


def skeleton_files(spec: OpSpec) -> dict[str, str]:
    """Return path -> text of every file that is written once.

    Together they are a working operator, whose outputs are copies of the first input.
    """
    files = {
        "README.md": readme(spec),
        f"{spec.lower}_compute.h": _compute(spec),
        f"{spec.lower}_reference.py": _reference(spec),
        f"rknn_kernel_{spec.lower}.c": kernel_file(spec),
        f"tests/test_{spec.lower}.py": _test(spec),
    }
    if spec.has_vx_kernel:
        files[vx_file(spec)] = vx_kernel(spec)
    return files


def vx_file(spec: OpSpec) -> str:
    """Return the name of the file that holds the VX kernel."""
    return f"rknn_kernel_{spec.lower}.vx"


def _compute(spec: OpSpec) -> str:
    first = spec.inputs[0].name
    lines = [
        *((f"inputs->{input_.name}", input_.doc) for input_ in spec.inputs),
        *((f"params->{param.name}", param.doc or _described(param)) for param in spec.params),
        *((f"outputs->{output.name}", _output_doc(output)) for output in spec.outputs),
    ]
    width = max(len(member) for member, _ in lines)
    statements = [
        _copy(first, output.name) if _is_copy(output) else _zero(output) for output in spec.outputs
    ]
    if not any(map(_is_copy, spec.outputs)):
        statements.insert(0, "    (void)inputs;\n")
    return fill(
        "compute.h",
        name=spec.name,
        lower=spec.lower,
        upper=spec.lower.upper(),
        pad=" " * len(f"static const char *{spec.lower}_compute("),
        arguments="\n".join(
            f" *   {member.ljust(width)}  {_inside_comment(doc)}".rstrip() for member, doc in lines
        ),
        first=first,
        so_far=_so_far(spec),
        statements="\n".join(statements),
    )


def _is_copy(output: Tensor) -> bool:
    """Whether an output can begin as a copy of the first input, which is half in the cases."""
    return output.dtype in (None, "float16")


def _so_far(spec: OpSpec) -> str:
    """Return what the math does until it is written."""
    copies = sum(map(_is_copy, spec.outputs))
    if copies == len(spec.outputs):
        return "each output is a copy of the first input"
    return "outputs with a dtype in op.yml are 0" + (", the others copies" if copies else "")


def _copy(input_: str, output: str) -> str:
    """Return the C statements that copy an input to an output, element by element."""
    return f"""\
    if (inputs->{input_}.type != OPKIT_FLOAT32 || outputs->{output}.type != OPKIT_FLOAT32) {{
        return "{input_} and {output} must be float16 or float32";
    }}
    if (outputs->{output}.size != inputs->{input_}.size) {{
        return "{output} must be as large as {input_}";
    }}
    for (size_t i = 0; i < outputs->{output}.size; i++) {{
        outputs->{output}.float32[i] = inputs->{input_}.float32[i];
    }}
"""


def _zero(output: Tensor) -> str:
    """Return the C statements that set an output with a dtype to 0."""
    assert output.dtype is not None
    member = ELEMENT_TYPES[output.dtype].computed_as
    assert member is not None
    return f"""\
    if (outputs->{output.name}.type != OPKIT_{member.upper()}) {{
        return "{output.name} must be {output.dtype}";
    }}
    for (size_t i = 0; i < outputs->{output.name}.size; i++) {{
        outputs->{output.name}.{member}[i] = 0;
    }}
"""


def _output_doc(output: Tensor) -> str:
    return ": ".join(part for part in (output.dtype, output.doc) if part)


def _described(param: Param) -> str:
    if param.type.is_array:
        return f"{param.length or '1 to 16'} whole numbers: `count`, `items[]`"
    return param.type.c_type


def _inside_comment(text: str) -> str:
    return text.replace("*/", "* /").replace("/*", "/ *")


def _reference(spec: OpSpec) -> str:
    def outputs(value: Callable[[Tensor], str]) -> str:
        return _dict("    return ", {output.name: value(output) for output in spec.outputs})

    def array(output: Tensor) -> str:
        if _is_copy(output):
            return f"np.array(inputs[{first}])"
        return f'np.zeros(inputs[{first}].shape, "{output.dtype}")'

    first = f'"{spec.inputs[0].name}"'
    kinds = [f"        {param.name}: {_python_kind(param)}" for param in spec.params]
    kinds = kinds or ["        (this operator has none)"]
    return fill(
        "reference.py",
        name=spec.name,
        first=first,
        param_values="\n".join(kinds),
        shapes=outputs(lambda _: "shape"),
        so_far=_so_far(spec),
        arrays=outputs(array),
    )


def _dict(before: str, entries: dict[str, str], after: str = "") -> str:
    """Return a line of Python with a dict, or several if it is too long for one."""
    line = before + "{" + ", ".join(f'"{k}": {v}' for k, v in entries.items()) + "}" + after
    if len(line) <= LINE_LENGTH:
        return line
    indent = " " * (len(before) - len(before.lstrip()))
    lines = "".join(f'{indent}    "{key}": {value},\n' for key, value in entries.items())
    return f"{before}{{\n{lines}{indent}}}{after}"


def _python_kind(param: Param) -> str:
    if param.type.is_array:
        return "list of int"
    if param.type.is_bool:
        return "bool"
    return "float" if param.type.limits is None else "int"


def vx_arguments(spec: OpSpec) -> list[str]:
    """Return the VX kernel's arguments, as its parameter list has them."""
    return [
        *(f"__read_only image2d_array_t {input_.name}" for input_ in spec.inputs),
        *(f"__write_only image2d_array_t {output.name}" for output in spec.outputs),
        *(f"{_vx_type(param)} {param.name}" for param in spec.params),
    ]


def _vx_type(param: Param) -> str:
    """The type under which the PPU gets a scalar: 32 bits of its storage, whatever it is."""
    if param.type.is_array:
        return "vx_array_int"
    if param.type.is_bool:
        return "bool"
    if param.type.limits is None:
        return "float"
    return "int" if param.type.limits[0] < 0 else "uint"


def _vx_note(parameter: Tensor | Param) -> str:
    """What an engineer has to know of a scalar that is not 32 bits wide, or nothing."""
    if isinstance(parameter, Tensor) or parameter.type.is_array or parameter.type.is_bool:
        return ""
    if parameter.type.size == 8:
        return f" /* the low 32 bits of a {parameter.type.name}: use a 32-bit type instead */"
    if parameter.type.size < 4 and parameter.type.c_type.startswith("int"):
        return f" /* {parameter.type.name}, not sign-extended */"
    return ""


def _vx_argument_lines(spec: OpSpec) -> str:
    arguments = vx_arguments(spec)
    separators = [","] * (len(arguments) - 1) + [""]
    notes = [_vx_note(parameter) for parameter in spec.parameters]
    return "\n".join(
        f"    {argument}{separator}{note}"
        for argument, separator, note in zip(arguments, separators, notes, strict=True)
    )


def _free(name: str, spec: OpSpec) -> str:
    """Return a name for a variable that no parameter has."""
    while any(parameter.name == name for parameter in spec.parameters):
        name += "_"
    return name


def vx_kernel(spec: OpSpec) -> str:
    """Return the text of the .vx file."""
    modifier = "VXC_MODIFIER(0, 7, 0, VXC_RM_TowardZero, 0)"
    coord, elements = (_free(name, spec) for name in ("coord", "elements"))
    return fill(
        "kernel.vx",
        name=spec.name,
        lower=spec.lower,
        arguments=_vx_argument_lines(spec),
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


def _test(spec: OpSpec) -> str:
    def shapes(shape: tuple[int, ...]) -> str:
        return _dict(" " * 8, {input_.name: repr(shape) for input_ in spec.inputs}, ",")

    params = {param.name: repr(_sample(param)) for param in spec.params}
    # The generated VX kernel copies halves.
    kernels = [
        kernel for kernel in spec.kernels if kernel != "vx" or all(map(_is_copy, spec.outputs))
    ]
    checks = [f"check_{kernel}_kernel" for kernel in kernels]
    return fill(
        "test.py",
        kernels="both kernels" if "vx" in kernels else "the CPU kernel",
        imports=", ".join(["cases", *checks, "special", "uniform"]),
        vx_test=f"\n\n{vx_test()}" if "vx" in kernels else "",
        name=spec.name,
        lower=spec.lower,
        shapes="\n".join(shapes(shape) for shape in ((7,), (3, 5), (1, 4, 5, 3))),
        params=_dict(" " * 8, params, ","),
    )


def vx_test() -> str:
    """Return the test that runs the VX kernel on every case."""
    return fill("test_vx.py")


def _sample(param: Param) -> ParamValue | list[int]:
    """Some value that the param may have."""
    if isinstance(param.default, tuple):
        return list(param.default)
    if param.default is not None:
        return param.default
    if param.type.is_array:
        return [1] * (param.length or 2)
    if param.type.is_bool:
        return True
    return 0.5 if param.type.limits is None else 1
