"""README.md and .gitattributes of a generated repository."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from opkit.common.code_layout import bracketed
from opkit.common.text import render
from opkit.description.spec import OpSpec
from opkit.description.types import ELEMENT_TYPES
from opkit.files.operator_texts import CASE_DTYPE, first_dtype, is_copy
from opkit.runtimes.files import Readme
from opkit.version import VERSION


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


_WIDTH = 100
_ABOUT = (
    "A custom operator for {}. The math is written once, and every kernel is checked against numpy "
    "on this PC."
)


def readme(spec: OpSpec, parts: Sequence[Readme], source: str = "") -> str:
    """Return the text of README.md, one page.

    Args:
        spec: the operator.
        parts: of its runtimes.
        source: the section on the source of the math; empty: it is the user's own.
    """
    lower = spec.lower
    yours = ["op.yml", spec.math_file, f"{lower}_reference.py", f"tests/test_{lower}.py"]
    yours += [name for part in parts for name in part.files]
    generated = [name for part in parts for name in part.generated]
    return render(
        "files/templates/README.md",
        name=spec.name,
        about=textwrap.fill(_ABOUT.format(_listed([part.runtime for part in parts])), _WIDTH),
        first_commands=_first_commands(spec, parts),
        start=source or first_edit(spec, [part.edit for part in parts]),
        commands="".join(part.commands for part in parts),
        yours=_names(yours),
        generated=_names(["generated/", "include/", "docs/", *generated]),
        shared=shared_rows(),
        pages="".join(part.pages for part in parts),
    )


def shared_rows() -> str:
    """Return the lines on files that a workspace has once, at its root."""
    return render("files/templates/README_shared.md", version=VERSION)


def _names(paths: Sequence[str]) -> str:
    names = ", ".join(f"`{path}`" for path in paths)
    return textwrap.fill(names, _WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def _first_commands(spec: OpSpec, parts: Sequence[Readme]) -> str:
    """Return the commands of the check and of each runtime's build, with comments."""
    commands = [(".venv/bin/scons check", "compares every case with numpy, on this PC")]
    for part in parts:
        if part.product:
            is_default = part.target == spec.target_platform
            command = ".venv/bin/scons" if is_default else f".venv/bin/scons target={part.target}"
            commands.append((command, part.product))
    width = max(len(command) for command, _ in commands)
    return "".join(f"    {command:<{width}}  # {about}\n" for command, about in commands)


def gitattributes(parts: Sequence[Readme]) -> str:
    """Return the text of .gitattributes: line ends, and marks of generated files."""
    generated = [name for part in parts for name in part.generated]
    lines = [
        "* text=auto eol=lf",
        "/generated/** linguist-generated",
        "/include/** linguist-generated",
        "/docs/** linguist-generated",
        "/.github/actions/** linguist-generated",
        *(f"/{name}{'**' if name.endswith('/') else ''} linguist-generated" for name in generated),
        "*.npz binary",
        "*.whl binary linguist-generated",
    ]
    return "\n".join(lines) + "\n"


def _listed(words: Sequence[str]) -> str:
    *first, last = words or ["no runtime"]
    return f"{', '.join(first)} and {last}" if first else last
