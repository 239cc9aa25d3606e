"""An operator's files in ppl.nn: params, parser, shape rule, and op and kernel for x86."""

from __future__ import annotations

from textwrap import indent

from opkit.common.text import c_string, render
from opkit.description.spec import Param, Tensor
from opkit.files.c_parts import CXX, allowed_text, is_checked, refusal
from opkit.runtimes.pplnn.cxx_parts import cxx_default, cxx_type, packed
from opkit.runtimes.pplnn.shape_rule import shapes_file
from opkit.runtimes.pplnn.sources import has_shape_rule
from opkit.runtimes.pplnn.upstream.form import (
    LINE_LENGTH,
    TEMPLATES,
    Form,
    file_text,
    filled,
    guard,
    joined,
    line_comment,
)

_PREFIX = "_ST_HPC_"
_TRACE = {"bool": "%d", "float": "%f"}
"""Kind of number -> its format; others by their bits."""
_LOAD = """\
    auto status = GenericLoadParam(options, &param_);
    if (status != RC_SUCCESS) {
        LOG(ERROR) << "load param failed: " << GetRetCodeStr(status);
        return status;
    }

"""


def nn_files(form: Form) -> dict[str, str]:
    """Return path -> text of the new files in ppl.nn.

    Raises:
        OpkitError: the shape rule is not one file.
    """
    files = {**_op(form), **_kernel(form)}
    if form.spec.params:
        files |= {**_params(form), **_parser(form)}
    if not _is_shape_of_first(form):
        files |= _reshape(form)
    return {f"src/{path}": text for path, text in files.items()}


def _files(form: Form, path: str, texts: dict[str, dict[str, str]]) -> dict[str, str]:
    """Return path -> text.

    Args:
        form: the operator.
        path: the path without suffix.
        texts: template, whose suffix is the file's -> its values.
    """
    common = {"space": form.space, "title": form.title, "stem": form.stem}
    found = {}
    for template, values in texts.items():
        file = f"{path}.{template.rpartition('.')[2]}"
        macro = guard(file, _PREFIX)
        found[file] = file_text(template, form.author, **{"guard": macro, **common, **values})
    return found


def _param_type(form: Form) -> str:
    return f"ppl::nn::{form.space}::{form.title}Param"


def _param_include(form: Form) -> str:
    if not form.spec.params:
        return ""
    return f'#include "ppl/nn/params/{form.space}/{form.stem}_param.h"\n'


# ---- Params --------------------------------------------------------------------------------------


def _params(form: Form) -> dict[str, str]:
    params = form.spec.params
    values = {
        "members": "".join(
            f"{line_comment(each.doc, 4)}    {cxx_type(each)} {each.name};\n" for each in params
        ),
        "equal": joined(
            "        return ", [f"this->{p.name} == p.{p.name}" for p in params], ";", indent=12
        ),
    }
    return _files(form, f"ppl/nn/params/{form.space}/{form.stem}_param", {"param.h": values})


def _parser(form: Form) -> dict[str, str]:
    parse = f"RetCode Parse{form.title}Param("
    pack = f"RetCode Pack{form.title}Param("
    types = {
        parse: ["const ::onnx::NodeProto&", "const onnx::ParamParserExtraArgs&", "ir::Node*"],
        pack: ["const ir::Node*"],
    }
    header = {
        "parse": filled(f"ppl::common::{parse}", [*types[parse], "ir::Attr*"], ");"),
        "pack": filled(
            f"ppl::common::{pack}", [*types[pack], "const ir::Attr*", "::onnx::NodeProto*"], ");"
        ),
    }
    node = "const ::onnx::NodeProto& pb_node"
    source = {
        "parse": filled(parse, [node, *types[parse][1:], "ir::Attr* arg"], ") {"),
        "pack": filled(
            pack, [*types[pack], "const ir::Attr* arg", "::onnx::NodeProto* pb_node"], ") {"
        ),
        "reads": "\n".join(map(_read, form.spec.params)),
        "writes": "\n".join(
            filled(
                "    onnx::utils::SetNodeAttr(",
                ["pb_node", f'"{each.name}"', packed(each, f"param->{each.name}")],
                ");",
            )
            for each in form.spec.params
        ),
    }
    path = f"ppl/nn/models/onnx/parsers/{form.space}/parse_{form.stem}_param"
    return _files(form, path, {"parse_param.h": header, "parse_param.cc": source})


def _read(param: Param) -> str:
    """Return the statements that read an attribute."""
    name, initial = param.name, cxx_default(param).removeprefix(" = ")
    arguments = ["pb_node", f'"{name}"', f"&param->{name}"]
    if not param.type.is_list and (not param.type.is_text or initial):
        arguments.append(initial)
    get = "onnx::utils::GetNodeAttr("
    if param.default is None:
        missing = filled(f"    if (!{get}", arguments, ")) {")
        lines = _checked(missing, f"attribute[{name}] is missing.", "RC_NOT_FOUND")
    else:
        lines = [filled(f"    {get}", arguments, ");")]
        if param.type.is_list:
            lines.insert(0, filled(f"    param->{name} = {{", _items(initial), "};"))
    if param.length:
        message = f"attribute[{name}] must have {param.length} items."
        condition = f"    if (param->{name}.size() != {param.length}) {{"
        lines += _checked(condition, message, "RC_INVALID_VALUE")
    if is_checked(param):
        lines += _refuse(param)
    return "\n".join(lines)


def _refuse(param: Param) -> list[str]:
    """Return the lines that refuse values that op.yml does not allow."""
    place = "item" if param.type.is_list else f"param->{param.name}"
    line_length = LINE_LENGTH - len("    ") * param.type.is_list
    condition = refusal(param, place, "    if (", ") {", CXX, line_length)
    message = c_string(f"attribute[{param.name}] must be {allowed_text(param)}.")
    lines = _checked(condition, message[1:-1], "RC_INVALID_VALUE")
    if not param.type.is_list:
        return lines
    loop = f"    for ({param.type.element.c_type} item : param->{param.name}) {{"
    return [loop, indent("\n".join(lines), "    "), "    }"]


def _items(initializer: str) -> list[str]:
    """Return the items of a braced list of numbers."""
    return initializer.strip("{}").split(", ")


def _checked(condition: str, message: str, status: str) -> list[str]:
    """Return the lines that log a message and return a status after an `if` line."""
    return [condition, f'        LOG(ERROR) << "{message}";', f"        return {status};", "    }"]


# ---- Shapes --------------------------------------------------------------------------------------


def _is_shape_of_first(form: Form) -> bool:
    first = form.spec.inputs[0].name
    return all(output.same_as == first for output in form.spec.outputs)


def _reshape(form: Form) -> dict[str, str]:
    spec = form.spec
    folder = f"ppl/nn/oputils/{form.space}"
    function = f"RetCode Reshape{form.title}("
    header = {
        "reshape": filled(f"ppl::common::{function}", ["InputOutputInfo*", "const ir::Attr*"], ");")
    }
    has_rule = has_shape_rule(spec)
    argument = "const ir::Attr* arg" if has_rule and spec.params else "const ir::Attr*"
    source = {
        "reshape": filled(function, ["InputOutputInfo* info", argument], ") {"),
        "input_count": str(len(spec.inputs)),
        "output_count": str(len(spec.outputs)),
        "copies": "".join(_copy(form, i, each) for i, each in enumerate(spec.outputs)),
    }
    path = f"{folder}/reshape_{form.stem}"
    if not has_rule:
        source["copies"] = source["copies"].rstrip("\n")
        return _files(form, path, {"reshape.h": header, "reshape.cc": source})
    params = [f"    auto param = static_cast<const {form.title}Param*>(arg);"]
    for each in spec.params:
        value = f"param->{each.name}"
        if each.type.is_list:
            value = f"{{{value}.size(), {value}.data()}}"
        elif each.type.is_text:
            value += ".c_str()"
        params.append(f"    params.{each.name} = {value};")
    loads = [
        f"Load({_SHAPE.format('*', 'In', i)}, &inputs.{each.name})"
        for i, each in enumerate(spec.inputs)
    ]
    stores = [
        f"Store(outputs.{each.name}, {_SHAPE.format('', 'Out', i)})"
        for i, each in enumerate(spec.outputs)
        if each.same_as is None
    ]
    source |= {
        "lower": spec.lower,
        "param_include": _param_include(form),
        "params": "\n".join([*params, ""]) if spec.params else "",
        "loads": "".join(_STATUS.format(call) + "\n" for call in loads),
        "stores": "\n".join(map(_STATUS.format, stores)),
    }
    draft = render(
        f"{TEMPLATES}reshape_rule.cc", space="", stem="", prefix="opkit_", upper="OPKIT_", **source
    )
    math = form.math(shapes_file(spec), draft, spec.math_file)
    rule = f"{folder}/{form.stem}_shapes"
    source |= {"prefix": math.prefix, "upper": math.prefix.upper()}
    files = _files(form, path, {"reshape.h": header, "reshape_rule.cc": source})
    return files | _files(form, rule, {"shapes.h": {"helpers": math.helpers, "own": math.own}})


_SHAPE = "{}info->Get{}put<TensorImpl>({})->GetShape()"
_STATUS = """\
    status = {};
    if (status != RC_SUCCESS) {{
        return status;
    }}"""


def _copy(form: Form, index: int, output: Tensor) -> str:
    """Return the statements that copy the shape of an input; empty for other outputs."""
    if output.same_as is None:
        return ""
    source = [each.name for each in form.spec.inputs].index(output.same_as)
    return f"""\
    const TensorShape& src{index} = *info->GetInput<TensorImpl>({source})->GetShape();
    TensorShape* dst{index} = info->GetOutput<TensorImpl>({index})->GetShape();
    if (src{index}.IsScalar()) {{
        dst{index}->ReshapeAsScalar();
    }} else {{
        dst{index}->Reshape(src{index}.GetDims(), src{index}.GetDimCount());
    }}

"""


# ---- The x86 engine ------------------------------------------------------------------------------


def _op(form: Form) -> dict[str, str]:
    has_params = bool(form.spec.params)
    kernel, reshape = f"{form.title}Kernel", not _is_shape_of_first(form)
    declaration = definition = ""
    if form.takes_any_layout:
        declaration = filled(
            "    ppl::common::RetCode SelectFormat(", _formats("ppl::common::"), ") override;"
        )
        definition = _SELECT_FORMAT.format(
            head=filled(f"RetCode {form.title}Op::SelectFormat(", _formats(""), ") {")
        )
    header = {
        "param_include": _param_include(form),
        "select_format": f"{declaration}\n" if declaration else "",
        "param_member": f"\nprivate:\n    std::shared_ptr<{_param_type(form)}> param_;\n"
        if has_params
        else "",
    }
    capture, param = ("this", "param_.get()") if has_params else ("", "nullptr")
    infer_dims = f"""\
    infer_dims_func_ = [{capture}](InputOutputInfo* info) -> RetCode {{
        return ppl::nn::{form.space}::Reshape{form.title}(info, {param});
    }};"""
    include = f'#include "ppl/nn/oputils/{form.space}/reshape_{form.stem}.h"\n'
    source = {
        "reshape_include": include if reshape else "",
        "load": _LOAD if has_params else "",
        "infer_dims": infer_dims if reshape else "    infer_dims_func_ = GenericInferDims;",
        "infer_type": _infer_type(form),
        "select_format": definition,
        "create": f"CreateKernelImplWithParam<{kernel}>(param_.get())"
        if has_params
        else f"CreateKernelImplWithoutParam<{kernel}>()",
    }
    path = f"ppl/nn/engines/x86/optimizer/ops/{form.space}/{form.stem}_op"
    return _files(form, path, {"op.h": header, "op.cc": source})


def _formats(space: str) -> list[str]:
    """Return the arguments of SelectFormat; the declaration's namespace is not the definition's."""
    selected = f"{'std::' if space else ''}vector<{space}dataformat_t>* selected"
    sides = [f"{selected}_{side}_formats" for side in ("input", "output")]
    return ["const InputOutputInfo& info", *sides]


_SELECT_FORMAT = """\
{head}
    selected_input_formats->at(0) = info.GetInput<TensorImpl>(0)->GetShape()->GetDataFormat();
    selected_output_formats->at(0) = info.GetInput<TensorImpl>(0)->GetShape()->GetDataFormat();
    return RC_SUCCESS;
}}

"""


def _infer_type(form: Form) -> str:
    fixed = [
        f"        info->GetOutput<TensorImpl>({index})->GetShape()->SetDataType("
        f"DATATYPE_{output.dtype.upper()});"
        for index, output in enumerate(form.spec.outputs)
        if output.dtype
    ]
    if not fixed:
        return "    infer_type_func_ = GenericInferType;\n"
    generic = ["        GenericInferType(info);"] if len(fixed) < len(form.spec.outputs) else []
    body = "\n".join([*generic, *fixed])
    return f"    infer_type_func_ = [](InputOutputInfo* info) -> void {{\n{body}\n    }};\n"


def _kernel(form: Form) -> dict[str, str]:
    spec, local = form.spec, form.locals
    set_param = (
        f"\n    void SetParam(const {_param_type(form)}* p) {{\n        param_ = p;\n    }}\n"
    )
    member = f"\nprivate:\n    const {_param_type(form)}* param_ = nullptr;\n"
    header = {
        "param_include": _param_include(form),
        "set_param": set_param if spec.params else "",
        "param_member": member if spec.params else "",
    }
    tensors = [
        f"    PPLNN_X86_REQUIRED_{side}({local[each.name]}, {index});"
        for side, all_ in (("INPUT", spec.inputs), ("OUTPUT", spec.outputs))
        for index, each in enumerate(all_)
    ]
    source = {
        "element": form.element,
        "tensors": "\n".join(tensors),
        "inputs": "".join(_traced("Input", local[each.name]) for each in spec.inputs),
        "params": "".join(map(_trace, spec.params)),
        "outputs": "\n".join(
            f"    PPLNN_X86_REALLOC_TENSOR_BUFFER({local[each.name]});\n"
            + _traced("Output", local[each.name])
            for each in spec.outputs
        ),
        "checks": "\n".join(_check(form, each) for each in spec.inputs),
        "call": filled(f"    return kernel::x86::{form.function}(", _arguments(form), ");"),
    }
    path = f"ppl/nn/engines/x86/kernels/{form.space}/{form.stem}_kernel"
    return _files(form, path, {"kernel.h": header, "kernel.cc": source})


def _traced(side: str, name: str) -> str:
    return (
        f'    PPLNN_X86_DEBUG_TRACE("{side} [{name}]:\\n");\n'
        f"    PPL_X86_TENSOR_PRINT_DEBUG_MSG({name});\n"
    )


def _trace(param: Param) -> str:
    """Return the line that traces a param; empty for a list."""
    if param.type.is_list:
        return ""
    value, element = f"param_->{param.name}", param.type.element
    if param.type.is_text:
        form, value = "%s", f"{value}.c_str()"
    elif element.bits == 64 and element.kind != "float":
        form, value = "%lld", f"static_cast<long long>({value})"
    else:
        form = _TRACE.get(element.kind, "%u" if element.kind == "uint" else "%d")
    arguments = [f'"{param.name}: {form}\\n"', value]
    return filled("    PPLNN_X86_DEBUG_TRACE(", arguments, ");") + "\n"


def _check(form: Form, input_: Tensor) -> str:
    """Return the statement that refuses an input of another data type."""
    name = form.locals[input_.name]
    dtype = form.dtype(input_).upper()
    return f"""\
    if ({name}->GetShape()->GetDataType() != ppl::common::DATATYPE_{dtype}) {{
        LOG(ERROR) << "input[{name}] must be {dtype}.";
        return ppl::common::RC_UNSUPPORTED;
    }}"""


def _arguments(form: Form) -> list[str]:
    """Return the arguments of the math's function."""
    spec, local = form.spec, form.locals
    arguments = [f"{local[each.name]}->GetShape()" for each in form.shaped]
    arguments += [
        f"{local[each.name]}->GetBufferPtr<const {form.c_type(each)}>()" for each in spec.inputs
    ]
    for each in spec.params:
        value = f"param_->{each.name}"
        if each.type.is_list:
            arguments += [f"{value}.data()", f"{value}.size()"]
        else:
            arguments.append(f"{value}.c_str()" if each.type.is_text else value)
    arguments += [
        f"{local[each.name]}->GetBufferPtr<{form.c_type(each)}>()" for each in spec.outputs
    ]
    return arguments
