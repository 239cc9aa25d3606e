"""The C of an elementwise operator: the loop around the user's function of one element."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from opkit.common.code_layout import comment, wrapped
from opkit.common.text import c_string, render
from opkit.description.spec import OpSpec, Tensor
from opkit.description.types import ELEMENT_TYPES
from opkit.files.operator_texts import (
    CASE_DTYPE,
    argument_lines,
    compute_declaration,
    first_dtype,
    is_copy,
    param_doc,
    tensor_doc,
)
from opkit.files.source_check import PLACEHOLDER, without_comments

_NOTICE = "/* Generated from op.yml by opkit. Do not edit: the next build overwrites it. */\n"


def generated_loop(spec: OpSpec, math: str) -> str:
    """Return the text of generated/<op>_compute.h, the loop that calls `<op>_of`.

    Args:
        spec: the operator.
        math: the text of `<op>_scalar.h`; with `<op>_row` in it, the loop calls that instead.
    """
    return _loop(spec, math, _NOTICE, has_table(spec), include="../include/", scalar="../")


def own_loop(spec: OpSpec, math: str) -> str:
    """Return the same loop as the user's <op>_compute.h, for an operator that was elementwise."""
    return _loop(spec, math, "", tabulates=False, include="include/", scalar="")


def has_table(spec: OpSpec) -> bool:
    """Whether halves may be looked up in a table: one input, and params that a copy keeps."""
    return (
        spec.elementwise
        and len(spec.inputs) == 1
        and {_stored_as(spec, each) for each in (*spec.inputs, *spec.outputs)} == {"float"}
        and not any(param.type.is_list or param.type.is_text for param in spec.params)
    )


def _loop(spec: OpSpec, math: str, notice: str, tabulates: bool, include: str, scalar: str) -> str:
    """Return the loop.

    Args:
        spec: the operator.
        math: the text of `<op>_scalar.h`.
        notice: the first line.
        tabulates: whether the last argument of `<op>_compute` is a table of halves.
        include: the folder of opkit's headers.
        scalar: the folder of the user's.
    """
    names = [input_.name for input_ in spec.inputs]
    (output,) = spec.outputs
    tensors = [*((f"inputs->{each.name}", each) for each in spec.inputs)]
    count = len(names)
    arguments = [
        f"struct {spec.lower}_block block",
        "size_t count",
        f"const struct {spec.lower}_params *params",
    ]

    def function(start: str, name: str) -> str:
        return wrapped(f"{start} {spec.lower}_compute_{name}(", arguments, ")")

    return render(
        "files/templates/elementwise_compute.h",
        name=spec.name,
        lower=spec.lower,
        upper=spec.lower.upper(),
        notice=notice,
        include=include,
        scalar=scalar,
        block_function=function("OPKIT_ELEMENT_LOOP void", "block"),
        widest=_widest(spec, arguments),
        fp16_function=_fp16_function(spec, function) if spec.fp16_math else "",
        compute=(_COMPUTE_FP16 if spec.fp16_math else _COMPUTE).format(lower=spec.lower),
        params=wrapped(
            f"    const struct {spec.lower}_params *params = ",
            [f"(const struct {spec.lower}_params *)loop->params"],
            ";",
        ),
        members="\n".join(
            [
                *(f"    const {_stored_as(spec, each)} *{each.name};" for each in spec.inputs),
                f"    {_stored_as(spec, output)} *{output.name};",
            ]
        ),
        call=_call(spec, math),
        count=str(count + 1),
        output=str(count),
        loads="\n".join(
            [
                *(
                    _field(
                        f"(const {_stored_as(spec, each)} *)opkit_load_block(",
                        ["loop", str(index), "begin", "count", f"&buffers[{index}]"],
                    )
                    for index, each in enumerate(spec.inputs)
                ),
                _field(
                    f"({_stored_as(spec, output)} *)opkit_output_block(",
                    ["loop", "begin", f"&buffers[{count}]"],
                ),
            ]
        ),
        declaration=compute_declaration(
            spec, *(["struct opkit_half_table *table"] if tabulates else ())
        ),
        loops="tabulate" if tabulates else "elementwise",
        about=_ABOUT_TABLE if tabulates else _ABOUT,
        run=_run(spec, tabulates),
        tensors=", ".join(f"&{place}" for place, _ in tensors),
        checks="\n".join(
            _check(spec, place, tensor)
            for place, tensor in (*tensors, (f"outputs->{output.name}", output))
        ),
        inputs=str(count),
        output_name=output.name,
        mismatch=_mismatch(names, output.name),
    )


def _call(spec: OpSpec, math: str) -> str:
    """Return the statements that compute a block."""
    inputs = [f"block.{each.name}" for each in spec.inputs]
    output = f"block.{spec.outputs[0].name}"
    if re.search(rf"\b{spec.lower}_row\s*\(", without_comments(math)):
        return wrapped(f"    {spec.lower}_row(", [*inputs, output, "count", "&values"], ");")
    elements = [*(f"{name}[i]" for name in inputs), "&values"]
    call = wrapped(f"        {output}[i] = {spec.lower}_of(", elements, ");")
    return f"    OPKIT_VECTORIZE\n    for (size_t i = 0; i < count; i++) {{\n{call}\n    }}"


def _widest(spec: OpSpec, arguments: Sequence[str]) -> str:
    """Return the definition of the function of a block for the widest vectors."""
    parameters = wrapped("    (", arguments, ")").lstrip()
    return wrapped(
        "OPKIT_WIDEST(",
        [f"{spec.lower}_compute_block", parameters, "(block, count, params)"],
        ")",
    )


_COMPUTE = "        {lower}_compute_block_widest(block, count, params);"
_COMPUTE_FP16 = """\
#if defined(OPKIT_FP16)
        if (opkit_has_fp16()) {{
            {lower}_compute_fp16(block, count, params);
        }} else
#endif
        {{
            {lower}_compute_block_widest(block, count, params);
        }}"""


def _fp16_function(spec: OpSpec, function: Callable[[str, str], str]) -> str:
    """Return the block in halves, between blank lines.

    Args:
        spec: the operator.
        function: (its start, the end of its name) -> the head of a function of a block.
    """
    output = f"        block.{spec.outputs[0].name}[i] = "
    elements = [f"(opkit_fp16)block.{each.name}[i]" for each in spec.inputs]
    call = wrapped(f"{output}(float){spec.lower}_of_half(", [*elements, "&values"], ");")
    return f"""
#if defined(OPKIT_FP16)
/* The same in halves, for processors with their arithmetic: 8 at a time. */
{function("OPKIT_FP16 __attribute__((flatten)) static void", "fp16")}
{{
    const struct {spec.lower}_params values = *params;

    OPKIT_FP16_LOOP
    for (size_t i = 0; i < count; i++) {{
{call}
    }}
}}
#endif
"""


_ABOUT = """\
/* Computes the output. Returns NULL, or an error message: it is logged, and the call fails. */"""
_ABOUT_TABLE = """\
/*
 * Computes the output. `table` is kept by the node for results of halves; NULL: there is none.
 * Returns NULL, or an error message: it is logged, and the call fails.
 */"""


def _run(spec: OpSpec, tabulates: bool) -> str:
    """Return the statement that runs the loop."""
    part = f"{spec.lower}_compute_part"
    if not tabulates:
        return wrapped("    opkit_parallel_for(", ["loop.size", "OPKIT_GRAIN", part, "&loop"], ");")
    size = "sizeof *params" if spec.params else "0"
    return wrapped("    opkit_run_loop(", ["table", "&loop", size, part], ");")


def half_type(spec: OpSpec) -> str:
    """Return the type in which the math gets tensors of halves: as they are, or as floats."""
    return "OPKIT_FLOAT16" if spec.elementwise else "OPKIT_FLOAT32"


def _field(call: str, arguments: list[str]) -> str:
    return wrapped(f"            {call}", arguments, "),")


def _check(spec: OpSpec, place: str, tensor: Tensor) -> str:
    """Return the statement that refuses a tensor of another type."""
    dtype = _dtype(spec, tensor)
    stored = ELEMENT_TYPES[dtype].computed_as
    assert stored is not None
    expected = "float16 or float32" if stored == "float32" else dtype
    return (
        f"    if (!opkit_holds(&{place}, OPKIT_{stored.upper()})) {{\n"
        f'        return "{tensor.name} must be {expected}";\n    }}'
    )


def _mismatch(inputs: list[str], output: str) -> str:
    """Return the message about shapes, a C string."""
    if len(inputs) == 1:
        return c_string(f"{output} must have the shape of {inputs[0]}")
    names = f"{', '.join(inputs[:-1])} and {inputs[-1]}"
    return c_string(f"{output} must have the shape to which {names} broadcast")


def _dtype(spec: OpSpec, tensor: Tensor) -> str:
    """Return the dtype of an input or of the output."""
    others = first_dtype(spec) if tensor in spec.outputs else CASE_DTYPE
    return tensor.dtype or others


def _stored_as(spec: OpSpec, tensor: Tensor) -> str:
    """Return the C type of the elements in memory."""
    stored = ELEMENT_TYPES[_dtype(spec, tensor)].computed_as
    assert stored is not None
    return ELEMENT_TYPES[stored].c_type


def number_type(spec: OpSpec, tensor: Tensor) -> str:
    """Return the C type of an argument of `<op>_of`, or of its result."""
    return "bool" if _dtype(spec, tensor) == "bool" else _stored_as(spec, tensor)


def scalar_file(spec: OpSpec) -> str:
    """Return the initial text of <op>_scalar.h, with the user's function of one element."""
    (output,) = spec.outputs
    names = {each: _argument(each) for each in spec.inputs}
    first = spec.inputs[0]
    copies = is_copy(spec, output)
    unused = ["params", *(names[each] for each in spec.inputs[1 if copies else 0 :])]
    so_far = "the result is the first input" if copies else "the result is 0"
    return render(
        "files/templates/scalar.h",
        name=spec.name,
        lower=spec.lower,
        upper=spec.lower.upper(),
        output=output.name,
        arguments=argument_lines(
            [
                *((names[each], tensor_doc(each)) for each in spec.inputs),
                *((f"params->{each.name}", param_doc(each)) for each in spec.params),
            ]
        ),
        declaration=declaration(spec),
        unused="\n".join(f"    (void){name};" for name in unused),
        so_far=comment(f"{PLACEHOLDER} Until then, {so_far}.", indent=4),
        result=names[first] if copies else "0",
        half=_half_function(spec, unused, names[first] if copies else "0"),
    )


def _half_function(spec: OpSpec, unused: list[str], result: str) -> str:
    """Return the initial function of halves, with `fp16_math`."""
    if not spec.fp16_math:
        return ""
    lines = "\n".join(f"    (void){name};" for name in unused)
    return f"""
#if defined(OPKIT_FP16)
/* The same of halves, for processors with their arithmetic. */
{half_declaration(spec)}
{{
{lines}

    return {result};
}}
#endif
"""


def declaration(spec: OpSpec) -> str:
    """Return the declaration of `<op>_of`, the user's function of one element."""
    return _declaration(
        spec,
        f"static inline {number_type(spec, spec.outputs[0])} {spec.lower}_of(",
        [number_type(spec, each) for each in spec.inputs],
    )


def half_declaration(spec: OpSpec) -> str:
    """Return the declaration of `<op>_of_half`, the same of halves."""
    start = f"OPKIT_FP16_INLINE opkit_fp16 {spec.lower}_of_half("
    return _declaration(spec, start, ["opkit_fp16" for _ in spec.inputs])


def _declaration(spec: OpSpec, start: str, types: list[str]) -> str:
    named = [f"{type_} {_argument(each)}" for type_, each in zip(types, spec.inputs, strict=True)]
    return wrapped(start, [*named, f"const struct {spec.lower}_params *params"], ")")


def _argument(input_: Tensor) -> str:
    """Return the name of an argument; the last one is `params`."""
    return "params_" if input_.name == "params" else input_.name
