"""Memory on the PC: loads, stores, copies by a group, printf, atomics."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from opkit.opencl.pc_compiler import Program
from opkit.runtimes.rknn.vx.compiler import compile_vx
from tests.runtimes.rknn.vx.support import KERNELS, compute, int32_array, launch, run

# ---- Memory -------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def memory(vx_folder: Path) -> Program:
    return compile_vx(KERNELS / "memory.vx", vx_folder / "cache")


def test_half_stores_round(memory: Program) -> None:
    x = np.array([[1 + 2.0**-11, -1 - 2.0**-11, 65520, 1 + 3 * 2.0**-11]], np.float32)
    got = run(*(memory, "stores", launch((1,)), {"x": x}, {"y": ((5, 16), "f4")})).outputs["y"]
    nearest = [1, -1, np.inf, 1 + 2 * 2.0**-10]
    rounded = [
        *(nearest, nearest, [1, -1, 65504, 1 + 2.0**-10]),
        [1 + 2.0**-10, -1, np.inf, 1 + 2 * 2.0**-10],
        [1, -1 - 2.0**-10, 65504, 1 + 2.0**-10],
    ]
    for row, (a, b, c, d) in zip(got, rounded, strict=True):
        np.testing.assert_array_equal(row, [a, b, c, d, 0, 0, a, b, c, 0, 0, 0, a, b, c, d])


def test_loads_and_stores(memory: Program) -> None:
    x = np.zeros((1, 4), np.float32)
    got = run(*(memory, "loads", launch((1,)), {"x": x}, {"y": ((2, 16), "f4")})).outputs["y"]
    np.testing.assert_array_equal(
        got[0], [7.5, 4.5, 5.5, 0, 6.5, 7.5, 8.5, 0, 8.5, 9.5, 10.5, 0, 31.5, 24.5, 20.5, 16.5]
    )
    np.testing.assert_array_equal(
        got[1], [28.5, 29.5, 30.5, 31.5, 1, -2, 3, -(2.0**63), 1, -4, 5, 8, -4, 5, 6, 0]
    )


def test_shuffle(memory: Program) -> None:
    x = np.arange(8, dtype=np.float32).reshape(1, 8) + 20
    got = run(*(memory, "shuffles", launch((1,)), {"x": x}, {"y": ((2, 16), "f4")})).outputs["y"]
    np.testing.assert_array_equal(
        got[0], [23, 20, 20, 22, 27, 20, 25, 24, 77, 66, 0, 11, 4, 1, 4, 4]
    )
    np.testing.assert_array_equal(got[1, :8], [23, 22, 21, 20, 6, 5, 6, 5])


# ---- Copies by a whole group --------------------------------------------------------------------


@pytest.mark.parametrize("reverse", [False, True])
def test_async_copies(memory: Program, reverse: bool) -> None:
    got = run(
        *(memory, "groups", launch((4,), (1,), (4,)), {}, {"y": ((1, 16), "i4")}),
        [int32_array(*range(32))],
        reverse=reverse,
    ).outputs["y"]
    expected = [[100 + 2 * i, 8 + i, 100 + 2 * i, 17 + 3 * i] for i in range(4)]
    np.testing.assert_array_equal(got.reshape(4, 4), expected)


def test_copy_without_wait_has_no_effect(memory: Program) -> None:
    outcome = run(
        *(memory, "no_wait", launch((4,), (1,), (4,)), {}, {"y": ((1, 16), "i4")}),
        [int32_array(*range(32))],
    )
    (event,) = outcome.events
    assert (event.kind, event.count) == ("copy of a group without a wait", 4)
    np.testing.assert_array_equal(outcome.outputs["y"], -1)


def test_wait_requires_work_group(memory: Program) -> None:
    assert memory.kernels["groups"].barrier
    assert not memory.kernels["shuffles"].barrier


# ---- printf -------------------------------------------------------------------------------------


def test_printf(memory: Program) -> None:
    outcome = run(memory, "prints", launch((1,)), {}, {"y": ((1, 4), "f4")})
    assert outcome.printed.splitlines() == [
        "3% of all",
        "1.500000 -2.50 1.5 -3 200|    4|7    |ffffffff",
        "1.000000,2.000000,3.000000,4.000000 -2.500000,-2.500000,-2.500000,-2.500000 "
        "0.0,0.0,0.0,0.0 -3,-3,-3,-3 200,1,255 c8,1,ff",
        f"0.0,0.0,0.0,0.0 c {-(2**63)} {2**64 - 1} 1,-2",
        "nothing",
    ]
    assert outcome.events == []


def test_printf_unsupported_types(memory: Program) -> None:
    outcome = run(memory, "misprints", launch((1,)), {}, {"y": ((1, 4), "f4")})
    assert {event.kind: event.count for event in outcome.events} == {
        "printf of another type": 2,
        "printf without a value, or with an unknown conversion": 1,
    }


# ---- Atomics ------------------------------------------------------------------------------------

ATOMICS: dict[str, int] = {
    "add(&m, 3)": 8,
    "sub(&m, 3)": 2,
    "xchg(&m, 3)": 3,
    "min(&m, 3)": 3,
    "max(&m, 3)": 5,
    "and(&m, 3)": 1,
    "or(&m, 3)": 7,
    "xor(&m, 3)": 6,
    "inc(&m)": 6,
    "dec(&m)": 4,
    "cmpxchg(&m, 5, 3)": 3,
    "cmpxchg(&m, 4, 3)": 5,
    "min(&m, -1)": -1,
    "max(&m, -1)": 5,
}


@pytest.mark.parametrize("kind", ["int", "uint"])
def test_atomics(vx_folder: Path, kind: str) -> None:
    calls = [(prefix, call) for prefix in ("atomic_", "atom_") for call in ATOMICS]
    got = compute(
        vx_folder,
        f"atomics_{kind}",
        [
            f"__extension__({{ {kind} m = 5, old = {prefix}{call}; (int4)(old, m, 0, 0); }})"
            for prefix, call in calls
        ],
        {"x": np.zeros(4, np.int32)},
        np.int32,
    )
    large = {"min(&m, -1)": 5, "max(&m, -1)": -1} if kind == "uint" else {}
    expected = [[5, {**ATOMICS, **large}[call], 0, 0] for _, call in calls]
    np.testing.assert_array_equal(got, expected)
