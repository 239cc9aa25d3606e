"""How the cases run as the plain runtime would run them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from opkit.check.harness.client import HarnessKernel
from opkit.description.spec import OpSpec, Param
from opkit.runtimes.check import Check
from opkit.runtimes.executor import Executor
from opkit.runtimes.invocation import Value


class Convention:
    """Numbers as C has them."""

    has_shape_rule = False
    tensor_types: ClassVar[Mapping[str, str]] = {"float16": "float32", "float32": "float32"}
    input_types = output_types = tensor_types

    def status_name(self, status: int) -> str:
        """Return a number."""
        return f"status {status}"

    def marshal(self, params: Sequence[Param], values: Mapping[str, Any]) -> list[Value]:
        """Return the numbers as C has them."""
        arrays = {p.name: np.array(values[p.name], p.type.element.dtype) for p in params}
        return [
            Value(name, array.dtype.name, array.shape, array.tobytes())
            for name, array in arrays.items()
        ]


def _cpu_kernel(spec: OpSpec, root: Path) -> HarnessKernel:
    """Return the math in the harness."""
    build = root / "build"
    files = ("host/harness", "plain/runtime.so", f"plain/{spec.lower}.so")
    command = (*(str(build / file) for file in files), f"{spec.lower}_plain")
    return HarnessKernel(spec, Executor("x64", command, measures=True), root, Convention())


CHECK = Check(convention=Convention(), cpu_kernel=_cpu_kernel)
