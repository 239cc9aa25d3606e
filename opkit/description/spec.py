"""The operator description as a value, and the values of params that it allows.

Floats are compared as float32, the precision of attributes in models.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from opkit.description.build_keys import RepositoryPath
from opkit.description.types import TENSOR_TYPES, ParamType

ParamValue = bool | int | float | str | tuple[int | float, ...]

CPU = "cpu"
"""The CPU kernel in `kernels`; every operator has it."""

AUTO_THREADS = 0
"""The value of `threads: auto`, also in generated C."""

TENSOR_DTYPES = tuple(row.name for row in TENSOR_TYPES)
"""The dtypes of tensors, by numpy's names."""


class Tensor(NamedTuple):
    """An input or an output.

    Attributes:
        name: its name, a C identifier.
        doc: one sentence for the reader of the generated code.
        dtype: the dtype in the model, one of TENSOR_DTYPES; None: of an input, any dtype that the
            runtime hands over; of an output, the dtype of the first input.
        same_as: of an output, the input with the same shape; None: code sets the shape.
    """

    name: str
    doc: str = ""
    dtype: str | None = None
    same_as: str | None = None


class Param(NamedTuple):
    """A param: a scalar, a list of numbers, or a text.

    Attributes:
        name: its name, a C identifier.
        type: its type.
        doc: one sentence for the reader of the generated code.
        default: the value for models without the param; None: the model must have it.
        source: `const:<name>` if the value is the constant input of that name.
        length: the count of a list's items; None: from 1 to the limit of the runtimes.
        min: the minimum of the number, or of each item of a list; None: that of the type.
        max: the maximum, in the same way.
        choices: the only values of the number, of each item or of the text; empty: any.
    """

    name: str
    type: ParamType
    doc: str = ""
    default: ParamValue | None = None
    source: str | None = None
    length: int | None = None
    min: int | float | None = None
    max: int | float | None = None
    choices: tuple[int | float | str, ...] = ()


class OpSpec(NamedTuple):
    """The operator description, checked. Order is that of the file, everywhere.

    Attributes:
        name: the operator's name.
        framework: the framework of its models.
        target_platform: the default target of builds.
        inputs: the input tensors.
        outputs: the output tensors.
        params: the other arguments of the kernels.
        runtimes: the names of its runtimes.
        settings: runtime -> the values of its own keys.
        sources: the C and C++ sources besides the kernels.
        include: the include folders.
        cflags: the flags for the compilers.
        elementwise: whether the user's C is one function of numbers, `<op>_of`, which generated
            code calls for each element; such an operator has one output, in the shape to which
            its inputs broadcast.
        threads: the maximum threads of a kernel, from 1; AUTO_THREADS: one for each processor.
        fp16_math: whether the math may compute in halves where the processor has their arithmetic.
        kernels: `cpu`, and the names of the other kernels.
    """

    name: str
    framework: str
    target_platform: str
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    params: tuple[Param, ...] = ()
    runtimes: tuple[str, ...] = ()
    settings: Mapping[str, Any] = {}
    sources: tuple[RepositoryPath, ...] = ()
    include: tuple[RepositoryPath, ...] = ()
    cflags: tuple[str, ...] = ()
    elementwise: bool = False
    threads: int = 1
    fp16_math: bool = False
    kernels: tuple[str, ...] = (CPU,)

    def __hash__(self) -> int:
        return hash((self.name, self.parameters))

    @property
    def lower(self) -> str:
        """The name in lower case, for files, C identifiers and kernels."""
        return self.name.lower()

    @property
    def math_file(self) -> str:
        """The path of the user's C: the math of whole tensors, or of one element."""
        return f"{self.lower}_scalar.h" if self.elementwise else f"{self.lower}_compute.h"

    @property
    def compute_header(self) -> str:
        """The path of the header with `<op>_compute`, the math of whole tensors."""
        return f"{'generated/' if self.elementwise else ''}{self.lower}_compute.h"

    @property
    def has_threads(self) -> bool:
        """Whether its loops may run in several threads, where a runtime supports that."""
        return self.threads != 1

    @property
    def parameters(self) -> tuple[Tensor | Param, ...]:
        """Inputs, outputs and params, in the order of the kernel's arguments."""
        return (*self.inputs, *self.outputs, *self.params)


def limits_of(param: Param) -> dict[str, Any]:
    """Return `min`, `max` and `choices` of a param, as far as op.yml has them."""
    limits = {"min": param.min, "max": param.max, "choices": [*param.choices] or None}
    return {key: value for key, value in limits.items() if value is not None}


def allows(param: Param, item: Any) -> bool:
    """Return whether op.yml allows a number, a list's item or a text."""
    is_float = param.type.element.kind == "float"

    def comparable(number: Any) -> Any:
        return array("f", [float(number)])[0] if is_float else number

    return (
        (param.min is None or bool(comparable(item) >= comparable(param.min)))
        and (param.max is None or bool(comparable(item) <= comparable(param.max)))
        and (not param.choices or comparable(item) in map(comparable, param.choices))
    )


def refused(param: Param, value: Any) -> list[Any]:
    """Return the items of a param's value that op.yml does not allow."""
    items: Iterable[Any] = value if param.type.is_list else [value]
    return [item for item in items if not allows(param, item)]


def describe_allowed(param: Param) -> str:
    """Describe the allowed values, for messages: `1 to 4`, `1 or more`, `linear, cubic`."""
    if param.choices:
        return ", ".join(map(_shown, param.choices))
    if param.min is None or param.max is None:
        has_min = param.max is None
        return f"{_shown(param.min)} or more" if has_min else f"{_shown(param.max)} or less"
    return f"{_shown(param.min)} to {_shown(param.max)}"


def _shown(value: Any) -> str:
    return f"{value:.9g}" if isinstance(value, float) else str(value)
