"""Compute the polynomials of opkit/compute/math.h and fp16.h, and print them as C.

    python -m benchmarks.math_polynomials [NAMES]

Each polynomial has the minimum of the maximum weighted error on a grid (Lawson's algorithm: least
squares whose weights grow where the error is large). Its coefficients are rounded one after the
other, from the lowest power; the rest is fitted again after each rounding.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.longdouble]

_GRID = 1500
_ITERATIONS = 150


@dataclass(frozen=True)
class Polynomial:
    """A polynomial p(x) near a function.

    Attributes:
        count: the number of coefficients.
        low: the start of the interval.
        high: its end.
        function: what p(x) is near to, except in points where it divides 0 by 0.
        weight: how much an error of p(x) matters: the factor from it to the error of the result, in
            relation to the result.
        kind: the type of the coefficients.
        power: of x, to which the first coefficient belongs.
    """

    count: int
    low: float
    high: float
    function: Callable[[Array], Array]
    weight: Callable[[Array], Array]
    kind: type[np.floating[Any]] = np.float32
    power: int = 0


def _erfc(x: Array) -> Array:
    return np.array([math.erfc(float(each)) for each in x], np.longdouble)


def _of_root(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Return the function of x^2 for an odd function: (function(x) - x) / x^3."""
    return lambda square: (function(np.sqrt(square)) / np.sqrt(square) - 1) / square


def _weight_of_root(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    return lambda square: np.sqrt(square) ** 3 / function(np.sqrt(square))


_LN2 = np.log(np.longdouble(2))
_HALF_LN2 = 0.34662
_QUARTER_PI = 0.78545
_SQRT_HALF = math.sqrt(0.5)
_LOG_LOW, _LOG_HIGH = _SQRT_HALF - 1, 2 * _SQRT_HALF - 1
_RATIO = (2 * _SQRT_HALF - 1) / (2 * _SQRT_HALF + 1)  # (m - 1) / (m + 1) of the largest m

POLYNOMIALS = {
    "EXP": Polynomial(
        5, -_HALF_LN2, _HALF_LN2, lambda r: (np.expm1(r) - r) / r**2, lambda r: r**2 / np.exp(r)
    ),
    "COSH": Polynomial(3, 1e-9, _HALF_LN2**2, lambda z: (np.cosh(np.sqrt(z)) - 1) / z, lambda z: z),
    "SINH": Polynomial(3, 1e-9, _HALF_LN2**2, _of_root(np.sinh), _weight_of_root(np.sinh)),
    "TANH": Polynomial(3, 1e-9, 0.2600**2, _of_root(np.tanh), _weight_of_root(np.tanh)),
    "LOG": Polynomial(
        9,
        _LOG_LOW,
        _LOG_HIGH,
        lambda f: (np.log1p(f) - f + f * f / 2) / f**3,
        lambda f: f**3 / np.log1p(f),
    ),
    "SIN": Polynomial(3, 1e-9, _QUARTER_PI**2, _of_root(np.sin), _weight_of_root(np.sin)),
    "COS": Polynomial(
        3,
        1e-9,
        _QUARTER_PI**2,
        lambda z: (np.cos(np.sqrt(z)) - 1 + z / 2) / z**2,
        lambda z: z**2,
    ),
    "TAN": Polynomial(7, 1e-9, _QUARTER_PI**2, _of_root(np.tan), _weight_of_root(np.tan)),
    "ASIN": Polynomial(5, 1e-9, 0.25, _of_root(np.arcsin), _weight_of_root(np.arcsin)),
    "ATAN": Polynomial(10, 1e-9, 1.0, _of_root(np.arctan), _weight_of_root(np.arctan)),
    "ERF": Polynomial(
        6,
        1e-9,
        0.921875**2,
        lambda z: (1 - _erfc(np.sqrt(z))) / np.sqrt(z) - 1,
        lambda z: np.sqrt(z) / (1 - _erfc(np.sqrt(z))),
    ),
    "ERFC": Polynomial(
        7,
        0.921,
        3.93,
        lambda t: np.log2(_erfc(t)),
        lambda t: _erfc(t) * _LN2 / (1 - _erfc(t)),
    ),
    "ERFC_EXP2": Polynomial(
        5, -0.5, 0.5, lambda r: np.expm1(r * _LN2) / r, lambda r: r / np.exp2(r)
    ),
    "NORMAL": Polynomial(
        9,
        1e-3,
        6.2,
        lambda t: np.log2(_erfc(t * _SQRT_HALF)) / t,
        lambda t: t * _LN2 * (_erfc(t * _SQRT_HALF) / 2) ** 0.75,  # between both kinds of error
    ),
    "LOG2": Polynomial(
        5,
        1e-9,
        _RATIO**2,
        lambda z: 2 * np.arctanh(np.sqrt(z)) / np.sqrt(z) / _LN2,
        lambda z: np.ones_like(z),
        np.float64,
    ),
    "EXP2": Polynomial(
        7,
        -0.5,
        0.5,
        lambda r: np.expm1(r * _LN2) / r,
        lambda r: r / np.exp2(r),
        np.float64,
    ),
    "FP16_EXP": Polynomial(
        2,
        -_HALF_LN2,
        _HALF_LN2,
        lambda r: (np.expm1(r) - r) / r**2,
        lambda r: r**2 / np.exp(r),
        np.float16,
    ),
    "FP16_EXP2": Polynomial(
        3,
        -0.5,
        0.5,
        lambda r: np.expm1(r * _LN2) / r,
        lambda r: r / np.exp2(r),
        np.float16,
    ),
    "FP16_NORMAL": Polynomial(
        4,
        1e-3,
        3.9,
        lambda t: np.log2(_erfc(t * _SQRT_HALF)) / t,
        lambda t: t * _LN2 * (_erfc(t * _SQRT_HALF) / 2) ** 0.75,
        np.float16,
    ),
}


def _fitted(powers: Array, target: Array, weight: Array) -> Array:
    """Fit coefficients with the minimal maximum of the weighted error."""
    shares = np.ones(len(target))
    best, bound = np.zeros(powers.shape[1]), np.inf
    for _ in range(_ITERATIONS):
        rows = np.sqrt(shares) * np.abs(np.float64(weight))
        scale = np.abs(rows[:, None] * np.float64(powers)).max(axis=0)
        found, *_ = np.linalg.lstsq(
            rows[:, None] * np.float64(powers) / scale, rows * np.float64(target), rcond=None
        )
        found = found / scale
        errors = np.abs(weight * (powers @ found - target))
        if errors.max() < bound:
            best, bound = found, errors.max()
        shares *= np.float64(errors / errors.max()) + 1e-9
        shares /= shares.sum()
    return np.asarray(best, np.longdouble)


def coefficients(polynomial: Polynomial) -> tuple[list[float], float]:
    """Return the rounded coefficients, from the lowest power, and the maximum weighted error."""
    angles = np.pi * (np.arange(_GRID) + 0.5) / _GRID
    middle, half = (polynomial.high + polynomial.low) / 2, (polynomial.high - polynomial.low) / 2
    x = np.asarray(middle + half * np.cos(angles), np.longdouble)
    target, weight = polynomial.function(x), polynomial.weight(x)
    powers = x[:, None] ** (polynomial.power + np.arange(polynomial.count))
    rest = target
    rounded: list[float] = []
    for index in range(polynomial.count):
        first = _fitted(powers[:, index:], rest, weight)[0]
        value = polynomial.kind(first)
        rounded.append(float(value))
        rest = rest - powers[:, index] * value
    return rounded, float(np.abs(weight * rest).max())


def as_c(polynomial: Polynomial, values: list[float]) -> list[str]:
    """Return coefficients as constants of C."""
    if polynomial.kind is not np.float64:
        return [f"{value:.9g}F" for value in values]
    return [f"{value:.17g}" for value in values]


def main() -> None:
    """Print the polynomials."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help=f"of {' '.join(POLYNOMIALS)}")
    for name in parser.parse_args().names or POLYNOMIALS:
        polynomial = POLYNOMIALS[name]
        values, error = coefficients(polynomial)
        constants = ", ".join(as_c(polynomial, values))
        print(f"/* {name}: weighted error 2^{math.log2(error):.1f} */\n{constants}")


if __name__ == "__main__":
    main()
