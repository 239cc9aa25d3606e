"""generated/<op>.h: the structs that the math in C computes with."""

from __future__ import annotations

from pathlib import Path

from opkit.description.spec import OpSpec, Tensor
from opkit.text import c_comment, renderer

_render = renderer(Path(__file__).parent / "templates")


def _member(c_type: str, name: str, doc: str) -> str:
    return f"    {c_type} {name};" + (f" {c_comment(doc)}" if doc else "")


def operator_header(spec: OpSpec) -> str:
    """Return the text of the header."""

    def tensors(members: tuple[Tensor, ...]) -> str:
        return "\n".join(_member("struct opkit_tensor", m.name, m.doc) for m in members)

    params = [_member(param.type.c_type, param.name, param.doc) for param in spec.params]
    return _render(
        "operator.h",
        name=spec.name,
        lower=spec.lower,
        upper=spec.lower.upper(),
        inputs=tensors(spec.inputs),
        outputs=tensors(spec.outputs),
        params="\n".join(params or ["    char none; /* C has no empty struct */"]),
    )
