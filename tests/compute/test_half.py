"""The conversion between half and float in every CPU kernel, against numpy's."""

from __future__ import annotations

import functools
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from opkit.toolchains.abi import ABIS
from tests.compiling import C_SOURCES, HOST, compile_c
from tests.compute.programs import CHECKED, Machine
from tests.marks import quick_first

Bits16 = npt.NDArray[np.uint16]
Bits32 = npt.NDArray[np.uint32]

SOURCE = C_SOURCES / "half_program.c"
ALL_HALVES: Bits16 = np.arange(1 << 16, dtype=np.uint16)


PORTABLE = "-DOPKIT_PORTABLE_HALF"
MACHINES = {
    "host": Machine(HOST),
    "aarch64": Machine(ABIS["aarch64"], processor="cortex-a53"),
    "host-checked": Machine(HOST, CHECKED),
    "portable": Machine(HOST, (*Machine.flags, PORTABLE)),
    "portable-checked": Machine(HOST, (*CHECKED, PORTABLE)),
    # Intel's last processor without F16C.
    "x64-without-f16c": Machine(ABIS["x64"], processor="Nehalem"),
    "armhf": Machine(ABIS["armhf"], processor="cortex-a7"),
}


@dataclass(frozen=True)
class Half:
    """half.h, on arrays of bit patterns; `way` is an argument of half_program.c."""

    command: list[str]
    way: str

    def to_floats(self, halves: Bits16, *options: str) -> Bits32:
        return np.frombuffer(self._run("to_floats", halves.tobytes(), options), np.uint32)

    def to_halves(self, floats: Bits32, *options: str) -> Bits16:
        return np.frombuffer(self._run("to_halves", floats.tobytes(), options), np.uint16)

    def _run(self, direction: str, operand: bytes, options: tuple[str, ...]) -> bytes:
        command = [*self.command, self.way, direction, *options]
        result = subprocess.run(command, input=operand, capture_output=True, check=False)
        assert result.returncode == 0, (command, result.returncode, result.stderr)
        return result.stdout


@pytest.fixture(scope="module", params=quick_first(2, MACHINES))
def command(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return the command that starts the program on a machine."""
    return MACHINES[request.param].command(SOURCE, tmp_path_factory.mktemp("half"))


@pytest.fixture(params=["arrays", "single", "in_place"])
def half(request: pytest.FixtureRequest, command: list[str]) -> Half:
    return Half(command, request.param)


def float_bits(values: npt.ArrayLike) -> Bits32:
    return np.asarray(values, np.float32).view(np.uint32)


def numpy_floats(halves: Bits16) -> Bits32:
    """Convert as numpy does, but quieten signalling NaNs, as IEEE 754 requires."""
    floats = halves.view(np.float16).astype(np.float32).view(np.uint32)
    return np.where((halves & 0x7FFF) > 0x7C00, floats | 0x00400000, floats).astype(np.uint32)


def numpy_halves(floats: Bits32) -> Bits16:
    """Convert as numpy does, but make NaNs quiet with sign and upper bits of the payload."""
    values = floats.view(np.float32)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        halves = values.astype(np.float16).view(np.uint16)
    nans = (floats >> 16 & 0x8000) | 0x7E00 | (floats >> 13 & 0x3FF)
    return np.where(np.isnan(values), nans, halves).astype(np.uint16)


VALUES = [
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
]


def test_half_value(half: Half) -> None:
    bits = np.array([bits for bits, _ in VALUES], np.uint16)
    floats = float_bits([value for _, value in VALUES])
    np.testing.assert_array_equal(half.to_floats(bits), floats)
    np.testing.assert_array_equal(half.to_halves(floats), bits)


ROUNDED = [
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
]


def test_float_rounds_to_nearest_half(half: Half) -> None:
    floats = float_bits([value for value, _ in ROUNDED])
    np.testing.assert_array_equal(half.to_halves(floats), [bits for _, bits in ROUNDED])


def test_half_round_trip(half: Half) -> None:
    floats = half.to_floats(ALL_HALVES)
    np.testing.assert_array_equal(floats, numpy_floats(ALL_HALVES))
    nan = (ALL_HALVES & 0x7FFF) > 0x7C00
    np.testing.assert_array_equal(
        half.to_halves(floats), np.where(nan, ALL_HALVES | 0x0200, ALL_HALVES)
    )


def test_quiet_nans_match_numpy(half: Half) -> None:
    quiet = ALL_HALVES[(ALL_HALVES & 0x7E00) == 0x7E00]
    floats = quiet.view(np.float16).astype(np.float32)
    np.testing.assert_array_equal(half.to_floats(quiet), floats.view(np.uint32))
    np.testing.assert_array_equal(half.to_halves(floats.view(np.uint32)), quiet)


def test_floats_around_halves_and_midpoints(half: Half) -> None:
    positive = ALL_HALVES[:0x7C00].view(np.float16).astype(np.float32)
    # The midpoints, exact in float; the last one rounds to infinity.
    following = np.append(positive[1:], np.float32(65536))
    places = np.concatenate([positive, (positive + following) / 2])
    around = [
        places,
        np.nextafter(places, np.float32(np.inf)),
        np.nextafter(places, np.float32(-np.inf)),
    ]
    floats = np.concatenate([*around, *(-values for values in around)]).view(np.uint32)
    np.testing.assert_array_equal(half.to_halves(floats), numpy_halves(floats))


@functools.cache
def floats_of_all_kinds() -> tuple[Bits32, Bits16]:
    """Return floats, and the halves nearest to them."""
    random = np.random.default_rng(1)
    ties = [0, 1, 0xFFF, 0x1000, 0x1001, 0x7FFFFF]
    fractions = np.concatenate([ties, random.integers(0, 1 << 23, 58)])
    exponents = np.add.outer(np.arange(1 << 9) << 23, fractions).ravel()
    anything = random.integers(0, 1 << 32, 10**7, np.uint32)
    # Most bit patterns are out of a half's range; these are in it, and in its subnormals.
    in_range = random.integers(0x38000000, 0x47900000, 1 << 20, np.uint32)
    subnormal = random.integers(0x32000000, 0x38900000, 1 << 20, np.uint32)
    nans = random.integers(0x7F800001, 0x80000000, 1 << 16, np.uint32)
    signed = np.concatenate([in_range, subnormal, nans])
    signed ^= random.integers(0, 2, signed.size, np.uint32) << 31
    floats = np.concatenate([exponents, anything, signed]).astype(np.uint32)
    return floats, numpy_halves(floats)


@pytest.mark.slow
def test_random_floats(half: Half) -> None:
    floats, halves = floats_of_all_kinds()
    np.testing.assert_array_equal(half.to_halves(floats), halves)


@pytest.mark.parametrize("count", [*range(10), 15, 17, 1001])
def test_any_element_count(half: Half, count: int) -> None:
    halves = np.random.default_rng(count).integers(0, 1 << 16, count, np.uint16)
    floats = half.to_floats(halves)
    np.testing.assert_array_equal(floats, numpy_floats(halves))
    np.testing.assert_array_equal(half.to_halves(floats), numpy_halves(floats))


def test_results_ignore_flush_to_zero(half: Half) -> None:
    subnormal = np.random.default_rng(2).integers(0, 0x39000000, 1 << 18, np.uint32)
    np.testing.assert_array_equal(half.to_floats(ALL_HALVES, "flush"), numpy_floats(ALL_HALVES))
    np.testing.assert_array_equal(half.to_halves(subnormal, "flush"), numpy_halves(subnormal))


def test_f16c_is_used_if_available(request: pytest.FixtureRequest, command: list[str]) -> None:
    machine = MACHINES[request.node.callspec.params["command"]]
    flags = set(re.findall(r"\w+", Path("/proc/cpuinfo").read_text()))
    is_native = machine.abi is HOST and machine.processor is None
    expected = is_native and PORTABLE not in machine.flags and "f16c" in flags
    result = subprocess.run([*command, "uses_f16c"], capture_output=True, check=True)
    assert result.stdout == (b"yes" if expected else b"no")


# Instructions that convert four or eight elements at once.
VECTOR_INSTRUCTIONS = {
    "x64": (r"vcvtph2ps\s.*%ymm", r"vcvtps2ph\s.*%ymm"),
    "aarch64": (r"fcvtl2\s", r"fcvtn2\s"),
    "armhf": (r"vcvt\.f32\.f16\s+q", r"vcvt\.f16\.f32\s+d"),
}
"""ABI -> instructions, where every processor of the ABI has them."""


# On their own, and in the functions that read and write tensors, which are compiled for size.
@pytest.mark.slow
@pytest.mark.parametrize("source", ["half_program.c", "device_support.c"])
@pytest.mark.parametrize("name", VECTOR_INSTRUCTIONS)
def test_loops_are_vectorized(name: str, source: str, tmp_path: Path) -> None:
    abi = ABIS[name]
    assembly = tmp_path / "half.s"
    # zig adds a -c of its own, and the compiler warns that it is unused.
    flags = ("-O2", "-g0", "-S", "-Wno-unused-command-line-argument")
    result = compile_c(assembly, C_SOURCES / source, *flags, abi=abi)
    assert result.returncode == 0, result.stderr
    # A label and its code up to the next label; a loop jumps to its own label.
    _, *parts = re.split(r"^([.\w]+):", assembly.read_text(), flags=re.MULTILINE)
    blocks = zip(parts[::2], parts[1::2], strict=True)
    loops = [code for label, code in blocks if re.search(rf"\s[bj]\S*\s+{label}\b", code)]
    for instruction in VECTOR_INSTRUCTIONS[abi.name]:
        assert any(re.search(instruction, loop) for loop in loops), instruction
