"""The tolerated errors of generated tests."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from opkit.runtimes.invocation import Array

_RELATIVE = {"float16": 2e-3, "float32": 1e-5}
"""dtype -> the tolerated error, relative to the largest output."""


def tolerated_error(outputs: Mapping[str, Array]) -> float:
    """Return the tolerated absolute error of a case: a power of ten; 0 without floats."""
    errors = [
        _RELATIVE.get(array.dtype.name, 1e-5) * float(np.abs(finite.astype("f8")).max())
        for array in outputs.values()
        if array.dtype.kind == "f" and (finite := array[np.isfinite(array)]).size
    ]
    largest = max(errors, default=0.0)
    return float(f"1e{math.ceil(math.log10(largest))}") if largest > 1e-30 else 0.0


def tolerance_text(error: float) -> str:
    """Return the arguments of a check with a tolerated error."""
    return f"max_ulp=4, max_error={error:g}" if error else "max_ulp=4"
