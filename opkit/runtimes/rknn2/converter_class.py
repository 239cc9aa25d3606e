"""The files for RKNN-Toolkit2 on a PC: the operator's class, and the scripts that use it.

An operator with a name of ONNX's own has no class, which the toolkit would ignore, but the names of
its node and its reference for the scripts.
"""

from __future__ import annotations

from typing import Any

from opkit.common.code_layout import literal
from opkit.common.text import render
from opkit.description.spec import OpSpec, Param, limits_of
from opkit.runtimes.rknn2.chips import LIMITS, TARGETS
from opkit.runtimes.rknn2.describe import DESCRIBE, settings
from opkit.runtimes.rknn2.toolkit2 import LIST_CONSTANTS, opset_of

FOLDER = "rknn2"
"""The folder of these files in a repository; they run on Python 3.8 and later, without opkit."""

_TEMPLATES = "runtimes/rknn2/templates"
_CUSTOM_OPSETS = """\
DOMAIN = "rknn_cst"
OPSETS = [helper.make_opsetid("", 12), helper.make_opsetid(DOMAIN, 1)]"""
_STANDARD_OPSETS = """\
DOMAIN = ""  # ONNX's own
OPSET = {opset}  # the newest that both the toolkit and the operator have
OPSETS = [helper.make_opsetid(DOMAIN, OPSET)]"""
_CALL = '        results = self._call("reference", arrays, params)'
_STANDARD_MODELS = """

The node is {op_type} of ONNX, which RKNN-Toolkit2 has itself. Its
params with a `source` are constant inputs, the others attributes."""
_STANDARD_CONVERSION = """

RKNN-Toolkit2 has its own {op_type}, so no class is registered, and
the reference is compared with it. The board needs librknnrt 2.x: 1.6.0 aborts in rknn_init."""


def files(spec: OpSpec) -> dict[str, str]:
    """Return path -> text of the class and of the scripts."""
    op_type = settings(spec).op_type
    if settings(spec).is_standard:
        module, class_name = "node", "Node"
        shape = ".reshape(-1)" if op_type in LIST_CONSTANTS else ""
        text = _operator(spec, "standard_node.py", _CALL, op_type=op_type, constant_shape=shape)
        model = {
            "more": _STANDARD_MODELS.format(op_type=op_type),
            "onnx_names": "helper, numpy_helper",
            "opsets": _STANDARD_OPSETS.format(opset=opset_of(op_type)),
            "make_model": _block("make_standard_model.py"),
        }
        conversion = {
            "more": _STANDARD_CONVERSION.format(op_type=op_type),
            "classes": f"CLASSES = []  # none: the toolkit has its own {op_type}",
            "simulated": f"RKNN-Toolkit2's own {op_type}",
        }
    else:
        module, class_name = "custom_op", "CustomOp"
        text = _operator(spec, "custom_op.py", _block("custom_results.py"), op_type=op_type)
        model = {
            "more": "",
            "onnx_names": "helper",
            "opsets": _CUSTOM_OPSETS,
            "make_model": _block("make_custom_model.py"),
        }
        conversion = {
            "more": "",
            "classes": "CLASSES = [CustomOp]  # of operators that the toolkit does not have",
            "simulated": "the simulator",
        }
    common = {"lower": spec.lower, "module": module, "operator": class_name}
    return {
        f"{FOLDER}/{spec.lower}_{module}.py": text,
        f"{FOLDER}/make_onnx.py": render(f"{_TEMPLATES}/make_onnx.py", **common, **model),
        f"{FOLDER}/convert.py": render(
            f"{_TEMPLATES}/convert.py",
            **common,
            **conversion,
            target=DESCRIBE.target_of(spec),
            targets=literal(list(TARGETS), "TARGETS = ", 0),
        ),
    }


def _block(template: str, **values: str) -> str:
    """Return the text of a template that is a part of another, without the last newline."""
    return render(f"{_TEMPLATES}/{template}", **values).rstrip("\n")


def _operator(spec: OpSpec, template: str, results: str, **values: str) -> str:
    """Return the module of the operator's tensors and params, and of its reference.

    Args:
        spec: the operator description.
        template: the template of the module.
        results: the statement that calls the reference.
        values: the values of the template.
    """
    outputs = {output.name: output.dtype for output in spec.outputs}
    inputs = [input_.name for input_ in spec.inputs]
    constants = [param.name for param in spec.params if param.source]
    params = dict(map(_param, spec.params))
    return render(
        f"{_TEMPLATES}/{template}",
        lower=spec.lower,
        limits=_block("operator_limits.py", max_rank=str(LIMITS.rank)),
        inputs=literal(inputs, "INPUTS = "),
        constants=literal(constants, "CONSTANTS = "),
        outputs=literal(outputs, "OUTPUTS = "),
        params=literal(params, "PARAMS = "),
        methods=_block("operator_methods.py", results=results, **_allowed(spec)),
        functions=_block("operator_functions.py"),
        **values,
    )


def _allowed(spec: OpSpec) -> dict[str, str]:
    """Return the parts of the methods that refuse values that op.yml does not allow."""
    if not any(map(limits_of, spec.params)):
        return {"check_attribute": "", "check_value": "", "check_allowed": ""}
    return {
        "check_attribute": "        if name in self.PARAMS:\n"
        "            self._value(node, name, value)\n",
        "check_value": "        self._check_allowed(node, name, result.tolist())\n",
        "check_allowed": f"\n{_block('operator_allowed.py')}\n",
    }


def _param(param: Param) -> tuple[str, dict[str, Any]]:
    attributes: dict[str, Any] = {"type": "str" if param.type.is_text else param.type.element.dtype}
    if param.type.is_list:
        attributes["lengths"] = [param.length] if param.length else range(1, LIMITS.items + 1)
    attributes |= limits_of(param)
    if param.default is not None:
        default = param.default
        attributes["default"] = list(default) if isinstance(default, tuple) else default
    return param.name, attributes
