"""The generated loop of elementwise operators, on arrays of all shapes and types."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opkit.description.spec import OpSpec
from opkit.files.elementwise import own_loop
from opkit.runtimes import parse
from opkit.toolchains.abi import ABIS
from opkit.toolchains.flags import EXACT
from tests.compiling import HOST, LANGUAGES, compile_c
from tests.elementwise.loops import (
    IN_PARTS,
    Array,
    Loop,
    compiled,
    files,
    in_opencl,
    numpy_dtypes,
    scalar_file,
)
from tests.files.texts import INCLUDES
from tests.marks import quick_first

BASELINE, NO_AVX512 = "-DOPKIT_BASELINE", "-DOPKIT_NO_AVX512"
POISON = "-ftrivial-auto-var-init=pattern"
"""The flag for buffers without elements of an earlier part."""
TENSOR = "{type: VX_TYPE_TENSOR}"


def operator(inputs: int = 1, params: str = "") -> OpSpec:
    """Return an operator of floats."""
    names = ", ".join(f"{name}: {TENSOR}" for name in "xyz"[:inputs])
    return parse(
        f"name: Mix\nruntimes: [pplnn]\nelementwise: true\ninputs: {{{names}}}\n"
        f"outputs: {{output: {TENSOR}}}\nparams: {{{params}}}\n"
    )


def typed(inputs: list[str], output: str) -> OpSpec:
    """Return an operator with dtypes."""
    names = ", ".join(
        f"{name}: {{type: VX_TYPE_TENSOR, dtype: {dtype}}}"
        for name, dtype in zip("xy", inputs, strict=True)
    )
    return parse(
        f"name: Mix\nruntimes: [pplnn]\nelementwise: true\ninputs: {{{names}}}\n"
        f"outputs: {{output: {{type: VX_TYPE_TENSOR, dtype: {output}}}}}\n"
    )


# A sum of products shows each input, and a fused multiplication.
MIX3 = "return x * y + z * 0.7f;"


@pytest.fixture(
    scope="module", params=quick_first(1, ["as it is", NO_AVX512, BASELINE, "in parts"])
)
def mix(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Loop:
    """The loop of three inputs: with the processor's vectors, without some, and in parts."""
    before, flags = "", list[str]()
    if request.param == "in parts":
        before, flags = IN_PARTS, [POISON]
    elif request.param != "as it is":
        flags = [request.param]
    return compiled(tmp_path_factory.mktemp("mix"), operator(3), MIX3, *flags, before=before)


def expected(x: Array, y: Array, z: Array) -> Array:
    wide = [each.astype(np.float32) for each in (x, y, z)]
    result: Array = wide[0] * wide[1] + wide[2] * np.float32(0.7)
    return result


def numbers(shape: tuple[int, ...], dtype: str, seed: int) -> Array:
    return np.random.default_rng(seed).uniform(-4, 4, shape).astype(dtype)


def check(loop: Loop, shapes: list[tuple[int, ...]], dtypes: list[str]) -> None:
    arrays = [
        numbers(shape, dtype, i)
        for i, (shape, dtype) in enumerate(zip(shapes, dtypes[:3], strict=True))
    ]
    result = expected(*arrays)
    output = np.full(result.shape, 77, dtypes[3])
    assert loop.run(arrays, output) == ""
    np.testing.assert_array_equal(output, result.astype(dtypes[3]), f"{shapes} {dtypes}")


FLOATS = ["float32"] * 4


def test_all_broadcasts_of_small_shapes(mix: Loop) -> None:
    """Each dimension of each input: missing, 1, or as long as the others."""
    lengths = (3, 2)
    shapes: list[tuple[int, ...]] = [(a,) for a in (1, lengths[1])]
    shapes += [(a, b) for a in (1, lengths[0]) for b in (1, lengths[1])]
    for each in itertools.product(shapes, repeat=3):
        check(mix, list(each), FLOATS)


@st.composite
def broadcasts(draw: st.DrawFn) -> tuple[list[tuple[int, ...]], list[str]]:
    """Return shapes of three inputs that broadcast, and the dtypes of inputs and output."""
    small = st.sampled_from([1, 2, 3, 5, 7])
    whole = draw(st.lists(small, min_size=1, max_size=6))
    whole[-1] = draw(st.sampled_from([1, 2, 63, 64, 65, 1023, 1024, 1025, 2060]))
    shapes = []
    for _ in range(3):
        kept = whole[len(whole) - draw(st.integers(1, len(whole))) :]
        shapes.append(tuple(length if draw(st.booleans()) else 1 for length in kept))
    dtypes = draw(st.lists(st.sampled_from(["float16", "float32"]), min_size=4, max_size=4))
    return shapes, dtypes


@settings(max_examples=60, deadline=None)
@given(case=broadcasts())
def test_broadcasts_like_numpy(mix: Loop, case: tuple[list[tuple[int, ...]], list[str]]) -> None:
    check(mix, *case)


@pytest.mark.parametrize("count", [1, 1023, 1024, 1025, 16384, 100_003])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_blocks(mix: Loop, count: int, dtype: str) -> None:
    check(mix, [(count,)] * 3, [dtype] * 4)
    check(mix, [(count,), (1,), (count,)], [dtype] * 4)


@pytest.mark.parametrize(
    "shapes",
    [
        # Rows of y repeat, and its next ones follow, in blocks that begin with the same row.
        [(2, 500, 3), (2, 1, 3), (2, 500, 3)],
        # The block at the start of a part is shorter than the next one, and y is the same in both.
        [(3, 1500), (1,), (1500,)],
        [(3000, 1), (5,), (3000, 5)],
        [(600, 1, 2), (1, 3, 1), (1, 1, 2)],
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_repeated_blocks(mix: Loop, shapes: list[tuple[int, ...]], dtype: str) -> None:
    check(mix, shapes, [dtype] * 4)


def test_wrong_calls(mix: Loop) -> None:
    x, y = np.ones((2, 3), np.float32), np.ones((2, 3), np.int32)
    output = np.zeros((2, 3), np.float32)
    assert mix.run([x, y, x], output) == "y must be float16 or float32"
    assert mix.run([x, x, x], y) == "output must be float16 or float32"
    message = "output must have the shape to which x, y and z broadcast"
    assert mix.run([x, x, np.ones((2, 1, 3), np.float32)], output) == message
    assert mix.run([x, x, np.ones(2, np.float32)], output) == message
    larger = np.zeros((4, 2, 3), np.float32)
    assert mix.run([x, x, x], larger) == message
    assert not output.any()
    assert not larger.any()


def test_all_paths_give_the_same_bits(tmp_path: Path) -> None:
    """Of floats with all exponents; a fused multiplication would differ."""
    spec = operator(2, "a: {type: VX_TYPE_FLOAT32}")
    body = "return x * y + params->a / (x + y * 3.0f);"
    loops = [compiled(tmp_path, spec, body, *flags) for flags in ([], [NO_AVX512], [BASELINE])]
    bits = np.random.default_rng(5).integers(0, 2**32, (2, 1 << 16), np.uint64).astype(np.uint32)
    x, y = np.where(np.isnan(bits.view(np.float32)), 1, bits.view(np.float32)).astype(np.float32)
    results = [np.zeros_like(x) for _ in loops]
    for loop, result in zip(loops, results, strict=True):
        assert loop.run([x, y], result, np.float32(1.3).tobytes().ljust(64)) == ""
    first, *others = (result.view(np.uint32)[~np.isnan(result)] for result in results)
    for other in others:
        np.testing.assert_array_equal(first, other)


@pytest.mark.skipif(HOST.processor != "x86_64", reason="other processors have one path")
def test_scalar_function_is_inlined_and_vectorized(tmp_path: Path) -> None:
    spec = operator(1)
    folder = files(tmp_path, spec, {spec.math_file: scalar_file(spec, "return x * x + 3.0f;")})
    source = folder / "run.c"
    source.write_text(f'#include "{spec.compute_header}"\nvoid *use = (void *)mix_compute;\n')
    options = ("-fno-unroll-loops", "-Wno-unused-command-line-argument")
    flags = ("-O2", *EXACT, "-S", "-g0", *options)
    assert compile_c(folder / "run.s", source, *flags).returncode == 0
    functions = _functions((folder / "run.s").read_text())
    assert not [name for name, text in functions.items() if "mix_of" in name + text]
    assert "mulps\t%zmm" in functions["mix_compute_block_avx512"]
    assert "mulps\t%ymm" in functions["mix_compute_block_avx2"]
    assert "mulps\t%xmm" in functions["mix_compute_part"]


def test_loop_is_vectorized_for_32_bit_arm(tmp_path: Path) -> None:
    spec = operator(1)
    for body, vectors in (("return x * x + 3.0f;", True), ("return (float)(2.0 * x);", False)):
        folder = files(tmp_path, spec, {spec.math_file: scalar_file(spec, body)})
        source = folder / "run.c"
        source.write_text(f'#include "{spec.compute_header}"\nvoid *use = (void *)mix_compute;\n')
        flags = ("-O2", *EXACT, "-S", "-g0", "-Wno-unused-command-line-argument")
        compiled_ = compile_c(folder / "run.s", source, *flags, abi=ABIS["armhf"])
        assert (compiled_.returncode, compiled_.stderr) == (0, ""), body
        assert bool(re.search(r"vmul\.f32\tq", (folder / "run.s").read_text())) == vectors


def _functions(assembly: str) -> dict[str, str]:
    """Return name -> text of the functions in a compiler's assembly."""
    parts = assembly.split("\n\t.type\t")
    return {part.partition(",")[0]: part for part in parts[1:]}


DTYPES = numpy_dtypes()


@pytest.mark.parametrize(
    ("first", "output"), quick_first(3, zip(DTYPES, [*DTYPES[1:], DTYPES[0]], strict=True))
)
def test_dtypes(tmp_path: Path, first: str, output: str) -> None:
    """Every dtype as input and as output, mixed with floats."""
    spec = typed([first, "float32"], output)
    loop = compiled(tmp_path, spec, "return x != 0 && y > 0.0f ? 1 : 0;")
    x = np.arange(7).astype(first).reshape(7, 1)
    y = np.array([-1, 1], np.float32)
    result = np.full((7, 2), 5, output)
    assert loop.run([x, y], result) == ""
    np.testing.assert_array_equal(result, ((x != 0) & (y > 0)).astype(output))
    if first not in ("float16", "float32"):
        message = f"x must be {first}"
        assert loop.run([x.astype("float32"), y], result) == message


@pytest.mark.parametrize("dtype", quick_first(2, ["int8", "uint16", "int32", "int64", "bool"]))
def test_integers_are_not_converted(tmp_path: Path, dtype: str) -> None:
    loop = compiled(tmp_path, typed([dtype, dtype], dtype), "return y ? y : x;")
    limits = np.array([0, 1] if dtype == "bool" else [np.iinfo(dtype).min, np.iinfo(dtype).max])
    x, y = limits.astype(dtype), np.zeros((3, 2), dtype)
    result = np.ones((3, 2), dtype)
    assert loop.run([x, y], result) == ""
    np.testing.assert_array_equal(result, np.broadcast_to(x, (3, 2)))


def test_blocks_of_int64_fit_into_their_buffers(tmp_path: Path) -> None:
    """The end of the first buffer would overwrite the second one."""
    loop = compiled(tmp_path, typed(["int64", "int64"], "int64"), "return x - y;")
    x, y = np.arange(2000).reshape(2000, 1), np.arange(5) * 2**40
    result = np.zeros((2000, 5), np.int64)
    assert loop.run([x, y], result) == ""
    np.testing.assert_array_equal(result, x - y)


@pytest.mark.parametrize("language", LANGUAGES)
def test_generated_loop_compiles_without_warnings(tmp_path: Path, language: str) -> None:
    for spec in (operator(3, "a: {type: VX_TYPE_ARRAY}"), typed(["int64", "bool"], "uint8")):
        folder = files(tmp_path, spec, {})
        source = folder / "run.c"
        source.write_text(f'#include "{spec.compute_header}"\n')
        includes = [f"-I{folder / name}" for name in INCLUDES]
        flags = ("-c", "-O2", "-Wno-unused-function", "-Wconversion", "-Wshadow", *includes)
        run = compile_c(folder / "run.o", *flags, source, language=language)
        assert run.returncode == 0, run.stderr


def test_function_of_rows_is_for_the_cpu(tmp_path: Path) -> None:
    """It replaces the calls for single elements, in blocks without gaps; not in the VX kernel."""
    spec = operator(2)
    row = """
#if defined(OPKIT_ELEMENTWISE_H)
static inline void mix_row(const float *x, const float *y, float *output, size_t count,
                           const struct mix_params *params)
{
    (void)params;

    for (size_t i = 0; i < count; i++) {
        output[i] = 100.0f * x[i] + y[i];
    }
}
#endif
"""
    text = scalar_file(spec, "return x - y;", row)
    assert "mix_row" not in in_opencl(spec, text)
    assert "mix_row(block.x, block.y, block.output, count, &values);" in own_loop(spec, text)
    loop = compiled(tmp_path, spec, "return x - y;", after=row)
    x, y = np.arange(4000, dtype=np.float32).reshape(4, 1000), np.ones(1000, np.float32)
    result = np.zeros_like(x)
    assert loop.run([x, y], result) == ""
    np.testing.assert_array_equal(result, 100 * x + y)
