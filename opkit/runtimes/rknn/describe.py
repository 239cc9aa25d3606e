"""The keys, types, targets and limits of a description for RKNN-Toolkit 1.x."""

from __future__ import annotations

from collections.abc import Iterator

from opkit.common.complaint import Complaint
from opkit.description.describe import RuntimeDescription
from opkit.description.spec import OpSpec
from opkit.runtimes.rknn import boards, settings
from opkit.runtimes.rknn.boards import CHIPS, LIMITS, TARGETS
from opkit.runtimes.rknn.deliveries import INPUT_TYPES, OUTPUT_TYPES, REFUSALS, TENSOR_TYPES
from opkit.runtimes.rknn.elementwise_vx import vx_complaints
from opkit.runtimes.rknn.settings import operator_name_refusal


def complaints(spec: OpSpec) -> Iterator[Complaint]:
    """Yield errors about lost tensors and the VX kernel, and warnings about changed defaults."""
    first = spec.inputs[0]
    for input_ in spec.inputs:
        if input_.dtype and input_.dtype not in INPUT_TYPES:
            yield Complaint(
                "",
                f"invalid '{input_.dtype}': rknn cannot pass it into a model",
                field=f"inputs.{input_.name}.dtype",
                hint=_way_out(spec),
                expected=", ".join(INPUT_TYPES),
            )
    for output in spec.outputs:
        dtype = output.dtype or first.dtype
        if dtype and dtype not in OUTPUT_TYPES:
            origin = "" if output.dtype else f", the dtype of input '{first.name}'"
            yield Complaint(
                "",
                f"invalid '{dtype}'{origin}: rknn cannot return it, a model's output of it "
                "has the size 0 and no call fails",
                field=f"outputs.{output.name}.dtype",
                hint=_way_out(spec),
                expected=", ".join(OUTPUT_TYPES),
            )
    defaults = {param.name: param.default for param in spec.params}
    for name, problem in boards.armhf_warnings(spec.params, defaults):
        yield Complaint("", problem, field=f"params.{name}.default", severity="warning")
    yield from settings.index_complaints(spec)
    yield from settings.vx_name_complaints(spec)
    yield from vx_complaints(spec)


def _way_out(spec: OpSpec) -> str:
    way_out = "write `dtype: float16`, in which integers are exact up to 2048, or `dtype: int16`"
    others = " and ".join(name for name in spec.runtimes if name != "rknn")
    return f"{way_out}, or describe it twice: for rknn and for {others}" if others else way_out


DESCRIBE = RuntimeDescription(
    name=settings.NAME,
    title="RKNN-Toolkit",
    frameworks=("tensorflow",),
    converter="RKNN-Toolkit",
    next_steps=(
        "rknn-op inspect $product\n"
        'rknn.register_op("$product")\n'
        "    in RKNN-Toolkit, before rknn.load_tensorflow(...)\n"
    ),
    starter=(
        f"target_platform: RK1808  # {', '.join(CHIPS)}\n"
        "# kernels: [cpu]  # for an operator without a VX kernel, the one for the NPU\n"
    ),
    targets=TARGETS,
    default_target="rk1808",
    product_pattern="*.rknnop",
    limits=LIMITS,
    tensor_types=TENSOR_TYPES,
    lost_outputs=tuple(dtype for dtype in TENSOR_TYPES if dtype not in OUTPUT_TYPES),
    kernels={settings.VX: True},
    single_thread="the driver of its boards calls kernels in a thread of its own",
    keys=settings.KEYS,
    foreign_keys=settings.PACKAGE_KEYS,
    settings=settings.read_settings,
    name_refusal=operator_name_refusal,
    type_refusal=lambda type_name: REFUSALS.get(type_name, ""),
    complaints=complaints,
    expected_kernels=settings.expected_kernels,
)
