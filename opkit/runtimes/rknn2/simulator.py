"""The reference in RKNN-Toolkit2: as part of a model that it converts and simulates."""

from __future__ import annotations

import json
import math
import os
import select
import subprocess
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from signal import SIGKILL
from types import MappingProxyType
from typing import Any

import numpy as np

from opkit.description.spec import OpSpec, Param
from opkit.runtimes.executor import Executor
from opkit.runtimes.invocation import CallingConvention, Invocation, LeftOutError, RunResult, Value
from opkit.runtimes.rknn2 import calling_convention
from opkit.runtimes.rknn2.converter import FOLDER
from opkit.scratch import scratch_folder

TIMEOUT = 120.0  # seconds for a case, and for importing the toolkit before the first
SHOWN_LINES = 12  # of what the toolkit wrote before it ended

_PROGRESS = "I "  # begins the toolkit's lines that are no warning
_TENSOR_TYPES = ("float32", "int8", "uint8", "int32", "int64", "bool")


class SimulatedReference:
    """The reference in a converted model of one node. It is a SimulatedKernel.

    The simulator rounds floats to float16; what that is off by is two of its representable values,
    which is 2e-3 relative.

    Args:
        spec: the operator description.
        executor: how the simulator is started.
        root: the repository.
    """

    keeps_state = False
    has_shape_rule = False
    precision: Mapping[str, str] = MappingProxyType({"float32": "float16"})
    max_ulp = 2
    tensor_types: Mapping[str, str] = MappingProxyType(
        {"float16": "float32", **{name: name for name in _TENSOR_TYPES}}
    )
    input_types = output_types = tensor_types

    def __init__(self, spec: OpSpec, executor: Executor, root: Path) -> None:
        self.spec = spec
        self.command = (*executor.command, str(root / FOLDER))
        self._process: subprocess.Popen[str] | None = None
        self._last: tuple[Invocation, RunResult] | None = None
        self._log = tempfile.TemporaryFile("w+")  # noqa: SIM115 - lives as long as this
        scratch = ExitStack()
        self._folder = scratch.enter_context(scratch_folder(root / "build/rknn2"))
        weakref.finalize(self, scratch.close)

    @property
    def convention(self) -> CallingConvention:
        """What it takes is not what the plugin takes."""
        return self

    def marshal(self, params: Sequence[Param], values: Mapping[str, Any]) -> list[Value]:
        """Return the attributes of a node."""
        return calling_convention.marshal(params, values)

    def status_name(self, status: int) -> str:
        """Return a status as messages show it."""
        return calling_convention.status_name(status)

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
        np.savez(inputs, *(a.astype(self.tensor_types[a.dtype.name], copy=False) for a in arrays))
        request = {
            "params": invocation.params,
            "inputs": str(inputs),
            "outputs": str(outputs),
        }
        try:
            answer = self._ask(json.dumps(request, default=_plain))
        except (BrokenPipeError, TimeoutError) as error:
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
            TimeoutError: it has not answered in time.
        """
        if self._process is None:
            self._process = subprocess.Popen(
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                cwd=self._folder,
                text=True,
                start_new_session=True,
            )
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(request + "\n")
        stdin.flush()
        if not select.select([stdout], [], [], TIMEOUT)[0]:
            raise TimeoutError
        line = stdout.readline()
        if not line:
            raise BrokenPipeError
        return dict(json.loads(line))

    def _ended(self, timed_out: bool) -> RunResult:
        """Return what is known of a process that has not answered; the next case gets a new one."""
        self.close()
        self._log.seek(0)
        lines = (line.strip() for line in self._log.read().splitlines())
        last = [line for line in lines if line and not line.startswith(_PROGRESS)]
        self._log.seek(0)
        self._log.truncate()
        how = f"took longer than {TIMEOUT:g} s" if timed_out else "ended without an answer"
        shown = "".join(f"\n  {line}" for line in last[-SHOWN_LINES:])
        return RunResult(fault=f"RKNN-Toolkit2 {how}{shown}", timed_out=timed_out)

    def close(self) -> None:
        """End the process; the next case starts another one."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, SIGKILL)  # with the child that converts
            self._process.communicate()
            self._process = None

    def __del__(self) -> None:
        self.close()


def _plain(value: Any) -> Any:
    """Return a number or an array of numpy's, which a case may have as a param, for JSON."""
    return value.tolist()
