"""How a VX kernel is launched: work items, uniforms and the border that its initializer sets."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from opkit.errors import OpkitError
from opkit.runtimes.invocation import RunResult

_POLICIES = ("poison", "edge", "constant")
# Border mode -> policy
_BORDERS = {0xC001: "constant", 0xC002: "edge"}
_UNIFORM = "uniform:"
# Of VX_TENSOR_QUANT_FORMAT; as_created: what vxCreateTensor gives a tensor
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
    """What a VX kernel reads outside of a tensor.

    Attributes:
        policy: `poison`, which is a pattern of bits that no result may depend on; `edge`, the
            nearest element; `constant`.
        fill: of `poison`: the pattern, 32 bits. Outputs hold it beforehand, whatever the policy.
        value: of `constant`: a number, which becomes the nearest of the tensor's type, or bytes,
            of which an element is as many of the first four as it has; one of eight has the four
            twice.

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
    """What the board says of a tensor besides its shape and the type of its elements.

    Attributes:
        bfloat16: whether its elements are VX_TYPE_BFLOAT16; the case has their bits as int16.
        scale: of the affine quantization: a number is scale * (element - zero_point). None: it has
            no such quantization.
        zero_point: see above.
        fixed_point_position: of the dynamic fixed point: a number is element / 2**position.

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

    def attachment(self) -> bytes:
        """Return what the host runtime reads; see driver.c."""
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

    That a constant's bytes are those of an element, whatever its type, is an assumption.
    """
    mode, constant = struct.unpack("=i16s", result.attachments["border"])
    policy = _BORDERS.get(mode)
    return Border(policy, value=constant) if policy else None
