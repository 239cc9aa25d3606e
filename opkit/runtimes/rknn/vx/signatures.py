"""The signature of a kernel of a `.vx` source, and its needs for a launch."""

from __future__ import annotations

from dataclasses import dataclass

# What stands before a name of the source that the prelude has for something else.
USER = "__opkit_user_"


@dataclass(frozen=True)
class KernelParameter:
    """A parameter of a VX kernel.

    Attributes:
        kind: `tensor`, `array`, `scalar`, `pointer` (to a scalar); `other` cannot be passed.
        type: without qualifiers; a scalar's is `int`, `uint`, `float` or `bool`, whatever name the
            source has for it.
        name: its name.
    """

    kind: str
    type: str
    name: str


@dataclass(frozen=True)
class VxKernel:
    """A kernel of a `.vx` source.

    Attributes:
        name: its name.
        parameters: in order.
        group: reqd_work_group_size, or None.
        barrier: whether it, or a function that it calls, waits at a barrier.
        uniforms: the _viv_uniform variables that it uses, or a function that it calls.
        returns: the type of its result; the board knows `void` only.
    """

    name: str
    parameters: tuple[KernelParameter, ...]
    group: tuple[int, int, int] | None
    barrier: bool
    uniforms: tuple[str, ...]
    returns: str = "void"
