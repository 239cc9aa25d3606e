"""A node of a repository's operator in a model, and the function of its reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from opkit.check.cases import Case
from opkit.description.spec import Param
from opkit.errors import OpkitError
from opkit.text import printable, shortened
from rknn_op.models.extra import required
from rknn_op.models.grafting.custom_nodes import Custom
from rknn_op.models.model import Node
from rknn_op.models.running.stages import Call

Array = Any


@dataclass(frozen=True)
class GraftedNode:
    """A node of a repository's operator.

    Attributes:
        node: the node in the model.
        custom: its operator.
        original: its message in the model.
        message: its message in the grafted model.
        grafted: the message with the operator's inputs, outputs and attributes by op.yml; it is in
            the grafted model unless the node stays as it is.
        added: the values of its added inputs, by tensor.
    """

    node: Node
    custom: Custom
    original: Any
    message: Any
    grafted: Any
    added: Mapping[str, Array]

    @property
    def call(self) -> Call:
        """The function of the reference for the inputs of the node in the grafted model."""
        is_kept = self.custom.form.keeps_nodes
        return self.call_of_original() if is_kept else reference_call(self)

    def call_of_original(self) -> Call:
        """Return the function of the reference for the inputs of the original node."""
        call = reference_call(self)

        def function(inputs: Sequence[Array | None]) -> Sequence[Array]:
            values = {**self.added, **dict(zip(self.original.input, inputs, strict=True))}
            results = call([values[name] for name in self.grafted.input])
            found = dict(zip(self.grafted.output, results, strict=True))
            return [found.get(name) for name in self.original.output]

        return function


def reference_call(node: GraftedNode) -> Call:
    """Return the function of the reference for the inputs of a grafted node.

    The outputs have the dtypes of the model, as far as they are floats; else those of op.yml.

    Raises:
        OpkitError: when called: the reference fails, or its arrays do not match op.yml.
    """
    custom, helper = node.custom, required("onnx.helper")
    attributes = {each.name: helper.get_attribute_value(each) for each in node.grafted.attribute}
    dtypes = _output_dtypes(node)
    tensors = len(custom.spec.inputs)
    name = printable(shortened(node.node.name))

    def call(inputs: Sequence[Array | None]) -> list[Array]:
        names = (each.name for each in custom.spec.inputs)
        arrays: dict[str, Any] = dict(zip(names, inputs, strict=False))
        constants = dict(
            zip((each.name for each in custom.constants), inputs[tensors:], strict=False)
        )
        case = Case(
            name,
            arrays,
            {
                param.name: _param_value(param, {**attributes, **constants}[param.name])
                for param in custom.spec.params
                if param.name in attributes or param.name in constants
            },
            dtypes,
            origin=f"node {name!r}, {custom.operator.root}",
        )
        try:
            expected = custom.operator.prepare(case).expected
        except OpkitError as error:
            text = str(error)
            where = case.origin
            raise OpkitError(text if text.startswith(where) else f"{where}: {text}") from None
        return [expected[each.name] for each in custom.spec.outputs]

    return call


def _output_dtypes(node: GraftedNode) -> dict[str, str]:
    """Return the model's dtypes of floats, where the description has none or another float."""
    dtypes = {each.name: each.dtype for each in node.node.outputs if each is not None}
    return {
        output.name: dtypes[tensor]
        for output, tensor in zip(node.custom.spec.outputs, node.grafted.output, strict=True)
        if dtypes.get(tensor, "") in ("float16", "float32")
        and (output.dtype or "float").startswith("float")
    }


def _param_value(param: Param, value: Any) -> Any:
    """Return the value of an attribute or a constant as the reference gets it."""
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    items = np.ravel(value).astype(param.type.element.dtype)
    return items.tolist() if param.type.is_list else items[0].item()
