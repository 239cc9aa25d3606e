"""The files of an operator in ppl.nn's tree, as `pplnn/src/...` of a repository."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

from opkit.common.code_layout import LINE_LENGTH, comment, with_comment, wrapped
from opkit.common.text import render
from opkit.description.spec import OpSpec, Param
from opkit.description.types import ELEMENT_TYPES
from opkit.files import c_parts
from opkit.files.c_parts import CXX, allowed_text, is_checked, refusal, string_lines
from opkit.files.elementwise import half_type, has_table
from opkit.runtimes.pplnn.cxx_parts import READ_AS, cxx_default, cxx_type, packed
from opkit.runtimes.pplnn.describe import settings
from opkit.runtimes.pplnn.tree_names import ENGINES, SOURCES, Names, names

_TEMPLATES = "runtimes/pplnn/templates"
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
    files = {**_math(spec, where), **_glue(spec, where), **file_headers(spec, root)}
    if spec.params:
        files |= _params(spec, where)
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
    values = {"name": spec.name, "lower": spec.lower, "root": root, "compute": spec.compute_header}
    shapes = f'#include "{root}pplnn/{spec.lower}_shapes.h"\n' if has_shape_rule(spec) else ""
    return {
        where.files: render(f"{_TEMPLATES}/files.h", **values),
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


def _params(spec: OpSpec, where: Names) -> dict[str, str]:
    """Return path -> text of the struct of the params, and of its parser."""
    members = [
        with_comment(f"    {cxx_type(param)} {param.name}{cxx_default(param)};", param.doc)
        for param in spec.params
    ]
    own = {"other": "this->other"}  # the name of operator=='s argument
    equal = [f"{own.get(name, name)} == other.{name}" for name in [p.name for p in spec.params]]
    own_name = f"struct {where.title}Param final"
    base = f": public ir::TypedAttr<{where.title}Param>"
    is_short = len(f"{own_name} {base} {{") <= LINE_LENGTH
    kinds = {param.type.onnx for param in spec.params}
    checked = [param for param in spec.params if is_checked(param)]
    wanted = {
        "narrow": kinds & {"int", "ints"},
        "count": kinds & {"ints", "floats"},
        **{kind: kind in kinds for kind in ("int", "float", "string", "ints", "floats")},
        "refuse": checked,
    }
    readers = [
        render(f"{_TEMPLATES}/reader_{name}.cc") for name, is_wanted in wanted.items() if is_wanted
    ]
    named = {"space": where.folder, "title": where.title}
    return {
        f"{where.param}.h": render(
            f"{_TEMPLATES}/param.h",
            struct=f"{own_name} {base}" if is_short else f"{own_name}\n    {base}",
            guard=_guard(where.param),
            members="\n".join(members),
            equal=_returned(equal, "&&", 8),
            **named,
        ),
        f"{where.parser}.h": render(
            f"{_TEMPLATES}/parse_param.h",
            guard=_guard(where.parser),
            **_parser_functions(where, ");"),
            **named,
        ),
        f"{where.parser}.cc": render(
            f"{_TEMPLATES}/parse_param.cc",
            path=where.parser,
            param=where.param,
            is_known=_returned([f'name == "{param.name}"' for param in spec.params], "||", 4),
            readers="\n".join(readers),
            reads="\n".join(map(_read, spec.params)),
            checks="\n".join([_IF_READ, *map(_check, checked), ""]) if checked else "",
            writes="\n".join(map(_write, spec.params)),
            **_parser_functions(where, ")"),
            **named,
        ),
    }


def _parser_functions(where: Names, closing: str) -> dict[str, str]:
    return {
        "parse": wrapped(
            f"ppl::common::RetCode Parse{where.title}Param(",
            [
                *("const ::onnx::NodeProto &pb", "const onnx::ParamParserExtraArgs &"),
                *("ir::Node *", "ir::Attr *arg"),
            ],
            closing,
        ),
        "pack": wrapped(
            f"ppl::common::RetCode Pack{where.title}Param(",
            ["const ir::Node *", "const ir::Attr *arg", "::onnx::NodeProto *pb"],
            closing,
        ),
    }


def _returned(conditions: list[str], operator: str, indent: int) -> str:
    """Return the statement that returns conditions, joined by `&&` or `||`."""
    line = f"{' ' * indent}return {f' {operator} '.join(conditions)};"
    if len(line) <= LINE_LENGTH:
        return line
    below = f" {operator}\n{' ' * (indent + 4)}".join(conditions)
    return f"{' ' * indent}return {below};"


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


_LAYOUT_DOC = (
    "Returns the data format of the inputs if the math can take them as they are, else NDARRAY: "
    "several inputs must have one format and one known shape."
)
_FORMAT = "ppl::common::dataformat_t FormatOf{title}(const InputOutputInfo &info)"
_ROWS = """\
    status = DescribeAsRows(info, inputs, &outputs[0]);
    if (status != RC_SUCCESS) {
        return status;
    }
"""


def _math(spec: OpSpec, where: Names) -> dict[str, str]:
    """Return path -> text of the functions for the engines."""
    title, any_layout = where.title, settings(spec).takes_any_layout
    types = [f"{output.name} has {output.dtype}, " for output in spec.outputs if output.dtype]
    others = len(types) < len(spec.outputs)
    rest = ("the others have " if types else "") + "that of the first input" if others else ""
    doc = f"Returns the data type of an output: {''.join(types)}{rest}".rstrip(", ")
    info, attributes = "InputOutputInfo *info", "const ir::Attr *arg"
    compute = [info, attributes, f"{title}Memory *memory"]
    named = {"name": spec.name, "space": where.folder, "title": title}
    formats = f"{comment(_LAYOUT_DOC)}\n{_FORMAT.format(title=title)};\n\n"
    arguments = ["inputs", "ParamsOf(arg)", "outputs"]
    return {
        f"{where.math}.h": render(
            f"{_TEMPLATES}/math.h",
            guard=_guard(where.math),
            type_of_doc=comment(f"{doc}."),
            reshape=wrapped(f"ppl::common::RetCode Reshape{title}(", [info, attributes], ");"),
            compute=wrapped(f"ppl::common::RetCode Compute{title}(", compute, ");"),
            type_of=wrapped(
                f"ppl::common::datatype_t TypeOf{title}Output(",
                ["uint32_t index", "ppl::common::datatype_t first_input"],
                ");",
            ),
            layout_format=formats if any_layout else "",
            **named,
        ),
        f"{where.math}.cc": render(
            f"{_TEMPLATES}/math.cc",
            path=where.math,
            glue=where.glue,
            param_include=f'#include "{where.param}.h"\n' if spec.params else "",
            compute=wrapped(f"RetCode Compute{title}(", compute, ")"),
            run=wrapped(
                f"    const char *problem = Run{title}(", [*arguments, "&memory->kept"], ");"
            ),
            infer_call=wrapped(f"    const char *problem = InferShapesOf{title}(", arguments, ");"),
            input_count=str(len(spec.inputs)),
            output_count=str(len(spec.outputs)),
            params_function=_params_of(spec, where),
            type_of=_type_of(spec),
            layout_check="" if any_layout else render(f"{_TEMPLATES}/layout_check.cc"),
            layout_rows=render(f"{_TEMPLATES}/layout_rows.cc") if any_layout else "",
            layout_format=render(f"{_TEMPLATES}/layout_format.cc", title=title)
            if any_layout
            else "",
            describe_rows=_ROWS if any_layout else "",
            **named,
        ),
    }


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


def _glue(spec: OpSpec, where: Names) -> dict[str, str]:
    """Return path -> text of the glue to the math in C."""
    memory = f"{where.title}Memory"
    views = [
        f"        {{&{array}[{index}], &{struct}.{tensor.name}, {is_output}}}, // {when}"
        for array, struct, tensors, is_output, when in (
            ("inputs", "in", spec.inputs, "false", "read before the math"),
            ("outputs", "out", spec.outputs, "true", "written after it"),
        )
        for index, tensor in enumerate(tensors)
    ]
    named = {"stem": where.stem, "lower": spec.lower, "space": where.folder, "title": where.title}

    def thread_functions(text: str) -> str:
        return text.format(title=where.title) if spec.has_threads else ""

    return {
        f"{where.glue}.h": render(
            f"{_TEMPLATES}/glue.h",
            assignment=wrapped(f"    {memory} &operator=(", [f"const {memory} &"], ") = delete;"),
            guard=_guard(where.glue),
            thread_functions=thread_functions(_THREADS_H),
            name=spec.name,
            count=str(len(spec.inputs) + len(spec.outputs)),
            **_glue_functions(spec, where, ");"),
            **named,
        ),
        f"{where.glue}.cc": render(
            f"{_TEMPLATES}/glue.cc",
            threads=c_parts.definitions(spec),
            thread_functions=thread_functions(_THREADS_CC),
            path=where.glue,
            half=half_type(spec),
            compute=wrapped(
                f"        problem = {spec.lower}_compute(",
                ["&in", "&params", "&out", *(["&memory->table"] if has_table(spec) else ())],
                ");",
            ),
            views="\n".join(views),
            infer_body=_infer(spec),
            **_glue_functions(spec, where, ")"),
            **named,
        ),
    }


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
    parts = {
        "op": (where.op(engine), _op(spec, where, engine)),
        "kernel": (where.kernel(engine), _kernel(spec, where)),
    }
    return {
        f"{path}.{suffix}": render(
            f"{_TEMPLATES}/{engine}_{part}.{suffix}",
            path=path,
            guard=_guard(path),
            **common,
            **values,
        )
        for part, (path, values) in parts.items()
        for suffix in ("h", "cc")
    }


_DENSE = {"x86": "", "riscv": " By default, the op would get any format."}


def _op(spec: OpSpec, where: Names, engine: str) -> dict[str, str]:
    """Return the values of an op's templates."""
    space, title, has_params = f"nn::{where.folder}", where.title, bool(spec.params)
    if any_layout := settings(spec).takes_any_layout:
        doc = "Requests the tensors in the format that they have, if the math can take them so."
        chosen = f"    const dataformat_t chosen = {space}::FormatOf{title}(info);\n\n"
    else:
        doc, chosen = f"Requests dense tensors for the math.{_DENSE[engine]}", ""
    member = f"\nprivate:\n    std::shared_ptr<{space}::{title}Param> param_;\n"
    create = f"CreateKernelImplWith{'' if has_params else 'out'}Param<{title}Kernel>"

    def select(function: str, item: str, arguments: list[str]) -> str:
        selected = [
            f"std::vector<data{item}_t> *selected_{side}_{item}s" for side in ("input", "output")
        ]
        return wrapped(f"RetCode {title}Op::Select{function}(", [*arguments, *selected], ")")

    return {
        "kernel": where.kernel(engine),
        "param_member": member if has_params else "",
        "init": _init(where, has_params),
        "create": f"{create}({'param_.get()' if has_params else ''})",
        "output_type": wrapped(
            f"        selected_output_types->at(i) = {space}::TypeOf{title}Output(",
            ["i", "selected_input_types->at(0)"],
            ");",
        ),
        "select_types": select(
            "DataType", "type", ["const InputOutputInfo &info", "datatype_t forward_precision"]
        ),
        "select_format": select(
            "Format", "format", [f"const InputOutputInfo{' &info' if any_layout else ' &'}"]
        ),
        "format_doc": comment(doc),
        "select_formats": chosen,
        "format": "chosen" if any_layout else "DATAFORMAT_NDARRAY",
    }


def _kernel(spec: OpSpec, where: Names) -> dict[str, str]:
    """Return the values of a kernel's templates."""
    space, title = f"nn::{where.folder}", where.title
    param_type, has_params, threads = f"{space}::{title}Param", bool(spec.params), spec.has_threads
    return {
        "set_param": _SET_PARAM.format(type=param_type) if has_params else "",
        "param_member": f"    const {param_type} *param_ = nullptr;\n" if has_params else "",
        "compute": wrapped(
            f"    return {space}::Compute{title}(",
            ["ctx", "param_" if has_params else "nullptr", "&memory_"],
            ");",
        ),
        "retain": f"\n        {space}::RetainThreadsOf{title}();" if threads else "",
        "destructor": _DESTRUCTOR.format(space=space, title=title) if threads else "",
    }


_DESTRUCTOR = """
    ~{title}Kernel() override
    {{
        {space}::ReleaseThreadsOf{title}();
    }}
"""


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
