"""Read an ONNX model with the onnx library: nodes, shapes, constant tensors."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import Any

from opkit.errors import OpkitError
from opkit.models.extra import required
from opkit.models.model import Dimension, Model, Node, Tensor, Value
from opkit.text import printable

_SMALL = 4096
"""Maximum bytes of an initializer that shape inference reads: sizes, axes, pads."""

RANDOM = frozenset(
    "Bernoulli Multinomial RandomNormal RandomNormalLike RandomUniform RandomUniformLike".split()
)
"""Operators whose outputs differ from run to run: never constant."""

_OF_SHAPE = frozenset(("Shape", "Size"))
"""Operators that read only the shape of their input."""

_Scope = Mapping[str, Tensor]
"""The tensors that a node can read, by name."""


def read(file: Path) -> Model:
    """Return an ONNX model with inferred shapes; its weights and external data are not read.

    Raises:
        OpkitError: onnx is not installed, or the file is not a valid model.
    """
    onnx = required("onnx")
    proto = _with_shapes(onnx, load(file), file)
    initializers = {each.name for each in proto.graph.initializer}
    scope: dict[str, Tensor] = {}
    try:
        nodes = tuple(_nodes(onnx, proto.graph, scope))
    except _InvalidError as error:
        raise OpkitError(f"{file}: {error}") from None
    return Model(
        file,
        "onnx",
        {_domain(each.domain): each.version for each in proto.opset_import},
        proto.ir_version,
        tuple(scope[each.name] for each in proto.graph.input if each.name not in initializers),
        nodes,
    )


class _InvalidError(Exception):
    """The graph is invalid; the message names the node."""


def load(file: Path) -> Any:
    """Return the protobuf message of a file, without external data.

    Raises:
        OpkitError: onnx is not installed, or the file is not a model.
    """
    onnx = required("onnx")
    from google.protobuf.message import DecodeError

    try:
        proto = onnx.load(file, format="protobuf", load_external_data=False)
    except OSError as error:
        raise OpkitError(f"{file}: cannot be read: {error.strerror}") from None
    except DecodeError:
        raise OpkitError(f"{file}: is not an ONNX model, or is truncated") from None
    if not proto.HasField("graph") or not proto.opset_import:
        raise OpkitError(f"{file}: is not an ONNX model: it has no graph or no opset")
    return proto


def _with_shapes(onnx: Any, proto: Any, file: Path) -> Any:
    """Return a model with local functions inlined and shapes inferred.

    Large weights are dropped: shape inference copies the model, and does not need them.
    """
    for initializer in proto.graph.initializer:
        if len(initializer.raw_data) > _SMALL:
            initializer.ClearField("raw_data")
            initializer.data_location = onnx.TensorProto.EXTERNAL
            initializer.external_data.add(key="location", value="dropped")
    try:
        if proto.functions:
            proto = required("onnx.inliner").inline_local_functions(proto)
        return onnx.shape_inference.infer_shapes(proto, data_prop=True)
    except (ValueError, RuntimeError) as error:  # InferenceError is a RuntimeError
        reason = printable(str(error).strip().partition("\n")[0])
        raise OpkitError(f"{file}: is not a valid ONNX model: {reason}") from None


def _nodes(onnx: Any, graph: Any, scope: MutableMapping[str, Tensor]) -> Iterator[Node]:
    """Yield the nodes of a graph and of its subgraphs; add the graph's tensors to the scope."""
    types = {each.name: each for each in (*graph.value_info, *graph.output, *graph.input)}
    scope.update({each.name: _tensor(onnx, each.name, types) for each in graph.input})
    scope.update({each.name: _initializer(onnx, each) for each in graph.initializer})
    for position, proto in enumerate(graph.node):
        name = node_name(proto, position)
        inputs = tuple(_input(scope, each, name) for each in proto.input)
        bodies = subgraphs(proto)
        is_constant = not bodies and _is_constant(proto.op_type, inputs)
        outputs = tuple(
            _tensor(onnx, each, types, is_constant) if each else None for each in proto.output
        )
        scope.update({each.name: each for each in outputs if each})
        attributes = {each.name: _value(onnx, each) for each in proto.attribute}
        yield Node(name, proto.op_type, _domain(proto.domain), inputs, outputs, attributes)
        for body in bodies:
            yield from _nodes(onnx, body, ChainMap({}, scope))


def node_name(node: Any, position: int) -> str:
    """Return the name of a node; of a node without one, `<op_type>_<position>` in its graph."""
    name: str = node.name or f"{node.op_type}_{position}"
    return name


def subgraphs(node: Any) -> list[Any]:
    """Return the subgraphs of a node."""
    return [
        graph
        for attribute in node.attribute
        for graph in (*attribute.graphs, *([attribute.g] if attribute.HasField("g") else ()))
    ]


def _input(scope: _Scope, name: str, node: str) -> Tensor | None:
    if not name:
        return None
    if name not in scope:
        raise _InvalidError(
            f"node {printable(node)!r} reads the tensor {printable(name)!r}, which is neither an "
            "input nor an output of a node before it"
        )
    return scope[name]


def _is_constant(op_type: str, inputs: tuple[Tensor | None, ...]) -> bool:
    if op_type in _OF_SHAPE:
        return not any(each and each.is_dynamic for each in inputs)
    return op_type not in RANDOM and all(each is None or each.constant for each in inputs)


def _domain(domain: str) -> str:
    return "" if domain == "ai.onnx" else domain


def _tensor(onnx: Any, name: str, types: Mapping[str, Any], constant: bool = False) -> Tensor:
    info = types.get(name)
    if info is None or not info.type.HasField("tensor_type"):
        return Tensor(name, None, "", constant)
    type_ = info.type.tensor_type
    shape = tuple(map(_dimension, type_.shape.dim)) if type_.HasField("shape") else None
    return Tensor(name, shape, _dtype(onnx, type_.elem_type), constant)


def _initializer(onnx: Any, initializer: Any) -> Tensor:
    dtype = _dtype(onnx, initializer.data_type)
    return Tensor(initializer.name, tuple(initializer.dims), dtype, constant=True)


def _dimension(dimension: Any) -> Dimension:
    kind = dimension.WhichOneof("value")
    return getattr(dimension, kind) if kind else None


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
        return f"<{printable(attribute.name)} of another attribute>"


def _plain(onnx: Any, value: Any) -> Value:
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, (int, float, str)):
        return value
    if isinstance(value, onnx.TensorProto):
        return f"<{_dtype(onnx, value.data_type)}{list(value.dims)}>"
    if isinstance(value, onnx.GraphProto):
        return f"<graph {printable(value.name)}>"
    if isinstance(value, onnx.TypeProto):
        return "<type>"
    return tuple(_plain(onnx, each) for each in value)
