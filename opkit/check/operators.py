"""A repository's operator: its description, its reference, its kernels."""

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
from opkit.check.cases import Case, Quantization, dtype_and_shape
from opkit.check.harness_client import HarnessKernel
from opkit.check.mistakes import CheckError
from opkit.check.reference import Reference
from opkit.common.errors import OpkitError
from opkit.common.text import printable
from opkit.description.describe import CPU_KERNEL
from opkit.description.spec import TENSOR_DTYPES, OpSpec, Param, describe_allowed, refused
from opkit.description.types import lowest
from opkit.runtimes.executor import Executor
from opkit.runtimes.interface import Runtime
from opkit.runtimes.invocation import (
    Array,
    CallingConvention,
    Invocation,
    Kernel,
    RefusedError,
    SimulatedKernel,
    VendorKernel,
)


@dataclass(frozen=True)
class UnsupportedTensor:
    """A tensor of a case with a dtype that a runtime's models do not support.

    Attributes:
        role: "input" or "output".
        name: its name.
        dtype: its dtype.
        supported: the supported dtypes.
    """

    role: str
    name: str
    dtype: str
    supported: Collection[str]


def unsupported_tensors(
    convention: CallingConvention, case: Case, output_dtypes: Mapping[str, np.dtype[Any]]
) -> Iterator[UnsupportedTensor]:
    """Yield the inputs and outputs of a case with dtypes that the runtime does not support."""
    inputs = {name: array.dtype for name, array in case.inputs.items()}
    for role, dtypes, supported in (
        ("input", inputs, convention.input_types),
        ("output", output_dtypes, convention.output_types),
    ):
        for name, dtype in dtypes.items():
            if dtype.name not in supported:
                yield UnsupportedTensor(role, name, dtype.name, supported)


@dataclass(frozen=True)
class Prepared:
    """A case with its invocation and its expected outputs.

    Attributes:
        case: the case.
        invocation: the arguments of a kernel.
        expected: name of each output -> array of the reference, in the output's dtype.
    """

    case: Case
    invocation: Invocation
    expected: Mapping[str, Array]

    @property
    def output_dtypes(self) -> dict[str, np.dtype[Any]]:
        """The dtype of each output."""
        return {name: array.dtype for name, array in self.expected.items()}

    def rounded(self, precision: Mapping[str, str]) -> Prepared:
        """Return the case with outputs of another precision; see SimulatedKernel."""
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
        self.first_timeouts: dict[str, str] = {}  # name of a kernel -> first case with a timeout
        # name of a kernel and dtypes of the inputs -> the elements of its largest profiled case
        self.profiled: dict[tuple[str, ...], int] = {}
        # name -> kernel, with one harness for all cases
        self._other_runtimes: dict[str, Kernel] = {}
        self._executed: dict[str, HarnessKernel] = {}
        self._simulated: dict[str, SimulatedKernel] = {}
        self._in_vendor_runtimes: dict[str, VendorKernel] = {}

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
        """The runtimes of the operator."""
        return runtimes.selected(self.spec)

    @cached_property
    def cpu_kernel(self) -> Kernel:
        """The CPU kernel on this PC, called by the first runtime."""
        return self.runtimes[0].check.cpu_kernel(self.spec, self.root)

    def cpu_kernels(self, executors: Sequence[Executor] = ()) -> dict[str, Kernel]:
        """Return the CPU kernel on this PC with every runtime, and on other executors, by name.

        Args:
            executors: the executors of harnesses with this operator's kernel.
        """
        kernels: dict[str, Kernel] = {CPU_KERNEL.name: self.cpu_kernel}
        for runtime in self.runtimes[1:]:
            name = CPU_KERNEL.on(runtime.name)
            if name not in self._other_runtimes:
                self._other_runtimes[name] = runtime.check.cpu_kernel(self.spec, self.root)
            kernels[name] = self._other_runtimes[name]
        for executor in executors:
            name = CPU_KERNEL.on(executor.name)
            if name not in self._executed:
                runtime = runtimes.available()[executor.runtime]
                convention = runtime.check.convention_on(executor.abi)
                self._executed[name] = HarnessKernel(self.spec, executor, self.root, convention)
            kernels[name] = self._executed[name]
        return kernels

    def simulated_kernels(self, simulators: Sequence[Executor]) -> dict[str, SimulatedKernel]:
        """Return the reference in each simulator, by the simulator's name."""
        for each in simulators:
            if each.name not in self._simulated:
                check = runtimes.available()[each.runtime].check
                self._simulated[each.name] = check.simulated_kernel(self.spec, each, self.root)
        return {each.name: self._simulated[each.name] for each in simulators}

    def vendor_kernels(self, executors: Sequence[Executor]) -> dict[str, VendorKernel]:
        """Return the CPU kernel in each of the vendors' own runtimes, by the executor's name."""
        for each in executors:
            if each.name not in self._in_vendor_runtimes:
                check = runtimes.available()[each.runtime].check
                kernel = check.vendor_kernel(self.spec, each, self.root)
                self._in_vendor_runtimes[each.name] = kernel
        return {each.name: self._in_vendor_runtimes[each.name] for each in executors}

    def check(self, case: Case) -> dict[str, Any]:
        """Refuse a case that does not match op.yml, or that tensors cannot hold.

        Returns:
            The value of every param, from the case or the default in op.yml.

        Raises:
            CheckError: the case is invalid; the message begins with the line of the case.
        """
        try:
            self._check_inputs(case)
            self._check_outputs(case)
            self._check_supported(case, self._output_dtypes(case))
            return self._params(case)
        except (CheckError, RefusedError) as error:
            raise CheckError(f"{case.origin}: {error}") from None

    def _check_inputs(self, case: Case) -> None:
        expected = [tensor.name for tensor in self.spec.inputs]
        if sorted(case.inputs) != sorted(expected):
            raise CheckError(
                f"the case has the inputs {printable(', '.join(case.inputs)) or 'none'}; "
                f"op.yml has: {', '.join(expected)}"
            )
        for name, array in case.inputs.items():
            if not isinstance(array, np.ndarray):
                raise CheckError(f"input '{name}' is a {type(array).__name__}, not a numpy array")
            self._check_tensor(f"input '{name}'", array.shape, array.dtype)
        for tensor in self.spec.inputs:
            dtype = case.inputs[tensor.name].dtype
            declared = np.dtype(tensor.dtype or dtype)
            if dtype != declared and not dtype.kind == declared.kind == "f":
                raise CheckError(
                    f"input '{tensor.name}' is {dtype} in the case, but {declared} as op.yml says; "
                    f'write dtype={{"{tensor.name}": "{declared}"}} in the case, or change '
                    f"inputs.{tensor.name}.dtype in op.yml"
                )

    def _check_outputs(self, case: Case) -> None:
        expected = [tensor.name for tensor in self.spec.outputs]
        if unknown := [name for name in case.recorded if name not in expected]:
            raise CheckError(
                f"the case has the unknown recorded output '{printable(unknown[0])}'; op.yml has: "
                f"{', '.join(expected)}"
            )
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
        """Return the dtype of each output in the case: as in the converted model, or another float.

        Raises:
            CheckError: the converted model does not have the dtype of the case.
        """
        first = case.inputs[self.spec.inputs[0].name].dtype
        dtypes = {}
        for output in self.spec.outputs:
            described = np.dtype(output.dtype or first)
            dtype = np.dtype(case.output_dtypes.get(output.name, described))
            if dtype != described and not dtype.kind == described.kind == "f":
                source = "op.yml" if output.dtype else "the first input"
                converters = (runtime.describe.converter for runtime in self.runtimes)
                classes = "".join(
                    f" in the class that {name} calls," for name in converters if name
                )
                other = (
                    "record the case again"
                    if output.name in case.recorded
                    else "leave the dtype out of the case"
                )
                raise CheckError(
                    f"output '{output.name}' is {dtype} in the case, but {described}{classes} as "
                    f"{source} says; write `dtype: {dtype}` in op.yml at outputs.{output.name}, or "
                    f"{other}"
                )
            dtypes[output.name] = dtype
        return dtypes

    def _check_supported(self, case: Case, output_dtypes: Mapping[str, np.dtype[Any]]) -> None:
        """Refuse a case with dtypes that none of the runtimes supports."""
        found = [
            next(unsupported_tensors(runtime.check.convention, case, output_dtypes), None)
            for runtime in self.runtimes
        ]
        if found[0] and all(found):
            runtime, first = self.runtimes[0], found[0]
            reason = f", {lost}" if (lost := runtime.check.lost_tensors) else ""
            raise CheckError(
                f"{first.role} '{first.name}' is {first.dtype}; {runtime.describe.title} has no "
                f"such {first.role}s{reason} (expected {', '.join(first.supported)})"
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
            for item in refused(param, params[param.name])[:1]:
                raise CheckError(
                    f"param '{param.name}' {'has the item' if param.type.is_list else 'is'} "
                    f"{item}, which op.yml does not allow (expected {describe_allowed(param)})"
                )
        for runtime in self.runtimes:
            # Raises for a value that the runtime refuses.
            runtime.check.convention.marshal(self.spec.params, params)
        return params

    def prepare(self, case: Case) -> Prepared:
        """Compute the expected outputs of a case.

        Raises:
            CheckError: the case or the reference is invalid; the message has the inputs and params.
        """
        params = self.check(case)
        _ = self.reference.module  # an import error is independent of the case
        try:
            expected = self._expected(case, params)
        except CheckError as error:
            lines = [f"{name}: {dtype_and_shape(array)}" for name, array in case.inputs.items()]
            lines += [f"{name} = {value}" for name, value in params.items()]
            raise CheckError("\n    ".join([str(error), *lines])) from None
        shapes = {name: (array.shape, array.dtype) for name, array in expected.items()}
        return Prepared(case, Invocation(case.inputs, params, shapes), expected)

    def _expected(self, case: Case, params: Mapping[str, Any]) -> dict[str, Array]:
        """Return the outputs of the reference, rounded to the outputs' dtypes."""
        shapes = self.reference.output_shapes(
            {name: tuple(array.shape) for name, array in case.inputs.items()}, params
        )
        inputs = {
            name: _reference_input(array, case.quantization.get(name))
            for name, array in case.inputs.items()
        }
        # The case tests exactly these values, so numpy must not warn of them.
        has_extremes = any(map(is_extreme, case.inputs.values()))
        with np.errstate(all="ignore") if has_extremes else nullcontext():
            results = self.reference.reference(inputs, params)
        place = self.reference.location(self.reference.module.reference)
        for name, array in case.inputs.items():
            unchanged = _reference_input(array, case.quantization.get(name))
            if inputs[name].tobytes() != unchanged.tobytes():
                raise CheckError(
                    f"{place}: the reference changes its input '{name}'; copy the input first"
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
            quantization = case.quantization.get(name)
            expected[name] = _rounded(f"{place}: the reference", name, result, dtype, quantization)
        return expected

    def _check_tensor(self, what: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        limits = [runtime.describe.limits for runtime in self.runtimes]
        max_rank, device = lowest(limits, "rank")
        if not 1 <= len(shape) <= max_rank:
            raise CheckError(f"{what} has shape {shape}; {device} takes 1 to {max_rank} dimensions")
        takes_empty, device = lowest(limits, "takes_empty")
        if 0 in shape and not takes_empty:
            raise CheckError(f"{what} has shape {shape}; {device} takes no dimension of 0")
        self._check_dtype(what, dtype)

    def _check_dtype(self, what: str, dtype: np.dtype[Any]) -> None:
        if dtype not in map(np.dtype, TENSOR_DTYPES):
            device, allowed = self.runtimes[0].describe.limits.device, ", ".join(TENSOR_DTYPES)
            raise CheckError(f"{what} is {dtype}; {device}'s tensors are one of: {allowed}")


def _param_value(param: Param, value: Any) -> Any:
    """Return a param's value for the reference: a number, a list of numbers, or a string."""
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


def is_extreme(array: Array) -> bool:
    """Return whether an input has NaN, infinities or the largest numbers of its dtype."""
    if array.dtype.kind != "f":
        return False
    return not bool((np.abs(array) < np.finfo(array.dtype).max).all())


def _reference_input(array: Array, quantization: Quantization | None) -> Array:
    """Return a copy for the reference: float16 as float32, the type of the math in kernels.

    Quantized elements become their numbers.
    """
    if quantization is not None and array.dtype.kind in "iu":
        return quantization.numbers(array)
    with np.errstate(all="ignore"):  # a signaling NaN
        return array.astype(np.float32) if array.dtype == np.float16 else array.copy()


def _rounded(
    what: str, name: str, result: Array, dtype: np.dtype[Any], quantization: Quantization | None
) -> Array:
    if quantization is not None and dtype.kind in "iu":
        if np.isnan(result).any():
            raise CheckError(f"{what} returns '{name}' with NaN, which has no quantized {dtype}")
        return quantization.elements(result, dtype)
    if dtype.kind == "f" != result.dtype.kind:
        raise CheckError(
            f"{what} returns '{name}' as {result.dtype}, but the output is {dtype}; convert it "
            "with .astype(np.float32), or write the output's dtype in op.yml: "
            f"outputs.{name}.dtype"
        )
    with np.errstate(all="ignore"):
        rounded = result.astype(dtype)
    if dtype.kind in "biu" and not np.array_equal(rounded, result):
        raise CheckError(
            f"{what} returns '{name}' as {result.dtype} with values that {dtype} cannot "
            f"represent; round them, or write the output's dtype in op.yml: outputs.{name}.dtype"
        )
    return rounded


@cache
def operator_of(root: Path) -> Operator:
    """Return the operator of a repository, loaded once per process."""
    return Operator(root)
