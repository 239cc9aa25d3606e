"""The file with the shape rule: the user's, which opkit writes only once, or a generated one."""

from __future__ import annotations

from opkit.common.code_layout import comment, wrapped
from opkit.common.text import c_string, render
from opkit.description.spec import OpSpec
from opkit.runtimes.pplnn.sources import has_shape_rule


def once_only_files(spec: OpSpec) -> dict[str, str]:
    """Return path -> text of the shape rule; empty if op.yml has all shapes."""
    if not has_shape_rule(spec) or spec.elementwise:
        return {}
    first = spec.inputs[0].name
    own = [output.name for output in spec.outputs if output.same_as is None]
    statements = [
        f"    outputs->{name}.rank = inputs->{first}.rank;\n"
        f"    memcpy(outputs->{name}.shape, inputs->{first}.shape, sizeof inputs->{first}.shape);"
        for name in own
    ]
    text = render(
        "runtimes/pplnn/templates/shapes.h",
        name=spec.name,
        lower=spec.lower,
        upper=spec.lower.upper(),
        declaration=_declaration(spec),
        so_far=comment(
            f"Write the real rule here. Until then, {' and '.join(own)} "
            f"{'has' if len(own) == 1 else 'have'} the shape of the first input.",
            indent=4,
        ),
        statements="\n".join(statements),
    )
    return {shapes_file(spec): text}


def shapes_file(spec: OpSpec) -> str:
    """Return the path of the shape rule."""
    return f"pplnn/{spec.lower}_shapes.h"


def generated_shapes(spec: OpSpec) -> dict[str, str]:
    """Return path -> text of the shape rule of an elementwise operator; empty for others."""
    if not has_shape_rule(spec) or not spec.elementwise:
        return {}
    names = [input_.name for input_ in spec.inputs]
    text = render(
        "runtimes/pplnn/templates/broadcast_shapes.h",
        notice="/* Generated from op.yml by opkit. Do not edit: the next build overwrites it. */\n",
        name=spec.name,
        lower=spec.lower,
        upper=spec.lower.upper(),
        declaration=_declaration(spec),
        tensors=", ".join(f"&inputs->{name}" for name in names),
        count=str(len(names)),
        output=spec.outputs[0].name,
        problem=c_string(f"{', '.join(names[:-1])} and {names[-1]} do not broadcast"),
    )
    return {shapes_file(spec): text}


def _declaration(spec: OpSpec) -> str:
    return wrapped(
        f"static const char *{spec.lower}_shapes(",
        [
            f"const struct {spec.lower}_inputs *inputs",
            f"const struct {spec.lower}_params *params",
            f"struct {spec.lower}_outputs *outputs",
        ],
        ")",
    )
