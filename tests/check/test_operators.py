"""An operator's kernels: one harness of each runtime serves all cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from opkit.check.instrumented import InstrumentedKernel
from opkit.check.operators import Operator
from opkit.runtimes.invocation import AT_FULL_SPEED, Invocation, RunOptions, RunResult
from tests.check.python_kernels import PythonKernel

DESCRIPTION = """
name: Twice
runtimes: [pplnn, rknn2]
inputs: {input: {type: VX_TYPE_TENSOR}}
outputs: {output: {type: VX_TYPE_TENSOR}}
"""
BUILT = (
    *("host/harness", "pplnn/host/libpplnn_driver.so", "rknn2/host/librknnrt.so"),
    *("pplnn/host/libtwice.so", "pplnn/host/delivered/libtwice.so"),
    *("rknn2/host/librkcst_twice.so", "rknn2/x64/librkcst_twice.so"),
)


def test_every_case_has_the_same_kernels(tmp_path: Path) -> None:
    (tmp_path / "op.yml").write_text(DESCRIPTION)
    for name in BUILT:
        (tmp_path / "build" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "build" / name).touch()
    operator = Operator(tmp_path)
    first, second = operator.cpu_kernels(), operator.cpu_kernels()
    assert list(first) == ["CPU kernel", "CPU kernel, rknn2"]
    assert [id(kernel) for kernel in first.values()] == [id(each) for each in second.values()]


@dataclass(frozen=True)
class Build(PythonKernel):
    """Stands for a build of a kernel: logs its name and the options of a run."""

    name: str = ""

    def run(self, invocation: Invocation, options: RunOptions = AT_FULL_SPEED) -> RunResult:
        return RunResult(log=[self.name, str(options.profiled)])

    def run_batch(
        self, invocations: Sequence[Invocation], fill: int, alternates: bool, limit: float
    ) -> dict[int, RunResult]:
        return {index: self.run(each) for index, each in enumerate(invocations)}


def test_each_run_has_its_build() -> None:
    delivered, instrumented, profiled = (
        Build(lambda inputs: {}, name=name) for name in ("delivered", "instrumented", "profiled")
    )
    kernel = InstrumentedKernel(delivered, lambda: instrumented, lambda: profiled)
    invocation = Invocation({}, {}, {})
    assert kernel.run(invocation).log == ["delivered", "False"]
    assert kernel.run(invocation, RunOptions(fill=0)).log == ["instrumented", "False"]
    assert kernel.run_batch([invocation], 0, False, 1)[0].log == ["instrumented", "False"]
    assert kernel.profile(invocation, 1, 1).log == ["profiled", "True"]
