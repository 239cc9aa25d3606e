"""Rewrite the nodes of an operator: its inputs, outputs and attributes by op.yml."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from opkit.description.spec import Param, ParamValue
from opkit.errors import OpkitError
from opkit.text import printable, shortened
from rknn_op.models import optional_inputs
from rknn_op.models.grafting.custom_nodes import (
    Custom,
    GraftedNode,
    MismatchError,
    input_positions,
    output_positions,
    unique_names,
)
from rknn_op.models.grafting.node_attributes import attribute_of, is_exact, value_of, value_of_array
from rknn_op.models.model_files import required, schema_of
from rknn_op.models.model_graph import STANDARD, Model, Node, Tensor, at
from rknn_op.models.running.weights import OpenModel

Array = Any


@dataclass
class Names:
    """The names of all tensors."""

    taken: set[str] = field(default_factory=set)

    def take(self, wanted: str) -> str:
        """Return a unique name similar to the wanted one."""
        name = next(unique_names(self.taken, wanted))
        self.taken.add(name)
        return name


@dataclass(frozen=True)
class Rewriter:
    """Rewrites the nodes of an operator.

    Attributes:
        where: the begin of messages.
        custom: the operator.
        schema: its schema in ONNX; None: it has none.
        inputs: name of an input or constant param -> its position in the original nodes.
        outputs: name of an output -> the same.
        constants: name of a constant tensor -> its value, as a message.
    """

    where: str
    custom: Custom
    schema: Any
    inputs: Mapping[str, int]
    outputs: Mapping[str, int]
    constants: Mapping[str, Any]

    def graft(self, node: Node, original: Any, message: Any, names: Names) -> GraftedNode:
        """Rewrite the message of a node.

        Raises:
            OpkitError: it does not match the description.
        """
        added: dict[str, Array] = {}
        try:
            attributes = self._attributes(original)
            inputs = [
                self._tensor(node, each.name, added, names) for each in self.custom.spec.inputs
            ]
            tensors = len(inputs)
            inputs += self._constants(node, attributes, added, names)
            self._add_defaults(attributes, self.custom.constants[: len(inputs) - tensors])
            self._check_dtypes(node)
            if all(each is None or each.constant for each in node.inputs):
                raise MismatchError(
                    "all its inputs are constant, so that converters compute it once and remove "
                    "it; simplify the model, for instance with onnxsim"
                )
        except MismatchError as error:
            name = printable(shortened(node.name))
            raise OpkitError(f"{self.where}: node {name!r}: {error}") from None
        grafted = message
        if self.custom.form.keeps_nodes:
            grafted = required("onnx").NodeProto()
        grafted.op_type = self.custom.form.op_type
        grafted.domain = self.custom.form.domain or ""
        outputs = [
            self._output(node, original, each.name, names) for each in self.custom.spec.outputs
        ]
        for field_, values in (("input", inputs), ("output", outputs)):
            grafted.ClearField(field_)
            getattr(grafted, field_).extend(values)
        grafted.ClearField("attribute")
        grafted.attribute.extend(
            attribute_of(param, attributes[param.name])
            for param in self.custom.spec.params
            if param.name in attributes
        )
        return GraftedNode(node, self.custom, original, message, grafted, added)

    # ---- Attributes ----

    def _attributes(self, original: Any) -> dict[str, ParamValue]:
        """Return the values of the node's attributes, in the order of op.yml."""
        params = {param.name: param for param in self.custom.spec.params}
        values: dict[str, ParamValue] = {}
        for attribute in original.attribute:
            if attribute.name in params:
                values[attribute.name] = value_of(params[attribute.name], attribute)
            elif not self._is_default(attribute):
                known = ", ".join(params) or "none"
                raise MismatchError(
                    f"attribute {_quoted(attribute.name)} is not in op.yml (expected {known})"
                )
        for name, value in values.items():
            if bad := self.custom.form.unreadable(value):
                readable = self.custom.form.readable
                raise MismatchError(f"attribute '{name}' is {bad[0]} (expected {readable})")
        return {name: values[name] for name in params if name in values}

    def _is_default(self, attribute: Any) -> bool:
        """Whether an attribute has the default of the operator in ONNX."""
        known = dict(self.schema.attributes) if self.schema else {}
        if attribute.name not in known:
            return False
        helper = required("onnx.helper")
        default = known[attribute.name].default_value
        return bool(default.type) and bool(
            helper.get_attribute_value(default) == helper.get_attribute_value(attribute)
        )

    def _add_defaults(self, values: dict[str, ParamValue], inputs: Iterable[Param]) -> None:
        """Add the omitted params with their defaults, but for inputs; unreadable ones are left."""
        given = {param.name for param in inputs}
        for param in self.custom.spec.params:
            if param.name in values or param.name in given:
                continue
            if param.default is None:
                raise MismatchError(
                    f"has no attribute '{param.name}', and params.{param.name} has no default in "
                    "op.yml; add one"
                )
            if not self.custom.form.unreadable(param.default) and is_exact(param):
                values[param.name] = param.default

    # ---- Inputs and outputs ----

    def _at(self, node: Node, name: str) -> Tensor | None:
        position = self.inputs.get(name)
        return None if position is None else at(node.inputs, position)

    def _tensor(self, node: Node, name: str, added: dict[str, Array], names: Names) -> str:
        """Return the tensor of an input; add a constant for an optional one."""
        tensor = self._at(node, name)
        if tensor is not None and not tensor.is_empty:
            return tensor.name
        formal = [each.name for each in self.schema.inputs] if self.schema else []
        present = {
            formal[position]: each
            for position, each in enumerate(node.inputs)
            if each is not None and position < len(formal)
        }
        position = self.inputs.get(name, -1)
        own = (
            formal[position]
            if 0 <= position < len(formal)
            else next((each for each in formal if each.lower() == name.lower()), "")
        )
        try:
            value = optional_inputs.value(node.op_type, own, present, node.attributes)
        except optional_inputs.UnknownShapeError as error:
            raise MismatchError(
                f"has no input '{name}', whose size depends on '{error}' of unknown size; export "
                "the model with fixed sizes"
            ) from None
        if value is None:
            raise MismatchError(
                f"has no input '{name}'; its converter requires all inputs (expected "
                f"{', '.join(each.name for each in self.custom.spec.inputs)})"
            )
        free = names.take(f"{node.name}_{name}")
        added[free] = value
        return free

    def _constants(
        self,
        node: Node,
        attributes: dict[str, ParamValue],
        added: dict[str, Array],
        names: Names,
    ) -> list[str]:
        """Add the values of constant inputs to the attributes; return the inputs of others.

        A toolkit may lack values of inputs while it infers shapes, so that attributes are better.
        Where one cannot be an attribute, all are inputs: they are known by their order.
        """
        params = self.custom.constants
        values = {param.name: self._value(node, param, attributes) for param in params}
        known = {name: value for name, value in values.items() if value is not None}
        is_readable = not any(map(self.custom.form.unreadable, known.values()))
        if len(known) == len(values) and is_readable:
            attributes.update(known)
            return []
        if not self.custom.form.has_constants:
            name = next(name for name, value in values.items() if value is None)
            raise MismatchError(
                f"input '{name}' is not a small constant of the model; simplify the model, for "
                "instance with onnxsim"
            )
        inputs = []
        for param in params:
            attributes.pop(param.name, None)
            tensor = self._at(node, param.name)
            if tensor is None or tensor.is_empty:
                name = names.take(f"{node.name}_{param.name}")
                kind = param.type.element.kind
                dtype = {"float": np.float32, "bool": np.bool_}.get(kind, np.int64)
                added[name] = np.atleast_1d(np.array(values[param.name], dtype))
            inputs.append(name if tensor is None or tensor.is_empty else tensor.name)
        return inputs

    def _value(
        self, node: Node, param: Param, attributes: Mapping[str, ParamValue]
    ) -> ParamValue | None:
        """Return the value of a constant input; None if only a run of the model computes it."""
        tensor = self._at(node, param.name)
        if tensor is None or tensor.is_empty:
            value = attributes.get(param.name, param.default)
            if value is None:
                raise MismatchError(
                    f"has no input '{param.name}', and params.{param.name} has no default in "
                    "op.yml; add one"
                )
            return value
        if not tensor.constant:
            raise MismatchError(f"input '{param.name}' is not constant, as op.yml says")
        if tensor.name not in self.constants:
            return None
        array = required("onnx.numpy_helper").to_array(self.constants[tensor.name])
        return value_of_array(param, array)

    def _output(self, node: Node, original: Any, name: str, names: Names) -> str:
        position = self.outputs[name]
        own = original.output[position] if position < len(original.output) else ""
        return own or names.take(f"{node.name}_{name}")

    def _check_dtypes(self, node: Node) -> None:
        """Refuse inputs of another kind than in op.yml; floats may differ in size."""
        for each in self.custom.spec.inputs:
            tensor = self._at(node, each.name)
            if tensor is None or not tensor.dtype or each.dtype is None:
                continue
            are_floats = "float" in tensor.dtype and "float" in each.dtype
            if tensor.dtype != each.dtype and not are_floats:
                raise MismatchError(
                    f"input '{each.name}' is {tensor.dtype} (expected {each.dtype}, "
                    f"inputs.{each.name}.dtype in op.yml)"
                )
        first = self._at(node, self.custom.spec.inputs[0].name)
        for each in self.custom.spec.outputs:
            position = self.outputs[each.name]
            tensor = node.outputs[position] if position < len(node.outputs) else None
            expected = each.dtype or (first.dtype if first else "")
            if tensor is None or not tensor.dtype or not expected:
                continue
            if tensor.dtype != expected and not ("float" in tensor.dtype and "float" in expected):
                source = "in op.yml" if each.dtype else "by the first input"
                raise MismatchError(
                    f"output '{each.name}' is {tensor.dtype} (expected {expected}, {source}); "
                    f"write outputs.{each.name}.dtype in op.yml"
                )


def rewriter(
    opened: OpenModel,
    model: Model,
    custom: Custom,
    nodes: Sequence[Node],
    constants: Mapping[str, Any],
) -> Rewriter:
    """Return the rewriter for all nodes of an operator."""
    opset = model.opsets.get(STANDARD, 1)
    schema = schema_of(nodes[0].op_type, nodes[0].domain, opset)
    where = f"{opened.file}, {custom.operator.root}"
    count = max(len(node.inputs) for node in nodes)
    columns = [[at(node.inputs, index) for node in nodes] for index in range(count)]
    used = [index for index, column in enumerate(columns) if any(map(_is_used, column))]
    constant = {
        index for index in used if all(each.constant for each in columns[index] if each is not None)
    }
    written = {
        index for node in nodes for index, each in enumerate(node.outputs) if each is not None
    }
    try:
        formal = _formal(schema.inputs) if schema else []
        inputs = input_positions(custom, used, constant, formal)
        formal = _formal(schema.outputs) if schema else []
        outputs = output_positions(custom, sorted(written), formal)
    except MismatchError as error:
        name = printable(shortened(nodes[0].name))
        raise OpkitError(f"{where}: node {name!r} has {error}") from None
    return Rewriter(where, custom, schema, inputs, outputs, constants)


def _formal(parameters: Iterable[Any]) -> list[str]:
    """Return the names of a schema's inputs or outputs; none for a variable count."""
    found = [*parameters]
    is_variadic = bool(found) and str(found[-1].option).endswith("Variadic")
    return [] if is_variadic else [each.name for each in found]


def _is_used(tensor: Tensor | None) -> bool:
    return tensor is not None and not tensor.is_empty


def _quoted(name: str) -> str:
    return repr(printable(shortened(name)))
