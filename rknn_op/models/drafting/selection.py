"""The choice of nodes for `rknn-op create --from`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Selection:
    """The nodes to make repositories for: exactly one attribute must be set.

    Attributes:
        op_type: all nodes of a type.
        node: the node of a name.
        is_all: all nodes of all types that the target lacks.
    """

    op_type: str | None = None
    node: str | None = None
    is_all: bool = False

    @property
    def count(self) -> int:
        """The count of set attributes."""
        return (self.op_type is not None) + (self.node is not None) + self.is_all
