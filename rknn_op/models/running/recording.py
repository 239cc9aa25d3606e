"""Run an ONNX model, and record the inputs and outputs of chosen nodes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from opkit.common.errors import OpkitError
from opkit.common.text import printable, shortened
from rknn_op.models.model_files import required
from rknn_op.models.model_graph import STANDARD, Model, Node, Tensor, at, domain_of
from rknn_op.models.onnx_file import nodes_of, outer_names, subgraphs
from rknn_op.models.onnx_model import node_name
from rknn_op.models.running import control
from rknn_op.models.running.cleaned_models import cleaned_model, compared
from rknn_op.models.running.model_inputs import assumptions, random_inputs, read_inputs
from rknn_op.models.running.stages import Call as Function
from rknn_op.models.running.stages import missing_operator, original, staged
from rknn_op.models.running.weights import OpenModel, opened

MAX_CASE = 1_000_000
"""Bytes of a recorded case, without compression."""
MAX_CASES = 8_000_000
"""Bytes of all recorded cases of an operator."""
MAX_CALLS = 3
"""Recorded calls of a node in the body of a Loop or Scan."""

MAX_NAMED = 3
"""Maximum nodes in a sentence; others are counted."""

_DOMAINS = frozenset((STANDARD, "ai.onnx.ml", "com.microsoft"))
"""The domains of which onnxruntime implements most operators."""
_ABSENT = "which onnxruntime does not implement"
_SOURCE = re.compile(r"\[ONNXRuntimeError\] : \d+ : \w+ : (?:/\S+:\d+ .*?\) )?")

Array = Any


@dataclass(frozen=True)
class Limits:
    """The maximum bytes of recorded arrays.

    Attributes:
        case: of a call.
        operator: of all calls of an operator.
    """

    case: int = MAX_CASE
    operator: int = MAX_CASES


@dataclass(frozen=True, eq=False)
class Call:
    """A call of a node in a run of its model.

    Attributes:
        node: the node.
        inputs: position -> array; also of constant inputs, which may have no dimension.
        outputs: position -> array; empty if onnxruntime does not implement the operator.
        suffix: the suffix of its case's name.
    """

    node: Node
    inputs: Mapping[int, Array]
    outputs: Mapping[int, Array] = field(default_factory=dict)
    suffix: str = ""


@dataclass(frozen=True)
class Recording:
    """The recorded calls of a model's nodes.

    Attributes:
        calls: in the order of the nodes; a node in the body of a Loop may have several.
        notes: messages about the inputs of the model, and nodes without a recorded call.
    """

    calls: tuple[Call, ...]
    notes: tuple[str, ...]


def record(
    model: Model, nodes: Sequence[Node], inputs: Path | None = None, limits: Limits | None = None
) -> Recording:
    """Run a model by onnxruntime, and record the calls of some nodes.

    Nodes behind an operator that onnxruntime does not implement have no recorded calls; the node of
    such an operator has inputs alone.

    Args:
        model: the model, as onnx_model.read returns it.
        nodes: nodes of it.
        inputs: an .npz file with the model's inputs by name; None: random ones.
        limits: the maximum sizes.

    Raises:
        OpkitError: onnx or onnxruntime is not installed, the file of the inputs is not valid, or
            the model's external data is missing or outside of its folder.
    """
    required("onnxruntime")
    notes = [] if inputs else [*assumptions(model)]
    try:
        feeds = read_inputs(inputs, model) if inputs else random_inputs(model)
    except OpkitError as error:
        if inputs:
            raise
        return Recording((), (f"no recorded cases: {error}",))
    limits = limits or Limits()
    order = {id(node): position for position, node in enumerate(nodes)}
    with opened(model.file) as raw:
        source = cleaned_model(raw)[0] if model.is_changed else raw
        if source is not raw and (reason := compared(raw, feeds, source)):
            notes.append(reason)
        calls, silent = _run(source, nodes, feeds, limits)
    kept, left_out = _kept(sorted(calls, key=lambda call: order[id(call.node)]), limits)
    texts = [monotony(call.node, call.inputs, call.outputs) for call in kept]
    notes += monotony_notes(texts, inputs is not None)
    by_reason: dict[str, list[str]] = {}
    for node, reason in sorted([*silent, *left_out], key=lambda each: order[id(each[0])]):
        by_reason.setdefault(reason, []).append(repr(printable(shortened(node.name))))
    for reason, names in by_reason.items():
        more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
        called = f"node{'s' * (len(names) > 1)} {', '.join(names[:MAX_NAMED])}{more}"
        notes.append(f"{called}: no recorded case: {reason}")
    return Recording(tuple(kept), tuple(notes))


# ---- The plan ------------------------------------------------------------------------------------

_Key = tuple[str, str, tuple[str, ...]]
"""A node's name, operator and outputs."""
_Operator = tuple[str, str]
"""A domain and an operator of it."""
_Silent = tuple[Node, str]
"""A node without a recorded call, and the reason."""


def _key_of(proto: Any, position: int) -> _Key:
    return node_name(proto, position), proto.op_type, (*proto.output,)


def _operator(proto: Any) -> _Operator:
    return domain_of(proto.domain), proto.op_type


@dataclass(frozen=True)
class _Plan:
    """The tensors that a run has to compute.

    Attributes:
        tensors: their names.
        only_inputs: the chosen nodes without an implementation, with their messages.
        silent: the chosen nodes that cannot run.
    """

    tensors: tuple[str, ...]
    only_inputs: Mapping[_Key, Any]
    silent: tuple[_Silent, ...]


def _plan(graph: Any, nodes: Mapping[_Key, Node], absent: Collection[_Operator]) -> _Plan:
    """Return the plan of a run without the operators that onnxruntime does not implement."""
    tensors: dict[str, None] = {}
    only_inputs: dict[_Key, Any] = {}
    silent: list[_Silent] = []
    behind: dict[str, str] = {}  # tensor -> the operator that keeps it from being computed
    for position, proto in enumerate(graph.node):
        read = [*filter(None, proto.input), *outer_names(proto)]
        chosen = [key for key in _keys(proto, position) if key in nodes]
        operators = map(_operator, nodes_of([proto]))
        lacking = next((_title(*each) for each in operators if each in absent), "")
        before = next((behind[name] for name in read if name in behind), "")
        if lost := before or lacking:
            behind.update(dict.fromkeys(proto.output, lost))
        if not chosen:
            continue
        found = [nodes[key] for key in chosen]
        if before:
            silent += [(node, f"behind {before}, {_ABSENT}") for node in found]
        elif _operator(proto) in absent:
            only_inputs[_key_of(proto, position)] = proto
            tensors.update(dict.fromkeys(filter(None, proto.input)))
        elif lacking:
            silent += [(node, f"in a subgraph with {lacking}, {_ABSENT}") for node in found]
        elif subgraphs(proto) and proto.op_type not in control.OPERATORS:
            silent += [(node, f"in a subgraph of {_title(*_operator(proto))}") for node in found]
        else:
            tensors.update(dict.fromkeys([*filter(None, proto.output)][:1]))
    return _Plan(tuple(tensors), only_inputs, tuple(silent))


def _keys(proto: Any, position: int) -> Iterator[_Key]:
    """Yield the key of a node and those in its subgraphs."""
    yield _key_of(proto, position)
    for graph in subgraphs(proto):
        for inner_position, inner in enumerate(graph.node):
            yield from _keys(inner, inner_position)


def _title(domain: str, op_type: str) -> str:
    return printable(shortened(f"{domain}:{op_type}" if domain else op_type))


# ---- The run -------------------------------------------------------------------------------------


def _run(
    model: OpenModel, nodes: Sequence[Node], feeds: Mapping[str, Array], limits: Limits
) -> tuple[Sequence[Call], Sequence[_Silent]]:
    """Run a model, again without each operator that onnxruntime turns out to lack.

    Returns:
        The calls of the chosen nodes, and the chosen nodes without a call.
    """
    chosen = {
        (node.name, node.op_type, tuple(each.name if each else "" for each in node.outputs)): node
        for node in nodes
    }
    operators = {*map(_operator, nodes_of(model.proto.graph.node))}
    absent = {each for each in operators if each[0] not in _DOMAINS}
    while True:
        plan = _plan(model.proto.graph, chosen, absent)
        recorder = _Recorder(model, chosen, limits)
        problem = recorder.run(plan, feeds)
        lacking = recorder.refused or {
            each for each in operators if each[1] == missing_operator(problem)
        }
        if lacking <= absent:
            break
        absent |= lacking
    silent = [*plan.silent, *recorder.left_out]
    known = {id(node) for node, _ in silent} | {id(call.node) for call in recorder.calls}
    reason = problem or "not run on these inputs of the model"
    silent += [(node, reason) for node in nodes if id(node) not in known]
    return recorder.calls, silent


class _Recorder:
    """Records the calls of chosen nodes.

    Attributes:
        calls: the calls.
        left_out: a node with a call that cannot be a case, and the reason.
        refused: the operator of a chosen node that onnxruntime does not implement.
    """

    def __init__(self, model: OpenModel, chosen: Mapping[_Key, Node], limits: Limits) -> None:
        self.calls: list[Call] = []
        self.left_out: list[_Silent] = []
        self.refused: set[_Operator] = set()
        self._model = model
        self._chosen = chosen
        self._limits = limits

    def run(self, plan: _Plan, feeds: Mapping[str, Array]) -> str:
        """Run the model as planned; return onnxruntime's problem."""
        proto = required("onnx").ModelProto()
        proto.CopyFrom(self._model.proto)
        del proto.graph.output[:]
        for name in plan.tensors:
            proto.graph.output.add(name=name)
        try:
            graph = staged(replace(self._model, proto=proto), self._function)
            values = graph.run({name: feeds[name] for name in graph.inputs})
        except OpkitError as error:
            return _SOURCE.sub("", str(error).removeprefix(f"{self._model.file}: "))
        for key, node in plan.only_inputs.items():
            self._add(key, [values[name] if name else None for name in node.input], [])
        return ""

    def _function(self, proto: Any, name: str) -> Function | None:
        """Return a function that runs a chosen node and records the call; None for other nodes."""
        key = (name, proto.op_type, (*proto.output,))
        if key not in self._chosen:
            return None
        run = original(self._model, proto)

        def call(inputs: Sequence[Array | None]) -> Sequence[Array]:
            try:
                outputs = run(inputs)
            except OpkitError as error:
                if missing_operator(str(error)):  # maybe of the operator's own definition
                    self.refused.add(_operator(proto))
                raise
            self._add(key, inputs, outputs)
            return outputs

        return call

    def _add(
        self, key: _Key, inputs: Sequence[Array | None], outputs: Sequence[Array | None]
    ) -> None:
        node = self._chosen[key]
        if sum(call.node is node for call in self.calls) == MAX_CALLS:
            return
        reason = next(_unfit(node.inputs, inputs), "") or next(_unfit(node.outputs, outputs), "")
        size = 0 if reason else sum(each.nbytes for each in (*inputs, *outputs) if each is not None)
        if size > self._limits.case:
            reason = f"{size:,} bytes (expected at most {self._limits.case:,} for a case)"
        if not reason:
            self.calls.append(Call(node, _by_position(inputs), _by_position(outputs)))
        elif (node, reason) not in self.left_out:
            self.left_out.append((node, reason))


def _by_position(arrays: Sequence[Array | None]) -> dict[int, Array]:
    """Return copies by position; external weights are mapped from files."""
    return {position: np.array(each) for position, each in enumerate(arrays) if each is not None}


def _unfit(tensors: Sequence[Tensor | None], arrays: Sequence[Array | None]) -> Iterator[str]:
    """Yield the reasons why tensors cannot be those of a case; constants may become params."""
    for tensor, array in zip(tensors, arrays, strict=False):
        if tensor is None or array is None:
            continue
        name = printable(shortened(tensor.name))
        if not isinstance(array, np.ndarray | np.generic):
            yield f"{name!r} is a sequence"
        elif array.dtype.kind not in "biuf":
            yield f"{name!r} is {tensor.dtype or array.dtype} (expected numbers of numpy)"
        elif not tensor.constant and (not array.ndim or not array.size):
            shape = "x".join(map(str, array.shape))
            size = f"is empty, {shape}" if array.ndim else "has no dimension"
            yield f"{name!r} {size}; operators take tensors of 1 dimension or more, none 0"


_ALMOST = 1e-6
"""The largest number of a tensor that is almost zero, and the range of an almost constant one,
relative to its largest number."""


def monotony(node: Node, inputs: Mapping[int, Array], outputs: Mapping[int, Array]) -> str:
    """Return the tensors of a call that show little of its operator: almost zero, or constant.

    Args:
        node: the node.
        inputs: position -> array.
        outputs: the same.

    Returns:
        A text such as `node 'n': 'x' is constant, 0.5`; empty if there are none.
    """
    found = []
    for tensors, arrays in ((node.inputs, inputs), (node.outputs, outputs)):
        for position, array in arrays.items():
            tensor = at(tensors, position)
            is_float = not isinstance(array, list) and array.dtype.kind == "f" and array.size > 1
            if tensor is None or tensor.constant or not is_float:
                continue
            low, high = float(array.min()), float(array.max())
            largest = max(abs(low), abs(high))
            called = repr(printable(shortened(tensor.name)))
            if largest < _ALMOST:
                found.append(f"{called} is almost zero, at most {largest:.1g}")
            elif high - low <= _ALMOST * largest:
                found.append(f"{called} is constant, {high:.3g}")
    name = printable(shortened(node.name))
    return f"node {name!r}: {', '.join(found)}" if found else ""


def monotony_notes(texts: Sequence[str], has_inputs: bool) -> list[str]:
    """Return a message about such tensors; none without them.

    Args:
        texts: the texts of calls; see monotony.
        has_inputs: whether the model's inputs are the user's.
    """
    found = [*dict.fromkeys(filter(None, texts))]
    if not found:
        return []
    more = f"; and {len(found) - MAX_NAMED} more" if len(found) > MAX_NAMED else ""
    remedy = "" if has_inputs else "; so do random inputs or weights: give real --inputs"
    return [f"tensors that show little: {'; '.join(found[:MAX_NAMED])}{more}{remedy}"]


# ---- The choice of calls -------------------------------------------------------------------------


def _kept(calls: Sequence[Call], limits: Limits) -> tuple[list[Call], list[_Silent]]:
    """Return different calls up to the limit of an operator, and the nodes beyond it."""
    kept: list[Call] = []
    left_out: list[_Silent] = []
    known: set[bytes] = set()
    sizes: Counter[_Operator] = Counter()
    for call in calls:
        operator = call.node.domain, call.node.op_type
        if (digest := _digest(call)) in known:
            continue
        known.add(digest)
        size = sum(each.nbytes for each in (*call.inputs.values(), *call.outputs.values()))
        if sizes[operator] + size > limits.operator:
            limit = f"{limits.operator:,} for all cases of {_title(*operator)}"
            left_out.append((call.node, f"{size:,} bytes more (expected at most {limit})"))
        else:
            sizes[operator] += size
            kept.append(call)
    return kept, left_out


def _digest(call: Call) -> bytes:
    """Return a digest of a call, the same for calls with equal values."""
    digest = sha256(repr((call.node.domain, call.node.op_type)).encode())
    digest.update(repr(sorted(call.node.attributes.items())).encode())
    for arrays in (call.inputs, call.outputs):
        for position, array in arrays.items():
            digest.update(f"{position} {array.dtype} {array.shape}".encode())
            digest.update(array.tobytes())
    return digest.digest()
