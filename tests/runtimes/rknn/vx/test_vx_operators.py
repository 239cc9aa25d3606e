"""Complete operators as VX kernels, against numpy."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from opkit.opencl.pc_compiler import Program
from opkit.runtimes.rknn.dot_product import Bin, Constant, Term, configuration
from opkit.runtimes.rknn.vx.compiler import compile_vx
from opkit.runtimes.rknn.vx.launch import Border
from opkit.runtimes.rknn.vx.runner import PAST_END
from rknn_op.runtimes.rknn.dot_products import DOT_PRODUCTS
from tests.runtimes.rknn.vx.support import KERNELS, Array, float32, int32, launch, run

FILLS = (0x7E7E7E7E, 0x3C3C3C3C)


@pytest.fixture(scope="module")
def operators(vx_folder: Path) -> Program:
    return compile_vx(KERNELS / "operators.vx", vx_folder / "cache")


def words(
    form: str,
    terms: Iterable[Term],
    constant_type: str = "float16",
    shift: int = 0,
    accumulator_type: str = "float32",
) -> bytes:
    table = configuration(form, terms, shift, constant_type, accumulator_type)
    return np.array(table, np.uint32).tobytes()


def copy_elements(form: str, bins: Iterable[Bin], constant_type: str = "float16") -> bytes:
    """Return a configuration that copies these elements to the outputs."""
    terms = [Term(output, bin_, Constant(1)) for output, bin_ in enumerate(bins)]
    return words(form, terms, constant_type)


def named(name: str) -> bytes:
    """Return a configuration of dot_products.h."""
    return np.array(DOT_PRODUCTS[name].words(), np.uint32).tobytes()


HALVES = {
    name: named(name) for name in ("low_halves_to_floats", "high_halves_to_floats", "pack_halves")
}


def random(*shape: int) -> Array:
    return np.random.default_rng(sum(shape)).standard_normal(shape)


def test_elementwise_with_partial_rows(operators: Program) -> None:
    x = (3 * random(2, 3, 37)).astype(np.float16)
    exact = x.astype(np.float64)
    for fill in FILLS:
        outcome = run(
            *(
                operators,
                "swish",
                launch((5, 3, 2), (8, 1, 1)),
                {"x": x},
                {"y": (x.shape, x.dtype)},
            ),
            uniforms=HALVES,
            border=Border(fill=fill),
        )
        expected = (exact / (1 + np.exp(-exact))).astype(np.float16)
        np.testing.assert_array_almost_equal_nulp(outcome.outputs["y"], expected)
        assert outcome.unwritten == {}
        # The last of five items goes three elements too far, in each of six rows.
        assert {event.kind: event.count for event in outcome.events} == dict.fromkeys(PAST_END, 18)


@pytest.mark.parametrize(
    ("width", "policy", "is_right"),
    [(40, "poison", True), (37, "poison", False), (37, "edge", True)],
)
def test_reduction_with_edge_border(
    operators: Program, width: int, policy: str, is_right: bool
) -> None:
    x = random(6, width).astype(np.float16)
    outcome = run(
        *(operators, "row_max", launch((1, 6)), {"x": x}, {"y": ((6, 1), x.dtype)}),
        [int32(width)],
        uniforms=HALVES,
        border=Border(policy, fill=0x7BFF7BFF),  # poisoned with the largest half
    )
    assert np.array_equal(outcome.outputs["y"], x.max(1, keepdims=True)) == is_right


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(("policy", "is_right"), [("constant", True), ("poison", False)])
def test_reduction_with_barrier_and_zero_border(
    operators: Program, policy: str, is_right: bool, reverse: bool
) -> None:
    x = np.random.default_rng(1).integers(0, 256, (3, 21, 20), np.uint8)
    outcome = run(
        *(operators, "slice_mean", launch((16, 1, 3), local=(16, 1, 1)), {"x": x}),
        {"y": ((3, 1, 1), "float16")},
        [int32(20), int32(21)],
        uniforms={"sum_of_bytes": named("sum_of_bytes")},
        border=Border(policy),
        reverse=reverse,
    )
    expected = x.mean((1, 2), keepdims=True).astype(np.float16)
    assert np.array_equal(outcome.outputs["y"], expected) == is_right


def test_layout_change_is_exact(operators: Program) -> None:
    bits = np.random.default_rng(2).integers(0, 2**16, (3, 6, 10), np.uint16)
    outcome = run(
        *(operators, "space_to_depth", launch((10, 6, 3)), {"x": bits.view(np.float16)}),
        {"y": ((12, 3, 5), "float16")},
        [int32(3)],
    )
    # y, dy, x, dx: (dy, dx, slice) become the slices.
    expected = bits.reshape(3, 3, 2, 5, 2).transpose(2, 4, 0, 1, 3).reshape(12, 3, 5)
    np.testing.assert_array_equal(outcome.outputs["y"].view(np.uint16), expected)
    assert (outcome.events, outcome.unwritten) == ([], {})


def test_normalization_by_slice_addresses(operators: Program) -> None:
    x = np.random.default_rng(3).integers(0, 256, (2, 3, 45), np.uint8)
    scale = random(1, 45).astype(np.float16)
    bias = random(1, 45).astype(np.float32)
    epsilon = 1e-3
    before = Term(0, Bin(1, 0))
    bins = [Bin(0, i) for i in range(15)]
    outcome = run(
        *(operators, "layer_norm", launch((1, 3, 2)), {"x": x, "scale": scale, "bias": bias}),
        {"y": (x.shape, "float16")},
        [int32(45), float32(epsilon)],
        uniforms={
            **HALVES,
            "add_bytes": words(
                *("16x1", [*(Term(0, a, Constant(1)) for a in bins), before], "uint8"),
                accumulator_type="int32",
            ),
            "add_squares": words(
                "16x1", [*(Term(0, a, a) for a in bins), before], accumulator_type="int32"
            ),
            "bytes_to_floats": copy_elements("4x4", [Bin(0, i) for i in range(4)]),
        },
    )
    exact = x.astype(np.float64)
    deviation = exact - exact.mean(-1, keepdims=True)
    expected = deviation / np.sqrt(exact.var(-1, keepdims=True) + epsilon) * scale + bias
    np.testing.assert_allclose(outcome.outputs["y"], expected, rtol=2**-10, atol=2**-11)
    assert outcome.unwritten == {}
    assert {event.kind for event in outcome.events} == set(PAST_END)


def test_integer_requantization(operators: Program) -> None:
    x = np.random.default_rng(4).integers(0, 256, (8, 3, 12), np.uint8)
    multiplier, addend, shift = 40000, -3_000_000, 14
    terms = [
        term
        for i in range(8)
        for term in (
            Term(i, Bin(0, 4 * (i % 2) + i // 2), Constant(multiplier)),
            Term(i, Bin(1, i % 4)),
        )
    ]
    outcome = run(
        *(operators, "depth_to_space", launch((3, 6, 2), (4, 1, 1)), {"x": x}),
        {"y": ((2, 6, 24), "uint8")},
        [int32(2), int32(addend)],
        uniforms={"interleave_and_scale": words("2x8", terms, "uint16", shift, "int32")},
    )
    scaled = np.trunc((x.astype(np.int64) * multiplier + addend) / 2**shift)
    assert scaled.min() < 0
    assert scaled.max() > 255
    # dy, dx, slice, y, x: slice, (y, dy), (x, dx) is the result.
    expected = np.clip(scaled, 0, 255).reshape(2, 2, 2, 3, 12).transpose(2, 3, 0, 4, 1)
    np.testing.assert_array_equal(outcome.outputs["y"], expected.reshape(2, 6, 24))
    assert (outcome.events, outcome.unwritten) == ([], {})


def test_named_half_dot_products(vx_folder: Path) -> None:
    """The other dot products are tested by the operators above."""
    program = compile_vx(KERNELS / "dot_products.vx", vx_folder / "cache")
    a, b = (np.round(8 * random(6, 8 + i)[:, :8]).astype(np.float16) for i in range(2))
    outcome = run(
        *(program, "dot_products", launch((1, 6)), {"a": a, "b": b}),
        {"result": ((4, 6, 4), "float32")},
        uniforms={
            name: named(name)
            for name in (
                *("low_products_of_halves", "high_products_of_halves"),
                *("sum_of_halves", "dot_product_of_halves"),
            )
        },
    )
    products = a.astype(np.float32) * b.astype(np.float32)
    low, high, sums, dots = outcome.outputs["result"]
    np.testing.assert_array_equal(low, products[:, :4])
    np.testing.assert_array_equal(high, products[:, 4:])
    np.testing.assert_array_equal(sums[:, 0], a.astype(np.float32).sum(1))
    np.testing.assert_array_equal(dots[:, 0], products.sum(1))
