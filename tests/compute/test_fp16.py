"""Arithmetic of halves: `fp16_math` in op.yml, and the functions of fp16.h on all halves."""

from __future__ import annotations

import math
import os
import subprocess
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from opkit.files.source_check import idle_keys, missing_half_function
from opkit.runtimes import parse
from opkit.toolchains.abi import ABIS
from opkit.toolchains.flags import EXACT, optimization
from tests.check.target_repositories import need
from tests.compiling import C_SOURCES, LANGUAGES, build, compile_c
from tests.compute.programs import Machine
from tests.elementwise.loops import files
from tests.files.texts import INCLUDES, once_only_files
from tests.repositories import LIBRARY, ROOT, generate

ABI = ABIS["aarch64"]
FLAGS = (*optimization("aarch64", "zig"), *EXACT)
FP16, WITHOUT = (Machine(ABI, FLAGS, processor) for processor in ("max", "cortex-a53"))
HALVES = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
EXACT_HALVES = HALVES.astype(np.float64)

Doubles = npt.NDArray[np.float64]


def normal_cdf(x: Doubles) -> Doubles:
    return np.array([math.erfc(-each * math.sqrt(0.5)) / 2 for each in x.tolist()])


def gelu_by_tanh(x: Doubles) -> Doubles:
    found: Doubles = 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return found


with np.errstate(all="ignore"):
    VALUES: dict[str, Doubles] = {
        "exp": np.exp(EXACT_HALVES),
        "sigmoid": 1 / (1 + np.exp(-EXACT_HALVES)),
        "tanh": np.tanh(EXACT_HALVES),
        "normal_cdf": normal_cdf(EXACT_HALVES),
        "Mish": EXACT_HALVES * np.tanh(np.logaddexp(0, EXACT_HALVES)),
        "Gelu": EXACT_HALVES * normal_cdf(EXACT_HALVES),
        "Gelu, tanh": gelu_by_tanh(EXACT_HALVES),
    }
"""Name in docs/cpu.md -> the exact values for all halves."""


def documented(name: str) -> tuple[str, str]:
    """Return the maximum errors of a function in docs/cpu.md: of x >= 0 in ulp, of x < 0."""
    rows = [line.split("|") for line in (ROOT / "docs/cpu.md").read_text().splitlines()]
    (found,) = [row for row in rows if len(row) == 5 and row[1].strip() == f"{name}, in halves"]
    return found[2].strip(), found[3].strip()


def errors(results: npt.NDArray[np.float16], exact: Doubles) -> tuple[str, str]:
    """Return the maximum errors: of x >= 0 in ulp, of x < 0 absolute, in units of 2^-11."""
    with np.errstate(all="ignore"):
        nearest = exact.astype(np.float16)
        np.testing.assert_array_equal(np.isnan(results), np.isnan(nearest))
        ulp = np.abs(_order(results) - _order(nearest))
        difference = np.abs(results.astype(np.float64) - exact)
    right = ~np.isnan(nearest) & (HALVES >= 0)
    left = np.isfinite(difference) & (HALVES < 0)
    return str(ulp[right].max()), f"{difference[left].max() * 2048:.1f}"


def _order(halves: npt.NDArray[np.float16]) -> npt.NDArray[np.int32]:
    bits = halves.view(np.int16).astype(np.int32)
    return np.where(bits < 0, -0x8000 - bits, bits)


def run(command: list[str], given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(command, input=given, capture_output=True, check=False)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return the command of fp16_loops.c on a processor with arithmetic of halves."""
    return FP16.command(C_SOURCES / "fp16_loops.c", tmp_path_factory.mktemp("fp16"))


@pytest.mark.parametrize("name", ["exp", "sigmoid", "tanh", "normal_cdf"])
def test_errors_on_all_halves(program: list[str], name: str) -> None:
    done = run([*program, name])
    assert done.returncode == 0
    assert errors(np.frombuffer(done.stdout, np.float16), VALUES[name]) == documented(name)


def test_processor_without_halves(program: list[str]) -> None:
    assert run([*WITHOUT.emulator, program[-1], "exp"]).returncode == 3


@pytest.mark.parametrize("language", LANGUAGES)
def test_header_has_no_warnings(tmp_path: Path, language: str) -> None:
    flags = ("-c", "-O2", "-Wconversion", "-Wdouble-promotion", "-Wshadow")
    source = C_SOURCES / "fp16_loops.c"
    done = compile_c(tmp_path / "loops.o", *flags, source, abi=ABI, language=language)
    assert done.returncode == 0, done.stderr


def test_gcc_computes_in_floats(tmp_path: Path) -> None:
    """It would compute one half at a time."""
    gcc = need("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu")
    source = tmp_path / "uses.c"
    source.write_text(
        '#define OPKIT_FP16_MATH\n#include "opkit/compute/fp16.h"\n'
        "#if defined(OPKIT_FP16)\n#error halves\n#endif\nextern int nothing;\n"
    )
    strict = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{ROOT}"]
    done = run([gcc, *strict, "-c", str(source), "-o", str(tmp_path / "uses.o")])
    assert done.returncode == 0, done.stderr


CALL = """\
#define OPKIT_FP16_MATH
#include <stdio.h>

#include "{header}"

int main(void)
{{
    static float x[1 << 16], y[1 << 16];
    struct {lower}_inputs inputs = {{0}};
    struct {lower}_outputs outputs = {{0}};
    const struct {lower}_params params = {{{params}}};

    inputs.x.type = outputs.y.type = OPKIT_FLOAT32;
    inputs.x.rank = outputs.y.rank = 1;
    inputs.x.shape[0] = outputs.y.shape[0] = inputs.x.size = outputs.y.size = 1 << 16;
    inputs.x.float32 = x;
    outputs.y.float32 = y;
    if (fread(x, sizeof x, 1, stdin) != 1) {{
        return 1;
    }}
    return {lower}_compute(&inputs, &params, &outputs{table}) != NULL ||
           fwrite(y, sizeof y, 1, stdout) != 1;
}}
"""


@pytest.mark.parametrize(
    ("name", "operator", "params", "table"),
    [
        ("Mish", "Mish", "0", ", NULL"),
        ("Gelu", "Gelu", '"none"', ""),
        ("Gelu, tanh", "Gelu", '"tanh"', ""),
    ],
)
def test_operators(name: str, operator: str, params: str, table: str, tmp_path: Path) -> None:
    """The same program computes in floats on a processor without arithmetic of halves."""
    own = LIBRARY[operator]
    spec = parse(f"{own.text}\nfp16_math: true\n")
    texts = {path: data.decode() for path, data in own.files(spec).items() if path.endswith(".h")}
    folder = files(tmp_path, spec, texts)
    source = folder / "call.c"
    source.write_text(
        CALL.format(header=spec.compute_header, lower=spec.lower, params=params, table=table)
    )
    target = [f"--target={ABI.triple.replace('gnu', 'musl')}", "-static", "-s"]
    includes = [*(f"-I{folder / name}" for name in INCLUDES), "-Wno-unused-function"]
    built = str(build(folder / "call", *target, *FLAGS, *includes, source, "-lm", abi=ABI))
    given = HALVES.astype(np.float32).tobytes()
    halves, floats = (
        np.frombuffer(run([*machine.emulator, built], given).stdout, np.float32)
        for machine in (FP16, WITHOUT)
    )
    np.testing.assert_array_equal(halves, halves.astype(np.float16))
    assert errors(halves.astype(np.float16), VALUES[name]) == documented(name)
    right = np.isfinite(VALUES[name]) & (np.abs(EXACT_HALVES) > 2**-14)
    np.testing.assert_allclose(floats[right], VALUES[name][right], rtol=1e-6, atol=4e-7)


def test_math_without_halves(tmp_path: Path) -> None:
    """A new elementwise operator has the function; without it, `scons` asks for it."""
    description = DESCRIPTION.format(elementwise="elementwise: true\n")
    spec = parse(description)
    text = once_only_files(spec)["tenth_scalar.h"]
    scalar = tmp_path / "tenth_scalar.h"
    scalar.write_text(text)
    assert missing_half_function(tmp_path, spec) == []
    scalar.write_text(text.replace("tenth_of_half", "other"))
    (complaint,) = missing_half_function(tmp_path, spec)
    assert str(complaint) == (
        "tenth_scalar.h: `fp16_math` in op.yml needs tenth_of_half; add `OPKIT_FP16_INLINE "
        "opkit_fp16 tenth_of_half(opkit_fp16 x, const struct tenth_params *params)` inside "
        "`#if defined(OPKIT_FP16)`, see include/opkit/compute/fp16.h"
    )
    compute = parse(DESCRIPTION.format(elementwise=""))
    (tmp_path / "tenth_compute.h").write_text("")
    (note,) = idle_keys(tmp_path, compute)
    assert (note.severity, note.message) == (
        "note",
        "`fp16_math` in op.yml has no effect: the math has no OPKIT_FP16",
    )
    (tmp_path / "tenth_compute.h").write_text("#if defined(OPKIT_FP16)\n#endif\n")
    assert idle_keys(tmp_path, compute) == []


@pytest.mark.slow
@pytest.mark.nightly
def test_check_of_the_board_computes_in_halves(tmp_path: Path) -> None:
    """The same cases hold on the PC, in floats, and not on the board."""
    repository = generate(tmp_path, DESCRIPTION.format(elementwise="elementwise: true\n"))
    (repository.path / "tenth_scalar.h").write_text(TENTH)
    (repository.path / "tenth_reference.py").write_text(REFERENCE)
    path = os.environ["PATH"]
    repository.scons("check", "target=x64", path=path)
    board = repository.scons("check", "target=rk3588", path=path, check=False)
    assert board.returncode != 0
    assert "aarch64" in board.stdout, board.stdout


DESCRIPTION = """\
name: Tenth
runtimes: [rknn2]
{elementwise}fp16_math: true
inputs: {{x: {{type: VX_TYPE_TENSOR}}}}
outputs: {{y: {{type: VX_TYPE_TENSOR}}}}
"""
TENTH = """\
#include "generated/tenth.h"
#include "include/opkit/compute/fp16.h"

static inline float tenth_of(float x, const struct tenth_params *params)
{
    (void)params;

    return x * 0.1F;
}

#if defined(OPKIT_FP16)
OPKIT_FP16_INLINE opkit_fp16 tenth_of_half(opkit_fp16 x, const struct tenth_params *params)
{
    (void)params;

    return x * (opkit_fp16)0.1F;
}
#endif
"""
REFERENCE = """\
import numpy as np


def output_shapes(input_shapes, params):
    return {"y": tuple(input_shapes["x"])}


def reference(inputs, params):
    x = inputs["x"]
    return {"y": (x * np.float32(0.1)).astype(x.dtype)}
"""
