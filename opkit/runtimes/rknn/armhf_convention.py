"""How librknn_runtime for armhf calls a kernel: as for aarch64, but for the largest int64."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from opkit.description.spec import Param
from opkit.runtimes.invocation import Value
from opkit.runtimes.rknn import calling_convention
from opkit.runtimes.rknn.armhf import is_changed
from opkit.runtimes.rknn.calling_convention import (
    has_shape_rule,
    input_types,
    output_types,
    status_name,
    tensor_types,
)

__all__ = [
    "has_shape_rule",
    "input_types",
    "marshal",
    "output_types",
    "status_name",
    "tensor_types",
]

_LOWEST = np.int64(-(2**63)).tobytes()


def marshal(params: Sequence[Param], values: Mapping[str, Any]) -> list[Value]:
    """Return what a kernel gets for the values of params; see calling_convention.marshal.

    Raises:
        RefusedError: no model can hold one of them, or the node would not be created with it.
    """
    delivered = calling_convention.marshal(params, values)
    return [
        replace(value, data=_LOWEST) if is_changed(param, values[param.name]) else value
        for param, value in zip(params, delivered, strict=True)
    ]
