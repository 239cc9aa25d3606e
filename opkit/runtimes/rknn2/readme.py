"""This runtime's part of the README of a generated repository."""

from __future__ import annotations

from opkit.description.spec import OpSpec
from opkit.runtimes.files import Readme
from opkit.runtimes.rknn2.c_files import constant_inputs
from opkit.runtimes.rknn2.describe import DESCRIBE
from opkit.runtimes.rknn2.settings import settings
from opkit.runtimes.rknn2.toolkit import PACKAGES

_PRODUCT = "builds build/{target}/librkcst_{lower}.so, and a static library"
_COMMANDS = """\
| `scons target={target}` | builds plugin and static library; `abi=armhf`: for a 32-bit system |
| `scons deploy target={target}` | builds them and prints the commands to copy them to a board |
| `python3 -m venv .venv-rknn2 && .venv-rknn2/bin/pip install {packages}` | installs the \
toolkit (Python 3.8 to 3.12); `scons check` runs its simulator then |
| `.venv-rknn2/bin/python rknn2/convert.py model.onnx --target {target}` | converts a model with \
nodes `{op_type}` ({inputs}) |
"""
_PAGES = """\
| conversion, plugin, library and application with RKNN-Toolkit2 | `rknn2.md` |
"""


def readme(spec: OpSpec) -> Readme:
    """Return the README's text on products and conversion."""
    target = DESCRIBE.target_of(spec)
    inputs = [each.name for each in spec.inputs] + [each.name for each in constant_inputs(spec)]
    return Readme(
        runtime="Rockchip's RKNN-Toolkit2",
        target=target,
        product=_PRODUCT.format(lower=spec.lower, target=target),
        generated=("rknn2/",),
        commands=_COMMANDS.format(
            target=target,
            packages=PACKAGES,
            op_type=settings(spec).op_type,
            inputs=f"inputs: {', '.join(inputs)}" if len(inputs) > 1 else f"input: {inputs[0]}",
        ),
        pages=_PAGES,
    )
