"""The user's file with the shape rule; opkit writes it only once."""

from __future__ import annotations

from opkit.c_layout import comment, wrapped
from opkit.description.spec import OpSpec
from opkit.runtimes.pplnn.sources import has_shape_rule
from opkit.text import render


def once_only_files(spec: OpSpec) -> dict[str, str]:
    """Return path -> text of the shape rule; empty if op.yml has all shapes."""
    if not has_shape_rule(spec):
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
        declaration=wrapped(
            f"static const char *{spec.lower}_shapes(",
            [
                f"const struct {spec.lower}_inputs *inputs",
                f"const struct {spec.lower}_params *params",
                f"struct {spec.lower}_outputs *outputs",
            ],
            ")",
        ),
        so_far=comment(
            f"Write the real rule here. Until then, {' and '.join(own)} "
            f"{'has' if len(own) == 1 else 'have'} the shape of the first input.",
            indent=4,
        ),
        statements="\n".join(statements),
    )
    return {f"pplnn/{spec.lower}_shapes.h": text}
