"""How ppl.nn calls a kernel: what an ONNX model can hold of a param, and what a status means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from opkit.description.spec import Param
from opkit.description.types import SAME_TENSOR_TYPES
from opkit.runtimes.invocation import RefusedError, Value

tensor_types = input_types = output_types = SAME_TENSOR_TYPES
has_shape_rule = True


def status_name(status: int) -> str:
    """Return a status as messages show it."""
    return "RC_INVALID_VALUE" if status == 1 else f"status {status}"


def marshal(params: Sequence[Param], values: Mapping[str, Any]) -> list[Value]:
    """Return what a kernel gets for the values of params.

    Raises:
        RefusedError: the parser of attributes would refuse the node for one of them.
    """
    return [_marshal(param, values[param.name]) for param in params]


def _marshal(param: Param, value: Any) -> Value:
    if param.type.is_text:
        data = value.encode()
        return Value(param.name, "char", (len(data),), data)
    element = param.type.element
    numbers = list(value) if param.type.is_list else [value]
    if not numbers:
        raise RefusedError(f"param '{param.name}' has 0 items; PPLNN takes 1 or more")
    limits = element.limits
    for number in numbers if limits else ():
        assert limits is not None
        if number != int(number) or not limits[0] <= number <= limits[1]:
            raise RefusedError(
                f"param '{param.name}': {number!r} is not an integer from {limits[0]} to "
                f"{limits[1]}, and the parser of attributes refuses it"
            )
    array = np.array(numbers, element.dtype)
    if element.kind == "float" and value != param.default:
        array = array.astype(np.float32).astype(element.dtype)  # what an attribute holds
    shape = array.shape if param.type.is_list else ()
    return Value(param.name, element.name, shape, array.tobytes())
