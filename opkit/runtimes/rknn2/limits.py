"""What librknnrt takes."""

from __future__ import annotations

from opkit.description.limits import MAX_RANK, Limits
from opkit.description.spec import ParamValue

LIMITS = Limits("librknnrt", name_length=127, rank=MAX_RANK)
"""Its structs have room for names of 255 characters, but names of files, which are longer than the
operator's, have no more; for dimensions they have more than opkit."""

TENSOR_TYPES: dict[str, str] = dict.fromkeys(
    ("float16", "float32", "int32", "int64", "bool"), "float32"
)
"""The dtypes of a model's tensors -> what librknnrt 1.6.0 hands over for them."""

LATER_TENSOR_TYPES: dict[str, str] = {**TENSOR_TYPES, "int64": "int64"}
"""The same of later versions, by the vendor's guide."""

ATTRIBUTE_INTEGERS = (-(2**31), 2**31 - 1)
ATTRIBUTE_FLOATS = (2.0**-126 + 2.0**-149, 2.0**128 - 2.0**104)
"""The lowest and the highest number that librknnrt 1.6.0 reads in an attribute, of floats without
the sign, and besides 0. It aborts at others while it loads a model: std::stoi and std::stof raise
errors that nothing catches. The smallest normal float32 itself is written with too few digits."""
READABLE = "within int32, or 0 or a float32 with an absolute value above 2^-126"


def unreadable_numbers(value: ParamValue | None) -> list[int | float]:
    """Return the numbers in a value with which no attribute can be loaded."""
    items = value if isinstance(value, tuple) else (value,)
    return [each for each in items if isinstance(each, (int, float)) and not _is_readable(each)]


def _is_readable(number: int | float) -> bool:
    if isinstance(number, float):
        low, high = ATTRIBUTE_FLOATS
        return number == 0 or low <= abs(number) <= high
    return ATTRIBUTE_INTEGERS[0] <= number <= ATTRIBUTE_INTEGERS[1]
