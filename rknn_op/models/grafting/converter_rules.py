"""Refuse grafted models that a converter accepts but the runtime cannot run."""

from __future__ import annotations

from opkit.errors import OpkitError
from opkit.runtimes.interface import Runtime
from opkit.text import printable, shortened
from rknn_op.models.grafting.graft import Graft
from rknn_op.models.model import Model
from rknn_op.models.text import shape_text
from rknn_op.runtimes.interface import models_of


def refuse(model: Model, runtime: Runtime) -> None:
    """Refuse a model that breaks a rule of its converter.

    Args:
        model: the model.
        runtime: the runtime.

    Raises:
        OpkitError: it breaks one.
    """
    rules = models_of(runtime.name).rules
    if not rules:
        return
    for tensor in model.inputs:
        name = printable(shortened(tensor.name))
        if tensor.is_dynamic:
            raise OpkitError(
                f"{model.file}: input {name!r} has the dynamic shape "
                f"{printable(shape_text(tensor.shape))}; {rules.dynamic_shape}; "
                "export the model with fixed sizes"
            )
        if tensor.dtype not in rules.input_types:
            expected = ", ".join(rules.input_types)
            raise OpkitError(
                f"{model.file}: input {name!r} is {tensor.dtype} (expected {expected})"
            )


def warnings(graft: Graft, runtime: Runtime) -> list[str]:
    """Return warnings of nodes that a converter cannot convert, as sentences."""
    rules = models_of(runtime.name).rules
    top = {id(message) for message in graft.model.proto.graph.node}
    inside = [each for each in graft.nodes if id(each.message) not in top]
    if not rules or rules.has_subgraphs or not inside:
        return []
    names = ", ".join(repr(printable(shortened(each.node.name))) for each in inside)
    return [
        f"in subgraphs, which {runtime.describe.title} does not convert: {names}; simplify the "
        "model to one without If, Loop and Scan"
    ]
