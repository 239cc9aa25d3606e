"""PPLNN's names, targets and keys of op.yml."""

from __future__ import annotations

from collections.abc import Iterator

from opkit.complaint import Complaint
from opkit.description.describe import Describe, Target
from opkit.description.parser import PC
from opkit.description.spec import OpSpec
from opkit.description.types import ELEMENT_TYPES
from opkit.runtimes.pplnn import settings


def _name_refusal(name: str) -> str:
    """Refuse a name that would make a class the same as its base, or a header as another one."""
    lower = name.lower()
    is_taken = lower in ("riscv", "riscvopt", "x86", "x86opt") or lower.startswith("ppl_")
    return "is taken by the generated code; choose another name" if is_taken else ""


def _complaints(spec: OpSpec) -> Iterator[Complaint]:
    """Refuse `layout: any` where the position of an element matters, and without effect."""
    if not settings.settings(spec).takes_any_layout:
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


DESCRIBE = Describe(
    name=settings.NAME,
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
    keys=settings.KEYS,
    settings=settings.read_settings,
    name_refusal=_name_refusal,
    complaints=_complaints,
)
