"""Clean an ONNX model: fold constants, take the branch of a constant condition, infer shapes again.

Exporters write sizes as nodes: Shape, Gather, Concat, Reshape. Where shapes are fixed, these are
constants, and an If on them has one branch. Converters need them folded.

onnxruntime computes the constants. It does not write the model: its own optimizer also fuses nodes,
and needs an implementation of all of them. So the nodes that remain are the model's own, with their
names, and operators of any domain stay. QuantizeLinear and DequantizeLinear say what is quantized:
they stay, too.
"""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from opkit.common.errors import OpkitError
from opkit.common.text import printable
from rknn_op.models.model_files import required
from rknn_op.models.model_graph import STANDARD, Cleaned, Model, domain_of
from rknn_op.models.onnx_file import (
    MAX_INLINE,
    graphs,
    is_external,
    load_with_shapes,
    nodes_of,
    outer_names,
    replace_nodes,
    subgraphs,
    with_shapes,
)
from rknn_op.models.onnx_model import RANDOM, as_model, node_name

MAX_FOLDED = 4 * 1024**2
"""Maximum bytes of a folded tensor; larger ones are left to the nodes that compute them."""

_TIMEOUT = 60.0  # seconds for all constants of a model
_MAX_ROUNDS = 50
_QUANTIZATION = frozenset(("QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear"))
_SHAPE, _SIZE = "Shape", "Size"
_SCRIPT = Path(__file__).with_name("constants.py")


def read(file: Path) -> Model:
    """Return the cleaned model of a file; its weights and external data are not read.

    Raises:
        OpkitError: onnx is not installed, or the file is not a valid model.
    """
    return cleaned(file, load_with_shapes(file, MAX_INLINE))[1]


def cleaned(file: Path, proto: Any) -> tuple[Any, Model]:
    """Return a cleaned model as a message and as values.

    Nodes without a name get the one that messages call them by: it has their position.

    Args:
        file: the model's file, for messages.
        proto: the model with inferred shapes, without local functions; weights may be external, or
            dropped. It is returned itself if there is nothing to clean.

    Raises:
        OpkitError: the model is not valid.
    """
    model = as_model(file, proto, Cleaned())
    clean = required("onnx").ModelProto()
    clean.CopyFrom(proto)
    for graph in graphs(clean.graph):
        for position, node in enumerate(graph.node):
            node.name = node_name(node, position)
    kept: set[str] = set()
    deadline = monotonic() + _TIMEOUT
    try:
        for _ in range(_MAX_ROUNDS):
            is_folded = _fold(clean, kept, deadline)
            is_inlined = _take_branches(clean.graph)
            if not is_folded and not is_inlined:
                break
            clean = with_shapes(clean, file)
        rewritten = _rewrite(clean.graph)
        types = _types(clean)
        types.update(GatherND=rewritten["GatherND"], Reshape=-rewritten["GatherND"])
        removed = _types(proto) - types
        if removed or rewritten:
            done = Cleaned(dict(removed.most_common()), dict(rewritten.most_common()))
            return clean, as_model(file, clean, done)
    except OpkitError as error:
        problem = str(error).removeprefix(f"{printable(str(file))}: ")
        return proto, replace(model, cleaned=Cleaned(problem=problem))
    return proto, model


def _types(proto: Any) -> Counter[str]:
    return Counter(node.op_type for node in nodes_of(proto.graph.node))


def _reads(node: Any) -> Iterator[str]:
    """Yield the tensors that a node and its subgraphs read."""
    yield from filter(None, node.input)
    yield from outer_names(node)


# ---- Constants -----------------------------------------------------------------------------------


@dataclass
class _Constants:
    """The constants of a graph.

    Attributes:
        makers: tensor -> its initializer, or the node that computes it.
        nodes: the nodes to fold.
    """

    makers: dict[str, Any] = field(default_factory=dict)
    nodes: list[Any] = field(default_factory=list)


def _fold(proto: Any, kept: set[str], deadline: float) -> bool:
    """Fold the constant nodes of a model's graph; return whether shapes are worth a new inference.

    Args:
        proto: the model, with inferred shapes.
        kept: the tensors that cannot be folded; new ones are added.
        deadline: the time by which they must be computed.
    """
    graph = proto.graph
    found = _constants(graph, kept)
    folding = {id(node) for node in found.nodes}
    read = {name for node in graph.node if id(node) not in folding for name in _reads(node)}
    wanted = [name for node in found.nodes for name in node.output if name in read]
    if not wanted:
        return False
    values = {name: found.makers[name] for name in wanted if not _is_node(found.makers[name])}
    unknown = [name for name in wanted if name not in values]
    computed, failed = _computed(proto, found, unknown, deadline)
    values.update(computed)
    missing = {name for name in wanted if name not in values}
    kept.update(failed or missing)
    done = [
        node
        for node in found.nodes
        if read.intersection(node.output) and not missing.intersection(node.output)
    ]
    graph.initializer.extend(
        values[name] for node in done for name in node.output if name in values
    )
    _remove(graph, done)
    return True


def _constants(graph: Any, kept: set[str]) -> _Constants:
    """Return the constants of a graph."""
    shapes = _shapes(graph)
    outputs = {each.name for each in graph.output} | kept
    found = _Constants({each.name: each for each in graph.initializer if _has_value(each)})
    for node in graph.node:
        if domain_of(node.domain) != STANDARD or outputs.intersection(node.output):
            continue
        if not (node.input or node.op_type == "Constant") or not node.output:
            continue
        shape = shapes.get(node.input[0]) if node.input else None
        if node.op_type in (_SHAPE, _SIZE) and shape is not None and prod(shape) < 2**63:
            found.makers[node.output[0]] = _of_shape(node, shape)
            found.nodes.append(node)
        elif node.op_type == "Constant":
            is_dropped = any(is_external(each.t) for each in node.attribute)
            if node.ByteSize() <= MAX_INLINE and not is_dropped:
                found.makers[node.output[0]] = node
        elif (
            node.op_type not in RANDOM | _QUANTIZATION
            and not subgraphs(node)
            and all(name in found.makers for name in node.input if name)
            and all(prod(shapes.get(name) or ()) <= MAX_FOLDED for name in node.output)
        ):
            found.makers.update((name, node) for name in node.output if name)
            found.nodes.append(node)
    return found


def _has_value(tensor: Any) -> bool:
    onnx = required("onnx")
    is_text = tensor.data_type == onnx.TensorProto.STRING
    return not is_text and not is_external(tensor) and tensor.ByteSize() <= MAX_INLINE


def _shapes(graph: Any) -> dict[str, tuple[int, ...] | None]:
    """Return the fixed shapes of a graph's tensors by name; None for others."""
    shapes = {
        each.name: _shape(each.type.tensor_type)
        for each in (*graph.value_info, *graph.output, *graph.input)
    }
    shapes.update((each.name, tuple(each.dims)) for each in graph.initializer)
    return shapes


def _shape(type_: Any) -> tuple[int, ...] | None:
    """Return a fixed shape, or None."""
    sizes = [each.dim_value if each.HasField("dim_value") else -1 for each in type_.shape.dim]
    is_fixed = type_.HasField("shape") and not any(size < 0 for size in sizes)
    return tuple(sizes) if is_fixed else None


def _of_shape(node: Any, shape: tuple[int, ...]) -> Any:
    """Return the output of a Shape or a Size."""
    limits = {each.name: each.i for each in node.attribute}
    value = (
        np.array(prod(shape), np.int64)
        if node.op_type == _SIZE
        else np.array(shape[limits.get("start", 0) : limits.get("end", len(shape))], np.int64)
    )
    return required("onnx.numpy_helper").from_array(value, node.output[0])


def _is_node(maker: Any) -> bool:
    return isinstance(maker, required("onnx").NodeProto)


def _computed(
    proto: Any, found: _Constants, wanted: list[str], deadline: float
) -> tuple[dict[str, Any], Collection[str]]:
    """Return the tensors that onnxruntime computes, by name, and the outputs of nodes that fail.

    Raises:
        OpkitError: it is not installed, or crashes, or needs too much.
    """
    if not wanted:
        return {}, ()
    required("onnxruntime")
    needed: dict[str, Any] = {}
    pending = [*wanted]
    while pending:
        name = pending.pop()
        if name not in needed:
            needed[name] = found.makers[name]
            if _is_node(needed[name]):
                pending += filter(None, needed[name].input)
    makers = {id(maker) for maker in needed.values()}
    onnx = required("onnx")
    nodes = [node for node in proto.graph.node if id(node) in makers]
    graph = onnx.helper.make_graph(
        nodes,
        "constants",
        [],
        [onnx.ValueInfoProto(name=name) for name in wanted],
        [maker for maker in needed.values() if not _is_node(maker)],
    )
    opsets = [each for each in proto.opset_import if domain_of(each.domain) == STANDARD]
    request = onnx.helper.make_model(
        graph, opset_imports=opsets, ir_version=max(proto.ir_version, 4)
    )
    try:
        done = subprocess.run(
            [sys.executable, str(_SCRIPT), str(MAX_FOLDED)],
            input=request.SerializeToString(),
            capture_output=True,
            timeout=max(deadline - monotonic(), 0),
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise OpkitError(f"its constants take more than {_TIMEOUT:g} s") from None
    if done.returncode < 0:
        raise OpkitError(f"onnxruntime ended by signal {-done.returncode} at its constants")
    try:
        with np.load(io.BytesIO(done.stdout), allow_pickle=False) as archive:
            arrays = dict(archive.items())
            failed = {name for position in arrays.pop("failed") for name in nodes[position].output}
            results = {wanted[int(position)]: array for position, array in arrays.items()}
    except (ValueError, LookupError, OSError, EOFError, zipfile.BadZipFile):
        raise OpkitError("onnxruntime cannot compute its constants") from None
    from_array = onnx.numpy_helper.from_array
    return {name: from_array(array, name) for name, array in results.items()}, failed


def _remove(graph: Any, nodes: Iterable[Any], unread: Collection[str] = ()) -> None:
    """Remove nodes from a graph, and all that only they needed; what nothing read before stays.

    Args:
        graph: the graph.
        nodes: nodes of it.
        unread: the tensors that a node read before.
    """
    gone = {id(node) for node in nodes}
    before = {name for node in graph.node for name in _reads(node)}.union(unread)
    needed = {each.name for each in graph.output}
    kept = []
    for node in reversed(graph.node):
        outputs = {*node.output}
        is_unread = not needed & outputs and bool(before & outputs)
        if id(node) not in gone and not is_unread:
            needed.update(_reads(node))
            kept.append(node)
    replace_nodes(graph, reversed(kept))
    needed.update(each.name for each in graph.input)  # with an initializer: its default
    for position in reversed(range(len(graph.initializer))):
        name = graph.initializer[position].name
        if name in before and name not in needed:
            del graph.initializer[position]
    tensors = {name for node in graph.node for name in node.output}
    for position in reversed(range(len(graph.value_info))):
        if graph.value_info[position].name not in tensors:
            del graph.value_info[position]


def _values(graph: Any) -> dict[str, Any]:
    """Return the tensors that a graph has the values of, by name."""
    values = {each.name: each for each in graph.initializer if _has_value(each)}
    for node in graph.node:
        for each in node.attribute if node.op_type == "Constant" else ():
            if each.HasField("t") and _has_value(each.t):
                values.update(dict.fromkeys(node.output, each.t))
    return values


# ---- Branches ------------------------------------------------------------------------------------


def _take_branches(graph: Any) -> bool:
    """Put the nodes of a branch in place of each If with a constant condition.

    Returns:
        Whether there was one.
    """
    values = _values(graph)
    branches = [_branch(node, values) for node in graph.node]
    if not any(branch is not None for branch in branches):
        return False
    definitions = Counter(name for each in graphs(graph) for name in _definitions(each))
    nodes = []
    for node, branch in zip(graph.node, branches, strict=True):
        if branch is None:
            nodes.append(node)
            continue
        inside = Counter(
            name
            for each in subgraphs(node)
            for inner in graphs(each)
            for name in _definitions(inner)
        )
        outside = definitions - inside
        body = _renamed(branch, node, outside)
        new = Counter(name for each in graphs(body) for name in _definitions(each))
        definitions = outside + new
        nodes += body.node
        graph.initializer.extend(body.initializer)
        graph.sparse_initializer.extend(body.sparse_initializer)
        graph.value_info.extend(body.value_info)
    replace_nodes(graph, nodes)
    _remove(graph, ())
    return True


def _branch(node: Any, values: Mapping[str, Any]) -> Any:
    """Return the branch of an If with a constant condition; None for other nodes."""
    if node.op_type != "If" or domain_of(node.domain) != STANDARD:
        return None
    condition = values.get(next(iter(node.input), ""))
    if condition is None:
        return None
    try:
        is_true = required("onnx.numpy_helper").to_array(condition).all()
    except (TypeError, ValueError, KeyError):  # its value does not fit its type
        return None
    name = "then_branch" if is_true else "else_branch"
    branches = (each.g for each in node.attribute if each.name == name)
    return next((each for each in branches if len(each.output) == len(node.output)), None)


def _definitions(graph: Any) -> Iterator[str]:
    """Yield the names that a graph defines, without its subgraphs."""
    yield from (each.name for each in (*graph.input, *graph.initializer))
    yield from (each.values.name for each in graph.sparse_initializer)
    yield from (name for node in graph.node for name in node.output if name)


def _renamed(branch: Any, node: Any, taken: Counter[str]) -> Any:
    """Return a branch with the outputs of its If, and otherwise names that are not taken."""
    onnx = required("onnx")
    body = onnx.GraphProto()
    body.CopyFrom(branch)
    computed = {name for each in body.node for name in each.output}
    names: dict[str, str] = {}
    identities = []
    for output, inner in zip(node.output, (each.name for each in body.output), strict=True):
        if inner in computed and inner not in names:
            names[inner] = output
        elif output:
            identities.append((inner, output))
    defined = dict.fromkeys(name for each in graphs(body) for name in _definitions(each))
    for name in defined:
        if name not in names and name in taken:
            candidates = (f"{name}_{index}" for index in range(1, len(taken) + len(defined) + 2))
            used = {*taken, *defined, *names.values()}
            names[name] = next(each for each in candidates if each not in used)
    for inner, output in identities:
        made = onnx.helper.make_node("Identity", [inner], [output], f"{node.name}/{output}")
        body.node.append(made)
    del body.output[:]
    for each in graphs(body):
        for info in (*each.initializer, *each.value_info, *each.output, *each.input):
            info.name = names.get(info.name, info.name)
        for sparse in each.sparse_initializer:
            sparse.values.name = names.get(sparse.values.name, sparse.values.name)
        for inner_node in each.node:
            for fields in (inner_node.input, inner_node.output):
                fields[:] = [names.get(name, name) for name in fields]
    return body


# ---- Nodes in another form -----------------------------------------------------------------------


def _rewrite(graph: Any) -> Counter[str]:
    """Rewrite an Einsum without blanks in its equation, and a GatherND that copies as a Reshape.

    ONNX permits both; converters may not know them. Names, first inputs and outputs stay.

    Returns:
        Operator -> the number of its nodes that are rewritten.
    """
    done = Counter(node.op_type for each in graphs(graph) for node in each.node if _closed_up(node))
    shapes, values = _shapes(graph), _values(graph)
    taken = {name for each in graphs(graph) for name in _definitions(each)}
    unread = set()
    for node in graph.node:
        if not _is_copy(node, shapes, values):
            continue
        shape = f"{node.output[0]}_shape"
        while shape in taken:
            shape += "_"
        taken.add(shape)
        sizes = np.array(shapes[node.output[0]], np.int64)
        graph.initializer.append(required("onnx.numpy_helper").from_array(sizes, shape))
        unread.add(node.input[1])
        done[node.op_type] += 1
        node.op_type, node.input[1] = "Reshape", shape
        del node.attribute[:]
    if unread:
        _remove(graph, (), unread)
    return done


def _closed_up(node: Any) -> bool:
    """Remove the blanks in the equation of an Einsum; return whether there were some."""
    if (domain_of(node.domain), node.op_type) != (STANDARD, "Einsum"):
        return False
    equation = next((each for each in node.attribute if each.name == "equation"), None)
    if equation is None or b" " not in equation.s:
        return False
    equation.s = equation.s.replace(b" ", b"")
    return True


def _is_copy(
    node: Any, shapes: Mapping[str, tuple[int, ...] | None], values: Mapping[str, Any]
) -> bool:
    """Whether a node is a GatherND whose constant indices are all positions in their order."""
    if (domain_of(node.domain), node.op_type) != (STANDARD, "GatherND"):
        return False
    if len(node.input) != 2 or not node.output:
        return False
    data, output = shapes.get(node.input[0]), shapes.get(node.output[0])
    if not data or not output or not prod(output) or node.input[1] not in values:
        return False
    if any(each.name == "batch_dims" and each.i for each in node.attribute):
        return False
    try:
        indices = required("onnx.numpy_helper").to_array(values[node.input[1]])
    except (TypeError, ValueError, KeyError):  # its value does not fit its type
        return False
    if not indices.size or not indices.ndim:
        return False
    axes = data[: indices.shape[-1]]
    rows = indices.reshape(-1, indices.shape[-1])
    if len(rows) != prod(axes):
        return False
    positions = np.stack(np.unravel_index(np.arange(len(rows)), axes), axis=-1)
    return np.array_equal(rows, positions)
