"""Compare a model with the operators of a target."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from opkit.text import shortened
from rknn_op.models.model import STANDARD, Model, Node
from rknn_op.models.text import shape_text
from rknn_op.runtimes.models import OperatorList


@dataclass(frozen=True)
class Missing:
    """An operator of a model that needs a custom one.

    Attributes:
        op_type: its name.
        domain: its domain; empty: ONNX's own, or TensorFlow.
        nodes: its nodes.
        reason: the list that lacks it.
        ways: how a custom operator may be named in the model, the default first; see
            OperatorList.
    """

    op_type: str
    domain: str
    nodes: tuple[Node, ...]
    reason: str
    ways: tuple[str, ...]


@dataclass(frozen=True)
class OnCpu:
    """An operator that the runtime runs on the CPU, with a conversion of the layout each way.

    Attributes:
        op_type: its name.
        nodes: its nodes.
        bytes: the bytes of the inputs and outputs that change, in the model's dtypes; None: a
            shape is unknown.
    """

    op_type: str
    nodes: tuple[Node, ...]
    bytes: int | None


@dataclass(frozen=True)
class Refusal:
    """A refusal of the converter.

    Attributes:
        nodes: the nodes; empty: the model as a whole.
        problem: the fact and what is expected.
        remedy: the remedy.
    """

    nodes: tuple[Node, ...]
    problem: str
    remedy: str


@dataclass(frozen=True)
class ToolkitReport:
    """The result of asking an installed toolkit.

    Attributes:
        name: its name.
        version: its version; empty if it refuses the model.
        differences: where its answer differs from the lists, as sentences.
    """

    name: str
    version: str
    differences: tuple[str, ...]


@dataclass(frozen=True)
class Scan:
    """The result for a model and a target; `toolkit` is None if no toolkit was asked."""

    model: Model
    target: str
    operators: OperatorList
    missing: tuple[Missing, ...]
    cpu: tuple[OnCpu, ...]
    refused: tuple[Refusal, ...]
    toolkit: ToolkitReport | None = None


def scan(model: Model, target: str, operators: OperatorList) -> Scan:
    """Return the missing operators of a model, and the refusals of the converter.

    Nodes with constant outputs are left out: converters compute them.
    """
    types: dict[tuple[str, str], list[Node]] = {}
    for node in model.nodes:
        if not node.is_constant and node.op_type not in operators.structure:
            types.setdefault((node.domain, node.op_type), []).append(node)
    missing, cpu = [], []
    for (domain, op_type), nodes in types.items():
        if domain == STANDARD and op_type in operators.refused:
            continue
        if reason := _reason(operators, domain, op_type, model.opsets.get(domain, 0)):
            ways = operators.ways
            missing.append(Missing(op_type, domain, tuple(nodes), reason, ways))
        elif operators.is_on_cpu(op_type):
            cpu.append(OnCpu(op_type, tuple(nodes), _moved(nodes)))
    refused = tuple(_refused(model, operators, types))
    return Scan(model, target, operators, tuple(missing), tuple(cpu), refused)


def _reason(operators: OperatorList, domain: str, op_type: str, opset: int) -> str:
    """Return why an operator needs a custom one; empty if the target has it."""
    if domain != STANDARD:
        return f"{shortened(domain)} is not ONNX's own domain"
    places = operators.place + (" and runtime's CPU" if operators.cpu else "")
    if name := operators.missing(op_type):
        part = "" if name == op_type else f"{name}, which the converter makes of it, "
        return f"{part}is not on the list of {places}"
    first, last = operators.opsets.get(op_type, (opset, opset))
    if not first <= opset <= last:
        return f"opset {opset} is not on the list of {places} (expected {first} to {last})"
    return ""


def _moved(nodes: Iterable[Node]) -> int | None:
    """Return the bytes that nodes read and write, without constants."""
    total = 0
    for node in nodes:
        for tensor in (*node.inputs, *node.outputs):
            if tensor is None or tensor.constant:
                continue
            if tensor.bytes is None:
                return None
            total += tensor.bytes
    return total


_Types = dict[tuple[str, str], list[Node]]


def _refused(model: Model, operators: OperatorList, types: _Types) -> Iterator[Refusal]:
    opset = model.opsets.get(STANDARD, 0)
    if operators.max_opset and opset > operators.max_opset:
        yield Refusal(
            (),
            f"opset {opset} (expected at most {operators.max_opset})",
            f"export with opset_version={operators.max_opset}, or convert by "
            "onnx.version_converter",
        )
    if operators.max_ir_version and model.ir_version > operators.max_ir_version:
        yield Refusal(
            (),
            f"ir_version {model.ir_version} (expected at most {operators.max_ir_version})",
            f"set model.ir_version = {operators.max_ir_version} and save it again",
        )
    for tensor in model.inputs:
        if tensor.is_dynamic and operators.max_opset:
            yield Refusal(
                (),
                f"input {shortened(tensor.name)} has the dynamic shape {shape_text(tensor.shape)}",
                "export it with fixed sizes, or pass input_size_list to load_onnx",
            )
    for (domain, op_type), nodes in types.items():
        if domain == STANDARD and op_type in operators.refused:
            yield Refusal(
                tuple(nodes),
                f"{op_type}: {operators.refused[op_type]}",
                "cut the model before it, or write it as other operators",
            )
        for position in operators.constant.get(op_type, ()) if domain == STANDARD else ():
            changing = tuple(node for node in nodes if _changes(node, position))
            if changing:
                yield Refusal(
                    changing,
                    f"input {position} of {op_type} must be constant",
                    "export it as a constant, or simplify the model so that it becomes one",
                )


def _changes(node: Node, position: int) -> bool:
    tensor = node.inputs[position] if position < len(node.inputs) else None
    return tensor is not None and not tensor.constant
