"""Elementwise functions of one half, by a table of all results where that is faster."""

from __future__ import annotations

import ctypes
import struct
from pathlib import Path

import numpy as np
import pytest

from opkit.description.spec import OpSpec
from opkit.files.elementwise import has_table
from opkit.runtimes import parse
from tests.elementwise.loops import IN_PARTS, Array, Loop, Table, compiled
from tests.elementwise.test_loops import operator
from tests.marks import quick_first

ALL_HALVES = np.arange(2**16, dtype=np.uint16).view(np.float16)
SLOW = """volatile float sum = x;
    for (int i = 0; i < 100; i++) {
        sum = sum * params->scale + 0.5f;
    }
    return sum;"""
QUICK = "return x + params->scale;"
SCALE = "scale: {type: float}"
SLOWER = 2**64 - 1


@pytest.fixture(scope="module", params=quick_first(1, ["", IN_PARTS]), ids=["whole", "in parts"])
def slow(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Loop:
    """The loop of a function that takes longer than a look-up."""
    spec = operator(params=SCALE)
    return compiled(tmp_path_factory.mktemp("slow"), spec, SLOW, before=request.param)


def result(loop: Loop, x: Array, scale: float, table: Table | None = None) -> bytes:
    """Return the bytes of the output."""
    output = np.full_like(x, 7)
    assert loop.run([x], output, struct.pack("f", scale), table) == ""
    return output.tobytes()


def test_table_has_the_computed_results(slow: Loop) -> None:
    x = np.random.default_rng(0).permutation(np.tile(ALL_HALVES, 4))
    with slow.node() as table:
        for scale in (0.25, 0.25, -1.5, float("nan"), 0.25):
            assert result(slow, x, scale, table) == result(slow, x, scale)
            assert table.results is not None


def test_small_calls_are_computed_first(slow: Loop) -> None:
    half = ALL_HALVES[::2].copy()
    with slow.node() as table:
        for count in range(1, 4):
            assert result(slow, half, 0.25, table) == result(slow, half, 0.25)
            assert (table.results, table.computed) == (None, count * 2**15)
        assert result(slow, half, 0.25, table) == result(slow, half, 0.25)
        assert table.results is not None


def test_other_params_need_another_table(slow: Loop) -> None:
    large, small = np.tile(ALL_HALVES, 2), ALL_HALVES[:1000].copy()
    with slow.node() as table:
        result(slow, large, 0.25, table)
        assert result(slow, small, 0.5, table) == result(slow, small, 0.5)
        assert (table.results, table.computed) == (None, 1000)


def test_nodes_with_equal_params_share_a_table(slow: Loop) -> None:
    large, small = np.tile(ALL_HALVES, 2), ALL_HALVES[:1000].copy()
    with slow.node() as first, slow.node() as second:
        with slow.node() as third:
            result(slow, large, 0.25, first)
            result(slow, large, 0.5, third)
            assert result(slow, small, 0.25, second) == result(slow, small, 0.25)
            assert second.results == first.results != third.results
            result(slow, small, 0.25, third)
            assert third.results == first.results
        slow.library.release(ctypes.byref(first))
        assert result(slow, small, 0.25, second) == result(slow, small, 0.25)
        assert result(slow, small, 0.25, first) == result(slow, small, 0.25)
        assert first.results == second.results
    with slow.node() as last:
        result(slow, small, 0.25, last)
        assert last.results is None  # the last of the nodes freed it


def test_floats_are_computed(slow: Loop) -> None:
    x = np.linspace(-3, 3, 2**18, dtype=np.float32)
    with slow.node() as table:
        assert result(slow, x, 0.25, table) == result(slow, x, 0.25)
        assert (table.results, table.computed) == (None, 0)


def test_slower_table_is_not_kept(tmp_path: Path) -> None:
    """An addition is faster than a look-up; the measurement may err beside other work."""
    loop = compiled(tmp_path, operator(params=SCALE), QUICK)
    x = np.tile(ALL_HALVES, 4)
    found = set()
    for _ in range(20):
        with loop.node() as table:
            assert result(loop, x, 1.0, table) == result(loop, x, 1.0)
            found.add((table.results is None, table.computed == SLOWER))
    assert (True, True) in found


def test_checks_always_use_the_table(tmp_path: Path) -> None:
    loop = compiled(tmp_path, operator(params=SCALE), QUICK, "-DOPKIT_GUARDED")
    with loop.node() as table:
        assert result(loop, ALL_HALVES[:1].copy(), 1.0, table) == result(loop, ALL_HALVES[:1], 1.0)
        assert table.results is not None


def unary(input_: str, output: str, *keys: str) -> OpSpec:
    """Return an operator of one input with dtypes."""
    tensor = "{{type: VX_TYPE_TENSOR, dtype: {}}}".format
    return parse(
        f"name: A\nruntimes: [pplnn]\ninputs: {{x: {tensor(input_)}}}\n"
        f"outputs: {{y: {tensor(output)}}}\n" + "\n".join(keys)
    )


def test_operators_with_a_table() -> None:
    elementwise = "elementwise: true"
    assert has_table(operator())
    assert has_table(operator(params=SCALE))
    assert has_table(unary("float16", "float32", elementwise))
    assert not has_table(unary("float16", "float16"))
    assert not has_table(unary("int32", "float32", elementwise))
    assert not has_table(operator(inputs=2))
    assert not has_table(operator(params="scales: {type: floats}"))
    assert not has_table(operator(params="mode: {type: string}"))
