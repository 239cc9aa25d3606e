"""The elementary functions of CPU kernels, against numpy's and the C library's in float64."""

from __future__ import annotations

import functools
import itertools
import math
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from opkit.toolchains.abi import ABIS, Abi
from opkit.toolchains.flags import EXACT
from tests.compiling import C_SOURCES, HOST, LANGUAGES, OPKIT, compile_c
from tests.compute.programs import CHECKED, Machine
from tests.marks import quick_first
from tests.repositories import ROOT

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]

SOURCE = C_SOURCES / "math_loops.c"
HEADER = OPKIT / "compute/math.h"
COUNT = 1 << 20
COUNT_IN_EMULATOR = 1 << 13
LIMITS = {"exp": 87, "sin": 3000, "cos": 3000, "tan": 3000}
"""Up to it, exp_fast and its like are right."""


def _elementwise(function: Callable[[float], float]) -> Callable[[Doubles], Doubles]:
    return lambda x: np.array([function(each) for each in x.tolist()])


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "exp": np.exp,
    "expm1": np.expm1,
    "log": np.log,
    "log1p": np.log1p,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "exp_fast": np.exp,
    "sin_fast": np.sin,
    "cos_fast": np.cos,
    "tan_fast": np.tan,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "tanh_fast": np.tanh,
    "erf": _elementwise(math.erf),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
}
ROWS: dict[str, Callable[[Any], Any]] = {
    "exp_row": np.exp,
    "sin_row": np.sin,
    "cos_row": np.cos,
    "tan_row": np.tan,
}
"""Functions of rows, each of which has three loops."""
MAX_ULP = {"sqrt": 0, "tanh_fast": 2}
"""Where it is not 1."""

AVX2 = ("-O2", "-mavx2", "-mfma")
MACHINES = {
    "host": Machine(HOST),
    "aarch64": Machine(ABIS["aarch64"], processor="cortex-a53"),
    "host-checked": Machine(HOST, CHECKED),
    "avx2": Machine(ABIS["x64"], AVX2, processor="max"),
    "armhf": Machine(ABIS["armhf"], processor="cortex-a7"),
    "riscv64": Machine(ABIS["riscv64"]),
}


class Program:
    """math_loops.c on a machine."""

    def __init__(self, machine: Machine, folder: Path) -> None:
        self.command = machine.command(SOURCE, folder)
        is_slow = machine.emulator or machine.flags == CHECKED
        self.count = COUNT_IN_EMULATOR if is_slow else COUNT

    def __call__(self, name: str, x: Floats) -> Floats:
        command = [*self.command, name]
        done = subprocess.run(command, input=x.tobytes(), capture_output=True, check=False)
        assert done.returncode == 0, (command, done.returncode, done.stderr)
        return np.frombuffer(done.stdout, np.float32)


@pytest.fixture(scope="module", params=quick_first(2, MACHINES))
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Program:
    """Return the program on a machine."""
    return Program(MACHINES[request.param], tmp_path_factory.mktemp("math"))


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Program:
    """Return the program on this machine."""
    return Program(MACHINES["host"], tmp_path_factory.mktemp("math"))


# Where functions overflow, underflow or change their formula; and numbers near to multiples of pi.
BOUNDARIES = [0, 0.26, 0.5, math.sqrt(0.5), 0.921875, 1, math.sqrt(2), 2, 3.93, 10, 16.6, 17.3]
BOUNDARIES += [18, 24, 30, 87.3, 88.7228, 89.4, 103.97, 104, 3000, 2.0**24, 2.0**45, 2.0**66]
BOUNDARIES += [2.0**87, 2.0**108, 2.0**-126, 2.0**-149, 2.0**127, math.inf]
BOUNDARIES += [k * math.log(2) / 2 for k in range(1, 32)] + [k * math.pi / 4 for k in range(1, 64)]
BOUNDARIES += [0.936517358, 1.04109704]  # where the rounding errors of erf and of atan add up
BOUNDARIES += [16367173 * 2.0**72]  # nearest to a multiple of pi / 2
BOUNDARIES += [1120.76318, 1493.04163, 55585040, 1.12455194e09]  # the largest errors of tan


@functools.cache
def arguments(count: int) -> Floats:
    """Return floats of every exponent, and the neighbors of BOUNDARIES, with both signs."""
    random = np.random.default_rng(24)
    bits = random.integers(0, 1 << 32, count, np.uint32)
    near = np.array(BOUNDARIES, np.float32).view(np.uint32)
    around = np.add.outer(near, np.arange(-8, 9, dtype=np.int64)).clip(0, 0x7F800001).ravel()
    ordinary = random.normal(0, 3, count // 4).astype(np.float32)
    boundaries = around.astype(np.uint32).view(np.float32)
    return np.concatenate([bits.view(np.float32), ordinary, boundaries, -boundaries])


def exact(name: str, x: Floats) -> Floats:
    """Return the floats nearest to the exact values."""
    with np.errstate(all="ignore"):
        return np.asarray((FUNCTIONS | ROWS)[name](x.astype(np.float64))).astype(np.float32)


def ulps(values: Floats, nearest: Floats) -> npt.NDArray[np.int64]:
    """Return distances in floats; huge where only one is a NaN, or the signs of zeros differ."""

    def order(floats: Floats) -> npt.NDArray[np.int64]:
        bits = floats.view(np.int32).astype(np.int64)
        return np.where(bits < 0, -(bits & 0x7FFFFFFF), bits)

    found = abs(order(values) - order(nearest))
    other_sign = (nearest == 0) & (values == 0) & (np.signbit(values) != np.signbit(nearest))
    nan = np.isnan(values) & np.isnan(nearest)
    odd = other_sign | (np.isnan(values) != np.isnan(nearest))
    return np.where(nan, 0, np.where(odd, 1 << 40, found))


def assert_near(name: str, x: Floats, values: Floats, nearest: Floats) -> None:
    distance = ulps(values, nearest)
    worst = int(distance.argmax())
    message = f"{name}({x[worst]!r}) = {values[worst]!r}, not {nearest[worst]!r}"
    assert distance[worst] <= MAX_ULP.get(name, 1), message


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_is_within_1_ulp(program: Program, name: str) -> None:
    x = arguments(program.count)
    function, _, form = name.partition("_")
    if form == "fast" and (limit := LIMITS.get(function)):
        keeps = ~np.isfinite(x) & (function != "exp")
        x = x[keeps | (np.abs(x) <= limit)]
    assert_near(name, x, program(name, x), exact(name, x))


@pytest.mark.parametrize("name", ROWS)
def test_row_is_within_1_ulp(program: Program, name: str) -> None:
    x = arguments(program.count)
    limit = LIMITS[name.removesuffix("_row")]
    near = np.linspace(limit, 1.1 * limit, 5, dtype=np.float32).repeat(256)  # a block each
    x = np.concatenate([near, -near, x, x[np.abs(x) <= limit]])
    assert_near(name, x, program(name, x), exact(name, x))


def test_exponential_has_the_same_result_in_every_row(program: Program) -> None:
    x = arguments(program.count)
    x = np.concatenate([x, x[np.abs(x) <= LIMITS["exp"]]])
    np.testing.assert_array_equal(program("exp_row", x), program("exp", x))


SPECIAL = [0, 1, 2, 3, 0.5, 1.5, 1e30, 2.0**-149, 3.4028235e38, 1 - 2.0**-24, 1 + 2.0**-23]
SPECIAL += [149, 150, 127, 128, 2.0**23 + 1, 2.0**23 - 0.5, 2.0**24 - 1, 2.0**24, math.inf]
SPECIAL += [math.nan]


def test_pow_has_special_values_of_c(program: Program) -> None:
    both = np.array([*SPECIAL, *(-value for value in SPECIAL)], np.float32)
    pairs = np.array([*itertools.product(both, both)], np.float32)
    with np.errstate(all="ignore"):
        nearest = np.power(*pairs.T.astype(np.float64)).astype(np.float32)
    values = program("pow", pairs.ravel())
    is_exact = np.isin(nearest, [0, 1, -1, np.inf, -np.inf]) | np.isnan(nearest)
    distance = ulps(values, nearest)
    wrong = distance > np.where(is_exact, 0, 1)
    found = [(*pairs[i], values[i], nearest[i]) for i in wrong.nonzero()[0]]
    assert not found


def test_pow_is_within_1_ulp(program: Program) -> None:
    random = np.random.default_rng(3)
    count = program.count // 4
    x = np.abs(random.integers(0, 0x7F800000, 3 * count, np.uint32).view(np.float32))
    x[count:] = np.exp(random.normal(0, 1, 2 * count))
    x[2 * count :] = 1 + (x[2 * count :] - 1) * 2.0**-20  # the hard cases
    logarithm = np.log2(x.astype(np.float64))
    with np.errstate(all="ignore"):
        y = (random.uniform(-160, 140, x.size) / logarithm).astype(np.float32)
        nearest = np.power(x.astype(np.float64), y.astype(np.float64)).astype(np.float32)
    assert_near("pow", x, program("pow", np.stack([x, y], 1).ravel()), nearest)


def test_exp_weight_is_exp_without_its_ends(program: Program) -> None:
    x = arguments(program.count)
    x = x[~(x > 88)]
    values = program("exp_weight", x)
    assert (values[x < -87.7] == 0).all()
    inside = ~(x < -87.6)
    assert_near("exp_weight", x[inside], values[inside], exact("exp", x[inside]))


def test_exp2_fast(program: Program) -> None:
    x = arguments(program.count)
    x = np.concatenate([x[~(x > 127)], np.linspace(-128, 127, 4096, dtype=np.float32)])
    values = program("exp2_fast", x)
    assert np.isnan(values[np.isnan(x)]).all()
    assert (values[x < -126.5] == 0).all()
    inside = x > -126.5
    assert ulps(values[inside], np.exp2(x[inside].astype(np.float64)).astype(np.float32)).max() <= 2


def test_normal_cdf(program: Program) -> None:
    x = arguments(program.count)
    values = program("normal_cdf", x)
    tail = np.array([math.erfc(-each * math.sqrt(0.5)) / 2 for each in x.tolist()])
    assert np.isnan(values[np.isnan(x)]).all()
    above = x >= 0
    assert ulps(values[above], tail[above].astype(np.float32)).max() <= 2
    assert (values[x < -6.2] == 0).all()
    limits = np.where(x < -4, 2.0**-31, np.where(x < -3, 2.0**-16, 2.0**-19) * tail)
    below = (x >= -6.2) & (x < 0)
    assert (np.abs(values.astype(np.float64) - tail)[below] <= limits[below]).all()


# ---- Properties ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sin", "tan", "asin", "atan", "sinh", "tanh", "erf", "expm1"])
def test_odd_functions_keep_signs(host: Program, name: str) -> None:
    x = arguments(1 << 16)
    x = x[~np.isnan(x)]
    if name == "expm1":  # not odd, but as flat at 0
        x = x[np.abs(x) < 1e-10]
    plus, minus = host(name, x), host(name, -x)
    is_number = ~np.isnan(plus)
    np.testing.assert_array_equal(plus, -minus)
    np.testing.assert_array_equal(np.signbit(plus)[is_number], ~np.signbit(minus)[is_number])


@pytest.mark.parametrize("name", ["cos", "cosh"])
def test_even_functions(host: Program, name: str) -> None:
    x = arguments(1 << 16)
    np.testing.assert_array_equal(host(name, x), host(name, -x))


@pytest.mark.parametrize("name", ["exp", "tanh", "erf", "sigmoid", "log", "atan"])
def test_growing_functions_fall_by_2_ulp_at_most(host: Program, name: str) -> None:
    x = np.sort(arguments(1 << 18))
    values = host(name, x[(x > 0) if name == "log" else ~np.isnan(x)])
    before, after = values[:-1], values[1:]
    falls = after < before
    assert (ulps(after[falls], before[falls]) <= 2).all()


def test_sigmoids_of_both_signs_have_sum_1(host: Program) -> None:
    x = np.linspace(-20, 20, 1 << 16, dtype=np.float32)
    total = host("sigmoid", x).astype(np.float64) + host("sigmoid", -x)
    assert np.abs(total - 1).max() <= 2.0**-23


# ---- Code ----------------------------------------------------------------------------------------

LOOPS = [*FUNCTIONS, "exp2_fast", "exp_weight", "normal_cdf", "pow"]
VECTORS: dict[str, tuple[Abi, tuple[str, ...], set[str]]] = {
    "sse2": (ABIS["x64"], (), set()),
    "avx2": (ABIS["x64"], AVX2, set()),
    "aarch64": (ABIS["aarch64"], (), set()),
    "rv64gcv": (ABIS["riscv64"], ("-mcpu=baseline_rv64+v",), {"pow"}),
    # NEON of 32-bit ARM flushes subnormals to zero, so that only loops that ask for it use it.
    "armhf": (ABIS["armhf"], (), set(LOOPS)),
}
"""Processor -> ABI, flags, and the functions that remain scalar there."""


@pytest.mark.slow
@pytest.mark.parametrize("name", VECTORS)
def test_loops_are_vectorized_without_calls(name: str, tmp_path: Path) -> None:
    abi, flags, scalar = VECTORS[name]
    assembly = tmp_path / "math.s"
    options = ("-O2", "-g0", "-S", "-fno-unroll-loops", "-DONLY_LOOPS", "-Rpass=loop-vectorize")
    unused = "-Wno-unused-command-line-argument"  # zig adds a -c of its own
    result = compile_c(assembly, SOURCE, *options, *flags, unused, abi=abi)
    assert result.returncode == 0, result.stderr
    # Of a row: the search for large angles, which has no arithmetic of floats, and two loops.
    loops = len(LOOPS) - len(scalar) + len(ROWS) * (1 if "sin" in scalar else 3)
    assert result.stderr.count("remark: vectorized loop") == loops, result.stderr
    calls = re.findall(r"^\s+(?:call\w*|bl|blx|jal)\s+(?!x0|zero).*$", assembly.read_text(), re.M)
    assert calls == []


@pytest.mark.parametrize(
    ("name", "fused"), [("aarch64", "fmla"), ("avx2", "vfmadd"), ("rv64gcv", "vfmadd")]
)
def test_math_is_fused_and_an_operators_own_arithmetic_is_not(
    name: str, fused: str, tmp_path: Path
) -> None:
    abi, flags, _ = VECTORS[name]
    found = {}
    for kind, include in (("math", '#include "opkit/compute/math.h"\n'), ("own", "")):
        result = "opkit_log(x[i])" if include else "x[i] * x[i] + 1.0F"
        source = tmp_path / f"{kind}.c"
        source.write_text(
            f"{include}void run(const float *x, float *y, int count);\n"
            "void run(const float *x, float *y, int count)\n"
            f"{{\n    for (int i = 0; i < count; i++) {{\n        y[i] = {result};\n    }}\n}}\n"
        )
        options = (*flags, "-O2", *EXACT, "-S", "-g0", "-Wno-unused-command-line-argument")
        assert compile_c(source.with_suffix(".s"), source, *options, abi=abi).returncode == 0
        found[kind] = re.findall(r"\bv?fn?m[ls]?[as]\w*", source.with_suffix(".s").read_text())
    assert any(each.startswith(fused) for each in found["math"])
    assert found["own"] == []


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("abi", quick_first(2, ABIS.values()), ids=lambda abi: abi.name)
def test_header_is_c_and_cxx(abi: Abi, language: str, tmp_path: Path) -> None:
    uses = "\n".join(f"    sum += opkit_{name}(x);" for name in FUNCTIONS)
    source = tmp_path / "uses.c"
    source.write_text(
        '#include "opkit/compute/math.h"\n#include <math.h>\n\nfloat all(float x);\n'
        f"float all(float x)\n{{\n    float sum = opkit_pow(x, fabsf(x));\n{uses}\n"
        "    return sum;\n}\n"
    )
    flags = ("-c", "-O2", "-Wconversion", "-Wdouble-promotion", "-Wshadow")
    result = compile_c(tmp_path / "uses.o", *flags, source, abi=abi, language=language)
    assert result.returncode == 0, result.stderr


def test_no_include_path_hides_the_c_library_header() -> None:
    """With -I.../opkit/compute, <math.h> would be this one."""
    folders = [path for path in (OPKIT, ROOT / "rknn_op") if path.is_dir()]
    texts = [
        path
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file() and path.suffix in (".py", ".mk", ".txt", ".cmake", ".in", "", ".json")
    ]
    assert len(texts) > 100
    pattern = re.compile(r"(-I|include_directories|CPPPATH)[^\n]*opkit/compute")
    found = [os.fspath(path) for path in texts if pattern.search(path.read_text(errors="replace"))]
    assert found == []


def test_polynomials_are_those_of_the_script() -> None:
    """Each number that benchmarks/math_polynomials.py prints is in a header."""
    from benchmarks.math_polynomials import POLYNOMIALS, as_c, coefficients

    text = HEADER.read_text() + HEADER.with_name("fp16.h").read_text()
    for name in ("SIN", "COSH", "FP16_EXP", "FP16_EXP2", "FP16_NORMAL"):  # the quick ones
        for number in as_c(POLYNOMIALS[name], coefficients(POLYNOMIALS[name])[0]):
            assert number.lstrip("-") in text, (name, number)
