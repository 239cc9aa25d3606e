"""OpenCL's C API of a library, by ctypes, in processes of its own."""

from __future__ import annotations

import ctypes
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from ctypes import CFUNCTYPE, POINTER, byref, c_char_p, c_int32, c_size_t, c_uint32, c_void_p
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[3]
Array = NDArray[Any]
MAX_RANK = 8
TYPES = {"int8": 2, "uint8": 3, "int32": 6, "uint32": 7, "float16": 10, "float32": 11}
READ_WRITE, WRITE_ONLY, READ_ONLY, COPY_HOST_PTR = 1, 2, 4, 32
DMA_BUF = (ctypes.c_ssize_t * 3)(0x40B2, 0x40B4, 0)


class _Value(ctypes.Structure):
    _fields_ = (
        ("role", ctypes.c_int),
        ("name", ctypes.c_char * 64),
        ("type", ctypes.c_int),
        ("rank", ctypes.c_uint),
        ("shape", c_size_t * MAX_RANK),
        ("size", c_size_t),
        ("bytes", c_void_p),
    )


class _Attachment(ctypes.Structure):
    _fields_ = (("name", ctypes.c_char * 128), ("size", c_size_t), ("bytes", c_char_p))


class _Invocation(ctypes.Structure):
    _fields_ = (
        ("guarded", ctypes.c_bool),
        ("guards_before", ctypes.c_bool),
        ("profiled", ctypes.c_bool),
        ("fill", ctypes.c_uint8),
        ("repeat", ctypes.c_uint),
        ("limit", ctypes.c_double),
        ("threads", ctypes.c_uint),
        ("stack_size", c_size_t),
        ("count", ctypes.c_uint),
        ("values", POINTER(_Value)),
        ("attachment_count", ctypes.c_uint),
        ("attachments", POINTER(_Attachment)),
    )


_RECORD = CFUNCTYPE(None, c_char_p, c_void_p, c_size_t)
_HANDLES = {
    "clCreateContext": (c_void_p, c_uint32, c_void_p, c_void_p, c_void_p, c_void_p),
    "clCreateCommandQueue": (c_void_p, c_void_p, ctypes.c_uint64, c_void_p),
    "clCreateProgramWithSource": (c_void_p, c_uint32, c_void_p, c_void_p, c_void_p),
    "clCreateKernel": (c_void_p, c_char_p, c_void_p),
    "clCreateBuffer": (c_void_p, ctypes.c_uint64, c_size_t, c_void_p, c_void_p),
    "clCreateSubBuffer": (c_void_p, ctypes.c_uint64, c_uint32, c_void_p, c_void_p),
    "clImportMemoryARM": (c_void_p, ctypes.c_uint64, c_void_p, c_void_p, c_size_t, c_void_p),
}
_STATUSES = {
    "clGetPlatformIDs": (c_uint32, c_void_p, c_void_p),
    "clGetPlatformInfo": (c_void_p, c_uint32, c_size_t, c_void_p, c_void_p),
    "clGetDeviceIDs": (c_void_p, ctypes.c_uint64, c_uint32, c_void_p, c_void_p),
    "clGetContextInfo": (c_void_p, c_uint32, c_size_t, c_void_p, c_void_p),
    "clGetDeviceInfo": (c_void_p, c_uint32, c_size_t, c_void_p, c_void_p),
    "clBuildProgram": (c_void_p, c_uint32, c_void_p, c_char_p, c_void_p, c_void_p),
    "clGetProgramBuildInfo": (c_void_p, c_void_p, c_uint32, c_size_t, c_void_p, c_void_p),
    "clSetKernelArg": (c_void_p, c_uint32, c_size_t, c_void_p),
    "clEnqueueNDRangeKernel": (
        *(c_void_p, c_void_p, c_uint32, c_void_p, c_void_p, c_void_p),
        *(c_uint32, c_void_p, c_void_p),
    ),
    "clEnqueueReadBuffer": (
        *(c_void_p, c_void_p, c_uint32, c_size_t, c_size_t, c_void_p),
        *(c_uint32, c_void_p, c_void_p),
    ),
    "clFinish": (c_void_p,),
    **{
        f"clRelease{kind}": (c_void_p,)
        for kind in ("Context", "CommandQueue", "Program", "Kernel", "MemObject")
    },
}


class StatusError(Exception):
    """A call that failed: its name and its status."""


@dataclass
class Records:
    """What a library records of a run."""

    log: list[str] = field(default_factory=list)
    attachments: dict[str, bytes] = field(default_factory=dict)


class OpenCl:
    """A library with OpenCL's API, its platform, device, context and queue."""

    def __init__(self, library: Path) -> None:
        self.library = ctypes.CDLL(str(library))
        for name, types in _HANDLES.items():
            function = getattr(self.library, name)  # one object, unlike library[name]
            function.restype, function.argtypes = c_void_p, types
        for name, types in _STATUSES.items():
            getattr(self.library, name).argtypes = types
        self.records = Records()
        self.alive: list[tuple[str, int]] = []

    def call(self, name: str, *arguments: Any) -> Any:
        """Call a function; return its handle, or None.

        Raises:
            StatusError: the call fails.
        """
        function = getattr(self.library, name)
        if name not in _HANDLES:
            status, handle = function(*arguments), None
        else:
            code = c_int32(-999)
            handle = function(*arguments, byref(code))
            status = code.value
        if status != 0:
            raise StatusError(name, status)
        return handle

    def begin(self, attachments: Mapping[str, str], outputs: Mapping[str, Array]) -> None:
        """Begin a run of an operator with these outputs."""
        values = (_Value * len(outputs))()
        for value, (name, array) in zip(values, outputs.items(), strict=True):
            value.role, value.name, value.type = 1, name.encode(), TYPES[array.dtype.name]
            value.rank, value.size = array.ndim, array.nbytes
            value.shape[: array.ndim] = array.shape
        extras = (_Attachment * len(attachments))()
        for extra, (name, text) in zip(extras, attachments.items(), strict=True):
            extra.name, extra.bytes, extra.size = name.encode(), text.encode(), len(text.encode())
        self._invocation = _Invocation(
            count=len(outputs), values=values, attachment_count=len(extras), attachments=extras
        )

        def record(what: bytes, data: int, size: int) -> None:
            text = ctypes.string_at(data, size)
            kind, _, name = what.decode().partition(" ")
            if kind == "attachment":
                self.records.attachments[name] = text
            else:
                assert kind == "log", (kind, text)
                self.records.log.append(text.decode())

        self._record = _RECORD(record)
        self.library.opkit_opencl_begin(byref(self._invocation), self._record)

    def end(self) -> Records:
        """End the run; return what was recorded."""
        self.library.opkit_opencl_end()
        return self.records

    def open(self) -> None:
        """Make a context and a queue."""
        platform, device = c_void_p(), c_void_p()
        self.call("clGetPlatformIDs", 1, byref(platform), None)
        self.platform = platform
        self.call("clGetDeviceIDs", platform, 4, 1, byref(device), None)
        self.device = device
        self.context = self.call("clCreateContext", None, 1, byref(device), None, None)
        self.queue = self.call("clCreateCommandQueue", self.context, device, 0)

    def text(self, name: str, owner: Any, number: int) -> str:
        """Return a text that a query answers."""
        size = c_size_t()
        self.call(name, owner, number, 0, None, byref(size))
        text = ctypes.create_string_buffer(size.value)
        self.call(name, owner, number, size, text, None)
        return text.value.decode()

    def build(self, source: str, options: str | None = None) -> Any:
        """Return a built program."""
        data = c_char_p(source.encode())
        program = self.call("clCreateProgramWithSource", self.context, 1, byref(data), None)
        text = None if options is None else options.encode()
        try:
            self.call("clBuildProgram", program, 1, byref(self.device), text, None, None)
        except StatusError as error:
            log = ctypes.create_string_buffer(8192)
            self.library.clGetProgramBuildInfo(program, self.device, 0x1183, 8192, log, None)
            self.call("clReleaseProgram", program)
            raise StatusError(*error.args, log.value.decode()) from None
        return program

    def buffer(self, flags: int, size: int, data: Any = None) -> Any:
        """Return a buffer."""
        return self.call("clCreateBuffer", self.context, flags, size, data)

    def imported(self, name: str, data: bytes, flags: int = READ_WRITE) -> tuple[int, Any]:
        """Return a descriptor with these bytes, and a buffer on its memory."""
        descriptor = os.memfd_create(name)
        os.write(descriptor, data)
        memory = c_int32(descriptor)
        try:
            handle = self.call(
                "clImportMemoryARM", self.context, flags, DMA_BUF, byref(memory), len(data)
            )
        except StatusError:
            os.close(descriptor)
            raise
        return descriptor, handle

    def launch(self, kernel: Any, size: Sequence[int], local: Sequence[int] | None = None) -> None:
        """Queue a launch."""
        sizes = (c_size_t * len(size))(*size)
        locals_ = None if local is None else (c_size_t * len(size))(*local)
        self.call(
            *("clEnqueueNDRangeKernel", self.queue, kernel, len(size), None, sizes, locals_),
            *(0, None, None),
        )

    def close(self) -> None:
        """Release the queue and the context."""
        self.call("clReleaseCommandQueue", self.queue)
        self.call("clReleaseContext", self.context)


@dataclass
class Run:
    """A launch of a kernel of a source, or several in a row.

    Attributes:
        source: the `.cl` file.
        kernel: the kernel's name.
        arguments: in order: an array, that is an input; the name of an output; `("local", n)` or
            `("scratch", n)`, bytes of local memory or of a buffer; a scalar of numpy; None, a
            null pointer.
        outputs: name -> array, of which shape and dtype count.
        size: the global size.
        local: the local size, or None.
        attachments: of the run.
        options: the build options.
    """

    source: Path
    kernel: str
    arguments: Sequence[Any]
    outputs: Mapping[str, Array]
    size: Sequence[int]
    local: Sequence[int] | None = None
    attachments: Mapping[str, str] = field(default_factory=dict)
    options: str | None = None


def run_launch(library: Path, run: Run) -> tuple[dict[str, Array], Records]:
    """Run a launch like the glue of an operator; return its outputs, and what was recorded."""
    opencl = OpenCl(library)
    opencl.begin(run.attachments, run.outputs)
    opencl.open()
    program = opencl.build(run.source.read_text(), run.options)
    kernel = opencl.call("clCreateKernel", program, run.kernel.encode())
    descriptors, buffers = {}, []
    for index, argument in enumerate(run.arguments):
        if isinstance(argument, np.ndarray):
            data = argument.tobytes()
            flags = READ_ONLY | COPY_HOST_PTR
            handle = opencl.buffer(flags, len(data), ctypes.create_string_buffer(data, len(data)))
        elif argument is None:
            opencl.call("clSetKernelArg", kernel, index, 8, byref(c_void_p(None)))
            continue
        elif isinstance(argument, str):
            fill = b"\xee" * run.outputs[argument].nbytes
            descriptors[argument], handle = opencl.imported(argument, fill)
        elif isinstance(argument, tuple) and argument[0] == "local":
            opencl.call("clSetKernelArg", kernel, index, argument[1], None)
            continue
        elif isinstance(argument, tuple):
            handle = opencl.buffer(READ_WRITE, argument[1])
        else:
            data = argument.tobytes()
            value = ctypes.create_string_buffer(data, len(data))
            opencl.call("clSetKernelArg", kernel, index, len(data), value)
            continue
        buffers.append(handle)
        opencl.call("clSetKernelArg", kernel, index, 8, byref(c_void_p(handle)))
    opencl.launch(kernel, run.size, run.local)
    opencl.call("clFinish", opencl.queue)
    for handle in buffers:
        opencl.call("clReleaseMemObject", handle)
    opencl.call("clReleaseKernel", kernel)
    opencl.call("clReleaseProgram", program)
    opencl.close()
    results = {}
    for name, descriptor in descriptors.items():
        like = run.outputs[name]
        data = os.pread(descriptor, like.nbytes, 0)
        results[name] = np.frombuffer(data, like.dtype).reshape(like.shape)
    return results, opencl.end()


def run_launches(library: Path, runs: Sequence[Run]) -> list[tuple[dict[str, Array], Records]]:
    """Run launches one after the other; see run_launch."""
    return [run_launch(library, run) for run in runs]


def in_process(
    function: Callable[..., Any],
    *arguments: Any,
    answers: bool = True,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> Any:
    """Return what a function of a module returns in a process of its own, if it answers."""
    code = (
        "import pickle, sys\n"
        "function, arguments = pickle.load(sys.stdin.buffer)\n"
        "result = function(*arguments)\n"
        "open(sys.argv[1], 'wb').write(pickle.dumps(result))\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder, "answer")
        done = subprocess.run(
            [sys.executable, "-c", code, str(answer)],
            input=pickle.dumps((function, arguments)),
            capture_output=True,
            check=False,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        )
        assert done.returncode == 0, done.stderr.decode()
        return pickle.loads(answer.read_bytes()) if answers else None
