"""The README's section on the first edit: math in C and in numpy, which the check accepts."""

from __future__ import annotations

from collections.abc import Sequence

from opkit.description.spec import OpSpec
from opkit.description.types import ELEMENT_TYPES
from opkit.files.cases import CASE_DTYPE, first_dtype, is_copy
from opkit.python_layout import bracketed
from opkit.text import render


def first_edit(spec: OpSpec, more: Sequence[str]) -> str:
    """Return the section.

    Args:
        spec: the operator.
        more: the runtimes' paragraphs on files with the same math.
    """
    input_, output = spec.inputs[0].name, spec.outputs[0].name
    negates = is_copy(spec, spec.outputs[0]) and first_dtype(spec) != "bool"
    first = f'inputs["{input_}"]'
    if spec.elementwise:
        value = f"-{input_}" if negates else "1"
        c, place = f"    return {value};", "the last `return`"
        first = "arrays[0]" if len(spec.inputs) > 1 else first
    else:
        element = f"outputs->{output}.{_member(spec.outputs[0].dtype or first_dtype(spec))}[i]"
        value = f"-inputs->{input_}.{_member(first_dtype(spec))}[i]" if negates else "1"
        c = (
            f"    for (size_t i = 0; i < outputs->{output}.size; i++) {{\n"
            f"        {element} = {value};\n    }}"
        )
        place = f"the loop over `{output}`"
    arrays = {output: f"-{first}" if negates else f'np.ones({first}.shape, "{_dtype(spec, 0)}")'}
    for index, other in enumerate(spec.outputs[1:], 1):
        zeros = f'np.zeros({first}.shape, "{_dtype(spec, index)}")'
        arrays[other.name] = f"np.array({first})" if is_copy(spec, other) else zeros
    items = [f'"{name}": {array}' for name, array in arrays.items()]
    return render(
        "files/templates/README_first_edit.md",
        lower=spec.lower,
        math=spec.math_file,
        example=f"`{output}` is `-{input_}`" if negates else f"all elements of `{output}` are 1",
        place=place,
        c=c,
        numpy=f"    return {bracketed(items, 'return ', 4, '{}')}",
        more="".join(f"\n{paragraph.strip()}\n" for paragraph in more if paragraph),
    )


def _dtype(spec: OpSpec, index: int) -> str:
    return spec.outputs[index].dtype or first_dtype(spec)


def _member(dtype: str) -> str:
    """Return the union member for the elements of a dtype."""
    member = ELEMENT_TYPES[dtype or CASE_DTYPE].computed_as
    assert member is not None
    return member
