"""Load the message of an ONNX file without weights; refuse invalid and hostile files."""

from __future__ import annotations

import os
import resource
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from opkit.common.text import printable, shortened
from rknn_op.models import model_files
from rknn_op.models.model_files import InvalidError, check_count, required

_MAX_CALLS = 50
"""Maximum depth of calls between local functions."""

MAX_INLINE = 64 * 1024
"""Maximum bytes of a tensor in the model's structure, such as sizes; larger ones are weights."""

_SMALL = 4096
"""Maximum bytes of a tensor that shape inference reads: sizes, axes, pads."""

_MAX_MEMORY = 4 * 1024**3
"""Maximum bytes for shape inference: some attributes are sizes of its arrays."""

_VALUES = (
    "raw_data float_data int32_data string_data int64_data double_data uint64_data"  # one per dtype
).split()


def load(file: Path) -> Any:
    """Return the message of an ONNX file; external data is not read.

    Raises:
        OpkitError: onnx is not installed, or the file is not a valid model.
    """
    required("onnx")
    try:
        proto = _parsed(file)
        _check_size(proto)
        for name in _names(proto):
            if isinstance(name, bytes):  # protobuf returns bytes for a name that is not UTF-8
                raise InvalidError(f"the name {shortened(ascii(name)[1:])} is not UTF-8")
        data_folder([each for each in _tensors(proto) if each.external_data], file)
        return proto
    except InvalidError as error:
        raise model_files.model_error(file, error) from None


def load_with_shapes(file: Path, max_bytes: int = _SMALL) -> Any:
    """Return the message of an ONNX file with inlined functions and inferred shapes.

    Weights are dropped: shape inference copies the model, and does not need them.

    Args:
        file: the file.
        max_bytes: the maximum bytes of a tensor that is not dropped.

    Raises:
        OpkitError: as load().
    """
    proto = load(file)
    onnx = required("onnx")
    for tensor in _tensors(proto):
        if tensor.ByteSize() > max_bytes and not tensor.external_data:
            for name in _VALUES:
                tensor.ClearField(name)
            tensor.data_location = onnx.TensorProto.EXTERNAL
            tensor.external_data.add(key="location", value="dropped")
    return with_shapes(proto, file)


def with_shapes(proto: Any, file: Path) -> Any:
    """Return a model with inlined functions and inferred shapes.

    Args:
        proto: the model.
        file: its file, for messages.

    Raises:
        OpkitError: onnx cannot infer them.
    """
    onnx = required("onnx")
    try:
        with _limited_memory():
            if proto.functions:
                proto = required("onnx.inliner").inline_local_functions(proto)
            return onnx.shape_inference.infer_shapes(proto, data_prop=True)
    except MemoryError:
        problem = f"shape inference needs more than {_MAX_MEMORY // 1024**3} GB of memory"
    except (  # those of onnx have no common base class
        ValueError,
        RuntimeError,
        onnx.checker.ValidationError,
        onnx.shape_inference.InferenceError,
    ) as error:
        reason = printable(shortened(str(error).strip().partition("\n")[0], 300))
        problem = f"is not a valid ONNX model: {reason}"
    raise model_files.model_error(file, InvalidError(problem))


def _parsed(file: Path) -> Any:
    from google.protobuf.message import DecodeError

    data = model_files.contents(file, "an ONNX model")
    try:
        proto = required("onnx").load_model_from_string(data)
    except DecodeError:
        raise InvalidError("is not an ONNX model, or is truncated") from None
    if not proto.HasField("graph") or not proto.opset_import:
        raise InvalidError("is not an ONNX model: it has no graph or no opset")
    return proto


# ---- Size ----------------------------------------------------------------------------------------


def _check_size(proto: Any) -> None:
    """Raise InvalidError for a model with too many nodes after inlining of its functions."""
    functions = {(each.domain, each.name): each.node for each in proto.functions}
    counts: dict[tuple[str, str], tuple[int, int]] = {}

    def count(nodes: Iterable[Any], depth: int) -> tuple[int, int]:
        """Return the count of nodes and the depth of their calls."""
        total, height = 0, 0
        for node in nodes:
            function = (node.domain, node.op_type)
            parts = [count(graph.node, depth) for graph in subgraphs(node)]
            if function in functions and depth < _MAX_CALLS:
                if function not in counts:
                    counts[function] = count(functions[function], depth + 1)
                called, calls = counts[function]
                parts.append((called, calls + 1))
            elif function in functions:
                parts.append((0, _MAX_CALLS + 1))
            total += 1 + sum(nodes for nodes, _ in parts)
            height = max([height, *(calls for _, calls in parts)])
        return total, height

    total, height = count(proto.graph.node, 0)
    if height > _MAX_CALLS:
        raise InvalidError(
            f"local functions call each other in a cycle, or more than {_MAX_CALLS} deep"
        )
    check_count(total)


def subgraphs(node: Any) -> list[Any]:
    """Return the subgraphs of a node, such as the branches of an If."""
    return [
        graph
        for attribute in node.attribute
        for graph in (*attribute.graphs, *([attribute.g] if attribute.HasField("g") else ()))
    ]


def graphs(graph: Any) -> Iterator[Any]:
    """Yield a graph and its subgraphs."""
    yield graph
    for node in graph.node:
        for subgraph in subgraphs(node):
            yield from graphs(subgraph)


def nodes_of(nodes: Iterable[Any]) -> Iterator[Any]:
    """Yield nodes and those of their subgraphs, in the order of Model."""
    for node in nodes:
        yield node
        for graph in subgraphs(node):
            yield from nodes_of(graph.node)


def outer_names(node: Any) -> Iterator[str]:
    """Yield the tensors that the subgraphs of a node read from the graphs around it."""
    for graph in subgraphs(node):
        known = {each.name for each in (*graph.input, *graph.initializer)}
        for inner in graph.node:
            read = (*filter(None, inner.input), *outer_names(inner))
            yield from (name for name in read if name not in known)
            known.update(inner.output)
        yield from (each.name for each in graph.output if each.name not in known)


def _graphs(proto: Any) -> Iterator[Any]:
    yield from graphs(proto.graph)
    for function in proto.functions:
        for graph in (graph for node in function.node for graph in subgraphs(node)):
            yield from graphs(graph)


def _nodes(proto: Any) -> Iterator[Any]:
    for owner in (proto.graph, *proto.functions):
        yield from nodes_of(owner.node)


def _names(proto: Any) -> Iterator[str | bytes]:
    yield from (each.domain for each in proto.opset_import)
    for function in proto.functions:
        yield from (function.name, function.domain, *function.input, *function.output)
    for graph in _graphs(proto):
        yield graph.name
        for info in (*graph.input, *graph.output, *graph.value_info):
            yield info.name
            yield from (each.dim_param for each in info.type.tensor_type.shape.dim)
    for node in _nodes(proto):
        yield from (node.name, node.op_type, node.domain, *node.input, *node.output)
        yield from (name for each in node.attribute for name in (each.name, each.ref_attr_name))
    for tensor in _tensors(proto):
        yield tensor.name
        yield from (each.value for each in tensor.external_data)


def replace_nodes(graph: Any, nodes: Iterable[Any]) -> None:
    """Replace all nodes of a graph; some of them may be its own."""
    copies = required("onnx").GraphProto(node=nodes)
    del graph.node[:]
    graph.node.extend(copies.node)


def drop_unread(graph: Any, names: Collection[str]) -> None:
    """Drop the initializers with these names that nothing in a graph reads."""
    read = {each.name for each in (*graph.input, *graph.output)}
    for each in graphs(graph):
        read.update(output.name for output in each.output)
        read.update(name for node in each.node for name in node.input)
    for position in reversed(range(len(graph.initializer))):
        name = graph.initializer[position].name
        if name in names and name not in read:
            del graph.initializer[position]


# ---- Tensors -------------------------------------------------------------------------------------


def _tensors(proto: Any) -> Iterator[Any]:
    """Yield the tensors that a model holds."""
    for graph in _graphs(proto):
        yield from graph.initializer
        for sparse in graph.sparse_initializer:
            yield from (sparse.values, sparse.indices)
    for node in _nodes(proto):
        for attribute in node.attribute:
            yield from attribute.tensors
            if attribute.HasField("t"):
                yield attribute.t


def constant_tensor(node: Any) -> Any | None:
    """Return the value of a Constant node as a tensor with its output's name; None: no numbers."""
    helper, numpy_helper = required("onnx.helper"), required("onnx.numpy_helper")
    if len(node.attribute) != 1 or len(node.output) != 1:  # not valid
        return None
    [attribute] = node.attribute
    if attribute.name == "value":
        tensor = required("onnx").TensorProto()
        tensor.CopyFrom(attribute.t)
        tensor.name = node.output[0]
        return tensor
    if dtype := _NUMBERS.get(attribute.name.rstrip("s")):
        import numpy as np  # only here: a plain scan does without it

        value = np.asarray(helper.get_attribute_value(attribute), dtype)
        return numpy_helper.from_array(value, node.output[0])
    return None


_NUMBERS = {"value_int": "int64", "value_float": "float32"}
"""Attributes of Constant with numbers, and, with an s, lists of them -> dtype."""


def is_external(tensor: Any) -> bool:
    """Return whether the data of a tensor is in another file."""
    return bool(tensor.data_location == required("onnx").TensorProto.EXTERNAL)


def data_folder(external: Collection[Any], file: Path) -> Path:
    """Return the folder of a model's external data, without symbolic links.

    It is that of the file or of its target: caches hold the model and its data as symbolic links.

    Args:
        external: the tensors with external data.
        file: the model's file.

    Raises:
        InvalidError: data is outside of the folder, or the path of data is invalid.
    """
    folder = Path(os.path.realpath(file.parent))
    if not all(_is_in(_data_path(each, file), folder) for each in external):
        folder = Path(os.path.realpath(file)).parent
    for tensor in external:
        if not _is_in(_data_path(tensor, file), folder):
            called = shortened(_data_location(tensor))
            raise InvalidError(
                f"tensor {shortened(tensor.name)!r} has its external data in {called!r}, outside "
                "of the model's folder; move it there and save the model again"
            )
    return folder


def _data_path(tensor: Any, file: Path) -> Path:
    """Return the resolved path of a tensor's external data."""
    location = _data_location(tensor)
    if "\0" in location or [each.key for each in tensor.external_data].count("location") > 1:
        raise InvalidError(
            f"tensor {shortened(tensor.name)!r} has invalid external data: {shortened(location)!r}"
        )
    return Path(os.path.realpath(file.parent / location))


def _data_location(tensor: Any) -> str:
    return next((each.value for each in tensor.external_data if each.key == "location"), "")


def _is_in(path: Path, folder: Path) -> bool:
    return path.is_relative_to(folder) and path != folder


@contextmanager
def _limited_memory() -> Iterator[None]:
    """Limit the memory that this process takes in addition."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    limit = pages * resource.getpagesize() + _MAX_MEMORY
    if soft != resource.RLIM_INFINITY:
        limit = min(limit, soft)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
