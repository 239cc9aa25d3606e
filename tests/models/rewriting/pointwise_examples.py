"""A node of each operator with one result per element, as models have it."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.models.rewriting.node_tests import Case, case

_random = np.random.default_rng(40)


def _uniform(low: float, high: float, *shape: int) -> Any:
    return _random.uniform(low, high, shape).astype(np.float32)


def _mask(share: float, *shape: int) -> Any:
    return _random.random(shape) < share


def _with(array: Any, *specials: float) -> Any:
    """Return an array with special numbers in random places."""
    return np.where(_mask(0.1, *array.shape), _random.choice(specials, array.shape), array).astype(
        array.dtype
    )


EXAMPLES: dict[str, Case] = {
    "Acos": case("Acos", [_uniform(-1, 1, 1, 8, 40, 40)]),
    "Acosh": case("Acosh", [_uniform(1, 50, 1, 8, 40, 40)]),
    "Asin": case("Asin", [_uniform(-1, 1, 1, 8, 40, 40)]),
    "Asinh": case("Asinh", [_uniform(-300, 300, 1, 8, 40, 40)]),
    "Atan": case("Atan", [_uniform(-20, 20, 1, 1, 8400)]),  # angles of oriented boxes
    "Atanh": case("Atanh", [_uniform(-0.99, 0.99, 1, 8, 40, 40)]),
    "Ceil": case("Ceil", [_uniform(-8, 8, 1, 8, 40, 40)]),
    "Celu": case("Celu", [_uniform(-4, 4, 1, 32, 40, 40)], alpha=0.5),
    "Cosh": case("Cosh", [_uniform(-5, 5, 1, 8, 40, 40)]),
    "Gelu": case("Gelu", [_uniform(-4, 4, 1, 196, 384)], opset=20),
    "IsInf": case("IsInf", [_with(_uniform(-8, 8, 1, 64, 64), np.inf, -np.inf, np.nan)]),
    "IsNaN": case("IsNaN", [_with(_uniform(-8, 8, 1, 64, 64), np.nan, np.inf)]),
    "Mod": case("Mod", [_uniform(-20, 20, 1, 2, 4096).astype(np.int32), np.array([7], "int32")]),
    "Or": case("Or", [_mask(0.3, 1, 1, 64, 64), _mask(0.3, 1, 8, 64, 64)]),  # of attention
    "Selu": case("Selu", [_uniform(-4, 4, 1, 32, 40, 40)]),
    "Shrink": case("Shrink", [_uniform(-2, 2, 1, 32, 40, 40)], lambd=0.5),
    "Sign": case("Sign", [_with(_uniform(-2, 2, 1, 32, 40, 40), 0.0)]),
    "Sinh": case("Sinh", [_uniform(-5, 5, 1, 8, 40, 40)]),
    "Softsign": case("Softsign", [_uniform(-8, 8, 1, 32, 40, 40)]),
    "Tan": case("Tan", [_uniform(-1.4, 1.4, 1, 8, 40, 40)]),
    "ThresholdedRelu": case("ThresholdedRelu", [_uniform(-4, 4, 1, 32, 40, 40)], alpha=1.0),
    "Xor": case("Xor", [_mask(0.5, 1, 8, 64, 64), _mask(0.5, 1, 8, 64, 64)]),
}
