"""How librknn_runtime calls a kernel: what becomes of values, and what a status means."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from opkit.description.spec import Param
from opkit.description.types import ElementType
from opkit.runtimes.invocation import CallingConvention, RefusedError, Value, numbers_of
from opkit.runtimes.rknn.deliveries import (
    DELIVERIES,
    INPUT_TYPES,
    OUTPUT_TYPES,
    TENSOR_TYPES,
    Delivery,
)
from opkit.runtimes.rknn.limits import LIMITS

_STATUS_NAMES = {
    -1: "VX_FAILURE",
    -2: "VX_ERROR_NOT_IMPLEMENTED",
    -3: "VX_ERROR_NOT_SUPPORTED",
    -4: "VX_ERROR_NOT_SUFFICIENT",
    -5: "VX_ERROR_NOT_ALLOCATED",
    -6: "VX_ERROR_NOT_COMPATIBLE",
    -7: "VX_ERROR_NO_RESOURCES",
    -8: "VX_ERROR_NO_MEMORY",
    -9: "VX_ERROR_OPTIMIZED_AWAY",
    -10: "VX_ERROR_INVALID_PARAMETERS",
    -11: "VX_ERROR_INVALID_MODULE",
    -12: "VX_ERROR_INVALID_REFERENCE",
    -13: "VX_ERROR_INVALID_LINK",
    -14: "VX_ERROR_INVALID_FORMAT",
    -15: "VX_ERROR_INVALID_DIMENSION",
    -16: "VX_ERROR_INVALID_VALUE",
    -17: "VX_ERROR_INVALID_TYPE",
    -18: "VX_ERROR_INVALID_GRAPH",
    -19: "VX_ERROR_INVALID_NODE",
    -20: "VX_ERROR_INVALID_SCOPE",
    -21: "VX_ERROR_GRAPH_SCHEDULED",
    -22: "VX_ERROR_GRAPH_ABANDONED",
    -23: "VX_ERROR_MULTIPLE_WRITERS",
    -24: "VX_ERROR_REFERENCE_NONZERO",
}


def _value(param: Param, value: Any) -> Value:
    """Return a scalar or an array.

    Values come out of the model as numbers of type double; what does not fit is cut, not refused.
    """
    delivery = DELIVERIES.get(param.type.name)
    if delivery is None:
        raise RefusedError(f"param '{param.name}': the board refuses the type {param.type.name}")
    numbers = numbers_of(param, value, LIMITS)
    for number in numbers:
        if not math.isfinite(number):
            raise RefusedError(
                f"param '{param.name}' is {float(number)}; RKNN-Toolkit writes params as JSON, "
                "which has no infinity and no NaN (expected a finite number)"
            )
    data = b"".join(_number(delivery, float(number)) for number in numbers)
    shape = (len(numbers),) if param.type.is_list else ()
    return Value(param.name, delivery.element.name, shape, data)


def _number(delivery: Delivery, number: float) -> bytes:
    """Return the bytes of a scalar, or of an item of an array."""
    if delivery.converted is None:
        with np.errstate(over="ignore"):
            return np.array(number, delivery.element.dtype).tobytes()
    whole = _whole(number, delivery.converted) % 2**64
    return whole.to_bytes(8, "little")[: delivery.element.size]


def _whole(number: float, element: ElementType) -> int:
    """Convert as the processor does: toward zero, saturating."""
    limits = element.limits
    assert limits is not None
    low, high = limits
    return min(max(int(number), low), high)


CONVENTION = CallingConvention(
    tensor_types=TENSOR_TYPES,
    input_types=INPUT_TYPES,
    output_types=OUTPUT_TYPES,
    value=_value,
    statuses=_STATUS_NAMES,
)
