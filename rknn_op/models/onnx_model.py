"""Read an ONNX model with the onnx library: nodes, shapes, constant tensors."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any

from opkit.common.text import printable
from rknn_op.models import model_files
from rknn_op.models.model_files import InvalidError, quoted, required
from rknn_op.models.model_graph import (
    MAX_VALUES,
    Cleaned,
    Dimension,
    Model,
    Node,
    Opaque,
    Tensor,
    Value,
    domain_of,
)
from rknn_op.models.onnx_file import load_with_shapes, subgraphs

RANDOM = frozenset(
    "Bernoulli Multinomial RandomNormal RandomNormalLike RandomUniform RandomUniformLike".split()
)
"""Operators whose outputs differ from run to run: never constant."""

_OF_SHAPE = frozenset(("Shape", "Size"))
"""Operators that read only the shape of their input."""

_CONSTANT = "Constant"

_Scope = Mapping[str, Tensor]
"""The tensors that a node can read, by name."""


def read(file: Path) -> Model:
    """Return an ONNX model with inferred shapes; its weights and external data are not read.

    Raises:
        OpkitError: onnx is not installed, or the file is not a valid model.
    """
    return as_model(file, load_with_shapes(file))


def as_model(file: Path, proto: Any, cleaned: Cleaned | None = None) -> Model:
    """Return a message as a model.

    Args:
        file: its file.
        proto: the message, with inferred shapes and without local functions.
        cleaned: what cleaning changed in it; None: it is as in the file.

    Raises:
        OpkitError: the message is not a valid model.
    """
    onnx = required("onnx")
    initializers = {each.name for each in proto.graph.initializer}
    scope: dict[str, Tensor] = {}
    try:
        nodes = tuple(_nodes(onnx, proto.graph, scope))
    except InvalidError as error:
        raise model_files.model_error(file, error) from None
    return Model(
        file,
        "onnx",
        {domain_of(each.domain): each.version for each in proto.opset_import},
        proto.ir_version,
        tuple(scope[each.name] for each in proto.graph.input if each.name not in initializers),
        nodes,
        cleaned,
        proto,
    )


def _nodes(onnx: Any, graph: Any, scope: MutableMapping[str, Tensor]) -> Iterator[Node]:
    """Yield the nodes of a graph and of its subgraphs; add the graph's tensors to the scope.

    Raises:
        InvalidError: a node reads a tensor before its computation, or computes it again.
    """
    types = {each.name: each for each in (*graph.value_info, *graph.output, *graph.input)}
    scope.update({each.name: _tensor(onnx, each.name, types) for each in graph.input})
    constants = {each.name: each for each in graph.initializer}
    constants.update({each.values.name: each for each in graph.sparse_initializer})
    scope.update({name: _constant(onnx, name, each) for name, each in constants.items()})
    # Tensor -> the description of its maker.
    makers = dict.fromkeys((each.name for each in graph.input), "an input of the graph")
    makers.update(dict.fromkeys(constants, "a constant"))
    for position, proto in enumerate(graph.node):
        name = node_name(proto, position)
        inputs = tuple(_input(scope, graph, each, name) for each in proto.input)
        bodies = subgraphs(proto)
        if proto.op_type in _OF_SHAPE:
            is_constant = not any(each and each.is_dynamic for each in inputs)
        else:
            is_constant = all(each is None or each.constant for each in inputs)
        is_constant = is_constant and not bodies and proto.op_type not in RANDOM
        for output in filter(None, proto.output):
            if output in makers:
                raise InvalidError(
                    f"node {quoted(name)} computes the tensor {quoted(output)}, which is also "
                    f"{makers[output]}; tensors need different names"
                )
            makers[output] = f"an output of node {quoted(name)}"
        outputs = tuple(
            _tensor(onnx, each, types, is_constant) if each else None for each in proto.output
        )
        if proto.op_type == _CONSTANT and len(outputs) == 1 and outputs[0]:
            outputs = (replace(outputs[0], value=_constant_value(onnx, proto)),)
        scope.update({each.name: each for each in outputs if each})
        attributes = {each.name: _value(onnx, each) for each in proto.attribute}
        yield Node(name, proto.op_type, domain_of(proto.domain), inputs, outputs, attributes)
        for body in bodies:
            yield from _nodes(onnx, body, ChainMap({}, scope))
    for each in graph.output:
        if each.name not in scope:
            raise InvalidError(f"no node computes the output {quoted(each.name)}")


def node_name(node: Any, position: int) -> str:
    """Return the name of a node; of a node without one, `<op_type>_<position>` in its graph."""
    name: str = node.name or f"{node.op_type}_{position}"
    return name


def _input(scope: _Scope, graph: Any, name: str, node: str) -> Tensor | None:
    if not name:
        return None
    if name in scope:
        return scope[name]
    is_later = any(name in each.output for each in graph.node)
    reason = (
        "which a later node computes: the nodes have a cycle, or are not in the order of "
        "computation; docs/scan.md shows how to sort them"
        if is_later
        else "which is neither an input nor an output of a node"
    )
    raise InvalidError(f"node {quoted(node)} reads the tensor {quoted(name)}, {reason}")


def _tensor(onnx: Any, name: str, types: Mapping[str, Any], constant: bool = False) -> Tensor:
    info = types.get(name)
    if info is None or not info.type.HasField("tensor_type"):
        return Tensor(name, None, "", constant)
    type_ = info.type.tensor_type
    shape = tuple(map(_dimension, type_.shape.dim)) if type_.HasField("shape") else None
    return Tensor(name, shape, _dtype(onnx, type_.elem_type), constant)


def _constant(onnx: Any, name: str, proto: Any) -> Tensor:
    """Return the tensor of an initializer, dense or sparse."""
    if any(size < 0 for size in proto.dims):
        raise InvalidError(f"tensor {quoted(name)} has negative sizes: {[*proto.dims][:8]}")
    is_sparse = isinstance(proto, onnx.SparseTensorProto)
    dtype = _dtype(onnx, (proto.values if is_sparse else proto).data_type)
    elements = None if is_sparse else _elements(onnx, proto)
    return Tensor(name, tuple(proto.dims), dtype, constant=True, value=elements)


def _elements(onnx: Any, proto: Any) -> tuple[int | float, ...] | None:
    """Return the elements of a small tensor of numbers inside the file; None for others."""
    is_external = proto.data_location == onnx.TensorProto.EXTERNAL
    if is_external or prod(proto.dims) > MAX_VALUES or proto.data_type == onnx.TensorProto.STRING:
        return None
    try:
        array = onnx.numpy_helper.to_array(proto)
    except (TypeError, ValueError, KeyError):
        return None
    return tuple(array.ravel().tolist()) if array.dtype.kind in "biuf" else None


def _constant_value(onnx: Any, proto: Any) -> tuple[int | float, ...] | None:
    """Return the elements of a Constant node's small value; None for others."""
    for attribute in proto.attribute:
        if attribute.name == "value":
            return _elements(onnx, attribute.t)
        value = _value(onnx, attribute)
        items = value if isinstance(value, tuple) else (value,)
        if len(items) <= MAX_VALUES and all(isinstance(each, (int, float)) for each in items):
            return tuple(each for each in items if isinstance(each, (int, float)))
    return None


def _dimension(dimension: Any) -> Dimension:
    kind = dimension.WhichOneof("value")
    if kind is None or (kind == "dim_value" and dimension.dim_value < 0):
        return None
    size: int | str = getattr(dimension, kind)
    return size


def _dtype(onnx: Any, element_type: int) -> str:
    """Return numpy's name of an element type; empty for an unknown one."""
    if element_type not in onnx.TensorProto.DataType.values() or not element_type:
        return ""
    name: str = onnx.TensorProto.DataType.Name(element_type).lower()
    return {"float": "float32", "double": "float64"}.get(name, name)


def _value(onnx: Any, attribute: Any) -> Value:
    """Return an attribute's value; a tensor or a graph as a text."""
    try:
        return _plain(onnx, onnx.helper.get_attribute_value(attribute))
    except ValueError:
        return Opaque(f"<{printable(attribute.name)} of another attribute>")


def _plain(onnx: Any, value: Any) -> Value:
    if value is None:  # the attribute has no type
        return Opaque("<unknown>")
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, (int, float, str)):
        return value
    if isinstance(value, onnx.TensorProto):
        return Opaque(f"<{_dtype(onnx, value.data_type)}{list(value.dims)}>")
    if isinstance(value, onnx.SparseTensorProto):
        return Opaque(f"<sparse {_dtype(onnx, value.values.data_type)}{list(value.dims)}>")
    if isinstance(value, onnx.GraphProto):
        return Opaque(f"<graph {printable(value.name)}>")
    if isinstance(value, onnx.TypeProto):
        return Opaque("<type>")
    return tuple(_plain(onnx, each) for each in value)
