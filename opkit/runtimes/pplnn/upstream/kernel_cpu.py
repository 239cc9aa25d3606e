"""The math in ppl.kernel.cpu, as ppl.kernel.cpu's own operators are written.

That repository has no .clang-format; its style is another than ppl.nn's.
"""

from __future__ import annotations

from opkit.common.text import render
from opkit.description.spec import Param
from opkit.runtimes.pplnn.upstream.form import TEMPLATES, Form, file_text, guard

_PREFIX = "__ST_"


def kernel_files(form: Form) -> dict[str, str]:
    """Return path -> text of the new files in ppl.kernel.cpu.

    Raises:
        OpkitError: the math is not one file.
    """
    header = f"ppl/kernel/x86/{form.element}/{form.stem}.h"
    folder = f"ppl/kernel/x86/{form.element}/{form.stem}"
    common = f"{folder}/{form.stem}_common.h"
    template, values = _function(form)
    draft = render(f"{TEMPLATES}{template}", own="", prefix="opkit_", upper="OPKIT_", **values)
    math = form.math(form.spec.math_file, draft)
    upper = math.prefix.upper()
    return {
        f"include/{header}": file_text(
            "compute.h",
            form.author,
            guard=guard(header, _PREFIX),
            declaration=values["declaration"],
        ),
        f"src/{common}": file_text(
            "common.h", form.author, guard=guard(common, _PREFIX), helpers=math.helpers
        ),
        f"src/{folder}/{form.stem}_{form.element}.cpp": file_text(
            template,
            form.author,
            own=math.own,
            prefix=math.prefix,
            upper=upper,
            **{name: text.replace("OPKIT_", upper) for name, text in values.items()},
        ),
    }


def _function(form: Form) -> tuple[str, dict[str, str]]:
    """Return the template of the source, and its values besides the user's text."""
    spec, local = form.spec, form.locals
    output = local[spec.outputs[0].name]
    assignments = []
    for each in spec.params:
        name = local[each.name]
        value = f"{{{name}_count, {name}}}" if each.type.is_list else name
        assignments.append(f"    math_params.{each.name} = {value};\n")
    values = {
        "element": form.element,
        "stem": form.stem,
        "lower": spec.lower,
        "declaration": _declaration(form),
        "params": "".join(assignments) + ("\n" if spec.params else ""),
    }
    if not spec.elementwise:
        conditions = [  # that a tensor cannot be taken
            f"!set_tensor({local[each.name]}_shape, OPKIT_{form.stored_as(each).upper()}, "
            f"{local[each.name]}, &math_{side}.{each.name})"
            for side, tensors in (("inputs", spec.inputs), ("outputs", spec.outputs))
            for each in tensors
        ]
        return "compute.cpp", {**values, "sets": " ||\n        ".join(conditions)}
    if len(spec.inputs) == 1:
        first = local[spec.inputs[0].name]
        return "compute_element.cpp", {**values, "output": output, "first": first}
    inputs = [local[each.name] for each in spec.inputs]
    elements = [
        f"                {name}[offsets[{k}] + i * math_strides[{k}][math_last]],"
        for k, name in enumerate(inputs)
    ]
    return "compute_broadcast.cpp", {
        **values,
        "output": output,
        "count": str(len(inputs)),
        "shapes": ", ".join(f"{name}_shape" for name in inputs),
        "arguments": "\n".join(elements),
    }


def _declaration(form: Form) -> str:
    """Return the declaration of the function, without its end."""
    spec, local = form.spec, form.locals
    arguments = [
        f"const ppl::common::TensorShape *{local[each.name]}_shape" for each in form.shaped
    ]
    arguments += [f"const {form.c_type(each)} *{local[each.name]}" for each in spec.inputs]
    arguments += [each for param in spec.params for each in _argument(form, param)]
    arguments += [f"{form.c_type(each)} *{local[each.name]}" for each in spec.outputs]
    below = ",\n    ".join(arguments)
    return f"ppl::common::RetCode {form.function}(\n    {below})"


def _argument(form: Form, param: Param) -> list[str]:
    name = form.locals[param.name]
    if param.type.is_text:
        return [f"const char *{name}"]
    if param.type.is_list:
        return [f"const {param.type.element.c_type} *{name}", f"const uint64_t {name}_count"]
    return [f"const {param.type.c_type} {name}"]
