"""What one can build for: the one table that help, READMEs, CI and tests read."""

from __future__ import annotations

from dataclasses import dataclass

from opkit.errors import OpkitError


@dataclass(frozen=True)
class Target:
    """A chip, or the PC.

    Attributes:
        name: what `scons target=` takes.
        family: chips of one family run the same packages; None for the PC, which has none.
        abi: the ABI of the processor that runs the CPU kernel.
        needs: what the chip must run at least, in the words of the vendor's release notes.
        look_up: how one sees on the board which version that is.
    """

    name: str
    family: str | None
    abi: str
    needs: str
    look_up: str


_RUNTIME = "strings /usr/lib64/librknn_runtime.so | grep 'librknn_runtime version'"
_DRIVER = "the line 'DRV: ...' that RKNN-Toolkit's rknn.get_sdk_version() prints"

TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        Target("rk1806", "rk1808", "aarch64", "DRV 1.3.2", _DRIVER),
        Target("rk1808", "rk1808", "aarch64", "librknn_runtime 1.2.0", _RUNTIME),
        Target("rk3399pro", "rk1808", "aarch64", "DRV 0.9.9", _DRIVER),
        Target("rv1109", "rv1126", "armhf", "DRV 1.3.2", _DRIVER),
        Target("rv1126", "rv1126", "armhf", "DRV 1.3.2", _DRIVER),
        Target("x64", None, "x64", "", ""),
    )
}

CHIPS: tuple[str, ...] = tuple(name for name, target in TARGETS.items() if target.family)
"""The targets that get a package."""

FAMILIES: dict[str, tuple[str, ...]] = {
    family: tuple(name for name in CHIPS if TARGETS[name].family == family)
    for family in dict.fromkeys(TARGETS[name].family for name in CHIPS)
    if family is not None
}
"""The chips that share a package's compiled VX kernel."""


def target_named(name: str) -> Target:
    """Return the target of this name, in any case.

    Raises:
        OpkitError: there is none; the message lists what there is.
    """
    try:
        return TARGETS[name.lower()]
    except KeyError:
        raise OpkitError(f"unknown target '{name}'; allowed: {', '.join(TARGETS)}") from None
