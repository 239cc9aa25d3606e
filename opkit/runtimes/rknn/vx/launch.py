"""The launch of a VX kernel by its initializer, the emulator's tolerance, and gaps of cases."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass

import numpy as np

from opkit.check.cases import Quantization
from opkit.common.errors import OpkitError
from opkit.description.spec import OpSpec
from opkit.runtimes.invocation import Invocation, RunResult

STRICT, LENIENT = "strict", "lenient"
BOARDS = (STRICT, LENIENT)

PADDED = frozenset({"read of padding bytes", "write of padding bytes"})
"""Events behind the elements of a buffer; x is the byte's number in it. Strict, they are faults."""

PADDING = {STRICT: 0, LENIENT: 64}
"""Board -> the bytes that a buffer has behind its elements; that these are as many is assumed."""


_POLICIES = ("poison", "edge", "constant")
# Border mode -> policy
_BORDERS = {0xC001: "constant", 0xC002: "edge"}
_UNIFORM = "uniform:"
# Values of VX_TENSOR_QUANT_FORMAT; as created: the default of vxCreateTensor
_AS_CREATED, _DYNAMIC_FIXED_POINT, _AFFINE = -1, 1, 2


@dataclass(frozen=True)
class Launch:
    """The work items of a VX kernel, as its initializer sets them."""

    work_dim: int
    global_offset: tuple[int, ...]
    global_scale: tuple[int, ...]
    local_size: tuple[int, ...]
    global_size: tuple[int, ...]


@dataclass(frozen=True)
class Border:
    """The value of reads outside of a tensor.

    Attributes:
        policy: `poison`, a pattern of bits that no result may depend on; `edge`, the nearest
            element; `constant`.
        fill: the pattern of `poison`, 32 bits. Under every policy, outputs hold it beforehand.
        value: the value of `constant`: a number, rounded to the tensor's type; or bytes, of which
            an element is the first 1, 2 or 4 (an element of 8 bytes has the first 4 twice).

    Raises:
        OpkitError: the policy is unknown.
    """

    policy: str = "poison"
    fill: int = 0x7E7E7E7E
    value: float | bytes = 0

    def __post_init__(self) -> None:
        if self.policy not in _POLICIES:
            allowed = ", ".join(_POLICIES)
            raise OpkitError(f"unknown border '{self.policy}' (expected {allowed})")


@dataclass(frozen=True)
class TensorFormat:
    """The attributes of a tensor on the board, besides its shape and element type.

    The kernel gets quantized elements as they are, the reference their numbers.

    Attributes:
        bfloat16: whether its elements are VX_TYPE_BFLOAT16; the case has their bits as int16.
        scale: the scale of the affine quantization: number = scale * (element - zero_point). None:
            no such quantization.
        zero_point: see above.
        fixed_point_position: the position of the dynamic fixed point: number = element /
            2**position. None: no such quantization.

    Raises:
        OpkitError: it has both quantizations.
    """

    bfloat16: bool = False
    scale: float | None = None
    zero_point: int = 0
    fixed_point_position: int | None = None

    def __post_init__(self) -> None:
        if self.scale is not None and self.fixed_point_position is not None:
            raise OpkitError(
                "a TensorFormat has a scale or a fixed_point_position, not both: the board knows "
                "one quantization of a tensor"
            )

    @property
    def quantization(self) -> Quantization | None:
        """The quantization, for the reference."""
        if self.scale is not None:
            return Quantization(self.scale, self.zero_point)
        if self.fixed_point_position is not None:
            return Quantization(2.0**-self.fixed_point_position)
        return None

    def attachment(self) -> bytes:
        """Return the format as text for the host runtime; see driver.c."""
        if self.scale is not None:
            quantization = f"{_AFFINE} 0 {self.zero_point} {self.scale}"
        elif self.fixed_point_position is not None:
            quantization = f"{_DYNAMIC_FIXED_POINT} {self.fixed_point_position} 0 1"
        else:
            quantization = f"{_AS_CREATED} 0 0 1"
        return f"{int(self.bfloat16)} {quantization}".encode()


# ---- Attachments of an initializer's run ---------------------------------------------------------


def kernel_name_of(result: RunResult) -> str:
    """Return the name in the .c file's vx_kernel_description."""
    return result.attachments["kernel_name"].decode(errors="replace")


def launch_of(result: RunResult) -> Launch | None:
    """Return the launch; None if the initializer failed before it."""
    if "launch" not in result.attachments:
        return None
    work_dim, *sizes = map(int, result.attachments["launch"].split())
    offset, scale, local, size = (tuple(sizes[3 * i : 3 * i + 3]) for i in range(4))
    return Launch(work_dim, offset, scale, local, size)


def uniforms_of(result: RunResult) -> dict[str, bytes]:
    """Return name -> value of each _viv_uniform that the initializer has set."""
    return {
        name.removeprefix(_UNIFORM): value
        for name, value in result.attachments.items()
        if name.startswith(_UNIFORM)
    }


def border_of(result: RunResult) -> Border | None:
    """Return the border that the initializer has set; None if it has set none.

    Assumption: for every type, the bytes of a constant are the bytes of an element.
    """
    mode, constant = struct.unpack("=i16s", result.attachments["border"])
    policy = _BORDERS.get(mode)
    return Border(policy, value=constant) if policy else None


_AXES = "xyz"


def coverage(launch: Launch, spec: OpSpec, invocation: Invocation) -> dict[str, bool]:
    """Return note -> whether a launch fills the gap that the note names."""
    found = {}
    for axis, items in zip(_AXES[: launch.work_dim], launch.global_size, strict=False):
        note = f"no case of the VX kernel launches more than one work item along {axis}"
        found[note] = items > 1
    # The axes along which a work item has several elements, by its scale
    extents = []
    for shape, _ in invocation.outputs.values():
        *others, height, width = (1, *shape)
        extents.append((width, height, math.prod(others)))
    scales = launch.global_scale[: launch.work_dim]
    for axis, scale, sizes in zip(_AXES, scales, zip(*extents, strict=True), strict=False):
        if scale > 1:
            note = f"no case of the VX kernel reaches the last of {scale} lanes along {axis}"
            found[note] = max(sizes) >= scale
    given = {
        **{name: array.dtype for name, array in invocation.inputs.items()},
        **{name: np.dtype(dtype) for name, (_, dtype) in invocation.outputs.items()},
    }
    for tensor in (*spec.inputs, *spec.outputs):
        if tensor.dtype is not None:
            note = f"no case of the VX kernel has '{tensor.name}' as {tensor.dtype}"
            found[f"{note}, its dtype in op.yml"] = given[tensor.name] == np.dtype(tensor.dtype)
    return found
