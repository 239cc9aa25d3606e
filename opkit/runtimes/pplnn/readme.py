"""This runtime's part of the README of a generated repository."""

from __future__ import annotations

from opkit.description.spec import OpSpec, Param
from opkit.runtimes.files import Readme
from opkit.runtimes.pplnn import overlay
from opkit.runtimes.pplnn.describe import DESCRIBE
from opkit.runtimes.pplnn.names import SOURCES, names
from opkit.runtimes.pplnn.settings import settings
from opkit.runtimes.pplnn.skeletons import generated_shapes, once_only_files
from opkit.runtimes.pplnn.sources import has_shape_rule
from opkit.text import render

_PRODUCT = "compiles all of it for {target}"
_FILE = """\
| `pplnn/{lower}_shapes.h` | the shape rule in C, which PPLNN calls while a model runs | yours |
"""
_COMMANDS = """\
| `scons target=riscv64` | compiles the sources in `pplnn/` for riscv64, and packs the math into \
`build/riscv64/libpplnn_{lower}.a`; `target=x64-pplnn`: the same for a PC |
| `scons check pplnn=BUILD` | the check, and every case in the x86 engine of ppl.nn, built \
with the operator in that folder |
| `scons pplnn-apply root=PPLNN` | lays the operator over the checkout of ppl.nn in that folder |
"""


def readme(spec: OpSpec) -> Readme:
    """Return the README's text on the sources and the ways into ppl.nn."""
    where = names(spec)
    target = DESCRIBE.target_of(spec)
    domain, opset = settings(spec).domain, settings(spec).opset
    common = render(
        "runtimes/pplnn/templates/README_pplnn.md",
        name=spec.name,
        lower=spec.lower,
        title=where.title,
        compute=spec.compute_header,
        math=spec.math_file,
        sources=SOURCES,
        folder=where.folder,
        domain=f"`{domain}`" if domain else "ONNX's own, which is empty",
        versions=" to ".join(map(str, dict.fromkeys(opset))),
        attributes=_attributes(spec.params),
        constants=_constants(spec.params),
        layout=_ANY_LAYOUT if settings(spec).takes_any_layout else _DENSE,
        shapes=_SHAPES.format(lower=spec.lower) if has_shape_rule(spec) else _NO_SHAPES,
    )
    return Readme(
        runtime="PPLNN, the runtime of OpenPPL",
        parts="the sources for ppl.nn's riscv and x86 engines",
        target=target,
        product=_PRODUCT.format(target=target),
        files=_FILE.format(lower=spec.lower) if once_only_files(spec) else "",
        generated=(f"{SOURCES}/", *overlay.PLACES, *generated_shapes(spec)),
        commands=_COMMANDS.format(lower=spec.lower),
        suffixes=(".cc",),
        sections=f"{common}\n{overlay.readme(spec)}",
    )


_DENSE = "The engines pass dense tensors (`NDARRAY`)."
_ANY_LAYOUT = """\
By `layout: any` in `op.yml`, the engines pass floats as they have them: dense (`NDARRAY`), or with
channels in blocks (`N16CX` on x86, `N4CX` and `N8CX` on riscv), which the math sees as one row of
all elements. Its results in the padding of the last block have no effect. Several inputs must have
one format and one shape, known while the model is loaded; else all are dense."""
_SHAPES = """\
The shapes of its outputs are not in an ONNX file, but inferred when a model runs: by `same_as` in
`op.yml`, and by `pplnn/{lower}_shapes.h` for the other outputs. `scons check` compares both with
`output_shapes` of the reference in every case. While a model is loaded, dimensions may be unknown:
the rule is not called then. An empty tensor has a dimension of 0, with which the check calls the
rule, too: it must not divide by one."""
_NO_SHAPES = """\
The shapes of its outputs are not in an ONNX file, but inferred when a model runs: by `same_as` in
`op.yml`. `scons check` compares them with `output_shapes` of the reference in every case."""


_CONSTANTS = """

Here, {names} {are} of that name, too: PPLNN's parser sees attributes only. `source: const:...` in
`op.yml` is for converters of models with a constant input."""


def _attributes(params: tuple[Param, ...]) -> str:
    """Return the table of the attributes."""
    if not params:
        return "The node has no attributes."
    rows = [
        f"| `{param.name}` | `{param.type.onnx}` | "
        f"{'required' if param.default is None else 'optional'} |"
        for param in params
    ]
    return "\n".join(["| attribute | ONNX type | |", "| --- | --- | --- |", *rows])


def _constants(params: tuple[Param, ...]) -> str:
    """Return the note on params that other converters read from constant inputs; or nothing."""
    found = [f"`{param.name}`" for param in params if param.source]
    if not found:
        return ""
    are = "is an attribute" if len(found) == 1 else "are attributes"
    return _CONSTANTS.format(names=" and ".join(found), are=are)
