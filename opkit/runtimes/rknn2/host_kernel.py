"""librknnrt's calling convention, and the kernel on this PC."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from opkit.check.executors import on_this_pc
from opkit.check.harness_client import HarnessKernel
from opkit.check.instrumented import InstrumentedKernel
from opkit.description.spec import OpSpec, Param
from opkit.runtimes.executor import Executor
from opkit.runtimes.invocation import (
    AT_FULL_SPEED,
    CallingConvention,
    Invocation,
    RefusedError,
    RunOptions,
    RunResult,
    Value,
    check_integers,
    numbers_of,
)
from opkit.runtimes.rknn2.chips import (
    LATER_TENSOR_TYPES,
    LIMITS,
    READABLE,
    TENSOR_TYPES,
    lost_params,
    unreadable_numbers,
)
from opkit.runtimes.rknn2.gpu_files import BUILD_FOLDER, HOST_FOLDER

_CONSTANT = "const:"  # the prefix of constant inputs' names; the same as in driver.c


def _value(param: Param, value: Any, tensor_types: Mapping[str, str]) -> Value:
    """Return an attribute or a constant input of a node.

    Attributes are int64, float32, or strings of JSON in UTF-8; constant inputs are tensors.
    """
    name = f"{_CONSTANT if param.source else ''}{param.name}"
    if param.type.is_text:
        data = json.dumps(str(value), ensure_ascii=False).encode()
        return Value(name, "char", (len(data),), data)
    numbers = numbers_of(param, value, LIMITS)
    if param.type.element.kind == "float":
        with np.errstate(over="ignore"):
            array = np.asarray(numbers).astype(np.float32)
    else:
        check_integers(param, numbers, largest=np.iinfo(np.int64).max)
        array = np.asarray(numbers).astype(np.int64)
    array = array.reshape(np.shape(value))
    if param.source:
        array = array.astype(tensor_types[array.dtype.name])
    elif not np.array_equal(np.asarray(value), np.asarray(param.default)):  # nodes omit a default
        for each in unreadable_numbers(tuple(array.ravel().tolist()))[:1]:
            raise RefusedError(
                f"param '{param.name}' is {each}, at which librknnrt aborts (expected {READABLE})"
            )
    return Value(name, array.dtype.name, array.shape, array.tobytes())


def _convention(tensor_types: Mapping[str, str]) -> CallingConvention:
    return CallingConvention(
        tensor_types=tensor_types,
        input_types=tensor_types,
        output_types=tensor_types,
        value=partial(_value, tensor_types=tensor_types),
        has_threads=True,
        statuses={-14: "RKNN_WARNING_SKIP_CUSTOM_OP_COMPUTE"},
    )


CONVENTION = _convention(TENSOR_TYPES)
LATER = _convention(LATER_TENSOR_TYPES)


@dataclass(frozen=True)
class Version:
    """The CPU kernel, called in another way than by librknnrt 1.6.0 with all attributes.

    Attributes:
        kernel: the kernel.
        how: the way, for the message about a failure.
        event: the message about outputs that differ.
    """

    kernel: HarnessKernel
    how: str
    event: str


@dataclass(frozen=True)
class EveryVersion:
    """The CPU kernel, called like librknnrt 1.6.0 and, where that differs, like later versions.

    Implements Kernel.

    Attributes:
        first: with the tensors of 1.6.0, and all attributes.
        later: with int64 tensors.
        without: without the attributes that 1.6.0 does not hand over.
    """

    first: HarnessKernel
    later: Version
    without: Version
    convention: ClassVar[CallingConvention] = CONVENTION
    keeps_state = True

    @property
    def thread_counts(self) -> Sequence[int]:
        """The counts of threads for a check besides 1; see ThreadedKernel."""
        return self.first.thread_counts

    def run(self, invocation: Invocation, options: RunOptions = AT_FULL_SPEED) -> RunResult:
        """Run the kernel; see Kernel. Messages tell errors that only other versions have."""
        result = self.first.run(invocation, options)
        for version in () if _fails(result) else self._others(invocation):
            other = version.kernel.run(invocation, options)
            if _fails(other):
                other.stage += version.how
                return other
            if any(
                other.outputs[n].tobytes() != found.tobytes() for n, found in result.outputs.items()
            ):
                result.events.append(version.event)
        return result

    def _others(self, invocation: Invocation) -> Iterator[Version]:
        """Yield the versions that call the kernel in another way."""
        params = self.first.spec.params
        # Integers in constant inputs are int64 tensors, too.
        dtypes = [array.dtype for array in invocation.inputs.values()]
        dtypes += [np.dtype(dtype) for _, dtype in invocation.outputs.values()]
        constants = [param.type.element.kind for param in params if param.source]
        if np.dtype("int64") in dtypes or any(kind != "float" for kind in constants):
            yield self.later
        if any(invocation.params[param.name] != param.default for param in lost_params(params)):
            yield self.without

    def run_batch(
        self, invocations: Sequence[Invocation], fill: int, alternates: bool, limit: float
    ) -> dict[int, RunResult]:
        """Run the kernel on several invocations like librknnrt 1.6.0; see StatefulKernel."""
        return self.first.run_batch(invocations, fill, alternates, limit)


def _fails(result: RunResult) -> bool:
    return bool(result.fault or result.status or result.events or result.leaks)


def every_version(
    spec: OpSpec, executor: Executor, root: Path, library: Path | None = None
) -> EveryVersion:
    """Return the kernel in a harness, for all versions of librknnrt; see HarnessKernel."""
    lost = [param.name for param in lost_params(spec.params)]
    first, later, without = (
        HarnessKernel(spec, executor, root, convention, attachments, library=library)
        for convention, attachments in (
            (CONVENTION, {}),
            (LATER, {}),
            (CONVENTION, {f"attribute:{name}": b"" for name in lost}),
        )
    )
    return EveryVersion(
        first,
        Version(
            later,
            " with int64 tensors, as versions after librknnrt 1.6.0 hand them over,",
            "the outputs differ between float32 tensors, as librknnrt 1.6.0 hands over integers, "
            "and int64 ones, as later versions do; declare `dtype` in op.yml",
        ),
        Version(
            without,
            f" without {', '.join(lost)}, as in librknnrt 1.6.0,",
            f"the outputs differ without {', '.join(lost)}: librknnrt 1.6.0 hands over no "
            "attribute whose name begins with q_; choose another name, or compute the value of the "
            "default from shapes",
        ),
    )


def cpu_kernel(spec: OpSpec, root: Path) -> InstrumentedKernel:
    """Return a repository's CPU kernel for this PC.

    Raises:
        OpkitError: the kernel is not built.
    """
    host = root / HOST_FOLDER

    def kernel(folder: Path) -> EveryVersion:
        library = folder / f"librkcst_{spec.lower}.so"
        harness, runtime = root / "build/host/harness", host / "librknnrt.so"
        executor = on_this_pc(harness, runtime, library, "get_rknn_custom_op")
        return every_version(spec, executor, root, library)

    return InstrumentedKernel(
        kernel(root / BUILD_FOLDER / "x64"),
        lambda: kernel(host),
        lambda: kernel(host / "profiled").first,
    )
