"""THE table of types: element types of tensors, and types of params.

All code that needs a type's name or number (the description, the generated C, the converter's
class, the check) reads it here; `rknn-op schema` writes op.schema.json from it. The enums and
tables in C are fixed files that people compile and read, so that a test compares each with this
table, in place of a generator. A row does not say which runtimes support the type, or as which type
a kernel gets it: each runtime has its own table of that, by name, and refuses all other types.

`VX_TYPE_...` are op.yml's names of types for all runtimes. They are OpenVX's names, so that
OpenVX's names and numbers have a column here.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from typing import Literal, NamedTuple

MAX_RANK = 6
"""The maximum rank of a tensor, OPKIT_MAX_RANK in opkit/compute/tensor.h."""
MAX_ELEMENTWISE_INPUTS = 8
"""The maximum count of an elementwise operator's inputs, OPKIT_MAX_INPUTS in elementwise.h."""
MAX_THREADS = 64
"""The maximum threads of a kernel, OPKIT_MAX_THREADS in opkit/compute/thread_pool.h."""
MAX_ITEMS = 20_000
"""The maximum count of a list's items, the same as of all values in a description."""
MAX_CHOICES = 64
"""The maximum count of a param's choices; cases have all of them."""
MAX_TEXT = 255
"""The maximum bytes of a text, in UTF-8."""


class Limits(NamedTuple):
    """The limits of a runtime.

    Attributes:
        device: the owner of the limits, for messages.
        name_length: the maximum characters of a name.
        parameters: the maximum count of inputs, outputs and params together.
        rank: the maximum dimensions of a tensor.
        items: the maximum count of numbers in a list.
        takes_empty: whether tensors may have no elements.
    """

    device: str = "the device"
    name_length: int = 255
    parameters: int = 1024
    rank: int = MAX_RANK
    items: int = MAX_ITEMS
    takes_empty: bool = True


def lowest(limits: Iterable[Limits], what: str) -> tuple[int, str]:
    """Return the lowest value of one limit, and its device.

    Args:
        limits: the limits of each runtime.
        what: the name of an attribute; of a bool, False is lower.
    """
    first = min(limits, key=attrgetter(what))
    return getattr(first, what), first.device


Kind = Literal["bool", "uint", "int", "float"]

PREFIX = "VX_TYPE_"
"""The prefix of op.yml's names of types."""
TENSOR = f"{PREFIX}TENSOR"
"""The type of an input or an output."""


class ElementType(NamedTuple):
    """The type of one number.

    Attributes:
        name: numpy's name for it, where numpy has one.
        kind: the kind of number, by numpy's word.
        bits: the bits of its value.
        c_type: the C type; for a type without C arithmetic, the C type of its storage.
        vx_name: OpenVX's name for it, `VX_TYPE_...`; None: OpenVX has none.
        vx_number: the value of that name; 0: OpenVX has none.
        onnx: the name of its TensorProto data type; None: ONNX has none.
        computed_as: the name of the element type of such a tensor in `<op>_compute.h`; None: no
            kernel gets such a tensor.
    """

    name: str
    kind: Kind
    bits: int
    c_type: str
    vx_name: str | None = None
    vx_number: int = 0
    onnx: str | None = None
    computed_as: str | None = None

    @property
    def limits(self) -> tuple[int, int] | None:
        """The lowest and the highest value; None for floating point."""
        if self.kind == "float":
            return None
        if self.kind == "bool":
            return 0, 1
        if self.kind == "uint":
            return 0, 2**self.bits - 1
        return -(2 ** (self.bits - 1)), 2 ** (self.bits - 1) - 1

    @property
    def size(self) -> int:
        """The bytes of one value outside of a tensor."""
        return (self.bits + 7) // 8

    @property
    def dtype(self) -> str | None:
        """The name of the numpy dtype for these values; None: numpy has none."""
        return _OTHER_DTYPES.get(self.name, self.name)


_OTHER_DTYPES = {"bfloat16": None, "int4": None, "uint4": None, "char": "uint8"}
"""Element type without a numpy dtype of its name -> the dtype for its values, or None."""

ELEMENT_TYPES: dict[str, ElementType] = {
    row.name: row
    for row in (
        ElementType("float16", "float", 16, "uint16_t", "VX_TYPE_FLOAT16", 0x00F, "FLOAT16",
                    computed_as="float32"),
        ElementType("float32", "float", 32, "float", "VX_TYPE_FLOAT32", 0x00A, "FLOAT",
                    computed_as="float32"),
        ElementType("float64", "float", 64, "double", "VX_TYPE_FLOAT64", 0x00B, "DOUBLE"),
        ElementType("bfloat16", "float", 16, "uint16_t", "VX_TYPE_BFLOAT16", 0x81A, "BFLOAT16"),
        ElementType("int4", "int", 4, "int8_t", None, 0, "INT4"),
        ElementType("uint4", "uint", 4, "uint8_t", None, 0, "UINT4"),
        ElementType("int8", "int", 8, "int8_t", "VX_TYPE_INT8", 0x002, "INT8",
                    computed_as="int8"),
        ElementType("uint8", "uint", 8, "uint8_t", "VX_TYPE_UINT8", 0x003, "UINT8",
                    computed_as="uint8"),
        ElementType("int16", "int", 16, "int16_t", "VX_TYPE_INT16", 0x004, "INT16",
                    computed_as="int16"),
        ElementType("uint16", "uint", 16, "uint16_t", "VX_TYPE_UINT16", 0x005, "UINT16",
                    computed_as="uint16"),
        ElementType("int32", "int", 32, "int32_t", "VX_TYPE_INT32", 0x006, "INT32",
                    computed_as="int32"),
        ElementType("uint32", "uint", 32, "uint32_t", "VX_TYPE_UINT32", 0x007, "UINT32",
                    computed_as="uint32"),
        ElementType("int64", "int", 64, "int64_t", "VX_TYPE_INT64", 0x008, "INT64",
                    computed_as="int64"),
        ElementType("uint64", "uint", 64, "uint64_t", "VX_TYPE_UINT64", 0x009, "UINT64"),
        # A tensor of truth values has one byte an element; VX_TYPE_BOOL is a scalar of four.
        ElementType("bool", "bool", 8, "bool", "VX_TYPE_BOOL8", 0x011, "BOOL",
                    computed_as="uint8"),
        # OpenVX's char is a scalar type of its own, without a sign; numpy and ONNX have none.
        # Its C type says so too: on this PC a plain char is signed without a flag.
        ElementType("char", "uint", 8, "unsigned char", "VX_TYPE_CHAR", 0x001, None),
    )
}  # fmt: skip

TENSOR_TYPES: tuple[ElementType, ...] = tuple(
    row for row in ELEMENT_TYPES.values() if row.computed_as is not None
)
"""The element types of kernels' tensors."""

SAME_TENSOR_TYPES: dict[str, str] = {row.name: row.name for row in TENSOR_TYPES}
"""dtype -> itself, for runtimes that hand over tensors without conversion."""


class ParamType(NamedTuple):
    """A type of params.

    Attributes:
        name: as in op.yml, for instance `VX_TYPE_BOOL`.
        element: the type of the value, of each value of a list, or of each byte of a text.
        is_list: whether the param is a list of numbers.
        c_type: the type of the member in the operator's params struct.
        is_text: whether the param is a text.
    """

    name: str
    element: ElementType
    is_list: bool
    c_type: str
    is_text: bool = False

    @property
    def onnx(self) -> str:
        """The kind of its attribute in ONNX: `int`, `float`, `ints`, `floats` or `string`."""
        if self.is_text:
            return "string"
        return ("float" if self.element.kind == "float" else "int") + "s" * self.is_list


def _scalar(name: str, element: str) -> ParamType:
    row = ELEMENT_TYPES[element]
    return ParamType(name, row, False, row.c_type)


def _list(name: str, element: str, c_type: str) -> ParamType:
    return ParamType(name, ELEMENT_TYPES[element], True, c_type)


PARAM_TYPES: dict[str, ParamType] = {
    row.name: row
    for row in (
        _scalar("VX_TYPE_BOOL", "bool"),
        _list("VX_TYPE_ARRAY", "int32", "struct opkit_int32_array"),
        _scalar("VX_TYPE_CHAR", "char"),
        _scalar("VX_TYPE_INT8", "int8"),
        _scalar("VX_TYPE_UINT8", "uint8"),
        _scalar("VX_TYPE_INT16", "int16"),
        _scalar("VX_TYPE_UINT16", "uint16"),
        _scalar("VX_TYPE_INT32", "int32"),
        _scalar("VX_TYPE_UINT32", "uint32"),
        _scalar("VX_TYPE_INT64", "int64"),
        _scalar("VX_TYPE_UINT64", "uint64"),
        _scalar("VX_TYPE_FLOAT32", "float32"),
        _scalar("VX_TYPE_FLOAT64", "float64"),
        _list("FLOATS", "float32", "struct opkit_float_array"),
        ParamType("STRING", ELEMENT_TYPES["char"], False, "const char *", is_text=True),
    )
}
"""Name -> type; `FLOATS` and `STRING` are ONNX's words, as OpenVX has no such types."""

FLOAT32 = PARAM_TYPES["VX_TYPE_FLOAT32"]
"""The type that limits of floats are compared in."""

NO_PARAM_TYPES: dict[str, str] = {
    TENSOR: "a tensor is an input or an output, not a param",
    "VX_TYPE_SCALAR": "name the scalar's own type, for instance VX_TYPE_INT32",
}
"""OpenVX's name of an unsupported param type -> the reason."""

ONNX_WORDS: dict[str, str] = {
    "INT": "VX_TYPE_INT64",
    "FLOAT": "VX_TYPE_FLOAT32",
    "INTS": "VX_TYPE_ARRAY",
}
"""ONNX's word for a kind of attribute -> the name of the param type."""

OTHER_WORDS: dict[str, str] = {
    **dict.fromkeys(("INT", "INTEGER", "I32"), "VX_TYPE_INT32"),
    **dict.fromkeys(("UINT", "UNSIGNED", "U32"), "VX_TYPE_UINT32"),
    **dict.fromkeys(("SHORT", "I16"), "VX_TYPE_INT16"),
    **dict.fromkeys(("USHORT", "U16"), "VX_TYPE_UINT16"),
    **dict.fromkeys(("LONG", "I64"), "VX_TYPE_INT64"),
    **dict.fromkeys(("ULONG", "U64"), "VX_TYPE_UINT64"),
    **dict.fromkeys(("I8", "SCHAR"), "VX_TYPE_INT8"),
    **dict.fromkeys(("U8", "UCHAR", "BYTE"), "VX_TYPE_UINT8"),
    **dict.fromkeys(("FLOAT", "REAL", "HALF", "FP32", "F32"), "VX_TYPE_FLOAT32"),
    **dict.fromkeys(("DOUBLE", "FP64", "F64"), "VX_TYPE_FLOAT64"),
    **dict.fromkeys(("BOOLEAN", "BOOL8"), "VX_TYPE_BOOL"),
    **dict.fromkeys(("LIST", "TUPLE", "VECTOR", "INTS"), "VX_TYPE_ARRAY"),
    **dict.fromkeys(("FLOATS",), "FLOATS"),
    **dict.fromkeys(("STRING", "STR", "TEXT"), "STRING"),
}
"""Common word for a type, after `VX_TYPE_` or alone -> the param type for the hint."""
