"""Read a frozen graph of TensorFlow with tensorboardX's protobuf classes, without TensorFlow."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rknn_op.models import model_files
from rknn_op.models.model_files import InvalidError, check_count, quoted, required
from rknn_op.models.model_graph import Dimension, Model, Node, Opaque, Tensor, TypeName, Value

_CONSTANT = "Const"
_PLACEHOLDERS = frozenset(("Placeholder", "PlaceholderWithDefault"))
_MAX_CYCLE = 6
"""Maximum nodes of a cycle in a message."""

_DTYPE_KEYS = ("dtype", "T", "DstT", "out_type", "output_type")


def read(file: Path) -> Model:
    """Return a frozen graph; shapes are known of placeholders, constants and annotated nodes.

    Raises:
        OpkitError: tensorboardX is not installed, or the file is not a valid graph.
    """
    try:
        return _model(file, _load(file))
    except InvalidError as error:
        raise model_files.model_error(file, error) from None


def _load(file: Path) -> Any:
    graph = required("tensorboardX.proto.graph_pb2").GraphDef()
    from google.protobuf.message import DecodeError

    try:
        graph.ParseFromString(model_files.contents(file, "a frozen graph"))
    except DecodeError:
        raise InvalidError("is not a frozen graph (GraphDef), or is truncated") from None
    if not graph.node:
        raise InvalidError("is not a frozen graph (GraphDef): it has no nodes")
    check_count(len(graph.node))
    return graph


def _model(file: Path, graph: Any) -> Model:
    protos: dict[str, Any] = {}
    for proto in graph.node:
        if proto.name in protos:
            raise InvalidError(f"two nodes have the name {quoted(proto.name)}")
        protos[proto.name] = proto
    tensors: dict[str, Tensor] = {}
    nodes = []
    for proto in _ordered(protos):
        inputs = tuple(_tensor(tensors, each) for each in _data_inputs(proto))
        output = _output(proto, inputs)
        tensors[proto.name] = output
        attributes = {key: _value(value) for key, value in sorted(proto.attr.items())}
        nodes.append(Node(proto.name, proto.op, "", inputs, (output,), attributes))
    placeholders = tuple(
        node.outputs[0] for node in nodes if node.op_type in _PLACEHOLDERS and node.outputs[0]
    )
    return Model(file, "tensorflow", {}, 0, placeholders, tuple(nodes))


def _data_inputs(proto: Any) -> list[str]:
    """Return the inputs of a node without control dependencies (`^name`)."""
    return [each for each in proto.input if not each.startswith("^")]


def _ordered(protos: Mapping[str, Any]) -> list[Any]:
    """Return the nodes in the order of computation: GraphDef files have any order.

    Raises:
        InvalidError: the graph has a cycle, or a node reads another one that is missing.
    """
    from graphlib import CycleError, TopologicalSorter

    before = {name: {_node_of(each) for each in _data_inputs(p)} for name, p in protos.items()}
    for name, names in before.items():
        for missing in names - protos.keys():
            raise InvalidError(f"node {quoted(name)} reads {quoted(missing)}, which is missing")
    try:
        order = TopologicalSorter(before).static_order()
        return [protos[name] for name in order]
    except CycleError as error:
        cycle = " -> ".join(map(quoted, error.args[1][:_MAX_CYCLE]))
        more = " -> ..." if len(error.args[1]) > _MAX_CYCLE else ""
        raise InvalidError(f"the graph has a cycle: {cycle}{more}") from None


def _node_of(tensor: str) -> str:
    return tensor.partition(":")[0]


def _tensor(tensors: Mapping[str, Tensor], name: str) -> Tensor:
    output = tensors[_node_of(name)]
    first = name == _node_of(name) or name.endswith(":0")
    return output if first else Tensor(name, None, "", output.constant)


def _output(proto: Any, inputs: tuple[Tensor, ...]) -> Tensor:
    is_constant = proto.op == _CONSTANT or (bool(inputs) and all(each.constant for each in inputs))
    attributes = proto.attr
    shape = None
    if proto.op == _CONSTANT and "value" in attributes:
        shape = _shape(attributes["value"].tensor.tensor_shape)
    elif proto.op in _PLACEHOLDERS and "shape" in attributes:
        shape = _shape(attributes["shape"].shape)
    elif "_output_shapes" in attributes and attributes["_output_shapes"].list.shape:
        shape = _shape(attributes["_output_shapes"].list.shape[0])
    key = next((key for key in _DTYPE_KEYS if key in attributes), "")
    return Tensor(proto.name, shape, _dtype(attributes[key].type) if key else "", is_constant)


def _shape(proto: Any) -> tuple[Dimension, ...] | None:
    if proto.unknown_rank:
        return None
    return tuple(None if each.size < 0 else each.size for each in proto.dim)


def _dtype(data_type: int) -> str:
    """Return numpy's name of a DataType; empty for an unknown one."""
    types = required("tensorboardX.proto.types_pb2")
    if data_type not in types.DataType.values():
        return ""
    name: str = types.DataType.Name(data_type).removeprefix("DT_").lower().removesuffix("_ref")
    return {"float": "float32", "double": "float64", "half": "float16"}.get(name, name)


def _value(proto: Any) -> Value:
    """Return an attribute's value; a tensor as a text."""
    kind = proto.WhichOneof("value")
    if kind is None:
        return ""
    value = getattr(proto, kind)
    if kind == "s":
        return bytes(value).decode(errors="replace")
    if kind == "type":
        return TypeName(_dtype(value))
    if kind == "tensor":
        return Opaque(f"<{_dtype(value.dtype)}{[each.size for each in value.tensor_shape.dim]}>")
    if kind == "shape":
        return Opaque(f"<shape {[each.size for each in value.dim]}>")
    if kind == "list":
        return tuple(_items(value))
    return value if isinstance(value, (bool, int, float)) else Opaque(f"<{kind}>")


def _items(proto: Any) -> list[Value]:
    numbers: list[Value] = [*proto.i, *proto.f, *proto.b]
    texts: list[Value] = [bytes(each).decode(errors="replace") for each in proto.s]
    return numbers + texts + [TypeName(_dtype(each)) for each in proto.type]
