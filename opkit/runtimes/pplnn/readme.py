"""This runtime's part of the README of a generated repository."""

from __future__ import annotations

from opkit.description.spec import OpSpec
from opkit.runtimes.files import Readme
from opkit.runtimes.pplnn import overlay
from opkit.runtimes.pplnn.describe import DESCRIBE
from opkit.runtimes.pplnn.names import SOURCES
from opkit.runtimes.pplnn.settings import settings
from opkit.runtimes.pplnn.skeletons import generated_shapes, once_only_files

_PRODUCT = "compiles all of it for {target}"
_COMMANDS = """\
| `scons target=riscv64` | compiles the sources for riscv64; `target=x64-pplnn`: for a PC |
| `scons pplnn-apply root=PPLNN` | lays {name} of {domain} over a checkout of ppl.nn |
| `scons check pplnn=BUILD` | ... and runs every case in the engine of that build |
"""
_PAGES = """\
| the node in a model, the ways into ppl.nn | `pplnn.md` |
"""


def readme(spec: OpSpec) -> Readme:
    """Return the README's text on the sources and the ways into ppl.nn."""
    target = DESCRIBE.target_of(spec)
    domain = settings(spec).domain
    return Readme(
        runtime="OpenPPL's PPLNN",
        target=target,
        product=_PRODUCT.format(target=target),
        files=tuple(once_only_files(spec)),
        generated=(f"{SOURCES}/", *overlay.PLACES, *generated_shapes(spec)),
        commands=_COMMANDS.format(
            name=spec.name, domain=f"the domain `{domain}`" if domain else "ONNX's own domain"
        ),
        pages=_PAGES,
    )
