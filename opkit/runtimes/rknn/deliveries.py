"""The delivery of params to kernels by librknn_runtime, as measured on version 1.7.5."""

from __future__ import annotations

from typing import NamedTuple

from opkit.description.types import ELEMENT_TYPES, SAME_TENSOR_TYPES, ElementType


class Delivery(NamedTuple):
    """The delivery of a param to a kernel.

    Attributes:
        element: the type of the scalar, or of each item of the array.
        converted: the integer type to convert to first, saturating; then the kernel gets the low
            bytes, as many as `element` has. None: the number is rounded to `element`.
        reference: the type of the CPU kernel's argument, an OpenVX reference.
        reader: the function of openvx.h that reads it, and its arguments after the param's name.
        vx_type: the type of the VX kernel's argument; of a scalar of any size, a VX kernel gets
            32 bits of its storage.
    """

    element: ElementType
    converted: ElementType | None
    reference: str
    reader: tuple[str, ...]
    vx_type: str

    @property
    def type(self) -> str:
        """OpenVX's name for the type of the scalar, or of each item of the array."""
        assert self.element.vx_name is not None
        return self.element.vx_name


_SCALAR_READER = ("opkit_read_scalar", "{type}", "&{member}", "sizeof {member}")


def _scalar(
    element: str, converted: str | None, vx_type: str, reader: tuple[str, ...] = _SCALAR_READER
) -> Delivery:
    cut = ELEMENT_TYPES[converted] if converted else None
    return Delivery(ELEMENT_TYPES[element], cut, "VX_TYPE_SCALAR", reader, vx_type)


_INT32 = ELEMENT_TYPES["int32"]

DELIVERIES: dict[str, Delivery] = {
    # A scalar of one byte.
    "VX_TYPE_BOOL": _scalar("uint8", "uint32", "bool", ("opkit_read_bool", "&{member}")),
    "VX_TYPE_ARRAY": Delivery(
        _INT32,
        _INT32,
        "VX_TYPE_ARRAY",
        ("opkit_read_int32_array", "{length}", "arguments->{name}_items", "&{member}"),
        "vx_array_int",
    ),
    "VX_TYPE_CHAR": _scalar("char", "uint32", "uint"),
    "VX_TYPE_INT8": _scalar("int8", "int32", "int"),
    "VX_TYPE_UINT8": _scalar("uint8", "uint32", "uint"),
    "VX_TYPE_INT16": _scalar("int16", "int32", "int"),
    "VX_TYPE_UINT16": _scalar("uint16", "uint32", "uint"),
    "VX_TYPE_INT32": _scalar("int32", "int32", "int"),
    "VX_TYPE_UINT32": _scalar("uint32", "uint32", "uint"),
    "VX_TYPE_INT64": _scalar("int64", "int64", "int"),
    "VX_TYPE_UINT64": _scalar("uint64", "uint64", "uint"),
    "VX_TYPE_FLOAT32": _scalar("float32", None, "float"),
    "VX_TYPE_FLOAT64": _scalar("float64", None, "float"),
}
"""Name of a param type -> its delivery to a kernel."""

TENSOR_TYPES: dict[str, str] = {dtype: dtype for dtype in SAME_TENSOR_TYPES if dtype != "bool"}
"""The dtypes of a kernel's tensors. A board can hand over BOOL8; the toolkit has none."""

OUTPUT_TYPES: tuple[str, ...] = ("float16", "float32", "int8", "uint8", "int16")
"""The dtypes of a model's outputs. For others, rknn_outputs_get returns 0 bytes, and success.

Measured for int32, uint32 and int64. uint16 is inferred: as an input it is lost.
"""

INPUT_TYPES: tuple[str, ...] = (*OUTPUT_TYPES, "int32", "uint32")
"""The dtypes of a model's inputs."""

REFUSALS: dict[str, str] = {
    "FLOATS": "RKNN-Toolkit does not deliver it; use several VX_TYPE_FLOAT32",
    "STRING": "RKNN-Toolkit does not deliver it; use a VX_TYPE_INT32 for each choice",
    "VX_TYPE_ENUM": "the board's runtime refuses it while loading the model; use VX_TYPE_INT32",
    "VX_TYPE_SIZE": "the board's runtime refuses it while loading the model; use VX_TYPE_UINT32",
    "VX_TYPE_FLOAT16": "the board's runtime refuses it when it makes the node; use VX_TYPE_FLOAT32",
}
"""Name of an unsupported param type -> reason and remedy."""
