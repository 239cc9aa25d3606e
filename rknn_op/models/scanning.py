"""`rknn-op scan`: compare a model with the operators of a target."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from operator import attrgetter
from pathlib import Path

from opkit.common.errors import OpkitError
from opkit.common.text import printable, shortened
from opkit.runtimes import available
from rknn_op.creation.operator_library import in_library
from rknn_op.known_targets import runtime_of_target
from rknn_op.messages import step
from rknn_op.models import unsuitable as unsuitable_operators
from rknn_op.models.model_files import CONTRIBUTED, WITHOUT_FUSION
from rknn_op.models.model_graph import STANDARD, Model, Node, Tensor, at, shape_text
from rknn_op.models.rewriting.candidates import Candidates, candidates
from rknn_op.models.rewriting.form import own_forms
from rknn_op.models.toolkits import Answer, Job, build
from rknn_op.runtimes.models import OperatorList, models_of, toolkit_names
from rknn_op.template import EXAMPLES


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

    @property
    def reads(self) -> int | None:
        """The bytes of all inputs that change, in the model's dtypes; None: a shape is unknown."""
        return bytes_of(tensor for node in self.nodes for tensor in node.inputs)

    @property
    def writes(self) -> int | None:
        """The bytes of all outputs, in the model's dtypes; None: a shape is unknown."""
        return bytes_of(tensor for node in self.nodes for tensor in node.outputs)


@dataclass(frozen=True)
class Unsuitable:
    """A missing operator that a custom one cannot replace; see unsuitable.py.

    Attributes:
        op_type: its name.
        nodes: its nodes.
        reason: the list that lacks it.
        remedy: the remedy.
    """

    op_type: str
    nodes: tuple[Node, ...]
    reason: str
    remedy: str


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
    """The result for a model and a target.

    Attributes:
        model: the model.
        target: the target.
        operators: its operators.
        missing: the operators that need a custom one.
        unsuitable: the missing ones that a custom one cannot replace.
        cpu: the operators on the runtime's CPU.
        refused: the refusals of the converter.
        toolkit: the result of an installed toolkit; None: it was not asked.
        rewrites: name of a missing node -> its forms with operators that the chip has.
    """

    model: Model
    target: str
    operators: OperatorList
    missing: tuple[Missing, ...]
    unsuitable: tuple[Unsuitable, ...]
    cpu: tuple[OnCpu, ...]
    refused: tuple[Refusal, ...]
    toolkit: ToolkitReport | None = None
    rewrites: Mapping[str, Candidates] = field(default_factory=dict)


# ---- The comparison ------------------------------------------------------------------------------


def scan(model: Model, target: str, operators: OperatorList) -> Scan:
    """Return the missing operators of a model, and the refusals of the converter.

    Nodes with constant outputs are left out: converters compute them.
    """
    runtimes = [runtime_of_target(target)]
    types: dict[tuple[str, str], list[Node]] = {}
    for node in model.nodes:
        if not node.is_constant and node.op_type not in operators.structure:
            types.setdefault((node.domain, operators.entry(node)), []).append(node)
    missing: list[Missing] = []
    unsuitable: list[Unsuitable] = []
    cpu: list[OnCpu] = []
    for (domain, entry), nodes in types.items():
        op_type = nodes[0].op_type
        opset = model.opsets.get(domain, 0)
        first, last = operators.opsets.get(op_type, (opset, opset))
        places = operators.place + (" and runtime's CPU" if operators.cpu else "")
        ways = operators.ways
        reason = ""
        if domain not in operators.domains:
            reason = f"{shortened(domain)} is not ONNX's own domain"
            if domain == CONTRIBUTED:
                found = in_library(EXAMPLES, op_type)
                is_there = found is not None and found.domain == domain
                library = f"the operator library has it: rknn-op create --library {op_type}"
                reason += f"; {library if is_there else WITHOUT_FUSION}"
        elif entry in operators.refused:
            reason = f"the converter refuses it: {operators.refused[entry]}"
            ways = ways[:1]
        elif name := operators.missing(entry):
            part = "" if name == op_type else f"{name}, which the converter makes of it, "
            reason = f"{part}is not on the list of {places}"
        elif not first <= opset <= last:
            reason = f"opset {opset} is not on the list of {places} (expected {first} to {last})"
        if reason and (remedy := unsuitable_operators.remedy(domain, op_type, runtimes)):
            unsuitable.append(Unsuitable(op_type, tuple(nodes), reason, remedy))
        elif reason:
            missing.append(Missing(op_type, domain, tuple(nodes), reason, ways))
        elif operators.is_on_cpu(entry):
            tensors = (each for node in nodes for each in (*node.inputs, *node.outputs))
            cpu.append(OnCpu(op_type, tuple(nodes), bytes_of(tensors)))
    refused = tuple(_refusals(model, operators, types))
    return Scan(model, target, operators, tuple(missing), tuple(unsuitable), tuple(cpu), refused)


def bytes_of(tensors: Iterable[Tensor | None]) -> int | None:
    """Return the bytes of tensors, without constants; None: a shape or a dtype is unknown."""
    sizes = [each.bytes for each in tensors if each is not None and not each.constant]
    return sum(size for size in sizes if size is not None) if None not in sizes else None


_Types = dict[tuple[str, str], list[Node]]


def _refusals(model: Model, operators: OperatorList, types: _Types) -> Iterator[Refusal]:
    opset = model.opsets.get(STANDARD, 0)
    if operators.max_opset and opset > operators.max_opset:
        yield Refusal(
            (),
            f"opset {opset} (expected at most {operators.max_opset})",
            f"export with opset_version={operators.max_opset}; graft and rewrite lower it where "
            "they can",
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
    for (domain, entry), nodes in types.items():
        for position in operators.constant.get(entry, ()) if domain == STANDARD else ():
            changing = tuple(
                node
                for node in nodes
                if (read := at(node.inputs, position)) is not None and not read.constant
            )
            if changing:
                yield Refusal(
                    changing,
                    f"input {position} of {nodes[0].op_type} must be constant",
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
        toolkit: a Python with the target's toolkit to ask, too; see toolkits.build.
        as_is: do not clean the model.

    Raises:
        OpkitError: the model cannot be read, or the target is unknown or takes no such models.
    """
    _refuse_suffix(file)
    target = target or default_target(file.suffix)
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
        return _with_rewrites(result) if models.toolkit else result
    if models.toolkit is None:
        raise OpkitError(f"--toolkit: {toolkit_names()} has no target {target}")
    from rknn_op.models.running.cleaned_models import cleaned_file  # only here: a scan runs nothing

    with step(f"building with {models.toolkit.name}"), cleaned_file(model) as built:
        [answer] = build(models.toolkit, toolkit, [Job(built)], target)
        answer = replace(answer, refusal=answer.refusal.replace(str(built), str(file)))
    return _with_rewrites(by_toolkit(result, models.toolkit.name, answer))


def _with_rewrites(scan_: Scan) -> Scan:
    """Return a scan with the forms of its missing nodes; a scan runs no code of the user."""
    nodes = [node for each in _lacking(scan_) for node in each.nodes]
    if not nodes:
        return scan_
    found = candidates(scan_.model.proto, scan_.model, nodes, scan_.operators, own_forms())
    return replace(scan_, rewrites={each.node.name: each for each in found})


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
    return runtime_of_target(target) if target else _default_runtime(file.suffix)


def default_target(suffix: str) -> str:
    """Return the target for models with a suffix, if the user names none."""
    return available()[_default_runtime(suffix)].describe.default_target


def _default_runtime(suffix: str) -> str:
    models = {name: models_of(name) for name in available()}
    return next(name for name, each in models.items() if each.is_default and each.suffix == suffix)


def _lacking(scan_: Scan) -> Iterator[Missing | Unsuitable]:
    yield from scan_.missing
    yield from scan_.unsuitable


def by_toolkit(scan_: Scan, name: str, answer: Answer) -> Scan:
    """Return a scan as the toolkit's answer corrects it.

    If the toolkit builds the model, only the operators that it leaves can be missing, and nothing
    is refused. If it refuses the model, its reason is a refusal, and the lists' result stays.

    Args:
        scan_: the result by the lists.
        name: the toolkit's name.
        answer: its answer.
    """
    if answer.refusal:
        refusal = Refusal(
            (),
            f"{name}: {answer.refusal}",
            "see the refusals of the lists below, or cut the model before that operator"
            if scan_.refused
            else "cut the model before that operator, or write it as other operators",
        )
        new = "it refuses the model, the lists do not"
        report = ToolkitReport(name, "", () if scan_.refused else (new,))
        return replace(scan_, refused=(refusal, *scan_.refused), toolkit=report)
    lists = scan_.operators
    known = lists.operators | lists.cpu
    left = {lists.names.get(each, each) for each in answer.left}
    made: dict[str, set[str]] = {}  # operator -> what may be left of it, as far as it is left
    for op_type, entry in {(node.op_type, lists.entry(node)) for node in scan_.model.nodes}:
        names = {op_type, *lists.left.get(entry, ())}
        found = {lists.names.get(each, each) for each in names} & left
        made.setdefault(op_type, set()).update(found)
    corrected = scan(
        scan_.model,
        scan_.target,
        replace(
            lists,
            left={op: tuple(sorted(names)) for op, names in made.items()},
            refused={},
            constant={},
            entry=attrgetter("op_type"),
            opsets={},
            domains=frozenset(node.domain for node in scan_.model.nodes),
            max_opset=0,
            max_ir_version=0,
        ),
    )
    before, after = ({each.op_type for each in _lacking(found)} for found in (scan_, corrected))
    explained = {each for names in made.values() for each in names}
    differences = (
        *(
            f"{each} is missing by the lists, but the toolkit leaves none"
            for each in sorted(before - after)
        ),
        *(
            f"{each} is left by the toolkit, and is on no list: it needs a custom operator"
            for each in sorted(after - before)
        ),
        *(
            f"{each} is left by the toolkit, and is neither on a list nor in the model"
            for each in sorted(left - known - explained)
        ),
        *(f"{each.problem}: the toolkit builds it" for each in scan_.refused),
    )
    if answer.disabled_rules:
        rules = f"disable_rules={[*answer.disabled_rules]}, an argument of its config()"
        differences += (f"a rule of its optimizer fails: it builds the model with {rules}",)
    report = ToolkitReport(name, answer.version, differences)
    return replace(corrected, operators=lists, toolkit=report)
