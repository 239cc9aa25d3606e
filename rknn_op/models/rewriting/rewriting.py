"""A model with nodes written with other operators, each proven on the tensors of the model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count as counter
from pathlib import Path
from typing import Any

from opkit.common.text import aligned
from rknn_op.models.differences import NPU_TOLERANCE, simulated_difference
from rknn_op.models.model_files import required
from rknn_op.models.model_graph import Node, node_path
from rknn_op.models.onnx_file import drop_unread, nodes_of, replace_nodes, subgraphs, with_shapes
from rknn_op.models.rewriting import half
from rknn_op.models.rewriting.body import Body
from rknn_op.models.rewriting.body_proof import BodyProof, prove
from rknn_op.models.rewriting.candidates import Candidates
from rknn_op.models.rewriting.simulation import Simulated, Trial, simulate
from rknn_op.models.running.stages import Call, original, staged, tensor_types
from rknn_op.models.running.weights import OpenModel
from rknn_op.runtimes.models import OperatorList, Toolkit

Array = Any


@dataclass(frozen=True)
class Chip:
    """A chip, and the toolkit that builds and simulates models for it.

    Attributes:
        target: its name.
        operators: its operators.
        toolkit: the toolkit.
        python: a Python with the toolkit; None: nothing is simulated.
    """

    target: str
    operators: OperatorList
    toolkit: Toolkit
    python: Path | None = None


@dataclass(frozen=True)
class Rewritten:
    """A node that is rewritten.

    Attributes:
        body: the nodes in its place.
        proof: their comparison with the node.
        simulated: the same in the simulator; None: not simulated.
    """

    body: Body
    proof: BodyProof
    simulated: Simulated | None = None


@dataclass(frozen=True)
class Rewriting:
    """A model with rewritten nodes.

    Attributes:
        model: the model.
        in_half: the same, with the tensors of the rewritten nodes in float16.
        nodes: the rewritten nodes, in order.
        left: the nodes that are not, and why.
        notes: forms that were tried before others, and why they are wrong.
        expected: the outputs of the original model by name.
    """

    model: OpenModel
    in_half: OpenModel
    nodes: tuple[Rewritten, ...]
    left: tuple[tuple[Node, str], ...]
    notes: tuple[str, ...]
    expected: Mapping[str, Array]


class Rewriter:
    """Rewrites nodes of a model, with the first form of each that is proven."""

    def __init__(
        self,
        model: OpenModel,
        found: Sequence[Candidates],
        inputs: Mapping[str, Array],
        chip: Chip,
    ) -> None:
        """Run the model, and record the tensors of the nodes.

        Args:
            model: the model.
            found: the nodes with their forms.
            inputs: the model's inputs by name.
            chip: the chip.

        Raises:
            OpkitError: onnxruntime cannot run the model.
        """
        self._model = model
        self._found = found
        self._chip = chip
        self._calls: dict[int, tuple[Call, Sequence[Array | None]]] = {}
        self._simulated: dict[object, Simulated] = {}
        self._notes: list[str] = []
        by_message = {id(each.message): index for index, each in enumerate(found)}

        def choose(message: Any, _: str) -> Call | None:
            index = by_message.get(id(message))
            if index is None:
                return None
            run = original(model, message)

            def call(arrays: Sequence[Array | None]) -> Sequence[Array]:
                results = run(arrays)
                if index not in self._calls:  # the body of a Loop may run often
                    self._calls[index] = run, [*arrays]
                return results

            return call

        types = tensor_types(model.proto)
        self._expected = staged(model, choose, types).run(inputs)
        self._untried = [iter(each.bodies) for each in found]
        self._reasons = [[*each.reasons] for each in found]
        self._chosen = [self._next(index) for index in range(len(found))]

    def _next(self, index: int) -> Rewritten | None:
        """Return the next form of a node that is proven on this PC; None: there is none."""
        for body in self._untried[index]:
            if index not in self._calls:
                reason = "the model does not reach it with these inputs"
            else:
                run, inputs = self._calls[index]
                proof = prove(body, run, inputs)
                if not proof.problem:
                    return Rewritten(body, proof)
                reason = proof.problem
            self._reasons[index].append(f"{body.form.name}: {reason}")
        return None

    def drop(self, index: int, reason: str) -> None:
        """Take the next form of a node.

        Args:
            index: the position of the node.
            reason: why the present form is wrong.
        """
        old = self._chosen[index]
        assert old
        self._reasons[index].append(f"{old.body.form.name}: {reason}")
        self._chosen[index] = new = self._next(index)
        name = node_path(old.body.node.name, 100)
        then = f"{new.body.form.name} is tried" if new else "no form is left"
        self._notes.append(f"node {name!r}: {old.body.form.name}: {reason}; {then}")

    def simulate(self) -> None:
        """Simulate the chosen form of each node alone; take others for those that are wrong.

        Raises:
            OpkitError: the toolkit is not there, or does not end in time.
        """
        chip = self._chip
        if not chip.python:
            return
        known = self._simulated
        while True:
            for index in range(len(self._chosen)):
                while (each := self._chosen[index]) and (found := known.get(_key(each.body))):
                    if not found.problem:
                        break
                    self.drop(index, found.problem)
            chosen = [(index, each) for index, each in enumerate(self._chosen) if each]
            new = {
                key: Trial(each.body, *self._calls[index])
                for index, each in chosen
                if (key := _key(each.body)) not in known
            }
            if not new:
                break
            results = simulate(
                [*new.values()], chip.toolkit, chip.python, chip.target, chip.operators
            )
            known.update(zip(new, results, strict=True))
        self._chosen = [
            each and replace(each, simulated=known[_key(each.body)]) for each in self._chosen
        ]

    def tensors(self) -> list[str]:
        """Return the tensors that rewritten nodes read and make, without constants."""
        names: dict[str, None] = {}
        for each in filter(None, self._chosen):
            node = each.body.node
            tensors = [*node.inputs, *node.outputs]
            names.update((one.name, None) for one in tensors if one and not one.constant)
        return [*names]

    def first_wrong(self, values: Mapping[str, Array]) -> int | None:
        """Return the position of the first rewritten node that is wrong in a simulator.

        Each node is compared with the original one on the simulator's tensors: what comes before
        it does not matter.

        Args:
            values: tensor -> its value there; nodes with others are not compared.
        """
        for index, each in enumerate(self._chosen):
            if not each:
                continue
            node, (run, recorded) = each.body.node, self._calls[index]
            inputs = []
            for tensor, array in zip(node.inputs, recorded, strict=False):
                found = values.get(tensor.name) if tensor and not tensor.constant else array
                inputs.append(
                    found if array is None or found is None else found.astype(array.dtype)
                )
            if any(
                new is None and old is not None for new, old in zip(inputs, recorded, strict=True)
            ):
                continue
            outputs = zip(node.outputs, run(half.narrow(inputs)), strict=False)
            for tensor, array in outputs:
                found = values.get(tensor.name) if tensor else None
                if tensor and found is not None and array is not None:
                    limit = max(each.body.form.half, NPU_TOLERANCE)
                    if not simulated_difference(tensor.name, found, array, None, limit).is_equal:
                        return index
        return None

    def result(self) -> Rewriting:
        """Return the model with the chosen forms."""
        positions = {
            id(node): index for index, node in enumerate(nodes_of(self._model.proto.graph.node))
        }
        bodies = {
            positions[id(found.message)]: each.body.model
            for found, each in zip(self._found, self._chosen, strict=True)
            if each
        }
        halves = {position: half.in_half(each) for position, each in bodies.items()}
        left = [
            (found.node, "; ".join(reasons) or found.reason)
            for found, each, reasons in zip(self._found, self._chosen, self._reasons, strict=True)
            if not each
        ]
        return Rewriting(
            spliced(self._model, bodies),
            spliced(self._model, halves),
            tuple(each for each in self._chosen if each),
            tuple(left),
            tuple(self._notes),
            self._expected,
        )


def _key(body: Body) -> object:
    """Return what decides on the result of a body in the simulator, but for the numbers."""
    node = body.node
    inputs = tuple(
        each and (each.shape, each.dtype, each.constant and (each.value or each.name))
        for each in node.inputs
    )
    return body.form.name, node.op_type, inputs, tuple(sorted(node.attributes.items()))


def spliced(model: OpenModel, bodies: Mapping[int, Any]) -> OpenModel:
    """Return a model with the nodes of bodies in place of some of its own.

    Args:
        model: the model.
        bodies: position of a node, with those of subgraphs behind their parent -> the body.
    """
    proto = required("onnx").ModelProto()
    proto.CopyFrom(model.proto)
    positions = counter()

    def splice(graph: Any) -> None:
        made: list[Any] = []
        for node in graph.node:
            position = next(positions)
            for subgraph in subgraphs(node):
                splice(subgraph)
            made += bodies[position].graph.node if position in bodies else [node]
        replace_nodes(graph, made)

    splice(proto.graph)
    known = set(_names(model.proto.graph))
    for body in bodies.values():
        proto.graph.initializer.extend(
            each for each in body.graph.initializer if each.name not in known
        )
        proto.graph.value_info.extend(
            each for each in body.graph.value_info if each.name not in known
        )
    read = {name for node in nodes_of(model.proto.graph.node) for name in node.input}
    drop_unread(proto.graph, read)
    return replace(model, proto=with_shapes(proto, model.file))


def _names(graph: Any) -> Iterator[str]:
    yield from (each.name for each in graph.initializer)
    for node in nodes_of(graph.node):
        yield from node.output


def table(nodes: Sequence[Rewritten]) -> str:
    """Return a table of rewritten nodes, with the largest relative difference of each."""
    rows: list[tuple[str, ...]] = [
        ("node", "operator", "becomes", "float32", "float16", "simulator")
    ]
    for each in nodes:
        node, simulated = each.body.node, each.simulated
        found = [each.proof.full, each.proof.half, simulated.differences if simulated else ()]
        errors = [f"{max(one.relative for one in some):.1g}" if some else "-" for some in found]
        count = sum(each.body.op_types.values())
        becomes = f"{each.body.form.name}, {count} node{'s' * (count != 1)}"
        rows.append((node_path(node.name), node.op_type, becomes, *errors))
    return aligned(rows)
