"""The user's files that are common to all operators; opkit writes them only once."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Sequence
from itertools import repeat

from opkit.common.code_layout import LINE_LENGTH, bracketed, comment, literal, wrapped
from opkit.common.text import c_string, render
from opkit.description.case_values import SAMPLES, needed_rank, sample
from opkit.description.spec import OpSpec, Param, Tensor
from opkit.description.types import ELEMENT_TYPES
from opkit.files import elementwise
from opkit.files.operator_texts import (
    CASE_DTYPE,
    argument_lines,
    comment_lines,
    compute_declaration,
    is_copy,
    param_doc,
    tensor_doc,
)
from opkit.files.readme import gitattributes, readme
from opkit.files.source_check import PLACEHOLDER
from opkit.runtimes.files import RuntimeTexts, TestText
from opkit.runtimes.interface import Runtime

_SHAPES = ((7,), (3, 5), (1, 4, 5, 3))
"""The shapes of the inputs in cases, if no kernel needs others."""

_AXIS_SHAPES = ((3, 5), (2, 3, 4), (1, 4, 5, 3), (2, 1, 3, 2, 4), (2, 1, 2, 3, 1, 2))
"""The same for an operator with axes; cases have the first ones whose rank has all its axes."""

_BROADCAST_SHAPES = (
    ((3, 5), (5,)),
    ((1,), (2, 3, 4)),
    ((2, 1, 3, 1), (4, 1, 7)),
    ((2, 1), (1, 600)),
)
"""The shapes of the first input and of the second in cases of an elementwise operator."""


def once_only_files(spec: OpSpec, runtimes: Iterable[Runtime], source: str = "") -> dict[str, str]:
    """Return path -> text of all files that are written once, with the runtimes' files.

    Args:
        spec: the operator.
        runtimes: its runtimes.
        source: the section of the README on the source of the math; empty: the user's own.
    """
    return _files(spec, [runtime.files.texts(spec) for runtime in runtimes], source)


def _files(spec: OpSpec, parts: Sequence[RuntimeTexts], source: str) -> dict[str, str]:
    """Assemble the files of a working operator: its outputs are copies of the first input."""
    readmes = [part.readme for part in parts]
    files = {
        ".gitattributes": gitattributes(readmes),
        "README.md": readme(spec, readmes, source),
        spec.math_file: elementwise.scalar_file(spec) if spec.elementwise else _compute(spec),
        f"{spec.lower}_reference.py": (
            _elementwise_reference(spec, parts) if spec.elementwise else _reference(spec, parts)
        ),
        f"tests/test_{spec.lower}.py": _test(spec, [part.tests for part in parts]),
    }
    for part in parts:
        files |= part.once_only
    return files


def unwritten_math(spec: OpSpec) -> str:
    """Return the text of `<op>_compute.h` with math that fails until it is written."""
    return _compute_file(
        spec,
        "each call fails",
        "    (void)inputs;\n    (void)outputs;\n",
        c_string(f"the math is left to write, in {spec.lower}_compute.h"),
    )


def _compute(spec: OpSpec) -> str:
    first = spec.inputs[0]
    statements = [
        _copy(first, output) if is_copy(spec, output) else _zero(output) for output in spec.outputs
    ]
    if not any(is_copy(spec, output) for output in spec.outputs):
        statements.insert(0, "    (void)inputs;\n")
    return _compute_file(spec, _so_far(spec), "\n".join(statements), "NULL")


def _compute_file(spec: OpSpec, so_far: str, statements: str, result: str) -> str:
    first = spec.inputs[0]
    lines = [
        *((f"inputs->{input_.name}", tensor_doc(input_)) for input_ in spec.inputs),
        *((f"params->{param.name}", param_doc(param)) for param in spec.params),
        *((f"outputs->{output.name}", tensor_doc(output)) for output in spec.outputs),
    ]
    return render(
        "files/templates/compute.h",
        name=spec.name,
        lower=spec.lower,
        upper=spec.lower.upper(),
        declaration=compute_declaration(spec),
        arguments=argument_lines(lines),
        element=comment_lines(
            " *     ",
            f"inputs->{first.name}.{_member(first)}[row * inputs->{first.name}.shape[1] + column]",
        ),
        so_far=comment(f"{PLACEHOLDER} Until then, {so_far}.", indent=4),
        statements=statements,
        result=result,
    )


def _member(tensor: Tensor) -> str:
    """Return the union member for the elements of a tensor."""
    member = ELEMENT_TYPES[tensor.dtype or CASE_DTYPE].computed_as
    assert member is not None
    return member


def _so_far(spec: OpSpec) -> str:
    """Describe the generated math, which the user replaces."""
    copies = sum(is_copy(spec, output) for output in spec.outputs)
    if copies == len(spec.outputs):
        return "each output is a copy of the first input"
    return "outputs with a dtype in op.yml are 0" + (", the others copies" if copies else "")


def _copy(input_: Tensor, output: Tensor) -> str:
    """Return the C statements that copy an input to an output, element by element."""
    member = _member(input_)
    dtypes = "float16 or float32" if member == "float32" else input_.dtype
    element = wrapped(
        f"        outputs->{output.name}.{member}[i] = ",
        [f"inputs->{input_.name}.{member}[i]"],
        ";",
    )
    return f"""\
    if (inputs->{input_.name}.type != OPKIT_{member.upper()} ||
        outputs->{output.name}.type != OPKIT_{member.upper()}) {{
        return "{input_.name} and {output.name} must be {dtypes}";
    }}
    if (outputs->{output.name}.size != inputs->{input_.name}.size) {{
        return "{output.name} must be as large as {input_.name}";
    }}
    for (size_t i = 0; i < outputs->{output.name}.size; i++) {{
{element}
    }}
"""


def _zero(output: Tensor) -> str:
    """Return the C statements that set an output with a dtype to 0."""
    member = _member(output)
    return f"""\
    if (outputs->{output.name}.type != OPKIT_{member.upper()}) {{
        return "{output.name} must be {output.dtype}";
    }}
    for (size_t i = 0; i < outputs->{output.name}.size; i++) {{
        outputs->{output.name}.{member}[i] = 0;
    }}
"""


def _reference(spec: OpSpec, parts: Iterable[RuntimeTexts]) -> str:
    def outputs(value: Callable[[Tensor], str]) -> str:
        return _dict("    return ", {output.name: value(output) for output in spec.outputs})

    def array(output: Tensor) -> str:
        if is_copy(spec, output):
            return f"np.array(inputs[{first}])"
        return f'np.zeros(inputs[{first}].shape, "{output.dtype}")'

    first = f'"{spec.inputs[0].name}"'
    return render(
        "files/templates/reference.py",
        name=spec.name,
        purpose=_purpose(parts),
        first=first,
        param_values=_param_values(spec),
        shapes=outputs(lambda _: "shape"),
        so_far=_so_far(spec),
        arrays=outputs(array),
    )


def _elementwise_reference(spec: OpSpec, parts: Iterable[RuntimeTexts]) -> str:
    """Return the reference of an elementwise operator; its shape rule is complete."""
    (output,) = spec.outputs
    names = [f'"{input_.name}"' for input_ in spec.inputs]
    first, shapes, arrays = f"inputs[{names[0]}]", [], list[str]()
    shape = f"tuple(input_shapes[{names[0]}])"
    if len(names) > 1:
        shapes = [
            f"    names = {bracketed(names, 'names = ', 4, '()')}",
            "    arrays = [np.broadcast_to(0, input_shapes[name]) for name in names]",
        ]
        call = "arrays = np.broadcast_arrays"
        items = [f"inputs[{name}]" for name in names]
        arrays = [f"    {call}{bracketed(items, call, 4, '()')}"]
        first, shape = "arrays[0]", "np.broadcast(*arrays).shape"
    value = f"np.array({first})"
    if not is_copy(spec, output):
        value = f'np.zeros({first}.shape, "{output.dtype}")'
    return render(
        "files/templates/elementwise_reference.py",
        name=spec.name,
        purpose=_purpose(parts),
        param_values=_param_values(spec),
        shapes="\n".join([*shapes, _dict("    return ", {output.name: shape})]),
        so_far="the output is " + ("the first input" if is_copy(spec, output) else "0"),
        arrays="\n".join([*arrays, _dict("    return ", {output.name: value})]),
    )


def _param_values(spec: OpSpec) -> str:
    """Return the lines of a docstring with the types of the params."""
    types = [f"        {param.name}: {_python_type(param)}" for param in spec.params]
    return "\n".join(types or ["        (this operator has none)"])


def _dict(before: str, entries: dict[str, str], after: str = "") -> str:
    """Return a dict in Python, on several lines if it is too long for one."""
    start = before.lstrip()
    items = [f'"{key}": {value}' for key, value in entries.items()]
    return f"{before}{bracketed(items, start, len(before) - len(start), '{}')}{after}"


def _purpose(parts: Iterable[RuntimeTexts]) -> str:
    """Return the purpose of the reference, and the rules of the converters that run it."""
    uses = [
        f"{part.converter} runs this file while it converts a model. {part.reference_rules}"
        for part in parts
        if part.converter
    ]
    paragraphs = ["the expected outputs for every kernel."]
    paragraphs += [textwrap.fill(use, LINE_LENGTH) for use in uses]
    return "\n\n".join(paragraphs) + ("\n" if len(paragraphs) > 1 else "")


def _python_type(param: Param) -> str:
    if param.type.is_text:
        return "str"
    name = type(SAMPLES[param.type.element.kind]).__name__
    return f"list of {name}" if param.type.is_list else name


def _test(spec: OpSpec, others: Sequence[TestText]) -> str:
    def shapes(shape: tuple[int, ...]) -> str:
        return _dict(" " * 8, {input_.name: repr(shape) for input_ in spec.inputs}, ",")

    params = {
        param.name: literal(sample(param), "") for param in spec.params if param.default is None
    }
    dtypes = {each.name: f'"{each.dtype}"' for each in spec.inputs if each.dtype}
    are_floats = all(_member(each) == "float32" for each in spec.inputs)
    # Not every runtime can hand over special integers, the limits of their type.
    values = ("uniform(-1, 1)", "special()") if are_floats else ("uniform(0, 9)", "ramp()")
    makers = ["uniform", values[1].removesuffix("()")]
    checks = ["check_cpu_kernel", *(check for other in others for check in other.checks)]
    common = {
        "params": _vary_params(params),
        "dtype": _dict("    dtype=", dtypes, ",") if dtypes else f'    dtype="{CASE_DTYPE}",',
    }
    texts = [other.text for other in others if other.text]
    if spec.elementwise and len(spec.inputs) > 1:
        pairs = "\n".join(map(_broadcast_shapes, repeat(spec), _BROADCAST_SHAPES))
        texts.insert(
            0,
            render("files/templates/test_broadcast.py", shapes=pairs, values=values[0], **common),
        )
    return render(
        "files/templates/test.py",
        kernels="the CPU kernel" if len(checks) == 1 else "all kernels",
        imports=_imports(sorted(["cases", *checks, *makers, "vary_params"])),
        other_tests="".join(f"\n\n{text}" for text in texts),
        name=spec.name,
        lower=spec.lower,
        values=", ".join(values),
        shapes="\n".join(map(shapes, _case_shapes(spec, others))),
        base="These and the defaults" if params else "The defaults",
        **common,
    )


def _case_shapes(spec: OpSpec, others: Sequence[TestText]) -> list[tuple[int, ...]]:
    """Return the shapes of the inputs, one for each case, of ranks that have the cases' axes."""
    rank = needed_rank(spec)
    usual = _SHAPES if rank == 1 else _AXIS_SHAPES
    shapes = next((other.shapes for other in others if other.shapes), usual)
    return [shape for shape in shapes if len(shape) >= rank][:3] or [_AXIS_SHAPES[-1]]


def _broadcast_shapes(spec: OpSpec, pair: tuple[tuple[int, ...], tuple[int, ...]]) -> str:
    """Return the line with the shapes of a case: those of a pair, in turn."""
    shapes = {each.name: repr(pair[index % 2]) for index, each in enumerate(spec.inputs)}
    return _dict(" " * 8, shapes, ",")


def _imports(names: list[str]) -> str:
    """Return the names of the import from opkit.testing, on several lines if one is too short."""
    start = "from opkit.testing import "
    line = ", ".join(names)
    return line if len(start + line) <= LINE_LENGTH else bracketed(names, start, 0, "()")


def _vary_params(base: dict[str, str]) -> str:
    """Return the call of vary_params for the values of params without a default."""
    line = f"vary_params({_dict('', base)})" if base else "vary_params()"
    if "\n" not in line and len(f"    params={line},") <= LINE_LENGTH:
        return line
    return f"vary_params(\n{_dict(' ' * 8, base)}\n    )"
