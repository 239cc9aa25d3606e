"""This runtime's part of the README of a generated repository."""

from __future__ import annotations

from collections.abc import Iterator

from opkit.description.allowed_values import limits_of
from opkit.description.case_values import sample
from opkit.description.spec import OpSpec
from opkit.runtimes.files import Readme
from opkit.runtimes.rknn2.c_files import constant_inputs
from opkit.runtimes.rknn2.chips import TARGETS
from opkit.runtimes.rknn2.describe import DESCRIBE
from opkit.runtimes.rknn2.onnx_names import opset_of
from opkit.runtimes.rknn2.settings import settings
from opkit.runtimes.rknn2.toolkit import PACKAGES
from opkit.text import render

_PARTS = (
    "the plugin and the static library with which librknnrt runs the operator on the board's CPU, "
    "and the class with which the toolkit converts models"
)
_PARTS_STANDARD = (
    "the plugin and the static library with which librknnrt 2.x, which lacks this operator of "
    "ONNX, runs it on the board's CPU; the toolkit itself converts it"
)
_PRODUCT = "builds build/{target}/librkcst_{lower}.so, and a static library"
_COMMANDS = """\
| `scons target={target}` | builds plugin and static library; \
`abi=armhf`: for a 32-bit system, in `build/{target}-armhf/` |
| `scons deploy target={target}` | builds them and prints the commands to copy them to a board |
"""


_SAMPLES = {"int": "1", "float": "0.5", "ints": "4,4", "floats": "0.5,1", "string": "text"}
"""Kind of attribute -> a sample value."""


def readme(spec: OpSpec) -> Readme:
    """Return the README's text on plugins, layouts and chips."""
    target = DESCRIBE.target_of(spec)
    constants = constant_inputs(spec)
    own = settings(spec)
    conversion = "README_standard" if own.is_standard else "README_class"
    names = [tensor.name for tensor in spec.inputs] + [param.name for param in constants]
    return Readme(
        runtime="Rockchip's RKNN-Toolkit2",
        parts=_PARTS_STANDARD if own.is_standard else _PARTS,
        target=target,
        product=_PRODUCT.format(lower=spec.lower, target=target),
        generated=("rknn2/",),
        commands=_COMMANDS.format(target=target),
        sections=render(
            "runtimes/rknn2/templates/README_rknn2.md",
            name=spec.name,
            lower=spec.lower,
            target=target,
            oldest_runtime=own.oldest_runtime,
            pthread=" -lpthread" if spec.has_threads else "",
            conversion=render(
                f"runtimes/rknn2/templates/{conversion}.md",
                lower=spec.lower,
                target=target,
                op_type=own.op_type,
                opset=str(opset_of(own.op_type)),
                inputs=", ".join(f"`{name}`" for name in names),
                example=" ".join(_example(spec)),
                packages=PACKAGES,
            ),
            chips=", ".join(name.upper() for name in TARGETS),
        ),
    )


def _example(spec: OpSpec) -> Iterator[str]:
    """Yield arguments of make_onnx.py, for inputs and for params without default."""
    for tensor in spec.inputs:
        yield f"{tensor.name}=1x3x4x5"
    for param in spec.params:
        if param.default is None and limits_of(param):
            value = sample(param)
            items = value if param.type.is_list else [value]
            yield f"{param.name}={','.join(map(str, items))}"
        elif param.default is None:
            yield f"{param.name}={_SAMPLES[param.type.onnx]}"
