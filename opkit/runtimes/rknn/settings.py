"""The keys of op.yml for this runtime only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import yaml

from opkit.common.text import shortened
from opkit.description.describe import CheckedKernel, any_case_words
from opkit.description.reader import Reader, as_written
from opkit.description.spec import OpSpec
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


NAME = "rknn"
# Other keys of a package's op.yml; the build writes them.
PACKAGE_KEYS = ("out_binary", "op_py_file", "vx_file", "op_version")
KERNELS = ("cpu", "vx")  # in the order of the list that the runtime looks up
VX_KERNEL = CheckedKernel("VX kernel", "check_vx_kernel")
_INDICES = ("0", "1")
_VX_VERSIONS = ("1", "2")
KEYS = {
    "kernels": {
        "description": "The kernels that the operator has: [cpu] or [cpu, vx], the default.",
        "type": "array",
        "items": any_case_words(KERNELS),
        "contains": any_case_words(KERNELS[:1]),
        "uniqueItems": True,
    },
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
        kernels: the operator's kernels, `cpu` and perhaps `vx`.
        kernel_index: the index of the kernel that the board runs.
        vx_version: VX_VERSION in the VX kernel, the generation of the hardware. 1 by default, as in
            the vendor's header: which of the two the chips have is not published.
    """

    kernels: tuple[str, ...] = KERNELS
    kernel_index: int = 0
    vx_version: int = 1

    @property
    def has_vx_kernel(self) -> bool:
        """Whether there is a VX kernel besides the CPU kernel."""
        return "vx" in self.kernels


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
    kernels = reader.attempt(_kernels, reader, entries.get("kernels"))
    if "vx" in (kernels or ()):
        reader.attempt(check_vx_names, reader, entries)
    vx_version = reader.attempt(reader.choice, entries, "vx_version", _VX_VERSIONS, "1")
    return Settings(
        kernels, _kernel_index(reader, entries, kernels or KERNELS), int(vx_version or 1)
    )


def _kernels(reader: Reader, node: yaml.Node | None) -> tuple[str, ...]:
    """Return the kernels of the operator, in the order of KERNELS."""
    if node is None:
        return KERNELS
    expected = "[cpu] or [cpu, vx]"
    if not isinstance(node, yaml.SequenceNode):
        reader.fail(node, "kernels", f"must be a list, not {as_written(node)}", expected=expected)
    found: list[str] = []
    for index, item in enumerate(node.value):
        where = f"kernels[{index}]"
        kernel = reader.text(item, where).lower()
        if kernel not in KERNELS:
            problem = f"unknown kernel {as_written(item)}"
            reader.fail(item, where, problem, expected=", ".join(KERNELS))
        if kernel in found:
            reader.fail(item, where, f"duplicate kernel '{kernel}'", hint="delete one of them")
        found.append(kernel)
    if not found:
        reader.fail(node, "kernels", "is empty", expected=expected)
    if "cpu" not in found:
        reader.fail(node, "kernels", "has no cpu, the runtime's kernel 0", expected=expected)
    return tuple(kernel for kernel in KERNELS if kernel in found)


def _kernel_index(
    reader: Reader, entries: Mapping[str, yaml.Node], kernels: tuple[str, ...]
) -> int:
    index = int(reader.choice(entries, "kernel_index", _INDICES, "0"))
    if index >= len(kernels):
        line = entries["kernels"].start_mark.line + 1
        reader.fail(
            entries["kernel_index"],
            "kernel_index",
            f"{index} is the VX kernel, but kernels in line {line} is [{', '.join(kernels)}]",
            hint="write `kernel_index: 0`, or `kernels: [cpu, vx]`",
        )
    return index
