"""Checks an operator's kernels against its numpy reference; used by the tests of a repository.

CASES = cases(
    shapes=[{"input": (1, 6, 5, 3)}],
    values=[uniform(-1, 1), special()],
    params=vary_params({"size": [4, 4]}),
    dtype="float16",
)

@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=1)
"""

from __future__ import annotations

from typing import Any

from opkit.check.case_makers import recorded, vary_params
from opkit.check.cases import Case, Values, cases, integers, ramp, special, uniform
from opkit.check.checking import check_cpu_kernel, run_cpu_kernel, run_kernel
from opkit.check.mistakes import CheckError
from opkit.check.operators import Operator
from opkit.check.results import Result
from opkit.check.tolerance import Tolerance
from opkit.runtimes import available

__all__ = [
    "Case",
    "CheckError",
    "Operator",
    "Result",
    "Tolerance",
    "Values",
    "cases",
    "check_cpu_kernel",
    "integers",
    "ramp",
    "recorded",
    "run_cpu_kernel",
    "run_kernel",
    "special",
    "uniform",
    "vary_params",
]


def __getattr__(name: str) -> Any:
    """Return a runtime's test function of this name."""
    for runtime in available().values() if not name.startswith("_") else ():
        if name in runtime.check.test_functions:
            return runtime.check.test_functions[name]
    raise AttributeError(f"module 'opkit.testing' has no attribute '{name}'")
