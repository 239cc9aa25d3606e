"""The proof of bodies in the simulator of a toolkit, each alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from opkit.common.scratch import temporary_folder
from rknn_op.models.differences import Difference, simulated_difference
from rknn_op.models.rewriting import half
from rknn_op.models.rewriting.body import Body
from rknn_op.models.rewriting.body_proof import named
from rknn_op.models.running.stages import Call
from rknn_op.models.toolkits import Job, as_simulated, build
from rknn_op.runtimes.models import OperatorList, Toolkit

Array = Any


@dataclass(frozen=True)
class Trial:
    """A body to simulate.

    Attributes:
        body: the body.
        original: the node that it replaces; see stages.original.
        inputs: its inputs by position.
    """

    body: Body
    original: Call
    inputs: Sequence[Array | None]


@dataclass(frozen=True)
class Simulated:
    """The result of a body.

    Attributes:
        differences: the difference of each output from the node's.
        left: the operators that the toolkit leaves.
        problem: why the body is wrong on the chip; empty if it is not.
    """

    differences: tuple[Difference, ...] = ()
    left: frozenset[str] = frozenset()
    problem: str = ""


def simulate(
    trials: Sequence[Trial], toolkit: Toolkit, python: Path, target: str, operators: OperatorList
) -> list[Simulated]:
    """Build bodies with a toolkit, simulate them, and compare them with their nodes.

    The inputs are rounded to float16 before, as in the proof in float16: a coordinate of 80 pixels
    moves by 0.02 pixels, which no form can help.

    Args:
        trials: the bodies.
        toolkit: the toolkit.
        python: a Python with it.
        target: the chip.
        operators: the operators that the chip has.

    Raises:
        OpkitError: this Python has no such toolkit, or the toolkit does not end in time.
    """
    with temporary_folder() as folder:
        jobs = []
        for index, trial in enumerate(trials):
            file = folder / f"{index}.onnx"
            file.write_bytes(trial.body.model.SerializeToString())
            arrays = named(trial.body, half.narrow(trial.inputs))
            read = [arrays[each.name] for each in trial.body.model.graph.input]
            # The simulator supports no scalars.
            can_run = all(each.ndim for each in read)
            jobs.append(Job(file, as_simulated(toolkit, read) if can_run else None))
        answers = build(toolkit, python, jobs, target)
    results = []
    for trial, answer in zip(trials, answers, strict=True):
        if answer.refusal:
            results.append(Simulated(problem=f"{toolkit.name}: {answer.refusal}"))
            continue
        expected = trial.original(half.narrow(trial.inputs))
        wanted = [
            (tensor.name, np.asarray(array))
            for tensor, array in zip(trial.body.node.outputs, expected, strict=False)
            if tensor and array is not None
        ]
        tolerance = trial.body.form.half
        differences = tuple(
            simulated_difference(name, result, array, tolerance=tolerance)
            for (name, array), result in zip(wanted, answer.outputs, strict=bool(answer.outputs))
        )
        known = operators.operators | operators.cpu
        lacking = sorted(
            each for each in answer.left if operators.names.get(each, each) not in known
        )
        wrong = next((each for each in differences if not each.is_equal), None)
        problem = f"output {wrong.name} differs in the simulator: {wrong}" if wrong else ""
        if lacking:
            problem = f"{toolkit.name} leaves {lacking[0]}"
        results.append(Simulated(differences, answer.left, problem))
    return results
