"""An ONNX model of one node of an operator, in protobuf's wire format.

A repository's environment has no package for ONNX, and this model has few fields. The numbers of
fields and types are those of onnx.proto, version 3:
https://github.com/onnx/onnx/blob/main/onnx/onnx.proto3
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from opkit.description.spec import OpSpec, Param
from opkit.runtimes.pplnn.describe import settings

IR_VERSION = 7
"""The version of the model format, of ONNX 1.7 to 1.9: all versions of ppl.nn read it."""

STANDARD_OPSET = 13
"""The version of ONNX's own operators; the model has none of them."""

DATA_TYPES = {
    "float32": 1,
    "uint8": 2,
    "int8": 3,
    "uint16": 4,
    "int16": 5,
    "int32": 6,
    "int64": 7,
    "bool": 9,
    "float16": 10,
    "uint32": 12,
}
"""dtype -> TensorProto.DataType."""


@dataclass(frozen=True)
class Signature:
    """The shape and the dtype of a tensor."""

    shape: Sequence[int]
    dtype: DTypeLike


def one_node_model(
    spec: OpSpec,
    inputs: Mapping[str, Signature],
    outputs: Mapping[str, Signature],
    params: Mapping[str, Any],
) -> bytes:
    """Return a ModelProto of one node.

    A param with its default has no attribute, so that the runtime reads op.yml's default.

    Args:
        spec: the operator.
        inputs: name -> signature, in the order of op.yml.
        outputs: name -> signature, in the order of op.yml.
        params: name -> value, of every param.
    """
    own = settings(spec)
    attributes = [
        _attribute(param, params[param.name])
        for param in spec.params
        if repr(params[param.name]) != repr(param.default)  # 0.0 is not -0.0
    ]
    node = [
        *(_text(1, name) for name in inputs),
        *(_text(2, name) for name in outputs),
        _text(3, "node"),
        _text(4, spec.name),
        *(_message(5, attribute) for attribute in attributes),
        _text(7, own.domain),
    ]
    graph = [
        _message(1, b"".join(node)),
        _text(2, "graph"),
        *(_message(11, _value_info(name, each)) for name, each in inputs.items()),
        *(_message(12, _value_info(name, each)) for name, each in outputs.items()),
    ]
    versions = {"": STANDARD_OPSET} | {own.domain: own.opset[1]}
    opsets = [_text(1, domain) + _integer(2, version) for domain, version in versions.items()]
    model = [_integer(1, IR_VERSION), _message(7, b"".join(graph))]
    return b"".join([*model, *(_message(8, opset) for opset in opsets)])


def _value_info(name: str, signature: Signature) -> bytes:
    """Return a ValueInfoProto."""
    dims = b"".join(_message(1, _integer(1, size)) for size in signature.shape)
    tensor = _integer(1, DATA_TYPES[np.dtype(signature.dtype).name]) + _message(2, dims)
    return _text(1, name) + _message(2, _message(1, tensor))


def _attribute(param: Param, value: Any) -> bytes:
    """Return an AttributeProto."""
    if param.type.is_text:
        content = _text(4, value) + _integer(20, 3)
    elif param.type.onnx == "float":
        content = _float(2, value) + _integer(20, 1)
    elif param.type.onnx == "floats":
        content = b"".join(_float(7, each) for each in value) + _integer(20, 6)
    elif param.type.onnx == "ints":
        content = b"".join(_integer(8, int(each)) for each in value) + _integer(20, 7)
    else:
        content = _integer(3, int(value)) + _integer(20, 2)
    return _text(1, param.name) + content


# ---- Fields of protobuf --------------------------------------------------------------------------


def _varint(value: int) -> bytes:
    value &= 2**64 - 1  # negative numbers in two's complement
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def _integer(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _float(field: int, value: float) -> bytes:
    return _varint(field << 3 | 5) + struct.pack("<f", np.float32(value))


def _message(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _text(field: int, text: str) -> bytes:
    return _message(field, text.encode())
