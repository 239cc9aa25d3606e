"""The boards: chips, in the one table that help, READMEs, CI and tests read, and limits.

librknn_runtime 1.7.5 for armhf changes one int64 value. A param is a double in the model, and 2^63
is the double next to the largest int64. aarch64 converts it to 2^63 - 1, armhf to -2^63.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from opkit.common.text import aligned
from opkit.description.describe import Target
from opkit.description.spec import Param
from opkit.description.types import Limits

_RUNTIME = "strings /usr/lib64/librknn_runtime.so | grep 'librknn_runtime version'"
_DRIVER = "the line 'DRV: ...' that RKNN-Toolkit's rknn.get_sdk_version() prints"

TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        Target("rk1806", "aarch64", "rk1808", "DRV 1.3.2", _DRIVER),
        Target("rk1808", "aarch64", "rk1808", "librknn_runtime 1.2.0", _RUNTIME),
        Target("rk3399pro", "aarch64", "rk1808", "DRV 0.9.9", _DRIVER),
        Target("rv1109", "armhf", "rv1126", "DRV 1.3.2", _DRIVER),
        Target("rv1126", "armhf", "rv1126", "DRV 1.3.2", _DRIVER),
    )
}

CHIPS: tuple[str, ...] = tuple(TARGETS)
"""The targets that get a package."""


ARMHF = "armhf"
ARMHF_CHIPS = (
    f"{ARMHF} ({', '.join(target.name for target in TARGETS.values() if target.abi == ARMHF)})"
)


def is_changed_by_armhf(param: Param, value: Any) -> bool:
    """Return whether kernels on armhf and on aarch64 get different values of a param."""
    return param.type.name == "VX_TYPE_INT64" and float(value) >= 2.0**63


def armhf_warnings(params: Sequence[Param], values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (name, warning) for each param with a value that armhf changes."""
    for param in params:
        value = values[param.name]
        if value is not None and is_changed_by_armhf(param, value):
            yield (
                param.name,
                f"{value} arrives as {-(2**63)} on {ARMHF_CHIPS}; use a smaller number, up to "
                f"{2**53} all are exact",
            )


LIMITS = Limits(
    device="the board",
    name_length=127,  # the driver copies a name into 128 bytes without looking at its length
    parameters=128,  # the driver's table of references
    rank=6,
    items=16,  # the runtime refuses a longer array
    takes_empty=False,  # the driver makes such a tensor, but all of its other functions refuse it
)


HEADINGS = ("target", "family", "ABI", "minimum version", "where to look it up")


def target_rows() -> list[tuple[str, ...]]:
    """Return the rows of the table."""
    targets = [TARGETS[name] for name in CHIPS]
    return [(t.name, t.family, t.abi, t.needs, t.look_up) for t in targets]


def target_table() -> str:
    """Return the table with aligned columns, and below it where to look up versions."""
    shown = [row[:-1] for row in (HEADINGS, *target_rows())]
    places = dict.fromkeys((row[-2].rpartition(" ")[0], row[-1]) for row in target_rows())
    return "\n".join([aligned(shown), *(f"{what}:\n  {place}" for what, place in places)])
