"""The signature of a kernel of a `.vx` source, and its needs for a launch."""

from __future__ import annotations

from dataclasses import dataclass

# The prefix of a name of the source that has another meaning in the prelude.
USER = "__opkit_user_"


@dataclass(frozen=True)
class KernelParameter:
    """A parameter of a VX kernel.

    Attributes:
        kind: `tensor`, `array`, `scalar`, `pointer` (to a scalar); `other` cannot be passed.
        type: without qualifiers; a scalar's is `int`, `uint`, `float` or `bool`, even if the source
            has a typedef.
        name: its name.
    """

    kind: str
    type: str
    name: str

    @property
    def passed_as(self) -> str:
        """The kind of the argument: a scalar may be passed by its address."""
        return "scalar" if self.kind == "pointer" else self.kind


@dataclass(frozen=True)
class VxKernel:
    """A kernel of a `.vx` source.

    Attributes:
        name: its name.
        parameters: in order.
        group: reqd_work_group_size, or None.
        barrier: whether it, or a function that it calls, waits at a barrier.
        uniforms: the _viv_uniform variables that it, or a function that it calls, uses.
        returns: the type of its result; the board knows `void` only.
    """

    name: str
    parameters: tuple[KernelParameter, ...]
    group: tuple[int, int, int] | None
    barrier: bool
    uniforms: tuple[str, ...]
    returns: str = "void"
