"""How librknnrt calls an operator: what becomes of values, and what a status means.

The names of the module are the convention of librknnrt 1.6.0, where every tensor is float32; LATER
is that of later versions, by the vendor's guide.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from opkit.description.spec import Param
from opkit.runtimes.invocation import Array, RefusedError, Value
from opkit.runtimes.rknn2.limits import (
    LATER_TENSOR_TYPES,
    LIMITS,
    READABLE,
    TENSOR_TYPES,
    unreadable_numbers,
)

tensor_types = input_types = output_types = TENSOR_TYPES
has_shape_rule = False
_STATUS_NAMES = {-14: "RKNN_WARNING_SKIP_CUSTOM_OP_COMPUTE"}
_CONSTANT = "const:"  # before the name of a param that is a constant input; driver.c has it, too


def status_name(status: int) -> str:
    """Return a status as messages show it."""
    name = _STATUS_NAMES.get(status)
    return f"{name} ({status})" if name else str(status)


def marshal(params: Sequence[Param], values: Mapping[str, Any]) -> list[Value]:
    """Return the attributes and the constant inputs of a node, as librknnrt 1.6.0 hands them over.

    Attributes are int64, float32, or strings of JSON in UTF-8; constant inputs are tensors.

    Raises:
        RefusedError: no model can hold one of them.
    """
    return _marshal_all(params, values, TENSOR_TYPES)


class _Later:
    """How later versions of librknnrt call an operator; see CallingConvention."""

    tensor_types = input_types = output_types = LATER_TENSOR_TYPES
    has_shape_rule = has_shape_rule

    def marshal(self, params: Sequence[Param], values: Mapping[str, Any]) -> list[Value]:
        return _marshal_all(params, values, LATER_TENSOR_TYPES)

    def status_name(self, status: int) -> str:
        return status_name(status)


LATER = _Later()


def _marshal_all(
    params: Sequence[Param], values: Mapping[str, Any], tensor_types: Mapping[str, str]
) -> list[Value]:
    return [_marshal(param, values[param.name], tensor_types) for param in params]


def _marshal(param: Param, value: Any, tensor_types: Mapping[str, str]) -> Value:
    name = f"{_CONSTANT if param.source else ''}{param.name}"
    if param.type.is_text:
        data = json.dumps(str(value), ensure_ascii=False).encode()
        return Value(name, "char", (len(data),), data)
    numbers = np.asarray(value)
    if param.type.is_list and not 1 <= numbers.size <= LIMITS.items:
        raise RefusedError(
            f"param '{param.name}' has {numbers.size} items (expected 1 to {LIMITS.items:,})"
        )
    array = _floats(numbers) if param.type.element.kind == "float" else _integers(param, numbers)
    if param.source:
        array = array.astype(tensor_types[array.dtype.name])
    elif not np.array_equal(numbers, np.asarray(param.default)):  # which nodes leave out
        _refuse_unreadable(param, array)
    return Value(name, array.dtype.name, array.shape, array.tobytes())


def _refuse_unreadable(param: Param, array: Array) -> None:
    """Refuse an attribute with which no model can be loaded.

    Raises:
        RefusedError: a number of it is such.
    """
    for number in unreadable_numbers(tuple(array.ravel().tolist()))[:1]:
        raise RefusedError(
            f"param '{param.name}' is {number}, at which librknnrt aborts (expected {READABLE})"
        )


def _floats(numbers: Array) -> Array:
    with np.errstate(over="ignore"):
        return numbers.astype(np.float32)


def _integers(param: Param, numbers: Array) -> Array:
    limits = param.type.element.limits
    assert limits is not None
    low, high = limits[0], min(limits[1], np.iinfo(np.int64).max)
    for number in numbers.ravel().tolist():
        if not low <= number <= high or number != int(number):
            raise RefusedError(
                f"param '{param.name}' is {number} (expected a whole number from {low} to {high})"
            )
    return numbers.astype(np.int64)
