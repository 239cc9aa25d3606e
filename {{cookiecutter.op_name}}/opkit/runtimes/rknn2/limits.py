"""What librknnrt takes."""

from __future__ import annotations

from opkit.description.limits import MAX_ITEMS, MAX_RANK, Limits

LIMITS = Limits("librknnrt", name_length=127, rank=MAX_RANK, items=MAX_ITEMS)
"""Its structs have room for names of 255 characters, but names of files, which are longer than the
operator's, have no more; for dimensions they have more than opkit."""

TENSOR_TYPES: dict[str, str] = {
    "float16": "float32",
    "float32": "float32",
    "int32": "int32",
    "int64": "int64",
    "bool": "bool",
}
"""The dtypes of a model's tensors -> what an operator gets for them."""
