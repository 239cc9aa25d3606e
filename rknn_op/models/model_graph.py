"""A model as nodes and tensors, without the library that read it; its names in messages."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any

from opkit.common.text import printable, shortened

Dimension = int | str | None
"""A size, the name of a dynamic size, or None for an unknown one."""
Value = int | float | str | tuple["Value", ...]
"""The value of an attribute; tensors, graphs and types are an Opaque."""


class Opaque(str):
    """The description of an attribute's value that is not a number, a text or a list of them."""

    __slots__ = ()


class TypeName(Opaque):
    """An element type as an attribute of TensorFlow."""

    __slots__ = ()


STANDARD = ""
"""ONNX's own domain."""


def domain_of(name: str) -> str:
    """Return a domain of ONNX, whose own one has two names."""
    return STANDARD if name == "ai.onnx" else name


@dataclass(frozen=True)
class Tensor:
    """An input or output of a node.

    Attributes:
        name: its name in the model.
        shape: its dimensions; None: unknown, also the rank.
        dtype: numpy's name of its element type; empty: unknown.
        constant: the model holds its value, or computes it from such values alone.
        value: the elements of a small constant in memory order; None: the reader does not know
            them.
    """

    name: str
    shape: tuple[Dimension, ...] | None
    dtype: str
    constant: bool = False
    value: tuple[int | float, ...] | None = None

    @property
    def bytes(self) -> int | None:
        """The size in memory, None if it is not known before the model runs."""
        sizes = self.shape
        if sizes is None or self.dtype not in _ITEM_BYTES:
            return None
        if not all(isinstance(size, int) for size in sizes):
            return None
        return _ITEM_BYTES[self.dtype] * prod(size for size in sizes if isinstance(size, int))

    @property
    def is_empty(self) -> bool:
        """Whether it is a constant without elements, which counts as left out."""
        return self.constant and self.shape is not None and 0 in self.shape

    @property
    def is_dynamic(self) -> bool:
        """Whether a size is known only when the model runs."""
        return self.shape is None or not all(isinstance(size, int) for size in self.shape)


def at(tensors: Sequence[Tensor | None], position: int) -> Tensor | None:
    """Return the tensor at a position; None if a node leaves it out."""
    return tensors[position] if position < len(tensors) else None


CASTS = {"float64": "float32", "int64": "int32"}
"""The dtype of a model's tensor -> the dtype of the operator's tensor, behind a Cast."""

MAX_VALUES = 16
"""Maximum elements of a constant whose value a reader keeps."""

_ITEM_BYTES = {
    **dict.fromkeys(("bool", "int8", "uint8"), 1),
    **dict.fromkeys(("int16", "uint16", "float16", "bfloat16"), 2),
    **dict.fromkeys(("int32", "uint32", "float32"), 4),
    **dict.fromkeys(("int64", "uint64", "float64", "complex64"), 8),
}


@dataclass(frozen=True)
class Node:
    """A node of a model.

    Attributes:
        name: its name; of a node without one, `<op_type>_<position>`.
        op_type: the operator's name.
        domain: the operator's domain; empty: ONNX's own, or TensorFlow.
        inputs: the inputs; None: an optional input that is left out.
        outputs: the outputs; None: an unnamed output.
        attributes: name -> value.
    """

    name: str
    op_type: str
    domain: str
    inputs: tuple[Tensor | None, ...]
    outputs: tuple[Tensor | None, ...]
    attributes: Mapping[str, Value]

    @property
    def is_constant(self) -> bool:
        """Whether a converter computes the node, because all its inputs are constant."""
        return all(tensor is None or tensor.constant for tensor in self.outputs)


@dataclass(frozen=True)
class Cleaned:
    """What cleaning did to a model.

    Attributes:
        removed: operator -> the number of nodes that it removed, the most first.
        rewritten: operator -> the number of nodes that it wrote in another way, the most first.
        problem: why it did nothing; empty if it worked.
    """

    removed: Mapping[str, int] = field(default_factory=dict)
    rewritten: Mapping[str, int] = field(default_factory=dict)
    problem: str = ""


@dataclass(frozen=True)
class Model:
    """A model, with the nodes of its subgraphs.

    Attributes:
        file: its file.
        framework: `onnx` or `tensorflow`.
        opsets: domain -> version; empty for TensorFlow.
        ir_version: the version of the file's format; 0 for TensorFlow.
        inputs: the inputs that an application sets.
        nodes: the nodes in the order of the file; nodes of a subgraph follow their parent.
        cleaned: what cleaning changed; None: the model is as in the file.
        proto: the same as ONNX's message, with inferred shapes; None for TensorFlow.
    """

    file: Path
    framework: str
    opsets: Mapping[str, int]
    ir_version: int
    inputs: tuple[Tensor, ...]
    nodes: tuple[Node, ...]
    cleaned: Cleaned | None = None
    proto: Any = None

    @property
    def is_changed(self) -> bool:
        """Whether cleaning changed it, so that it is not the model of the file."""
        return self.cleaned is not None and bool(self.cleaned.removed or self.cleaned.rewritten)


# ---- Names and shapes for messages and for op.yml ------------------------------------------------

_NAME_LENGTH = 60
NAME_WIDTH = 30
"""The maximum characters of a tensor's name in a table."""


def plain(text: str, max_length: int = 60) -> str:
    """Return a name of a model for messages, on one line."""
    return " ".join(printable(shortened(text, max_length)).split())


def node_path(name: str, max_length: int = 40) -> str:
    """Return a node's name for tables: of a path, the end differs."""
    name = printable(name)
    return plain(name if len(name) <= max_length else f"...{name[3 - max_length :]}")


def shape_text(shape: tuple[object, ...] | None) -> str:
    """Return a shape for a message, such as `[1, 3, ?]`."""
    if shape is None:
        return "[unknown]"
    return f"[{', '.join('?' if size is None else shortened(str(size), 30) for size in shape)}]"


def identifier(name: str) -> str:
    """Return the name in op.yml for a name of a model."""
    return re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_")[:_NAME_LENGTH]
