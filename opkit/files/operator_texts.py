"""What generated files say of an operator's tensors and params: their descriptions and dtypes."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from opkit.common.code_layout import LINE_LENGTH, wrapped
from opkit.common.text import escape_comment
from opkit.description.spec import OpSpec, Param, Tensor

CASE_DTYPE = "float16"
"""The dtype of tensors in generated cases, if op.yml declares none."""


def first_dtype(spec: OpSpec) -> str:
    """Return the dtype of the first input in the cases."""
    return spec.inputs[0].dtype or CASE_DTYPE


def is_copy(spec: OpSpec, output: Tensor) -> bool:
    """Whether the generated math can copy the first input to an output."""
    return (output.dtype or first_dtype(spec)) == first_dtype(spec)


def has_only(spec: OpSpec, dtype: str) -> bool:
    """Whether all tensors have a dtype in the generated cases."""
    inputs = {input_.dtype or CASE_DTYPE for input_ in spec.inputs}
    outputs = {output.dtype or first_dtype(spec) for output in spec.outputs}
    return inputs | outputs == {dtype}


def free_name(name: str, spec: OpSpec) -> str:
    """Return a variable name that is not a parameter's."""
    while any(parameter.name == name for parameter in spec.parameters):
        name += "_"
    return name


def argument_lines(arguments: Sequence[tuple[str, str]]) -> str:
    """Return the lines of names, aligned, and their descriptions."""
    width = max(len(name) for name, _ in arguments)
    return "\n".join(
        comment_lines(f" *   {name.ljust(width)}  ", " ".join(doc.split()))
        for name, doc in arguments
    )


def compute_declaration(spec: OpSpec, *more: str) -> str:
    """Return the declaration of `<op>_compute`, perhaps with more arguments."""
    arguments = [
        f"const struct {spec.lower}_inputs *inputs",
        f"const struct {spec.lower}_params *params",
        f"struct {spec.lower}_outputs *outputs",
    ]
    return wrapped(f"static const char *{spec.lower}_compute(", [*arguments, *more], ")")


def tensor_doc(tensor: Tensor) -> str:
    """Describe an input or an output."""
    return ": ".join(part for part in (tensor.dtype, tensor.doc) if part)


def param_doc(param: Param) -> str:
    """Describe a param: as op.yml does, or by its type."""
    return param.doc or _described(param)


def _described(param: Param) -> str:
    if param.type.is_text:
        return "a text"
    if not param.type.is_list:
        return param.type.c_type
    numbers = "numbers" if param.type.element.kind == "float" else "whole numbers"
    return f"{param.length or '1 or more'} {numbers}: `count`, `items[]`"


def comment_lines(start: str, text: str) -> str:
    """Wrap a text into comment lines, indented like the first line up to a limit."""
    margin = " *".ljust(min(len(start), LINE_LENGTH // 2))
    lines = textwrap.wrap(
        escape_comment(text),
        width=LINE_LENGTH,
        initial_indent=start,
        subsequent_indent=margin,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(lines) or start.rstrip()
