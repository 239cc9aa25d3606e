"""`rknn-op scan`: compare a model with the operators of a target."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path

from opkit.common.errors import OpkitError
from opkit.common.text import printable, shortened
from opkit.runtimes import available
from rknn_op.known_targets import runtime_of_target
from rknn_op.messages import step
from rknn_op.models.model_graph import STANDARD, Model, Node, at, shape_text
from rknn_op.models.toolkits import Answer, ask
from rknn_op.runtimes.models import OperatorList, models_of, toolkit_names


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
    """The result of an installed toolkit.

    Attributes:
        name: its name.
        version: its version; empty if it refuses the model.
        differences: the differences between its result and the lists, as messages.
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


# ---- The comparison ------------------------------------------------------------------------------


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
        opset = model.opsets.get(domain, 0)
        first, last = operators.opsets.get(op_type, (opset, opset))
        places = operators.place + (" and runtime's CPU" if operators.cpu else "")
        reason = ""
        if domain != STANDARD:
            reason = f"{shortened(domain)} is not ONNX's own domain"
        elif name := operators.missing(op_type):
            part = "" if name == op_type else f"{name}, which the converter makes of it, "
            reason = f"{part}is not on the list of {places}"
        elif not first <= opset <= last:
            reason = f"opset {opset} is not on the list of {places} (expected {first} to {last})"
        if reason:
            missing.append(Missing(op_type, domain, tuple(nodes), reason, operators.ways))
        elif operators.is_on_cpu(op_type):
            cpu.append(OnCpu(op_type, tuple(nodes), _moved(nodes)))
    refused = tuple(_refusals(model, operators, types))
    return Scan(model, target, operators, tuple(missing), tuple(cpu), refused)


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


def _refusals(model: Model, operators: OperatorList, types: _Types) -> Iterator[Refusal]:
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
            changing = tuple(
                node
                for node in nodes
                if (read := at(node.inputs, position)) is not None and not read.constant
            )
            if changing:
                yield Refusal(
                    changing,
                    f"input {position} of {op_type} must be constant",
                    "export it as a constant, or simplify the model so that it becomes one",
                )


# ---- The reader of a model and the list of a target ----------------------------------------------

READERS = {".onnx": ("cleaning", "onnx_model"), ".pb": ("graph_def", "graph_def")}
"""Suffix of a model's file -> the modules with its readers: cleaned, and as it is."""


def scan_file(
    file: Path, target: str | None, toolkit: Path | None = None, as_is: bool = False
) -> Scan:
    """Return the operators of a model that a target lacks.

    Args:
        file: an .onnx or .pb file.
        target: the target; None: the default of the runtime for such files.
        toolkit: a Python with the target's toolkit to ask, too; see toolkits.ask.
        as_is: do not clean the model.

    Raises:
        OpkitError: the model cannot be read, or the target is unknown or takes no such models.
    """
    _refuse_suffix(file)
    target = target or available()[_default_runtime(file)].describe.default_target
    models = models_of(runtime_of_target(target))
    checkout = os.environ.get(models.checkout_variable) if models.checkout_variable else None
    operators = models.operators(target, Path(checkout) if checkout else None)
    model = read_model(file, as_is)
    if model.framework != models.framework:
        raise OpkitError(
            f"{printable(str(file))}: a model of {model.framework}; custom operators of {target} "
            f"are for models of {models.framework}"
        )
    result = scan(model, target, operators)
    if toolkit is None:
        return result
    if models.toolkit is None:
        raise OpkitError(f"--toolkit: {toolkit_names()} has no target {target}")
    from rknn_op.models.running.cleaned_models import cleaned_file  # only here: a scan runs nothing

    with step(f"building with {models.toolkit.name}"), cleaned_file(model) as built:
        answer = ask(models.toolkit, toolkit, built, target)
        answer = replace(answer, refusal=answer.refusal.replace(str(built), str(file)))
    report = ToolkitReport(models.toolkit.name, answer.version, toolkit_differences(result, answer))
    return replace(result, toolkit=report)


def read_model(file: Path, as_is: bool = False) -> Model:
    """Return a model.

    Args:
        file: the model.
        as_is: do not clean it.

    Raises:
        OpkitError: it is not an .onnx or .pb file, or cannot be read.
    """
    _refuse_suffix(file)
    model: Model = import_module(f"rknn_op.models.{READERS[file.suffix][as_is]}").read(file)
    return model


def _refuse_suffix(file: Path) -> None:
    if file.suffix not in READERS:
        raise OpkitError(
            f"{printable(str(file))}: invalid file name (expected a model: *.onnx, or *.pb for a "
            "frozen graph of TensorFlow)"
        )


def runtime_of(file: Path, target: str) -> str:
    """Return the name of a target's runtime, or of the usual runtime for such models.

    Raises:
        OpkitError: the target is unknown, or the file is not a model.
    """
    _refuse_suffix(file)
    return runtime_of_target(target) if target else _default_runtime(file)


def _default_runtime(file: Path) -> str:
    models = {name: models_of(name) for name in available()}
    return next(
        name for name, each in models.items() if each.is_default and each.suffix == file.suffix
    )


def toolkit_differences(scan: Scan, answer: Answer) -> tuple[str, ...]:
    """Return the differences between the toolkit's answer and a scan by the lists."""
    if answer.refusal:
        return (f"it refuses the model: {answer.refusal}",)
    missing = {each.op_type for each in scan.missing if each.domain == STANDARD}
    operators = scan.operators
    left = {operators.names.get(name, name) for name in answer.left}
    lines = [
        f"{name} needs a custom operator by the lists, but the toolkit leaves none"
        for name in sorted(missing - left)
    ]
    unknown = left - operators.operators - operators.cpu - missing
    lines += [
        f"{name} is left by the toolkit, and is on no list: it needs a custom operator"
        for name in sorted(unknown)
    ]
    return tuple(lines)
