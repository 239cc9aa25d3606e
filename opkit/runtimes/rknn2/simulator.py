"""An operator in RKNN-Toolkit2: in a model that the toolkit converts and simulates."""

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

from opkit.check.processes import Worker, start_worker
from opkit.description.spec import OpSpec
from opkit.runtimes.executor import Executor
from opkit.runtimes.invocation import (
    AT_FULL_SPEED,
    CallingConvention,
    Invocation,
    LeftOutError,
    RunOptions,
    RunResult,
)
from opkit.runtimes.rknn2.calling_convention import CONVENTION
from opkit.runtimes.rknn2.converter import FOLDER
from opkit.runtimes.rknn2.settings import settings
from opkit.scratch import scratch_folder

TIMEOUT = 120.0  # seconds for a case, and for importing the toolkit before the first
OUTPUT_LINES = 12  # the last lines of the toolkit's output, for a message

_PROGRESS = "I "  # the prefix of the toolkit's informational lines
_TENSOR_TYPES = {
    "float16": "float32",
    **{name: name for name in ("float32", "int8", "uint8", "int32", "int64", "bool")},
}


@dataclass(eq=False)
class SimulatedReference:
    """The reference in a converted model of one node. Implements SimulatedKernel.

    At a name of ONNX's own, the toolkit runs its own operator in place of the reference.

    The simulator rounds floats to float16; the error is up to two units in the last place, which is
    2e-3 relative.

    Attributes:
        spec: the operator description.
        executor: the start command of the simulator.
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

    @property
    def vendor_operator(self) -> str:
        """The name of the toolkit's own operator; empty: the reference runs."""
        own = settings(self.spec)
        return own.op_type if own.is_standard else ""

    @cached_property
    def _folder(self) -> Path:
        """The folder of the worker's files; it is deleted with this object."""
        scratch = ExitStack()
        weakref.finalize(self, scratch.close)
        return scratch.enter_context(scratch_folder(self.root / "build/rknn2"))

    def run(self, invocation: Invocation, options: RunOptions = AT_FULL_SPEED) -> RunResult:
        """Convert a model for the arrays and simulate it; see Kernel.

        The options have no effect: a second call with the same arrays has the same result.

        Raises:
            LeftOutError: the toolkit cannot convert the model, although the case is valid.
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
            "names": [input_.name for input_ in self.spec.inputs],
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
            EOFError: the process ends meanwhile.
            TimeoutError: there is no answer in time.
        """
        if self._worker is None:
            command = (*self.executor.command, str(self.root / FOLDER))
            self._worker = start_worker(command, folder=self._folder)
        self._worker.send(f"{request}\n".encode(), TIMEOUT)
        return dict(json.loads(self._worker.line()))

    def _ended(self, timed_out: bool) -> RunResult:
        """End a process that has not answered; return its fault and its last output."""
        worker = self._worker
        assert worker is not None
        self._worker = None
        lines = (line.strip() for line in worker.kill().splitlines())
        last = [line for line in lines if line and not line.startswith(_PROGRESS)]
        how = f"took longer than {TIMEOUT:g} s" if timed_out else "ended without an answer"
        output = "".join(f"\n  {line}" for line in last[-OUTPUT_LINES:])
        return RunResult(fault=f"RKNN-Toolkit2 {how}{output}", timed_out=timed_out)

    def close(self) -> None:
        """End the process; the next case starts another one."""
        if self._worker is not None:
            self._worker.kill()
            self._worker = None


def _plain(value: Any) -> Any:
    """Convert a number or an array of numpy's, the value of a param, for JSON."""
    return value.tolist()
