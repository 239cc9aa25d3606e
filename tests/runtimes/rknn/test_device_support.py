"""The access of CPU kernels to their parameters, on an OpenVX that can fail at every call."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from opkit.toolchains.abi import ABIS, Abi
from tests.compiling import C_SOURCES, build, compile_c
from tests.marks import quick_first

Array = npt.NDArray[np.generic]

TENSOR, SCALAR, ARRAY = 0x815, 0x80D, 0x80E
UINT8, INT32, INT64, FLOAT32, FLOAT64, FLOAT16, BOOL = 3, 6, 8, 10, 11, 15, 16
BFLOAT16 = 0x81A
SUCCESS, FAILURE, NO_MEMORY, INVALID_REFERENCE = 0, -1, -8, -12
INVALID_FORMAT, INVALID_DIMENSION, INVALID_TYPE = -14, -15, -17

# data type of the device -> element type of numpy on the device, and in compute
TENSOR_TYPES = {
    2: (np.int8, np.int8),
    UINT8: (np.uint8, np.uint8),
    0x11: (np.uint8, np.uint8),
    4: (np.int16, np.int16),
    5: (np.uint16, np.uint16),
    INT32: (np.int32, np.int32),
    7: (np.uint32, np.uint32),
    INT64: (np.int64, np.int64),
    FLOAT32: (np.float32, np.float32),
    FLOAT16: (np.float16, np.float32),
}
# enum opkit_type
COMPUTE_TYPES = [
    np.float32,
    np.int8,
    np.uint8,
    np.int16,
    np.uint16,
    np.int32,
    np.uint32,
    np.int64,
    np.float16,
]


class Tensor(ctypes.Structure):
    """struct opkit_tensor."""

    _fields_ = (
        ("type", ctypes.c_int),
        ("rank", ctypes.c_size_t),
        ("shape", ctypes.c_size_t * 6),
        ("size", ctypes.c_size_t),
        ("data", ctypes.c_void_p),
    )

    def array(self) -> Array:
        """Return a view of the elements, shaped."""
        dtype = np.dtype(COMPUTE_TYPES[self.type])
        memory = (ctypes.c_char * (self.size * dtype.itemsize)).from_address(self.data)
        elements: Array = np.frombuffer(memory, dtype).reshape(self.shape[: self.rank])
        return elements


class Int32Array(ctypes.Structure):
    """struct opkit_int32_array."""

    _fields_ = (("count", ctypes.c_size_t), ("items", ctypes.POINTER(ctypes.c_int32)))


Items = ctypes.c_int32 * 16
"""The memory for its items."""


@dataclass
class Device:
    """The library under test, and the objects of its operator's call."""

    library: ctypes.CDLL

    def set_tensor(self, index: int, data_type: int, data: Array, rank: int | None = None) -> Array:
        """Make a tensor from a copy of `data`; return its memory."""
        memory = np.array(data)
        dims = list(reversed(data.shape))
        self._set(index, TENSOR, data_type, memory, dims, len(dims) if rank is None else rank)
        return memory

    def set_scalar(self, index: int, data_type: int, value: Array) -> None:
        self._set(index, SCALAR, data_type, np.array(value), [])

    def set_array(self, index: int, item_type: int, items: Iterable[int]) -> None:
        self._set(index, ARRAY, item_type, np.array(list(items), np.int32), [])

    def _set(
        self, index: int, kind: int, data_type: int, memory: Array, dims: list[int], rank: int = 0
    ) -> None:
        self._alive = [*getattr(self, "_alive", []), memory]
        self.library.set_object(
            ctypes.c_uint32(index),
            ctypes.c_int32(kind),
            ctypes.c_int32(data_type),
            ctypes.c_size_t(memory.itemsize),
            ctypes.c_uint32(rank),
            (ctypes.c_uint32 * 6)(*dims),
            ctypes.c_size_t(memory.size),
            ctypes.c_void_p(memory.ctypes.data),
        )

    def call(self, name: str, *arguments: object) -> int:
        status: int = getattr(self.library, name)(*arguments)
        return status

    @property
    def log(self) -> str:
        self.library.logged.restype = ctypes.c_char_p
        text: bytes = self.library.logged()
        return text.decode()

    @property
    def allocations(self) -> int:
        return self.call("allocations")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    output = tmp_path_factory.mktemp("device") / "device_support.so"
    # With its own OpenVX, even if the process has loaded the host runtime.
    flags = "-shared -O1 -fvisibility=hidden -fsanitize=undefined -fsanitize-trap=undefined".split()
    source = C_SOURCES / "device_support.c"
    return ctypes.CDLL(str(build(output, *flags, "-Wl,-Bsymbolic", "-lpthread", source)))


@pytest.fixture
def device(library: ctypes.CDLL) -> Device:
    library.reset(1)
    return Device(library)


def sample(dtype: npt.DTypeLike, shape: tuple[int, ...]) -> Array:
    """Return random bytes of a type, including infinities and subnormals, but no NaN."""
    random = np.random.default_rng(len(shape))
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    values = random.integers(0, 256, size, np.uint8).view(dtype).reshape(shape)
    return np.where(values == values, values, np.array(0, dtype))


@pytest.mark.parametrize("abi", quick_first(2, ABIS.values()), ids=lambda abi: abi.name)
@pytest.mark.parametrize("optimisation", ["-O0", "-O2"])
def test_compiles_without_warnings(abi: Abi, optimisation: str, tmp_path: Path) -> None:
    source = C_SOURCES / "device_support.c"
    result = compile_c(tmp_path / "device.o", source, "-c", optimisation, abi=abi)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    "shape", [(5,), (1003,), (2, 3), (1, 2, 3), (2, 3, 4, 5), (1, 2, 1, 3, 2, 2)], ids=str
)
@pytest.mark.parametrize("data_type", TENSOR_TYPES, ids=hex)
def test_tensor_round_trip(device: Device, data_type: int, shape: tuple[int, ...]) -> None:
    device_type, compute_type = TENSOR_TYPES[data_type]
    data = sample(device_type, shape)
    device.set_tensor(0, data_type, data)
    written = device.set_tensor(1, data_type, np.zeros(shape, device_type))
    tensor = Tensor()

    assert device.call("read_tensor", 0, ctypes.byref(tensor)) == SUCCESS
    assert COMPUTE_TYPES[tensor.type] is compute_type
    assert list(tensor.shape) == [*shape, *[1] * (6 - len(shape))]
    assert tensor.size == data.size
    np.testing.assert_array_equal(tensor.array(), data.astype(compute_type))

    assert device.call("write_tensor", 1, ctypes.byref(tensor)) == SUCCESS
    assert written.tobytes() == data.tobytes()

    device.library.close_tensor(ctypes.byref(tensor))
    assert device.allocations == 0
    assert device.log == ""


def test_halves_are_rounded(device: Device) -> None:
    written = device.set_tensor(0, FLOAT16, np.zeros(4, np.float16))
    tensor = Tensor()
    assert device.call("open_tensor", 0, ctypes.byref(tensor)) == SUCCESS
    tensor.array()[:] = [2.0, np.inf, 1 / 1024 / 65536, 2049.5]
    assert device.call("write_tensor", 0, ctypes.byref(tensor)) == SUCCESS
    # 2049.5 lies between 2048 and 2050.
    np.testing.assert_array_equal(written, np.array([2, np.inf, 0, 2050], np.float16))
    device.library.close_tensor(ctypes.byref(tensor))


@pytest.mark.parametrize("data_type", TENSOR_TYPES, ids=hex)
def test_failed_kernel_invalidates_output(device: Device, data_type: int) -> None:
    device_type = np.dtype(TENSOR_TYPES[data_type][0])
    memory = device.set_tensor(0, data_type, np.ones((2, 3), device_type))
    assert device.call("invalidate_tensor", 0) == SUCCESS
    if device_type.kind == "f":
        assert np.isnan(memory).all()
    else:
        expected = -1 if device_type.kind == "i" else 2 ** (8 * device_type.itemsize) - 1
        assert (memory == expected).all()
    assert device.allocations == 0
    assert device.log == ""


# Three queries and a copy; one allocation.
@pytest.mark.parametrize(
    ("cause", "number", "message"),
    [
        *(("fail_call", number, ": OpenVX status -1") for number in (1, 2, 3)),
        ("fail_call", 4, "cannot mark it as invalid: OpenVX status -1"),
        ("fail_allocation", 1, "no memory for 12 bytes to mark it as invalid"),
    ],
)
def test_failed_invalidation_is_reported(
    device: Device, cause: str, number: int, message: str
) -> None:
    device.set_tensor(0, FLOAT16, np.ones((2, 3), np.float16))
    getattr(device.library, cause)(number, FAILURE)
    assert device.call("invalidate_tensor", 0) != SUCCESS
    assert device.log.startswith("ResizeArea: parameter 'tensor': ")
    assert device.log.endswith(message)
    assert device.allocations == 0


def test_bool_parameter_is_uint8_scalar(device: Device) -> None:
    device.set_scalar(0, UINT8, np.array([1], np.uint8))
    around = (ctypes.c_uint8 * 3)(7, 7, 7)
    # An odd address: a bool may have any.
    value = ctypes.byref(around, 1)
    assert device.call("read_scalar", 0, UINT8, value, ctypes.c_size_t(1)) == SUCCESS
    assert list(around) == [7, 1, 7]


@pytest.mark.parametrize(
    ("data_type", "value"),
    [
        (1, np.uint8(65)),
        (2, np.int8(-3)),
        (4, np.int16(-300)),
        (5, np.uint16(65535)),
        (INT32, np.int32(-(2**31))),
        (7, np.uint32(2**32 - 1)),
        (INT64, np.int64(-(2**53))),
        (9, np.uint64(2**63)),
        (FLOAT32, np.float32(0.1)),
        (FLOAT64, np.float64(0.1)),
    ],
    ids=lambda value: str(value),
)
def test_scalar_is_read(device: Device, data_type: int, value: np.generic) -> None:
    device.set_scalar(0, data_type, np.array([value]))
    result = np.zeros(1, value.dtype)
    pointer = ctypes.c_void_p(result.ctypes.data)
    size = ctypes.c_size_t(result.itemsize)
    assert device.call("read_scalar", 0, data_type, pointer, size) == SUCCESS
    assert result[0] == value


@pytest.mark.parametrize("items", [[], [7], [3, -1], list(range(16))], ids=len)
def test_array_is_read(device: Device, items: list[int]) -> None:
    device.set_array(0, INT32, items)
    buffer, array = Items(*[99] * 16), Int32Array(99)
    assert device.call("read_array", 0, ctypes.c_size_t(0), buffer, ctypes.byref(array)) == SUCCESS
    assert array.items[: array.count] == items
    assert list(buffer) == items + [99] * (16 - len(items))


Setting = Callable[[Device], int]
"""Sets the device up, calls the support, and returns the status."""


def tensor_of(data_type: int, data: Array, rank: int | None = None) -> Setting:
    def run(device: Device) -> int:
        device.set_tensor(0, data_type, data, rank)
        return device.call("read_tensor", 0, ctypes.byref(Tensor()))

    return run


def array_of(item_type: int, items: Iterable[int], length: int) -> Setting:
    def run(device: Device) -> int:
        device.set_array(0, item_type, items)
        array = ctypes.byref(Int32Array())
        return device.call("read_array", 0, ctypes.c_size_t(length), Items(), array)

    return run


def scalar_of(data_type: int, wanted: int, size: int) -> Setting:
    def run(device: Device) -> int:
        device.set_scalar(0, data_type, np.zeros(1, np.int64))
        buffer = ctypes.create_string_buffer(8)
        return device.call("read_scalar", 0, wanted, buffer, ctypes.c_size_t(size))

    return run


def write_of(make: Callable[[Tensor], None]) -> Setting:
    def run(device: Device) -> int:
        device.set_tensor(0, FLOAT16, np.zeros((2, 3), np.float16))
        memory = np.zeros(6, np.float32)
        tensor = Tensor(0, 2, (ctypes.c_size_t * 6)(2, 3, 1, 1, 1, 1), 6, memory.ctypes.data)
        make(tensor)
        return device.call("write_tensor", 0, ctypes.byref(tensor))

    return run


def set_field(name: str, value: object) -> Setting:
    return write_of(lambda tensor: setattr(tensor, name, value))


@pytest.mark.parametrize(
    ("setting", "status", "message"),
    [
        (tensor_of(BFLOAT16, np.zeros(2, np.int16)), INVALID_TYPE, "0x81A (VX_TYPE_?)"),
        (tensor_of(FLOAT64, np.zeros(2)), INVALID_TYPE, "0x00B (VX_TYPE_FLOAT64)"),
        # Truncated to 8 bits, it would equal VX_TYPE_UINT8.
        (tensor_of(0x103, np.zeros(2)), INVALID_TYPE, "0x103 (VX_TYPE_?)"),
        (
            tensor_of(FLOAT32, np.zeros(2), rank=0),
            INVALID_DIMENSION,
            "its rank is 0; it must be at",
        ),
        (
            tensor_of(FLOAT32, np.zeros(2), rank=7),
            INVALID_DIMENSION,
            "its rank is 7; it must be at",
        ),
        (tensor_of(FLOAT32, np.zeros((2, 0))), INVALID_DIMENSION, "one dimension is 0; it must be"),
        (
            array_of(INT32, [1, 2, 3], length=2),
            INVALID_DIMENSION,
            "its length is 3; it must be at least 2 and at most 2",
        ),
        (
            array_of(INT32, range(17), length=0),
            INVALID_DIMENSION,
            "its length is 17; it must be at least 0 and at most 16",
        ),
        (
            array_of(FLOAT32, [1], length=1),
            INVALID_TYPE,
            "0x00A (VX_TYPE_FLOAT32) instead of VX_TYPE_INT32",
        ),
        (
            scalar_of(INT32, UINT8, 1),
            INVALID_TYPE,
            "0x006 (VX_TYPE_INT32) instead of VX_TYPE_UINT8",
        ),
        (set_field("data", None), INVALID_FORMAT, "data does not have the tensor's type and"),
        (set_field("type", 5), INVALID_FORMAT, "data does not have the tensor's type and"),
        (set_field("rank", 3), INVALID_FORMAT, "data does not have the tensor's type and"),
        (
            set_field("shape", (ctypes.c_size_t * 6)(3, 2, 1, 1, 1, 1)),
            INVALID_FORMAT,
            "data does not have the tensor's type and",
        ),
    ],
)
def test_drift_is_refused(
    device: Device, setting: Setting, status: int, message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert setting(device) == status
    assert device.log.startswith("ResizeArea: parameter '")
    assert message in device.log
    assert capfd.readouterr().err == device.log + "\n"
    assert device.allocations == 0


@pytest.mark.parametrize(
    ("dims", "limit"),
    [
        ((65536, 65536), 8191),
        ((2**32 - 1, 2**32 - 1, 2**32 - 1), 2**29 - 1),
        ((2**29,), 2**29 - 1),
        ((2**16, 2**16, 2**16, 2**16), 8191),
    ],
    ids=str,
)
def test_oversized_tensor_is_refused(device: Device, dims: tuple[int, ...], limit: int) -> None:
    device.library.set_object(
        0, TENSOR, INT64, ctypes.c_size_t(8), len(dims), (ctypes.c_uint32 * 6)(*dims), 0, None
    )
    for name in ("open_tensor", "read_tensor"):
        assert device.call(name, 0, ctypes.byref(Tensor())) == INVALID_DIMENSION
    assert f"one dimension is {dims[-1]}; it must be at least 1 and at most {limit}" in device.log
    assert device.allocations == 0


@pytest.mark.parametrize("index", [7, 8, 2**32 - 1])
def test_missing_parameter_is_refused(device: Device, index: int) -> None:
    number = ctypes.c_uint32(index)
    buffer = ctypes.create_string_buffer(256)
    size = ctypes.c_size_t(4)
    assert device.call("open_tensor", number, ctypes.byref(Tensor())) == INVALID_REFERENCE
    assert device.call("read_tensor", number, ctypes.byref(Tensor())) == INVALID_REFERENCE
    assert device.call("write_tensor", number, ctypes.byref(Tensor())) == INVALID_REFERENCE
    assert device.call("read_scalar", number, INT32, buffer, size) == INVALID_REFERENCE
    assert (
        device.call("read_array", number, ctypes.c_size_t(0), Items(), buffer) == INVALID_REFERENCE
    )
    assert "'array': it is not among the 8 parameters that the runtime passed" in device.log


def test_wrong_object_type_is_refused(device: Device) -> None:
    device.set_scalar(0, INT32, np.zeros(1, np.int32))
    assert device.call("read_tensor", 0, ctypes.byref(Tensor())) == INVALID_REFERENCE
    assert "cannot read its type: OpenVX status -12" in device.log


def set_up_operator(device: Device) -> Array:
    device.set_tensor(0, FLOAT16, np.array([[1, 2], [3, 4]], np.float16))
    output = device.set_tensor(1, FLOAT16, np.zeros((2, 2), np.float16))
    device.set_array(2, INT32, [10, 0])
    device.set_scalar(3, UINT8, np.array([1], np.uint8))
    return output


def test_operator_runs(device: Device) -> None:
    output = set_up_operator(device)
    assert device.call("run_operator") == SUCCESS
    np.testing.assert_array_equal(output, [[9, 8], [7, 6]])
    assert device.allocations == 0
    assert device.log == ""


# The parameters of the operator's OpenVX calls, in the order of the calls.
CALLS = [
    *(["input"] * 3 + ["output"] * 3),  # to compute the size of the memory
    *(["input"] * 4 + ["items"] * 3 + ["flag"] * 2 + ["output"] * 4),
]


@pytest.mark.parametrize("number", range(1, len(CALLS) + 1))
def test_failing_call_is_named_without_leaks(device: Device, number: int) -> None:
    set_up_operator(device)
    device.library.fail_call(number, -100 - number)
    assert device.call("run_operator") == -100 - number
    expected = f"ResizeArea: parameter '{CALLS[number - 1]}': cannot "
    assert device.log.startswith(expected)
    assert device.log.endswith(f": OpenVX status {-100 - number}")
    assert device.log.count("ResizeArea") == 1
    assert device.allocations == 0


# Three queries, three again and a copy; one allocation.
@pytest.mark.parametrize(
    ("cause", "number"), [*(("fail_call", i) for i in range(1, 8)), ("fail_allocation", 1)]
)
def test_failing_read_leaks_nothing(device: Device, cause: str, number: int) -> None:
    set_up_operator(device)
    getattr(device.library, cause)(number, FAILURE)
    tensor = Tensor()
    assert device.call("read_tensor", 0, ctypes.byref(tensor)) != SUCCESS
    assert device.allocations == 0


def test_operator_makes_listed_calls_only(device: Device) -> None:
    set_up_operator(device)
    device.library.fail_call(len(CALLS) + 1, FAILURE)
    assert device.call("run_operator") == SUCCESS


def test_out_of_memory_is_reported_without_leaks(device: Device) -> None:
    set_up_operator(device)
    device.library.fail_allocation(1)
    assert device.call("run_operator") == NO_MEMORY
    assert device.log == "ResizeArea: no memory for 128 bytes of tensors"
    assert device.allocations == 0


def test_tensors_share_one_block(device: Device) -> None:
    set_up_operator(device)
    device.library.fail_allocation(2)
    assert device.call("run_operator") == SUCCESS


def test_tensors_are_cache_line_aligned(device: Device) -> None:
    shapes = [(1,), (16,), (17,), (5, 7)]
    for index, shape in enumerate(shapes):
        device.set_tensor(index, FLOAT16 if index % 2 else UINT8, np.zeros(shape, np.float16))
    tensors = (Tensor * len(shapes))()
    places = (ctypes.c_size_t * len(shapes))()
    assert device.call("open_all", len(shapes), tensors, places) == SUCCESS
    # 1 byte, 16 floats, 17 bytes, 35 floats
    assert [place - places[0] for place in places] == [0, 64, 128, 192]
    assert places[0] % 64 == 0
    assert device.allocations == 0


# ---- Memory that a node keeps ----


@pytest.fixture
def node(device: Device) -> Iterator[Device]:
    """Yield a device with an initialized node."""
    device.library.add_node()
    yield device
    for number in range(3):
        device.library.select_node(number)
        device.library.remove_node()
    assert device.allocations == 0


def negated(device: Device, shape: tuple[int, ...]) -> None:
    """Run the operator on tensors of a shape, and check its output."""
    data = sample(np.uint8, shape).astype(np.float16)
    device.set_tensor(0, FLOAT16, data)
    output = device.set_tensor(1, FLOAT16, np.zeros(shape, np.float16))
    device.set_array(2, INT32, [10, 0])
    device.set_scalar(3, UINT8, np.array([1], np.uint8))
    assert device.call("run_operator") == SUCCESS, device.log
    np.testing.assert_array_equal(output, 10 - data)


def test_second_call_does_not_allocate(node: Device) -> None:
    negated(node, (100, 10))
    before = node.call("allocations_ever")
    for shape in [(100, 10), (3,), (10, 100), (1, 2, 3)]:
        negated(node, shape)
    assert node.call("allocations_ever") == before
    negated(node, (101, 10))  # grows
    assert node.call("allocations_ever") == before + 1
    negated(node, (100, 10))
    assert node.call("allocations_ever") == before + 1


def test_second_call_allocates_without_node(device: Device) -> None:
    negated(device, (3,))
    negated(device, (3,))
    assert device.call("allocations_ever") == 2
    assert device.allocations == 0


def test_nodes_have_memory_of_their_own(node: Device) -> None:
    tensors = Tensor(), Tensor(), Tensor()
    for number, tensor in enumerate(tensors):
        node.library.select_node(number)
        node.library.add_node()
        node.set_tensor(0, FLOAT16, np.full((4, 5), number, np.float16))
        assert node.call("read_tensor", 0, ctypes.byref(tensor)) == SUCCESS
    for number in (1, 0):  # from the middle of the list, and from its end
        node.library.select_node(number)
        node.library.remove_node()
        assert (tensors[2].array() == 2).all()
    node.library.select_node(2)
    assert node.call("read_tensor", 0, ctypes.byref(tensors[0])) == SUCCESS
    assert tensors[0].data == tensors[2].data


def test_node_is_initialized_again(node: Device) -> None:
    negated(node, (3,))
    before = node.allocations
    node.library.add_node()
    negated(node, (3,))
    assert node.allocations == before


def test_failed_invalidation_with_node(node: Device) -> None:
    memory = node.set_tensor(0, FLOAT16, np.ones((2, 3), np.float16))
    assert node.call("invalidate_tensor", 0) == SUCCESS
    assert np.isnan(memory).all()
    before = node.call("allocations_ever")
    assert node.call("invalidate_tensor", 0) == SUCCESS
    assert node.call("allocations_ever") == before


def test_out_of_memory_with_node(node: Device) -> None:
    negated(node, (3,))
    set_up_operator(node)
    node.set_tensor(1, FLOAT16, np.zeros((2000, 2), np.float16))
    node.library.fail_allocation(1)
    assert node.call("run_operator") == NO_MEMORY
    assert node.log == "ResizeArea: no memory for 16064 bytes of tensors"
    negated(node, (3,))


def test_node_without_memory_allocates_at_each_call(device: Device) -> None:
    device.library.fail_allocation(1)
    device.library.add_node()
    assert device.allocations == 0
    negated(device, (3,))
    assert device.allocations == 0
    device.library.remove_node()


def test_removed_node_is_not_found(device: Device) -> None:
    device.library.remove_node()
    device.library.add_node()
    device.library.remove_node()
    device.library.remove_node()
    negated(device, (3,))
    assert device.allocations == 0


def test_nodes_in_threads(device: Device) -> None:
    assert device.call("run_nodes_in_threads") == 0
    assert device.allocations == 0


# ---- Halves as they are ----


def test_halves_stay_halves(node: Device) -> None:
    data = sample(np.float16, (7, 11))
    node.set_tensor(0, FLOAT16, data)
    written = node.set_tensor(1, FLOAT16, np.zeros((7, 11), np.float16))
    tensor = Tensor()
    assert node.call("open_halves", 0, ctypes.byref(tensor)) == SUCCESS
    assert COMPUTE_TYPES[tensor.type] is np.float16
    assert tensor.array().tobytes() == data.tobytes()
    assert node.call("write_tensor", 1, ctypes.byref(tensor)) == SUCCESS
    assert written.tobytes() == data.tobytes()
    assert tensor.array().tobytes() == data.tobytes()


@pytest.mark.parametrize("data_type", set(TENSOR_TYPES) - {FLOAT16}, ids=hex)
def test_only_halves_stay_halves(device: Device, data_type: int) -> None:
    device_type, compute_type = TENSOR_TYPES[data_type]
    device.set_tensor(0, data_type, sample(device_type, (5,)))
    tensor = Tensor()
    assert device.call("open_halves", 0, ctypes.byref(tensor)) == SUCCESS
    assert COMPUTE_TYPES[tensor.type] is compute_type
    device.library.close_tensor(ctypes.byref(tensor))


def test_halves_take_two_bytes(device: Device) -> None:
    device.set_tensor(0, FLOAT16, np.zeros(1000, np.float16))
    device.library.fail_allocation(1)
    assert device.call("open_halves", 0, ctypes.byref(Tensor())) == NO_MEMORY
    assert device.log == "ResizeArea: no memory for 2048 bytes of tensors"  # 2,000 to 32 lines


def test_halves_are_not_written_to_floats(device: Device) -> None:
    device.set_tensor(0, FLOAT32, np.zeros(6, np.float32))
    memory = np.zeros(6, np.float16)
    tensor = Tensor(8, 1, (ctypes.c_size_t * 6)(6, 1, 1, 1, 1, 1), 6, memory.ctypes.data)
    assert device.call("write_tensor", 0, ctypes.byref(tensor)) == INVALID_FORMAT


def test_failure_without_parameter_and_node(
    device: Device, capfd: pytest.CaptureFixture[str]
) -> None:
    assert device.call("fail", None, b"size must have 2 items") == FAILURE
    assert device.log == "ResizeArea: size must have 2 items"
    device.library.reset(0)
    assert device.call("fail", b"size", b"is 0") == FAILURE
    assert device.log == ""
    assert capfd.readouterr().err == (
        "ResizeArea: size must have 2 items\nResizeArea: parameter 'size': is 0\n"
    )


@pytest.mark.parametrize("parameter", [b"p" * 2000, None])
def test_long_message_is_truncated(device: Device, parameter: bytes | None) -> None:
    assert device.call("fail", parameter, b"x" * 3000) == FAILURE
    assert len(device.log) == 1023
