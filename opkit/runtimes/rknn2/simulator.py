"""The reference in RKNN-Toolkit2: as part of a model that it converts and simulates."""

from __future__ import annotations

import json
import math
import weakref
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from opkit.check.executors import Executor
from opkit.check.processes import Worker, start_worker
from opkit.description.spec import OpSpec
from opkit.runtimes.invocation import CallingConvention, Invocation, LeftOutError, RunResult
from opkit.runtimes.rknn2.calling_convention import CONVENTION
from opkit.runtimes.rknn2.converter import FOLDER
from opkit.scratch import scratch_folder

TIMEOUT = 120.0  # seconds for a case, and for importing the toolkit before the first
SHOWN_LINES = 12  # of what the toolkit wrote before it ended

_PROGRESS = "I "  # begins the toolkit's lines that are no warning
_TENSOR_TYPES = {
    "float16": "float32",
    **{name: name for name in ("float32", "int8", "uint8", "int32", "int64", "bool")},
}
WORKER = Path(__file__).with_name("simulator_worker.py")


def executor(target: str, python: str) -> Executor:
    """Return how the simulator for a target is started in a Python that has the toolkit."""
    command = (python, "-B", str(WORKER), target)
    return Executor(f"simulator, {target}", command, runtime=FOLDER)


@dataclass(eq=False)
class SimulatedReference:
    """The reference in a converted model of one node. It is a SimulatedKernel.

    The simulator rounds floats to float16; what that is off by is two of its representable values,
    which is 2e-3 relative.

    Attributes:
        spec: the operator description.
        executor: how the simulator is started.
        root: the repository.
    """

    spec: OpSpec
    executor: Executor
    root: Path
    _worker: Worker | None = None
    _last: tuple[Invocation, RunResult] | None = None
    keeps_state: ClassVar[bool] = False
    precision: ClassVar[Mapping[str, str]] = MappingProxyType({"float32": "float16"})
    max_ulp: ClassVar[int] = 2
    convention: ClassVar[CallingConvention] = replace(
        CONVENTION,
        tensor_types=_TENSOR_TYPES,
        input_types=_TENSOR_TYPES,
        output_types=_TENSOR_TYPES,
    )

    @cached_property
    def _folder(self) -> Path:
        """What the worker's files are in, as long as this exists."""
        scratch = ExitStack()
        weakref.finalize(self, scratch.close)
        return scratch.enter_context(scratch_folder(self.root / "build/rknn2"))

    def run(
        self, invocation: Invocation, fill: int | None = None, repeat: int = 1, limit: float = 10
    ) -> RunResult:
        """Convert a model for the arrays and simulate it; see Kernel.

        Nothing that it holds beforehand can be filled: the same call again has the same result.

        Raises:
            LeftOutError: the toolkit cannot convert such a model.
        """
        if self._last is None or self._last[0] is not invocation:
            self._last = invocation, self._simulate(invocation)
        return self._last[1]

    def _simulate(self, invocation: Invocation) -> RunResult:
        inputs, outputs = self._folder / "inputs.npz", self._folder / "outputs.npz"
        arrays = [invocation.inputs[input_.name] for input_ in self.spec.inputs]
        # By position: a name may be one of numpy's own parameters.
        np.savez(inputs, *(a.astype(_TENSOR_TYPES[a.dtype.name], copy=False) for a in arrays))
        request = {
            "params": invocation.params,
            "inputs": str(inputs),
            "outputs": str(outputs),
        }
        try:
            answer = self._ask(json.dumps(request, default=_plain))
        except (BrokenPipeError, EOFError, TimeoutError) as error:
            return self._ended(isinstance(error, TimeoutError))
        if "left_out" in answer:
            raise LeftOutError(
                "cases that RKNN-Toolkit2 cannot convert: while it builds, it tries numbers of its "
                f"own (random floats, integers that are 0); {answer['left_out']}"
            )
        if "problem" in answer:
            return RunResult(fault=answer["problem"])
        with np.load(outputs) as file:
            return self._result(invocation, list(file.values()))

    def _result(self, invocation: Invocation, arrays: Sequence[Any]) -> RunResult:
        result = RunResult(seconds=math.inf)
        for (name, (shape, dtype)), array in zip(invocation.outputs.items(), arrays, strict=True):
            is_float = np.dtype(dtype).kind == "f"
            if array.shape != shape or (array.dtype.kind == "f") != is_float:
                expected = f"{np.dtype(dtype)} {list(shape)}"
                was = f"{array.dtype} {list(array.shape)}"
                return RunResult(fault=f"the simulator gives '{name}' as {was}, not {expected}")
            with np.errstate(over="ignore"):
                result.outputs[name] = array.astype(dtype)
        return result

    def _ask(self, request: str) -> dict[str, str]:
        """Return the answer to a request.

        Raises:
            BrokenPipeError: the process has ended.
            EOFError: it ends meanwhile.
            TimeoutError: it has not answered in time.
        """
        if self._worker is None:
            command = (*self.executor.command, str(self.root / FOLDER))
            self._worker = start_worker(command, folder=self._folder)
        self._worker.send(f"{request}\n".encode(), TIMEOUT)
        return dict(json.loads(self._worker.line()))

    def _ended(self, timed_out: bool) -> RunResult:
        """Return what is known of a process that has not answered; the next case gets a new one."""
        worker = self._worker
        assert worker is not None
        self.close()
        lines = (line.strip() for line in worker.stderr().splitlines())
        last = [line for line in lines if line and not line.startswith(_PROGRESS)]
        how = f"took longer than {TIMEOUT:g} s" if timed_out else "ended without an answer"
        shown = "".join(f"\n  {line}" for line in last[-SHOWN_LINES:])
        return RunResult(fault=f"RKNN-Toolkit2 {how}{shown}", timed_out=timed_out)

    def close(self) -> None:
        """End the process; the next case starts another one."""
        if self._worker is not None:
            self._worker.kill()
            self._worker = None


def _plain(value: Any) -> Any:
    """Return a number or an array of numpy's, which a case may have as a param, for JSON."""
    return value.tolist()
