"""The language of `.vx` kernels on the PC, each part against numpy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import DTypeLike

from opkit.opencl.pc_compiler import Program
from opkit.runtimes.invocation import Value
from opkit.runtimes.rknn.vx.compiler import compile_vx
from opkit.runtimes.rknn.vx.runner import PAST_END, VxRunResult
from tests.marks import quick_first
from tests.runtimes.rknn.vx.support import (
    KERNELS,
    Array,
    border,
    float32,
    int32,
    int32_array,
    launch,
    param,
    run,
)


@pytest.fixture(scope="session")
def movement(vx_folder: Path) -> Program:
    return compile_vx(KERNELS / "movement.vx", vx_folder / "cache")


def counted(shape: tuple[int, ...], dtype: DTypeLike = np.int16) -> Array:
    return np.arange(1, math.prod(shape) + 1).reshape(shape).astype(dtype)


def moved(
    program: Program,
    kernel: str,
    x: Array,
    size: Sequence[int],
    scale: Sequence[int] = (1, 1, 1),
    y: tuple[tuple[int, ...], DTypeLike] | None = None,
    **options: Any,
) -> VxRunResult:
    """Run a kernel from x to y, by default of the same shape and dtype."""
    where = launch(size, scale)
    return run(program, kernel, where, {"x": x}, {"y": y or (x.shape, x.dtype)}, **options)


# ---- Reads, writes, copies ----------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["copy_2d", "by_address"])
@pytest.mark.parametrize("dtype", [np.int16, np.uint16, np.float16])
def test_copies(movement: Program, kernel: str, dtype: DTypeLike) -> None:
    x = counted((1 if kernel == "copy_2d" else 3, 4, 13), dtype)
    outcome = moved(movement, kernel, x, (2, 4, len(x)), (8, 1, 1))
    np.testing.assert_array_equal(outcome.outputs["y"], x)
    assert {event.kind for event in outcome.events} == set(PAST_END)
    assert outcome.unwritten == {}


@pytest.mark.parametrize(
    ("policy", "value", "outside"), [("poison", 0, 0x7E7E), ("edge", 0, None), ("constant", 9, 9)]
)
def test_offsets_and_borders(
    movement: Program, policy: str, value: int, outside: int | None
) -> None:
    x = counted((2, 3, 8))
    outcome = moved(movement, "shifted", x, (1, 3, 2), (8, 1, 1), border=border(policy, value))
    expected = np.pad(x, ((0, 0), (1, 0), (1, 0)), mode="edge")[:, :-1, :-1]
    if outside is not None:
        expected[:, 0] = expected[:, :, 0] = outside
    np.testing.assert_array_equal(outcome.outputs["y"], expected)
    (event,) = outcome.events
    assert (event.kind, event.tensor) == ("read outside", "x")
    assert event.count == 2 * (8 + 2)  # a row above, and a column beside the other two rows
    assert event.at == (-1, -1, 0)
    assert str(event.line).endswith("movement.vx:19")


def test_start_and_end_bins(movement: Program) -> None:
    x = counted((2, 3, 8))
    expected = np.broadcast_to(np.arange(100, 108), x.shape).copy()
    expected[..., 2:5] = x[..., :3]
    got = moved(movement, "bins", x, (1, 3, 2)).outputs["y"]
    np.testing.assert_array_equal(got, expected)


def test_write_source_bin(movement: Program) -> None:
    x = counted((2, 3, 8))
    outcome = moved(movement, "source_bin", x, (1, 3, 2))
    np.testing.assert_array_equal(outcome.outputs["y"][..., :4], x[..., 3:7])
    assert outcome.unwritten == {"y": (2 * 3 * 4, (0, 0, 4))}


@pytest.mark.parametrize(
    ("kernel", "shape", "y", "expected"),
    [
        ("descriptor", (5, 3, 7), ((1, 8), "int32"), [14, 42, 5, 0, 7, 3, 5, 0]),
        ("repacked", (1, 1, 8), ((1, 1, 4), "int16"), [1, 3, 5, 7]),
        ("part", (1, 1, 8), ((1, 1, 8), "int16"), [1, 2, 3, 4, 7, 7, 7, -5]),
    ],
)
def test_one_item(movement: Program, kernel: str, shape: Any, y: Any, expected: list[int]) -> None:
    got = moved(movement, kernel, counted(shape), (1, 1, 1), y=y).outputs["y"]
    assert got.ravel().tolist() == expected


def test_small_vectors_are_not_packed(movement: Program) -> None:
    x = np.linspace(-2, 2, 8, dtype=np.float16).reshape(1, 1, 8)
    got = moved(movement, "unpacked", x, (1, 1, 1)).outputs["y"]
    np.testing.assert_array_equal(got[..., ::2], x[..., :4])
    np.testing.assert_array_equal(got[..., 1::2], 0)


@pytest.mark.parametrize("width", [1, 15, 16, 17, 32])
def test_bytes(movement: Program, width: int) -> None:
    x = counted((2, 3, width), np.uint8)
    outcome = moved(movement, "bytes", x, (-(-width // 16), 3, 2), (16, 1, 1))
    np.testing.assert_array_equal(outcome.outputs["y"], 255 - x)
    assert outcome.unwritten == {}


# ---- Scalars, arrays, uniforms, work items ------------------------------------------------------


def test_scalars_and_arrays(movement: Program) -> None:
    params: list[Value] = [int32(-3), int32(-1), float32(1.5)]
    params += [param(np.uint8(1)), int32(77), int32_array(10, 20, 30)]
    outcome = run(movement, "scalars", launch((1,)), {}, {"y": ((1, 8), "int32")}, params)
    bits = int(np.float32(1.5).view(np.int32))
    np.testing.assert_array_equal(outcome.outputs["y"], [[-3, -1, bits, 1, 77, 3, 10, 30]])


def test_narrow_scalars_are_not_sign_extended(movement: Program) -> None:
    narrow = param(np.int8(-1))
    params = [narrow, narrow, float32(0), param(np.uint8(0)), narrow, int32_array(1)]
    outcome = run(movement, "scalars", launch((1,)), {}, {"y": ((1, 8), "int32")}, params)
    np.testing.assert_array_equal(outcome.outputs["y"], [[255, 255, 0, 0, 255, 1, 1, 1]])


def test_uniforms(movement: Program) -> None:
    x = counted((1, 8), np.int32)
    uniforms = {"factor": np.float32(2.5), "addend": np.array([1, 2, 3, 4], np.int32)}
    data = {name: value.tobytes() for name, value in uniforms.items()}
    outcome = moved(movement, "uniforms", x, (2,), (4,), uniforms=data)
    np.testing.assert_array_equal(
        outcome.outputs["y"][0], np.trunc(x[0] * 2.5) + np.tile([1, 2, 3, 4], 2)
    )


def test_work_items(movement: Program) -> None:
    where = launch((4, 2), (3, 3), (2, 2), (1, 1))
    outcome = run(movement, "ids", where, {}, {"y": ((8, 12), "int32")})
    expected = [
        [1 + 3 * (2 * group + x), 1 + 3 * y, x, y, group, 2, 4, 2, 2, 1, 1, 0]
        for group in range(2)
        for y in range(2)
        for x in range(2)
    ]
    np.testing.assert_array_equal(outcome.outputs["y"], expected)


@pytest.mark.parametrize("reverse", [False, True])
def test_barrier_and_local_memory(movement: Program, reverse: bool) -> None:
    x = counted((5, 16), np.int32)
    outcome = run(
        *(movement, "row_sums", launch((16, 5), (1, 1), (16, 1))),
        *({"x": x}, {"y": ((5, 1), "int32")}),
        reverse=reverse,
    )
    np.testing.assert_array_equal(outcome.outputs["y"][:, 0], x.sum(1))


def test_atomics_and_vector_pointers(movement: Program) -> None:
    outcome = run(movement, "atomics", launch((8,), (1,), (8,)), {}, {"y": ((1, 8), "int32")})
    np.testing.assert_array_equal(outcome.outputs["y"], [[28, 0, 7, 8, ~255, 255, 0, 13]])


# ---- read_image... and write_image... -----------------------------------------------------------


@pytest.mark.parametrize(
    ("dtype", "letter"),
    [
        *(("float16", "f"), ("float32", "f"), ("int8", "i"), ("int16", "i"), ("int32", "i")),
        *(("uint8", "ui"), ("uint16", "ui"), ("uint32", "ui")),
    ],
)
def test_read_image_four_neighbors(vx_folder: Path, dtype: str, letter: str) -> None:
    source = vx_folder / f"neighbours_{dtype}.vx"
    source.write_text(
        "__kernel void k(image2d_array_t x, image2d_array_t y)\n{\n"
        "    int4 at = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);\n"
        f"    write_image{letter}(y, at, read_image{letter}(x, at));\n}}\n"
    )
    program = compile_vx(source, vx_folder / "cache")
    x = counted((2, 3, 6), dtype)
    outcome = moved(program, "k", x, (2, 3, 2), (4, 1, 1))
    np.testing.assert_array_equal(outcome.outputs["y"], x)
    assert {event.kind for event in outcome.events} == set(PAST_END)


@pytest.fixture(scope="module")
def reads(vx_folder: Path) -> Program:
    source = vx_folder / "reads.vx"
    source.write_text(
        "__kernel void k(image2d_t x, image2d_t y)\n{\n    int2 at = (int2)(0);\n"
        "    float4 f = read_imagef(x, at);\n"
        "    int4 i = read_imagei(x, at);\n"
        "    uint4 u = read_imageui(x, at);\n"
        "    write_imagef(y, at, f + convert_float4(i) + convert_float4(u));\n}\n"
    )
    return compile_vx(source, vx_folder / "cache")


@pytest.mark.parametrize(
    ("dtype", "line"),
    [
        *(("float16", 4), ("float32", 4), ("int8", 5), ("int16", 5), ("int32", 5)),
        *(("uint8", 6), ("uint16", 6), ("uint32", 6)),
    ],
)
def test_read_image_of_other_types(reads: Program, dtype: str, line: int) -> None:
    x = counted((1, 4), dtype)
    outcome = moved(reads, "k", x, (1, 1), (4, 1), (x.shape, "float32"))
    (event,) = outcome.events
    assert (event.kind, event.count) == ("read_image of another type", 2)
    assert str(event.line) == f"reads.vx:{min({4, 5, 6} - {line})}"


def test_places_of_accesses_outside(vx_folder: Path) -> None:
    source = vx_folder / "outside.vx"
    source.write_text(
        "__kernel void k(image2d_array_t x, image2d_array_t y)\n{\n"
        "    write_imagef(y, (int4)(4, 2, 5, 0), read_imagef(x, (int4)(1, 2, 3, 0)));\n"
        "    write_imagef(y, (int4)(4, 7, 1, 0), read_imagef(x, (int4)(2, -1, 0, 0)));\n"
        "    write_imagef(y, (int4)(5, 1, 1, 0), read_imagef(x, (int4)(6, 1, 0, 0)));\n}\n"
    )
    program = compile_vx(source, vx_folder / "cache")
    x = counted((2, 3, 8), np.float16)
    outcome = moved(program, "k", x, (1, 1, 1), (8, 1, 1))
    assert {(event.kind, event.tensor): event.at for event in outcome.events} == {
        ("read of a slice outside", "x"): (1, 2, 3),
        ("write to a slice outside", "y"): (4, 2, 5),
        ("read outside", "x"): (2, -1, 0),
        ("write outside", "y"): (4, 7, 1),
        ("read past the row's end", "x"): (8, 1, 0),
        ("write past the row's end", "y"): (8, 1, 1),
    }


# ---- Other parts of sources ---------------------------------------------------------------------


@pytest.mark.parametrize("debug", quick_first(1, [False, True]))
@pytest.mark.parametrize("sanitize", [False, True])
def test_functions_and_tables(vx_folder: Path, debug: bool, sanitize: bool) -> None:
    program = compile_vx(KERNELS / "style.vx", vx_folder / "cache", debug=debug, sanitize=sanitize)
    x = (counted((1, 2, 16), np.float16) / 8).astype(np.float16)
    outcome = moved(program, "style", x, (2, 2, 1), (8, 1, 1))
    expected = x.astype(np.float32).reshape(4, 2, 4)
    expected[:, 0, :2] = expected[:, 0, 1::-1].copy()
    expected[:, 1] *= [0.5, 1, 1.5, 2]
    expected[:, 1, 3] += 8
    expected[:, 1, 0] = np.rint(expected[:, 1, 0])
    np.testing.assert_array_equal(outcome.outputs["y"].reshape(4, 2, 4), expected)
    assert program.diagnostics == ""
    assert outcome.printed == f"at 8: {expected[3, 0, 0]:.1f}"
