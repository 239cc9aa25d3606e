"""Calls of OpenCL that tests/runtimes/rknn2/test_opencl_strictness.py makes in processes."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Callable, Mapping
from ctypes import byref, c_float, c_int32, c_size_t, c_void_p
from pathlib import Path
from typing import Any

import numpy as np

from tests.runtimes.rknn2.opencl_api import (
    COPY_HOST_PTR,
    READ_ONLY,
    READ_WRITE,
    Array,
    OpenCl,
    Records,
    StatusError,
)

SOURCE = """\
__kernel void copy(__global const float *x, __global float *y, int n)
{
    size_t i = get_global_id(0);
    if (i < n) {
        y[i] = x[i];
    }
}
__attribute__((reqd_work_group_size(4, 1, 1))) __kernel void four(__global float *y)
{
    y[get_global_id(0)] = 1.0f;
}
__kernel void shared(__global float *y, __local float *part)
{
    part[get_local_id(0)] = 1.0f;
    y[get_global_id(0)] = part[get_local_id(0)];
}
__kernel void by_zero(__global const int *x, __global int *y)
{
    y[0] = 10 / x[0];
}
"""
X = np.arange(64, dtype=np.float32)
Steps = Callable[[OpenCl], Any]


def perform(
    library: Path, attachments: Mapping[str, str], outputs: Mapping[str, Array], steps: Steps
) -> tuple[Any, Records]:
    """Return what some steps in a run return, and what was recorded."""
    opencl = OpenCl(library)
    opencl.begin(attachments, outputs)
    opencl.open()
    answer = steps(opencl)
    return answer, opencl.end()


def status_of(opencl: OpenCl, name: str, *arguments: Any) -> int:
    """Return the status of a call."""
    try:
        opencl.call(name, *arguments)
    except StatusError as error:
        assert error.args[0] == name
        return int(error.args[1])
    return 0


def kernel_of(opencl: OpenCl, name: str) -> Any:
    program = opencl.build(SOURCE)
    return opencl.call("clCreateKernel", program, name.encode())


def statuses_of_launches(opencl: OpenCl) -> dict[str, int]:
    """Launch with invalid sizes and arguments."""
    found = {}

    def launch(label: str, kernel: Any, size: Any, local: Any = None) -> None:
        sizes = (c_size_t * len(size))(*size)
        locals_ = (c_size_t * len(local))(*local) if local else None
        found[label] = status_of(
            *(opencl, "clEnqueueNDRangeKernel", opencl.queue, kernel, len(size), None, sizes),
            *(locals_, 0, None, None),
        )

    copy, four, shared = (kernel_of(opencl, name) for name in ("copy", "four", "shared"))
    buffer = opencl.buffer(READ_WRITE, 256)
    launch("unset", copy, [64])
    for index in (0, 1):
        opencl.call("clSetKernelArg", copy, index, 8, byref(c_void_p(buffer)))
    opencl.call("clSetKernelArg", copy, 2, 4, byref(c_int32(0)))
    opencl.call("clSetKernelArg", four, 0, 8, byref(c_void_p(buffer)))
    opencl.call("clSetKernelArg", shared, 0, 8, byref(c_void_p(buffer)))
    opencl.call("clSetKernelArg", shared, 1, 64000, None)
    launch("not a multiple", copy, [64], [24])
    launch("too many in a group", copy, [1024], [512])
    launch("too many in two dimensions", copy, [64, 64], [32, 32])
    launch("no items", copy, [0])
    launch("four dimensions", copy, [1, 1, 1, 1])
    launch("not the required size", four, [64], [8])
    launch("required, but none", four, [64])
    launch("local memory", shared, [8], [8])
    launch("right", copy, [64], [64])
    found["finish"] = status_of(opencl, "clFinish", opencl.queue)
    found["index"] = status_of(opencl, "clSetKernelArg", copy, 3, 4, byref(c_int32(0)))
    found["size"] = status_of(opencl, "clSetKernelArg", copy, 2, 8, byref(c_int32(0)))
    found["a number for a buffer"] = status_of(
        opencl, "clSetKernelArg", copy, 1, 4, byref(c_int32(0))
    )
    found["no buffer"] = status_of(opencl, "clSetKernelArg", copy, 1, 8, byref(c_void_p(17)))
    found["local value"] = status_of(opencl, "clSetKernelArg", shared, 1, 4, byref(c_int32(0)))
    found["no kernel"] = status_of(opencl, "clCreateKernel", opencl.build(SOURCE), b"other_name")
    return found


def statuses_of_buffers(opencl: OpenCl) -> dict[str, int]:
    """Make invalid buffers."""
    data = (c_float * 64)()
    context, found = opencl.context, {}

    def create(label: str, flags: int, size: int, memory: Any = None) -> None:
        found[label] = status_of(opencl, "clCreateBuffer", context, flags, size, memory)

    create("no size", READ_WRITE, 0)
    create("both accesses", READ_WRITE | READ_ONLY, 4)
    create("unknown flag", 1 << 20, 4)
    create("memory without a flag", READ_WRITE, 4, data)
    create("a flag without memory", READ_ONLY | COPY_HOST_PTR, 4)
    parent = opencl.buffer(READ_WRITE, 1024)

    def part(label: str, origin: int, size: int, owner: Any = parent) -> None:
        region = (c_size_t * 2)(origin, size)
        found[label] = status_of(opencl, "clCreateSubBuffer", owner, 0, 0x1220, region)

    part("right", 128, 896)
    part("misaligned", 64, 64)
    part("too long", 128, 1024)
    part("empty", 128, 0)
    region = (c_size_t * 2)(0, 512)
    child = opencl.call("clCreateSubBuffer", parent, 0, 0x1220, region)
    part("of a part", 0, 128, child)
    return found


def copy_into_import(opencl: OpenCl, elements: int) -> list[float]:
    """Copy elements to an offset in imported memory; return the memory."""
    kernel = kernel_of(opencl, "copy")
    data = X.tobytes()
    x = opencl.buffer(READ_ONLY | COPY_HOST_PTR, len(data), ctypes.create_string_buffer(data))
    descriptor, imported = opencl.imported("y", bytes(512))
    region = (c_size_t * 2)(128, 128)
    y = opencl.call("clCreateSubBuffer", imported, 0, 0x1220, region)
    for index, handle in enumerate((x, y)):
        opencl.call("clSetKernelArg", kernel, index, 8, byref(c_void_p(handle)))
    opencl.call("clSetKernelArg", kernel, 2, 4, byref(c_int32(elements)))
    opencl.launch(kernel, [elements])
    before = os.pread(descriptor, 512, 0)
    assert before == bytes(512), "the launch has run before clFinish"
    opencl.call("clFinish", opencl.queue)
    return list(np.frombuffer(os.pread(descriptor, 512, 0), np.float32))


def copy_32(opencl: OpenCl) -> list[float]:
    return copy_into_import(opencl, 32)


def copy_33(opencl: OpenCl) -> list[float]:
    return copy_into_import(opencl, 33)


def import_errors(opencl: OpenCl) -> list[int]:
    """Import the same memory three times, and memory that is too short."""
    found = []
    for size in (64, 64, 64, 0):
        try:
            opencl.imported("y", bytes(size))
            found.append(0)
        except StatusError as error:
            found.append(error.args[1])
    return found


def use_after_release(opencl: OpenCl) -> list[int]:
    """Release a buffer and a kernel, and use them."""
    kernel, buffer = kernel_of(opencl, "four"), opencl.buffer(READ_WRITE, 64)
    opencl.call("clReleaseMemObject", buffer)
    found = [status_of(opencl, "clSetKernelArg", kernel, 0, 8, byref(c_void_p(buffer)))]
    opencl.call("clReleaseKernel", kernel)
    found.append(status_of(opencl, "clReleaseKernel", kernel))
    return found


def release_early(opencl: OpenCl) -> bytes:
    """Release everything between a launch and clFinish, in any order: that is allowed."""
    program = opencl.build(SOURCE)
    kernel = opencl.call("clCreateKernel", program, b"four")
    descriptor, buffer = opencl.imported("y", bytes(16))
    opencl.call("clSetKernelArg", kernel, 0, 8, byref(c_void_p(buffer)))
    opencl.launch(kernel, [4], [4])
    opencl.call("clReleaseContext", opencl.context)
    opencl.call("clReleaseMemObject", buffer)
    opencl.call("clReleaseProgram", program)
    opencl.call("clReleaseKernel", kernel)
    opencl.call("clFinish", opencl.queue)
    opencl.call("clReleaseCommandQueue", opencl.queue)
    return os.pread(descriptor, 16, 0)


def forget_finish(opencl: OpenCl) -> None:
    """Release the queue without clFinish."""
    kernel, buffer = kernel_of(opencl, "four"), opencl.buffer(READ_WRITE, 16)
    opencl.call("clSetKernelArg", kernel, 0, 8, byref(c_void_p(buffer)))
    opencl.launch(kernel, [4], [4])
    opencl.call("clReleaseCommandQueue", opencl.queue)


def texts(opencl: OpenCl) -> tuple[str, str]:
    """Return the platform's name, and the device's extensions."""
    return (
        opencl.text("clGetPlatformInfo", opencl.platform, 0x902),
        opencl.text("clGetDeviceInfo", opencl.device, 0x1030),
    )


def build_others(opencl: OpenCl) -> list[tuple[Any, ...]]:
    """Build the program with another text, and with other options."""
    found = []
    for text, options in ((SOURCE.replace("1.0f", "2.0f"), None), (SOURCE, "-DN=4")):
        try:
            opencl.build(text, options)
        except StatusError as error:
            found.append(error.args)
    return found


class _Fault(ctypes.Structure):
    _fields_ = (
        ("signal", ctypes.c_int),
        ("code", ctypes.c_int),
        ("address", c_size_t),
        ("stack_pointer", c_size_t),
        ("instruction", c_size_t),
        ("verb", ctypes.c_char_p),
    )


def divide_by_zero(opencl: OpenCl, file: str) -> None:
    """Divide by zero; write the library's description of the signal to a file, and exit."""
    kernel = kernel_of(opencl, "by_zero")
    stack = (c_size_t * 512)()

    def describe(number: int) -> None:
        text = ctypes.create_string_buffer(256)
        fault = _Fault(signal=number, stack_pointer=ctypes.addressof(stack))
        is_described = opencl.library.opkit_opencl_describe_fault(byref(fault), text, 256)
        log = opencl.end().log
        Path(file).write_text(f"{bool(is_described)} {text.value.decode()}\n{log}")
        os._exit(0)

    handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(describe)
    ctypes.CDLL(None).signal(signal.SIGFPE, handler)
    y = opencl.buffer(READ_WRITE, 4)
    zero = c_int32(0)
    x = opencl.buffer(READ_WRITE | COPY_HOST_PTR, 4, byref(zero))
    for index, handle in enumerate((x, y)):
        opencl.call("clSetKernelArg", kernel, index, 8, byref(c_void_p(handle)))
    opencl.launch(kernel, [1])
    opencl.call("clFinish", opencl.queue)


def two_nodes(library: Path, program: str, y: Array) -> Records:
    """Launch in one run while another one, which began later, has not ended."""
    opencl = OpenCl(library)
    opencl.begin({"opencl:program": program}, {"y": y})
    opencl.open()
    kernel = kernel_of(opencl, "four")
    opencl.begin({"opencl:program": program}, {"y": y})
    descriptor, buffer = opencl.imported("y", bytes(y.nbytes))
    os.close(descriptor)
    opencl.call("clSetKernelArg", kernel, 0, 8, byref(c_void_p(buffer)))
    opencl.launch(kernel, [y.size], [4])
    opencl.call("clFinish", opencl.queue)
    opencl.end()
    return opencl.end()


def statuses_of_platforms(opencl: OpenCl) -> list[int]:
    """Ask for platforms and devices in valid and invalid ways."""
    platforms, count = (c_void_p * 2)(), ctypes.c_uint32()
    found = [
        opencl.library.clGetPlatformIDs(1, None, byref(count)),
        opencl.library.clGetPlatformIDs(0, platforms, None),
        opencl.library.clGetPlatformIDs(0, None, None),
        opencl.library.clGetDeviceIDs(opencl.platform, 4, 5, None, byref(count)),
        opencl.library.clGetDeviceIDs(opencl.platform, 2, 1, platforms, None),
        opencl.library.clGetDeviceIDs(opencl.platform, 0, 1, platforms, None),
        opencl.library.clGetDeviceIDs(None, 4, 1, platforms, None),
        opencl.library.clGetPlatformInfo(opencl.platform, 0x902, 3, platforms, None),
    ]
    return [*found, count.value]
