"""The versions of a model's opset and format, of which converters accept only older ones."""

from __future__ import annotations

from typing import Any

from opkit.common.text import printable, shortened
from rknn_op.models.model_files import required
from rknn_op.models.model_graph import STANDARD, domain_of, node_path
from rknn_op.runtimes.models import OperatorList


def lowered(proto: Any, operators: OperatorList) -> list[str]:
    """Lower the versions of a model to the maximum of its converter, in place.

    An opset is lowered if the older one has all nodes, with their attributes and counts of inputs.
    Whether the model computes the same with it is for the caller to compare.

    Args:
        proto: the model.
        operators: those of the target, with the maximum versions.

    Returns:
        A message if the opset stays above the maximum.
    """
    maximum = operators.max_opset
    if operators.max_ir_version:
        proto.ir_version = min(proto.ir_version, operators.max_ir_version)
    versions = {domain_of(each.domain): each.version for each in proto.opset_import}
    if not maximum or versions.get(STANDARD, 0) <= maximum:
        return []
    checker = required("onnx.checker")
    context = checker.C.CheckerContext()
    context.ir_version = proto.ir_version
    context.opset_imports = {**versions, STANDARD: maximum}
    for node in proto.graph.node:
        try:
            checker.check_node(node, context)
        except checker.ValidationError as error:
            reason = printable(shortened(str(error).strip().partition("\n")[0], 300))
            return [
                f"opset {versions[STANDARD]} (expected at most {maximum}): node "
                f"{node_path(node.name, 100)!r} ({node.op_type}) is not in opset {maximum}: "
                f"{reason}"
            ]
    for each in proto.opset_import:
        if domain_of(each.domain) == STANDARD:
            each.version = maximum
    return []
