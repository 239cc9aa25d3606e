"""An operator in RKNN-Toolkit2: in a model that the toolkit converts and simulates."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from opkit.description.spec import OpSpec
from opkit.runtimes.executor import Executor
from opkit.runtimes.invocation import (
    AT_FULL_SPEED,
    CallingConvention,
    Invocation,
    RunOptions,
    RunResult,
)
from opkit.runtimes.rknn2.conversion import MODEL_CONVENTION, Conversion, ConversionError
from opkit.runtimes.rknn2.describe import settings


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
    _last: tuple[Invocation, RunResult] | None = None
    keeps_state: ClassVar[bool] = False
    precision: ClassVar[Mapping[str, str]] = MappingProxyType({"float32": "float16"})
    max_ulp: ClassVar[int] = 2
    convention: ClassVar[CallingConvention] = MODEL_CONVENTION

    @property
    def vendor_operator(self) -> str:
        """The name of the toolkit's own operator; empty: the reference runs."""
        own = settings(self.spec)
        return own.op_type if own.is_standard else ""

    @cached_property
    def conversion(self) -> Conversion:
        """The toolkit's process."""
        return Conversion(self.spec, self.executor.command, self.root)

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
        try:
            arrays = self.conversion.simulate(invocation)
        except ConversionError as error:
            return RunResult(fault=str(error), timed_out=error.timed_out)
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

    def close(self) -> None:
        """End the toolkit's process; the next case starts another one."""
        self.conversion.close()
