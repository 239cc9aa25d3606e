"""The files that follow from op.yml (and the reference) at every build."""

from __future__ import annotations

from opkit.description.spec import OpSpec, Param, Tensor
from opkit.runtimes.rknn.makefiles import makefiles
from opkit.runtimes.rknn.text import render
from opkit.runtimes.rknn.toolkit_class import toolkit_class


def generated_files(spec: OpSpec, reference_source: str) -> dict[str, str]:
    """Return path -> text of every generated file.

    Args:
        spec: the operator.
        reference_source: the text of `<lower>_reference.py`, which the toolkit's class carries.

    Raises:
        OpkitError: the reference cannot run in RKNN-Toolkit's Python, or op.yml lists a source
            that is compiled anyway.
    """
    return {
        f"generated/{spec.lower}_params.h": _params_header(spec),
        f"generated/{spec.lower}.exports": render("exports", name=spec.name),
        f"rknn_op_{spec.lower}.py": toolkit_class(spec, reference_source),
        **makefiles(spec),
    }


def _read_param(upper: str, param: Param) -> str:
    where = f'call, {upper}_INDEX_{param.name.upper()}, "{param.name}"'
    member = f"&arguments->params.{param.name}"
    if param.type.is_array:
        return f"opkit_read_int32_array({where}, {param.length or 0}, {member})"
    if param.type.is_bool:
        return f"opkit_read_bool({where}, {member})"
    size = f"sizeof arguments->params.{param.name}"
    return f"opkit_read_scalar({where}, {param.type.delivered}, {member}, {size})"


def _params_header(spec: OpSpec) -> str:
    upper = spec.lower.upper()

    def index(parameter: Tensor | Param) -> str:
        return f"{upper}_INDEX_{parameter.name.upper()}"

    def tensor(group: str, usage: str, parameter: Tensor) -> str:
        where = f"&arguments->{group}.{parameter.name}"
        return f'        {{{index(parameter)}, {usage}, "{parameter.name}", {where}}},'

    def write(output: Tensor) -> str:
        where = f'call, {index(output)}, "{output.name}", &arguments->outputs.{output.name}'
        return f"    OPKIT_TRY(opkit_write_tensor({where}));"

    def invalidate(output: Tensor) -> str:
        return f'    (void)opkit_invalidate_tensor(call, {index(output)}, "{output.name}");'

    rows: list[tuple[Tensor | Param, str, str]] = [
        *((tensor_, "VX_INPUT", "VX_TYPE_TENSOR") for tensor_ in spec.inputs),
        *((tensor_, "VX_OUTPUT", "VX_TYPE_TENSOR") for tensor_ in spec.outputs),
        *(
            (param, "VX_INPUT", "VX_TYPE_ARRAY" if param.type.is_array else "VX_TYPE_SCALAR")
            for param in spec.params
        ),
    ]
    tensors = [
        *(tensor("inputs", "VX_READ_ONLY", input_) for input_ in spec.inputs),
        *(tensor("outputs", "VX_WRITE_ONLY", output) for output in spec.outputs),
    ]
    return render(
        "params.h",
        name=spec.name,
        lower=spec.lower,
        upper=upper,
        indices="\n".join(f"    {index(parameter)}," for parameter in spec.parameters),
        descriptions="\n".join(
            f"    [{index(parameter)}] = {{{direction}, {type_}, VX_PARAMETER_STATE_REQUIRED}},"
            for parameter, direction, type_ in rows
        ),
        tensors="\n".join(tensors),
        reads="".join(f"    OPKIT_TRY({_read_param(upper, param)});\n" for param in spec.params),
        writes="\n".join(map(write, spec.outputs)),
        invalidates="\n".join(map(invalidate, spec.outputs)),
    )
