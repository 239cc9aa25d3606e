"""librknnrt's calling convention: marshaling of values, names of statuses.

CONVENTION is for librknnrt 1.6.0, where every tensor is float32; LATER is for later versions, by
the vendor's guide.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from opkit.description.spec import Param
from opkit.runtimes.invocation import (
    Array,
    CallingConvention,
    RefusedError,
    Value,
    check_integers,
    numbers_of,
)
from opkit.runtimes.rknn2.limits import (
    LATER_TENSOR_TYPES,
    LIMITS,
    READABLE,
    TENSOR_TYPES,
    unreadable_numbers,
)

_CONSTANT = "const:"  # the prefix of constant inputs' names; the same as in driver.c


def _value(param: Param, value: Any, tensor_types: Mapping[str, str]) -> Value:
    """Return an attribute or a constant input of a node.

    Attributes are int64, float32, or strings of JSON in UTF-8; constant inputs are tensors.
    """
    name = f"{_CONSTANT if param.source else ''}{param.name}"
    if param.type.is_text:
        data = json.dumps(str(value), ensure_ascii=False).encode()
        return Value(name, "char", (len(data),), data)
    array = _array(param, numbers_of(param, value, LIMITS)).reshape(np.shape(value))
    if param.source:
        array = array.astype(tensor_types[array.dtype.name])
    elif not np.array_equal(np.asarray(value), np.asarray(param.default)):  # nodes omit a default
        _refuse_unreadable(param, array)
    return Value(name, array.dtype.name, array.shape, array.tobytes())


def _array(param: Param, numbers: list[Any]) -> Array:
    if param.type.element.kind == "float":
        with np.errstate(over="ignore"):
            return np.asarray(numbers).astype(np.float32)
    check_integers(param, numbers, largest=np.iinfo(np.int64).max)
    return np.asarray(numbers).astype(np.int64)


def _refuse_unreadable(param: Param, array: Array) -> None:
    """Refuse an attribute that librknnrt cannot load.

    Raises:
        RefusedError: a number of it is out of range.
    """
    for each in unreadable_numbers(tuple(array.ravel().tolist()))[:1]:
        raise RefusedError(
            f"param '{param.name}' is {each}, at which librknnrt aborts (expected {READABLE})"
        )


def _convention(tensor_types: Mapping[str, str]) -> CallingConvention:
    return CallingConvention(
        tensor_types=tensor_types,
        input_types=tensor_types,
        output_types=tensor_types,
        value=partial(_value, tensor_types=tensor_types),
        has_threads=True,
        statuses={-14: "RKNN_WARNING_SKIP_CUSTOM_OP_COMPUTE"},
    )


CONVENTION = _convention(TENSOR_TYPES)
LATER = _convention(LATER_TENSOR_TYPES)
