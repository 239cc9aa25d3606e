"""PPLNN's names, targets and keys of op.yml."""

from __future__ import annotations

from opkit.description.describe import Describe, Target
from opkit.description.parser import PC
from opkit.runtimes.pplnn import settings


def _name_refusal(name: str) -> str:
    """Refuse a name that would make a class the same as its base, or a header as another one."""
    lower = name.lower()
    is_taken = lower in ("riscv", "riscvopt", "x86", "x86opt") or lower.startswith("ppl_")
    return "is taken by the generated code; choose another name" if is_taken else ""


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
)
