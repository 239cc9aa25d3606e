"""Arrays as a process sees them that replaces subnormal floats by zeros."""

from __future__ import annotations

import numpy as np

from opkit.runtimes.invocation import Array


def without_subnormals(array: Array) -> Array:
    """Return an array with zeros of their sign in place of subnormal floats."""
    is_subnormal = np.abs(array) < np.finfo(array.dtype).smallest_normal
    return np.where(is_subnormal, np.copysign(array.dtype.type(0), array), array)
