"""The grafted model: nodes of operator repositories in place of its own, checked and written."""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from opkit.common import file_io
from opkit.common.errors import OpkitError
from opkit.common.text import printable, shortened
from opkit.runtimes.interface import Runtime
from rknn_op.models.grafting.custom_nodes import Custom, GraftedNode, check_types, custom_of
from rknn_op.models.grafting.rewriting import rewriter
from rknn_op.models.model_files import required
from rknn_op.models.model_graph import CASTS, Model, Node, domain_of, shape_text
from rknn_op.models.onnx_file import graphs, nodes_of
from rknn_op.models.running.weights import (
    OpenModel,
    append,
    first_line,
    is_external,
    location,
    tensors,
)
from rknn_op.runtimes.models import models_of


@dataclass(frozen=True)
class Graft:
    """A model with the nodes of repositories.

    Attributes:
        model: the grafted model, with the weights of the original.
        nodes: the grafted nodes, in order.
    """

    model: OpenModel
    nodes: tuple[GraftedNode, ...]


def graft(opened: OpenModel, model: Model, found: Sequence[Custom]) -> Graft:
    """Return a model with the nodes of operators in the form of their converter.

    Args:
        opened: the model.
        model: the same model as values.
        found: the operators.

    Raises:
        OpkitError: a node does not match the description of its operator, an operator has none, or
            the model imports another version of an operator's domain.
    """
    check_types(found, {(node.op_type, node.domain) for node in model.nodes})
    proto = required("onnx").ModelProto()
    proto.CopyFrom(opened.proto)
    messages = zip(nodes_of(opened.proto.graph.node), nodes_of(proto.graph.node), strict=True)
    groups: dict[int, list[tuple[Node, Any, Any]]] = {}
    for node, (original, grafted) in zip(model.nodes, messages, strict=True):
        if custom := custom_of(found, node.op_type, node.domain):
            groups.setdefault(id(custom), []).append((node, original, grafted))
    names: set[str] = set()
    for each in graphs(proto.graph):
        names.update(tensor.name for tensor in (*each.input, *each.initializer))
        names.update(name for node in each.node for name in (*node.input, *node.output))
    constants = dict(_constants(opened.proto.graph))
    made = {}
    for custom in found:
        group = groups[id(custom)]
        rewrite = rewriter(opened, model, custom, [node for node, *_ in group], constants)
        for node, original, grafted in group:
            made[id(node)] = rewrite.graft(node, original, grafted, names)
    nodes = tuple(made[id(node)] for node in model.nodes if id(node) in made)
    numpy_helper = required("onnx.numpy_helper")
    for made_node in nodes:
        for name, array in () if made_node.custom.form.keeps_nodes else made_node.added.items():
            proto.graph.initializer.append(numpy_helper.from_array(array, name))
    _insert_casts(proto.graph, nodes)
    # Initializers that only the original nodes read are dropped.
    before = {name for each in nodes for name in each.original.input}
    read = {each.name for each in (*proto.graph.input, *proto.graph.output)}
    for each in graphs(proto.graph):
        read.update(output.name for output in each.output)
        read.update(name for node in each.node for name in node.input)
    for position in reversed(range(len(proto.graph.initializer))):
        if proto.graph.initializer[position].name in before - read:
            del proto.graph.initializer[position]
    imported = {domain_of(each.domain): each.version for each in proto.opset_import}
    for custom in found:
        domain, versions = custom.form.domain, custom.form.versions
        if domain is None:
            continue
        if domain not in imported:
            imported[domain] = versions[0]
            proto.opset_import.append(required("onnx.helper").make_opsetid(domain, versions[0]))
        elif not versions[0] <= imported[domain] <= versions[1]:
            raise OpkitError(
                f"{opened.file}: imports version {imported[domain]} of the domain "
                f"{printable(domain) or 'of ONNX'}; {custom.operator.root} has the operator for "
                f"{versions[0]} to {versions[1]} (`opset` in its op.yml)"
            )
    return Graft(replace(opened, proto=proto), nodes)


def _insert_casts(graph: Any, nodes: Sequence[GraftedNode]) -> None:
    """Insert Casts before and behind grafted nodes whose tensors have another dtype."""
    helper = required("onnx.helper")
    by_message = {id(each.message): each for each in nodes if each.casts}
    for each in graphs(graph) if by_message else ():
        for position in reversed(range(len(each.node))):
            node = by_message.get(id(each.node[position]))
            for name, tensor in reversed([*node.casts.items()]) if node else ():
                is_input = node is not None and name in node.grafted.input
                ends, dtype = ((tensor.name, name), CASTS[tensor.dtype])
                if not is_input:
                    ends, dtype = (name, tensor.name), tensor.dtype
                to = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
                cast = helper.make_node("Cast", ends[:1], ends[1:], name=f"{name}_cast", to=to)
                # Outputs come first, when the node is still at its position.
                each.node.insert(position if is_input else position + 1, cast)


def _constants(graph: Any) -> Iterator[tuple[str, Any]]:
    """Yield name and value of small tensors that the model holds."""
    onnx = required("onnx")
    for each in graphs(graph):
        for tensor in each.initializer:
            if tensor.data_location != onnx.TensorProto.EXTERNAL:
                yield tensor.name, tensor
        for node in each.node:
            if node.op_type == "Constant" and node.attribute and node.attribute[0].HasField("t"):
                yield node.output[0], node.attribute[0].t


# ---- Models that a converter accepts but the runtime cannot run ----------------------------------


def refuse_for_converter(model: Model, runtime: Runtime) -> None:
    """Refuse a model that breaks a rule of its converter.

    Args:
        model: the model.
        runtime: the runtime.

    Raises:
        OpkitError: it breaks one.
    """
    rules = models_of(runtime.name).rules
    if not rules:
        return
    for tensor in model.inputs:
        name = printable(shortened(tensor.name))
        if tensor.is_dynamic:
            raise OpkitError(
                f"{model.file}: input {name!r} has the dynamic shape "
                f"{printable(shape_text(tensor.shape))}; {rules.dynamic_shape}; "
                "export the model with fixed sizes"
            )
        if tensor.dtype not in rules.input_types:
            expected = ", ".join(rules.input_types)
            raise OpkitError(
                f"{model.file}: input {name!r} is {tensor.dtype} (expected {expected})"
            )


def converter_warnings(graft: Graft, runtime: Runtime) -> list[str]:
    """Return warnings about nodes that a converter cannot convert."""
    rules = models_of(runtime.name).rules
    top = {id(message) for message in graft.model.proto.graph.node}
    inside = [each for each in graft.nodes if id(each.message) not in top]
    if not rules or rules.has_subgraphs or not inside:
        return []
    names = ", ".join(repr(printable(shortened(each.node.name))) for each in inside)
    return [
        f"in subgraphs, which {runtime.describe.title} does not convert: {names}; simplify the "
        "model to one without If, Loop and Scan"
    ]


# ---- Files ---------------------------------------------------------------------------------------

MAX_FILE = 2**31 - 2**20
"""Maximum bytes of a model in one file; protobuf's limit is 2 GB."""

_CHUNK = 2**24


def assembled(model: OpenModel, folder: Path, name: str) -> list[Path]:
    """Write a model into an empty folder; return its files, the model last.

    The weights are in the model's file, or in one file beside it: where the model has external
    data already, or would exceed the limit.

    Args:
        model: the model.
        folder: the folder.
        name: the name of the model's file.

    Raises:
        OpkitError: onnx's checker refuses the model.
        OSError: a file cannot be written.
    """
    proto = required("onnx").ModelProto()
    proto.CopyFrom(model.proto)
    external = [each for each in tensors(proto.graph) if is_external(each)]
    size = proto.ByteSize() + sum(_length(each, model.folder) for each in external)
    files = [folder / name]
    if external and (model.has_external_data or size > MAX_FILE):
        files.insert(0, folder / f"{name}.data")
        with files[0].open("wb") as data:
            for tensor in external:
                append(tensor, _chunks(tensor, model.folder), data, files[0].name)
    else:
        for tensor in external:
            tensor.raw_data = b"".join(_chunks(tensor, model.folder))
            tensor.ClearField("data_location")
            del tensor.external_data[:]
    files[-1].write_bytes(proto.SerializeToString())
    onnx = required("onnx")
    try:
        onnx.checker.check_model(str(files[-1]))
        onnx.shape_inference.infer_shapes(model.proto, check_type=True, data_prop=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError, ValueError) as error:
        raise OpkitError(
            f"{model.file}: the grafted model is not valid: {first_line(error)}"
        ) from None
    return files


def _length(tensor: Any, folder: Path) -> int:
    """Return the bytes of a tensor's external data."""
    where, offset, length = location(tensor)
    return (folder / where).stat().st_size - offset if length is None else length


def _chunks(tensor: Any, folder: Path) -> Iterator[bytes]:
    """Yield the bytes of a tensor's external data."""
    where, offset, _ = location(tensor)
    left = _length(tensor, folder)
    with (folder / where).open("rb") as data:
        data.seek(offset)
        while left > 0 and (chunk := data.read(min(left, _CHUNK))):
            left -= len(chunk)
            yield chunk


def publish(files: list[Path], folder: Path) -> list[Path]:
    """Move finished files into a folder, each in one step; return their new paths.

    Raises:
        OSError: a file cannot be written; then none is left.
    """
    written: list[Path] = []
    try:
        for file in files:
            target = folder / file.name
            written.append(target)
            with (
                file.open("rb") as source,
                mmap.mmap(source.fileno(), 0, access=mmap.ACCESS_READ) as data,
            ):
                file_io.write_atomically(target, data)
    except BaseException:  # Ctrl-C, too
        for target in written:
            target.unlink(missing_ok=True)
        raise
    return written
