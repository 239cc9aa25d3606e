"""`rknn-op graft`: the model with the operators of repositories, compared with the original."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from opkit.check.operators import Operator
from opkit.common.errors import OpkitError
from opkit.common.scratch import temporary_folder
from opkit.common.text import printable, shortened
from opkit.runtimes import available
from rknn_op.messages import step
from rknn_op.models import onnx_model, scanning
from rknn_op.models.grafting.custom_nodes import Custom, check_types, customs, runtime_of, types_of
from rknn_op.models.grafting.grafted_model import (
    Graft,
    converter_warnings,
    graft,
    refuse_for_converter,
)
from rknn_op.models.grafting.proof import Proof, Request, Simulation, prove, simulate, write_shapes
from rknn_op.models.grafting.quantized import (
    Quantization,
    Quantized,
    quantize,
    write_samples,
)
from rknn_op.models.model_graph import Model
from rknn_op.models.onnx_file import MAX_INLINE, with_shapes
from rknn_op.models.rewriting.candidates import MAX_CONSTANT
from rknn_op.models.rewriting.rewrite_file import chip_of, compare, rewriter_for
from rknn_op.models.rewriting.rewriting import Rewriting, Rewritten
from rknn_op.models.running.cleaned_models import cleaned_model, compared
from rknn_op.models.running.model_inputs import random_inputs, read_inputs
from rknn_op.models.running.sensitivity import tolerating
from rknn_op.models.running.weights import OpenModel, opened
from rknn_op.models.running.written_models import (
    SUFFIX,
    assembled,
    publish,
    refuse_existing,
    refuse_output,
)
from rknn_op.own_opkit import require
from rknn_op.runtimes.models import models_of, toolkit_names, toolkits


@dataclass(frozen=True)
class Options:
    """The options of the command.

    Attributes:
        inputs: an .npz file with the model's inputs; None: random ones.
        max_error: the tolerated absolute difference; None: by the dtype.
        toolkit: a Python with the toolkit; None: no conversion.
        target: the target; None: the default.
        as_is: do not clean the model.
        rewrite: write the missing operators with those of the chip first, as far as possible.
        quantization: the conversion to int8, whose first sample is in place of `inputs`; None: to
            float16.
    """

    inputs: Path | None = None
    max_error: float | None = None
    toolkit: Path | None = None
    target: str | None = None
    as_is: bool = False
    rewrite: bool = False
    quantization: Quantization | None = None


@dataclass(frozen=True)
class Outcome:
    """The result of a graft.

    Attributes:
        graft: the grafted model.
        proof: its comparison with the original.
        simulation: the comparison of the converted model; None: not converted.
        quantized: the comparison of the int8 model; None: not quantized.
        rewritten: the nodes that are rewritten instead.
        warnings: messages.
        failure: why the toolkit does not convert the grafted model; empty if it does.
        files: the new files; empty if outputs differ.
    """

    graft: Graft
    proof: Proof
    simulation: Simulation | None = None
    quantized: Quantized | None = None
    rewritten: Sequence[Rewritten] = ()
    warnings: Sequence[str] = ()
    failure: str = ""
    files: tuple[Path, ...] = ()

    @property
    def problem(self) -> str:
        """Why outputs are not those of the original model, or unknown; empty if they are."""
        if self.failure:
            return self.failure
        wrong = [
            f"output {printable(shortened(each.name))!r} of the simulator: {each}"
            for each in (self.simulation.differences if self.simulation else ())
            if not each.is_equal
        ]
        if self.proof.cause or not wrong:
            return self.proof.cause
        return (
            f"{wrong[0]}; the simulator rounds to float16, which may also swap indices of nearly "
            "equal numbers: pass other --inputs, or --max-error"
        )


def graft_file(file: Path, folders: Sequence[Path], output: Path, options: Options) -> Outcome:
    """Graft a model; write it if its outputs are those of the original.

    Args:
        file: the model.
        folders: the repositories.
        output: the file to write, and its data or package beside it.
        options: the options.

    Raises:
        OpkitError: a file or a repository is invalid, a node does not match its description, a
            reference or the toolkit fails, or cleaning changes an output.
        OSError: a file cannot be written.
    """
    _check_options(file, output, options)
    for folder in folders:
        require(folder)
    operators = [Operator(folder) for folder in dict.fromkeys(each.resolve() for each in folders)]
    name = runtime_of(operators, options.target)
    runtime = available()[name]
    toolkit = models_of(name).toolkit
    if options.toolkit and not toolkit:
        raise OpkitError(f"--toolkit: {toolkit_names()} is not for {name}")
    found = customs(operators, name)
    limit = MAX_CONSTANT if options.rewrite else MAX_INLINE
    with opened(file, limit) as raw, temporary_folder() as folder:
        source, model = (raw, onnx_model.read(file)) if options.as_is else cleaned_model(raw)
        refuse_for_converter(model, runtime)
        dataset = None
        has_inputs = options.inputs is not None or options.quantization is not None
        if toolkit and options.quantization:
            dataset = write_samples(options.quantization.dataset, model, toolkit, folder)
            inputs = dataset.inputs(0)
        else:
            inputs = read_inputs(options.inputs, model) if options.inputs else random_inputs(model)
        check_types(found, types_of(model))
        clean, rewriting = source, None
        if options.rewrite:
            rewriting = _rewritten(source, model, inputs, options)
            source = rewriting.model
            model = onnx_model.as_model(file, with_shapes(source.proto, file), model.cleaned)
            found = _still_needed(found, model, output)
        target = options.target or runtime.describe.default_target
        chip = models_of(name).operators(target, None) if toolkit else None
        grafted = graft(source, model, found, chip)
        with step("running both models"):
            proof = prove(source, grafted, inputs, options.max_error, runtime, has_inputs)
        warnings = [*converter_warnings(grafted, runtime), *grafted.notes, *proof.notes]
        if rewriting:
            warnings = [*rewriting.notes, *warnings]
        outcome = Outcome(
            grafted, proof, warnings=warnings, rewritten=rewriting.nodes if rewriting else ()
        )
        if proof.cause:
            return outcome
        expected = rewriting.expected if rewriting else proof.outputs
        if clean is not raw and (reason := compared(raw, inputs, expected)):
            outcome = replace(outcome, warnings=[*outcome.warnings, reason])
        write_shapes(source, grafted, model, proof)
        files = assembled(grafted.model, folder, output.name, "grafted")
        if options.toolkit and toolkit:
            package = folder / output.with_suffix(toolkit.suffix).name
            request = Request(toolkit, options.toolkit, files[-1], found, target, inputs, package)
            try:
                if dataset and options.quantization:
                    of_original = None if proof.not_compared else source
                    chosen, max_error = options.quantization, options.max_error
                    quantized = quantize(request, of_original, grafted, dataset, chosen, max_error)
                    simulated = Simulation(target, quantized.toolkit, quantized.differences)
                    outcome = replace(outcome, quantized=quantized)
                else:
                    with step(f"converting and simulating with {toolkit.name}"):
                        simulated = simulate(request, proof.outputs, options.max_error)
            except OpkitError as error:
                return replace(outcome, failure=str(error))
            if not proof.not_compared:
                differences, notes = tolerating(
                    simulated.differences, source, inputs, proof.outputs
                )
                simulated = replace(simulated, differences=differences)
                outcome = replace(outcome, warnings=[*outcome.warnings, *notes])
            outcome = replace(outcome, simulation=simulated)
            if outcome.problem:
                return outcome
            files.append(package)
        return replace(outcome, files=(*publish(files, output.parent),))


def _rewritten(
    source: OpenModel, model: Model, inputs: Mapping[str, Any], options: Options
) -> Rewriting:
    """Rewrite the missing operators of a model, as far as possible.

    Raises:
        OpkitError: onnxruntime cannot run the model, or an output differs.
    """
    chip = chip_of(options.target, options.toolkit)
    scan = scanning.scan(model, chip.target, chip.operators)
    nodes = [node for each in scan.missing for node in each.nodes]
    rewriting = rewriter_for(source, model, nodes, inputs, chip).result()
    if rewriting.nodes and (
        problem := compare(rewriting, source, inputs, options.max_error).problem
    ):
        raise OpkitError(f"{source.file}: rewritten: {problem}")
    return rewriting


def _still_needed(found: Sequence[Custom], model: Model, output: Path) -> list[Custom]:
    """Return the operators that a rewritten model still has.

    Raises:
        OpkitError: it has none.
    """
    types = types_of(model)
    needed = [each for each in found if any(each.has(*type_) for type_ in types)]
    if not needed:
        file, written = printable(str(model.file)), printable(str(output))
        raise OpkitError(
            f"{file}: every node of {', '.join(str(each.operator.root) for each in found)} is "
            f"rewritten, so that no custom operator is needed; run: rknn-op rewrite {file} -o "
            f"{written}"
        )
    return needed


def _check_options(file: Path, output: Path, options: Options) -> None:
    if options.max_error is not None and not math.isfinite(options.max_error):
        raise OpkitError(f"--max-error: invalid {options.max_error} (expected a finite number)")
    for models in map(models_of, available()):
        if models.graft_refusal and file.suffix == models.suffix:
            raise OpkitError(f"{printable(str(file))}: {models.graft_refusal}")
    if file.suffix != SUFFIX:
        called = printable(str(file))
        raise OpkitError(f"MODEL {called}: invalid file name (expected *{SUFFIX})")
    refuse_output(file, output, "-o")
    packages = [output.with_suffix(each.suffix) for each in toolkits() if options.toolkit]
    refuse_existing(packages, "-o")
