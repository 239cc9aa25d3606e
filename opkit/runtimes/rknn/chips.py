"""The chips: the one table that help, READMEs, CI and tests read."""

from __future__ import annotations

from opkit.description.describe import Target

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
