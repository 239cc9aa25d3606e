"""The files that follow from op.yml (and the reference) at every build."""

from __future__ import annotations

from opkit.c_layout import wrapped
from opkit.description.spec import OpSpec, Param, Tensor
from opkit.files import generation
from opkit.files.c_parts import allowed_file, allowed_header
from opkit.files.elementwise import half_type
from opkit.runtimes.rknn.deliveries import DELIVERIES
from opkit.runtimes.rknn.kernel_source import kernels_header
from opkit.runtimes.rknn.makefiles import makefiles
from opkit.runtimes.rknn.settings import settings
from opkit.runtimes.rknn.toolkit_class import toolkit_class
from opkit.text import render


def generated_files(spec: OpSpec, reference_source: str) -> dict[str, str]:
    """Return path -> text of every generated file.

    Args:
        spec: the operator.
        reference_source: the text of `<lower>_reference.py`, a part of the toolkit's class.

    Raises:
        OpkitError: the reference cannot run in RKNN-Toolkit's Python, or op.yml lists the file of
            the kernel list as another source.
    """
    page = {"docs/vx.md": generation.copy("runtimes/rknn/docs/vx.md")}
    return {
        # All: a user's file may launch a VX kernel that op.yml no longer has.
        **generation.headers("runtimes/rknn/*.h"),
        **generation.declarations("runtimes/rknn/include", "include"),
        **(page if settings(spec).has_vx_kernel else {}),
        "generated/openvx_stub.c": generation.copy("runtimes/rknn/openvx_stub.c"),
        f"generated/{spec.lower}_params.h": _params_header(spec),
        **allowed_file(spec),
        f"generated/{spec.lower}_kernels.h": kernels_header(spec),
        f"generated/{spec.lower}.exports": render(
            "runtimes/rknn/templates/exports", name=spec.name
        ),
        f"rknn_op_{spec.lower}.py": toolkit_class(spec, reference_source),
        **makefiles(spec),
    }


def _params_header(spec: OpSpec) -> str:
    lower = spec.lower
    allowed = allowed_header(spec)
    call, arguments = "const struct opkit_call *call", f"struct {lower}_arguments *arguments"
    return render(
        "runtimes/rknn/templates/params.h",
        name=spec.name,
        lower=lower,
        upper=lower.upper(),
        indices="\n".join(f"    {_index(spec, parameter)}," for parameter in spec.parameters),
        descriptions="\n".join(_descriptions(spec)),
        tensors="\n".join(_tensors(spec)),
        allowed_include=f'#include "{allowed}"\n' if allowed else "",
        check_params=_CHECK_PARAMS.format(lower=lower) if allowed else "",
        half=half_type(spec),
        lists="".join(f"{_list_member(param)}\n" for param in spec.params if param.type.is_list),
        read=wrapped(f"static inline vx_status {lower}_read(", [call, arguments], ")"),
        reads="".join(f"{_read_param(spec, param)}\n" for param in spec.params),
        write=wrapped(f"static inline vx_status {lower}_write(", [call, arguments], ")"),
        writes="\n".join(_write(spec, output) for output in spec.outputs),
        invalidate=wrapped(f"static inline void {lower}_invalidate(", [call], ")"),
        invalidates="\n".join(_invalidate(spec, output) for output in spec.outputs),
        release=wrapped(f"static inline void {lower}_release(", [arguments], ")"),
    )


_CHECK_PARAMS = """\
    char problem[512];
    if (!{lower}_allows(&arguments->params, problem, sizeof problem)) {{
        return opkit_fail(call, VX_ERROR_INVALID_VALUE, NULL, "%s", problem);
    }}
"""


def _index(spec: OpSpec, parameter: Tensor | Param) -> str:
    """Return the enumerator of a parameter's index among the references."""
    return f"{spec.lower.upper()}_INDEX_{parameter.name.upper()}"


def _descriptions(spec: OpSpec) -> list[str]:
    """Return the rows of kernel_params[]."""
    rows: list[tuple[Tensor | Param, str, str]] = [
        *((tensor, "VX_INPUT", "VX_TYPE_TENSOR") for tensor in spec.inputs),
        *((tensor, "VX_OUTPUT", "VX_TYPE_TENSOR") for tensor in spec.outputs),
        *((param, "VX_INPUT", DELIVERIES[param.type.name].reference) for param in spec.params),
    ]
    return [
        wrapped(
            f"    [{_index(spec, parameter)}] = {{",
            [direction, type_, "VX_PARAMETER_STATE_REQUIRED"],
            "},",
        )
        for parameter, direction, type_ in rows
    ]


def _tensors(spec: OpSpec) -> list[str]:
    """Return the rows that map each tensor to its member."""
    rows = [
        *((tensor, "VX_READ_ONLY", "inputs") for tensor in spec.inputs),
        *((tensor, "VX_WRITE_ONLY", "outputs") for tensor in spec.outputs),
    ]
    return [
        wrapped(
            "        {",
            [_index(spec, tensor), usage, *_name_and_place(tensor.name, group)],
            "},",
        )
        for tensor, usage, group in rows
    ]


def _name_and_place(name: str, group: str) -> tuple[str, str]:
    return f'"{name}"', f"&arguments->{group}.{name}"


def _list_member(param: Param) -> str:
    """Return the member with the items of a list."""
    return f"    int32_t {param.name}_items[OPKIT_RKNN_MAX_ITEMS];"


def _read_param(spec: OpSpec, param: Param) -> str:
    """Return the statement that reads a param."""
    delivery = DELIVERIES[param.type.name]
    function, *arguments = delivery.reader
    member = f"arguments->params.{param.name}"
    values = {
        "name": param.name,
        "member": member,
        "type": delivery.type,
        "length": param.length or 0,
    }
    more = [argument.format(**values) for argument in arguments]
    return _try(function, ["call", _index(spec, param), f'"{param.name}"', *more])


def _write(spec: OpSpec, output: Tensor) -> str:
    """Return the statement that writes an output."""
    where = ["call", _index(spec, output), *_name_and_place(output.name, "outputs")]
    return _try("opkit_write_tensor", where)


def _invalidate(spec: OpSpec, output: Tensor) -> str:
    """Return the statement that makes an output invalid."""
    where = ["call", _index(spec, output), f'"{output.name}"']
    return wrapped("    (void)opkit_invalidate_tensor(", where, ");")


def _try(function: str, arguments: list[str]) -> str:
    return wrapped(f"    OPKIT_TRY({function}(", arguments, "));")
