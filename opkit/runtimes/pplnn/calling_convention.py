"""ppl.nn's calling convention: conversion of params by ONNX attributes, names of statuses."""

from __future__ import annotations

from typing import Any

import numpy as np

from opkit.description.limits import Limits
from opkit.description.spec import Param
from opkit.description.types import SAME_TENSOR_TYPES
from opkit.runtimes.invocation import CallingConvention, Value, check_integers, numbers_of

_LIMITS = Limits("PPLNN")


def _value(param: Param, value: Any) -> Value:
    """Return the kernel's argument for a param, as ppl.nn's parser reads its attribute."""
    if param.type.is_text:
        data = value.encode()
        return Value(param.name, "char", (len(data),), data)
    element = param.type.element
    numbers = numbers_of(param, value, _LIMITS)
    if element.limits:
        check_integers(param, numbers)
    array = np.array(numbers, element.dtype)
    if element.kind == "float" and value != param.default:
        array = array.astype(np.float32).astype(element.dtype)  # the precision of an attribute
    shape = array.shape if param.type.is_list else ()
    return Value(param.name, element.name, shape, array.tobytes())


CONVENTION = CallingConvention(
    tensor_types=SAME_TENSOR_TYPES,
    input_types=SAME_TENSOR_TYPES,
    output_types=SAME_TENSOR_TYPES,
    value=_value,
    statuses={1: "RC_INVALID_VALUE"},
    has_threads=True,
    has_shape_rule=True,
)
