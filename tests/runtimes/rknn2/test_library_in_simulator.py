"""Every operator of ONNX in the library, once in RKNN-Toolkit2's simulator.

One process converts all models, because the toolkit takes seconds to start.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from opkit.check.child_processes import Worker, start_worker
from opkit.runtimes.executor import Executor
from opkit.runtimes.invocation import LeftOutError
from opkit.runtimes.rknn2.conversion import TIMEOUT, Conversion
from opkit.runtimes.rknn2.converter_class import FOLDER
from opkit.runtimes.rknn2.simulator import SimulatedReference
from tests.marks import sampled
from tests.repositories import ONNX_OPERATORS, RKNN2_EXAMPLES
from tests.runtimes.rknn2.test_simulator import cases_of, repository, run, toolkit_python

pytestmark = pytest.mark.slow

TARGET = "rk3588"
PROGRAM = Path(__file__).parent / "library_worker.py"


@dataclass(eq=False)
class SharedConversion(Conversion):
    """The toolkit with an operator, in a process for all operators."""

    shared: Worker | None = None

    def ask(self, request: str) -> dict[str, str]:
        assert self.shared is not None
        own = json.loads(request) | {"folder": str(self.root / FOLDER)}
        self.shared.send(f"{json.dumps(own)}\n".encode(), TIMEOUT)
        return dict(json.loads(self.shared.line()))


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    command = (toolkit_python(), "-B", str(PROGRAM), TARGET)
    started = start_worker(command, folder=tmp_path_factory.mktemp("simulator"))
    yield started
    started.kill()


@pytest.mark.parametrize("name", sampled(each for each in RKNN2_EXAMPLES if each in ONNX_OPERATORS))
def test_operator(
    name: str, worker: Worker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first case that the toolkit converts."""
    operator = repository(tmp_path, name)
    kernel = SimulatedReference(operator.spec, Executor(TARGET, ()), tmp_path)
    kernel.conversion = SharedConversion(operator.spec, (), tmp_path, shared=worker)
    reasons = []
    for case in cases_of(name, operator, monkeypatch):
        try:
            assert run(kernel, operator, case) == "", case.name
        except LeftOutError as error:
            reasons.append(str(error))
        else:
            return
    raise AssertionError("\n".join(reasons))


def test_integers_that_the_toolkit_replaces_by_zeros(
    worker: Worker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Mod refuses divisors of 0, which the toolkit tries while it builds."""
    operator = repository(tmp_path, "mod")
    kernel = SimulatedReference(operator.spec, Executor(TARGET, ()), tmp_path)
    kernel.conversion = SharedConversion(operator.spec, (), tmp_path, shared=worker)
    found = cases_of("mod", operator, monkeypatch)
    found = [case for case in found if case.inputs["b"].dtype.kind == "i"]
    assert len(found) == 40
    assert {case.name: run(kernel, operator, case) for case in found} == {
        case.name: "" for case in found
    }
