"""PPLNN's names, targets, limits, types and keys of op.yml."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import yaml

from opkit.common.complaint import Complaint
from opkit.description.describe import RuntimeDescription, Target
from opkit.description.parser import PC
from opkit.description.reader import Reader, as_written
from opkit.description.spec import OpSpec
from opkit.description.types import ELEMENT_TYPES

NAME = "pplnn"
_DOMAIN = r"([A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*)?"
_MAX_VERSION = 2**31 - 1
_LAYOUTS = ("ndarray", "any")
KEYS = {
    "domain": {
        "description": "The domain of the operator's nodes in ONNX models; custom by default.",
        "type": "string",
        "pattern": f"^{_DOMAIN}$",
    },
    "opset": {
        "description": "The first and the last version of the domain's operator set with it.",
        "type": "array",
        "items": {"type": "integer", "minimum": 1, "maximum": _MAX_VERSION},
        "minItems": 2,
        "maxItems": 2,
    },
    "layout": {
        "description": "The layouts of tensors for the math of an elementwise operator: dense "
        "ones, the default, or any, with channels in blocks as the engines keep them.",
        "enum": list(_LAYOUTS),
    },
}
_EXPECTED = "two versions, for example [1, 1]"


class Settings(NamedTuple):
    """The keys of op.yml that only this runtime has.

    Attributes:
        domain: the domain of the operator's nodes in ONNX models; empty: ONNX's own.
        opset: the first and the last version of the domain's operator set with this operator.
        layout: `any`: the math takes tensors with channels in blocks (N16CX, N8CX, N4CX) as they
            are; else `ndarray`.
    """

    domain: str = "custom"
    opset: tuple[int, int] = (1, 1)
    layout: str = _LAYOUTS[0]

    @property
    def takes_any_layout(self) -> bool:
        """Whether the math takes tensors with channels in blocks."""
        return self.layout == "any"


def settings(spec: OpSpec) -> Settings:
    """Return the settings of an operator."""
    found = spec.settings[NAME]
    assert isinstance(found, Settings)
    return found


def read_settings(reader: Reader, entries: Mapping[str, yaml.Node]) -> Settings:
    """Read the settings of a description.

    Raises:
        DescriptionError: they are invalid.
    """
    return Settings(
        reader.attempt(_domain, reader, entries.get("domain")),
        reader.attempt(_opset, reader, entries.get("opset")),
        reader.attempt(reader.choice, entries, "layout", _LAYOUTS, Settings().layout),
    )


def _domain(reader: Reader, node: yaml.Node | None) -> str:
    if node is None:
        return Settings().domain
    domain = reader.text(node, "domain")
    if not re.fullmatch(_DOMAIN, domain):
        expected = "letters, digits, '_', '-' and '.'"
        reader.fail(node, "domain", f"invalid {as_written(node)}", expected=expected)
    return domain


def _opset(reader: Reader, node: yaml.Node | None) -> tuple[int, int]:
    if node is None:
        return Settings().opset
    versions = reader.value(node, "opset")
    are_two = isinstance(versions, list) and len(versions) == 2
    if not are_two or not all(type(version) is int for version in versions):
        reader.fail(node, "opset", f"invalid {as_written(node)}", expected=_EXPECTED)
    first, last = versions
    if not 1 <= first <= last <= _MAX_VERSION:
        expected = f"{_EXPECTED}, the lower one first"
        reader.fail(node, "opset", f"invalid [{first}, {last}]", expected=expected)
    return first, last


def _name_refusal(name: str) -> str:
    """Refuse a name that would make a class the same as its base, or a header as another one."""
    lower = name.lower()
    is_taken = lower in ("riscv", "riscvopt", "x86", "x86opt") or lower.startswith("ppl_")
    return "is taken by the generated code; choose another name" if is_taken else ""


def _complaints(spec: OpSpec) -> Iterator[Complaint]:
    """Refuse `layout: any` where the position of an element matters, and without effect."""
    if not settings(spec).takes_any_layout:
        return
    if not spec.elementwise:
        yield Complaint(
            "",
            "any is for operators with `elementwise: true`: with channels in blocks, and padding "
            "among them, an element's position is not that of its shape",
            field="layout",
            hint="delete `layout`",
        )
    for group, tensors in (("inputs", spec.inputs), ("outputs", spec.outputs)):
        for tensor in tensors:
            if tensor.dtype and ELEMENT_TYPES[tensor.dtype].kind != "float":
                yield Complaint(
                    "",
                    f"`layout: any` has no effect with {tensor.dtype}: the engines keep only "
                    "floats in blocks of channels",
                    field=f"{group}.{tensor.name}.dtype",
                    hint="delete `layout`",
                )


DESCRIBE = RuntimeDescription(
    name=NAME,
    title="PPLNN",
    frameworks=("onnx", "tensorflow"),
    next_steps="scons pplnn-apply root=PPLNN, in $folder, with your checkout of ppl.nn\n",
    starter=(
        "# domain: custom  # of the operator's nodes in ONNX models\n"
        "# opset: [1, 1]  # the versions of that domain with the operator\n"
    ),
    targets={"riscv64": Target("riscv64", "riscv64"), "x64-pplnn": Target("x64-pplnn", PC)},
    default_target="riscv64",
    product_pattern="libpplnn_*.a",
    single_thread="",
    keys=KEYS,
    settings=read_settings,
    name_refusal=_name_refusal,
    complaints=_complaints,
)
