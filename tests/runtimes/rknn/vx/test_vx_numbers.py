"""Elements of the VX emulator: rounding, saturation and NaN of each type, against numpy."""

from __future__ import annotations

import math
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from opkit.runtimes.invocation import Array
from tests.compiling import C_SOURCES, OPKIT, build

# As in opkit/opencl/prelude/shared.h.
TYPES = (
    *("float32", "float16", "int32", "int16", "int8", "uint32", "uint16", "uint8"),
    *("int64", "uint64", "float64"),
)
ROUNDINGS: tuple[Callable[[float], float], ...] = (math.trunc, math.ceil, round, math.floor)
TOWARD_ZERO, UP, NEAREST, DOWN = range(4)

WHOLE = [0.0, 0.5, 1.5, 2.5, 0.75, 126.5, 127.5, 128.0, 128.5, 254.5, 255.5, 256.0, 32766.5]
WHOLE += [32767.5, 32768.0, 65534.5, 65535.5, 65536.0, 1e6 + 0.5, 2.0**31 - 1, 2.0**31 - 0.5]
WHOLE += [2.0**31, 2.0**32 - 0.5, 2.0**32, 2.0**32 + 77, 2.0**53, 2.0**62]
VALUES = [*WHOLE, *(-value for value in WHOLE)]
REALS = [0.0, 1.0, 1 + 2**-11, 1 + 3 * 2**-11, 1 + 2**-24, 1 + 3 * 2**-24, 0.1, 1e-3, 3.14159]
REALS += [2.0**-24, 1.5 * 2**-24, 2.0**-25, 1.5 * 2**-25, 2.0**-14, 2.0**-14 - 2.0**-26]
REALS += [65504.0, 65519.0, 65520.0, 65535.0, 65536.0, 1e6, math.inf]
REALS = [*REALS, *(-value for value in REALS)]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("numbers")
    sources = (C_SOURCES / "vx_numbers.c", OPKIT / "opencl/runtime/numbers.c")
    return build(folder / "numbers", *sources, "-Wno-reserved-identifier", "-lm")


def stored(
    program: Path, dtype: str, rounding: int, saturates: bool, values: list[float]
) -> tuple[Array, list[float]]:
    """Return the elements after storing values, and the numbers loaded from them."""
    lines = "".join(
        f"{TYPES.index(dtype)} {rounding} {int(saturates)} {value.hex()}\n" for value in values
    )
    run = subprocess.run([program], input=lines, capture_output=True, text=True, check=True)
    rows = [line.split() for line in run.stdout.splitlines()]
    bits = np.array([int(row[0]) for row in rows], np.uint64)
    size = np.dtype(dtype).itemsize
    assert not (bits >> np.uint64(8 * size - 1) >> np.uint64(1)).any(), "it wrote too many bytes"
    elements = bits.view(np.uint8).reshape(-1, 8)[:, :size].copy().view(dtype).ravel()
    return elements, [float.fromhex(row[1]) for row in rows]


def whole(value: float, dtype: str, rounding: int, saturates: bool) -> int:
    """Return the element of a whole-number type; without saturation, the low bits."""
    limits = np.iinfo(dtype)
    number = int(ROUNDINGS[rounding](value))
    if saturates:
        return max(int(limits.min), min(int(limits.max), number))
    modulus = int(limits.max) - int(limits.min) + 1
    number %= modulus
    return number - modulus if number > limits.max else number


@pytest.mark.parametrize("dtype", [name for name in TYPES if "int" in name])
def test_whole_numbers(program: Path, dtype: str) -> None:
    for rounding in range(4):
        for saturates in (False, True):
            elements, loaded = stored(program, dtype, rounding, saturates, VALUES)
            expected = [whole(value, dtype, rounding, saturates) for value in VALUES]
            assert elements.tolist() == expected
            assert loaded == [float(number) for number in expected]


@pytest.mark.parametrize("dtype", [name for name in TYPES if "int" in name])
def test_nan_and_infinity_as_whole_numbers(program: Path, dtype: str) -> None:
    elements, _ = stored(program, dtype, NEAREST, True, [math.nan, math.inf, -math.inf])
    limits = np.iinfo(dtype)
    assert elements.tolist() == [0, limits.max, limits.min]
    elements, _ = stored(program, dtype, NEAREST, False, [math.nan, math.inf, -math.inf])
    assert elements.tolist() == [0, 0, 0]


def test_whole_numbers_beyond_64_bits(program: Path) -> None:
    values = [-(2.0**63), -(2.0**63) - 2**11, 2.0**63, 2.0**64 - 2**11, 2.0**64]
    elements, _ = stored(program, "int64", NEAREST, False, values)
    assert elements.tolist() == [-(2**63), 0, -(2**63), -(2**11), 0]
    elements, _ = stored(program, "uint64", NEAREST, False, values)
    assert elements.tolist() == [2**63, 0, 2**63, 2**64 - 2**11, 0]


def directed(value: float, dtype: str, rounding: int) -> float:
    """Return the nearest element, or the next one in the direction of rounding."""
    with np.errstate(over="ignore"):
        nearest = np.array(value, dtype)
    too_low, too_high = float(nearest) < value, float(nearest) > value
    up = too_low and (rounding == UP or (rounding == TOWARD_ZERO and value < 0))
    down = too_high and (rounding == DOWN or (rounding == TOWARD_ZERO and value > 0))
    target = np.array(math.inf if up else -math.inf, dtype)
    with np.errstate(over="ignore"):
        return float(np.nextafter(nearest, target)) if up or down else float(nearest)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("rounding", range(4))
def test_floats(program: Path, dtype: str, rounding: int) -> None:
    values = [*REALS, 2.0**127 * 1.9999999, 1e39] if dtype == "float32" else REALS
    elements, loaded = stored(program, dtype, rounding, False, values)
    expected = [directed(value, dtype, rounding) for value in values]
    assert [float(each).hex() for each in elements] == [each.hex() for each in expected]
    assert [each.hex() for each in loaded] == [each.hex() for each in expected]


def test_only_halves_saturate(program: Path) -> None:
    values = [65519.0, 65520.0, 1e6, math.inf, -math.inf]
    elements, _ = stored(program, "float16", NEAREST, True, values)
    assert elements.tolist() == [65504, 65504, 65504, 65504, -65504]
    elements, _ = stored(program, "float32", NEAREST, True, [math.inf])
    assert elements.tolist() == [math.inf]


@pytest.mark.parametrize(("dtype", "bits"), [("float16", 0x7E00), ("float32", 0x7FC00000)])
def test_nan_of_floats(program: Path, dtype: str, bits: int) -> None:
    elements, loaded = stored(program, dtype, NEAREST, True, [math.nan])
    assert elements.view(f"uint{8 * elements.itemsize}").tolist() == [bits]
    assert math.isnan(loaded[0])


def test_every_half_is_loaded_and_stored(program: Path) -> None:
    halves = np.arange(2**16, dtype=np.uint16).view(np.float16)
    numbers = halves[np.isfinite(halves)]
    elements, loaded = stored(program, "float16", NEAREST, False, numbers.astype(float).tolist())
    assert elements.tobytes() == numbers.tobytes()
    assert np.array(loaded).tobytes() == numbers.astype(float).tobytes()


def test_lanes_and_halves(program: Path) -> None:
    run = subprocess.run([program, "lanes"], capture_output=True, text=True, check=True)
    lanes, *halves = run.stdout.splitlines()
    assert lanes == "3 0 -1 300 -32768 0"
    assert [[float.fromhex(word) for word in line.split()] for line in halves] == [
        [number, number] for number in (1 + 2**-9, 65504, math.inf, -(2.0**-24))
    ]


def test_doubles_stay(program: Path) -> None:
    elements, loaded = stored(program, "float64", TOWARD_ZERO, True, VALUES)
    assert elements.tolist() == loaded == VALUES
