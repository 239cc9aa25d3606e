"""How librknn_runtime for armhf calls a kernel: as for aarch64, but for the largest int64."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from opkit.description.spec import Param
from opkit.runtimes.invocation import Value
from opkit.runtimes.rknn import calling_convention
from opkit.runtimes.rknn.armhf import is_changed

_LOWEST = np.int64(-(2**63)).tobytes()


def _value(param: Param, value: Any) -> Value:
    delivered = calling_convention.CONVENTION.value(param, value)
    return replace(delivered, data=_LOWEST) if is_changed(param, value) else delivered


CONVENTION = replace(calling_convention.CONVENTION, value=_value)
