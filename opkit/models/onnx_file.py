"""Load the message of an ONNX file without weights; refuse invalid and hostile files."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from opkit.models import model_file
from opkit.models.extra import required
from opkit.models.model_file import InvalidError, check_count
from opkit.text import printable, shortened

_MAX_CALLS = 50
"""Maximum depth of calls between local functions."""

_SMALL = 4096
"""Maximum bytes of a tensor that shape inference reads: sizes, axes, pads."""

_MAX_MEMORY = 4 * 1024**3
"""Maximum bytes for shape inference: some attributes are sizes of its arrays."""

_VALUES = (
    "raw_data float_data int32_data string_data int64_data double_data uint64_data"  # one per dtype
).split()


def load(file: Path) -> Any:
    """Return the message of an ONNX file with inlined functions and inferred shapes.

    Weights are dropped: shape inference copies the model, and does not need them. External data is
    not read.

    Raises:
        OpkitError: onnx is not installed, or the file is not a valid model.
    """
    onnx = required("onnx")
    try:
        proto = _parsed(onnx, file)
        _check_size(proto)
        for tensor in _tensors(proto.graph):
            _drop_values(onnx, tensor)
        proto = _with_shapes(onnx, proto)
        for graph in _graphs(proto.graph):
            _check_names(graph)
        for tensor in _tensors(proto.graph):
            _check_location(tensor, file)
        return proto
    except InvalidError as error:
        raise model_file.error(file, error) from None


def _parsed(onnx: Any, file: Path) -> Any:
    from google.protobuf.message import DecodeError

    data = model_file.contents(file, "an ONNX model")
    try:
        proto = onnx.load_model_from_string(data)
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

    def count_called(function: tuple[str, str], depth: int) -> tuple[int, int]:
        if function not in counts:
            counts[function] = count(functions[function], depth + 1)
        return counts[function]

    def count(nodes: Iterable[Any], depth: int) -> tuple[int, int]:
        """Return the count of nodes and the depth of their calls."""
        total, height = 0, 0
        for node in nodes:
            function = (node.domain, node.op_type)
            parts = [count(graph.node, depth) for graph in subgraphs(node)]
            if function in functions and depth < _MAX_CALLS:
                called, calls = count_called(function, depth)
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


def subgraphs(node: Any) -> Iterator[Any]:
    """Yield the subgraphs of a node, such as the branches of an If."""
    for attribute in node.attribute:
        yield from attribute.graphs
        if attribute.HasField("g"):
            yield attribute.g


def _graphs(graph: Any) -> Iterator[Any]:
    yield graph
    for node in graph.node:
        for subgraph in subgraphs(node):
            yield from _graphs(subgraph)


def _check_names(graph: Any) -> None:
    """Raise InvalidError for a name that is not UTF-8: protobuf returns bytes then."""
    for name in _names(graph):
        if isinstance(name, bytes):
            raise InvalidError(f"the name {shortened(ascii(name)[1:])} is not UTF-8")


def _names(graph: Any) -> Iterator[str | bytes]:
    yield graph.name
    for info in (*graph.input, *graph.output, *graph.value_info):
        yield info.name
        yield from (each.dim_param for each in info.type.tensor_type.shape.dim)
    for tensor in (*graph.initializer, *(each.values for each in graph.sparse_initializer)):
        yield tensor.name
        yield from (entry.value for entry in tensor.external_data)
    for node in graph.node:
        yield from (node.name, node.op_type, node.domain, *node.input, *node.output)
        yield from (each.name for each in node.attribute)


# ---- Tensors -------------------------------------------------------------------------------------


def _tensors(graph: Any) -> Iterator[Any]:
    """Yield the tensors of a graph and of its subgraphs."""
    for each in _graphs(graph):
        yield from each.initializer
        for sparse in each.sparse_initializer:
            yield from (sparse.values, sparse.indices)
        for node in each.node:
            for attribute in node.attribute:
                yield from attribute.tensors
                if attribute.HasField("t"):
                    yield attribute.t


def _check_location(tensor: Any, file: Path) -> None:
    """Raise InvalidError for external data outside of the model's folder.

    The folder is that of the file or of its target: caches hold both as symbolic links.
    """
    for entry in tensor.external_data:
        if entry.key != "location":
            continue
        location = entry.value
        folders = {os.path.realpath(file.parent), str(Path(os.path.realpath(file)).parent)}
        is_path = bool(location) and "\0" not in location and not location.startswith("/")
        if not is_path or not any(
            Path(os.path.realpath(file.parent / location)).is_relative_to(each) for each in folders
        ):
            raise InvalidError(
                f"tensor {shortened(tensor.name)!r} has external data in "
                f"{shortened(location)!r}, which is not a file in the model's folder"
            )


def _drop_values(onnx: Any, tensor: Any) -> None:
    """Drop a tensor's values if shape inference does not need them."""
    if tensor.ByteSize() <= _SMALL or tensor.external_data:
        return
    for name in _VALUES:
        tensor.ClearField(name)
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="dropped")


# ---- Shapes --------------------------------------------------------------------------------------


def _with_shapes(onnx: Any, proto: Any) -> Any:
    """Return a model with local functions inlined and shapes inferred."""
    try:
        with _limited_memory():
            if proto.functions:
                proto = required("onnx.inliner").inline_local_functions(proto)
            return onnx.shape_inference.infer_shapes(proto, data_prop=True)
    except MemoryError:
        limit = f"{_MAX_MEMORY // 1024**3} GB"
        raise InvalidError(f"shape inference needs more than {limit} of memory") from None
    except _invalid(onnx) as error:
        reason = printable(shortened(str(error).strip().partition("\n")[0], 300))
        raise InvalidError(f"is not a valid ONNX model: {reason}") from None


def _invalid(onnx: Any) -> tuple[type[Exception], ...]:
    """Return the exceptions for invalid models; those of onnx have no common base class."""
    return (
        ValueError,
        RuntimeError,
        onnx.checker.ValidationError,
        onnx.shape_inference.InferenceError,
    )


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
