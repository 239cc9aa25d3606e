"""Values for optional inputs that nodes leave out: converters require all inputs.

And params for outputs that they leave out, so that operators need not compute these.

Sources: rknn_op/models/optional_inputs.yml.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from rknn_op.models.model_files import required
from rknn_op.models.model_graph import Tensor, Value

Array = Any

_LIST = Path(__file__).with_suffix(".yml")


class UnknownShapeError(Exception):
    """A value's size depends on a tensor or attribute without a known one; the text names it."""


def has_value(op_type: str, name: str) -> bool:
    """Return whether an input of an operator of ONNX has a value for nodes that leave it out.

    Args:
        op_type: the operator.
        name: the input's name in ONNX.
    """
    return name in _rules().get(op_type, {})


def value(
    op_type: str, name: str, inputs: Mapping[str, Tensor], attributes: Mapping[str, Value]
) -> Array | None:
    """Return the value of an input that a node leaves out; None if the list has none.

    Args:
        op_type: the operator.
        name: the input's name in ONNX.
        inputs: name in ONNX -> each input that the node has.
        attributes: the node's attributes.

    Raises:
        UnknownShapeError: a size of another input is not fixed, or an attribute is invalid.
    """
    rule = next((each for each in _of(op_type, name) if _applies(each, attributes)), None)
    if rule is None:
        return None
    shape = rule["shape"]
    if isinstance(shape, str):
        like = shape.removeprefix("like ")
        shape = [[like, axis] for axis in range(len(_sizes(inputs, like)))]
    dtype = _dtype(inputs, attributes, rule.get("dtype", next(iter(inputs))))
    sizes = [_size(inputs, attributes, each) for each in shape]
    return np.full(sizes, rule["value"], dtype)


def params(
    op_type: str, tensors: Collection[str], attributes: Mapping[str, Value]
) -> dict[str, int]:
    """Return the params of the library's operator for outputs that a node leaves out.

    Args:
        op_type: the operator.
        tensors: the inputs and outputs that the node has, named as in op.yml.
        attributes: the node's attributes.
    """
    return {
        name: rule["value"]
        for name in _rules().get(op_type, {})
        for rule in _of(op_type, name)
        if "without" in rule
        and not {*tensors}.intersection(rule["without"])
        and _applies(rule, attributes)
    }


def _of(op_type: str, name: str) -> list[dict[str, Any]]:
    """Return the rules of an input; one of them applies at most."""
    rules = _rules().get(op_type, {}).get(name, [])
    return rules if isinstance(rules, list) else [rules]


def _applies(rule: Mapping[str, Any], attributes: Mapping[str, Value]) -> bool:
    return all(attributes.get(name, 0) == value for name, value in rule.get("only", {}).items())


def _dtype(inputs: Mapping[str, Tensor], attributes: Mapping[str, Value], rule: Any) -> Any:
    if isinstance(rule, str):
        return inputs[rule].dtype if rule in inputs else rule
    name, default = rule
    number = attributes.get(name) or 0
    return required("onnx").helper.tensor_dtype_to_np_dtype(number) if number else default


def _size(inputs: Mapping[str, Tensor], attributes: Mapping[str, Value], rule: Any) -> int:
    if isinstance(rule, int):
        return rule
    if isinstance(rule, str):
        return _divisor(attributes, rule)
    name, axis, factor, addend = list(rule) + [1, 0][len(rule) - 2 :]
    sizes = _sizes(inputs, name)
    size = sizes[axis] if axis < len(sizes) else None
    if not isinstance(size, int):
        raise UnknownShapeError(name)
    if isinstance(factor, str):
        return size // _divisor(attributes, factor) + int(addend)
    return int(size * factor) + int(addend)


def _divisor(attributes: Mapping[str, Value], name: str) -> int:
    """Return an attribute that counts something; an invalid node has none."""
    value = attributes.get(name)
    if not isinstance(value, int) or value < 1:
        raise UnknownShapeError(name)
    return value


def _sizes(inputs: Mapping[str, Tensor], name: str) -> tuple[Any, ...]:
    if name not in inputs or inputs[name].shape is None:
        raise UnknownShapeError(name)
    return inputs[name].shape or ()


@cache
def _rules() -> dict[str, dict[str, Any]]:
    loaded: dict[str, dict[str, Any]] = yaml.safe_load(_LIST.read_text("utf-8"))
    return loaded
