"""`layout: any`: tensors with channels in blocks go to an elementwise operator as they are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from opkit import runtimes
from opkit.common.errors import OpkitError
from tests.runtimes.pplnn.engines import N4CX, N8CX, N16CX, NDARRAY, SUCCESS, TYPES, Engine, build

ONE = """\
name: Twice
runtimes: [pplnn]
elementwise: true
layout: any
inputs: {x: {type: VX_TYPE_TENSOR}}
outputs: {y: {type: VX_TYPE_TENSOR}}
"""
ONE_SCALAR = """\
static inline float twice_of(float x, const struct twice_params *params)
{
    (void)params;
    return 2.0f * x + 1.0f;
}
"""
TWO = """\
name: Product
runtimes: [pplnn]
elementwise: true
layout: any
inputs: {x: {type: VX_TYPE_TENSOR}, z: {type: VX_TYPE_TENSOR}}
outputs: {y: {type: VX_TYPE_TENSOR}}
"""
TWO_SCALAR = """\
static inline float product_of(float x, float z, const struct product_params *params)
{
    (void)params;
    return x * z;
}
"""
X = np.arange(2 * 6 * 3 * 5, dtype=np.float32).reshape(2, 6, 3, 5)
BLOCKS = [("x86", N16CX), ("riscv", N4CX), ("riscv", N8CX)]


def made(text: str, scalar: str, tmp_path_factory: pytest.TempPathFactory) -> Engine:
    spec = runtimes.parse(text)
    folder = tmp_path_factory.mktemp(spec.lower)
    mine = tmp_path_factory.mktemp("mine")
    include = f'#include "generated/{spec.lower}.h"\n'
    (mine / f"{spec.lower}_scalar.h").write_text(f"#pragma once\n{include}{scalar}")
    return build(spec, folder, mine)


@pytest.fixture(scope="module")
def twice(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return made(ONE, ONE_SCALAR, tmp_path_factory)


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return made(TWO, TWO_SCALAR, tmp_path_factory)


@pytest.mark.parametrize(("name", "layout"), [*BLOCKS, ("x86", NDARRAY), ("riscv", NDARRAY)])
def test_one_input(name: str, layout: int, twice: Engine) -> None:
    answer = twice.run(name, {"x": X}, formats=[layout])
    assert (answer.status["execute"], answer.log) == (SUCCESS, "")
    assert [format_ for format_, _ in answer.selected] == [layout]
    assert answer.formats == [layout]
    assert answer.outputs["y"].tolist() == (2 * X + 1).tolist()


def test_halves(twice: Engine) -> None:
    x = X.astype(np.float16)
    answer = twice.run("riscv", {"x": x}, precision=TYPES["float16"], formats=[N8CX])
    assert answer.formats == [N8CX]
    assert answer.outputs["y"].tolist() == (2 * x + 1).tolist()


def test_integers_are_dense(twice: Engine) -> None:
    answer = twice.run("x86", {"x": X.astype(np.int64)}, formats=[N16CX])
    assert [format_ for format_, _ in answer.selected] == [NDARRAY]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "layout"), BLOCKS)
def test_inputs_with_one_shape(name: str, layout: int, product: Engine) -> None:
    answer = product.run(name, {"x": X, "z": X - 3}, formats=[layout, layout])
    assert (answer.status["execute"], answer.log) == (SUCCESS, "")
    assert answer.formats == [layout]
    assert answer.outputs["y"].tolist() == (X * (X - 3)).tolist()


@pytest.mark.parametrize(
    ("shape", "formats"),
    [
        ((2, 6, 3, 5), (N16CX, NDARRAY)),
        ((2, 6, 3, 5), (NDARRAY, N16CX)),
        ((2, 6, 1, 1), (N16CX, N16CX)),
        ((6, 3, 5), (N16CX, N16CX)),
        ((1, 6, 3, 5), (N16CX, N16CX)),
    ],
)
def test_other_inputs_are_dense(
    shape: Sequence[int], formats: Sequence[int], product: Engine
) -> None:
    answer = product.run("x86", {"x": X, "z": np.ones(shape, np.float32)}, formats=formats)
    assert [format_ for format_, _ in answer.selected] == [NDARRAY] * 2
    assert answer.formats == [NDARRAY]


def test_unknown_dimensions_are_dense(product: Engine) -> None:
    """While a model is loaded, ppl.nn derives 0 from an unknown dimension."""
    x = np.empty((2, 6, 0, 5), np.float32)
    answer = product.run("x86", {"x": x, "z": x}, formats=[N16CX, N16CX])
    assert [format_ for format_, _ in answer.selected] == [NDARRAY] * 2


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ("elementwise: true\n", "layout: any is for operators with `elementwise: true`"),
        ("{type: VX_TYPE_TENSOR}", "`layout: any` has no effect with int64"),
    ],
)
def test_refusals(change: str, problem: str) -> None:
    other = "" if change.startswith("elementwise") else "{type: VX_TYPE_TENSOR, dtype: int64}"
    with pytest.raises(OpkitError, match=problem):
        runtimes.parse(ONE.replace(change, other, 1))


def test_unknown_layout() -> None:
    with pytest.raises(OpkitError, match=r"unknown value 'nhwc' \(expected ndarray, any\)"):
        runtimes.parse(ONE.replace("any", "nhwc"))
