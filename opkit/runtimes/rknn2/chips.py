"""The runtime's chips, and the unsupported chips that users may take for them."""

from __future__ import annotations

from opkit.description.describe import Target

_LOOK_UP = "strings /usr/lib/librknnrt.so | grep 'librknnrt version'"
_SINCE = {"rv1126b": "librknnrt 2.3.2"}

TARGETS: dict[str, Target] = {
    name: Target(
        name,
        "aarch64",
        family="rknn2",
        needs=_SINCE.get(name, "librknnrt 1.6.0"),
        look_up=_LOOK_UP,
        other_abis=("armhf",),
    )
    for name in ("rk3588", "rk3576", "rk3568", "rk3566", "rk3562", "rv1126b")
}
"""One library is for all chips: it runs on the CPU."""


def _without(chip: str, library: str) -> str:
    return (
        f"{chip.upper()} has no custom operators: RKNN-Toolkit2 converts a model with them without "
        f"a word, but {library} cannot run it (expected {', '.join(TARGETS)})"
    )


_LIBRARIES = {
    **dict.fromkeys(("rv1103", "rv1103b", "rv1106", "rv1106b"), "librknnmrt, its runtime,"),
    "rk2118": "its runtime",
}

REFUSED_TARGETS: dict[str, str] = {
    chip: _without(chip, library) for chip, library in _LIBRARIES.items()
}
"""Unsupported chip -> reason."""
