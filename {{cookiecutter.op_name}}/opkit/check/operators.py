"""The operator that a repository holds: its description, its reference, its kernels."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from opkit.check.cases import Case
from opkit.check.executors import Executor
from opkit.check.harness.client import HarnessKernel
from opkit.check.invocation import TENSOR_TYPES, Array, Kernel, marshal
from opkit.description.spec import OpSpec, parse
from opkit.errors import OpkitError
from opkit.runtimes.rknn.kernels import cpu_kernel
from opkit.runtimes.rknn.vx.kernel import POISON, EmulatedKernel
from opkit.runtimes.rknn.vx.launch import Border


class CheckError(OpkitError):
    """A case is not right; the message says in what."""


class Operator:
    """An operator's repository: its description, its reference and its kernels.

    Args:
        root: the repository, built with `scons target=x64`.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.first_timeouts: dict[str, str] = {}  # name of a kernel -> the case that hung first
        self._vx_kernels: dict[Border, EmulatedKernel] = {}
        self._executed: dict[str, HarnessKernel] = {}

    @cached_property
    def spec(self) -> OpSpec:
        """The operator description."""
        path = self.root / "op.yml"
        try:
            return parse(path.read_text(encoding="utf-8"), str(path))
        except OSError as error:
            raise OpkitError(f"{path} cannot be read: {error.strerror}") from None

    @cached_property
    def reference(self) -> ModuleType:
        """The module `<operator>_reference`, the same that the repository's tests import."""
        name = f"{self.spec.lower}_reference"
        path = self.root / f"{name}.py"
        module = sys.modules.get(name)
        if module is not None and Path(str(module.__file__)).resolve() == path.resolve():
            return module
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None or not path.is_file():
            raise OpkitError(f"{path} is not there; run `scons target=x64`, which makes one")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        return module

    @cached_property
    def cpu_kernel(self) -> Kernel:
        """The CPU kernel on this PC."""
        return cpu_kernel(self.spec, self.root)

    def cpu_kernels(self, executors: Sequence[Executor]) -> dict[str, Kernel]:
        """Return the CPU kernel on this PC, and wherever else it is to run.

        Args:
            executors: what starts a harness with this operator's kernel in it.
        """
        kernels: dict[str, Kernel] = {"CPU kernel": self.cpu_kernel}
        for executor in executors:
            name = f"CPU kernel, {executor.name}"
            if name not in self._executed:
                self._executed[name] = HarnessKernel(self.spec, executor, self.root)
            kernels[name] = self._executed[name]
        return kernels

    def vx_kernel(self, border: Border = POISON) -> EmulatedKernel:
        """The VX kernel in the emulator.

        Args:
            border: what it reads outside of a tensor.
        """
        if border not in self._vx_kernels:
            self._vx_kernels[border] = EmulatedKernel(self.spec, self.root, border)
        return self._vx_kernels[border]

    def params(self, case: Case) -> dict[str, Any]:
        """Return the value of every param: the case's, or the default in op.yml."""
        names = [param.name for param in self.spec.params]
        for name in case.params:
            if name not in names:
                known = ", ".join(names) or "none"
                raise CheckError(f"the case sets the unknown param '{name}'; op.yml has: {known}")
        params = {}
        for param in self.spec.params:
            value = case.params.get(param.name, param.default)
            if value is None:
                raise CheckError(
                    f"the case does not set param '{param.name}', which has no default in op.yml"
                )
            params[param.name] = list(value) if isinstance(value, (list, tuple)) else value
            marshal(param, params[param.name])
        return params

    def check_inputs(self, case: Case) -> None:
        """Refuse a case whose inputs are not those of op.yml, or that no tensor can hold."""
        expected = [tensor.name for tensor in self.spec.inputs]
        if sorted(case.inputs) != sorted(expected):
            raise CheckError(
                f"the case has the inputs {', '.join(case.inputs) or 'none'}; "
                f"op.yml has: {', '.join(expected)}"
            )
        for name, array in case.inputs.items():
            _check_tensor(f"input '{name}'", array.shape, array.dtype)

    def expected(self, case: Case, params: Mapping[str, Any]) -> dict[str, Array]:
        """Return what the reference computes, rounded to the outputs' dtypes.

        Raises:
            CheckError: the reference does not keep to its rules.
        """
        shapes = self.reference.output_shapes(
            {name: tuple(array.shape) for name, array in case.inputs.items()}, dict(params)
        )
        inputs = {name: _as_reference_sees(array) for name, array in case.inputs.items()}
        results = self.reference.reference(inputs, dict(params))
        for name, array in case.inputs.items():
            if inputs[name].tobytes() != _as_reference_sees(array).tobytes():
                raise CheckError(f"the reference changes its input '{name}'; let it copy first")
        first = case.inputs[self.spec.inputs[0].name].dtype
        expected = {}
        for tensor in self.spec.outputs:
            name = tensor.name
            for function, answer in (("output_shapes", shapes), ("reference", results)):
                if name not in answer:
                    raise CheckError(f"the reference's {function} returns nothing for '{name}'")
            result = np.asarray(results[name])
            if result.shape != tuple(shapes[name]):
                raise CheckError(
                    f"the reference returns '{name}' with shape {result.shape}, but its "
                    f"output_shapes says {tuple(shapes[name])}"
                )
            dtype = np.dtype(case.output_dtypes.get(name, first))
            _check_tensor(f"output '{name}'", result.shape, dtype)
            expected[name] = _rounded(name, result, dtype)
        return expected


@cache
def operator_of(root: Path) -> Operator:
    """Return the operator of a repository, loaded once in a process."""
    return Operator(root)


def _check_tensor(what: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    if not 1 <= len(shape) <= 6 or 0 in shape:
        raise CheckError(f"{what} has shape {shape}; the board takes 1 to 6 dimensions, none 0")
    if dtype not in TENSOR_TYPES:
        allowed = ", ".join(type_.name for type_ in TENSOR_TYPES)
        raise CheckError(f"{what} is {dtype}; the board's tensors are one of: {allowed}")


def _as_reference_sees(array: Array) -> Array:
    """A copy; of half-precision tensors as float32, which is what kernels compute with."""
    return array.astype(np.float32) if array.dtype == np.float16 else array.copy()


def _rounded(name: str, result: Array, dtype: np.dtype[Any]) -> Array:
    with np.errstate(all="ignore"):
        rounded = result.astype(dtype)
    if dtype.kind in "iu" and not np.array_equal(rounded, result):
        raise CheckError(
            f"the reference returns '{name}' as {result.dtype} with values that {dtype} does not "
            "have; round them, or name the output's dtype in the cases"
        )
    return rounded
