"""RKNN-Toolkit2's names, targets, limits, types and keys of op.yml."""

from __future__ import annotations

from collections.abc import Iterator

from opkit.complaint import Complaint
from opkit.description.describe import Describe
from opkit.description.spec import OpSpec
from opkit.runtimes.rknn2 import settings
from opkit.runtimes.rknn2.chips import REFUSED_TARGETS, TARGETS
from opkit.runtimes.rknn2.limits import LIMITS, TENSOR_TYPES, unreadable_numbers


def _complaints(spec: OpSpec) -> Iterator[Complaint]:
    yield from _about_defaults(spec)
    yield from _about_name(settings.settings(spec))


def _about_defaults(spec: OpSpec) -> Iterator[Complaint]:
    """Warn of defaults that librknnrt cannot read as an attribute."""
    for param in spec.params:
        for each in unreadable_numbers(param.default)[:1]:
            yield Complaint(
                "",
                f"{each} is out of range for an attribute, at which librknnrt aborts; it "
                "works only where nodes omit the attribute",
                field=f"params.{param.name}.default",
                severity="warning",
            )


def _about_name(own: settings.Settings) -> Iterator[Complaint]:
    """Explain a name of ONNX's own; warn of one that only looks like it."""
    if own.is_standard:
        yield Complaint(
            "",
            f"{own.op_type} is an operator of ONNX: RKNN-Toolkit2 has its own and would ignore a "
            "class, so none is generated, and nodes stay as they are; the plugin needs librknnrt "
            "2.x, because 1.6.0 aborts in rknn_init",
            field="op_type",
            hint=f"for 1.6.0, write `op_type: {settings.PREFIX}{own.op_type}` and rename the nodes",
            severity="note",
        )
    for name in settings.differing_in_case(own.op_type):
        yield Complaint(
            "",
            f"{own.op_type} is not ONNX's {name}: names of operators are case-sensitive",
            field="op_type",
            hint=f"write {name}, or a name that differs in more than case",
            severity="warning",
        )


def _name_refusal(name: str) -> str:
    """Refuse the name of a file, a type or a function of librknnrt's."""
    is_taken = name.lower() in ("rknn", "get_rknn", "rknn_custom_op")
    return "is taken by the generated code; choose another name" if is_taken else ""


DESCRIBE = Describe(
    name=settings.NAME,
    title="RKNN-Toolkit2",
    frameworks=("onnx", "tensorflow"),
    converter="RKNN-Toolkit2",
    next_steps=(
        "python $folder/rknn2/convert.py MODEL.onnx\n"
        "    with a Python that has RKNN-Toolkit2\n"
        "scons deploy\n"
        "    in $folder: print the commands to copy the plugin to a board\n"
    ),
    starter=f"target_platform: RK3588  # {', '.join(TARGETS)}\n",
    targets=TARGETS,
    default_target="rk3588",
    refused_targets=REFUSED_TARGETS,
    product_pattern="lib*_*",
    limits=LIMITS,
    tensor_types=TENSOR_TYPES,
    single_thread="",
    keys=settings.KEYS,
    settings=settings.read_settings,
    name_refusal=_name_refusal,
    complaints=_complaints,
)
