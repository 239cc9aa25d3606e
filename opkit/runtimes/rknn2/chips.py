"""The chips of RKNN-Toolkit2, unsupported ones that users may take for them, and librknnrt."""

from __future__ import annotations

from collections.abc import Iterable

from opkit.description.describe import Target
from opkit.description.spec import Param, ParamValue
from opkit.description.types import MAX_RANK, Limits

_LOOK_UP = "strings /usr/lib/librknnrt.so | grep 'librknnrt version'"
_SINCE = {"rv1126b": "librknnrt 2.3.2"}

_ANDROID_ABIS = {"rv1126b": ()}  # the vendor's scripts for Android know every other chip

TARGETS: dict[str, Target] = {
    name: Target(
        name,
        "aarch64",
        family="rknn2",
        needs=_SINCE.get(name, "librknnrt 1.6.0"),
        look_up=_LOOK_UP,
        other_abis=("armhf",),
        android_abis=_ANDROID_ABIS.get(name, ("arm64-v8a", "armeabi-v7a")),
    )
    for name in ("rk3588", "rk3576", "rk3568", "rk3566", "rk3562", "rv1126b")
}
"""One library is for all chips: it runs on the CPU."""


_LIBRARIES = {
    **dict.fromkeys(("rv1103", "rv1103b", "rv1106", "rv1106b"), "librknnmrt, its runtime,"),
    "rk2118": "its runtime",
}

REFUSED_TARGETS: dict[str, str] = {
    chip: f"{chip.upper()} has no custom operators: RKNN-Toolkit2 converts a model with them "
    f"without a word, but {library} cannot run it (expected {', '.join(TARGETS)})"
    for chip, library in _LIBRARIES.items()
}
"""Unsupported chip -> reason."""


LIMITS = Limits("librknnrt", name_length=127, rank=MAX_RANK)
"""librknnrt's structs hold names of 255 characters, and more dimensions than opkit. The limit of
127 is because of file names, which are longer than the operator's name and limited to 255, too."""

TENSOR_TYPES: dict[str, str] = dict.fromkeys(
    ("float16", "float32", "int32", "int64", "bool"), "float32"
)
"""The dtype of a model's tensor -> the dtype that librknnrt 1.6.0 hands over."""

LATER_TENSOR_TYPES: dict[str, str] = {**TENSOR_TYPES, "int64": "int64"}
"""The same for later versions, by the vendor's guide."""

ATTRIBUTE_INTEGERS = (-(2**31), 2**31 - 1)
ATTRIBUTE_FLOATS = (2.0**-126 + 2.0**-149, 2.0**128 - 2.0**104)
"""The minimum and maximum that librknnrt 1.6.0 reads in an attribute; for floats, of the absolute
value, and 0 is valid, too. It aborts at others while it loads a model: std::stoi and std::stof
raise exceptions that it does not catch. The smallest normal float32 is written with too few
digits."""
READABLE = "within int32, or 0 or a float32 with an absolute value above 2^-126"


def unreadable_numbers(value: ParamValue | None) -> list[int | float]:
    """Return the numbers in a value that librknnrt cannot read in an attribute."""
    found: list[int | float] = []
    for each in value if isinstance(value, tuple) else (value,):
        if isinstance(each, float):
            low, high = ATTRIBUTE_FLOATS
            is_readable = each == 0 or low <= abs(each) <= high
        else:
            low, high = ATTRIBUTE_INTEGERS
            is_readable = not isinstance(each, int) or low <= each <= high
        if not is_readable and isinstance(each, (int, float)):
            found.append(each)
    return found


def lost_params(params: Iterable[Param]) -> list[Param]:
    """Return the params whose attributes librknnrt 1.6.0 does not hand over."""
    return [param for param in params if param.name.startswith("q_") and not param.source]


# The names of the settings of librknnrt's executors; those after the first two are driver.c's.
CONVERTER = "converter"
"""The start command of simulator_worker.py."""
OPENCL = "opencl"
"""Present: librknnrt finds an OpenCL, which is the stand-in opencl.c above PoCL."""
LIBRARY = "library"
IDLE_NPU = "idle_npu"
