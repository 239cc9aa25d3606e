"""Rewrite the missing operators of a model's file."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from opkit.common.errors import OpkitError
from opkit.common.scratch import temporary_folder
from opkit.common.text import printable, shortened
from opkit.runtimes import available
from rknn_op.known_targets import runtime_of_target
from rknn_op.messages import step
from rknn_op.models import scanning
from rknn_op.models.differences import (
    TOLERANCES,
    Difference,
    difference,
    simulated_difference,
)
from rknn_op.models.model_files import required
from rknn_op.models.model_graph import Model, Node, node_path
from rknn_op.models.onnx_model import RANDOM
from rknn_op.models.rewriting.candidates import MAX_CONSTANT, candidates, known_forms
from rknn_op.models.rewriting.rewriting import Chip, Rewriter, Rewriting
from rknn_op.models.running.cleaned_models import cleaned_model, compared, outputs_of
from rknn_op.models.running.model_inputs import random_inputs, read_inputs
from rknn_op.models.running.sensitivity import tolerating
from rknn_op.models.running.weights import OpenModel, opened
from rknn_op.models.running.written_models import SUFFIX, assembled, publish, refuse_output
from rknn_op.models.toolkits import Answer, Job, as_simulated, build
from rknn_op.models.unsuitable import remedy
from rknn_op.models.versions import lowered
from rknn_op.runtimes.models import models_of, toolkit_names

Array = Any

_GROWTH = 10
"""Differences of a form may grow on the way to the outputs."""


@dataclass(frozen=True)
class Options:
    """The options of the command.

    Attributes:
        op_types: the operators to rewrite.
        nodes: the names of the nodes to rewrite.
        all: rewrite the operators of the runtime's CPU as well. Without one of the three, those
            that are missing.
        inputs: an .npz file with the model's inputs; None: random ones.
        max_error: the tolerated absolute difference of an output; None: by the dtype.
        target: the chip; None: the default.
        toolkit: a Python with the toolkit; None: nothing is simulated.
        as_is: do not clean the model.
    """

    op_types: Sequence[str] = ()
    nodes: Sequence[str] = ()
    all: bool = False
    inputs: Path | None = None
    max_error: float | None = None
    target: str | None = None
    toolkit: Path | None = None
    as_is: bool = False

    @property
    def are_chosen(self) -> bool:
        """Whether the user names operators or nodes: each of them must be rewritten."""
        return bool(self.op_types or self.nodes)


@dataclass(frozen=True)
class Outcome:
    """The result for a model.

    Attributes:
        rewriting: the rewritten model.
        left: the missing nodes that are left, and why.
        differences: the difference of each output in float32.
        in_half: the same with the tensors of the rewritten nodes in float16.
        toolkit: the toolkit's name and version; empty: not simulated.
        simulated: the difference of each output in its simulator.
        notes: messages.
        problem: why nothing is written; empty: the files are.
        files: the new files.
    """

    rewriting: Rewriting
    left: tuple[tuple[Node, str], ...] = ()
    differences: tuple[Difference, ...] = ()
    in_half: tuple[Difference, ...] = ()
    toolkit: str = ""
    simulated: tuple[Difference, ...] = ()
    notes: tuple[str, ...] = ()
    problem: str = ""
    files: tuple[Path, ...] = ()


def rewrite_file(file: Path, output: Path, options: Options) -> Outcome:
    """Rewrite nodes of a model with operators that the chip has; write it if it computes the same.

    Args:
        file: the model.
        output: the file to write.
        options: the options.

    Raises:
        OpkitError: a file is invalid or exists, a chosen node has no form that holds, or nothing
            can be rewritten.
        OSError: a file cannot be written.
    """
    _check(file, output, options)
    with opened(file, MAX_CONSTANT) as raw, temporary_folder() as folder:
        source, model = (
            (raw, scanning.read_model(file, True)) if options.as_is else (cleaned_model(raw))
        )
        inputs = read_inputs(options.inputs, model) if options.inputs else random_inputs(model)
        chip = chip_of(options.target, options.toolkit)
        scan = scanning.scan(model, chip.target, chip.operators)
        rewriter = rewriter_for(source, model, chosen(scan, options), inputs, chip)
        outcome = _proven(rewriter, source, inputs, chip, options)
        if not options.are_chosen:
            unsuitable = ((node, each.remedy) for each in scan.unsuitable for node in each.nodes)
            outcome = replace(outcome, left=(*outcome.rewriting.left, *unsuitable))
        if outcome.problem:
            return outcome
        if source is not raw and (reason := compared(raw, inputs, outcome.rewriting.expected)):
            outcome = replace(outcome, notes=(*outcome.notes, reason))
        files = assembled(outcome.rewriting.model, folder, output.name, "rewritten")
        return replace(outcome, files=tuple(publish(files, output.parent)))


def _check(file: Path, output: Path, options: Options) -> None:
    called = printable(str(file))
    for models in map(models_of, available()):
        if file.suffix == models.suffix != SUFFIX:
            raise OpkitError(
                f"{called}: models of {models.framework} are not rewritten; make a custom "
                f"operator: rknn-op create --from {called}"
            )
    if file.suffix != SUFFIX:
        raise OpkitError(f"MODEL {called}: invalid file name (expected *{SUFFIX})")
    if options.max_error is not None and not math.isfinite(options.max_error):
        raise OpkitError(f"--max-error: invalid {options.max_error} (expected a finite number)")
    refuse_output(file, output, "-o")


def chip_of(target: str | None, python: Path | None) -> Chip:
    """Return a chip.

    Args:
        target: its name; None: the default of ONNX models.
        python: a Python with its toolkit; None: nothing is simulated.

    Raises:
        OpkitError: the target is unknown, or has no ONNX models or no toolkit.
    """
    target = target or scanning.default_target(SUFFIX)
    models = models_of(runtime_of_target(target))
    if models.suffix != SUFFIX or not models.toolkit:
        raise OpkitError(
            f"--target {target}: its models are not rewritten (expected a target of "
            f"{toolkit_names()})"
        )
    return Chip(target, models.operators(target, None), models.toolkit, python)


def chosen(scan: scanning.Scan, options: Options) -> list[Node]:
    """Return the nodes to rewrite, in the order of the model.

    Raises:
        OpkitError: the model has no such operator or node, or nothing is missing.
    """
    changing = [node for node in scan.model.nodes if not node.is_constant]
    file = printable(str(scan.model.file))
    op_types, names = {*options.op_types}, {*options.nodes}
    for option, wanted, known in (
        ("--op", op_types, {node.op_type for node in changing}),
        ("--node", names, {node.name for node in changing}),
    ):
        for each in sorted(wanted - known):
            shown = ", ".join(sorted(map(shortened, known))[:20])
            raise OpkitError(f"{option} {printable(each)}: {file} has none (expected {shown})")
    if options.are_chosen:
        return [node for node in changing if node.op_type in op_types or node.name in names]
    nodes = [node for each in scan.missing for node in each.nodes]
    if options.all:
        nodes += [node for each in scan.cpu for node in each.nodes]
    if not nodes:
        raise OpkitError(
            f"{file}: no operator is missing on {scan.target}; --op TYPE or --node NAME rewrites "
            "others"
        )
    wanted_nodes = {id(node) for node in nodes}
    return [node for node in changing if id(node) in wanted_nodes]


def rewriter_for(
    source: OpenModel, model: Model, nodes: Sequence[Node], inputs: Mapping[str, Array], chip: Chip
) -> Rewriter:
    """Return the rewriter of nodes, each with the first form that is proven, also in the simulator.

    Args:
        source: the model.
        model: the same as values.
        nodes: the nodes.
        inputs: the model's inputs by name.
        chip: the chip.

    Raises:
        OpkitError: the model draws random numbers, a form of the user fails, or onnxruntime cannot
            run the model.
    """
    for node in model.nodes:
        if node.op_type in RANDOM and (instead := remedy(node.domain, node.op_type)):
            raise OpkitError(
                f"{printable(str(model.file))}: node {node_path(node.name, 100)!r} "
                f"({node.op_type}) draws random numbers, so that outputs cannot be compared; "
                f"{instead}"
            )
    found = candidates(source.proto, model, nodes, chip.operators, known_forms(Path()))
    with step("comparing each form with its node"):
        rewriter = Rewriter(source, found, inputs, chip)
    if chip.python:
        with step(f"simulating each form with {chip.toolkit.name}"):
            rewriter.simulate()
    return rewriter


def _proven(
    rewriter: Rewriter,
    source: OpenModel,
    inputs: Mapping[str, Array],
    chip: Chip,
    options: Options,
) -> Outcome:
    """Compare the model with the original, also in the simulator; take other forms if it differs.

    Raises:
        OpkitError: a chosen node is not rewritten, or none is.
    """
    while True:
        rewriting = rewriter.result()
        if rewriting.left and (options.are_chosen or not rewriting.nodes):
            raise OpkitError(_left(source.file, rewriting.left))
        notes = lowered(rewriting.model.proto, chip.operators)
        rewriting = replace(rewriting, notes=(*rewriting.notes, *notes))
        outcome = compare(rewriting, source, inputs, options.max_error)
        if outcome.problem or not chip.python:
            return outcome
        with step(f"converting and simulating with {chip.toolkit.name}"):
            answer, wrong = _simulated(rewriter, rewriting, inputs, chip)
        if wrong is not None:
            rewriter.drop(wrong, "right alone, wrong in the simulated model")
            rewriter.simulate()
            continue
        return _with_answer(outcome, answer, source, inputs, chip, options.max_error)


def _left(file: Path, left: Sequence[tuple[Node, str]]) -> str:
    """Return the message about nodes that are not rewritten, a line for each."""
    lines = [
        f"{printable(str(file))}: node {node_path(node.name, 100)!r} ({node.op_type}) cannot "
        f"be rewritten: {reason}"
        for node, reason in left
    ]
    return "\n".join(lines)


def compare(
    rewriting: Rewriting, source: OpenModel, inputs: Mapping[str, Array], max_error: float | None
) -> Outcome:
    """Compare the outputs of a rewritten model with the original's, in float32 and in float16.

    Args:
        rewriting: the rewritten model.
        source: the original.
        inputs: its inputs by name.
        max_error: the tolerated absolute difference; None: by the dtype and the forms.

    Raises:
        OpkitError: onnxruntime cannot run the rewritten model.
    """
    expected = rewriting.expected
    form_error = max(each.body.form.error for each in rewriting.nodes)
    tolerances = {name: max(limit, _GROWTH * form_error) for name, limit in TOLERANCES.items()}
    outputs = outputs_of(rewriting.model, inputs)
    full = tuple(
        difference(name, outputs[name], array, max_error, tolerances)
        for name, array in expected.items()
    )
    outputs = outputs_of(rewriting.in_half, inputs)
    halves = [
        simulated_difference(name, outputs[name], array, max_error)
        for name, array in expected.items()
    ]
    half, notes = tolerating(halves, source, inputs, expected)
    problem = ""
    for where, differences in (("", full), (" in float16", half)):
        wrong = next((each for each in differences if not each.is_equal), None)
        if wrong and not problem:
            problem = (
                f"output {printable(shortened(wrong.name))!r} differs{where}: {wrong}; each form "
                "agrees with its node, and small differences grow on the way: pass --max-error"
            )
    return Outcome(rewriting, (), full, half, notes=(*rewriting.notes, *notes), problem=problem)


def _simulated(
    rewriter: Rewriter, rewriting: Rewriting, inputs: Mapping[str, Array], chip: Chip
) -> tuple[Answer, int | None]:
    """Simulate a rewritten model.

    Returns:
        The answer; and, if an output differs, the position of the first rewritten node that is
        wrong on the simulator's own tensors.
    """
    assert chip.python
    toolkit, python = chip.toolkit, chip.python
    is_scalar = any(array.ndim == 0 for array in inputs.values())
    arrays = None if is_scalar else as_simulated(toolkit, inputs.values())
    with temporary_folder() as folder:

        def built(model: OpenModel, name: str, rules: Sequence[str] = ()) -> Answer:
            (folder / name).mkdir()
            file = assembled(model, folder / name, f"model{SUFFIX}", "rewritten")[-1]
            return build(toolkit, python, [Job(file, arrays, rules)], chip.target)[0]

        answer = built(rewriting.model, "whole")
        named = zip(rewriting.expected.items(), answer.outputs, strict=False)
        if all(simulated_difference(name, each, array).is_equal for (name, array), each in named):
            return answer, None
        proto = required("onnx").ModelProto()
        proto.CopyFrom(rewriting.model.proto)
        ends = {each.name for each in (*proto.graph.input, *proto.graph.output)}
        types = {each.name: each for each in proto.graph.value_info}
        proto.graph.output.extend(
            types[name] for name in rewriter.tensors() if name in types and name not in ends
        )
        names = [each.name for each in proto.graph.output]
        shown = built(replace(rewriting.model, proto=proto), "nodes", answer.disabled_rules).outputs
    return answer, rewriter.first_wrong({**inputs, **dict(zip(names, shown, strict=False))})


def _with_answer(
    outcome: Outcome,
    answer: Answer,
    source: OpenModel,
    inputs: Mapping[str, Array],
    chip: Chip,
    max_error: float | None,
) -> Outcome:
    """Return the outcome with the toolkit's answer for the whole model."""
    name = f"{chip.toolkit.name} {answer.version}".rstrip()
    if answer.refusal:
        return replace(outcome, toolkit=name, problem=f"{name}: {answer.refusal}")
    if answer.disabled_rules:
        name += f" with disable_rules={[*answer.disabled_rules]}"
    if not answer.outputs:
        note = f"{name}: the model is not simulated: the simulator does not support scalar inputs"
        return replace(outcome, toolkit=name, notes=(*outcome.notes, note))
    found = [
        simulated_difference(key, result, array, max_error)
        for (key, array), result in zip(
            outcome.rewriting.expected.items(), answer.outputs, strict=True
        )
    ]
    simulated, notes = tolerating(found, source, inputs, outcome.rewriting.expected)
    wrong = next((each for each in simulated if not each.is_equal), None)
    problem = (
        f"output {printable(shortened(wrong.name))!r} of the simulator: {wrong}; each form is "
        "right alone: pass other --inputs, or --max-error"
        if wrong
        else ""
    )
    notes = [each for each in notes if each not in outcome.notes]
    return replace(
        outcome, toolkit=name, simulated=simulated, notes=(*outcome.notes, *notes), problem=problem
    )
