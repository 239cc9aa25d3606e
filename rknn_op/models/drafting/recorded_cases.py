"""Recorded calls of a model's nodes -> the files of recorded cases."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from opkit.check.case_makers import encoded
from opkit.check.cases import Case
from opkit.check.mistakes import CheckError
from opkit.check.operators import Operator
from opkit.description.spec import OpSpec
from opkit.runtimes.invocation import Array
from rknn_op.models import optional_inputs
from rknn_op.models.drafting.node_signatures import Signature, converted
from rknn_op.models.drafting.reference_trials import TimeLimitError, time_limit, tolerated_error
from rknn_op.models.model_graph import MAX_VALUES, Node, Tensor, at, plain
from rknn_op.models.optional_inputs import UnknownShapeError
from rknn_op.models.running.recording import Call

MAX_SECONDS = 3.0
"""The maximum processor time of the reference for a recorded case."""

_SLOW = f"the reference takes more than {MAX_SECONDS:g} s"


@dataclass(frozen=True)
class RecordedCases:
    """The recorded cases of an operator.

    Attributes:
        files: name of a file -> content.
        size: the bytes of all arrays.
        error: the tolerated absolute error of floats.
        left_out: messages about calls without a case.
        differences: messages about outputs that differ from the reference's.
    """

    files: Mapping[str, bytes] = field(default_factory=dict)
    size: int = 0
    error: float = 0.0
    left_out: Sequence[str] = ()
    differences: Sequence[str] = ()


def recorded_cases(
    found: Signature, calls: Sequence[Call], operator: Operator, is_written: bool
) -> RecordedCases:
    """Return the valid cases of recorded calls.

    Args:
        found: the union of the nodes.
        calls: the calls of the nodes.
        operator: the operator with its reference.
        is_written: whether the operator's reference is written.
    """
    files: dict[str, bytes] = {}
    left_out: dict[str, list[str]] = {}
    differences = []
    size, tolerance, too_many = 0, 0.0, sys.maxsize
    for call in calls:
        base = re.sub(r"[^A-Za-z0-9_-]+", "_", call.node.name).strip("_-")[:60] or "node"
        base += call.suffix
        used = {each.lower() for each in files}
        names = (base, *(f"{base}_{index}" for index in range(2, len(files) + 3)))
        name = next(each for each in names if f"{each}.npz".lower() not in used)
        try:
            case = _case(found, call, name, operator.spec)
            outputs = {
                each.name: call.outputs[each.position]
                for each in found.outputs
                if each.position in call.outputs
            }
            arrays = (*case.inputs.values(), *outputs.values())
            elements = sum(array.size for array in arrays)
            operator.check(case)
            for output, array in outputs.items():
                if not array.shape or 0 in array.shape:
                    shape = f"the shape {array.shape}, which no runtime has"
                    raise _UnfitError(f"output '{output}' has {shape}")
            if elements >= too_many:
                raise _UnfitError(_SLOW)
            expected: Mapping[str, Array] = {}
            if is_written:
                with time_limit(MAX_SECONDS):
                    expected = operator.prepare(case).expected
        except TimeLimitError:
            too_many = elements
            left_out.setdefault(_SLOW, []).append(plain(call.node.name))
            continue
        except (CheckError, _UnfitError) as error:
            reason = str(error).partition("\n")[0].removeprefix(f"{name}: ")
            left_out.setdefault(reason, []).append(plain(call.node.name))
            continue
        tolerance = max(tolerance, tolerated_error(outputs))
        if problem := _difference(expected, outputs, tolerance):
            differences.append(f"{plain(call.node.name)}: {problem}")
        files[f"{name}.npz"] = encoded(case.inputs, outputs, case.params)
        size += sum(array.nbytes for array in arrays)
    sentences = [
        f"{', '.join(names[:3])}{f' and {len(names) - 3} more' * (len(names) > 3)}: {reason}"
        for reason, names in left_out.items()
    ]
    return RecordedCases(files, size, tolerance, sentences, differences)


class _UnfitError(Exception):
    """A call cannot be a case."""


def _case(found: Signature, call: Call, name: str, spec: OpSpec) -> Case:
    """Return the case of a call; raise _UnfitError if the node lacks an input or a param."""
    values = {**neutral_inputs(found, call.node), **call.inputs}
    for each in found.inputs:
        if each.position not in values:
            raise _UnfitError(f"leaves out {each.name}, which other nodes have")
    params: dict[str, Any] = {}
    for attribute in found.attributes:
        if attribute.name in call.node.attributes:
            value = call.node.attributes[attribute.name]
            params[attribute.name] = converted(value, attribute.kind)
        elif attribute.default is None:
            raise _UnfitError(f"lacks the attribute {attribute.name}, which has no default")
    present = {
        *(each.name for each in found.inputs if at(call.node.inputs, each.position)),
        *(each.name for each in found.outputs if each.position in call.outputs),
    }
    omitted = optional_inputs.params(found.op_type, present, call.node.attributes)
    params |= {param.name: omitted[param.name] for param in spec.params if param.name in omitted}
    lists = {param.name for param in spec.params if param.type.is_list}
    for each in found.constants:
        # A constant of one element is a number by the model, but may be a list by the library.
        kind = f"{each.kind.removesuffix('s')}s" if each.name in lists else each.kind
        value = tuple(values[each.position].ravel().tolist())
        params[each.name] = converted(value, kind)
    inputs = {each.name: values[each.position] for each in found.tensors}
    dtypes = {
        each.name: call.outputs[each.position].dtype
        for each in found.outputs
        if each.position in call.outputs
    }
    return Case(name, inputs, params, dtypes, name)


def _difference(expected: Mapping[str, Array], outputs: Mapping[str, Array], error: float) -> str:
    """Return the first difference of the reference from the model; empty if they agree."""
    for name in expected.keys() & outputs.keys():
        computed, array = expected[name], outputs[name]
        if computed.shape != array.shape:
            return f"'{name}' has the shape {array.shape} in the model, {computed.shape} in numpy"
        if not np.allclose(computed, array, rtol=1e-6, atol=error, equal_nan=True):
            with np.errstate(all="ignore"):
                largest = np.nanmax(np.abs(computed.astype("f8") - array.astype("f8")))
            return f"'{name}' of the reference differs from the model's by up to {largest:g}"
    return ""


# ---- Inputs that nodes leave out: neutral values -------------------------------------------------


def neutral_inputs(found: Signature, node: Node) -> dict[int, Array]:
    """Return position -> value of each input that a node leaves out, if a neutral one is known."""
    present = {
        each.formal: tensor
        for each in found.inputs
        if each.formal and (tensor := at(node.inputs, each.position)) is not None
    }
    defaults = {each.name: each.default for each in found.attributes if each.default is not None}
    attributes = {**defaults, **node.attributes}
    values: dict[int, Array] = {}
    for each in found.inputs:
        if each.formal and each.formal not in present:
            try:
                value = optional_inputs.value(found.op_type, each.formal, present, attributes)
            except UnknownShapeError:
                continue
            if value is not None:
                values[each.position] = value
    return values


def filled(found: Signature, node: Node) -> Node:
    """Return a node with tensors for the inputs that it leaves out."""
    values = neutral_inputs(found, node)
    if not values:
        return node
    inputs = [
        at(node.inputs, position) for position in range(max(*values, len(node.inputs) - 1) + 1)
    ]
    for position, value in values.items():
        elements = tuple(value.ravel().tolist()) if value.size <= MAX_VALUES else None
        inputs[position] = Tensor("", value.shape, value.dtype.name, True, elements)
    return replace(node, inputs=tuple(inputs))
