"""The parts of the generated C++ that depend on params."""

from __future__ import annotations

from opkit.common.text import c_float, c_string
from opkit.description.spec import Param, ParamValue

READ_AS = {"VX_TYPE_CHAR": "uint8_t"}
"""Name of a param type -> the C type of its numbers, if the member's type may be signed."""

_ATTRIBUTE_TYPES = {"int": "int64_t", "float": "float"}
"""Kind of an attribute with one number -> its C++ type in ONNX."""


def cxx_type(param: Param) -> str:
    """Return the type of the member of the param struct."""
    if param.type.is_text:
        return "std::string"
    if param.type.is_list:
        return f"std::vector<{param.type.element.c_type}>"
    return param.type.c_type


def cxx_default(param: Param) -> str:
    """Return the initializer of the member; empty for a string or a list without default."""
    default = param.default
    if default is None:
        return "" if param.type.is_text or param.type.is_list else f" = {_literal(param, 0)}"
    if isinstance(default, str):
        return f" = {c_string(default)}"
    if isinstance(default, tuple):
        return f" = {{{', '.join(_literal(param, item) for item in default)}}}"
    return f" = {_literal(param, default)}"


def packed(param: Param, member: str) -> str:
    """Return the expression for a member as its attribute in ONNX."""
    attribute = _ATTRIBUTE_TYPES.get(param.type.onnx)
    if attribute is None or attribute == param.type.c_type:
        return member
    if param.type.name in READ_AS:
        member = f"static_cast<{READ_AS[param.type.name]}>({member})"
    return f"static_cast<{attribute}>({member})"


def _literal(param: Param, value: ParamValue) -> str:
    """Return a number as a literal in C++."""
    assert isinstance(value, (bool, int, float))
    element = param.type.element
    if element.kind == "bool":
        return "true" if value else "false"
    if element.kind == "float":
        return c_float(float(value), element.bits, "f")
    if value == -(2**63):
        return "INT64_MIN"
    if param.type.name in READ_AS and value > 127:
        return f"static_cast<{param.type.c_type}>({value})"
    if element.bits == 64:
        return f"{value}{'u' if element.kind == 'uint' else ''}ll"
    if value == -(2**31):
        return "INT32_MIN"
    return f"{value}{'u' if element.bits == 32 and element.kind == 'uint' else ''}"
