"""What librknnrt takes."""

from __future__ import annotations

from opkit.description.limits import MAX_RANK, Limits

LIMITS = Limits("librknnrt", name_length=127, rank=MAX_RANK)
"""Its structs have room for names of 255 characters, but names of files, which are longer than the
operator's, have no more; for dimensions they have more than opkit."""

TENSOR_TYPES: dict[str, str] = dict.fromkeys(
    ("float16", "float32", "int32", "int64", "bool"), "float32"
)
"""The dtypes of a model's tensors -> what librknnrt 1.6.0 hands over for them."""

LATER_TENSOR_TYPES: dict[str, str] = {**TENSOR_TYPES, "int64": "int64"}
"""The same of later versions, by the vendor's guide."""
