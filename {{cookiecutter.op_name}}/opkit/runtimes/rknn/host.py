"""Runs an operator's library on the host runtime, driven as the board's runtime drives it.

The order of the calls was measured on librknn_runtime 1.7.5.
"""

from __future__ import annotations

import ctypes
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from opkit.check.debug_info import line_of
from opkit.check.invocation import (
    INT32_ARRAY,
    TENSOR_TYPES,
    TYPES,
    Array,
    Border,
    Call,
    Items,
    Launch,
    Outcome,
    Scalar,
    delivered,
)
from opkit.description.spec import OpSpec
from opkit.errors import OpkitError

_READ_ONLY, _WRITE_ONLY = 0x11001, 0x11002
_HOST_MEMORY = 0xE001
_BORDER = 0x080302
_RUNTIME_ENUMERATION = 0xFFF03080  # the number that the runtime writes into every custom kernel

_Handle = ctypes.c_void_p
_Name = ctypes.c_char_p
_Size = ctypes.c_size_t
_Enum = ctypes.c_int32
_Sizes = ctypes.POINTER(ctypes.c_size_t)


class _ParamDescription(ctypes.Structure):
    _fields_ = (("direction", _Enum), ("data_type", _Enum), ("state", _Enum))


class _Description(ctypes.Structure):
    _fields_ = (
        ("enumeration", ctypes.c_uint32),
        ("name", ctypes.c_char * 256),
        ("function", _Handle),
        ("parameters", ctypes.POINTER(_ParamDescription)),
        ("count", ctypes.c_uint32),
        ("validate", _Handle),
        ("input_validate", _Handle),
        ("output_validate", _Handle),
        ("initialize", _Handle),
        ("deinitialize", _Handle),
    )


class _Execution(ctypes.Structure):
    _fields_ = (
        ("work_dim", ctypes.c_uint32),
        ("global_offset", _Size * 3),
        ("global_scale", _Size * 3),
        ("local_size", _Size * 3),
        ("global_size", _Size * 3),
    )


class _Border(ctypes.Structure):
    _fields_ = (("mode", _Enum), ("constant", ctypes.c_uint8 * 16))


# The mode of a border that is one -> our name of it
_BORDERS = {0xC001: "constant", 0xC002: "edge"}


class _Report(ctypes.Structure):
    _fields_ = (
        ("status", ctypes.c_int32),
        ("signal", ctypes.c_int32),
        ("seconds", ctypes.c_double),
        ("fault", ctypes.c_char * 512),
        ("instruction", ctypes.c_size_t),
    )


_KERNEL = (_Handle, _Handle, _Handle)  # validate, initialize, deinitialize
_UNIFORM = (_Name, _Size, ctypes.c_void_p, _Size)  # name, count, value, size in bytes
_PATCH = (_Handle, _Size, _Sizes, _Sizes, _Sizes, ctypes.c_void_p, _Enum, _Enum)

# function -> what it returns, and its arguments
_FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "vxCreateContext": (_Handle,),
    "vxReleaseContext": (_Enum, ctypes.POINTER(_Handle)),
    "vxCreateGraph": (_Handle, _Handle),
    "vxCreateTensor": (_Handle, _Handle, _Size, _Sizes, _Enum, ctypes.c_int8),
    "vxCopyTensorPatch": (_Enum, *_PATCH),
    "vxCreateScalar": (_Handle, _Handle, _Enum, _Name),
    "vxCreateArray": (_Handle, _Handle, _Enum, _Size),
    "vxAddArrayItems": (_Enum, _Handle, _Size, ctypes.c_void_p, _Size),
    "vxGetStatus": (_Enum, _Handle),
    "vxReleaseReference": (_Enum, ctypes.POINTER(_Handle)),
    "vxGetKernelByName": (_Handle, _Handle, _Name),
    "vxAddUserKernel": (_Handle, _Handle, _Name, _Enum, _Handle, ctypes.c_uint32, *_KERNEL),
    "vxCreateProgramWithBinary": (_Handle, _Handle, _Name, _Size),
    "vxBuildProgram": (_Enum, _Handle, _Name),
    "vxAddKernelInProgram": (_Handle, _Handle, _Name, _Enum, ctypes.c_uint32, *_KERNEL),
    "vxAddParameterToKernel": (_Enum, _Handle, ctypes.c_uint32, _Enum, _Enum, _Enum),
    "vxFinalizeKernel": (_Enum, _Handle),
    "vxCreateGenericNode": (_Handle, _Handle, _Handle),
    "vxSetParameterByIndex": (_Enum, _Handle, ctypes.c_uint32, _Handle),
    "vxQueryNode": (_Enum, _Handle, _Enum, ctypes.c_void_p, _Size),
    "hostrt_set_name": (_Enum, _Handle, _Name),
    "hostrt_launch": (_Enum, _Handle, ctypes.POINTER(_Execution)),
    "hostrt_declare_uniform": (_Enum, _Handle, _Name, _Size),
    "hostrt_uniform": (_Enum, _Handle, _Size, *map(ctypes.POINTER, _UNIFORM)),
    "hostrt_forget": (None,),
    "hostrt_entry": (_Name, ctypes.c_int, _Size, ctypes.POINTER(ctypes.c_int32)),
    "hostrt_begin": (None, ctypes.c_bool, ctypes.c_uint8),
    "hostrt_call": (None, _Handle, ctypes.c_int, ctypes.c_double, ctypes.POINTER(_Report)),
    "hostrt_end": (None,),
}

_VERIFY, _PROCESS, _RELEASE = 0, 1, 2
_LOG, _EVENT, _LEAK = 0, 1, 2
_STAGES = {_VERIFY: "validate or initialize", _PROCESS: "the kernel", _RELEASE: "deinitialize"}


class _RefusedCallError(Exception):
    """A function of the host runtime returned an error."""

    def __init__(self, function: str, status: int) -> None:
        super().__init__(function)
        self.function = function
        self.status = status


class Runtime:
    """The host runtime, loaded into this process."""

    def __init__(self, path: Path) -> None:
        # Global, so that the operator's library finds it under its soname.
        self.library = _load(path, ctypes.RTLD_GLOBAL | os.RTLD_NOW)
        for name, (result, *arguments) in _FUNCTIONS.items():
            function = getattr(self.library, name)
            function.restype = result
            function.argtypes = arguments

    def do(self, name: str, *arguments: Any) -> None:
        """Call a function that returns a status."""
        status = getattr(self.library, name)(*arguments)
        if status != 0:
            raise _RefusedCallError(name, status)

    def make(self, name: str, *arguments: Any) -> Any:
        """Call a function that returns an object."""
        handle = getattr(self.library, name)(*arguments)
        status = self.library.vxGetStatus(handle)
        if status != 0:
            raise _RefusedCallError(name, status)
        return handle

    def release(self, handle: Any) -> None:
        """Give a reference back."""
        self.do("vxReleaseReference", ctypes.byref(_Handle(handle)))

    def journal(self, kind: int) -> list[str]:
        """Return the entries of a journal."""
        status = ctypes.c_int32()
        texts: list[str] = []
        while text := self.library.hostrt_entry(kind, len(texts), ctypes.byref(status)):
            texts.append(text.decode(errors="replace").rstrip())
        return texts

    @contextmanager
    def context(self) -> Iterator[Any]:
        """A context, empty journals; all that was made in the context goes with it."""
        self.library.hostrt_forget()
        handle = _Handle(self.make("vxCreateContext"))
        try:
            yield handle.value
        finally:
            self.do("vxReleaseContext", ctypes.byref(handle))

    def tensor(self, context: Any, name: str, array: Array) -> Any:
        """Make a tensor that holds the array, and has its name."""
        dims = (_Size * array.ndim)(*reversed(array.shape))
        type_ = TENSOR_TYPES[array.dtype]
        tensor = self.make("vxCreateTensor", context, array.ndim, dims, type_, 0)
        self.do("hostrt_set_name", tensor, name.encode())
        self.copy(tensor, array, _WRITE_ONLY)
        return tensor

    def copy(self, tensor: Any, array: Array, usage: int) -> None:
        """Copy all of a tensor from (_WRITE_ONLY) or to (_READ_ONLY) a contiguous array."""
        sizes = _Size * array.ndim
        start, end = sizes(), sizes(*reversed(array.shape))
        # Not numpy's strides: those of an extent of 1 may be 0, which the driver refuses.
        dense = [array.itemsize * math.prod(array.shape[i:]) for i in range(array.ndim, 0, -1)]
        strides = sizes(*dense)
        self.do(
            *("vxCopyTensorPatch", tensor, array.ndim, start, end, strides),
            *(array.ctypes.data, usage, _HOST_MEMORY),
        )

    def value(self, context: Any, name: str, value: Scalar | Items) -> Any:
        """Make a scalar or an array, and give it its name."""
        if isinstance(value, Scalar):
            handle = self.make("vxCreateScalar", context, TYPES[value.type], value.data)
        else:
            count = len(value.items)
            handle = self.make("vxCreateArray", context, TYPES[INT32_ARRAY], count)
            items = (ctypes.c_int32 * count)(*value.items)
            self.do("vxAddArrayItems", handle, count, items, ctypes.sizeof(ctypes.c_int32))
        self.do("hostrt_set_name", handle, name.encode())
        return handle


def _load(path: Path, mode: int) -> Any:
    if not path.is_file():
        raise OpkitError(f"{path} is not there; run `scons target=x64`")
    try:
        return ctypes.CDLL(str(path.resolve()), mode=mode)
    except OSError as error:
        raise OpkitError(f"{path} cannot be loaded: {error}") from None


def _span(library: Path) -> tuple[int, int]:
    """Return where a library lies in this process: its first address, and that after its last."""
    path = str(library.resolve())
    lines = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    places = [line.split(maxsplit=1)[0].split("-") for line in lines if line.endswith(path)]
    addresses = [int(address, 16) for place in places for address in place]
    return (min(addresses), max(addresses)) if addresses else (0, 0)


@cache
def runtime(path: Path) -> Runtime:
    """Return the host runtime, loaded once in a process."""
    return Runtime(path)


class HostKernel:
    """A kernel of an operator's library, on the host runtime. It is a Runner.

    Args:
        spec: the operator description.
        library: the operator's library for x64, `build/x64/lib<operator>.so`.
        host_runtime: `build/host/libOpenVX.so`.
        index: which kernel of the list: 0 is the CPU kernel, anything else a VX kernel, of which
            the callbacks run, but not the program.
        shader: the compiled program of a VX kernel.
        uniforms: name -> size in bytes of each _viv_uniform that a VX kernel declares; its
            initializer can set no other.

    Raises:
        OpkitError: a library is not there or cannot be used.
    """

    def __init__(
        self,
        spec: OpSpec,
        library: Path,
        host_runtime: Path,
        index: int = 0,
        shader: bytes = b"SHDR",
        uniforms: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        self.spec = spec
        self.index = index
        self.shader = shader
        self.uniforms = uniforms
        self.path = library
        self.runtime = runtime(host_runtime.resolve())
        # Deep binding: the library takes malloc from the host runtime, its first dependency.
        self.library = _load(library, os.RTLD_NOW | os.RTLD_DEEPBIND)
        self._check_runtime(library)
        self.description = self._description(library)

    def _check_runtime(self, library: Path) -> None:
        """Refuse a library that took another host runtime, which this process had loaded before."""
        try:
            theirs = self.library.hostrt_begin
        except AttributeError:
            return
        address = ctypes.cast(theirs, ctypes.c_void_p).value
        if address != ctypes.cast(self.runtime.library.hostrt_begin, ctypes.c_void_p).value:
            raise OpkitError(
                f"{library} uses the host runtime of another repository, which this process loaded "
                "before; test the repositories in one process each"
            )

    def _description(self, library: Path) -> Any:
        symbol = f"vx_kernel_{self.spec.name}_list"
        pointer = ctypes.POINTER(_Description)
        try:
            pointer.in_dll(self.library, symbol)
        except ValueError:
            raise OpkitError(f"{library} has no {symbol}; the board would crash") from None
        count = 0
        while (pointer * (count + 1)).in_dll(self.library, symbol)[count]:
            count += 1
        if self.index >= count:
            raise OpkitError(
                f"{symbol} has {count} kernels, so kernel_index {self.index} is none of them"
            )
        description = (pointer * count).in_dll(self.library, symbol)[self.index].contents
        if description.count != len(self.spec.parameters):
            raise OpkitError(
                f"kernel '{description.name.decode()}' has {description.count} parameters, but "
                f"op.yml has {len(self.spec.parameters)}; run `scons target=x64`"
            )
        return description

    def run(
        self, call: Call, fill: int | None = None, repeat: int = 1, limit: float = 10
    ) -> Outcome:
        """Run the kernel; see Runner."""
        outcome = Outcome()
        library = self.runtime.library
        with self.runtime.context() as context:
            try:
                graph, node, outputs = self._graph(context, call, fill or 0)
            except _RefusedCallError as refused:
                outcome.status, outcome.stage = refused.status, refused.function
                return outcome
            library.hostrt_begin(fill is not None, fill or 0)
            self._life(graph, node, repeat, limit, outcome)
            library.hostrt_end()
            outcome.log = self.runtime.journal(_LOG)
            outcome.events = self.runtime.journal(_EVENT)
            outcome.leaks = self.runtime.journal(_LEAK)
            if outcome.status == 0 and not outcome.fault:
                for name, tensor in outputs.items():
                    shape, dtype = call.outputs[name]
                    array = outcome.outputs[name] = np.empty(shape, dtype)
                    self.runtime.copy(tensor, array, _READ_ONLY)
        return outcome

    def _graph(self, context: Any, call: Call, fill: int) -> tuple[Any, Any, dict[str, Any]]:
        """Make a graph of one node, with references set in order: inputs, outputs, params."""
        do, make, runtime = self.runtime.do, self.runtime.make, self.runtime
        tensors: dict[str, Any] = {}
        for tensor in self.spec.inputs:
            array = np.ascontiguousarray(call.inputs[tensor.name])
            tensors[tensor.name] = runtime.tensor(context, tensor.name, array)
        for tensor in self.spec.outputs:
            shape, dtype = call.outputs[tensor.name]
            size = math.prod(shape) * np.dtype(dtype).itemsize
            array = np.full(size, fill, np.uint8).view(dtype).reshape(shape)
            tensors[tensor.name] = runtime.tensor(context, tensor.name, array)
        graph = make("vxCreateGraph", context)
        node = make("vxCreateGenericNode", graph, self._kernel(context))
        for index, handle in enumerate(tensors.values()):
            do("vxSetParameterByIndex", node, index, handle)
        for index, param in enumerate(self.spec.params, len(tensors)):
            value = runtime.value(context, param.name, delivered(param, call.params[param.name]))
            do("vxSetParameterByIndex", node, index, value)
            runtime.release(value)
        for name, size in self.uniforms.items():
            do("hostrt_declare_uniform", node, name.encode(), size)
        runtime.release(node)
        return graph, node, {output.name: tensors[output.name] for output in self.spec.outputs}

    def _kernel(self, context: Any) -> Any:
        """Register the kernel as the runtime does."""
        do, make, description = self.runtime.do, self.runtime.make, self.description
        description.enumeration = _RUNTIME_ENUMERATION
        enumeration = ctypes.c_int32(description.enumeration).value
        callbacks = (description.validate, description.initialize, description.deinitialize)
        if self.index == 0:
            kernel = self.runtime.library.vxGetKernelByName(context, description.name)
            if kernel:
                return kernel
            kernel = make(
                *("vxAddUserKernel", context, description.name, enumeration),
                *(description.function, description.count, *callbacks),
            )
        else:
            program = make("vxCreateProgramWithBinary", context, self.shader, len(self.shader))
            do("vxBuildProgram", program, b"-cl-viv-vx-extension")
            kernel = make(
                *("vxAddKernelInProgram", program, description.name, enumeration),
                *(description.count, *callbacks),
            )
        for index in range(description.count):
            row = description.parameters[index]
            do("vxAddParameterToKernel", kernel, index, row.direction, row.data_type, row.state)
        do("vxFinalizeKernel", kernel)
        return kernel

    def _life(self, graph: Any, node: Any, repeat: int, limit: float, outcome: Outcome) -> None:
        """Verify, process and release the graph, until something is wrong."""

        def stage(number: int) -> _Report:
            report = _Report()
            self.runtime.library.hostrt_call(graph, number, limit, ctypes.byref(report))
            if outcome.status == 0 and report.status != 0:
                outcome.status, outcome.stage = report.status, _STAGES[number]
                outcome.fault = self._place(report) + report.fault.decode(errors="replace")
            return report

        stage(_VERIFY)
        if outcome.status == 0 and self.index != 0:
            outcome.launch = self._launch(node)
            outcome.uniforms = self._uniforms(node)
            outcome.border = self._border(node)
        for _ in range(repeat):
            if outcome.status == 0:
                outcome.seconds = min(outcome.seconds, stage(_PROCESS).seconds)
        if not outcome.fault:
            stage(_RELEASE)

    def _place(self, report: _Report) -> str:
        """Return "file:line: " of a fault, if it is in the library and the library knows it."""
        start, end = _span(self.path)
        if not start <= report.instruction < end:
            return ""
        # One further: a fault is at the instruction itself.
        line = line_of(self.path, report.instruction - start + 1)
        return f"{line}: " if line else ""

    def _uniforms(self, node: Any) -> dict[str, bytes]:
        values: dict[str, bytes] = {}
        name, count, value, size = _Name(), _Size(), ctypes.c_void_p(), _Size()
        fields = [ctypes.byref(field) for field in (name, count, value, size)]
        index = 0
        while self.runtime.library.hostrt_uniform(node, index, *fields):
            index += 1
            if count.value and name.value:
                data = ctypes.string_at(value.value, size.value) if value.value else b""
                values[name.value.decode()] = data
        return values

    def _border(self, node: Any) -> Border | None:
        """Return the border that the initializer set.

        That a constant's bytes are those of an element, whatever its type, is an assumption.
        """
        border = _Border()
        self._query(node, _BORDER, border)
        policy = _BORDERS.get(border.mode)
        return Border(policy, value=bytes(border.constant)) if policy else None

    def _query(self, node: Any, attribute: int, value: ctypes.Structure) -> None:
        size = ctypes.sizeof(value)
        self.runtime.do("vxQueryNode", node, attribute, ctypes.byref(value), size)

    def _launch(self, node: Any) -> Launch:
        execution = _Execution()
        self.runtime.do("hostrt_launch", node, ctypes.byref(execution))
        return Launch(
            execution.work_dim,
            tuple(execution.global_offset),
            tuple(execution.global_scale),
            tuple(execution.local_size),
            tuple(execution.global_size),
        )


@dataclass(frozen=True)
class CpuKernel:
    """The CPU kernel in both libraries for this PC. It is a Runner.

    Attributes:
        packed: the library that a package holds; it runs where time counts.
        guarded: the same kernel, each of its tensors between forbidden pages.
    """

    packed: HostKernel
    guarded: HostKernel

    def run(
        self, call: Call, fill: int | None = None, repeat: int = 1, limit: float = 10
    ) -> Outcome:
        """Run the kernel; see Runner."""
        kernel = self.packed if fill is None else self.guarded
        return kernel.run(call, fill, repeat, limit)
