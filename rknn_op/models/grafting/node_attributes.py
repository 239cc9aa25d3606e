"""The attributes of a node as values of params, and values of params as attributes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from opkit.description.spec import Param, ParamValue, describe_allowed, refused
from rknn_op.models.grafting.custom_nodes import MismatchError
from rknn_op.models.model_files import required

_TYPES = {"int": "INT", "float": "FLOAT", "ints": "INTS", "floats": "FLOATS", "string": "STRING"}
"""Kind of a param -> the type of its attribute."""
_FLOAT_FROM = {"FLOAT": "INT", "FLOATS": "INTS"}
"""Type of an attribute -> the other type with its values."""


def value_of(param: Param, attribute: Any) -> ParamValue:
    """Return an attribute as the value of a param.

    Raises:
        MismatchError: it has another type, length or range than the param.
    """
    onnx = required("onnx")
    kind = onnx.AttributeProto.AttributeType.Name(attribute.type)
    expected = _TYPES[param.type.onnx]
    if kind not in (expected, _FLOAT_FROM.get(expected)):
        raise MismatchError(
            f"attribute '{param.name}' has the type {kind} (expected {expected}, "
            f"params.{param.name} in op.yml)"
        )
    value = onnx.helper.get_attribute_value(attribute)
    if isinstance(value, bytes):
        return _allowed(param, value.decode(errors="replace"), "attribute")
    items = [*value] if param.type.is_list else [value]
    return _checked(param, items, "attribute")


def value_of_array(param: Param, array: Any) -> ParamValue:
    """Return a constant input as the value of a param.

    Raises:
        MismatchError: as value_of().
    """
    is_float = param.type.element.kind == "float"
    if array.dtype.kind not in ("biuf" if is_float else "biu"):
        kind = "numbers" if is_float else "integers"
        raise MismatchError(f"input '{param.name}' is {array.dtype} (expected {kind})")
    return _checked(param, array.ravel().tolist(), "input")


def _checked(param: Param, items: list[Any], role: str) -> ParamValue:
    """Return items as the value of a param."""
    where = f"{role} '{param.name}'"
    length = param.length if param.type.is_list else 1
    if length not in (None, len(items)):
        raise MismatchError(f"{where} has {len(items)} items (expected {length})")
    low, high = param.type.element.limits or (-math.inf, math.inf)
    for item in items:
        if not low <= item <= high and not math.isnan(item):
            raise MismatchError(
                f"{where} is {item} (expected {low} to {high}, params.{param.name}.type in op.yml)"
            )
    return _allowed(param, tuple(items) if param.type.is_list else items[0], role)


def _allowed(param: Param, value: ParamValue, role: str) -> ParamValue:
    """Return a value that min, max and choices in op.yml allow."""
    for item in refused(param, value):
        raise MismatchError(
            f"{role} '{param.name}' is {item} (expected {describe_allowed(param)}, "
            f"params.{param.name} in op.yml)"
        )
    return value


def attribute_of(param: Param, value: ParamValue) -> Any:
    """Return a value as the attribute of a param."""
    onnx = required("onnx")
    type_ = _TYPES[param.type.onnx]
    convert = {"STRING": str}.get(type_, float if type_.startswith("FLOAT") else int)
    items = [convert(each) for each in value] if isinstance(value, tuple) else convert(value)
    return onnx.helper.make_attribute(
        param.name, items, attr_type=onnx.AttributeProto.AttributeType.Value(type_)
    )


def is_exact(param: Param) -> bool:
    """Whether an attribute holds the default exactly: its floats are float32."""
    if param.type.element.name != "float64":
        return True
    items = param.default if isinstance(param.default, tuple) else (param.default,)
    return all(float(np.float32(each)) == each for each in items if isinstance(each, (int, float)))
