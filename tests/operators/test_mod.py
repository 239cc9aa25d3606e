"""The library's Mod: integers that librknnrt 1.6.0 does not hand over, and divisors of 0."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from opkit.check.cases import Case
from opkit.runtimes.invocation import Array, RunResult
from tests.operators.conftest import Library
from tests.operators.oracle import Built

pytestmark = [pytest.mark.slow, pytest.mark.nightly]


def run(operator: Built, inputs: Mapping[str, Array], fmod: int) -> tuple[RunResult, Array]:
    """Return the result of PPLNN's kernel, and the reference's array."""
    prepared = operator.operator.prepare(Case("integers", inputs, {"fmod": fmod}))
    return operator.kernels["pplnn"].run(prepared.invocation), prepared.expected["c"]


@pytest.mark.parametrize("fmod", [0, 1])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_all_integers(dtype: type, fmod: int, library_operator: Library) -> None:
    limits = np.iinfo(dtype)
    random = np.random.default_rng(0)
    edges: Array = np.array(
        [limits.min, limits.min + 1, -2, -1, 1, 2, limits.max - 1, limits.max], dtype
    )
    a = np.append(edges, random.integers(limits.min, limits.max, 1000, dtype))
    b = np.append(edges, random.integers(1, limits.max, 1000, dtype))
    inputs = {"a": a[:, np.newaxis], "b": b}
    result, expected = run(library_operator("Mod"), inputs, fmod)
    assert (result.status, result.fault) == (0, "")
    assert np.array_equal(result.outputs["c"], expected)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_integer_divisor_of_0_is_refused(dtype: type, library_operator: Library) -> None:
    operator = library_operator("Mod")
    inputs: dict[str, Array] = {"a": np.ones(3, dtype), "b": np.ones(3, dtype)}
    prepared = operator.operator.prepare(Case("zero", inputs, {"fmod": 0}))
    inputs["b"][1] = 0
    result = operator.kernels["pplnn"].run(prepared.invocation)
    assert (result.status != 0, result.fault) == (True, "")
    assert "b must not have a 0 if the tensors are integers" in "\n".join(
        [result.printed, *result.log]
    )
