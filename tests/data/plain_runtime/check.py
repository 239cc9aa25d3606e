"""How the cases run as the plain runtime would run them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from opkit.check.harness_client import HarnessKernel
from opkit.description.spec import OpSpec, Param
from opkit.runtimes.check import Check
from opkit.runtimes.executor import Executor
from opkit.runtimes.invocation import CallingConvention, Value

TENSOR_TYPES = {"float16": "float32", "float32": "float32"}


def _value(param: Param, value: Any) -> Value:
    """Return the number as C has it."""
    array = np.array(value, param.type.element.dtype)
    return Value(param.name, array.dtype.name, array.shape, array.tobytes())


CONVENTION = CallingConvention(
    TENSOR_TYPES, TENSOR_TYPES, TENSOR_TYPES, _value, has_shape_rule=False
)


def _cpu_kernel(spec: OpSpec, root: Path) -> HarnessKernel:
    """Return the math in the harness."""
    build = root / "build"
    files = ("host/harness", "plain/runtime.so", f"plain/{spec.lower}.so")
    command = (*(str(build / file) for file in files), f"{spec.lower}_plain")
    return HarnessKernel(spec, Executor("x64", command, measures=True), root, CONVENTION)


CHECK = Check(convention=CONVENTION, cpu_kernel=_cpu_kernel)
