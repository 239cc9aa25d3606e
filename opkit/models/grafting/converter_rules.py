"""Refuse grafted models that a converter accepts but cannot run.

The rules for RKNN-Toolkit2 are those of check_model in a repository's rknn2/convert.py.
"""

from __future__ import annotations

from opkit.errors import OpkitError
from opkit.models.grafting.graft import Graft
from opkit.models.model import Model
from opkit.models.text import shape_text
from opkit.runtimes.rknn2.limits import TENSOR_TYPES
from opkit.text import printable, shortened

_DTYPES = (*TENSOR_TYPES, "int8", "uint8")
"""The dtypes of a model's inputs; those of integers may be quantized tensors."""


def refuse(model: Model, runtime: str) -> None:
    """Refuse a model that breaks a rule of its converter.

    Args:
        model: the model.
        runtime: the runtime.

    Raises:
        OpkitError: it breaks one.
    """
    if runtime != "rknn2":
        return
    for tensor in model.inputs:
        name = printable(shortened(tensor.name))
        if tensor.is_dynamic:
            raise OpkitError(
                f"{model.file}: input {name!r} has the dynamic shape "
                f"{printable(shape_text(tensor.shape))}; a custom operator with such a shape "
                "crashes on the board; export the model with fixed sizes"
            )
        if tensor.dtype not in _DTYPES:
            raise OpkitError(
                f"{model.file}: input {name!r} is {tensor.dtype} (expected {', '.join(_DTYPES)})"
            )


def warnings(graft: Graft, runtime: str) -> list[str]:
    """Return warnings of nodes that a converter cannot convert, as sentences."""
    top = {id(message) for message in graft.model.proto.graph.node}
    inside = [each for each in graft.nodes if id(each.message) not in top]
    if runtime != "rknn2" or not inside:
        return []
    names = ", ".join(repr(printable(shortened(each.node.name))) for each in inside)
    return [
        f"in subgraphs, which RKNN-Toolkit2 does not convert: {names}; simplify the model to one "
        "without If, Loop and Scan"
    ]
