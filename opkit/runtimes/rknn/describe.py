"""The keys, types, targets and limits of a description for RKNN-Toolkit 1.x."""

from __future__ import annotations

from opkit.description.describe import Describe
from opkit.runtimes.rknn import operator_rules, settings
from opkit.runtimes.rknn.chips import CHIPS, TARGETS
from opkit.runtimes.rknn.deliveries import OUTPUT_TYPES, REFUSALS, TENSOR_TYPES
from opkit.runtimes.rknn.limits import LIMITS
from opkit.runtimes.rknn.names import operator_name_refusal

DESCRIBE = Describe(
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
    single_thread="the driver of its boards calls kernels in a thread of its own",
    keys=settings.KEYS,
    foreign_keys=settings.PACKAGE_KEYS,
    settings=settings.read_settings,
    name_refusal=operator_name_refusal,
    type_refusal=lambda type_name: REFUSALS.get(type_name, ""),
    complaints=operator_rules.complaints,
    expected_kernels=settings.expected_kernels,
)
