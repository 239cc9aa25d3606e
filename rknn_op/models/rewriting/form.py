"""A form of an operator: the same computation, written with other operators.

A form is a function. Its first argument is a builder, whose methods add nodes. The others are the
inputs of the operator by position, and its attributes by keyword, with the names of ONNX:

    @form("Softsign")
    def softsign(op, x):
        return op.Div(x, op.Add(op.Abs(x), 1.0))

    @form("Celu")
    def celu(op, x, *, alpha):
        return op.Mul(op.Elu(op.Div(x, alpha)), alpha)

A node that sets another attribute, or has another input, has no such form. An input that the node
leaves out is None, as an attribute without a default is. A form that holds under a condition raises
ConditionError. Of several forms of an operator, the first that holds and is proven is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from inspect import Parameter, getdoc, signature
from math import prod
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, TypeVar

import numpy as np

from rknn_op.models.model_files import required, schema_of
from rknn_op.models.model_graph import STANDARD

Array = Any
Value = Any
"""A tensor of onnxscript: `name`, `shape` and `dtype` are inferred."""

EXACT = 2e-6
"""Tolerated difference in float32, relative to the largest number: the order of sums."""
HALF = 1e-2
"""The same for the form with all tensors in float16, as the NPU has them."""

MAX_WEIGHTS = 16 * 2**20
"""Maximum bytes of a form's constants in float16: more take longer than a custom operator."""

_Function = TypeVar("_Function", bound=Callable[..., Any])
_MARK = "rewriting_forms"


class ConditionError(Exception):
    """A form does not hold for a node; the message is the condition."""


@dataclass(frozen=True)
class Form:
    """A form of an operator.

    Attributes:
        op_type: the operator.
        function: the function; None: that of the operator's schema.
        domain: the operator's domain.
        error: the tolerated difference in float32, relative to the largest number of an output.
        half: the same in float16.
        first: whether it is tried before the function of the operator's schema.
    """

    op_type: str
    function: Callable[..., Any] | None
    domain: str = STANDARD
    error: float = EXACT
    half: float = HALF
    first: bool = False

    @property
    def name(self) -> str:
        """The name of its function."""
        return str(getattr(self.function, "__name__", "schema"))

    @property
    def summary(self) -> str:
        """The first line of its docstring; empty without one."""
        text = getdoc(self.function) if self.function else "The function of ONNX's schema."
        return (text or "").partition("\n")[0]

    @property
    def is_exact(self) -> bool:
        """Whether it computes the same in float32, but for the order of sums."""
        return self.error <= EXACT


def form(
    *op_types: str,
    domain: str = STANDARD,
    error: float = EXACT,
    half: float = HALF,
    first: bool = False,
) -> Callable[[_Function], _Function]:
    """Make a function a form of operators; see the module.

    Args:
        op_types: the operators. With more than one, the function has a keyword `op_type`.
        domain: their domain.
        error: the tolerated difference in float32, relative to the largest number of an output.
        half: the same in float16.
        first: try it before the function of the operator's schema.
    """

    def decorate(function: _Function) -> _Function:
        made = [Form(each, function, domain, error, half, first) for each in op_types]
        setattr(function, _MARK, [*getattr(function, _MARK, ()), *made])
        return function

    return decorate


def forms_in(module: Any) -> Iterator[Form]:
    """Yield the forms of a module, in the order of its file."""
    for each in vars(module).values():
        if callable(each) and getattr(each, "__module__", "") == module.__name__:
            yield from getattr(each, _MARK, ())


def own_forms() -> dict[tuple[str, str], list[Form]]:
    """Return domain and operator -> its forms, in the order to try."""
    found: dict[tuple[str, str], list[Form]] = {}
    folder = Path(__file__).with_name("forms")
    for module in sorted(each.name for each in iter_modules([str(folder)])):
        for each in forms_in(import_module(f"rknn_op.models.rewriting.forms.{module}")):
            found.setdefault((each.domain, each.op_type), []).append(each)
    return found


# ---- For the functions ---------------------------------------------------------------------------


def sizes(value: Value) -> tuple[int, ...]:
    """Return the shape of a tensor.

    Raises:
        ConditionError: a size is unknown.
    """
    shape = value.shape
    if shape is None or not all(isinstance(size, int) for size in shape):
        raise ConditionError(f"the shape of {value.name} is unknown")
    return tuple(shape)


def count(value: Value) -> int:
    """Return the number of a tensor's elements.

    Raises:
        ConditionError: a size is unknown.
    """
    return prod(sizes(value))


def constant(value: Value) -> Array:
    """Return the value of a constant input.

    Raises:
        ConditionError: it is not constant.
    """
    if value.const_value is None:
        raise ConditionError(f"input {value.name} is not constant")
    return value.const_value.numpy()


def check_weights(elements: int) -> None:
    """Refuse constants that are too large.

    Args:
        elements: the number of their elements.

    Raises:
        ConditionError: they are too large.
    """
    if 2 * elements > MAX_WEIGHTS:
        raise ConditionError(
            f"needs {2 * elements / 2**20:.0f} MB of constants (expected at most "
            f"{MAX_WEIGHTS // 2**20} MB)"
        )


def axis_of(axis: int, rank: int) -> int:
    """Return an axis, which may count from the end, as one that counts from the begin."""
    return axis % rank


class Builder:
    """onnxscript's builder, for the opset of a model.

    A method adds a node and returns its output: `op.Mul(x, 2.0)`. Numbers and lists become
    constants of the dtype of the other inputs, and numpy arrays are constants of their own. A
    keyword is an attribute or a constant input, as the model's opset has it:
    `op.ReduceSum(x, axes=[1])`.
    `outputs` is the number of outputs, if there are more than one.
    """

    def __init__(self, graph: Any, opset: int) -> None:
        self.opset = opset
        self._op = required("onnxscript").GraphBuilder(graph).op
        self._constants = 0

    def __getattr__(self, op_type: str) -> Callable[..., Any]:
        schema = schema_of(op_type, STANDARD, self.opset)
        if schema is None:
            raise ConditionError(f"opset {self.opset} has no {op_type}")

        def call(*inputs: Any, outputs: int = 1, **keywords: Any) -> Any:
            names = [each.name for each in schema.inputs]
            values: list[Any] = [*inputs]
            attributes = {}
            for name, value in keywords.items():
                if name in schema.attributes:
                    attributes[name] = value
                elif name in names:
                    position = names.index(name)
                    values += [None] * (position + 1 - len(values))
                    values[position] = value
                else:
                    raise ConditionError(f"{op_type} of opset {self.opset} has no {name}")
            values = [self._value(each) for each in values]
            return getattr(self._op, op_type)(*values, _outputs=outputs, **attributes)

        return call

    def constant(self, value: Array) -> Value:
        """Return a numpy array as a tensor."""
        self._constants += 1
        tensor = required("onnx_ir").tensor(np.asarray(value))
        return self._op.initializer(tensor, f"constant_{self._constants}")

    def _value(self, value: Any) -> Any:
        if isinstance(value, list) and not value:
            value = np.zeros(0, np.int64)
        return self.constant(value) if isinstance(value, (np.ndarray, np.generic)) else value


def apply(
    found: Form, op: Builder, inputs: Sequence[Value | None], attributes: Mapping[str, Any]
) -> tuple[Value | None, ...]:
    """Return the outputs of a form for a node.

    Args:
        found: the form.
        op: the builder.
        inputs: the node's inputs by position; None: left out.
        attributes: those that the node sets.

    Raises:
        ConditionError: the form does not hold for the node.
    """
    # A form is also written for an older opset, for a toolkit that reads no newer one.
    opsets = op.opset, required("onnx").defs.onnx_opset_version()
    schemas = (schema_of(found.op_type, found.domain, each) for each in opsets)
    formal: Mapping[str, Any] = next((each.attributes for each in schemas if each), {})
    defaults = {
        name: required("onnx.helper").get_attribute_value(each.default_value)
        if each.default_value.type
        else None
        for name, each in formal.items()
    }
    values = {name: _text(each) for name, each in {**defaults, **attributes}.items()}
    assert found.function
    parameters = signature(found.function).parameters.values()
    keywords = {each.name for each in parameters if each.kind is Parameter.KEYWORD_ONLY}
    for name in attributes.keys() - keywords:
        if values[name] != _text(defaults.get(name)):
            raise ConditionError(f"attribute {name} is {values[name]}")
    positional = [each for each in parameters if each.kind is Parameter.POSITIONAL_OR_KEYWORD][1:]
    given = [*inputs]
    if not any(each.kind is Parameter.VAR_POSITIONAL for each in parameters):
        for position, each in enumerate(given[len(positional) :], len(positional)):
            if each is not None:
                raise ConditionError(f"input {position} is set")
        given = given[: len(positional)]
        given += [None] * (len(positional) - len(given))
    chosen = {name: values.get(name) for name in keywords}
    if "op_type" in keywords:
        chosen["op_type"] = found.op_type
    results = found.function(op, *given, **chosen)
    return tuple(results) if isinstance(results, (tuple, list)) else (results,)


def _text(value: Any) -> Any:
    return value.decode(errors="replace") if isinstance(value, bytes) else value
