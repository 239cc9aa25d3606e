"""librknn_runtime's calling convention, and the kernels of libraries for this PC."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from opkit.check.executors import on_this_pc
from opkit.check.harness_client import HarnessKernel
from opkit.check.instrumented import InstrumentedKernel
from opkit.description.spec import OpSpec, Param
from opkit.runtimes.invocation import (
    AT_FULL_SPEED,
    CallingConvention,
    Invocation,
    RefusedError,
    RunOptions,
    RunResult,
    Value,
    numbers_of,
)
from opkit.runtimes.rknn import boards
from opkit.runtimes.rknn.boards import LIMITS, is_changed_by_armhf
from opkit.runtimes.rknn.deliveries import (
    DELIVERIES,
    INPUT_TYPES,
    OUTPUT_TYPES,
    TENSOR_TYPES,
    Delivery,
)

_STATUS_NAMES = {
    -1: "VX_FAILURE",
    -2: "VX_ERROR_NOT_IMPLEMENTED",
    -3: "VX_ERROR_NOT_SUPPORTED",
    -4: "VX_ERROR_NOT_SUFFICIENT",
    -5: "VX_ERROR_NOT_ALLOCATED",
    -6: "VX_ERROR_NOT_COMPATIBLE",
    -7: "VX_ERROR_NO_RESOURCES",
    -8: "VX_ERROR_NO_MEMORY",
    -9: "VX_ERROR_OPTIMIZED_AWAY",
    -10: "VX_ERROR_INVALID_PARAMETERS",
    -11: "VX_ERROR_INVALID_MODULE",
    -12: "VX_ERROR_INVALID_REFERENCE",
    -13: "VX_ERROR_INVALID_LINK",
    -14: "VX_ERROR_INVALID_FORMAT",
    -15: "VX_ERROR_INVALID_DIMENSION",
    -16: "VX_ERROR_INVALID_VALUE",
    -17: "VX_ERROR_INVALID_TYPE",
    -18: "VX_ERROR_INVALID_GRAPH",
    -19: "VX_ERROR_INVALID_NODE",
    -20: "VX_ERROR_INVALID_SCOPE",
    -21: "VX_ERROR_GRAPH_SCHEDULED",
    -22: "VX_ERROR_GRAPH_ABANDONED",
    -23: "VX_ERROR_MULTIPLE_WRITERS",
    -24: "VX_ERROR_REFERENCE_NONZERO",
}


def _value(param: Param, value: Any) -> Value:
    """Return a scalar or an array.

    A model stores values as doubles. A value out of range is cut to the range, not refused.
    """
    delivery = DELIVERIES.get(param.type.name)
    if delivery is None:
        raise RefusedError(f"param '{param.name}': the board refuses the type {param.type.name}")
    items = numbers_of(param, value, LIMITS)
    for item in items:
        if not math.isfinite(item):
            raise RefusedError(
                f"param '{param.name}' is {float(item)}; RKNN-Toolkit writes params as JSON, "
                "which has no infinity and no NaN (expected a finite number)"
            )
    data = b"".join(_item_bytes(delivery, float(item)) for item in items)
    shape = (len(items),) if param.type.is_list else ()
    return Value(param.name, delivery.element.name, shape, data)


def _item_bytes(delivery: Delivery, value: float) -> bytes:
    """Return the bytes of a scalar, or of an item of an array.

    The processor converts to an integer toward zero, saturating.
    """
    if delivery.converted is None:
        with np.errstate(over="ignore"):
            return np.array(value, delivery.element.dtype).tobytes()
    assert delivery.converted.limits is not None
    low, high = delivery.converted.limits
    whole = min(max(int(value), low), high) % 2**64
    return whole.to_bytes(8, "little")[: delivery.element.size]


CONVENTION = CallingConvention(
    tensor_types=TENSOR_TYPES,
    input_types=INPUT_TYPES,
    output_types=OUTPUT_TYPES,
    value=_value,
    statuses=_STATUS_NAMES,
)


_LOWEST = np.int64(-(2**63)).tobytes()


def _armhf_value(param: Param, value: Any) -> Value:
    delivered = CONVENTION.value(param, value)
    return replace(delivered, data=_LOWEST) if is_changed_by_armhf(param, value) else delivered


ARMHF_CONVENTION = replace(CONVENTION, value=_armhf_value)


HOST = Path("build/host")
"""The folder of the harness, the host runtime and the guarded library in a repository."""


def host_kernel(
    spec: OpSpec,
    library: Path,
    host: Path,
    index: int = 0,
    uniforms: Mapping[str, int] = MappingProxyType({}),
    formats: Mapping[str, bytes] = MappingProxyType({}),
) -> HarnessKernel:
    """Return a kernel of an operator's library for this PC.

    Args:
        spec: the operator description.
        library: `lib<operator>.so`.
        host: the folder with `harness` and `libOpenVX.so`.
        index: the kernel's index in the list: 0 is the CPU kernel. Any other is a VX kernel: its
            callbacks run, but not its program.
        uniforms: name -> size in bytes of each _viv_uniform that a VX kernel declares; its
            initializer can set no other.
        formats: name of a tensor -> its attributes for vxQueryTensor, as driver.c reads them.

    Raises:
        OpkitError: one of the files does not exist.
    """
    executor = on_this_pc(
        host / "harness", host / "libOpenVX.so", library, f"vx_kernel_{spec.name}_list"
    )
    attachments = {
        "kernel_index": str(index).encode(),
        **{f"uniform:{name}": str(size).encode() for name, size in uniforms.items()},
        **{f"tensor:{name}": format_ for name, format_ in formats.items()},
    }
    return HarnessKernel(spec, executor, library.parent, CONVENTION, attachments, library)


@dataclass(frozen=True)
class CpuKernel(InstrumentedKernel):
    """The CPU kernel in both libraries for this PC, with notes on params that armhf changes.

    Attributes:
        spec: the operator description.
    """

    spec: OpSpec

    def run(self, invocation: Invocation, options: RunOptions = AT_FULL_SPEED) -> RunResult:
        """Run the kernel; see Kernel."""
        result = super().run(invocation, options)
        changed = boards.armhf_warnings(self.spec.params, invocation.params)
        result.notes += [f"param '{name}': {problem}" for name, problem in changed]
        return result


def cpu_kernel(spec: OpSpec, root: Path) -> CpuKernel:
    """Return the CPU kernel of a repository that is built for this PC.

    Raises:
        OpkitError: the repository is not built.
    """
    name = f"lib{spec.lower}.so"
    return CpuKernel(
        delivered=host_kernel(spec, root / "build/x64" / name, root / HOST),
        make_instrumented=lambda: host_kernel(spec, root / HOST / name, root / HOST),
        make_profiled=lambda: host_kernel(spec, root / HOST / "profiled" / name, root / HOST),
        spec=spec,
    )
