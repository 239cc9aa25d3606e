"""The proof of each grafted node: its reference and its C kernel on the original's tensors."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from opkit.common.errors import OpkitError
from opkit.common.text import aligned, printable, shortened
from opkit.runtimes.interface import Runtime
from opkit.runtimes.invocation import Kernel
from rknn_op.models.differences import Difference, difference, widened
from rknn_op.models.grafting.custom_nodes import Custom, GraftedNode
from rknn_op.models.grafting.grafted_model import Graft
from rknn_op.models.model_graph import CASTS, node_path
from rknn_op.models.running.recording import MAX_CALLS, MAX_NAMED, monotony, monotony_notes
from rknn_op.models.running.stages import Call, original, staged
from rknn_op.models.running.weights import OpenModel

Array = Any

_MAX_SECONDS = 60.0
"""Seconds for runs with zeros in place of a node's outputs."""


@dataclass(frozen=True)
class NodeCall:
    """A call of a grafted node.

    Attributes:
        node: the node.
        inputs: by position in the original node; without an original, in the grafted one.
        outputs: the outputs of the original node by tensor; None: no original to compare with.
    """

    node: GraftedNode
    inputs: Sequence[Array | None]
    outputs: Mapping[str, Array] | None = None


@dataclass(frozen=True)
class NodeProof:
    """The comparison of an output of a grafted node.

    Attributes:
        node: the node.
        output: the output's name in op.yml.
        reference: the difference of the reference from the original; None: there is no original.
        kernel: the difference of the C kernel from the original, or else from the reference; None:
            the kernel is not built.
    """

    node: GraftedNode
    output: str
    reference: Difference | None
    kernel: Difference | None

    @property
    def problem(self) -> str:
        """The difference as a message; empty if there is none."""
        name = printable(shortened(self.node.node.name))
        root = self.node.custom.operator.root
        if self.reference and not self.reference.is_equal:
            return (
                f"node {name!r} is the first that differs: output '{self.output}' of {root}: "
                f"{self.reference}"
            )
        if self.kernel and not self.kernel.is_equal:
            return (
                f"node {name!r} is the first with another output of the C kernel: output "
                f"'{self.output}' of {root}: {self.kernel}; run: rknn-op check -p {root}"
            )
        return ""


class OriginalNodes:
    """The original model, in which each node that is grafted runs alone.

    Attributes:
        calls: the calls of these nodes in runs without zeros, at most MAX_CALLS of a node.
    """

    def __init__(self, opened: OpenModel, graft: Graft, types: Mapping[str, Any]) -> None:
        self.calls: list[NodeCall] = []
        self._opened = opened
        self._by_message = {id(each.original): each for each in graft.nodes}
        self._zeroed: GraftedNode | None = None
        self._graph = staged(opened, self._choose, types)

    def run(self, inputs: Mapping[str, Array], zeroed: GraftedNode | None = None) -> dict[str, Any]:
        """Return the model's outputs by name.

        Args:
            inputs: the inputs by name.
            zeroed: a node whose outputs are zeros.

        Raises:
            OpkitError: onnxruntime cannot run the model.
        """
        self._zeroed = zeroed
        return self._graph.run(inputs)

    def _choose(self, message: Any, _: str) -> Call | None:
        node = self._by_message.get(id(message))
        if node is None:
            return None
        run = original(self._opened, message)

        def call(inputs: Sequence[Array | None]) -> Sequence[Array]:
            results = run(inputs)
            if self._zeroed is node:
                return [None if each is None else np.zeros_like(each) for each in results]
            if self._zeroed is None:
                outputs = dict(zip(message.output, results, strict=True))
                _add(self.calls, NodeCall(node, [*inputs], outputs))
            return results

        return call


class GraftedNodes:
    """The grafted model, in which the references run in place of the grafted nodes.

    Attributes:
        calls: the calls of these nodes, at most MAX_CALLS of a node.
        shapes: tensor of a grafted node -> its shape and dtype.
    """

    def __init__(self, graft: Graft, types: Mapping[str, Any]) -> None:
        self.calls: list[NodeCall] = []
        self.shapes: dict[str, tuple[tuple[int, ...], np.dtype[Any]]] = {}
        self._by_message = {id(each.message): each for each in graft.nodes}
        self._graph = staged(graft.model, self._choose, types)

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Any]:
        """Return the model's outputs by name.

        Raises:
            OpkitError: a reference fails, or onnxruntime cannot run the rest of the model.
        """
        return self._graph.run(inputs)

    def _choose(self, message: Any, _: str) -> Call | None:
        node = self._by_message.get(id(message))
        if node is None:
            return None

        def call(inputs: Sequence[Array | None]) -> Sequence[Array]:
            results = node.call(inputs)
            for name, array in zip(message.output, results, strict=True):
                if array is not None:
                    self.shapes[name] = array.shape, array.dtype
            _add(self.calls, NodeCall(node, [*inputs]))
            return results

        return call


def _add(calls: list[NodeCall], call: NodeCall) -> None:
    """Add a call, unless its node has MAX_CALLS: a body of a Loop may run often."""
    if sum(each.node is call.node for each in calls) < MAX_CALLS:
        calls.append(call)


def kernels(graft: Graft, runtime: Runtime) -> tuple[dict[int, Kernel], list[str]]:
    """Return id of an operator -> its C kernel on this PC; and a note for each without one."""
    found, notes = {}, []
    customs: dict[int, Custom] = {id(each.custom): each.custom for each in graft.nodes}
    for key, custom in customs.items():
        root = custom.operator.root
        try:
            found[key] = runtime.check.cpu_kernel(custom.spec, root)
        except OpkitError:
            notes.append(
                f"{root}: the C kernel is not built, so it is not compared; run: rknn-op check "
                f"-p {root}"
            )
    return found, notes


def node_proofs(
    calls: Iterable[NodeCall], kernels: Mapping[int, Kernel], max_error: float | None
) -> Iterator[NodeProof]:
    """Yield the comparison of each output of each call.

    Args:
        calls: the calls.
        kernels: id of an operator -> its C kernel; see kernels.
        max_error: an absolute difference that is tolerated, too.

    Raises:
        OpkitError: a reference fails.
    """
    for call in calls:
        node = call.node
        prepared = node.prepared(call.inputs, None if call.outputs is not None else node.message)
        references = node.outputs(prepared)
        kernel = kernels.get(id(node.custom))
        ran = kernel.run(prepared.invocation) if kernel else None
        fault = ""
        if kernel and ran and (ran.fault or ran.status):
            fault = ran.fault or f"{ran.stage} returned {kernel.convention.status_name(ran.status)}"
        for output, name in zip(node.custom.spec.outputs, node.grafted.output, strict=True):
            own = node.casts[name].name if name in node.casts else name
            if call.outputs is not None and own not in call.outputs:
                continue  # the original leaves it out
            expected = references[name] if call.outputs is None else call.outputs[own]
            reference = of_kernel = None
            if call.outputs is not None:
                reference = _compared(own, references[name], expected, max_error)
            if fault:
                of_kernel = Difference(own, str(expected.dtype), expected.shape, problem=fault)
            elif ran:
                of_kernel = _compared(own, ran.outputs[output.name], expected, max_error)
            yield NodeProof(node, output.name, reference, of_kernel)


def _compared(name: str, actual: Array, expected: Array, max_error: float | None) -> Difference:
    """Compare an output of a node; a Cast may be behind it."""
    if CASTS.get(str(expected.dtype)) == str(actual.dtype):
        actual = actual.astype(expected.dtype)
    return widened(difference(name, actual, expected), actual, expected, max_error)


def node_table(proofs: Sequence[NodeProof], effects: Mapping[int, Effect]) -> str:
    """Return a table of the largest difference of each output of each node.

    Args:
        proofs: the comparisons.
        effects: id of a node -> its effect on the model's outputs, if known.
    """
    rows: list[tuple[str, ...]] = [
        ("node", "output", "shape", "reference", "C kernel", "tolerated", "effect", "")
    ]
    for each in proofs:
        found = [side for side in (each.reference, each.kernel) if side]
        if found:
            effect = effects.get(id(each.node))
            rows.append(
                (
                    node_path(each.node.node.name),
                    each.output,
                    "x".join(map(str, found[0].shape)) or "-",
                    f"{each.reference.error:.3g}" if each.reference else "-",
                    f"{each.kernel.error:.3g}" if each.kernel else "-",
                    f"{found[0].limit:.3g}",
                    f"{effect.largest:.1g}" if effect else "-",
                    "differs" if each.problem else "equal",
                )
            )
    return aligned(rows) if len(rows) > 1 else ""


# ---- What a comparison cannot show ---------------------------------------------------------------


@dataclass(frozen=True)
class Effect:
    """The effect of a node on the model's outputs: their change with zeros in its place.

    Attributes:
        largest: the largest change, relative to the largest number of an output.
        is_seen: whether the comparison of outputs sees it.
    """

    largest: float
    is_seen: bool


def effects(
    nodes: OriginalNodes,
    graft: Graft,
    inputs: Mapping[str, Array],
    expected: Mapping[str, Array],
    max_error: float | None,
) -> dict[int, Effect]:
    """Return id of a grafted node -> its effect, for as many nodes as the time allows.

    Args:
        nodes: the original model.
        graft: the grafted model.
        inputs: the model's inputs by name.
        expected: its outputs by name.
        max_error: see proof.prove.
    """
    start = time.monotonic()
    found = {}
    for node in graft.nodes:
        if time.monotonic() - start > _MAX_SECONDS:
            break
        try:
            outputs = nodes.run(inputs, zeroed=node)
        except OpkitError:  # zeros as a shape, for instance: the model depends on the node
            found[id(node)] = Effect(math.inf, True)
            continue
        changes = [
            difference(name, outputs[name], array, max_error) for name, array in expected.items()
        ]
        largest = max((each.relative for each in changes), default=0.0)
        found[id(node)] = Effect(largest, not all(each.is_equal for each in changes))
    return found


def effect_notes(graft: Graft, effects: Mapping[int, Effect]) -> Iterator[str]:
    """Yield messages about nodes that the outputs of the model do not prove."""
    unseen = [each for each in graft.nodes if id(each) in effects and not effects[id(each)].is_seen]
    if unseen:
        largest = max(effects[id(each)].largest for each in unseen)
        yield (
            f"{_named(unseen)}: insensitive: with zeros in place of one the outputs change by at "
            f"most {largest:.1g} of their largest number, so that they prove nothing about it; the "
            "row of the node does"
        )
    if untried := len(graft.nodes) - len(effects):
        yield f"the effect of {untried} nodes is unknown: no time was left to put zeros in place"


def _named(nodes: Sequence[GraftedNode]) -> str:
    names = ", ".join(repr(printable(shortened(each.node.name))) for each in nodes[:MAX_NAMED])
    more = f" and {len(nodes) - MAX_NAMED} more" if len(nodes) > MAX_NAMED else ""
    return f"node{'s' * (len(nodes) > 1)} {names}{more}"


def monotonous(calls: Iterable[NodeCall], has_inputs: bool) -> list[str]:
    """Return a message about tensors that show little of an operator; none without such tensors.

    Args:
        calls: the calls of the original nodes.
        has_inputs: whether the model's inputs are the user's.
    """
    texts = []
    for call in calls:
        results = [(call.outputs or {}).get(name) for name in call.node.original.output]
        inputs, outputs = (
            {position: each for position, each in enumerate(arrays) if each is not None}
            for arrays in (call.inputs, results)
        )
        texts.append(monotony(call.node.node, inputs, outputs))
    return monotony_notes(texts, has_inputs)
