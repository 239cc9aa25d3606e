"""Tensors without elements: the kernels of the library's operators against their references."""

from __future__ import annotations

import re
import runpy
import sys
from collections.abc import Collection, Iterator

import numpy as np
import pytest

from opkit.check.cases import Case
from opkit.check.mistakes import CheckError
from opkit.check.operators import Operator
from opkit.runtimes.invocation import RunOptions
from tests.marks import sampled
from tests.operators.oracle import built
from tests.repositories import LIBRARY, library_kernels

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("error")]

NAMES = [name for name, each in LIBRARY.items() if {*each.spec.runtimes} != {"rknn"}]
MAX_CASES = 30
GUARDED = RunOptions(fill=0xFF, limit=60)  # no output may keep its bytes, and no access be outside


@pytest.mark.parametrize("name", sampled(NAMES))
def test_like_reference(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reference refuses a case by a message of its own, or kernels compute the same."""
    operator = Operator(library_kernels(name).path)
    # A board's driver for RKNN-Toolkit 1.x has no such tensors.
    operator.runtimes = [each for each in operator.runtimes if each.describe.limits.takes_empty]
    monkeypatch.syspath_prepend(str(operator.root))
    monkeypatch.delitem(sys.modules, f"{operator.spec.lower}_reference", raising=False)
    kernels = built(operator)
    computed = 0
    for case in {each.name: each for each in emptied_cases(operator)}.values():
        try:
            operator.prepare(case)
        except CheckError as error:
            assert re.search(rf"ValueError: ({name}: |shape mismatch: )", str(error))
            continue
        computed += 1
        reference, *others = kernels.results(case, GUARDED).values()
        for outputs in others:
            for output, expected in reference.items():
                np.testing.assert_allclose(outputs[output], expected, rtol=1e-6, err_msg=str(case))
    assert computed > 0


def emptied_cases(operator: Operator) -> Iterator[Case]:
    """Yield the own cases of an operator without elements along one dimension, or equal ones."""
    for case in own_cases(operator):
        axes = [(name, axis) for name, each in case.inputs.items() for axis in range(each.ndim)]
        lengths = {case.inputs[name].shape[axis] for name, axis in axes}
        yield from (emptied(case, [each]) for each in axes)
        for length in lengths:
            yield emptied(
                case, [(name, i) for name, i in axes if case.inputs[name].shape[i] == length]
            )


def emptied(case: Case, places: Collection[tuple[str, int]]) -> Case:
    """Return a case without the elements along some dimensions: input and axis of each."""
    inputs = {
        name: array[tuple(slice(0 if (name, i) in places else None) for i in range(array.ndim))]
        for name, array in case.inputs.items()
    }
    shapes = ", ".join(f"{name} {array.shape}" for name, array in inputs.items())
    return Case(f"{shapes}, {case.params}", inputs, case.params, case.output_dtypes)


def own_cases(operator: Operator) -> list[Case]:
    """Return some cases of an operator's own tests: the first of each rank with each param."""
    module = runpy.run_path(str(operator.root / f"tests/test_{operator.spec.lower}.py"))
    found: dict[str, Case] = {}
    for cases in module.values():
        for case in cases if isinstance(cases, list) else ():
            if isinstance(case, Case):
                kinds = [(array.ndim, array.dtype.name) for array in case.inputs.values()]
                found.setdefault(f"{kinds} {case.params}", case)
    return [*found.values()][:MAX_CASES]
