"""The proof of a body: the tensors of the node that it replaces, in float32 and in float16."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rknn_op.models.differences import FLOATS, Difference, difference
from rknn_op.models.rewriting import half
from rknn_op.models.rewriting.body import Body
from rknn_op.models.running.stages import Call

Array = Any


@dataclass(frozen=True)
class BodyProof:
    """The comparison of a body with the node that it replaces.

    Attributes:
        full: the difference of each output in float32.
        half: the same with all tensors in float16, from the node on inputs that are rounded alike.
        problem: why the body is wrong; empty if it is not.
    """

    full: tuple[Difference, ...] = ()
    half: tuple[Difference, ...] = ()
    problem: str = ""


def prove(body: Body, original: Call, inputs: Sequence[Array | None]) -> BodyProof:
    """Compare a body with its node.

    Args:
        body: the body.
        original: the node; see stages.original.
        inputs: its inputs by position.

    Raises:
        OpkitError: onnxruntime cannot run the node.
    """
    full = _compared(body, body.model, original, inputs, body.form.error)
    if isinstance(full, str):
        return BodyProof(problem=full)
    if wrong := next((each for each in full if not each.is_equal), None):
        return BodyProof(full, problem=f"output {wrong.name} differs: {wrong}")
    if problem := half.beyond(body, named(body, inputs)):
        return BodyProof(full, problem=problem)
    in_half = _compared(
        body, half.in_half(body.model), original, half.narrow(inputs), body.form.half
    )
    if isinstance(in_half, str):
        return BodyProof(full, problem=in_half)
    wrong = next((each for each in in_half if not each.is_equal), None)
    problem = f"output {wrong.name} differs in float16: {wrong}" if wrong else ""
    return BodyProof(full, in_half, problem)


def named(body: Body, inputs: Sequence[Array | None]) -> Mapping[str, Array]:
    """Return the inputs of a body by name, from those of its node by position."""
    given = zip(body.node.inputs, inputs, strict=False)
    return {tensor.name: array for tensor, array in given if tensor and array is not None}


def _compared(
    body: Body, model: Any, original: Call, inputs: Sequence[Array | None], error: float
) -> tuple[Difference, ...] | str:
    """Return the difference of each output, or why there is none."""
    expected = {
        tensor.name: np.asarray(array)
        for tensor, array in zip(body.node.outputs, original(inputs), strict=False)
        if tensor and array is not None
    }
    try:
        results = half.run(model, named(body, inputs), [*expected])
    except Exception as failure:  # onnxruntime's own have no common class
        return f"onnxruntime: {str(failure).strip().splitlines()[-1]}"
    # A model in float16 has its differences in both.
    tolerances = {**dict.fromkeys(FLOATS, error), "float16": body.form.half}
    return tuple(
        difference(name, result, array, None, tolerances)
        for (name, array), result in zip(expected.items(), results, strict=True)
    )
