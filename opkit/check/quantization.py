"""The affine quantization of a tensor: elements are integers that stand for numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from opkit.runtimes.invocation import Array


@dataclass(frozen=True)
class Quantization:
    """number = scale * (element - zero_point)."""

    scale: float
    zero_point: int = 0

    def numbers(self, elements: Array) -> Array:
        """Return the numbers of integer elements, as float32."""
        steps = elements.astype(np.float32) - np.float32(self.zero_point)
        numbers: Array = steps * np.float32(self.scale)
        return numbers

    def elements(self, numbers: Array, dtype: np.dtype[Any]) -> Array:
        """Return the nearest elements, in the range of an integer dtype; NaN is undefined.

        Of two equally near elements it is the one with an even distance from the zero point.
        """
        limits = np.iinfo(dtype)
        with np.errstate(all="ignore"):
            steps = np.rint(numbers / np.float32(self.scale)) + self.zero_point
            elements: Array = np.clip(steps, limits.min, limits.max).astype(dtype)
        return elements
