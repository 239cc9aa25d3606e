"""The reserved names of operators of this runtime and of their VX kernels."""

from __future__ import annotations

from collections.abc import Mapping

import yaml

from opkit.description.reader import Reader
from opkit.description.words import is_python_name, keyword_of, taken
from opkit.text import shortened

_CLASS = taken("", "np tf RKNNCustomOP IoMap Shape output_shapes params_from_tf reference")
"""The names in rknn_op_<op>.py besides the operator's class and Python's own names."""

_SHORTHANDS = "(native|half)_(exp2?|exp10|log2?|log10|r?sqrt|sin|cos|tan|powr|divide|recip)"
"""Macros for other functions in the language of VX kernels."""

VX_KERNELS = taken("", "main cl_viv_vx_extension get_global_id", r"vxc_\w+")
"""Reserved names for the function of a VX kernel, which is in lower case."""

VX_PARAMETERS = taken(
    "",
    "cl_viv_vx_extension get_global_id",
    rf"(VXC|vxc)_\w+|(CLK|HALF)_[A-Z\d_]+|{_SHORTHANDS}",
)
"""Reserved names for parameters of a VX kernel: macros, and names in the generated kernel."""


def operator_name_refusal(name: str) -> str:
    """Return why an operator cannot have this name; empty if it can."""
    if "." in name or ":" in name:
        return (
            "has '.' or ':', by which the board's driver splits kernel names; "
            "allowed are letters (a to z), digits and _"
        )
    kernel = name.lower()
    if kernel != name and (language := keyword_of(kernel)) in ("C", "C++", "OpenCL"):
        return (
            f"gives the kernel the name '{kernel}', a reserved word of {language}; choose another "
            "name"
        )
    if is_python_name(name):
        return "is a name of Python, which the converter's class needs; choose another name"
    if name in _CLASS or name.lower() == "vx":
        return "is taken by the generated code; choose another name"
    return ""


def check_vx_names(reader: Reader, entries: Mapping[str, yaml.Node]) -> None:
    """Refuse names that are reserved in VX kernels; the parser refuses invalid identifiers.

    Raises:
        DescriptionError: a name is reserved.
    """
    name = entries.get("name")
    if isinstance(name, yaml.ScalarNode) and name.value.lower() in VX_KERNELS:
        kernel = name.value.lower()
        problem = f"{name.value!r} gives the VX kernel the reserved name '{kernel}'"
        reader.fail(name, "name", f"{problem}; choose another name, or write `kernels: [cpu]`")
    for section in ("inputs", "outputs", "params"):
        members = entries.get(section)
        for key, _ in members.value if isinstance(members, yaml.MappingNode) else ():
            if isinstance(key, yaml.ScalarNode) and key.value in VX_PARAMETERS:
                reader.fail(
                    key,
                    f"{section}.{key.value}",
                    f"{shortened(key.value)!r} is a name in the language of the VX kernel; choose "
                    "another name, or write `kernels: [cpu]`",
                )
