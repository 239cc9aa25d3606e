"""The files of an operator in ppl.nn's tree, as `pplnn/src/...` of a repository."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

from opkit.code_layout import LINE_LENGTH, comment, with_comment, wrapped
from opkit.description.spec import OpSpec, Param
from opkit.description.types import ELEMENT_TYPES
from opkit.files import c_parts
from opkit.files.c_parts import CXX, allowed_text, is_checked, refusal, string_lines
from opkit.files.elementwise import half_type, has_table
from opkit.runtimes.pplnn import cxx_parts
from opkit.runtimes.pplnn.cxx_parts import READ_AS, cxx_default, cxx_type, packed
from opkit.runtimes.pplnn.describe import settings
from opkit.runtimes.pplnn.tree_names import ENGINES, SOURCES, Names, names
from opkit.text import render

_PPL_TYPES = {
    name: f"DATATYPE_{name.upper()}"
    for name, row in ELEMENT_TYPES.items()
    if row.computed_as is not None
}
"""Element type -> ppl.nn's name for it."""


def sources(spec: OpSpec) -> dict[str, str]:
    """Return path -> text of the files; the paths are ppl.nn's own, below SOURCES."""
    where = names(spec)
    root = "../" * len(PurePosixPath(SOURCES, where.files).parent.parts)
    files = {
        f"{where.math}.h": _math_header(spec, where),
        f"{where.math}.cc": _math(spec, where),
        f"{where.glue}.h": _glue_header(spec, where),
        f"{where.glue}.cc": _glue(spec, where),
        **file_headers(spec, root),
    }
    if spec.params:
        files |= {
            f"{where.param}.h": _param_struct(spec, where),
            f"{where.parser}.h": _parser_header(where),
            f"{where.parser}.cc": _parser(spec, where),
        }
    for engine in ENGINES:
        files |= _engine(engine, spec, where)
    return {f"{SOURCES}/{path}": text for path, text in files.items()}


def file_headers(spec: OpSpec, root: str) -> dict[str, str]:
    """Return path -> text of the headers that include the operator's own files.

    Args:
        spec: the operator.
        root: the folder of these files, relative to the headers, with a slash at its end.
    """
    where = names(spec)
    values = {
        "name": spec.name,
        "lower": spec.lower,
        "root": root,
        "compute": spec.compute_header,
    }
    shapes = f'#include "{root}pplnn/{spec.lower}_shapes.h"\n' if has_shape_rule(spec) else ""
    return {
        where.files: render("runtimes/pplnn/templates/files.h", **values),
        where.math_files: render(
            "runtimes/pplnn/templates/math_files.h", **values, loops=c_parts.include(spec, root)
        )
        + shapes,
    }


def has_shape_rule(spec: OpSpec) -> bool:
    """Whether an output has no `same_as`, so that the user writes a shape rule."""
    return any(output.same_as is None for output in spec.outputs)


def _guard(path: str) -> str:
    """Return the macro that guards a header."""
    return f"{path.replace('/', '_').upper()}_H"


# ---- Params --------------------------------------------------------------------------------------


def _param_struct(spec: OpSpec, where: Names) -> str:
    members = [
        with_comment(f"    {cxx_type(param)} {param.name}{cxx_default(param)};", param.doc)
        for param in spec.params
    ]
    own = {"other": "this->other"}  # the name of operator=='s argument
    equal = [f"{own.get(name, name)} == other.{name}" for name in [p.name for p in spec.params]]
    own_name = f"struct {where.title}Param final"
    base = f": public ir::TypedAttr<{where.title}Param>"
    is_short = len(f"{own_name} {base} {{") <= LINE_LENGTH
    return render(
        "runtimes/pplnn/templates/param.h",
        struct=f"{own_name} {base}" if is_short else f"{own_name}\n    {base}",
        guard=_guard(where.param),
        space=where.folder,
        title=where.title,
        members="\n".join(members),
        equal=_returned(equal, "&&", 8),
    )


def _returned(conditions: list[str], operator: str, indent: int) -> str:
    """Return the statement that returns conditions, joined by `&&` or `||`."""
    line = f"{' ' * indent}return {f' {operator} '.join(conditions)};"
    if len(line) <= LINE_LENGTH:
        return line
    below = f" {operator}\n{' ' * (indent + 4)}".join(conditions)
    return f"{' ' * indent}return {below};"


def _parser_functions(where: Names, closing: str) -> dict[str, str]:
    return {
        "parse": wrapped(
            f"ppl::common::RetCode Parse{where.title}Param(",
            [
                "const ::onnx::NodeProto &pb",
                "const onnx::ParamParserExtraArgs &",
                "ir::Node *",
                "ir::Attr *arg",
            ],
            closing,
        ),
        "pack": wrapped(
            f"ppl::common::RetCode Pack{where.title}Param(",
            ["const ir::Node *", "const ir::Attr *arg", "::onnx::NodeProto *pb"],
            closing,
        ),
    }


def _parser_header(where: Names) -> str:
    return render(
        "runtimes/pplnn/templates/parse_param.h",
        guard=_guard(where.parser),
        space=where.folder,
        title=where.title,
        **_parser_functions(where, ");"),
    )


def _parser(spec: OpSpec, where: Names) -> str:
    kinds = {param.type.onnx for param in spec.params}
    checked = [param for param in spec.params if is_checked(param)]
    wanted = {
        "narrow": kinds & {"int", "ints"},
        "count": kinds & {"ints", "floats"},
        **{kind: kind in kinds for kind in ("int", "float", "string", "ints", "floats")},
        "refuse": checked,
    }
    readers = [
        render(f"runtimes/pplnn/templates/reader_{name}.cc")
        for name, is_wanted in wanted.items()
        if is_wanted
    ]
    return render(
        "runtimes/pplnn/templates/parse_param.cc",
        path=where.parser,
        param=where.param,
        space=where.folder,
        title=where.title,
        is_known=_returned([f'name == "{param.name}"' for param in spec.params], "||", 4),
        readers="\n".join(readers),
        reads="\n".join(map(_read, spec.params)),
        checks="\n".join([_IF_READ, *map(_check, checked), ""]) if checked else "",
        writes="\n".join(_write(param) for param in spec.params),
        **_parser_functions(where, ")"),
    )


_IF_READ = """\
    if (status != RC_SUCCESS) {
        return status;
    }"""


def _read(param: Param) -> str:
    """Return the statement that reads an attribute."""
    kind = param.type.onnx
    required = "true" if param.default is None else "false"
    target = f"&param->{param.name}"
    if param.type.name in READ_AS:
        target = f"reinterpret_cast<{READ_AS[param.type.name]} *>({target})"
    length = [str(param.length or "ANY_LENGTH")] if param.type.is_list else []
    return wrapped(
        f"    Read{kind.capitalize()}(",
        ["pb", f'"{param.name}"', required, *length, target, "&status"],
        ");",
    )


def _check(param: Param) -> str:
    """Return the statement that refuses values that op.yml does not allow."""
    member = f"param->{param.name}"
    if not param.type.is_list:
        return _refuse(param, member, 4)
    type_ = param.type.element.c_type
    return f"    for ({type_} item : {member}) {{\n{_refuse(param, 'item', 8)}\n    }}"


def _refuse(param: Param, place: str, indent: int) -> str:
    margin = " " * indent
    # A log shows a number of one byte as a character.
    is_byte = param.type.element.size == 1 and not param.type.is_text
    arguments = [
        *("pb", f'"{param.name}"', f"+{place}" if is_byte else place),
        string_lines(allowed_text(param), indent + 8),
    ]
    call = wrapped(f"{margin}    return Refuse(", arguments, ");")
    condition = refusal(param, place, f"{margin}if (", ") {", CXX)
    return f"{condition}\n{call}\n{margin}}}"


def _write(param: Param) -> str:
    """Return the statement that writes an attribute."""
    return wrapped(
        "    onnx::utils::SetNodeAttr(",
        ["pb", f'"{param.name}"', packed(param, f"param->{param.name}")],
        ");",
    )


# ---- The math ------------------------------------------------------------------------------------


def _math_header(spec: OpSpec, where: Names) -> str:
    types = [f"{output.name} has {output.dtype}, " for output in spec.outputs if output.dtype]
    others = len(types) < len(spec.outputs)
    rest = ("the others have " if types else "") + "that of the first input" if others else ""
    doc = f"Returns the data type of an output: {''.join(types)}{rest}".rstrip(", ")
    return render(
        "runtimes/pplnn/templates/math.h",
        guard=_guard(where.math),
        name=spec.name,
        space=where.folder,
        title=where.title,
        type_of_doc=comment(f"{doc}."),
        reshape=wrapped(f"ppl::common::RetCode Reshape{where.title}(", [_INFO, _ATTRIBUTES], ");"),
        compute=wrapped(
            f"ppl::common::RetCode Compute{where.title}(", _compute_arguments(where), ");"
        ),
        type_of=wrapped(
            f"ppl::common::datatype_t TypeOf{where.title}Output(",
            ["uint32_t index", "ppl::common::datatype_t first_input"],
            ");",
        ),
        **cxx_parts.header_values(spec, where),
    )


_INFO, _ATTRIBUTES = "InputOutputInfo *info", "const ir::Attr *arg"


def _compute_arguments(where: Names) -> list[str]:
    return [_INFO, _ATTRIBUTES, f"{where.title}Memory *memory"]


def _math(spec: OpSpec, where: Names) -> str:
    include = f'#include "{where.param}.h"\n' if spec.params else ""
    return render(
        "runtimes/pplnn/templates/math.cc",
        path=where.math,
        glue=where.glue,
        name=spec.name,
        space=where.folder,
        title=where.title,
        param_include=include,
        compute=wrapped(f"RetCode Compute{where.title}(", _compute_arguments(where), ")"),
        run=wrapped(
            f"    const char *problem = Run{where.title}(",
            ["inputs", "ParamsOf(arg)", "outputs", "&memory->kept"],
            ");",
        ),
        infer_call=wrapped(
            f"    const char *problem = InferShapesOf{where.title}(",
            ["inputs", "ParamsOf(arg)", "outputs"],
            ");",
        ),
        input_count=str(len(spec.inputs)),
        output_count=str(len(spec.outputs)),
        params_function=_params_of(spec, where),
        type_of=_type_of(spec),
        **cxx_parts.math_values(spec, where),
    )


def _type_of(spec: OpSpec) -> str:
    """Return the body of the function that returns an output's data type."""
    fixed = [(i, output.dtype) for i, output in enumerate(spec.outputs) if output.dtype]
    if not fixed:
        return "    (void)index;\n    return first_input;"
    if len(fixed) == len(spec.outputs) == 1:
        return (
            "    (void)index;\n    (void)first_input;\n"
            f"    return ppl::common::{_PPL_TYPES[str(fixed[0][1])]};"
        )
    cases = "\n".join(
        f"    case {index}: /* {spec.outputs[index].name} */\n"
        f"        return ppl::common::{_PPL_TYPES[str(dtype)]};"
        for index, dtype in fixed
    )
    return f"    switch (index) {{\n{cases}\n    default:\n        return first_input;\n    }}"


def _params_of(spec: OpSpec, where: Names) -> str:
    """Return the function that converts the attributes to the math's struct."""
    head = comment("Converts the attributes to the math's params. Texts and lists are not copied.")
    if not spec.params:
        return (
            f"{comment('The operator has no attributes.')}\n"
            f"{spec.lower}_params ParamsOf(const ir::Attr *)\n"
            "{\n    return {0};\n}\n"
        )
    lines = [_member(param) for param in spec.params]
    return (
        f"{head}\n{spec.lower}_params ParamsOf(const ir::Attr *arg)\n{{\n"
        f"    const auto &from = *static_cast<const {where.title}Param *>(arg);\n"
        f"    {spec.lower}_params params = {spec.lower}_params();\n\n"
        + "\n".join(lines)
        + "\n    return params;\n}\n"
    )


def _member(param: Param) -> str:
    """Return the statements that set a member of the math's struct."""
    name = param.name
    if param.type.is_list:
        items = [f"from.{name}.size()", f"from.{name}.data()"]
        return wrapped(f"    params.{name} = {{", items, "};")
    if param.type.onnx == "string":
        return f"    params.{name} = from.{name}.c_str();"
    return f"    params.{name} = from.{name};"


def _glue_functions(spec: OpSpec, where: Names, closing: str) -> dict[str, str]:
    def function(name: str, outputs: str, *more: str) -> str:
        arguments = [
            "const opkit_pplnn_tensor *inputs",
            f"const {spec.lower}_params &params",
            f"{outputs} *outputs",
            *more,
        ]
        return wrapped(f"const char *{name}{where.title}(", arguments, closing)

    return {
        "infer": function("InferShapesOf", "opkit_pplnn_tensor"),
        "run": function("Run", "const opkit_pplnn_tensor", "opkit_pplnn_memory *memory"),
    }


def _glue_header(spec: OpSpec, where: Names) -> str:
    memory = f"{where.title}Memory"
    return render(
        "runtimes/pplnn/templates/glue.h",
        assignment=wrapped(f"    {memory} &operator=(", [f"const {memory} &"], ") = delete;"),
        guard=_guard(where.glue),
        thread_functions=_THREADS_H.format(title=where.title) if spec.has_threads else "",
        stem=where.stem,
        name=spec.name,
        lower=spec.lower,
        space=where.folder,
        title=where.title,
        count=str(len(spec.inputs) + len(spec.outputs)),
        **_glue_functions(spec, where, ");"),
    )


def _glue(spec: OpSpec, where: Names) -> str:
    views = [
        f"        {{&{array}[{index}], &{struct}.{tensor.name}, {is_output}}}, // {when}"
        for array, struct, tensors, is_output, when in (
            ("inputs", "in", spec.inputs, "false", "read before the math"),
            ("outputs", "out", spec.outputs, "true", "written after it"),
        )
        for index, tensor in enumerate(tensors)
    ]
    return render(
        "runtimes/pplnn/templates/glue.cc",
        threads=c_parts.definitions(spec),
        thread_functions=_THREADS_CC.format(title=where.title) if spec.has_threads else "",
        path=where.glue,
        stem=where.stem,
        lower=spec.lower,
        space=where.folder,
        title=where.title,
        half=half_type(spec),
        compute=wrapped(
            f"        problem = {spec.lower}_compute(",
            ["&in", "&params", "&out", *(["&memory->table"] if has_table(spec) else ())],
            ");",
        ),
        views="\n".join(views),
        infer_body=_infer(spec),
        **_glue_functions(spec, where, ")"),
    )


def _infer(spec: OpSpec) -> str:
    """Return the body of the function that sets the outputs' shapes."""
    indices = {input_.name: index for index, input_ in enumerate(spec.inputs)}
    copies = [
        f"    outputs[{index}].rank = inputs[{indices[output.same_as]}].rank;\n"
        f"    memcpy(outputs[{index}].dims, inputs[{indices[output.same_as]}].dims, "
        f"sizeof outputs[{index}].dims);"
        for index, output in enumerate(spec.outputs)
        if output.same_as is not None
    ]
    if not has_shape_rule(spec):
        return "\n".join(["    (void)params;", *copies, "    return nullptr;"])
    unknown = [
        f"        outputs[{index}].rank = OPKIT_PPLNN_UNKNOWN_RANK;"
        for index, output in enumerate(spec.outputs)
        if output.same_as is None
    ]
    seen = [
        f"    opkit_pplnn_set_shape(&in.{input_.name}, &inputs[{index}]);"
        for index, input_ in enumerate(spec.inputs)
    ]
    taken = [
        f"    if (problem == nullptr) {{\n"
        f"        problem = opkit_pplnn_take_shape(&outputs[{index}], &out.{output.name});\n    }}"
        for index, output in enumerate(spec.outputs)
        if output.same_as is None
    ]
    return "\n".join(
        [
            f"    {spec.lower}_inputs in;",
            f"    {spec.lower}_outputs out = {spec.lower}_outputs();\n",
            *copies,
            f"    if (!opkit_pplnn_are_known(inputs, {len(spec.inputs)})) {{",
            *unknown,
            "        return nullptr;\n    }",
            *seen,
            f"    const char *problem = {spec.lower}_shapes(&in, &params, &out);",
            *taken,
            "    return problem;",
        ]
    )


# ---- The engines ---------------------------------------------------------------------------------


def _engine(engine: str, spec: OpSpec, where: Names) -> Mapping[str, str]:
    """Return path -> text of an engine's op and kernel."""
    common = {
        "name": spec.name,
        "title": where.title,
        "space": where.folder,
        "math": where.math,
        "glue": where.glue,
        "param_include": f'#include "{where.param}.h"\n' if spec.params else "",
    }
    op = {"path": where.op(engine), "guard": _guard(where.op(engine)), **common}
    kernel = {"path": where.kernel(engine), "guard": _guard(where.kernel(engine)), **common}
    op |= _op(where, where.kernel(engine), bool(spec.params))
    op |= cxx_parts.op_values(spec, where, engine)
    op["select_format"] = _select_format(spec, where)
    kernel |= _kernel(where, bool(spec.params)) | _kernel_threads(spec, where)
    return {
        f"{values['path']}.{suffix}": render(
            f"runtimes/pplnn/templates/{engine}_{what}.{suffix}", **values
        )
        for what, values in (("op", op), ("kernel", kernel))
        for suffix in ("h", "cc")
    }


def _op(where: Names, kernel: str, has_params: bool) -> dict[str, str]:
    """Return the values of an op's templates; `kernel` is the path of its kernel."""
    member = f"std::shared_ptr<nn::{where.folder}::{where.title}Param> param_;"
    return {
        "kernel": kernel,
        "param_member": f"\nprivate:\n    {member}\n" if has_params else "",
        "init": _init(where, has_params),
        "create": _create(where, has_params),
        "output_type": wrapped(
            "        selected_output_types->at(i) = "
            f"nn::{where.folder}::TypeOf{where.title}Output(",
            ["i", "selected_input_types->at(0)"],
            ");",
        ),
        "select_types": _select(
            where,
            "DataType",
            "type",
            ["const InputOutputInfo &info", "datatype_t forward_precision"],
        ),
    }


def _kernel(where: Names, has_params: bool) -> dict[str, str]:
    """Return the values of a kernel's templates."""
    param_type = f"nn::{where.folder}::{where.title}Param"
    return {
        "set_param": _SET_PARAM.format(type=param_type) if has_params else "",
        "param_member": f"    const {param_type} *param_ = nullptr;\n" if has_params else "",
        "compute": wrapped(
            f"    return nn::{where.folder}::Compute{where.title}(",
            ["ctx", "param_" if has_params else "nullptr", "&memory_"],
            ");",
        ),
    }


def _kernel_threads(spec: OpSpec, where: Names) -> dict[str, str]:
    """Return the values of a kernel's templates for its threads."""
    if not spec.has_threads:
        return {"retain": "", "destructor": ""}
    space, title = f"nn::{where.folder}", where.title
    return {
        "retain": f"\n        {space}::RetainThreadsOf{title}();",
        "destructor": f"""
    ~{title}Kernel() override
    {{
        {space}::ReleaseThreadsOf{title}();
    }}
""",
    }


_THREADS_H = """\
/*
 * The kernels keep the operator's threads, which help to compute: they run from the construction of
 * the first kernel to the destruction of the last one.
 */
void RetainThreadsOf{title}();
void ReleaseThreadsOf{title}();

"""

_THREADS_CC = """\
void RetainThreadsOf{title}()
{{
    opkit_retain_threads();
}}

void ReleaseThreadsOf{title}()
{{
    opkit_release_threads();
}}

"""

_SET_PARAM = """
    void SetParam(const {type} *param)
    {{
        param_ = param;
    }}
"""


def _init(where: Names, has_params: bool) -> str:
    """Return the body of the op's Init function."""
    space, title = f"nn::{where.folder}", where.title
    capture, param = ("this", "param_.get()") if has_params else ("", "nullptr")
    infer = f"""\
    infer_type_func_ = {space}::InferTypesOf{title};
    infer_dims_func_ = [{capture}](InputOutputInfo *info) {{
        return {space}::Reshape{title}(info, {param});
    }};
    return RC_SUCCESS;"""
    load = """\
    const RetCode status = GenericLoadParam(options, &param_);

    if (status != RC_SUCCESS) {
        return status;
    }
"""
    return (load if has_params else "    (void)options;\n") + infer


def _select_format(spec: OpSpec, where: Names) -> str:
    """Return the declaration of an op's function for formats."""
    name = " &info" if settings(spec).takes_any_layout else " &"
    return _select(where, "Format", "format", [f"const InputOutputInfo{name}"])


def _select(where: Names, function: str, what: str, arguments: list[str]) -> str:
    """Return the declaration of an op's Select function, for formats or data types."""
    item = {"format": "dataformat_t", "type": "datatype_t"}[what]
    selected = [f"std::vector<{item}> *selected_{side}_{what}s" for side in ("input", "output")]
    return wrapped(f"RetCode {where.title}Op::Select{function}(", [*arguments, *selected], ")")


def _create(where: Names, has_params: bool) -> str:
    kernel = f"{where.title}Kernel"
    if has_params:
        return f"CreateKernelImplWithParam<{kernel}>(param_.get())"
    return f"CreateKernelImplWithoutParam<{kernel}>()"
