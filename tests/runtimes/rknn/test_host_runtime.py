"""The host runtime behaves as the board: sizes, error codes and their order, conversions.

The expected numbers were measured on the board's driver 1.7.5.
"""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Iterable, Iterator
from ctypes import byref, c_float, c_int32, c_size_t, c_uint32, c_void_p, sizeof
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opkit.check.harness_client import HarnessKernel
from opkit.common.errors import OpkitError
from opkit.description.spec import Param
from opkit.description.types import ELEMENT_TYPES, PARAM_TYPES
from opkit.runtimes import parse
from opkit.runtimes.invocation import Array, Invocation, RefusedError, RunOptions, Value
from opkit.runtimes.rknn import boards, host_kernels
from opkit.runtimes.rknn.deliveries import DELIVERIES
from opkit.runtimes.rknn.host_kernels import CONVENTION, host_kernel
from opkit.runtimes.rknn.vx.launch import Launch, launch_of, uniforms_of
from tests.runtimes.rknn.host_build import Runtime, host_runtime, loaded_runtime, repository

INVALID_PARAMETERS, INVALID_REFERENCE, NOT_SUPPORTED = -10, -12, -3
NOT_ALLOCATED, NO_MEMORY, INVALID_VALUE, INVALID_TYPE = -5, -8, -16, -17
READ, WRITE, READ_AND_WRITE = 0x11001, 0x11002, 0x11003
HOST = 0xE001
INT8, INT16, INT32, INT64 = 0x2, 0x4, 0x6, 0x8
FLOAT32, FLOAT16, BOOL, BOOL8 = 0xA, 0xF, 0x10, 0x11
SCALAR, ARRAY, TENSOR = 0x80D, 0x80E, 0x815
EVENT, REASON = 1, 3


class Handles:
    """The functions of the runtime, called with handles and plain numbers."""

    def __init__(self, runtime: Runtime, context: int) -> None:
        self.runtime = runtime
        self.context = context
        self.operators: list[Operator] = []

    def __call__(self, name: str, *arguments: Any) -> int:
        """Call a function that returns a status."""
        function = ctypes.CDLL(str(host_runtime()))[name]  # without the prototypes of opkit
        function.restype = c_int32
        status = function(*map(self.argument, arguments))
        assert isinstance(status, int)
        return status

    def new(self, name: str, *arguments: Any) -> c_void_p:
        """Call a function that returns an object."""
        function = ctypes.CDLL(str(host_runtime()))[name]
        function.restype = c_void_p
        return c_void_p(function(*map(self.argument, arguments)))

    @staticmethod
    def argument(value: Any) -> Any:
        """Convert a number to the width of a register, which suits every integer type."""
        return c_size_t(value & 2**64 - 1) if isinstance(value, int) else value

    def tensor(self, dims: tuple[int, ...], data_type: int) -> c_void_p:
        return self.made("vxCreateTensor", len(dims), sizes(dims), data_type, 0)

    def made(self, name: str, *arguments: Any) -> c_void_p:
        """Call a function that makes an object of the context."""
        return self.new(name, c_void_p(self.context), *arguments)

    def scalar(self, data_type: int = INT32, value: Any = None) -> c_void_p:
        return self.made("vxCreateScalar", data_type, value)

    def events(self) -> list[str]:
        return self.runtime.log(EVENT)


def sizes(values: tuple[int, ...]) -> Any:
    return (c_size_t * len(values))(*values)


@pytest.fixture
def vx() -> Iterator[Handles]:
    runtime = loaded_runtime()
    with runtime.context() as context:
        yield Handles(runtime, context)


@pytest.fixture
def tensor(vx: Handles) -> c_void_p:
    """Return a float16 tensor of 3 x 2, without memory."""
    return vx.tensor((3, 2), FLOAT16)


# ---- Tensors: queries ----


@pytest.mark.parametrize(
    ("attribute", "sizes_that_fit"),
    [
        (0x081500, [4]),
        (0x081501, [8, 12, 16, 20, 24]),
        (0x081502, [4]),
        (0x081503, [1]),
        *((0x781500 + n, [4]) for n in range(7)),
    ],
)
def test_query_tensor_requires_exact_sizes(
    vx: Handles, tensor: c_void_p, attribute: int, sizes_that_fit: list[int]
) -> None:
    answer = (c_uint32 * 16)()
    for size in [0, 1, 2, 3, 4, 5, 7, 8, 12, 16, 20, 24, 25, 28, 32, 48, 64]:
        status = vx("vxQueryTensor", tensor, attribute, byref(answer), size)
        fits = size in sizes_that_fit or (attribute == 0x081501 and 8 <= size <= 24)
        assert status == (0 if fits else INVALID_PARAMETERS), size


def test_query_tensor_returns_32_bits(vx: Handles) -> None:
    tensor = vx.tensor((5, 4, 3), INT16)
    rank, dims, type_ = c_uint32(), (c_uint32 * 6)(*[99] * 6), c_int32()
    assert vx("vxQueryTensor", tensor, 0x081500, byref(rank), 4) == 0
    assert vx("vxQueryTensor", tensor, 0x081501, byref(dims), 12) == 0
    assert vx("vxQueryTensor", tensor, 0x081502, byref(type_), 4) == 0
    assert (rank.value, list(dims), type_.value) == (3, [5, 4, 3, 99, 99, 99], INT16)
    assert vx.events() == []
    assert vx("vxQueryTensor", tensor, 0x081501, byref(dims), 16) == 0
    assert (list(dims)[:3], list(dims)[4:]) == ([5, 4, 3], [99, 99])
    assert "asks for 16 bytes of a tensor with 3 dimensions" in vx.events()[0]


def test_query_tensor_refuses(vx: Handles, tensor: c_void_p) -> None:
    answer = (c_uint32 * 4)()
    off_by_two = c_void_p(ctypes.addressof(answer) + 2)
    scalar = vx.scalar()
    assert vx("vxQueryTensor", tensor, 0x081504, byref(answer), 4) == INVALID_PARAMETERS
    assert vx("vxQueryTensor", tensor, 0x081500, off_by_two, 4) == INVALID_PARAMETERS
    assert vx("vxQueryTensor", tensor, 0x081500, None, 4) == INVALID_PARAMETERS
    assert vx("vxQueryTensor", scalar, 0x081500, byref(answer), 4) == INVALID_REFERENCE
    assert vx("vxQueryTensor", None, 0x081500, byref(answer), 4) == INVALID_REFERENCE
    assert vx("vxQueryTensor", byref(answer), 0x081500, byref(answer), 4) == INVALID_REFERENCE


def test_views_share_memory(vx: Handles) -> None:
    whole = vx.tensor((4, 3), INT8)
    copy(vx, whole, np.arange(12, dtype=np.int8).reshape(3, 4), WRITE)
    view = vx.new("vxCreateTensorFromView", whole, 2, sizes((1, 1)), sizes((3, 3)))
    dims = (c_uint32 * 6)(*[99] * 6)
    assert vx("vxQueryTensor", view, 0x081501, byref(dims), 24) == 0
    assert list(dims) == [2, 2, 99, 99, 99, 99]
    part = np.zeros((2, 2), np.int8)
    assert copy(vx, view, part, READ) == 0
    assert part.tolist() == [[5, 6], [9, 10]]


@pytest.mark.parametrize("dims", [(), (1,) * 7])
def test_tensors_have_1_to_6_dimensions(vx: Handles, dims: tuple[int, ...]) -> None:
    assert vx.tensor(dims, FLOAT16).value is None


@pytest.mark.parametrize("data_type", [0x1, 0x9, 0xB, 0xC, 0xD, BOOL])
def test_invalid_tensor_types(vx: Handles, data_type: int) -> None:
    assert vx.tensor((2,), data_type).value is None


# ---- Tensors: copying ----


def copy(vx: Handles, tensor: c_void_p, array: Array, direction: int, **given: Any) -> int:
    """Copy the whole tensor; `given` replaces arguments."""
    rank = array.ndim
    arguments: dict[str, Any] = {
        "number_of_dims": rank,
        "start": sizes((0,) * rank),
        "end": sizes(array.shape[::-1]),
        "stride": sizes(array.strides[::-1]),
        "memory": c_void_p(array.ctypes.data),
        "usage": direction,
        "memory_type": HOST,
    }
    return vx("vxCopyTensorPatch", tensor, *(arguments | given).values())


NOT_A_TENSOR = c_void_p(8)


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({}, 0),
        ({"start": None}, INVALID_PARAMETERS),
        ({"end": None}, INVALID_PARAMETERS),
        ({"stride": None}, INVALID_PARAMETERS),
        ({"memory": None}, INVALID_PARAMETERS),
        ({"number_of_dims": 0}, INVALID_PARAMETERS),
        ({"number_of_dims": 3}, INVALID_PARAMETERS),
        ({"end": sizes((0, 2))}, INVALID_PARAMETERS),
        ({"end": sizes((4, 2))}, INVALID_PARAMETERS),
        ({"start": sizes((1, 2))}, INVALID_PARAMETERS),
        ({"number_of_dims": 1}, INVALID_REFERENCE),
        ({"stride": sizes((1, 6))}, NOT_SUPPORTED),
        ({"stride": sizes((8, 24))}, NOT_SUPPORTED),
        ({"usage": READ_AND_WRITE}, NOT_SUPPORTED),
        ({"usage": 0}, NOT_SUPPORTED),
        ({"memory_type": 0}, 0),
        ({"memory_type": 0xE000}, 0),
        # the order of two checks
        ({"number_of_dims": 0, "memory": None}, INVALID_PARAMETERS),
        ({"number_of_dims": 1, "end": sizes((4, 2))}, INVALID_PARAMETERS),
        ({"number_of_dims": 1, "stride": sizes((1, 6))}, INVALID_REFERENCE),
        ({"number_of_dims": 1, "end": sizes((3, 9))}, INVALID_REFERENCE),
    ],
)
def test_copy_checks_in_board_order(
    vx: Handles, tensor: c_void_p, given: dict[str, Any], status: int
) -> None:
    array = np.zeros((2, 3), np.float16)
    assert copy(vx, tensor, array, WRITE) == 0
    assert copy(vx, tensor, array, READ, **given) == status
    assert copy(vx, NOT_A_TENSOR, array, READ, **{"number_of_dims": 0} | given) == (
        INVALID_PARAMETERS if None in given.values() else INVALID_REFERENCE
    )
    assert vx.events() == []


def test_read_requires_written_memory(vx: Handles, tensor: c_void_p) -> None:
    array = np.arange(6, dtype=np.float16).reshape(2, 3)
    back = np.zeros_like(array)
    assert copy(vx, tensor, array, READ) == NOT_ALLOCATED
    assert copy(vx, tensor, array, READ, number_of_dims=0) == NOT_ALLOCATED
    assert copy(vx, tensor, array, WRITE) == 0
    assert copy(vx, tensor, back, READ) == 0
    assert back.tolist() == array.tolist()


def test_patch_starts_at_user_pointer(vx: Handles) -> None:
    tensor = vx.tensor((4, 3, 2), INT32)
    whole = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    assert copy(vx, tensor, whole, WRITE) == 0
    patch = np.full((2, 2, 3), -1, np.int32)  # a row of 2, and one place between rows
    view = {"start": sizes((1, 1, 0)), "end": sizes((3, 3, 2)), "stride": sizes((4, 12, 24))}
    assert copy(vx, tensor, patch, READ, **view) == 0
    assert patch[:, :, :2].tolist() == whole[:, 1:3, 1:3].tolist()
    assert (patch[:, :, 2] == -1).all()
    transposed = np.zeros((3, 2, 4), np.int32)
    assert copy(vx, tensor, transposed, READ, end=sizes((4, 3, 2)), stride=sizes((4, 32, 16))) == 0
    assert transposed.tolist() == whole.transpose(1, 0, 2).tolist()
    assert vx.events() == []


@pytest.mark.parametrize(
    ("stride", "end", "overlaps"),
    [
        ((2, 6, 12), (3, 2, 2), False),
        ((2, 5, 12), (3, 2, 2), True),
        ((2, 6, 11), (3, 2, 2), True),
        ((2, 12, 6), (3, 2, 2), False),
        ((2, 11, 6), (3, 2, 2), True),
        ((2, 12, 5), (3, 2, 2), True),
        ((2, 1, 6), (3, 1, 2), False),
        ((2, 1, 5), (3, 1, 2), True),
        ((2, 4, 8), (2, 2, 2), False),
        ((2, 8, 14), (3, 2, 2), False),  # no padding after the last row
        ((2, 8, 13), (3, 2, 2), True),
    ],
)
def test_read_by_overlapping_strides_is_logged(
    vx: Handles, stride: tuple[int, ...], end: tuple[int, ...], overlaps: bool
) -> None:
    tensor = vx.tensor((3, 2, 2), INT16)
    array = np.arange(12, dtype=np.int16).reshape(2, 2, 3)
    user = np.zeros((2, 2, 30), np.int16)
    patch = {"end": sizes(end), "stride": sizes(stride)}
    assert copy(vx, tensor, array, WRITE) == 0
    assert copy(vx, tensor, user, WRITE, **patch) == 0
    assert vx.events() == []
    assert copy(vx, tensor, user, READ, **patch) == 0
    assert ["overwrite each other" in text for text in vx.events()] == [True] * overlaps


def test_patch_leaves_neighbors(vx: Handles) -> None:
    tensor = vx.tensor((5, 3), INT8)
    whole = np.arange(15, dtype=np.int8).reshape(3, 5)
    view = {"start": sizes((1, 1)), "end": sizes((4, 3)), "stride": sizes((1, 3))}
    user = np.full((1, 8), -1, np.int8)
    assert copy(vx, tensor, whole, WRITE) == 0
    inside = {**view, "memory": c_void_p(user.ctypes.data + 1), "number_of_dims": 2}
    assert copy(vx, tensor, user, READ, **inside) == 0
    assert user.tolist() == [[-1, 6, 7, 8, 11, 12, 13, -1]]
    user[...] = 99
    assert copy(vx, tensor, user, WRITE, **inside) == 0
    assert copy(vx, tensor, whole, READ) == 0
    assert whole.tolist() == [[0, 1, 2, 3, 4], [5, 99, 99, 99, 9], [10, 99, 99, 99, 14]]


def test_strides_wrap_at_32_bits(vx: Handles, tensor: c_void_p) -> None:
    array = np.arange(6, dtype=np.float16).reshape(2, 3)
    assert copy(vx, tensor, array, WRITE) == 0
    back = np.zeros_like(array)
    assert copy(vx, tensor, back, READ, stride=sizes((2, 6 + 2**32))) == 0
    assert back.tolist() == array.tolist()


TO_HALF = {
    0x00000000: 0x0000,
    0x80000000: 0x8000,
    0x3F800000: 0x3C00,  # 1
    0x3F801FFF: 0x3C00,  # just below 1 + 1/1024: cut, not rounded
    0x3F802000: 0x3C01,
    0x38800000: 0x0400,  # the smallest normal half
    0x387FFFFF: 0x0000,  # below: zero, not a subnormal
    0xB87FFFFF: 0x8000,
    0x477FE000: 0x7BFF,  # 65504
    0x47800000: 0x7BFF,  # 65536
    0x7F800000: 0x7BFF,  # infinity
    0xFF800000: 0xFBFF,
    0x7FC00000: 0x7BFF,  # NaN
}
TO_FLOAT = {
    0x0000: 0x00000000,
    0x8000: 0x80000000,
    0x0001: 0x00000000,  # a subnormal
    0x83FF: 0x80000000,
    0x0400: 0x38800000,
    0x3C01: 0x3F802000,
    0x7BFF: 0x477FE000,
    0x7C00: 0x47800000,  # infinity becomes 65536
    0xFE00: 0xC7C00000,  # NaN becomes -98304
}


@pytest.mark.parametrize(
    ("written", "read"),
    [
        *((np.uint32(single), np.uint16(half)) for single, half in TO_HALF.items()),
        *((np.uint16(half), np.uint32(single)) for half, single in TO_FLOAT.items()),
    ],
    ids=lambda bits: f"{bits:#x}",
)
def test_implicit_conversions(vx: Handles, written: np.generic, read: np.generic) -> None:
    """A write or a read converts, by the stride of the user's memory."""
    for data_type in (FLOAT16, FLOAT32):
        tensor = vx.tensor((1,), data_type)
        given, got = np.array([written]), np.zeros(1, read.dtype)
        assert copy(vx, tensor, given, WRITE, stride=sizes((given.itemsize,))) == 0
        assert copy(vx, tensor, got, READ, stride=sizes((got.itemsize,))) == 0
        assert got[0] == read
    assert vx.events() == []


@pytest.mark.parametrize(
    ("data_type", "size", "stride"),
    [
        (INT8, 1, 2),
        (INT8, 1, 4),
        (BOOL8, 1, 4),
        (INT16, 2, 4),
        (0x81A, 2, 4),  # BFLOAT16
        (INT32, 4, 2),
        (INT64, 8, 2),
        (INT64, 8, 4),
    ],
)
def test_unsupported_conversions_copy_nothing(
    vx: Handles, data_type: int, size: int, stride: int
) -> None:
    tensor = vx.tensor((1,), data_type)
    array = np.full(1, 7, f"i{size}")
    assert copy(vx, tensor, array, WRITE) == 0
    user = np.full(8, 0x55, np.uint8)
    box = {"number_of_dims": 1, "end": sizes((1,)), "stride": sizes((stride,))}
    assert copy(vx, tensor, user, READ, **box) == 0
    assert copy(vx, tensor, user, WRITE, **box) == 0
    assert (user == 0x55).all()
    back = np.zeros_like(array)
    assert copy(vx, tensor, back, READ) == 0
    assert back[0] == 7
    assert len(vx.events()) == 2
    assert "copies nothing" in vx.events()[0]


def test_map_tensor(vx: Handles) -> None:
    tensor = vx.tensor((4, 3), INT16)
    map_id, stride, memory = c_size_t(), (c_size_t * 2)(), c_void_p()
    box = (2, sizes((1, 1)), sizes((3, 2)))
    out = (byref(map_id), byref(stride), byref(memory))
    assert vx("vxMapTensorPatch", tensor, *box, *out, READ, HOST) == NO_MEMORY
    array = np.arange(12, dtype=np.int16).reshape(3, 4)
    assert copy(vx, tensor, array, WRITE) == 0
    assert vx("vxMapTensorPatch", tensor, *box, *out, READ_AND_WRITE, HOST) == 0
    assert list(stride) == [2, 8]
    mapped = (ctypes.c_int16 * 2).from_address(memory.value or 0)
    assert list(mapped) == [5, 6]
    mapped[0] = 50
    assert vx("vxUnmapTensorPatch", tensor, map_id.value + 1) == INVALID_PARAMETERS
    assert vx("vxUnmapTensorPatch", tensor, map_id.value) == 0
    assert vx("vxUnmapTensorPatch", tensor, map_id.value) == INVALID_PARAMETERS
    assert copy(vx, tensor, array, READ) == 0
    assert array[1, 1] == 50
    assert vx("vxMapTensorPatch", tensor, *box, None, *out[1:], READ, HOST) == INVALID_PARAMETERS


def test_map_of_fewer_dimensions_leaves_other_strides(vx: Handles) -> None:
    tensor = vx.tensor((4, 3), INT16)
    map_id, stride, memory = c_size_t(), (c_size_t * 3)(99, 99, 99), c_void_p()
    box = (1, sizes((1, 9)), sizes((4, 9)))
    out = (byref(map_id), byref(stride), byref(memory))
    assert vx("vxMapTensorPatch", tensor, *box, *out, WRITE, HOST) == 0
    assert list(stride) == [2, 99, 99]
    assert vx("vxUnmapTensorPatch", tensor, map_id.value) == 0


# ---- Scalars ----

SCALAR_SIZES = dict(
    zip([*range(1, 15), 16], [1, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 4, 8, 4, 4], strict=True)
)


@pytest.mark.parametrize("data_type", range(1, 0x12))
def test_scalar_copy_size(vx: Handles, data_type: int) -> None:
    value = (ctypes.c_uint8 * 16)(*range(1, 17))
    scalar = vx.scalar(data_type, byref(value))
    assert vx("vxGetStatus", scalar) == 0
    type_ = c_int32()
    assert vx("vxQueryScalar", scalar, 0x080D00, byref(type_), 4) == 0
    assert type_.value == data_type
    size = SCALAR_SIZES.get(data_type)
    answer = (ctypes.c_uint8 * 16)()
    for function, *arguments in (
        ("vxCopyScalar", byref(answer), READ, HOST),
        ("vxCopyScalarWithSize", 1, byref(answer), READ, HOST),
        ("vxReadScalarValue", byref(answer)),
    ):
        answer[:] = [0xEE] * 16
        status = vx(str(function), scalar, *arguments)
        if size is None:  # FLOAT16, BOOL8
            assert status == NOT_SUPPORTED
        else:
            assert status == 0
            assert list(answer) == [*range(1, size + 1), *[0xEE] * (16 - size)]


@pytest.mark.parametrize("data_type", [0, -1, 0x800, SCALAR])
def test_invalid_scalar_types(vx: Handles, data_type: int) -> None:
    scalar = vx.scalar(data_type, None)
    assert vx("vxGetStatus", scalar) != 0


@pytest.mark.parametrize(
    ("memory", "usage", "memory_type", "status"),
    [
        (True, READ, HOST, 0),
        (True, WRITE, HOST, 0),
        (False, READ, HOST, INVALID_PARAMETERS),
        (True, READ, 0, INVALID_PARAMETERS),
        (True, READ, 0xE000, INVALID_PARAMETERS),
        (True, READ_AND_WRITE, HOST, INVALID_PARAMETERS),
        (True, 0, HOST, INVALID_PARAMETERS),
    ],
)
def test_copy_scalar_refuses(
    vx: Handles, memory: bool, usage: int, memory_type: int, status: int
) -> None:
    value = c_int32(5)
    scalar = vx.scalar(INT32, byref(value))
    pointer = byref(value) if memory else None
    assert vx("vxCopyScalar", scalar, pointer, usage, memory_type) == status
    tensor = vx.tensor((1,), INT32)
    wrong = status or INVALID_REFERENCE
    assert vx("vxCopyScalar", tensor, pointer, usage, memory_type) == wrong


def test_query_scalar_refuses(vx: Handles) -> None:
    scalar = vx.scalar()
    answer = c_size_t()
    assert vx("vxQueryScalar", scalar, 0x080D00, byref(answer), 8) == INVALID_PARAMETERS
    assert vx("vxQueryScalar", scalar, 0x080D01, byref(answer), 4) == NOT_SUPPORTED
    assert vx("vxQueryScalar", vx.tensor((1,), INT8), 0x080D00, byref(answer), 4) == -12


# ---- Arrays ----


@pytest.fixture
def array(vx: Handles) -> c_void_p:
    """Return an array of int32 with capacity 4 and the items 10, 20, 30."""
    made = vx.made("vxCreateArray", INT32, 4)
    items = (c_int32 * 3)(10, 20, 30)
    assert vx("vxAddArrayItems", made, 3, byref(items), 4) == 0
    return made


@pytest.mark.parametrize(
    ("attribute", "size", "expected"),
    [(0x080E00, 4, INT32), (0x080E01, 8, 3), (0x080E02, 8, 4), (0x080E03, 8, 4)],
)
def test_query_array(
    vx: Handles, array: c_void_p, attribute: int, size: int, expected: int
) -> None:
    answer = c_size_t()
    assert vx("vxQueryArray", array, attribute, byref(answer), size) == 0
    assert answer.value == expected
    wrong = {4: 8, 8: 4}[size]
    assert vx("vxQueryArray", array, attribute, byref(answer), wrong) == INVALID_PARAMETERS
    assert vx("vxQueryArray", array, 0x080E04, byref(answer), 8) == NOT_SUPPORTED
    assert vx("vxQueryArray", vx.tensor((1,), INT8), attribute, byref(answer), size) == -12


@pytest.mark.parametrize(
    ("start", "end", "stride", "usage", "memory_type", "status"),
    [
        (0, 3, 4, READ, HOST, 0),
        (1, 2, 8, READ, 0, 0),
        (0, 3, 3, READ, HOST, INVALID_PARAMETERS),
        (2, 2, 4, READ, HOST, INVALID_PARAMETERS),
        (0, 4, 4, READ, HOST, INVALID_PARAMETERS),  # within the capacity, but past the items
        (0, 3, 4, READ_AND_WRITE, HOST, INVALID_PARAMETERS),
    ],
)
def test_copy_array_refuses(
    vx: Handles,
    array: c_void_p,
    start: int,
    end: int,
    stride: int,
    usage: int,
    memory_type: int,
    status: int,
) -> None:
    items = (c_int32 * 8)()
    arguments = (start, end, stride, byref(items), usage, memory_type)
    assert vx("vxCopyArrayRange", array, *arguments) == status
    assert vx("vxCopyArrayRange", vx.tensor((1,), INT8), *arguments) == INVALID_REFERENCE
    if status == 0:
        step = stride // 4
        assert list(items)[: (end - start) * step : step] == [10, 20, 30][start:end]
    assert vx("vxCopyArrayRange", array, 0, 3, 4, None, READ, HOST) == INVALID_PARAMETERS


def test_array_items_are_written_by_stride(vx: Handles, array: c_void_p) -> None:
    items, back = (c_int32 * 4)(1, -1, 2, -1), (c_int32 * 3)()
    assert vx("vxCopyArrayRange", array, 1, 3, 8, byref(items), WRITE, HOST) == 0
    assert vx("vxCopyArrayRange", array, 0, 3, 4, byref(back), READ, HOST) == 0
    assert list(back) == [10, 1, 2]


def test_array_capacity_is_enforced(vx: Handles, array: c_void_p) -> None:
    items = (c_int32 * 4)(1, -1, 2, -1)
    assert vx("vxAddArrayItems", array, 2, byref(items), 4) != 0
    assert vx("vxAddArrayItems", array, 1, byref(items), 3) == INVALID_PARAMETERS
    assert vx("vxTruncateArray", array, 4) != 0
    assert vx("vxTruncateArray", array, 2) == 0
    assert vx("vxAddArrayItems", array, 2, byref(items), 8) == 0
    back = (c_int32 * 4)()
    assert vx("vxCopyArrayRange", array, 0, 4, 4, byref(back), READ, HOST) == 0
    assert list(back) == [10, 20, 1, 2]
    for capacity, item_type in ((0, INT32), (4, 0), (4, 0x999)):
        made = vx.made("vxCreateArray", item_type, capacity)
        assert vx("vxGetStatus", made) != 0


def test_map_array(vx: Handles, array: c_void_p) -> None:
    map_id, stride, memory = c_size_t(), c_size_t(), c_void_p()
    out = (byref(map_id), byref(stride), byref(memory))
    assert vx("vxMapArrayRange", array, 1, 3, *out, READ_AND_WRITE, 0, 0) == 0
    assert (stride.value, c_int32.from_address(memory.value or 0).value) == (4, 20)
    assert vx("vxUnmapArrayRange", array, map_id.value) == 0
    assert vx("vxUnmapArrayRange", array, map_id.value) == INVALID_PARAMETERS
    assert vx("vxMapArrayRange", array, 1, 3, None, *out[1:], READ, 0, 0) == INVALID_PARAMETERS
    assert vx("vxMapArrayRange", array, 3, 3, *out, READ, 0, 0) == INVALID_PARAMETERS


# ---- Kernels, nodes and references ----

VALIDATE = ctypes.CFUNCTYPE(c_int32, c_void_p, c_void_p, c_uint32, c_void_p)
CALLBACK = ctypes.CFUNCTYPE(c_int32, c_void_p, c_void_p, c_uint32)


class Operator:
    """A graph with a kernel of one parameter, with Python functions as callbacks."""

    def __init__(self, vx: Handles, declared: int = TENSOR, state: int = 0x8000) -> None:
        self.vx = vx
        vx.operators.append(self)  # kept alive, as the release of the node or the context calls it
        self.calls: list[str] = []
        self.statuses: dict[str, int] = {}
        self.actions: dict[str, Any] = {}
        self.validate = VALIDATE(lambda *_: self.called("validate"))
        self.callbacks = {
            name: CALLBACK(lambda *_, name=name: self.called(name))
            for name in ("process", "initialize", "deinitialize")
        }
        self.kernel = vx.new(
            *("vxAddUserKernel", c_void_p(vx.context), b"one", 0x100, self.callbacks["process"]),
            *(1, self.validate, self.callbacks["initialize"], self.callbacks["deinitialize"]),
        )
        assert vx("vxAddParameterToKernel", self.kernel, 0, 0, declared, state) == 0
        assert vx("vxFinalizeKernel", self.kernel) == 0
        self.graph = vx.new("vxCreateGraph", c_void_p(vx.context))
        self.node = vx.new("vxCreateGenericNode", self.graph, self.kernel)

    def called(self, name: str) -> int:
        self.calls.append(name)
        action = self.actions.get(name)
        return self.statuses.get(name, 0) if action is None else int(action())

    def set(self, value: c_void_p | None) -> int:
        return self.vx("vxSetParameterByIndex", self.node, 0, value)


def test_callbacks_run_in_order(vx: Handles) -> None:
    operator = Operator(vx)
    assert operator.set(vx.tensor((1,), INT8)) == 0
    assert vx("vxVerifyGraph", operator.graph) == 0
    assert vx("vxProcessGraph", operator.graph) == 0
    assert vx("vxProcessGraph", operator.graph) == 0
    assert vx("vxVerifyGraph", operator.graph) == 0  # does nothing
    assert vx("vxReleaseNode", byref(operator.node)) == 0
    assert vx("vxReleaseGraph", byref(operator.graph)) == 0
    assert operator.calls == ["validate", "initialize", "process", "process", "deinitialize"]


@pytest.mark.parametrize("callback", ["validate", "initialize"])
def test_failing_callback_fails_graph(vx: Handles, callback: str) -> None:
    operator = Operator(vx)
    assert operator.set(vx.tensor((1,), INT8)) == 0
    operator.statuses[callback] = -14
    assert vx("vxProcessGraph", operator.graph) == -14
    assert operator.calls[-1] == callback


@pytest.mark.parametrize(
    ("declared", "given", "status"),
    [
        (TENSOR, TENSOR, 0),
        (TENSOR, SCALAR, INVALID_TYPE),
        (SCALAR, SCALAR, 0),
        (SCALAR, ARRAY, INVALID_TYPE),
        (ARRAY, ARRAY, 0),
        (ARRAY, TENSOR, INVALID_TYPE),
        (0x800, TENSOR, 0),
        (INT32, SCALAR, 0),  # the scalar is of that type
        (FLOAT32, SCALAR, INVALID_TYPE),
        (TENSOR, None, INVALID_REFERENCE),
        (TENSOR, 0x811, INVALID_TYPE),  # an error object
        (TENSOR, 0x801, INVALID_VALUE),  # the context
    ],
)
def test_parameter_types_are_checked(
    vx: Handles, declared: int, given: int | None, status: int
) -> None:
    values = {
        TENSOR: vx.tensor((1,), INT8),
        SCALAR: vx.scalar(),
        ARRAY: vx.made("vxCreateArray", INT32, 1),
        0x811: vx.made("vxCreateArray", INT32, 0),
        0x801: c_void_p(vx.context),
        None: None,
    }
    operator = Operator(vx, declared)
    assert operator.set(values[given]) == status
    assert vx("vxSetParameterByIndex", operator.node, 1, values[TENSOR]) == INVALID_PARAMETERS
    assert vx("vxSetParameterByIndex", values[TENSOR], 0, values[TENSOR]) == INVALID_REFERENCE


def test_optional_parameter_may_be_missing(vx: Handles) -> None:
    operator = Operator(vx, state=0x8001)
    assert operator.set(None) == 0
    assert vx("vxProcessGraph", operator.graph) == 0
    assert vx("vxProcessGraph", Operator(vx).graph) != 0  # a required one may not


@pytest.mark.parametrize(
    ("index", "direction", "data_type", "state", "status"),
    [
        (0, 0, TENSOR, 0x8000, 0),
        (0, 1, ARRAY, 0x8001, 0),
        (0, 2, TENSOR, 0x8000, INVALID_PARAMETERS),  # VX_BIDIRECTIONAL
        (1, 0, TENSOR, 0x8000, INVALID_PARAMETERS),
        (0, 0, 0, 0x8000, INVALID_PARAMETERS),
        (0, 0, 0x7FF, 0x8000, INVALID_PARAMETERS),
        (0, 0, TENSOR, 0x8002, INVALID_PARAMETERS),
    ],
)
def test_add_parameter(
    vx: Handles, index: int, direction: int, data_type: int, state: int, status: int
) -> None:
    kernel = Operator(vx).kernel
    arguments = (index, direction, data_type, state)
    assert vx("vxAddParameterToKernel", kernel, *arguments) == status
    assert vx("vxAddParameterToKernel", vx.tensor((1,), INT8), *arguments) == INVALID_REFERENCE


@pytest.mark.parametrize(
    ("given", "is_valid"),
    [
        ({}, True),
        *((given, False) for given in ({"name": b""}, {"count": 0})),
        *(({name: None}, False) for name in ("function", "validate")),
        ({"name": b"n" * 255}, True),
        ({"name": b"n" * 256}, False),
    ],
    ids=str,
)
def test_user_kernel_requirements(vx: Handles, given: dict[str, Any], is_valid: bool) -> None:
    arguments = {
        "name": b"new",
        "number": 0x100,
        "function": CALLBACK(lambda *_: 0),
        "count": 1,
        "validate": VALIDATE(lambda *_: 0),
        "initialize": None,
        "deinitialize": None,
    }
    values = (arguments | given).values()
    kernel = vx.made("vxAddUserKernel", *values)
    assert (vx("vxGetStatus", kernel) == 0) == is_valid


def test_kernel_lookup_by_name(vx: Handles) -> None:
    operator = Operator(vx)
    assert vx.made("vxGetKernelByName", b"one").value == operator.kernel.value
    other = vx.made("vxGetKernelByName", b"other")
    assert vx("vxGetStatus", other) == INVALID_PARAMETERS
    assert vx("vxRemoveKernel", operator.kernel) == 0
    removed = vx.made("vxGetKernelByName", b"one")
    assert vx("vxGetStatus", removed) == INVALID_PARAMETERS


NODE_SIZES = {0x080300: 4, 0x080301: 64, 0x080302: 20, 0x080303: 8, 0x080304: 8, 0x080305: 4}


def test_node_attributes(vx: Handles) -> None:
    node = Operator(vx).node
    buffer = (c_size_t * 32)()
    for attribute, size in NODE_SIZES.items():
        assert vx("vxQueryNode", node, attribute, byref(buffer), size) == 0
        assert vx("vxQueryNode", node, attribute, byref(buffer), size + 4) == INVALID_PARAMETERS
    border, back = (c_int32 * 5)(0xC001, 1, 2, 3, 4), (c_int32 * 5)()
    assert vx("vxQueryNode", node, 0x080302, byref(back), 20) == 0
    assert list(back) == [0xC000, 0, 0, 0, 0]
    assert vx("vxSetNodeAttribute", node, 0x080302, byref(border), 20) == 0
    assert vx("vxQueryNode", node, 0x080302, byref(back), 20) == 0
    assert list(back) == list(border)
    assert vx("vxSetNodeAttribute", node, 0x080302, byref(buffer), 16) == INVALID_PARAMETERS
    assert vx("vxSetNodeAttribute", node, 0x999999, byref(buffer), 4) == NOT_SUPPORTED
    assert vx("vxSetNodeAttribute", vx.tensor((1,), INT8), 0x080302, byref(buffer), 20) == -12


def test_execution_parameters_are_copied_before_verify(vx: Handles) -> None:
    operator = Operator(vx)
    assert operator.set(vx.tensor((1,), INT8)) == 0
    given, back = (c_size_t * 13)(*range(3, 16)), (c_size_t * 13)()
    for size in (52, 100, 112):
        status = vx("vxSetNodeAttribute", operator.node, 0x780300, byref(given), size)
        assert status == INVALID_PARAMETERS

    def initialize() -> int:
        return vx("vxSetNodeAttribute", operator.node, 0x780300, byref(given), 104)

    operator.actions["initialize"] = initialize
    assert vx("vxVerifyGraph", operator.graph) == 0
    expected = list(given)
    given[3] = 99
    assert vx("vxSetNodeAttribute", operator.node, 0x780300, byref(given), 104) == NOT_SUPPORTED
    assert vx("hostrt_launch", operator.node, byref(back)) == 0
    assert list(back) == expected


def vx_node(vx: Handles, validate: Any) -> tuple[c_void_p, c_void_p]:
    """Return a graph and its node, a VX kernel of one parameter."""
    program = vx.made("vxCreateProgramWithBinary", b"SHDR", 4)
    assert vx("vxBuildProgram", program, None) == 0
    kernel = vx.new("vxAddKernelInProgram", program, b"vx", 0x100, 1, validate, None, None)
    assert vx("vxAddParameterToKernel", kernel, 0, 0, TENSOR, 0x8000) == 0
    assert vx("vxFinalizeKernel", kernel) == 0
    graph = vx.new("vxCreateGraph", c_void_p(vx.context))
    node = vx.new("vxCreateGenericNode", graph, kernel)
    assert vx("vxSetParameterByIndex", node, 0, vx.tensor((1,), INT8)) == 0
    return graph, node


FUNCTIONS_OF_ARRAYS = {
    "vxQueryArray": 3,
    "vxSetArrayAttribute": 3,
    "vxAddArrayItems": 3,
    "vxTruncateArray": 1,
    "vxCopyArrayRange": 6,
    "vxMapArrayRange": 8,
    "vxUnmapArrayRange": 1,
}
"""Function -> the number of its arguments after the array."""


def test_failed_calls_are_named_with_their_reason(vx: Handles, tensor: c_void_p) -> None:
    word, memory = c_int32(), (c_size_t * 6)()
    strides = sizes((2, 6))
    calls: list[tuple[tuple[Any, ...], str]] = [
        (("vxQueryTensor", tensor, 0x081500, byref(word), 8),
         "vxQueryTensor: attribute 0x81500 has 4 bytes, not 8"),
        (("vxQueryTensor", tensor, 0x0815FF, byref(word), 4),
         "vxQueryTensor: attribute 0x815FF is unknown"),
        (("vxQueryTensor", tensor, 0x081501, byref(memory), 4),
         "vxQueryTensor: VX_TENSOR_DIMS of 2 dimensions has 8 bytes, not 4"),
        (("vxSetTensorAttribute", tensor, 0x081500, byref(word), 4),
         "vxSetTensorAttribute: attribute 0x81500 cannot be set"),
        (("vxCopyTensorPatch", tensor, 2, sizes((0, 0)), sizes((4, 2)), strides, byref(memory),
          WRITE, HOST),
         "vxCopyTensorPatch or vxMapTensorPatch: the view is 0 to 4 in dimension 0, which has 3 "
         "elements"),
        (("vxQueryTensor", None, 0x081500, byref(word), 4),
         "vxQueryTensor: the tensor is not valid"),
        *(((name, None, *[0] * count), f"{name}: the array is not valid")
          for name, count in FUNCTIONS_OF_ARRAYS.items()),
        (("vxQueryScalar", None, 0, byref(word), 4), "vxQueryScalar: the scalar is not valid"),
    ]  # fmt: skip
    before = len(vx.runtime.log(REASON))
    for call, _ in calls:
        assert vx(*call) != 0
    assert vx.runtime.log(REASON)[before:] == [reason for _, reason in calls]


@pytest.mark.parametrize(("dimensions", "status"), [(0, -1), (1, 0), (3, 0), (4, -1)])
def test_vx_kernel_is_launched_in_1_to_3_dimensions(
    vx: Handles, dimensions: int, status: int
) -> None:
    validate = VALIDATE(lambda *_: 0)
    graph, node = vx_node(vx, validate)
    launch = (c_size_t * 13)(dimensions, *[0] * 3, *[1] * 3, *[0] * 3, *[1] * 3)
    assert vx("vxSetNodeAttribute", node, 0x780300, byref(launch), 104) == 0
    assert vx("vxProcessGraph", graph) == status
    reasons = vx.runtime.log(REASON)
    assert (f"workDim is {dimensions} (expected 1 to 3)" in "".join(reasons)) == (status != 0)


def test_local_data_is_set_in_initialize_and_deinitialize(vx: Handles) -> None:
    operator = Operator(vx)
    assert operator.set(vx.tensor((1,), INT8)) == 0
    data = c_size_t(0)
    seen: list[int] = []

    def try_to_set() -> int:
        seen.append(vx("vxSetNodeAttribute", operator.node, 0x080304, byref(data), 8))
        return 0

    for name in ("validate", "initialize", "process", "deinitialize"):
        operator.actions[name] = try_to_set
    assert vx("vxSetNodeAttribute", operator.node, 0x080304, byref(data), 8) == NOT_SUPPORTED
    assert vx("vxProcessGraph", operator.graph) == 0
    node = c_void_p(operator.node.value)
    assert vx("vxReleaseNode", byref(node)) == 0
    assert vx("vxReleaseGraph", byref(operator.graph)) == 0
    assert seen == [NOT_SUPPORTED, 0, NOT_SUPPORTED, 0]


def test_reference_attributes(vx: Handles) -> None:
    scalar = vx.scalar()
    vx.runtime.do("hostrt_set_name", scalar, b"size")
    count, type_, name = c_uint32(), c_int32(), ctypes.c_char_p()
    assert vx("vxQueryReference", scalar, 0x080000, byref(count), 4) == 0
    assert vx("vxQueryReference", scalar, 0x080001, byref(type_), 4) == 0
    assert vx("vxQueryReference", scalar, 0x080002, byref(name), 8) == 0
    assert (count.value, type_.value, name.value) == (1, SCALAR, b"size")
    assert vx("vxQueryReference", scalar, 0x080000, byref(count), 8) == INVALID_PARAMETERS
    assert vx("vxQueryReference", scalar, 0x080009, byref(count), 4) == NOT_SUPPORTED
    assert vx("vxReleaseTensor", byref(scalar)) == INVALID_REFERENCE  # of another type
    dead = c_void_p(scalar.value)
    assert vx("vxReleaseScalar", byref(scalar)) == 0
    assert scalar.value is None
    assert vx("vxQueryReference", dead, 0x080000, byref(count), 4) == INVALID_REFERENCE


def test_log_lines_are_limited_to_1024_bytes(vx: Handles) -> None:
    log = ctypes.CDLL(str(host_runtime())).vxAddLogEntry
    log(c_void_p(vx.context), -10, b"%s %d", b"size", c_int32(3))
    log(c_void_p(vx.context), -10, b"%s", b"x" * 3000)
    assert vx.runtime.log(0) == ["size 3", "x" * 1023]


@pytest.mark.parametrize(
    ("blob", "status"),
    [(b"SHDR", 0), (b"FULLPRGM.", 0), (b"\x7fELF", -10), (b"", -10), (b"SHD", -10)],
)
def test_program_binary_magic(vx: Handles, blob: bytes, status: int) -> None:
    program = vx.made("vxCreateProgramWithBinary", blob, len(blob))
    assert vx("vxGetStatus", program) == status


def test_uniforms_are_declared_by_program(vx: Handles) -> None:
    validate = VALIDATE(lambda *_: 0)
    _, node = vx_node(vx, validate)
    value = c_float(2.5)
    runtime = ctypes.CDLL(str(host_runtime()))
    assert vx("hostrt_declare_uniform", node, b"factor", sizeof(value)) == 0
    assert vx("vxSetNodeUniform", node, b"factor", 1, byref(value)) == 0
    assert vx("vxSetNodeUniform", node, b"other", 1, byref(value)) == -1
    name, count, data, size = ctypes.c_char_p(), c_size_t(), c_void_p(), c_size_t()
    out = (byref(name), byref(count), byref(data), byref(size))
    assert runtime.hostrt_uniform(node, c_size_t(0), *out) == 1
    assert (name.value, count.value, size.value) == (b"factor", 1, 4)
    assert c_float.from_address(data.value or 0).value == 2.5
    assert runtime.hostrt_uniform(node, c_size_t(1), *out) == 0


# ---- Marshaling of params ----

UINT64_BIG = 2**64 - 1


@pytest.mark.parametrize(
    ("kind", "value", "delivered_type", "data"),
    [
        ("BOOL", True, "UINT8", "01"),
        ("BOOL", False, "UINT8", "00"),
        ("CHAR", 65, "CHAR", "41"),
        ("UINT8", 255, "UINT8", "ff"),
        ("UINT8", 256, "UINT8", "00"),  # the low byte
        ("UINT8", -1, "UINT8", "00"),  # negative: 0
        ("UINT8", 2.9, "UINT8", "02"),  # toward zero
        ("UINT16", 65535, "UINT16", "ffff"),
        ("UINT32", 2**32 - 1, "UINT32", "ffffffff"),
        ("UINT32", 2**40, "UINT32", "ffffffff"),  # saturates
        ("INT8", -1, "INT8", "ff"),
        ("INT8", 200, "INT8", "c8"),
        ("INT16", -2, "INT16", "feff"),
        ("INT32", -2.9, "INT32", "feffffff"),
        ("INT32", 2**40, "INT32", "ffffff7f"),
        ("INT64", -1, "INT64", "ff" * 8),
        ("INT64", 2**53 + 1, "INT64", "0000000000002000"),  # through a double
        ("INT64", 2**63 - 1, "INT64", "ffffffffffffff7f"),
        ("UINT64", UINT64_BIG, "UINT64", "ff" * 8),
        ("FLOAT32", 0.1, "FLOAT32", struct.pack("<f", 0.1).hex()),
        ("FLOAT32", 1e300, "FLOAT32", "0000807f"),
        ("FLOAT64", 0.1, "FLOAT64", struct.pack("<d", 0.1).hex()),
    ],
)
def test_marshaled_scalars(kind: str, value: Any, delivered_type: str, data: str) -> None:
    scalar = CONVENTION.marshal([Param("p", PARAM_TYPES[f"VX_TYPE_{kind}"])], {"p": value})
    assert scalar == [Value("p", delivered_type.lower(), (), bytes.fromhex(data))]


@pytest.mark.parametrize("number", [math.inf, -math.inf, math.nan, np.float32(math.inf)])
@pytest.mark.parametrize("kind", ["FLOAT32", "FLOAT64", "INT32", "ARRAY"])
def test_numbers_that_json_cannot_carry_are_refused(kind: str, number: float) -> None:
    value = [1, number] if kind == "ARRAY" else number
    with pytest.raises(RefusedError) as caught:
        CONVENTION.marshal([Param("p", PARAM_TYPES[f"VX_TYPE_{kind}"])], {"p": value})
    assert str(caught.value) == (
        f"param 'p' is {float(number)}; RKNN-Toolkit writes params as JSON, which has no infinity "
        "and no NaN (expected a finite number)"
    )


@pytest.mark.parametrize(
    ("kind", "number", "delivered"),
    [
        ("INT64", 2**63 - 1, -(2**63)),
        ("INT64", 2**63 - 512, -(2**63)),  # as a double 2^63
        ("INT64", 2**63 - 1024, 2**63 - 1024),
        ("INT64", -(2**63), -(2**63)),
        ("INT64", -1, -1),
        ("UINT64", 2**64 - 1, 2**64 - 1),
        ("UINT64", 2**63 - 1, 2**63),
        ("INT32", 2**31 - 1, 2**31 - 1),
    ],
)
def test_values_on_armhf(kind: str, number: int, delivered: int) -> None:
    param = Param("p", PARAM_TYPES[f"VX_TYPE_{kind}"])
    (value,) = host_kernels.ARMHF_CONVENTION.marshal([param], {"p": number})
    element = param.type.element
    data = delivered.to_bytes(element.size, "little", signed=element.kind == "int")
    assert value == Value("p", element.name, (), data)
    is_other = kind == "INT64" and number >= 2**63 - 512
    warnings = dict(boards.armhf_warnings([param], {"p": number}))
    assert [*warnings] == ["p"] * is_other
    if is_other:
        assert warnings["p"].startswith(
            f"{number} arrives as -9223372036854775808 on armhf (rv1109, rv1126); use a smaller"
        )


def test_marshaled_arrays() -> None:
    param = Param("size", PARAM_TYPES["VX_TYPE_ARRAY"])

    def delivered(numbers: Iterable[float]) -> Value:
        (value,) = CONVENTION.marshal([param], {"size": numbers})
        return value

    for numbers, items in (([1, -2.9, 2**40], [1, -2, 2**31 - 1]), (range(16), range(16))):
        data = np.array(items, "<i4").tobytes()
        assert delivered(numbers) == Value("size", "int32", (len(items),), data)
    for count in (0, 17):
        with pytest.raises(RefusedError, match=f"'size' has {count} items .* the board"):
            delivered(range(count))


@pytest.mark.parametrize("name", sorted(PARAM_TYPES.keys() - DELIVERIES.keys()))
def test_types_refused_by_board(name: str) -> None:
    with pytest.raises(RefusedError, match=f"'p': the board refuses the type {name}"):
        CONVENTION.marshal([Param("p", PARAM_TYPES[name])], {"p": 1})


SHOWN = [name for name in DELIVERIES if not PARAM_TYPES[name].is_list]
PARAMS = {name.removeprefix("VX_TYPE_").lower(): 3 + n for n, name in enumerate(SHOWN)}


def test_kernel_receives_marshaled_values(tmp_path: Path) -> None:
    lines = [f"  p_{name}: {{type: VX_TYPE_{name.upper()}}}" for name in PARAMS]
    description = "\n".join(
        [
            "name: Params",
            "inputs: {input: {type: VX_TYPE_TENSOR}}",
            "outputs: {output: {type: VX_TYPE_TENSOR}}",
            "params:",
            *lines,
            "  items: {type: VX_TYPE_ARRAY}",
        ]
    )
    root = repository(tmp_path, "host_params.c", description, "")
    spec = parse(description)
    kernel = host_kernel(spec, root / "build/x64/libparams.so", root / "build/host")
    values = {f"p_{name}": value for name, value in PARAMS.items()} | {"items": [7, -8, 9]}
    shape = (len(PARAMS) + 1, 72)
    call = Invocation({"input": np.zeros(1, np.float16)}, values, {"output": (shape, "uint8")})
    outcome = kernel.run(call, RunOptions(fill=0x7E))
    assert (outcome.status, outcome.fault, outcome.leaks) == (0, "", [])
    expected = CONVENTION.marshal(spec.params, values)
    for row, value in zip(outcome.outputs["output"], expected, strict=True):
        type_, count = row[:8].view(np.int32)
        assert type_ == ELEMENT_TYPES[value.type].vx_number
        assert count == (value.shape[0] if value.shape else 1)
        assert row[8:].tobytes() == value.data.ljust(64, b"\0")


# ---- VX kernels: the callbacks run, and their requests are recorded ----

LAUNCH = """\
name: Launch
inputs: {input: {type: VX_TYPE_TENSOR}}
outputs: {output: {type: VX_TYPE_TENSOR}}
params: {sizes: {type: VX_TYPE_ARRAY}, locals: {type: VX_TYPE_ARRAY}}
"""


@pytest.fixture(scope="module")
def launcher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return repository(tmp_path_factory.mktemp("launch"), "host_launch.c", LAUNCH, "")


def launch_call(sizes: list[int], local: list[int]) -> Invocation:
    inputs = {"input": np.zeros((2, 3), np.float16)}
    return Invocation(inputs, {"sizes": sizes, "locals": local}, {"output": ((2, 3), "float16")})


def launch_kernel(root: Path, index: int) -> HarnessKernel:
    spec = parse((root / "op.yml").read_text())
    build = root / "build"
    return host_kernel(spec, build / "x64/liblaunch.so", build / "host", index, {"factor": 4})


@pytest.mark.parametrize(
    ("sizes", "local", "reason"),
    [
        ([4, 6, 2], [0, 0, 0], ""),
        ([4, 6, 2], [2, 3, 1], ""),
        ([4, 6, 2], [4, 0, 0], "localWorkSize is 0 in some of 3 dimensions"),
        ([4, 6, 2], [3, 1, 1], "globalWorkSize[0] = 4 is not a multiple of localWorkSize[0] = 3"),
        ([4, 0, 2], [0, 0, 0], "globalWorkSize[1] is 0"),
    ],
)
def test_launch_rules(launcher: Path, sizes: list[int], local: list[int], reason: str) -> None:
    outcome = launch_kernel(launcher, 1).run(launch_call(sizes, local), RunOptions(fill=0))
    assert outcome.status == (-1 if reason else 0)
    assert outcome.log == ([f"the launch of the VX kernel: {reason}"] if reason else [])
    assert launch_of(outcome) == Launch(3, (0, 2, 0), (8, 1, 1), tuple(local), tuple(sizes))
    assert uniforms_of(outcome) == {"factor": struct.pack("<f", 2.5)}


def test_kernel_index_selects_kernel(launcher: Path) -> None:
    call = launch_call([1, 1, 1], [0, 0, 0])
    outcome = launch_kernel(launcher, 0).run(call)
    assert (outcome.status, outcome.stage, launch_of(outcome)) == (-2, "the kernel", None)
    with pytest.raises(
        OpkitError, match=r"kernel_index 2 is out of range \(kernels in the list: 2\)"
    ):
        launch_kernel(launcher, 2).run(call)


def test_library_mismatch_is_reported(launcher: Path, tmp_path: Path) -> None:
    library, host = launcher / "build/x64/liblaunch.so", launcher / "build/host"
    two = Invocation({"input": np.zeros(1, np.float16)}, {}, {"output": ((1,), "float16")})
    one_less = parse(LAUNCH.split("params:")[0])
    with pytest.raises(OpkitError, match=r"'launch_cpu' has 4 parameters, but op\.yml has 2"):
        host_kernel(one_less, library, host).run(two)
    other = parse(LAUNCH.split("params:")[0].replace("Launch", "Other"))
    with pytest.raises(OpkitError, match="has no vx_kernel_Other_list, by which the"):
        host_kernel(other, library, host).run(two)
    broken = tmp_path / "liblaunch.so"
    broken.write_text("not a library")
    with pytest.raises(OpkitError, match="cannot be loaded"):
        host_kernel(one_less, broken, host).run(two)
    with pytest.raises(OpkitError, match="not found; run `scons target=x64`"):
        host_kernel(one_less, tmp_path / "none.so", host)
