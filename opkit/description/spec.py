"""What an operator is: the operator description, as a value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from opkit.description.build_keys import RepositoryPath
from opkit.description.types import TENSOR_TYPES, ParamType

ParamValue = bool | int | float | str | tuple[int | float, ...]

TENSOR_DTYPES = tuple(row.name for row in TENSOR_TYPES)
"""What the elements of a tensor may be, by numpy's names."""


@dataclass(frozen=True)
class Tensor:
    """An input or an output.

    Attributes:
        name: its name, a C identifier.
        doc: one sentence for the reader of the generated code.
        dtype: what the elements are in the model, one of TENSOR_DTYPES; None: of an input, whatever
            the runtime hands over; of an output, that of the first input.
        same_as: of an output, the input whose shape it has; None: a rule in code says its shape.
    """

    name: str
    doc: str = ""
    dtype: str | None = None
    same_as: str | None = None


@dataclass(frozen=True)
class Param:
    """A param: a scalar, a list of numbers, or a text.

    Attributes:
        name: its name, a C identifier.
        type: what it is.
        doc: one sentence for the reader of the generated code.
        default: used when the model does not hold the param; None: the model must.
        source: `const:<name>` when the value is the constant input of that name.
        length: how many items a list has; None: from 1 to as many as the runtimes take.
    """

    name: str
    type: ParamType
    doc: str = ""
    default: ParamValue | None = None
    source: str | None = None
    length: int | None = None


@dataclass(frozen=True)
class OpSpec:
    """The operator description, checked. Order is that of the file, everywhere.

    Attributes:
        name: the operator's name.
        framework: whose models have it.
        target_platform: the target that is built by default.
        inputs: the input tensors.
        outputs: the output tensors.
        params: everything else that the kernels get.
        runtimes: the names of what executes the operator.
        settings: runtime -> what it has read of its own keys.
        sources: what is compiled besides the operator's kernels.
        include: the folders that are searched for headers.
        cflags: the flags for the compilers.
    """

    name: str
    framework: str
    target_platform: str
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    params: tuple[Param, ...] = ()
    runtimes: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)
    sources: tuple[RepositoryPath, ...] = ()
    include: tuple[RepositoryPath, ...] = ()
    cflags: tuple[str, ...] = ()

    @property
    def lower(self) -> str:
        """The name in lower case: of the files, the C identifiers and the kernels."""
        return self.name.lower()

    @property
    def parameters(self) -> tuple[Tensor | Param, ...]:
        """Inputs, outputs and params in the order in which the kernel gets them."""
        return (*self.inputs, *self.outputs, *self.params)
