"""The operator that a repository holds: its description, its reference, its kernels."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cache, cached_property
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from opkit import runtimes
from opkit.check.cases import Case, dtype_and_shape
from opkit.check.executors import Executor
from opkit.check.harness.client import HarnessKernel
from opkit.check.mistakes import CheckError
from opkit.check.reference import Reference
from opkit.check.run_log import CPU_KERNEL
from opkit.description.limits import lowest
from opkit.description.spec import TENSOR_DTYPES, OpSpec, Param, Tensor
from opkit.errors import OpkitError
from opkit.runtimes.interface import Runtime
from opkit.runtimes.invocation import (
    Array,
    CallingConvention,
    Invocation,
    Kernel,
    RefusedError,
    SimulatedKernel,
)


@dataclass(frozen=True)
class Untaken:
    """A tensor of a case that no model of a runtime can have.

    Attributes:
        role: "input" or "output".
        name: its name.
        dtype: its dtype.
        taken: the dtypes that it could have.
    """

    role: str
    name: str
    dtype: str
    taken: Collection[str]


def untaken(
    convention: CallingConvention, case: Case, output_dtypes: Mapping[str, np.dtype[Any]]
) -> Iterator[Untaken]:
    """Yield the inputs of a case and the outputs that no model of the runtime can have."""
    inputs = {name: array.dtype for name, array in case.inputs.items()}
    for role, dtypes, taken in (
        ("input", inputs, convention.input_types),
        ("output", output_dtypes, convention.output_types),
    ):
        for name, dtype in dtypes.items():
            if dtype.name not in taken:
                yield Untaken(role, name, dtype.name, taken)


@dataclass(frozen=True)
class Prepared:
    """A case, ready for every kernel.

    Attributes:
        case: the case.
        invocation: what a kernel is called with.
        expected: name of each output -> what the reference computes, in the output's dtype.
    """

    case: Case
    invocation: Invocation
    expected: Mapping[str, Array]

    def rounded(self, precision: Mapping[str, str]) -> Prepared:
        """Return the case with outputs of other dtypes; see SimulatedKernel."""
        with np.errstate(over="ignore"):
            expected = {
                name: array.astype(precision.get(array.dtype.name, array.dtype), copy=False)
                for name, array in self.expected.items()
            }
        outputs = {name: (array.shape, array.dtype) for name, array in expected.items()}
        return Prepared(self.case, replace(self.invocation, outputs=outputs), expected)


class Operator:
    """An operator's repository: its description, its reference and its kernels.

    Args:
        root: the repository, built with `scons target=x64`.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.first_timeouts: dict[str, str] = {}  # name of a kernel -> the case that hung first
        self._executed: dict[str, HarnessKernel] = {}
        self._simulated: dict[str, SimulatedKernel] = {}
        self._first_case: dict[str, str] = {}  # line of a mistake -> the first case that met it

    @cached_property
    def spec(self) -> OpSpec:
        """The operator description."""
        path = self.root / "op.yml"
        try:
            return runtimes.parse(path.read_text(encoding="utf-8"), str(path))
        except OSError as error:
            raise OpkitError(f"{path} cannot be read: {error.strerror}") from None

    @cached_property
    def reference(self) -> Reference:
        """The math and the shape rule in numpy."""
        return Reference(self.root / f"{self.spec.lower}_reference.py", self.spec)

    @cached_property
    def runtimes(self) -> list[Runtime]:
        """What the operator runs on."""
        return runtimes.of(self.spec)

    @cached_property
    def cpu_kernel(self) -> Kernel:
        """The CPU kernel on this PC, as the first of the runtimes calls it."""
        return self.runtimes[0].cpu_kernel(self.spec, self.root)

    def cpu_kernels(self, executors: Sequence[Executor] = ()) -> dict[str, Kernel]:
        """Return the CPU kernel on this PC, as every runtime calls it, and wherever else it runs.

        Args:
            executors: what starts a harness with this operator's kernel in it.
        """
        kernels: dict[str, Kernel] = {CPU_KERNEL.name: self.cpu_kernel}
        for runtime in self.runtimes[1:]:
            kernels[CPU_KERNEL.on(runtime.name)] = runtime.cpu_kernel(self.spec, self.root)
        for executor in executors:
            name = CPU_KERNEL.on(executor.name)
            if name not in self._executed:
                runtime = runtimes.available()[executor.runtime]
                convention = runtime.calling_convention(executor.abi)
                self._executed[name] = HarnessKernel(self.spec, executor, self.root, convention)
            kernels[name] = self._executed[name]
        return kernels

    def simulated_kernels(self, simulators: Sequence[Executor]) -> dict[str, SimulatedKernel]:
        """Return the reference in each of the simulators, by the simulator's name."""
        for executor in simulators:
            if executor.name not in self._simulated:
                runtime = runtimes.available()[executor.runtime]
                kernel = runtime.simulated_kernel(self.spec, executor, self.root)
                self._simulated[executor.name] = kernel
        return {executor.name: self._simulated[executor.name] for executor in simulators}

    def check(self, case: Case) -> dict[str, Any]:
        """Refuse a case that op.yml does not fit, or that no tensor can hold.

        Returns:
            The value of every param: the case's, or the default in op.yml.

        Raises:
            CheckError: the case is wrong; the message begins with the line that made it.
        """
        try:
            self._check_inputs(case)
            self._check_output_dtypes(case)
            self._check_taken(case, self._output_dtypes(case))
            return self._params(case)
        except (CheckError, RefusedError) as error:
            raise CheckError(f"{case.origin}: {error}") from None

    def _check_inputs(self, case: Case) -> None:
        expected = [tensor.name for tensor in self.spec.inputs]
        if sorted(case.inputs) != sorted(expected):
            raise CheckError(
                f"the case has the inputs {', '.join(case.inputs) or 'none'}; "
                f"op.yml has: {', '.join(expected)}"
            )
        for name, array in case.inputs.items():
            if not isinstance(array, np.ndarray):
                raise CheckError(f"input '{name}' is a {type(array).__name__}, not a numpy array")
            self._check_tensor(f"input '{name}'", array.shape, array.dtype)
        for tensor in self.spec.inputs:
            _check_declared(tensor, case.inputs[tensor.name].dtype)

    def _check_output_dtypes(self, case: Case) -> None:
        expected = [tensor.name for tensor in self.spec.outputs]
        for name, dtype in case.output_dtypes.items():
            if name not in expected:
                raise CheckError(
                    f"the case has a dtype for '{name}', which is not a tensor; op.yml has the "
                    f"outputs: {', '.join(expected)}"
                )
            try:
                self._check_dtype(f"output '{name}'", np.dtype(dtype))
            except TypeError:
                raise CheckError(f"output '{name}' has the unknown dtype {dtype!r}") from None

    def _output_dtypes(self, case: Case) -> dict[str, np.dtype[Any]]:
        """Return the dtype of each output: that of the converted model, or another float.

        Raises:
            CheckError: the case names one that the converted model does not have.
        """
        first = case.inputs[self.spec.inputs[0].name].dtype
        dtypes = {}
        for output in self.spec.outputs:
            described = np.dtype(output.dtype or first)
            dtype = np.dtype(case.output_dtypes.get(output.name, described))
            if dtype != described and not dtype.kind == described.kind == "f":
                source = "op.yml" if output.dtype else "the first input"
                converters = [runtime.converter for runtime in self.runtimes if runtime.converter]
                classes = "".join(f" in the class that {name} calls," for name in converters)
                raise CheckError(
                    f"output '{output.name}' is {dtype} in the case, but {described}{classes} as "
                    f"{source} says; write `dtype: {dtype}` in op.yml at outputs.{output.name}, or "
                    "leave the dtype out of the case"
                )
            dtypes[output.name] = dtype
        return dtypes

    def _check_taken(self, case: Case, output_dtypes: Mapping[str, np.dtype[Any]]) -> None:
        """Refuse a case with a dtype that no runtime takes; else those that do not leave it out."""
        found = [
            next(untaken(runtime.calling_convention(), case, output_dtypes), None)
            for runtime in self.runtimes
        ]
        if found[0] and all(found):
            runtime, first = self.runtimes[0], found[0]
            reason = f", {runtime.lost_tensors}" if runtime.lost_tensors else ""
            raise CheckError(
                f"{first.role} '{first.name}' is {first.dtype}; {runtime.title} has no such "
                f"{first.role}s{reason} (expected {', '.join(first.taken)})"
            )

    def _params(self, case: Case) -> dict[str, Any]:
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
            params[param.name] = _param_value(param, value)
        for runtime in self.runtimes:
            # It may refuse a value.
            runtime.calling_convention().marshal(self.spec.params, params)
        return params

    def prepare(self, case: Case) -> Prepared:
        """Compute what every kernel should make of a case.

        Raises:
            CheckError: the case or the reference is wrong. A mistake of the reference is told in
                full once for each line of it.
        """
        params = self.check(case)
        _ = self.reference.module  # that it cannot be imported has nothing to do with the case
        try:
            expected = self._expected(case, params)
        except CheckError as error:
            message = str(error)
            line = message.partition(": ")[0]
            if line in self._first_case:
                raise CheckError(f"{message}; as in case {self._first_case[line]}") from None
            self._first_case[line] = case.name
            lines = [f"{name}: {dtype_and_shape(array)}" for name, array in case.inputs.items()]
            lines += [f"{name} = {value}" for name, value in params.items()]
            raise CheckError("\n    ".join([message, *lines])) from None
        shapes = {name: (array.shape, array.dtype) for name, array in expected.items()}
        return Prepared(case, Invocation(case.inputs, params, shapes), expected)

    def _expected(self, case: Case, params: Mapping[str, Any]) -> dict[str, Array]:
        """Return what the reference computes, rounded to the outputs' dtypes."""
        shapes = self.reference.output_shapes(
            {name: tuple(array.shape) for name, array in case.inputs.items()}, params
        )
        inputs = {name: _as_reference_sees(array) for name, array in case.inputs.items()}
        # What numpy warns of there is what the case is for.
        is_extreme = any(map(_is_extreme, case.inputs.values()))
        with np.errstate(all="ignore") if is_extreme else nullcontext():
            results = self.reference.reference(inputs, params)
        place = self.reference.line_of(self.reference.module.reference)
        for name, array in case.inputs.items():
            if inputs[name].tobytes() != _as_reference_sees(array).tobytes():
                raise CheckError(
                    f"{place}: the reference changes its input '{name}'; let it copy first"
                )
        dtypes = self._output_dtypes(case)
        expected = {}
        for name, result in results.items():
            if result.shape != shapes[name]:
                raise CheckError(
                    f"{place}: the reference returns '{name}' with shape {result.shape}, but its "
                    f"output_shapes says {shapes[name]}"
                )
            dtype = dtypes[name]
            self._check_tensor(f"{place}: output '{name}'", result.shape, dtype)
            expected[name] = _rounded(f"{place}: the reference", name, result, dtype)
        return expected

    def _check_tensor(self, what: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        max_rank, device = lowest((runtime.limits for runtime in self.runtimes), "rank")
        if not 1 <= len(shape) <= max_rank or 0 in shape:
            raise CheckError(
                f"{what} has shape {shape}; {device} takes 1 to {max_rank} dimensions, none 0"
            )
        self._check_dtype(what, dtype)

    def _check_dtype(self, what: str, dtype: np.dtype[Any]) -> None:
        if dtype not in map(np.dtype, TENSOR_DTYPES):
            device, allowed = self.runtimes[0].limits.device, ", ".join(TENSOR_DTYPES)
            raise CheckError(f"{what} is {dtype}; {device}'s tensors are one of: {allowed}")


def _check_declared(tensor: Tensor, dtype: np.dtype[Any]) -> None:
    """Refuse an input of another dtype than op.yml declares; floats may differ in their size."""
    declared = np.dtype(tensor.dtype or dtype)
    if dtype != declared and not dtype.kind == declared.kind == "f":
        raise CheckError(
            f"input '{tensor.name}' is {dtype} in the case, but {declared} as op.yml says; write "
            f'dtype={{"{tensor.name}": "{declared}"}} in the case, or change '
            f"inputs.{tensor.name}.dtype in op.yml"
        )


def _param_value(param: Param, value: Any) -> Any:
    """The value as the reference gets it: a number, a list of numbers, or a text."""
    if param.type.is_text:
        if not isinstance(value, str):
            raise CheckError(f"param '{param.name}' is {value!r}; op.yml wants a text")
        return value
    if param.type.is_list:
        items = list(value) if isinstance(value, (list, tuple, np.ndarray)) else [None]
        if not all(_is_number(item) for item in items):
            raise CheckError(f"param '{param.name}' is {value!r}; op.yml wants a list of numbers")
        if param.length not in (None, len(items)):
            raise CheckError(
                f"param '{param.name}' has {len(items)} items; op.yml says length: {param.length}"
            )
        return items
    if not _is_number(value):
        kind = param.type.name
        raise CheckError(f"param '{param.name}' is {value!r}; op.yml wants a number, {kind}")
    return value


def _is_number(value: Any) -> bool:
    return isinstance(value, (Real, np.bool_))


def _is_extreme(array: Array) -> bool:
    """Whether an input has NaN, infinities or the largest numbers of its dtype."""
    if array.dtype.kind != "f":
        return False
    return not bool((np.abs(array) < np.finfo(array.dtype).max).all())


def _as_reference_sees(array: Array) -> Array:
    """A copy; of half-precision tensors as float32, which is what kernels compute with."""
    with np.errstate(all="ignore"):  # a signaling NaN
        return array.astype(np.float32) if array.dtype == np.float16 else array.copy()


def _rounded(what: str, name: str, result: Array, dtype: np.dtype[Any]) -> Array:
    with np.errstate(all="ignore"):
        rounded = result.astype(dtype)
    if dtype.kind in "biu" and not np.array_equal(rounded, result):
        raise CheckError(
            f"{what} returns '{name}' as {result.dtype} with values that {dtype} does not "
            f"have; round them, or write the output's dtype in op.yml: outputs.{name}.dtype"
        )
    return rounded


@cache
def operator_of(root: Path) -> Operator:
    """Return the operator of a repository, loaded once in a process."""
    return Operator(root)
