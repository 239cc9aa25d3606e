"""The files for RKNN-Toolkit2 on a PC: the operator's class, and the scripts that use it."""

from __future__ import annotations

from typing import Any

from opkit.description.spec import OpSpec, Param
from opkit.python_layout import literal
from opkit.runtimes.rknn2.chips import TARGETS
from opkit.runtimes.rknn2.describe import DESCRIBE
from opkit.runtimes.rknn2.limits import LIMITS
from opkit.runtimes.rknn2.settings import settings
from opkit.text import render

FOLDER = "rknn2"
"""The folder of these files in a repository; they run on Python 3.8 and later, without opkit."""


def files(spec: OpSpec) -> dict[str, str]:
    """Return path -> text of the class and of the scripts."""
    target = DESCRIBE.target_of(spec)
    outputs = {output.name: output.dtype for output in spec.outputs}
    inputs = [input_.name for input_ in spec.inputs]
    constants = [param.name for param in spec.params if param.source]
    params = dict(map(_param, spec.params))
    return {
        f"{FOLDER}/{spec.lower}_custom_op.py": render(
            "runtimes/rknn2/templates/custom_op.py",
            lower=spec.lower,
            op_type=settings(spec).op_type,
            max_rank=str(LIMITS.rank),
            inputs=literal(inputs, "INPUTS = "),
            constants=literal(constants, "CONSTANTS = "),
            outputs=literal(outputs, "OUTPUTS = "),
            params=literal(params, "PARAMS = "),
        ),
        f"{FOLDER}/make_onnx.py": render("runtimes/rknn2/templates/make_onnx.py", lower=spec.lower),
        f"{FOLDER}/convert.py": render(
            "runtimes/rknn2/templates/convert.py",
            lower=spec.lower,
            target=target,
            targets=literal(list(TARGETS), "TARGETS = ", 0),
        ),
    }


def _param(param: Param) -> tuple[str, dict[str, Any]]:
    attributes: dict[str, Any] = {"type": "str" if param.type.is_text else param.type.element.dtype}
    if param.type.is_list:
        attributes["lengths"] = [param.length] if param.length else range(1, LIMITS.items + 1)
    if param.default is not None:
        default = param.default
        attributes["default"] = list(default) if isinstance(default, tuple) else default
    return param.name, attributes
