"""The conversion between half and float that every CPU kernel uses, against numpy's."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from opkit.platforms import ABIS, Abi
from tests.zig import C_SOURCES, build_library, compile_c

Bits16 = npt.NDArray[np.uint16]
Bits32 = npt.NDArray[np.uint32]

SOURCE = C_SOURCES / "half_library.c"
ALL_HALVES: Bits16 = np.arange(1 << 16, dtype=np.uint16)


class HalfLibrary:
    """half.h, on arrays of bit patterns."""

    def __init__(self, path: Path, prefix: str) -> None:
        self._library = ctypes.CDLL(str(path))
        self._prefix = prefix
        self._library.flush_subnormals.restype = ctypes.c_float
        self._library.flush_subnormals.argtypes = (ctypes.c_int, ctypes.c_float)

    def to_floats(self, halves: Bits16) -> Bits32:
        floats = np.empty(halves.shape, np.uint32)
        self._convert("halves_to_floats", halves, floats)
        return floats

    def to_halves(self, floats: Bits32) -> Bits16:
        halves = np.empty(floats.shape, np.uint16)
        self._convert("floats_to_halves", floats, halves)
        return halves

    def flush_subnormals(self, on: bool, value: float) -> float:
        return float(self._library.flush_subnormals(on, value))

    def _convert(self, name: str, source: npt.NDArray[np.generic], result: object) -> None:
        assert isinstance(result, np.ndarray)
        function = getattr(self._library, self._prefix + name)
        contiguous = np.ascontiguousarray(source)
        function(
            contiguous.ctypes.data_as(ctypes.c_void_p),
            result.ctypes.data_as(ctypes.c_void_p),
            ctypes.c_size_t(source.size),
        )


@pytest.fixture(scope="module", params=["-O0", "-O2"])
def path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the library, also unoptimised, where zig makes undefined behaviour trap."""
    flag = request.param
    output = tmp_path_factory.mktemp("half") / f"half{flag}.so"
    checks = "-fno-sanitize=undefined" if flag == "-O2" else "-fsanitize-trap=undefined"
    return build_library(SOURCE, output, flag, checks)


@pytest.fixture(params=["", "single_"], ids=["arrays", "single"])
def half(request: pytest.FixtureRequest, path: Path) -> HalfLibrary:
    return HalfLibrary(path, request.param)


def float_bits(values: npt.ArrayLike) -> Bits32:
    return np.asarray(values, np.float32).view(np.uint32)


def numpy_floats(halves: Bits16) -> Bits32:
    """Convert as numpy does, but for signalling NaNs: IEEE 754 wants them quiet, numpy need not."""
    floats = halves.view(np.float16).astype(np.float32).view(np.uint32)
    return np.where((halves & 0x7FFF) > 0x7C00, floats | 0x00400000, floats).astype(np.uint32)


def numpy_halves(floats: Bits32) -> Bits16:
    """Convert as numpy does, but for NaNs: sign, quiet, and the upper bits of the payload."""
    values = floats.view(np.float32)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        halves = values.astype(np.float16).view(np.uint16)
    nans = (floats >> 16 & 0x8000) | 0x7E00 | (floats >> 13 & 0x3FF)
    return np.where(np.isnan(values), nans, halves).astype(np.uint16)


@pytest.mark.parametrize(
    ("bits", "value"),
    [
        (0x0000, 0.0),
        (0x8000, -0.0),
        (0x0001, 2.0**-24),
        (0x83FF, -1023 * 2.0**-24),
        (0x0400, 2.0**-14),
        (0x3C00, 1.0),
        (0x3C01, 1.0 + 2.0**-10),
        (0xC000, -2.0),
        (0x7BFF, 65504.0),
        (0x7C00, np.inf),
        (0xFC00, -np.inf),
    ],
)
def test_value_of_a_half(half: HalfLibrary, bits: int, value: float) -> None:
    assert half.to_floats(np.array([bits], np.uint16))[0] == float_bits(value)
    assert half.to_halves(float_bits([value]))[0] == bits


@pytest.mark.parametrize(
    ("value", "bits"),
    [
        (1.0 + 2.0**-11, 0x3C00),  # a tie: to the even one below
        (1.0 + 3 * 2.0**-11, 0x3C02),  # a tie: to the even one above
        (1.0 + 2.0**-11 + 2.0**-23, 0x3C01),  # just above a tie
        (1 / 3, 0x3555),
        (65519.996, 0x7BFF),  # the largest float that is not rounded to infinity
        (65520.0, 0x7C00),
        (-1e30, 0xFC00),
        (2.0**-25, 0x0000),  # a tie between zero and the smallest subnormal
        (-(2.0**-25), 0x8000),
        (2.0**-25 * (1 + 2.0**-23), 0x0001),
        (3 * 2.0**-25, 0x0002),
        (2.0**-14 - 2.0**-25, 0x0400),  # a tie between the largest subnormal and a normal
        (2.0**-14 - 2.0**-24, 0x03FF),
        (1e-45, 0x0000),  # a subnormal float
    ],
)
def test_float_is_rounded_to_the_nearest_half(half: HalfLibrary, value: float, bits: int) -> None:
    assert half.to_halves(float_bits([value]))[0] == bits


def test_every_half_becomes_its_float_and_comes_back(half: HalfLibrary) -> None:
    floats = half.to_floats(ALL_HALVES)
    np.testing.assert_array_equal(floats, numpy_floats(ALL_HALVES))
    nan = (ALL_HALVES & 0x7FFF) > 0x7C00
    np.testing.assert_array_equal(
        half.to_halves(floats), np.where(nan, ALL_HALVES | 0x0200, ALL_HALVES)
    )


def test_quiet_nans_are_numpy_s_own(half: HalfLibrary) -> None:
    quiet = ALL_HALVES[(ALL_HALVES & 0x7E00) == 0x7E00]
    floats = quiet.view(np.float16).astype(np.float32)
    np.testing.assert_array_equal(half.to_floats(quiet), floats.view(np.uint32))
    np.testing.assert_array_equal(half.to_halves(floats.view(np.uint32)), quiet)


def test_floats_at_and_around_every_half_and_every_midpoint(half: HalfLibrary) -> None:
    positive = ALL_HALVES[:0x7C00].view(np.float16).astype(np.float32)
    # The midpoints, exact in float; the last one is where infinity begins.
    following = np.append(positive[1:], np.float32(65536))
    places = np.concatenate([positive, (positive + following) / 2])
    around = [
        places,
        np.nextafter(places, np.float32(np.inf)),
        np.nextafter(places, np.float32(-np.inf)),
    ]
    floats = np.concatenate([*around, *(-values for values in around)]).view(np.uint32)
    np.testing.assert_array_equal(half.to_halves(floats), numpy_halves(floats))


def test_random_floats(half: HalfLibrary) -> None:
    random = np.random.default_rng(1)
    anything = random.integers(0, 1 << 32, 1 << 20, np.uint32)
    # Most patterns are far out of a half's range; these are in it, and in its subnormals.
    in_range = random.integers(0x38000000, 0x47900000, 1 << 20, np.uint32)
    subnormal = random.integers(0x32000000, 0x38900000, 1 << 20, np.uint32)
    nans = random.integers(0x7F800001, 0x80000000, 1 << 16, np.uint32)
    signed = np.concatenate([in_range, subnormal, nans]) | (
        random.integers(0, 2, (2 << 20) + (1 << 16), np.uint32) << 31
    ).astype(np.uint32)
    floats = np.concatenate([anything, signed]).astype(np.uint32)
    np.testing.assert_array_equal(half.to_halves(floats), numpy_halves(floats))


@pytest.fixture
def flushing(half: HalfLibrary) -> Iterator[HalfLibrary]:
    """Return the library while the processor flushes subnormal floats to zero, as NEON does."""
    smallest_normal = float(np.finfo(np.float32).tiny)
    assert half.flush_subnormals(False, smallest_normal) == smallest_normal / 2
    assert half.flush_subnormals(True, smallest_normal) == 0
    yield half
    half.flush_subnormals(False, 0)


def test_results_do_not_depend_on_flushing(flushing: HalfLibrary) -> None:
    subnormal = np.random.default_rng(2).integers(0, 0x39000000, 1 << 18, np.uint32)
    floats = flushing.to_floats(ALL_HALVES)
    halves = flushing.to_halves(subnormal)
    flushing.flush_subnormals(False, 0)  # numpy shall not be flushed
    np.testing.assert_array_equal(floats, numpy_floats(ALL_HALVES))
    np.testing.assert_array_equal(halves, numpy_halves(subnormal))


# On their own, and as part of what reads and writes tensors.
@pytest.mark.parametrize("source", ["half_library.c", "device_support.c"])
@pytest.mark.parametrize("abi", ABIS.values(), ids=lambda abi: abi.name)
def test_loops_become_vector_code(
    abi: Abi, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Of a source that zig finds in its cache, it says nothing.
    monkeypatch.setenv("ZIG_GLOBAL_CACHE_DIR", str(tmp_path / "cache"))
    flags = ("-O2", "-c", "-fno-sanitize=undefined", "-Rpass=loop-vectorize")
    result = compile_c(C_SOURCES / source, tmp_path / "half.o", *flags, abi=abi)
    assert result.returncode == 0, result.stderr
    vectorised = re.findall(r"half\.h:\d+:\d+: remark: vectorized loop", result.stderr)
    assert len(vectorised) == 2, result.stderr
