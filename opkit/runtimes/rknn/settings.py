"""The keys of op.yml for this runtime only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import yaml

from opkit.common.complaint import Complaint
from opkit.description.describe import CheckedKernel
from opkit.description.reader import Reader
from opkit.description.spec import CPU, OpSpec
from opkit.description.words import is_python_name, keyword_of, taken

_CLASS = taken("", "np tf RKNNCustomOP IoMap Shape output_shapes params_from_tf reference")
"""The names in rknn_op_<op>.py besides the operator's class and Python's own names."""

_SHORTHANDS = "(native|half)_(exp2?|exp10|log2?|log10|r?sqrt|sin|cos|tan|powr|divide|recip)"
"""Macros for other functions in the language of VX kernels."""

VX_KERNELS = taken("", "main cl_viv_vx_extension get_global_id", r"vxc_\w+")
"""Reserved names for the function of a VX kernel, which is in lower case."""

VX_PARAMETERS = taken(
    "", "cl_viv_vx_extension get_global_id", rf"(VXC|vxc)_\w+|(CLK|HALF)_[A-Z\d_]+|{_SHORTHANDS}"
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


def vx_name_complaints(spec: OpSpec) -> Iterator[Complaint]:
    """Yield an error for each name that is reserved in VX kernels."""
    if not has_vx_kernel(spec):
        return
    remedy = "choose another name, or write `kernels: [cpu]`"
    if spec.lower in VX_KERNELS:
        problem = f"{spec.name!r} gives the VX kernel the reserved name '{spec.lower}'"
        yield Complaint("", problem, field="name", hint=remedy)
    fields = {
        **{f"inputs.{each.name}": each.name for each in spec.inputs},
        **{f"outputs.{each.name}": each.name for each in spec.outputs},
        **{f"params.{each.name}": each.name for each in spec.params},
    }
    for field, name in fields.items():
        if name in VX_PARAMETERS:
            problem = f"{name!r} is a name in the language of the VX kernel"
            yield Complaint("", problem, field=field, hint=remedy)


NAME = "rknn"
# Other keys of a package's op.yml; the build writes them.
PACKAGE_KEYS = ("out_binary", "op_py_file", "vx_file", "op_version")
VX = "vx"
"""The VX kernel in `kernels`."""
KERNELS = (CPU, VX)
"""The kernels in the order of the list that the runtime looks up."""
VX_KERNEL = CheckedKernel("VX kernel", "check_vx_kernel")
_INDICES = ("0", "1")
_VX_VERSIONS = ("1", "2")
KEYS = {
    "kernel_index": {
        "description": "The kernel that the board runs: 0, the CPU kernel, or 1, the VX kernel.",
        "enum": [*map(int, _INDICES), *_INDICES],
    },
    "vx_version": {
        "description": "VX_VERSION in the .vx file; 1 by default.",
        "enum": [*map(int, _VX_VERSIONS), *_VX_VERSIONS],
    },
}


class Settings(NamedTuple):
    """The keys of op.yml for this runtime only.

    Attributes:
        kernel_index: the index of the kernel that the board runs.
        vx_version: VX_VERSION in the VX kernel, the generation of the hardware. 1 by default, as in
            the vendor's header: which of the two the chips have is not published.
    """

    kernel_index: int = 0
    vx_version: int = 1


def has_vx_kernel(spec: OpSpec) -> bool:
    """Return whether an operator has a VX kernel besides the CPU kernel."""
    return VX in spec.kernels


def settings(spec: OpSpec) -> Settings:
    """Return the settings of an operator."""
    found = spec.settings[NAME]
    assert isinstance(found, Settings)
    return found


def expected_kernels(spec: OpSpec) -> dict[CheckedKernel, str]:
    """Return the kernels that a check must run besides the CPU kernel, with the reason."""
    if settings(spec).kernel_index == 1:
        return {VX_KERNEL: "op.yml has kernel_index: 1, so the board runs it"}
    return {}


def read_settings(reader: Reader, entries: Mapping[str, yaml.Node]) -> Settings:
    """Read the settings of a description.

    Raises:
        DescriptionError: a setting is invalid.
    """
    vx_version = reader.attempt(reader.choice, entries, "vx_version", _VX_VERSIONS, "1")
    index = reader.choice(entries, "kernel_index", _INDICES, "0")
    return Settings(int(index), int(vx_version or 1))


def index_complaints(spec: OpSpec) -> Iterator[Complaint]:
    """Yield an error if the board is to run a VX kernel that the operator does not have."""
    if settings(spec).kernel_index and not has_vx_kernel(spec):
        yield Complaint(
            "",
            f"1 is the VX kernel, but kernels is [{', '.join(spec.kernels)}]",
            field="kernel_index",
            hint=f"write `kernel_index: 0`, or `kernels: [{', '.join(KERNELS)}]`",
        )
