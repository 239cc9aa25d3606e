"""The kernel on this PC, in the harness and in ppl.nn's x86 engine."""

from __future__ import annotations

import re
import signal
import weakref
from collections.abc import Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from opkit.check.child_processes import start_worker
from opkit.check.executors import on_this_pc
from opkit.check.harness_client import HarnessKernel
from opkit.check.instrumented import InstrumentedKernel
from opkit.common.scratch import scratch_folder
from opkit.description.spec import OpSpec, Param
from opkit.description.types import SAME_TENSOR_TYPES, Limits
from opkit.runtimes.executor import Executor
from opkit.runtimes.invocation import (
    AT_FULL_SPEED,
    CallingConvention,
    Invocation,
    LeftOutError,
    RunOptions,
    RunResult,
    Value,
    check_integers,
    numbers_of,
)
from opkit.runtimes.pplnn.one_node_model import Signature, one_node_model

_LIMITS = Limits("PPLNN")


def _value(param: Param, value: Any) -> Value:
    """Return the kernel's argument for a param, as ppl.nn's parser reads its attribute."""
    if param.type.is_text:
        data = value.encode()
        return Value(param.name, "char", (len(data),), data)
    element = param.type.element
    numbers = numbers_of(param, value, _LIMITS)
    if element.limits:
        check_integers(param, numbers)
    array = np.array(numbers, element.dtype)
    if element.kind == "float" and value != param.default:
        array = array.astype(np.float32).astype(element.dtype)  # the precision of an attribute
    shape = array.shape if param.type.is_list else ()
    return Value(param.name, element.name, shape, array.tobytes())


CONVENTION = CallingConvention(
    tensor_types=SAME_TENSOR_TYPES,
    input_types=SAME_TENSOR_TYPES,
    output_types=SAME_TENSOR_TYPES,
    value=_value,
    statuses={1: "RC_INVALID_VALUE"},
    has_threads=True,
    has_shape_rule=True,
)


def host_kernel(spec: OpSpec, root: Path) -> InstrumentedKernel:
    """Return a repository's kernel for this PC.

    Raises:
        OpkitError: the kernel is not built.
    """
    host = root / "build/pplnn/host"

    def kernel(folder: Path) -> HarnessKernel:
        library = folder / f"lib{spec.lower}.so"
        harness, driver = root / "build/host/harness", host / "libpplnn_driver.so"
        executor = on_this_pc(harness, driver, library, f"{spec.lower}_pplnn")
        return HarnessKernel(spec, executor, root, CONVENTION, library=library)

    return InstrumentedKernel(
        kernel(host / "delivered"), lambda: kernel(host), lambda: kernel(host / "profiled")
    )


LOAD_LIMIT = 10.0
"""The timeout, in seconds, of what the tool does besides running the operator."""
MAX_OUTPUT = 1 << 22
"""The maximum size of the tool's output, in bytes; usual are a few thousand."""
OUTPUT_LINES = 12
"""The maximum lines of the tool's output in a message."""

_NOT_BUILT = (
    "the build lacks the operator: run `python3 pplnn/apply.py PPLNN`, cmake, and build it again"
)
_MODEL = "model.onnx"
_OUTPUT_OPTIONS = ("--save-outputs", "--save-data-dir", ".")
_OUTPUT_INFO = re.compile(r"name: (\S+)\n *dim\(s\):([ 0-9]*)\n *data type: (\S+)\n")
_COLOR = re.compile(r"\x1b\[[0-9;]*m")
_ERROR = re.compile(r"\[ERROR\](?:\[[^]]*\])* ?(.*)")
_WIDENED = {"float16": "float32"}
"""dtype -> the dtype of such tensors in the model, as the x86 engine has no halves."""


@dataclass(eq=False)
class EngineKernel:
    """The kernel in an engine of ppl.nn. Implements VendorKernel and FlushingKernel.

    Attributes:
        spec: the operator description.
        executor: the start command of the tool, with the option of its engine.
        root: the repository.
    """

    spec: OpSpec
    executor: Executor
    root: Path
    _last: tuple[Invocation, RunResult] | None = None
    keeps_state: ClassVar[bool] = False
    # By the engine's constructor, ppl::kernel::x86::set_denormals_zero.
    flushed_dtypes: ClassVar[Collection[str]] = ("float32", "float64")
    precision: ClassVar[Mapping[str, str]] = MappingProxyType({})
    reads_reference: ClassVar[bool] = False
    convention: ClassVar[CallingConvention] = CONVENTION

    @cached_property
    def _folder(self) -> Path:
        """The folder of the tool's files; it is deleted with this object."""
        scratch = ExitStack()
        weakref.finalize(self, scratch.close)
        return scratch.enter_context(scratch_folder(self.root / "build/pplnn"))

    def run(self, invocation: Invocation, options: RunOptions = AT_FULL_SPEED) -> RunResult:
        """Run a model of one node in the engine; see Kernel.

        Each run has a process of its own. Of the options only the limit has an effect; a second
        call with the same invocation returns the first one's result. Tensors of float16 are
        float32 in the model.

        Raises:
            LeftOutError: op.yml says float16, which the x86 engine does not have.
        """
        for tensor in (*self.spec.inputs, *self.spec.outputs):
            if tensor.dtype in _WIDENED:
                raise LeftOutError(
                    f"all cases: op.yml says {tensor.dtype} for '{tensor.name}', which this engine "
                    "does not have"
                )
        if self._last is None or self._last[0] is not invocation:
            result = self._run(_widened(invocation), options.limit)
            with np.errstate(over="ignore"):
                outputs = {
                    name: array.astype(invocation.outputs[name][1])
                    for name, array in result.outputs.items()
                }
            self._last = invocation, replace(result, outputs=outputs)
        return self._last[1]

    def _run(self, invocation: Invocation, limit: float) -> RunResult:
        CONVENTION.marshal(self.spec.params, invocation.params)
        for left in self._folder.glob("pplnn_output-*.dat"):
            left.unlink()  # of another case
        arrays = {each.name: invocation.inputs[each.name] for each in self.spec.inputs}
        model = one_node_model(
            self.spec,
            {name: Signature(array.shape, array.dtype) for name, array in arrays.items()},
            {name: Signature(*signature) for name, signature in invocation.outputs.items()},
            invocation.params,
        )
        (self._folder / _MODEL).write_bytes(model)
        files = [f"input{index}.dat" for index in range(len(arrays))]
        for file, array in zip(files, arrays.values(), strict=True):
            (self._folder / file).write_bytes(array.tobytes())
        options = ["--onnx-model", _MODEL, "--inputs", ",".join(files), *_OUTPUT_OPTIONS]
        command = [*self.executor.command, *options]
        worker = start_worker(command, self.executor.environment, self._folder)
        printed = bytearray()
        worker.send(b"", LOAD_LIMIT + limit)
        try:
            while len(printed) < MAX_OUTPUT:
                printed += worker.line()
            worker.kill()
            return RunResult(fault=f"the engine printed more than {MAX_OUTPUT:,} bytes")
        except EOFError:
            stderr = worker.close()
        except TimeoutError:
            worker.kill()
            fault = f"the engine did not end within {LOAD_LIMIT + limit:g} s"
            return RunResult(fault=fault, timed_out=True)
        output = printed.decode(errors="replace")
        if status := worker.process.returncode:
            return RunResult(fault=_fault(status, output + stderr))
        return self._result(invocation, output)

    def _result(self, invocation: Invocation, printed: str) -> RunResult:
        """Return the outputs in the tool's files, or the fault."""
        found = {
            name: (tuple(map(int, dims.split())), data_type.lower())
            for name, dims, data_type in _OUTPUT_INFO.findall(
                printed.partition("----- output info -----")[2]
            )
        }
        result = RunResult()
        for name, (shape, dtype) in invocation.outputs.items():
            expected = tuple(shape), np.dtype(dtype).name
            if found.get(name) != expected:
                was = "nothing" if name not in found else _signature(*found[name])
                return RunResult(fault=f"output '{name}' is {was}, not {_signature(*expected)}")
            data = (self._folder / f"pplnn_output-{name}.dat").read_bytes()
            size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
            if len(data) != size:
                return RunResult(fault=f"output '{name}' has {len(data)} bytes, not {size}")
            result.outputs[name] = np.frombuffer(data, dtype).reshape(shape).copy()
        return result


def _widened(invocation: Invocation) -> Invocation:
    """Return an invocation with the dtypes of tensors that the model has."""
    inputs = {
        name: array.astype(_WIDENED.get(array.dtype.name, array.dtype))
        for name, array in invocation.inputs.items()
    }
    outputs = {
        name: (shape, _WIDENED.get(np.dtype(dtype).name, dtype))
        for name, (shape, dtype) in invocation.outputs.items()
    }
    return replace(invocation, inputs=inputs, outputs=outputs)


def _signature(shape: tuple[int, ...], dtype: str) -> str:
    return f"{dtype} {list(shape)}"


def _fault(status: int, output: str) -> str:
    """Return the description of a failed run: how it ended, and the last errors in its output."""
    plain = _COLOR.sub("", output)
    lines = [line.strip() for line in plain.splitlines() if line.strip()]
    errors = [match[1] for match in map(_ERROR.match, lines) if match]
    ended = f"with exit status {status}" if status > 0 else f"by {signal.Signals(-status).name}"
    last = (errors or lines)[-OUTPUT_LINES:]
    hint = "\n  " + _NOT_BUILT if any("unsupported op" in line for line in errors) else ""
    described = [f"the engine's process ended {ended}", *(f"\n  {line}" for line in last)]
    return "".join(described) + hint
