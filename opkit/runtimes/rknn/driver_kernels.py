"""The CPU kernel in the boards' own driver, and in their runtime of models above it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike

from opkit.check.harness_client import HarnessKernel
from opkit.description.spec import OpSpec
from opkit.runtimes.executor import Executor
from opkit.runtimes.invocation import AT_FULL_SPEED, Invocation, RunOptions, RunResult
from opkit.runtimes.rknn import boards, host_kernels
from opkit.runtimes.rknn.board_driver import MODEL
from opkit.runtimes.rknn.host_kernels import CONVENTION

_HEADER = b"RKNN" + bytes(4) + (2).to_bytes(8, "little")
_CHANNELS_LAST = 1


def model(spec: OpSpec, tensors: Invocation, abi: str, library: bytes) -> bytes:
    """Return a model of one node with the CPU kernel.

    Args:
        spec: the operator description.
        tensors: the shapes and dtypes of inputs and outputs, and the params' values.
        abi: the ABI of the library, aarch64 or armhf.
        library: the operator's device library.
    """
    sections = [b"", _json(_graph(spec, tensors)), _json([_operator(spec, abi, library)]), library]
    return _HEADER + b"".join(len(each).to_bytes(8, "little") + each for each in sections)


def _json(value: Any) -> bytes:
    return json.dumps(value, allow_nan=False).encode() + b"\0"


def _operator(spec: OpSpec, abi: str, library: bytes) -> dict[str, Any]:
    """Return the entry of the operator, with the places of its libraries in the last section."""
    sizes = {"vx_kernel_bin": 0, "op_lib_x86": 0, "op_lib_aarch64": 0, "op_lib_armhf": 0}
    sizes[f"op_lib_{abi}"] = len(library)
    places = {f"{name}_offset": 0 for name in sizes} | {
        f"{name}_len": n for name, n in sizes.items()
    }
    return {
        "op_version": 2,  # the runtime reads the library for armhf
        "name": spec.name,
        "inputs": [tensor.name for tensor in spec.inputs],
        "outputs": [tensor.name for tensor in spec.outputs],
        "params": {param.name: {"type": param.type.name} for param in spec.params},
        "kernel_index": 0,
        **places,
    }


def _graph(spec: OpSpec, tensors: Invocation) -> dict[str, Any]:
    inputs = [(array.shape, array.dtype) for array in tensors.inputs.values()]
    outputs = [*tensors.outputs.values()]
    node = {
        "lid": f"{spec.lower}_0",
        "uid": 0,
        "name": spec.lower,
        "op": spec.name.upper(),
        "input_num": len(inputs),
        "output_num": len(outputs),
        "nn": {spec.lower: {name: _param(value) for name, value in tensors.params.items()}},
    }
    ends = [
        *(("input", index) for index in range(len(inputs))),
        *(("output", index) for index in range(len(outputs))),
    ]
    return {
        "name": spec.lower,
        "version": "1.7.5",
        "ovxlib_version": "1.1.26",
        "network_platform": "tensorflow",
        "ori_network_platform": "tensorflow",
        "input_fmt": _CHANNELS_LAST,
        "input_transpose": 0,
        "output_fmt": _CHANNELS_LAST,
        "optimization_level": 3,
        "case_type": -1,
        "input_num": len(inputs),
        "output_num": len(outputs),
        "node_num": 1,
        "norm_tensor_num": len(ends),
        "const_tensor_num": 0,
        "virtual_tensor_num": 0,
        "nodes": [node],
        "norm_tensor": [
            _tensor(index, shape, dtype) for index, (shape, dtype) in enumerate(inputs + outputs)
        ],
        "const_tensor": [],
        "virtual_tensor": [],
        "connection": [
            {
                "node_id": 0,
                "left": side,
                "left_tensor_id": index,
                "right_tensor": {"type": "norm_tensor", "tensor_id": id_},
            }
            for id_, (side, index) in enumerate(ends)
        ],
        "graph": [
            {"left": side, "left_tensor_id": index, "right": "norm_tensor", "right_tensor_id": id_}
            for id_, (side, index) in enumerate(ends)
        ],
    }


def _tensor(index: int, shape: Sequence[int], dtype: DTypeLike) -> dict[str, Any]:
    """Return a tensor of the graph; its first dimension is the fastest."""
    return {
        "tensor_id": index,
        "url": f"tensor_{index}",
        "dim_num": len(shape),
        "size": [*map(int, reversed(shape))],
        "dtype": {
            "vx_type": f"VSI_NN_TYPE_{np.dtype(dtype).name.upper()}",
            "qnt_type": "VSI_NN_QNT_TYPE_NONE",
        },
    }


def _param(value: Any) -> Any:
    """Return the JSON of a param's value; the toolkit writes a bool as 0 or 1."""
    items = np.asarray(value)
    return (items.astype(int) if items.dtype == bool else items).tolist()


_CONVENTIONS = {boards.ARMHF: host_kernels.ARMHF_CONVENTION}

_RUNTIME_STATUSES = {
    -1: "RKNN_ERR_FAIL",
    -2: "RKNN_ERR_TIMEOUT",
    -3: "RKNN_ERR_DEVICE_UNAVAILABLE",
    -4: "RKNN_ERR_MALLOC_FAIL",
    -5: "RKNN_ERR_PARAM_INVALID",
    -6: "RKNN_ERR_MODEL_INVALID",
    -7: "RKNN_ERR_CTX_INVALID",
    -8: "RKNN_ERR_INPUT_INVALID",
    -9: "RKNN_ERR_OUTPUT_INVALID",
    -10: "RKNN_ERR_DEVICE_UNMATCH",
    -13: "RKNN_ERR_TARGET_PLATFORM_UNMATCH",
    -14: "RKNN_ERR_NON_PRE_COMPILED_MODEL_ON_MINI_DRIVER",
}

_OWN_CHANGE = "rknn_init changes the process's environment"
"""The event of librknn_runtime itself."""


class DriverKernel(HarnessKernel):
    """The kernel of the device library, called by libOpenVX; implements VendorKernel."""

    precision: Mapping[str, str] = MappingProxyType({})
    """The driver keeps every dtype as it is."""
    reads_reference: ClassVar[bool] = False

    def __init__(self, spec: OpSpec, executor: Executor, root: Path) -> None:
        convention = _CONVENTIONS.get(executor.abi, CONVENTION)
        super().__init__(spec, executor, root, convention)


class ModelKernel(DriverKernel):
    """The kernel in a model, run by librknn_runtime; implements VendorKernel."""

    def __init__(self, spec: OpSpec, executor: Executor, root: Path) -> None:
        super().__init__(spec, executor, root)
        self.convention = replace(self.convention, statuses=_RUNTIME_STATUSES)
        self.keeps_state = False  # one model for each process
        self.abi = executor.abi
        self.device_library = root / f"build/{self.abi}/lib{spec.lower}.so"

    def run(self, invocation: Invocation, options: RunOptions = AT_FULL_SPEED) -> RunResult:
        """Run the kernel; see Kernel.

        Memory is not filled: librknn_runtime 1.7.5 requires new memory to be zero; see model.c.
        """
        result = super().run(invocation, replace(options, fill=None))
        result.events = [event for event in result.events if not event.startswith(_OWN_CHANGE)]
        return result

    def attachments_of(self, tensors: Invocation) -> Mapping[str, bytes]:
        """Return the model as an attachment."""
        library = self.device_library.read_bytes()
        return {MODEL: model(self.spec, tensors, self.abi, library)}


def vendor_kernel(spec: OpSpec, executor: Executor, root: Path) -> Any:
    """Return the kernel of an executor; see Check.vendor_kernel."""
    is_model = MODEL in executor.settings
    return (ModelKernel if is_model else DriverKernel)(spec, executor, root)
