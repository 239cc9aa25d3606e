"""The int64 value that librknn_runtime 1.7.5 for armhf changes.

A param is a double in the model, and 2^63 is the double next to the largest int64. aarch64 converts
it to 2^63 - 1, armhf to -2^63.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from opkit.description.spec import Param
from opkit.runtimes.rknn.chips import TARGETS

ABI = "armhf"
CHIPS = f"{ABI} ({', '.join(target.name for target in TARGETS.values() if target.abi == ABI)})"


def is_changed(param: Param, value: Any) -> bool:
    """Return whether kernels on armhf and on aarch64 get different values of a param."""
    return param.type.name == "VX_TYPE_INT64" and float(value) >= 2.0**63


def warnings(params: Sequence[Param], values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (name, warning) for each param with a value that armhf changes."""
    for param in params:
        value = values[param.name]
        if value is not None and is_changed(param, value):
            yield (
                param.name,
                f"{value} arrives as {-(2**63)} on {CHIPS}; use a smaller number, up to {2**53} "
                "all are exact",
            )
