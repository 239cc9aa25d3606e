"""Measure where the time of a kernel's call goes, on each runtime, as a Markdown table.

    python -m benchmarks.phases [--examples exp resize_area] [--runs 31] [--output benchmarks]

Prints the table; with --output, writes it into RESULTS.md of that folder. The kernels are those of
`scons report`, with about 2^20 elements, in the types that each runtime hands over.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import results_file
from benchmarks.programs import run
from opkit.check.operators import Operator
from opkit.check.profile import PHASES, CallProfile, Profile, profile_of
from opkit.report.profiles import time_text
from opkit.repository import load
from opkit.runtimes.invocation import Invocation, ProfiledKernel
from opkit.testing import Case, cases, uniform
from rknn_op.creation import operator_library
from rknn_op.own_opkit import environment

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "operators"
COMMAND = "python -m benchmarks.phases --output benchmarks"
LIMIT = 60  # seconds for a call
NAMES = {"rknn": "RKNN 1.x", "pplnn": "PPLNN", "rknn2": "RKNN 2"}
DTYPES = {"rknn": ["float16"], "pplnn": ["float32", "float16"], "rknn2": ["float32"]}
"""Runtime -> the usual dtypes of its tensors."""


@dataclass(frozen=True)
class Call:
    """A call of an example.

    Attributes:
        shape: of its input.
        params: name -> value.
    """

    shape: tuple[int, ...]
    params: Mapping[str, Any] = field(default_factory=dict)

    def case(self, dtype: str) -> Case:
        """Return the call as a case."""
        shapes, params = [{"input": self.shape}], [dict(self.params)]
        return cases(shapes=shapes, values=[uniform(-10, 10)], params=params, dtype=dtype)[0]


CALLS = {
    "exp": Call((1024, 1024)),
    "resize_area": Call((1, 512, 512, 4), {"size": [256, 256], "align_corners": False}),
}


# A report builds the profiled kernels, and runs the cases, of which it needs one.
TEST = """\
from opkit.testing import cases, check_cpu_kernel, uniform

def test_cpu_kernel():
    for case in cases(shapes=[{"input": (1, 4, 4, 1)}], values=[uniform(-1, 1)], params=[PARAMS]):
        check_cpu_kernel(case, max_ulp=1)
"""


def make(name: str, folder: Path) -> Path:
    """Make and build the repository of an example for all runtimes, without VX kernel."""
    text = (EXAMPLES / name / f"{name}.yml").read_text()
    text = re.sub(r"^(kernels|runtimes):.*\n", "", text, flags=re.MULTILINE)
    chosen = ", ".join(NAMES)
    (folder / "op.yml").write_text(f"{text}kernels: [cpu]\nruntimes: [{chosen}]\n")
    arguments = ["--no-input", str(ROOT), "config=op.yml", "-o", "made"]
    run([sys.executable, "-m", "cookiecutter", *arguments], folder)
    (repository,) = (folder / "made").iterdir()
    for path, data in (
        operator_library.named_operator(EXAMPLES, name).files(load(repository)).items()
    ):
        if path.endswith((".h", ".py")) and (repository / path).is_file():
            (repository / path).write_bytes(data)
    (repository / f"tests/test_{name.replace('_', '')}.py").write_text(
        TEST.replace("PARAMS", repr(CALLS[name].params))
    )
    command = [sys.executable, "-m", "SCons", "-s", "report", "quick=1"]
    run(command, repository, env=environment(repository))
    return repository


def profiles(call: Call, repository: Path, runs: int) -> Iterator[tuple[str, str, Profile]]:
    """Yield (runtime, dtype, profile) of a call of a repository's kernels, in turns."""
    operator = Operator(repository)
    kernels = dict(zip(operator.spec.runtimes, operator.cpu_kernels().values(), strict=True))
    measured: dict[tuple[str, str], list[CallProfile]] = {}
    elements = int(np.prod(call.shape))
    turns = 3
    for _ in range(turns):
        for runtime, kernel in kernels.items():
            for dtype in DTYPES[runtime]:
                invocation = operator.prepare(call.case(dtype)).invocation
                measured.setdefault((runtime, dtype), []).extend(
                    calls_of(kernel, invocation, -(-runs // turns))
                )
    for (runtime, dtype), calls in measured.items():
        yield runtime, dtype, profile_of(calls, elements)


def calls_of(kernel: object, invocation: Invocation, repeat: int) -> list[CallProfile]:
    """Return the profiles of a kernel's calls.

    Raises:
        SystemExit: the kernel fails.
    """
    assert isinstance(kernel, ProfiledKernel)
    result = kernel.profile(invocation, repeat, LIMIT)
    if result.fault or result.status:
        raise SystemExit(f"status {result.status} {result.fault}")
    return [CallProfile.parse(record) for record in result.profiles]


def section(names: list[str], runs: int, work: Path) -> str:
    """Measure, and return the benchmark's section of RESULTS.md."""
    rows = []
    for name in names:
        (work / name).mkdir()
        repository = make(name, work / name)
        for runtime, dtype, profile in profiles(CALLS[name], repository, runs):
            times = profile.per_element
            rows.append(
                [
                    f"{name}, {dtype}, {NAMES[runtime]}",
                    time_text(profile.total / profile.elements),
                    *(time_text(times[phase]) for phase in PHASES),
                ]
            )
    return f"""\
## Where a kernel's time goes

    {COMMAND}

{results_file.machine()};
means of the middle half of {runs} calls on each runtime, in turns.

Nanoseconds per element of the input, of which there are 2^20, on this PC, where the host runtime
stands in for the board's. `copy`: between the memory of the runtime and the kernel's. `conversion`:
of halves. `math`: the operator's C. `allocation`: malloc and free, with the system's work for new
pages.

{results_file.table(["", "call", *PHASES], rows)}
"""


def main() -> None:
    """Measure, print, and write with --output."""
    parser = results_file.parser("phases", __doc__, runs=31)
    parser.add_argument("--examples", nargs="+", choices=list(CALLS), default=list(CALLS))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        text = section(options.examples, options.runs, Path(folder))
    results_file.finish(options.output, "phases", text)


if __name__ == "__main__":
    main()
