"""generated/<op>.h: the structs of inputs, outputs and params for the math in C."""

from __future__ import annotations

from opkit.c_layout import with_comment
from opkit.description.spec import OpSpec, Param, Tensor
from opkit.text import render


def operator_header(spec: OpSpec) -> str:
    """Return the text of the header."""

    def tensors(members: tuple[Tensor, ...]) -> str:
        return "\n".join(with_comment(f"    struct opkit_tensor {m.name};", m.doc) for m in members)

    params = [with_comment(f"    {member(p)};", p.doc) for p in spec.params]
    return render(
        "files/templates/operator.h",
        name=spec.name,
        lower=spec.lower,
        upper=spec.lower.upper(),
        inputs=tensors(spec.inputs),
        outputs=tensors(spec.outputs),
        params="\n".join(params or ["    char none; /* C has no empty struct */"]),
    )


def member(param: Param) -> str:
    """Return the declaration of a param in the struct of params, without its semicolon."""
    separator = "" if param.type.c_type.endswith("*") else " "
    return f"{param.type.c_type}{separator}{param.name}"
