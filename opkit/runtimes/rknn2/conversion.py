"""RKNN-Toolkit2 in a process of its own: it converts cases to models of one node.

The process imports the toolkit once; see simulator_worker.py for its requests and answers.
"""

from __future__ import annotations

import json
import weakref
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from opkit.check.child_processes import Worker, start_worker
from opkit.common.errors import OpkitError
from opkit.common.scratch import scratch_folder
from opkit.description.spec import OpSpec
from opkit.runtimes.invocation import Array, Invocation, LeftOutError
from opkit.runtimes.rknn2.converter_class import FOLDER
from opkit.runtimes.rknn2.gpu_files import BUILD_FOLDER
from opkit.runtimes.rknn2.host_kernel import CONVENTION

TIMEOUT = 120.0  # seconds for a case, and for importing the toolkit before the first
OUTPUT_LINES = 12  # the last lines of the toolkit's output, for a message

_PROGRESS = "I "  # the prefix of the toolkit's informational lines

TENSOR_TYPES = {
    "float16": "float32",
    **{name: name for name in ("float32", "int8", "uint8", "int32", "int64", "bool")},
}
"""The dtype of a case's tensor -> the dtype in a model."""

MODEL_CONVENTION = replace(
    CONVENTION, tensor_types=TENSOR_TYPES, input_types=TENSOR_TYPES, output_types=TENSOR_TYPES
)
"""The convention of an application, which runs a model."""


class ConversionError(OpkitError):
    """A case that the toolkit cannot convert or simulate.

    Attributes:
        timed_out: whether it took too long.
    """

    def __init__(self, message: str, timed_out: bool = False) -> None:
        super().__init__(message)
        self.timed_out = timed_out


@dataclass(eq=False)
class Conversion:
    """The toolkit's process with an operator; the first case starts it.

    Attributes:
        spec: the operator description.
        command: the start command of simulator_worker.py.
        root: the repository.
    """

    spec: OpSpec
    command: Sequence[str]
    root: Path
    _worker: Worker | None = None

    @property
    def model(self) -> Path:
        """The converted model of the last case; it is deleted with this object."""
        return self._folder / "model.rknn"

    @cached_property
    def _folder(self) -> Path:
        """The folder of the worker's files."""
        scratch = ExitStack()
        weakref.finalize(self, scratch.close)
        return scratch.enter_context(scratch_folder(self.root / BUILD_FOLDER))

    def convert(self, invocation: Invocation) -> None:
        """Write the model of a case.

        Raises:
            LeftOutError: the toolkit cannot convert the model, although the case is valid.
            ConversionError: the model cannot be converted.
        """
        self._request(invocation, "")

    def simulate(self, invocation: Invocation) -> list[Array]:
        """Write the model of a case; return its outputs in the simulator, in order.

        Raises:
            LeftOutError: see convert.
            ConversionError: the model cannot be converted, or fails.
        """
        outputs = self._folder / "outputs.npz"
        self._request(invocation, str(outputs))
        with np.load(outputs) as file:
            return list(file.values())

    def _request(self, invocation: Invocation, outputs: str) -> None:
        inputs = self._folder / "inputs.npz"
        arrays = [invocation.inputs[input_.name] for input_ in self.spec.inputs]
        shapes = [
            *(array.shape for array in arrays),
            *(each for each, _ in invocation.outputs.values()),
        ]
        if any(0 in shape for shape in shapes):
            raise LeftOutError(
                "cases with a dimension of 0: RKNN-Toolkit2 is not given such models"
            )
        # By position: a name may be one of numpy's own parameters.
        np.savez(inputs, *(a.astype(TENSOR_TYPES[a.dtype.name], copy=False) for a in arrays))
        request = {
            "names": [input_.name for input_ in self.spec.inputs],
            "params": invocation.params,
            "inputs": str(inputs),
            "outputs": outputs,
            "package": str(self.model),
        }
        try:
            # A param's value may be a number or an array of numpy's.
            answer = self.ask(json.dumps(request, default=lambda value: value.tolist()))
        except (BrokenPipeError, EOFError, TimeoutError) as error:
            raise self._ended(isinstance(error, TimeoutError)) from None
        if "problem" in answer:
            raise ConversionError(answer["problem"])

    def ask(self, request: str) -> dict[str, str]:
        """Return the answer to a request.

        Raises:
            BrokenPipeError: the process has ended.
            EOFError: the process ends meanwhile.
            TimeoutError: there is no answer in time.
        """
        if self._worker is None:
            command = (*self.command, str(self.root / FOLDER))
            self._worker = start_worker(command, folder=self._folder)
        self._worker.send(f"{request}\n".encode(), TIMEOUT)
        return dict(json.loads(self._worker.line()))

    def _ended(self, timed_out: bool) -> ConversionError:
        """End a process that has not answered; return an error with its last output."""
        worker = self._worker
        assert worker is not None
        self._worker = None
        lines = (line.strip() for line in worker.kill().splitlines())
        last = [line for line in lines if line and not line.startswith(_PROGRESS)]
        how = f"took longer than {TIMEOUT:g} s" if timed_out else "ended without an answer"
        output = "".join(f"\n  {line}" for line in last[-OUTPUT_LINES:])
        return ConversionError(f"RKNN-Toolkit2 {how}{output}", timed_out)

    def close(self) -> None:
        """End the process; the next case starts another one."""
        if self._worker is not None:
            self._worker.kill()
            self._worker = None
