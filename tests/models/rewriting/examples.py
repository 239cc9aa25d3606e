"""One realistic node of each operator that has a form, and what becomes of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

from rknn_op.models.rewriting.body_proof import BodyProof, prove
from rknn_op.models.rewriting.candidates import forms_of
from rknn_op.models.rewriting.form import ConditionError, Form, own_forms
from rknn_op.models.rewriting.simulation import Simulated, Trial, simulate
from rknn_op.runtimes.models import OperatorList, models_of
from tests.models.rewriting.node_tests import MAX_OPSET, Case, trial

CHIPS = ("rk3588", "rk3576", "rk3562", "rk3566")
"""A chip of each list; others share one of them."""


@dataclass(frozen=True)
class Example:
    """A form of an operator, applied to a node.

    Attributes:
        form: the form.
        trial: the form's nodes, and the node with its inputs.
        proof: the comparison of both on this PC.
    """

    form: Form
    trial: Trial
    proof: BodyProof


def cases() -> dict[str, Case]:
    """Return operator -> a realistic node."""
    found: dict[str, Case] = {}
    for file in sorted(Path(__file__).parent.glob("*_examples.py")):
        found |= import_module(f"{__package__}.{file.stem}").EXAMPLES
    return dict(sorted(found.items()))


@cache
def examples() -> list[Example]:
    """Return each form that holds for the node of its operator, in the order to try."""
    return [*_examples()]


def _examples() -> Iterator[Example]:
    own = own_forms()
    for op_type, case in cases().items():
        for form in forms_of("", op_type, MAX_OPSET, own):
            try:
                made = trial(form, case)
            except ConditionError:
                continue
            yield Example(form, made, prove(made.body, made.original, made.inputs))


def lists() -> dict[str, OperatorList]:
    """Return chip -> its operators."""
    return {chip: models_of("rknn2").operators(chip, None) for chip in CHIPS}


def simulated(python: Path) -> list[Simulated]:
    """Return the result of each example in the simulator of a toolkit, for the first chip."""
    toolkit = models_of("rknn2").toolkit
    assert toolkit
    trials = [each.trial for each in examples()]
    return simulate(trials, toolkit, python, CHIPS[0], lists()[CHIPS[0]])
