"""The traits of a case: what its name and its arrays have in common with other cases."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from opkit.runtimes.invocation import Array


@dataclass(frozen=True)
class TensorTraits:
    """The traits of an input or of an expected output.

    Attributes:
        dtype: the dtype's name.
        shape: slowest dimension first.
        values: the special values that occur; see SPECIAL_VALUES.
    """

    dtype: str
    shape: tuple[int, ...]
    values: tuple[str, ...] = ()

    @property
    def elements(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)


@dataclass(frozen=True)
class CaseTraits:
    """The traits of a case, as values of JSON.

    Attributes:
        params: name of each param -> value, also of defaults.
        inputs: name of each input -> its traits.
        outputs: the same for the expected outputs; empty if the reference fails.
    """

    params: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, TensorTraits] = field(default_factory=dict)
    outputs: Mapping[str, TensorTraits] = field(default_factory=dict)

    @property
    def elements(self) -> int:
        """The number of elements of all inputs."""
        return sum(tensor.elements for tensor in self.inputs.values())

    @classmethod
    def read(cls, fields: Mapping[str, Any]) -> CaseTraits:
        """Return the traits in the fields of dataclasses.asdict, also after JSON."""
        inputs, outputs = (
            {
                name: TensorTraits(each["dtype"], (*each["shape"],), (*each["values"],))
                for name, each in fields[role].items()
            }
            for role in ("inputs", "outputs")
        )
        return cls(fields["params"], inputs, outputs)


def _of_floats(test: Callable[[Array, np.finfo[Any]], Array]) -> Callable[[Array], bool]:
    def occurs(array: Array) -> bool:
        return array.dtype.kind == "f" and bool(test(array, np.finfo(array.dtype)).any())

    return occurs


def _has_limit(array: Array) -> bool:
    if array.dtype.kind == "f":
        return bool((np.abs(array) == np.finfo(array.dtype).max).any())
    if array.dtype.kind not in "iu":
        return False
    limits = np.iinfo(array.dtype)
    return bool((array == limits.max).any() or (limits.min < 0 and (array == limits.min).any()))


SPECIAL_VALUES: Mapping[str, Callable[[Array], bool]] = {
    "NaN": _of_floats(lambda array, _: np.isnan(array)),
    "infinities": _of_floats(lambda array, _: np.isinf(array)),
    "the largest numbers": _has_limit,
    "negative numbers": lambda array: array.dtype.kind in "fi" and bool((array < 0).any()),
    "-0": _of_floats(lambda array, _: (array == 0) & np.signbit(array)),
    "subnormal numbers": _of_floats(
        lambda array, limits: (array != 0) & (np.abs(array) < limits.smallest_normal)
    ),
}
"""Name of special values -> whether an array has any; the limits of integers are the largest."""


def traits_of(
    params: Mapping[str, Any], inputs: Mapping[str, Array], outputs: Mapping[str, Array]
) -> CaseTraits:
    """Return the traits of a case."""
    return CaseTraits(
        {name: _plain(value) for name, value in params.items()},
        *({name: _tensor(array) for name, array in arrays.items()} for arrays in (inputs, outputs)),
    )


def _tensor(array: Array) -> TensorTraits:
    with np.errstate(all="ignore"):  # a signaling NaN
        values = tuple(name for name, occurs in SPECIAL_VALUES.items() if occurs(array))
    return TensorTraits(array.dtype.name, array.shape, values)


def _plain(value: Any) -> Any:
    """Return a param's value as Python's own: a number, a text, or a list of numbers."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value
