"""A form applied to a node of a model: a small model with its nodes alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from math import prod
from typing import Any

import numpy as np

from rknn_op.models.model_files import required, schema_of
from rknn_op.models.model_graph import STANDARD, Node, Tensor
from rknn_op.models.rewriting.form import Builder, ConditionError, Form, apply

IR_VERSION = 8
"""Of small models; onnxruntime and the toolkit read it."""
_NAME = "rewritten"
_FUNCTIONS_OPSET = 18
"""The opset of the functions in the schemas of earlier operators."""
_MIN_OPSET = 14
"""onnx converts them to no earlier one."""


@dataclass(frozen=True)
class Body:
    """The nodes in place of one.

    Attributes:
        form: the form.
        node: the node.
        model: a model of them, whose inputs and outputs are those tensors of the node's that they
            read and make. Constants of the model are inputs, too, if their value is not known.
    """

    form: Form
    node: Node
    model: Any

    @property
    def op_types(self) -> Counter[str]:
        """The operators and their count."""
        return Counter(each.op_type for each in self.model.graph.node)

    @property
    def weights(self) -> int:
        """The bytes of its constants on the chip, which has floats of 16 bits."""
        return sum(_bytes(each.dims, each.data_type) for each in self.model.graph.initializer)

    @property
    def moved(self) -> int | None:
        """The bytes that its nodes read and write on the chip; None: a shape is unknown."""
        types = _types(self.model.graph)
        constants = self.model.graph.initializer
        known = {each.name: _bytes(each.dims, each.data_type) for each in constants}
        total = 0
        for node in self.model.graph.node:
            for name in (*node.input, *node.output):
                if not name:
                    continue
                if name not in known and (type_ := types.get(name)):
                    known[name] = -1 if type_[1] is None else _bytes(type_[1], type_[0])
                if known.get(name, -1) < 0:
                    return None
                total += known[name]
        return total

    @property
    def products(self) -> int:
        """The multiply-adds of its MatMul and convolutions."""
        graph = self.model.graph
        shapes = {name: shape for name, (_, shape) in _types(graph).items() if shape is not None}
        shapes.update((each.name, tuple(each.dims)) for each in graph.initializer)
        total = 0
        for node in graph.node:
            read = [shapes[name] for name in node.input[:2] if name in shapes]
            if node.op_type in _DEPTH and len(read) == 2 and node.output[0] in shapes:
                total += prod(shapes[node.output[0]]) * _DEPTH[node.op_type](read)
        return total


_DEPTH: Mapping[str, Callable[[Sequence[Sequence[int]]], int]] = {
    "MatMul": lambda shapes: shapes[0][-1],
    "Gemm": lambda shapes: max(shapes[0]),
    "Conv": lambda shapes: prod(shapes[1][1:]),
    "ConvTranspose": lambda shapes: shapes[1][0],
}
"""Operator -> (shapes of its first two inputs) -> the products in an element of its output."""


def _bytes(shape: Sequence[int], dtype: int) -> int:
    size = np.dtype(required("onnx.helper").tensor_dtype_to_np_dtype(dtype)).itemsize
    is_float = dtype in (required("onnx").TensorProto.FLOAT, required("onnx").TensorProto.DOUBLE)
    return prod(shape) * (2 if is_float else size)


def _types(graph: Any) -> dict[str, tuple[int, tuple[int, ...] | None]]:
    """Return tensor -> its element type and shape; None: a size is unknown."""
    found = {}
    for each in (*graph.value_info, *graph.input, *graph.output):
        type_ = each.type.tensor_type
        is_known = all(size.HasField("dim_value") for size in type_.shape.dim)
        shape = tuple(size.dim_value for size in type_.shape.dim) if is_known else None
        found[each.name] = type_.elem_type, shape
    return found


def body_of(form: Form, node: Node, message: Any, constants: Mapping[str, Any], opset: int) -> Body:
    """Return the nodes of a form in place of one.

    Args:
        form: the form.
        node: the node.
        message: its message.
        constants: name of a constant of the model -> its message, as far as its value is known.
        opset: the version of ONNX's own domain.

    Raises:
        ConditionError: the form does not hold for the node.
    """
    made = _inlined if form.function is None else _applied
    model = made(form, node, message, constants, opset)
    try:
        required("onnxscript.optimizer").optimize(model)
    except RuntimeError:
        raise ConditionError("its constants cannot be folded") from None
    _name_after(model.graph, node)
    proto = required("onnx_ir").to_proto(model)
    read = {name for each in proto.graph.node for name in each.input}
    for position in reversed(range(len(proto.graph.input))):
        if proto.graph.input[position].name not in read:
            del proto.graph.input[position]
    return Body(form, node, proto)


def _applied(form: Form, node: Node, message: Any, constants: Mapping[str, Any], opset: int) -> Any:
    """Return a model of the nodes that the function of a form makes."""
    ir = required("onnx_ir")
    graph = ir.Graph([], [], nodes=[], opset_imports={"": opset}, name=_NAME)
    inputs = _inputs(ir, node, constants)
    for value in inputs.values():
        if value.const_value is None:
            graph.inputs.append(value)
        else:
            graph.register_initializer(value)
    get = required("onnx.helper").get_attribute_value
    attributes = {each.name: get(each) for each in message.attribute}
    op = Builder(graph, opset)
    single = {name: _as_single(ir, op, value) for name, value in inputs.items()}
    given = [single[each.name] if each else None for each in node.inputs]
    outputs = [
        op.Cast(value, to=ir.DataType.DOUBLE)
        if tensor and value and tensor.dtype == "float64" and value.dtype == ir.DataType.FLOAT
        else value
        for tensor, value in zip_longest(node.outputs, apply(form, op, given, attributes))
    ]
    _set_outputs(ir, graph, node, outputs)
    return ir.Model(graph, ir_version=IR_VERSION)


def _inputs(ir: Any, node: Node, constants: Mapping[str, Any]) -> dict[str, Any]:
    """Return the inputs of a node as values of onnx_ir, by name."""
    found = {}
    for tensor in filter(None, node.inputs):
        if not tensor.dtype:
            raise ConditionError(f"the dtype of {tensor.name} is unknown")
        shape = None if tensor.shape is None else ir.Shape(tensor.shape)
        dtype = ir.DataType.from_numpy(np.dtype(tensor.dtype))
        value = ir.Value(name=tensor.name, type=ir.TensorType(dtype), shape=shape)
        if tensor.name in constants:
            value.const_value = ir.from_proto(constants[tensor.name])
        found[tensor.name] = value
    return found


def _as_single(ir: Any, op: Builder, value: Any) -> Any:
    """Return a tensor in float32 if it is in float64, which no chip has."""
    if value.dtype != ir.DataType.DOUBLE:
        return value
    if value.const_value is not None:
        return op.constant(value.const_value.numpy().astype(np.float32))
    return op.Cast(value, to=ir.DataType.FLOAT)


def _set_outputs(ir: Any, graph: Any, node: Node, outputs: Sequence[Any]) -> None:
    for position, tensor in enumerate(node.outputs):
        if tensor is None:
            continue
        if position >= len(outputs) or outputs[position] is None:
            raise ConditionError(f"output {position} is used")
        value = outputs[position]
        if value.producer() is None or value in graph.outputs:  # an input, a constant, or twice
            identity = ir.node("Identity", [value])
            graph.append(identity)
            value = identity.outputs[0]
        value.name = tensor.name
        if tensor.dtype:
            value.type = ir.TensorType(ir.DataType.from_numpy(np.dtype(tensor.dtype)))
        if tensor.shape is not None:
            value.shape = ir.Shape(tensor.shape)
        graph.outputs.append(value)


def _inlined(_: Form, node: Node, message: Any, constants: Mapping[str, Any], opset: int) -> Any:
    """Return the function of an operator's schema for a node."""
    onnx, helper, ir = required("onnx"), required("onnx.helper"), required("onnx_ir")

    def info(tensor: Tensor) -> Any:
        if not tensor.dtype or tensor.is_dynamic:
            raise ConditionError(f"the shape of {tensor.name} is unknown")
        element = helper.np_dtype_to_tensor_dtype(np.dtype(tensor.dtype))
        return helper.make_tensor_value_info(tensor.name, element, tensor.shape)

    inputs = {each.name: each for each in node.inputs if each}
    complete = onnx.NodeProto()
    complete.CopyFrom(message)
    schema, given = schema_of(node.op_type, STANDARD, opset), {a.name for a in message.attribute}
    complete.attribute.extend(
        each.default_value
        for name, each in schema.attributes.items()
        if name not in given and each.default_value.type
    )
    graph = helper.make_graph(
        [complete],
        _NAME,
        [info(each) for name, each in inputs.items() if name not in constants],
        [info(each) for each in node.outputs if each],
        [constants[name] for name in inputs if name in constants],
    )
    for version in dict.fromkeys((opset, _FUNCTIONS_OPSET)):
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", version)], ir_version=IR_VERSION
        )
        try:
            inlined = required("onnx.inliner").inline_selected_functions(
                model, [("", node.op_type)], exclude=False, inline_schema_functions=True
            )
            if any(each.op_type == node.op_type for each in inlined.graph.node):
                continue
            made = ir.from_proto(onnx.shape_inference.infer_shapes(inlined))
            if version == opset:
                return made
            required("onnxscript.optimizer").optimize(made)
            convert = required("onnx.version_converter").convert_version
            inlined = convert(ir.to_proto(made), opset)
        except RuntimeError:
            continue
        return ir.from_proto(onnx.shape_inference.infer_shapes(inlined))
    if opset < _MIN_OPSET:
        raise ConditionError(f"opset {opset} (expected at least {_MIN_OPSET}; export with 17)")
    raise ConditionError("onnx cannot write out the function of its schema")


def _name_after(graph: Any, node: Node) -> None:
    """Name new tensors and nodes after the node."""
    own = {each.name for each in (*node.inputs, *node.outputs) if each}
    for index, each in enumerate(graph):
        each.name = f"{node.name}/{each.op_type}_{index}"
        each.metadata_props.clear()
        for number, output in enumerate(each.outputs):
            if output.name not in own:
                output.name = f"{each.name}_output_{number}"
    for index, name in enumerate([*graph.initializers]):
        if name not in own:
            value = graph.initializers.pop(name)
            value.name = f"{node.name}/constant_{index}"
            graph.register_initializer(value)


def schema_form(op_type: str, opset: int) -> Form | None:
    """Return the form by the function in the schema of an operator; None: it has none."""
    schema = schema_of(op_type, STANDARD, opset)
    has_function = schema and (schema.has_function or schema.has_context_dependent_function)
    return Form(op_type, None) if has_function else None
