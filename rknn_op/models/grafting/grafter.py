"""Graft the nodes of an operator: their inputs, outputs and attributes by op.yml."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from opkit.common.errors import OpkitError
from opkit.common.text import printable, shortened
from opkit.description.spec import Param, ParamValue, describe_allowed, refused
from rknn_op.models import optional_inputs
from rknn_op.models.grafting.custom_nodes import (
    Custom,
    GraftedNode,
    MismatchError,
    input_positions,
    output_positions,
)
from rknn_op.models.model_files import input_names, required, schema_of
from rknn_op.models.model_graph import CASTS, STANDARD, Model, Node, Tensor, at
from rknn_op.models.running.weights import OpenModel

Array = Any


def _take(names: set[str], wanted: str) -> str:
    """Return a unique name similar to the wanted one; add it to the names of all tensors."""
    others = (f"{wanted}_{index}" for index in itertools.count(1))
    name = wanted if wanted not in names else next(each for each in others if each not in names)
    names.add(name)
    return name


@dataclass(frozen=True)
class Grafter:
    """Grafts the nodes of an operator.

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

    def graft(self, node: Node, original: Any, message: Any, names: set[str]) -> GraftedNode:
        """Change the message of a node.

        Args:
            node: the node.
            original: its message in the model.
            message: the message to change.
            names: the names of all tensors; new ones are added.

        Raises:
            OpkitError: it does not match the description.
        """
        added: dict[str, Array] = {}
        casts: dict[str, Tensor] = {}
        narrow: dict[str, str] = {}  # original tensor -> the one behind or before its Cast

        def cast(tensor: Tensor, dtype: str) -> str:
            if tensor.name not in narrow:
                narrow[tensor.name] = _take(names, f"{tensor.name}_{dtype}")
                casts[narrow[tensor.name]] = tensor
            return narrow[tensor.name]

        try:
            attributes = self._attributes(node, original)
            inputs = [
                self._tensor(node, each.name, added, names) for each in self.custom.spec.inputs
            ]
            for position, each in enumerate(self.custom.spec.inputs):
                name, tensor = inputs[position], self._at(node, each.name)
                if name in added:
                    added[name] = added[name].astype(
                        _cast_type(str(added[name].dtype), each.dtype) or added[name].dtype
                    )
                elif tensor and (dtype := _cast_type(tensor.dtype, each.dtype)):
                    inputs[position] = cast(tensor, dtype)
            tensors = len(inputs)
            inputs += self._constants(node, attributes, added, names)
            given = {param.name for param in self.custom.constants[: len(inputs) - tensors]}
            for param in self.custom.spec.params:
                if param.name in attributes or param.name in given:
                    continue
                if param.default is None:
                    raise MismatchError(
                        f"has no attribute '{param.name}', and params.{param.name} has no default "
                        "in op.yml; add one"
                    )
                # The floats of an attribute are float32.
                defaults = param.default if isinstance(param.default, tuple) else (param.default,)
                is_exact = param.type.element.name != "float64" or all(
                    float(np.float32(each)) == each
                    for each in defaults
                    if isinstance(each, (int, float))
                )
                if is_exact and not self.custom.form.unreadable(param.default):
                    attributes[param.name] = param.default
            self._check_dtypes(node)
            if all(each is None or each.constant for each in node.inputs):
                raise MismatchError(
                    "all its inputs are constant, so that converters compute it once and remove "
                    "it; simplify the model, for instance with onnxsim"
                )
        except MismatchError as error:
            name = printable(shortened(node.name))
            raise OpkitError(f"{self.where}: node {name!r}: {error}") from None
        grafted = required("onnx").NodeProto() if self.custom.form.keeps_nodes else message
        grafted.op_type = self.custom.form.op_type
        grafted.domain = self.custom.form.domain or ""
        outputs = [
            self._output(node, original, each.name, names) for each in self.custom.spec.outputs
        ]
        for position, (expected, tensor) in enumerate(self._typed_outputs(node)):
            if tensor and (dtype := _cast_type(tensor.dtype, expected)):
                outputs[position] = cast(tensor, dtype)
        if message is not grafted:
            message.input[:] = [narrow.get(name, name) for name in message.input]
            message.output[:] = [narrow.get(name, name) for name in message.output]
        for field_, values in (("input", inputs), ("output", outputs)):
            grafted.ClearField(field_)
            getattr(grafted, field_).extend(values)
        grafted.ClearField("attribute")
        grafted.attribute.extend(
            _attribute_of(param, attributes[param.name])
            for param in self.custom.spec.params
            if param.name in attributes
        )
        return GraftedNode(node, self.custom, original, message, grafted, added, casts)

    # ---- Attributes ----

    def _attributes(self, node: Node, original: Any) -> dict[str, ParamValue]:
        """Return the values of the node's attributes, and of params for outputs that it lacks.

        In the order of op.yml.
        """
        params = {param.name: param for param in self.custom.spec.params}
        defaults = {
            name: known.default_value
            for name, known in (self.schema.attributes if self.schema else {}).items()
            if known.default_value.type
        }
        get = required("onnx.helper").get_attribute_value
        values: dict[str, ParamValue] = {}
        for attribute in original.attribute:
            if attribute.name in params:
                values[attribute.name] = _value_of(params[attribute.name], attribute)
                continue
            default = defaults.get(attribute.name)
            if default is None or get(default) != get(attribute):
                called = printable(shortened(attribute.name))
                expected = ", ".join(params) or "none"
                raise MismatchError(f"attribute {called!r} is not in op.yml (expected {expected})")
        for name, value in values.items():
            if bad := self.custom.form.unreadable(value):
                readable = self.custom.form.readable
                raise MismatchError(f"attribute '{name}' is {bad[0]} (expected {readable})")
        present = {
            name
            for slots, tensors in ((self.inputs, node.inputs), (self.outputs, node.outputs))
            for name, position in slots.items()
            if at(tensors, position) is not None
        }
        values = {**optional_inputs.params(node.op_type, present, node.attributes), **values}
        return {name: values[name] for name in params if name in values}

    # ---- Inputs and outputs ----

    def _at(self, node: Node, name: str) -> Tensor | None:
        position = self.inputs.get(name)
        return None if position is None else at(node.inputs, position)

    def _tensor(self, node: Node, name: str, added: dict[str, Array], names: set[str]) -> str:
        """Return the tensor of an input; add a constant for an optional one."""
        tensor = self._at(node, name)
        if tensor is not None and not tensor.is_empty:
            return tensor.name
        if required("onnx").defs.has(node.op_type):
            formal = dict(enumerate(input_names(self.schema) if self.schema else []))
        else:  # the names are those of op.yml
            formal = {position: each for each, position in self.inputs.items()}
        present = {
            formal[position]: each
            for position, each in enumerate(node.inputs)
            if each is not None and position in formal
        }
        known = (each for each in formal.values() if each.lower() == name.lower())
        own = formal.get(self.inputs.get(name, -1), next(known, name))
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
        free = _take(names, f"{node.name}_{name}")
        added[free] = value
        return free

    def _constants(
        self,
        node: Node,
        attributes: dict[str, ParamValue],
        added: dict[str, Array],
        names: set[str],
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
                name = _take(names, f"{node.name}_{param.name}")
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
        is_float = param.type.element.kind == "float"
        if array.dtype.kind not in ("biuf" if is_float else "biu"):
            kind = "numbers" if is_float else "integers"
            raise MismatchError(f"input '{param.name}' is {array.dtype} (expected {kind})")
        return _checked(param, array.ravel().tolist(), "input")

    def _output(self, node: Node, original: Any, name: str, names: set[str]) -> str:
        position = self.outputs[name]
        own = original.output[position] if position < len(original.output) else ""
        return own or _take(names, f"{node.name}_{name}")

    def _check_dtypes(self, node: Node) -> None:
        """Refuse dtypes that are neither those of op.yml nor cast; floats may differ in size."""
        for each in self.custom.spec.inputs:
            tensor = self._at(node, each.name)
            if tensor and each.dtype and not _fits(tensor.dtype, each.dtype):
                raise MismatchError(
                    f"input '{each.name}' is {tensor.dtype} (expected {each.dtype}, "
                    f"inputs.{each.name}.dtype in op.yml)"
                )
        for each, (expected, tensor) in zip(
            self.custom.spec.outputs, self._typed_outputs(node), strict=True
        ):
            if tensor and expected and not _fits(tensor.dtype, expected):
                source = "in op.yml" if each.dtype else "by the first input"
                raise MismatchError(
                    f"output '{each.name}' is {tensor.dtype} (expected {expected}, {source}); "
                    f"write outputs.{each.name}.dtype in op.yml"
                )

    def _typed_outputs(self, node: Node) -> Iterator[tuple[str, Tensor | None]]:
        """Yield the dtype of each output, empty if it is unknown, and its tensor."""
        own = self.custom.spec.inputs[0]
        first = self._at(node, own.name)
        inherited = own.dtype or (first.dtype if first else "")
        for each in self.custom.spec.outputs:
            yield each.dtype or inherited, at(node.outputs, self.outputs[each.name])


def _cast_type(dtype: str, declared: str | None) -> str:
    """Return the dtype of a Cast for a tensor; empty for none.

    No runtime has float64; int64 is cast where op.yml says so.
    """
    return CASTS.get(dtype, "") if dtype == "float64" or declared == CASTS.get(dtype) else ""


def _fits(dtype: str, expected: str) -> bool:
    """Return whether a tensor of a model is that of op.yml; floats may differ in size."""
    are_floats = "float" in dtype and "float" in expected
    return not dtype or dtype == expected or are_floats or CASTS.get(dtype) == expected


def grafter(
    opened: OpenModel,
    model: Model,
    custom: Custom,
    nodes: Sequence[Node],
    constants: Mapping[str, Any],
) -> Grafter:
    """Return the grafter for all nodes of an operator."""
    opset = model.opsets.get(STANDARD, 1)
    schema = schema_of(nodes[0].op_type, nodes[0].domain, opset)
    where = f"{opened.file}, {custom.operator.root}"
    count = max(len(node.inputs) for node in nodes)
    columns = [[at(node.inputs, index) for node in nodes] for index in range(count)]
    used = [
        index
        for index, column in enumerate(columns)
        if any(each is not None and not each.is_empty for each in column)
    ]
    constant = {
        index for index in used if all(each.constant for each in columns[index] if each is not None)
    }
    written = {
        index for node in nodes for index, each in enumerate(node.outputs) if each is not None
    }
    try:
        formal = input_names(schema) if schema and not _is_variadic(schema.inputs) else []
        inputs = input_positions(custom, used, constant, formal)
        is_named = schema and not _is_variadic(schema.outputs)
        formal = [each.name for each in schema.outputs] if is_named else []
        outputs = output_positions(custom, sorted(written), formal)
    except MismatchError as error:
        name = printable(shortened(nodes[0].name))
        raise OpkitError(f"{where}: node {name!r} has {error}") from None
    return Grafter(where, custom, schema, inputs, outputs, constants)


def _is_variadic(parameters: Sequence[Any]) -> bool:
    """Return whether a schema's inputs or outputs have a variable count."""
    return bool(parameters) and str(parameters[-1].option).endswith("Variadic")


# ---- Attributes as values of params, and the reverse ---------------------------------------------

_TYPES = {"int": "INT", "float": "FLOAT", "ints": "INTS", "floats": "FLOATS", "string": "STRING"}
"""Kind of a param -> the type of its attribute."""
_OTHER_TYPES = {"FLOAT": "INT", "FLOATS": "INTS", "STRING": "STRINGS"}
"""Type of an attribute -> the other type with its values; the texts of a list are one text."""


def _value_of(param: Param, attribute: Any) -> ParamValue:
    """Return an attribute as the value of a param.

    Raises:
        MismatchError: it has another type, length or range than the param.
    """
    onnx = required("onnx")
    kind = onnx.AttributeProto.AttributeType.Name(attribute.type)
    expected = _TYPES[param.type.onnx]
    if kind not in (expected, _OTHER_TYPES.get(expected)):
        raise MismatchError(
            f"attribute '{param.name}' has the type {kind} (expected {expected}, "
            f"params.{param.name} in op.yml)"
        )
    value = onnx.helper.get_attribute_value(attribute)
    if param.type.is_text:
        texts = [value] if isinstance(value, bytes) else value
        return _allowed(param, b",".join(texts).decode(errors="replace"), "attribute")
    items = [*value] if param.type.is_list else [value]
    return _checked(param, items, "attribute")


def _checked(param: Param, items: list[Any], role: str) -> ParamValue:
    """Return items as the value of a param."""
    where = f"{role} '{param.name}'"
    length = param.length if param.type.is_list else 1
    if length not in (None, len(items)):
        raise MismatchError(f"{where} has {len(items)} items (expected {length})")
    low, high = param.type.element.limits or (-math.inf, math.inf)
    for item in items:
        if not low <= item <= high and not math.isnan(item):
            raise MismatchError(
                f"{where} is {item} (expected {low} to {high}, params.{param.name}.type in op.yml)"
            )
    return _allowed(param, tuple(items) if param.type.is_list else items[0], role)


def _allowed(param: Param, value: ParamValue, role: str) -> ParamValue:
    """Return a value that min, max and choices in op.yml allow."""
    for item in refused(param, value):
        raise MismatchError(
            f"{role} '{param.name}' is {item} (expected {describe_allowed(param)}, "
            f"params.{param.name} in op.yml)"
        )
    return value


def _attribute_of(param: Param, value: ParamValue) -> Any:
    """Return a value as the attribute of a param."""
    onnx = required("onnx")
    type_ = _TYPES[param.type.onnx]
    convert = {"STRING": str}.get(type_, float if type_.startswith("FLOAT") else int)
    items = [convert(each) for each in value] if isinstance(value, tuple) else convert(value)
    return onnx.helper.make_attribute(
        param.name, items, attr_type=onnx.AttributeProto.AttributeType.Value(type_)
    )
