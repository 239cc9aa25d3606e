"""This runtime's part of the README of a generated repository."""

from __future__ import annotations

from opkit.description.spec import OpSpec
from opkit.runtimes.interface import Readme
from opkit.runtimes.pplnn import overlay, skeletons

_ABOUT = """\
A custom operator for OpenPPL's PPLNN: its math, and all that the riscv and the x86 engine need to
parse it from ONNX models, infer its shapes and run it."""
_SHAPES = """\
| `pplnn/{lower}_shapes.h` | the shape rule in C, where PPLNN infers shapes | yours |
"""
_GENERATED = (
    "pplnn/src/",
    "pplnn/register/",
    "pplnn/cmake/",
    "pplnn/overlay.json",
    "pplnn/apply.py",
)
_COMMANDS = """\
| `scons target=riscv64` | compiles the sources and the math for that engine; `x64-pplnn`: for x86 |
| `scons pplnn-apply root=PPLNN` | lays the operator over the checkout of ppl.nn in that folder |
"""


def readme(spec: OpSpec) -> Readme:
    """Return the README's text on the sources and the ways into ppl.nn."""
    return Readme(
        about=_ABOUT,
        product=f"compiles it for that engine; build/$target/libpplnn_{spec.lower}.a is the math",
        files=_SHAPES.format(lower=spec.lower) if skeletons.once_only_files(spec) else "",
        generated=_GENERATED,
        commands=_COMMANDS,
        sections=overlay.readme(spec),
    )
