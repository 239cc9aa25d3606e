"""The reference of a standard operator: onnx's own evaluator."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from opkit.code_layout import literal
from opkit.text import render
from rknn_op.models.drafting.signatures import Input, Output, Signature
from rknn_op.models.extra import required
from rknn_op.models.model import Node
from rknn_op.models.onnx_model import RANDOM

_WORDS = {
    "bool": "a bool",
    "int": "an int",
    "float": "a float",
    "ints": "a list of int",
    "floats": "a list of float",
    "string": "a str",
}


def has_evaluator(found: Signature) -> bool:
    """Whether onnx may compute an operator, the same in each run: by code, or as a function."""
    if not found.is_standard or found.op_type in RANDOM:
        return False
    schema = required("onnx").defs.get_schema(found.op_type, found.opset, found.domain)
    if schema.has_function or schema.has_context_dependent_function:
        return True
    try:
        required("onnx.reference.ops").load_op(found.domain, found.op_type, found.opset)
    except Exception:  # onnx raises several types for operators that it does not compute
        return False
    return True


def reference(name: str, found: Signature, nodes: Sequence[Node]) -> str:
    """Return the text of `<op>_reference.py` that calls onnx's reference evaluator.

    Args:
        name: the operator's name in op.yml.
        found: a standard operator.
        nodes: its nodes, for the dtypes of outputs and the shapes of constants.
    """
    tensors = {each.name: _only(each.dtypes) for each in found.tensors}
    constants = {each.name: [each.dtypes[0], [-1] if each.rank else []] for each in found.constants}
    kinds = {each.name: each.kind for each in found.attributes}
    kinds |= {each.name: each.kind for each in found.constants}
    params = [f"        {param}: {_WORDS[kind]}" for param, kind in kinds.items()]
    return render(
        Path(__file__).parent / "templates/onnx_reference.py",
        name=name,
        op_type=literal(found.op_type, ""),
        opset=str(found.opset),
        inputs=literal(_in_order(found.inputs), "INPUTS = ", 0),
        outputs=literal(_in_order(found.outputs), "OUTPUTS = ", 0),
        tensors=literal(tensors, "TENSORS = ", 0),
        constants=literal(constants, "CONSTANTS = ", 0),
        attributes=literal([each.name for each in found.attributes], "ATTRIBUTES = ", 0),
        param_values="\n".join(params or ["        (this operator has none)"]),
    )


def _only(dtypes: Sequence[str]) -> str | None:
    return dtypes[0] if len(dtypes) == 1 else None


def _in_order(slots: Sequence[Input] | Sequence[Output]) -> list[str]:
    """Return the names by position; an empty one where nothing is described."""
    names = {each.position: each.name for each in slots}
    return [names.get(position, "") for position in range(max(names) + 1)]
