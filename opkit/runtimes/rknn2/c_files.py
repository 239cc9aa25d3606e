"""The generated C files: the operator's callbacks for librknnrt, plugin and registration."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from opkit.common.code_layout import LINE_LENGTH, block_comment, comment, wrapped
from opkit.common.errors import OpkitError
from opkit.common.text import c_float, c_string, render
from opkit.description.spec import OpSpec, Param, ParamValue
from opkit.files import c_parts
from opkit.files.c_parts import allowed_file, allowed_header
from opkit.files.elementwise import has_table
from opkit.runtimes.rknn2.describe import settings
from opkit.runtimes.rknn2.gpu_files import GPU, kernel_header, kernel_name

_REGISTRATION = """\
Registers all custom operators of an application, in one call: librknnrt fails at the first \
operator of a model that is not registered yet, so a second call would be too late.

For an application with more operators than {name}, `rknn-op bundle` makes such a call for all."""
TENSOR_TYPES_IN_C: dict[str | None, str] = {
    None: "ANY",
    "float16": "FLOAT32",
    "float32": "FLOAT32",
    "int32": "INT32",
    "int64": "INT64",
    "bool": "BOOL",
}
"""The dtype of a tensor in op.yml -> the suffix of its OPKIT_DTYPE_ constant."""

_LIST_TYPES = {"int32": "INT32_ARRAY", "float32": "FLOAT_ARRAY"}
_INT64_MIN = -(2**63)
_INT64_MAX = 2**63 - 1


def c_files(spec: OpSpec) -> dict[str, str]:
    """Return path -> text of the generated C files."""
    lower = spec.lower
    register = wrapped(f"int {lower}_register_all(", ["rknn_context context"], ")")
    function = f"rknn_custom_op *{lower}_custom_op(void)"
    of_cpu = f"rknn_custom_op *{lower}_custom_op_of_cpu(void)"
    has_gpu = GPU in spec.kernels
    about = (
        f"{spec.name} as a custom operator of librknnrt, which calls these functions on the "
        f"CPU of the board. The math is in {spec.math_file}."
    )
    what = "Reads the attributes of a node" if spec.params else "Keeps the data of a node"
    # The runtime may pass other types than op.yml's, as version 1.6.0 does: floats.
    types = [TENSOR_TYPES_IN_C[tensor.dtype] for tensor in (*spec.inputs, *spec.outputs)]
    converts_tensors = any(type_ not in ("ANY", "FLOAT32") for type_ in types)
    keeps_data = bool(spec.params) or spec.has_threads or converts_tensors or has_gpu
    allowed = allowed_header(spec)
    callbacks = {"compute": "compute_callback"}
    if keeps_data:
        callbacks = {"init": "init_callback", **callbacks, "destroy": "opkit_destroy"}
    return {
        **allowed_file(spec),
        f"rknn2/{lower}_custom_op.h": render(
            "runtimes/rknn2/templates/custom_op.h",
            about=comment(f"{spec.name} for applications that run models with librknnrt."),
            function=function,
            of_cpu=render("runtimes/rknn2/templates/of_cpu.h", function=of_cpu) if has_gpu else "",
            register=register,
            lower=lower,
            upper=lower.upper(),
        ),
        f"rknn2/{lower}_custom_op.c": render(
            "runtimes/rknn2/templates/custom_op.c",
            lower=lower,
            about=block_comment(about),
            compute_header=spec.compute_header,
            definitions=c_parts.definitions(spec) + ("#define OPKIT_GPU\n" if has_gpu else ""),
            loops=c_parts.include(spec, "../"),
            call=_call(lower),
            compute_comment=comment(f"Computes {spec.name}, for every inference."),
            description="\n".join(_description(spec)),
            compute=wrapped(
                f"            problem = {lower}_compute(",
                # No table: this runtime passes floats.
                ["&inputs", "&params", "&outputs", *(["NULL"] if has_table(spec) else ())],
                ");",
            ),
            allowed_include=f'#include "../generated/{allowed}"\n' if allowed else "",
            refusal="        char refusal[512];\n" if allowed else "",
            refuse=_REFUSE.format(lower=lower) if allowed else "",
            init=render("runtimes/rknn2/templates/init.c", what=what, open=_open(spec))
            if keeps_data
            else "",
            **_gpu_parts(spec),
            function=function,
            op_type=wrapped("        .op_type = ", [f'"{settings(spec).op_type}"'], ","),
            members="\n".join(f"        .{stage} = {name}," for stage, name in callbacks.items()),
        ),
        f"rknn2/{lower}_plugin.c": render(
            "runtimes/rknn2/templates/plugin.c",
            about=comment(f"The function that rknn_server looks up in librkcst_{lower}.so."),
            lower=lower,
        ),
        "rknn2/register_all.c": render(
            "runtimes/rknn2/templates/register_all.c",
            about=block_comment(_REGISTRATION.format(name=spec.name)),
            lower=lower,
            register=register,
            includes="#include <stdio.h>\n\n" if has_gpu else "",
            status=render("runtimes/rknn2/templates/register_gpu.c", name=spec.name, lower=lower)
            if has_gpu
            else "    return rknn_register_custom_ops(context, operators, OPERATOR_COUNT);\n",
        ),
    }


def _open(spec: OpSpec) -> str:
    """Return the expression that initializes a node."""
    if GPU in spec.kernels:
        return "opkit_init_with_gpu(&custom_op_description, context, input_count, &gpu_kernel)"
    return "opkit_init(&custom_op_description, context, input_count)"


def _call(lower: str) -> str:
    """Return the variables of a callback that computes."""
    return render("runtimes/rknn2/templates/call.c", lower=lower)


def _gpu_parts(spec: OpSpec) -> dict[str, str]:
    """Return the parts of templates/custom_op.c for a GPU kernel; empty ones without it."""
    names = ("gpu_include", "gpu_files", "gpu", "choice", "of_cpu")
    if GPU not in spec.kernels:
        return dict.fromkeys(names, "")
    lower = spec.lower
    arguments = ["&inputs", "&params", "&outputs", "&launch"]
    launch = wrapped(f"        const char *problem = {lower}_launch(", arguments, ");")
    if allowed_header(spec):
        call = wrapped(f"            problem = {lower}_launch(", arguments, ");")
        launch = _ALLOWED_LAUNCH.format(lower=lower, call=call)
    return {
        "gpu_include": '#include "../include/opkit/runtimes/rknn2/gpu.h"\n',
        "gpu_files": f'#include "{lower}_gpu.h"\n#include "{kernel_header(spec)}"\n',
        "gpu": render(
            "runtimes/rknn2/templates/gpu.c",
            lower=lower,
            kernel=kernel_name(spec),
            call=_call(lower),
            launch=launch,
        ),
        "choice": render("runtimes/rknn2/templates/choice.c"),
        "of_cpu": render(
            "runtimes/rknn2/templates/of_cpu.c",
            lower=lower,
            function=f"rknn_custom_op *{lower}_custom_op_of_cpu(void)",
        ),
    }


_ALLOWED_LAUNCH = """\
        char refusal[512];
        const char *problem = refusal;
        if ({lower}_allows(&params, refusal, sizeof refusal)) {{
{call}
        }}"""

_REFUSE = """\
if (!{lower}_allows(&params, refusal, sizeof refusal)) {{
            problem = refusal;
        }} else """


def constant_inputs(spec: OpSpec) -> list[Param]:
    """Return the params that are constant inputs of a node; they follow the tensors, in order."""
    return [param for param in spec.params if param.source]


# ---- The operator's description ------------------------------------------------------------------


def _description(spec: OpSpec) -> Iterator[str]:
    """Yield the definitions of the tensors, of the params and of the operator."""
    first = spec.inputs[0].dtype
    outputs = [output._replace(dtype=output.dtype or first) for output in spec.outputs]
    yield comment("Its tensors: name, data type for the math, and offset in the math's struct.")
    for group, tensors in (("input", spec.inputs), ("output", outputs)):
        yield f"static const struct opkit_tensor_row custom_op_{group}s[] = {{"
        for tensor in tensors:
            offset = f"offsetof(struct {spec.lower}_{group}s, {tensor.name})"
            dtype = f"OPKIT_DTYPE_{TENSOR_TYPES_IN_C[tensor.dtype]}"
            yield wrapped("    {", [f'"{tensor.name}"', dtype, offset], "},")
        yield "};\n"
    defaults = [param for param in spec.params if param.default is not None]
    if defaults:
        yield from (_items(param) for param in defaults if param.type.is_list)
        yield f"static const struct {spec.lower}_params custom_op_defaults = {{"
        yield from (_default(param) for param in defaults)
        yield "};\n"
    if spec.params:
        yield comment("Its params: opkit/runtimes/rknn2/operator.h describes the columns.")
        yield "static const struct opkit_param custom_op_params[] = {"
        yield from (_row(spec, param) for param in spec.params)
        yield "};\n"
    yield "static const struct opkit_operator custom_op_description = {"
    yield wrapped("    .name = ", [f'"{spec.name}"'], ",")
    groups = {"input": spec.inputs, "output": spec.outputs, "param": spec.params}
    for group in (name for name, entries in groups.items() if entries):
        yield f"    .{group}s = custom_op_{group}s,"
        yield f"    .{group}_count = sizeof custom_op_{group}s / sizeof custom_op_{group}s[0],"
    yield f"    .params_size = sizeof(struct {spec.lower}_params),"
    yield "};\n"


def _row(spec: OpSpec, param: Param) -> str:
    """Return the row of a param: its source in the model and its place in the math's struct."""
    items = [
        f'"{param.name}"',
        f"OPKIT_PARAM_{_param_type(param)}",
        f"offsetof(struct {spec.lower}_params, {param.name})",
        str(param.length or 0),
        "NULL" if param.default is None else f"&custom_op_defaults.{param.name}",
        str(len(spec.inputs) + constant_inputs(spec).index(param))
        if param.source
        else "OPKIT_ATTRIBUTE",
    ]
    return wrapped("    {", items, "},")


def _param_type(param: Param) -> str:
    """Return the suffix of the param's OPKIT_PARAM_ constant."""
    if param.type.is_list:
        return _LIST_TYPES[param.type.element.name]
    return param.type.name.removeprefix("VX_TYPE_")


def _items(param: Param) -> str:
    """Return the definition of the items of a list's default."""
    assert isinstance(param.default, tuple)
    items = [_literal(param, item) for item in param.default]
    opening = f"static const {param.type.element.c_type} custom_op_default_{param.name}[] = {{"
    numbers = textwrap.fill(
        ", ".join(items), LINE_LENGTH, initial_indent=" " * 4, subsequent_indent=" " * 4
    )
    return f"{opening}\n{numbers}\n}};\n"


def _default(param: Param) -> str:
    """Return the line that initializes the member of a param with a default."""
    if isinstance(param.default, tuple):
        items = [str(len(param.default)), f"custom_op_default_{param.name}"]
        return wrapped(f"    .{param.name} = {{", items, "},")
    assert param.default is not None
    return wrapped(f"    .{param.name} = ", [_literal(param, param.default)], ",")


def _literal(param: Param, value: ParamValue) -> str:
    """Return a value as a literal in C."""
    if isinstance(value, str):
        return c_string(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return c_float(value, param.type.element.bits, "F")
    if value == _INT64_MIN:
        return "INT64_MIN"
    assert isinstance(value, int)
    return f"{value}{'U' if value > _INT64_MAX else ''}"


def operator_sources(spec: OpSpec) -> list[str]:
    """Return the paths of the common sources of plugins and applications.

    Raises:
        OpkitError: op.yml lists a generated file, which is compiled anyway.
    """
    own = [f"rknn2/{spec.lower}_custom_op.c"]
    generated = [*own, *plugin_sources(spec), *application_sources()]
    for source in spec.sources:
        if source.path in generated:
            raise OpkitError(
                f"{source.where}: {source.path} is compiled anyway; delete it from the list"
            )
    return [*own, *(source.path for source in spec.sources)]


def plugin_sources(spec: OpSpec) -> list[str]:
    """Return the paths of the plugin's own sources."""
    return [f"rknn2/{spec.lower}_plugin.c"]


def application_sources() -> list[str]:
    """Return the paths of the applications' own sources."""
    return ["rknn2/register_all.c"]
