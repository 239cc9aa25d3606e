"""The nodes of a repository's operator in a model: their form, their positions, their reference."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from opkit.check.cases import Case
from opkit.check.operators import Operator, Prepared
from opkit.common.errors import OpkitError
from opkit.common.text import closest, printable, shortened
from opkit.description.spec import OpSpec, Param
from opkit.runtimes import available
from rknn_op.known_targets import runtime_of_target
from rknn_op.models.model_files import required
from rknn_op.models.model_graph import CASTS, Model, Node, Tensor, identifier
from rknn_op.runtimes.models import Form, models_of

Array = Any


def _forms() -> dict[str, Callable[[OpSpec], Form]]:
    """Return runtime with ONNX models of custom operators -> form; the usual runtime first."""
    parts = {name: models_of(name) for name in available()}
    names = sorted(parts, key=lambda name: not parts[name].is_default)
    return {name: form for name in names if (form := parts[name].form)}


@dataclass(frozen=True)
class Custom:
    """A repository's operator, for one runtime."""

    operator: Operator
    form: Form

    @property
    def spec(self) -> OpSpec:
        """The operator description."""
        return self.operator.spec

    @property
    def constants(self) -> tuple[Param, ...]:
        """The params that are constant inputs of a model's nodes."""
        return tuple(param for param in self.spec.params if param.source)

    def has(self, op_type: str, domain: str) -> bool:
        """Whether a node of a model is of this operator: by its name, or already in its form."""
        is_own = op_type == self.form.op_type and domain == (self.form.domain or "")
        name = identifier(op_type)
        # `create --from` writes this op_type for a name that the generated code cannot have.
        return (
            is_own
            or self.spec.name in (op_type, name)
            or self.form.op_type == f"{self.form.prefix}{name}"
        )


def runtime_of(operators: Iterable[Operator], target: str | None) -> str:
    """Return the runtime of a target; without a target, the one that all operators have.

    Raises:
        OpkitError: an operator lacks the runtime, or the target has no ONNX models.
    """
    if target:
        return runtime_of_target(target, _forms())
    all_names = [*_forms()]
    names = all_names
    for operator in operators:
        names = [name for name in names if name in operator.spec.runtimes]
        if not names:
            expected = f"expected {' or '.join(all_names)}, the same one for all repositories"
            has = ", ".join(operator.spec.runtimes)
            raise OpkitError(f"{operator.root}: has the runtimes {has} ({expected})")
    return names[0]


def customs(operators: Sequence[Operator], runtime: str) -> list[Custom]:
    """Return the operators for a runtime.

    Raises:
        OpkitError: an operator lacks the runtime, or two have one name.
    """
    found: dict[str, Custom] = {}
    form = _forms()[runtime]
    for operator in operators:
        if runtime not in operator.spec.runtimes:
            has = ", ".join(operator.spec.runtimes)
            raise OpkitError(
                f"{operator.root}: has the runtimes {has} (expected {runtime}); add it to "
                "`runtimes` in op.yml, and build"
            )
        custom = Custom(operator, form(operator.spec))
        for name in (operator.spec.name, custom.form.op_type):
            other = found.setdefault(name, custom)
            if other is not custom:
                raise OpkitError(
                    f"{operator.root} and {other.operator.root}: both are the operator {name}; "
                    "pass one of them"
                )
    return [*dict.fromkeys(found.values())]


def custom_of(found: Iterable[Custom], op_type: str, domain: str) -> Custom | None:
    """Return the operator of a node; None if it has none."""
    return next((each for each in found if each.has(op_type, domain)), None)


def types_of(model: Model) -> set[tuple[str, str]]:
    """Return type and domain of a model's nodes."""
    return {(node.op_type, node.domain) for node in model.nodes}


def check_types(found: Sequence[Custom], types: Collection[tuple[str, str]]) -> None:
    """Require nodes of each operator, all of one domain.

    Args:
        found: the operators.
        types: type and domain of the model's nodes.

    Raises:
        OpkitError: an operator has none, or its name is in several domains.
    """
    for custom in found:
        fitting = sorted({each for each in types if custom_of(found, *each) is custom})
        called = [
            printable(shortened(f"{domain}.{op_type}" if domain else op_type))
            for op_type, domain in fitting
        ]
        if not fitting:
            names = sorted({op_type for op_type, _ in types})
            near = closest(custom.spec.name, names, 3)
            hint = f"; did you mean {' or '.join(map(printable, near))}?" if near else ""
            raise OpkitError(
                f"{custom.operator.root}: the model has no node of the type {custom.spec.name}"
                f"{hint} (it has {', '.join(printable(shortened(name)) for name in names)})"
            )
        if len(fitting) > 1:
            raise OpkitError(
                f"{custom.operator.root}: the nodes of {' and '.join(called)} may be of the "
                f"operator {custom.spec.name}; rename the other ones in the model"
            )


# ---- The positions of a node's inputs and outputs ------------------------------------------------


class MismatchError(Exception):
    """Nodes do not match the description; the text has the field and what is expected."""


def input_positions(
    custom: Custom, used: Sequence[int], constant: Collection[int], formal: Sequence[str]
) -> dict[str, int]:
    """Return name of an input or constant param -> its position in the model's nodes.

    Match by ONNX's names if they are all known; else by order, without inputs that no node has.

    Args:
        custom: the operator.
        used: the positions that any node has.
        constant: the positions that are constant in all nodes.
        formal: the names of the inputs in ONNX; empty: unknown.

    Raises:
        MismatchError: there are too many inputs.
    """
    tensors = [each.name for each in custom.spec.inputs]
    params = [each.name for each in custom.constants]
    if positions := _by_name([*tensors, *params], used, formal):
        return positions
    expected = f"expected {', '.join([*tensors, *params])}"
    if len(used) > len(tensors) + len(params):
        raise MismatchError(f"{len(used)} inputs ({expected})")
    candidates = [position for position in used if position in constant]
    changing = [position for position in used if position not in constant]
    if len(changing) == len(tensors):
        return {
            **dict(zip(tensors, changing, strict=True)),
            **dict(zip(params, candidates, strict=False)),
        }
    if len(used) < len(tensors) + len(params):
        return dict(zip((*tensors, *params), used, strict=False))
    if len(candidates) < len(params):
        raise MismatchError(
            f"inputs {', '.join(map(str, changing))} are not constant, but {' and '.join(params)} "
            f"must be ({expected})"
        )
    chosen = candidates[len(candidates) - len(params) :]
    others = [position for position in used if position not in chosen]
    return {**dict(zip(tensors, others, strict=True)), **dict(zip(params, chosen, strict=True))}


def output_positions(custom: Custom, used: Sequence[int], formal: Sequence[str]) -> dict[str, int]:
    """Return name of an output -> its position in the model's nodes.

    Args:
        custom: the operator.
        used: the positions that any node has.
        formal: the names of the outputs in ONNX; empty: unknown.

    Raises:
        MismatchError: there are too many outputs.
    """
    names = [each.name for each in custom.spec.outputs]
    if positions := _by_name(names, used, formal):
        return positions
    if len(used) > len(names):
        raise MismatchError(f"{len(used)} outputs (expected {', '.join(names)})")
    if len(used) == len(names):
        return dict(zip(names, used, strict=True))
    return {name: position for position, name in enumerate(names)}


def _by_name(
    names: Sequence[str], used: Sequence[int], formal: Sequence[str]
) -> dict[str, int] | None:
    """Return name -> position by the names in ONNX; None if they do not tell each position."""
    known = {identifier(name).lower(): position for position, name in enumerate(formal)}
    positions = {name: known.get(identifier(name).lower(), -1) for name in names}
    is_whole = -1 not in positions.values() and {*positions.values()} >= {*used}
    return positions if is_whole else None


# ---- A node in a model, and the function of its reference ----------------------------------------


@dataclass(frozen=True)
class GraftedNode:
    """A node of a repository's operator.

    Attributes:
        node: the node in the model.
        custom: its operator.
        original: its message in the model.
        message: its message in the grafted model.
        grafted: the message with the operator's inputs, outputs and attributes by op.yml; it is in
            the grafted model unless the node stays as it is.
        added: the values of its added inputs, by tensor.
        casts: tensor of the grafted message in another dtype -> the original tensor.
    """

    node: Node
    custom: Custom
    original: Any
    message: Any
    grafted: Any
    added: Mapping[str, Array]
    casts: Mapping[str, Tensor] = field(default_factory=dict)

    def call(self, inputs: Sequence[Array | None]) -> Sequence[Array]:
        """Return the outputs of the reference for the inputs of the node in the grafted model."""
        results = self.outputs(self.prepared(inputs, self.message))
        return [results.get(name) for name in self.message.output]

    def outputs(self, prepared: Prepared) -> dict[str, Array]:
        """Return tensor of the grafted message -> the output of the reference."""
        names = (each.name for each in self.custom.spec.outputs)
        return dict(zip(self.grafted.output, map(prepared.expected.get, names), strict=True))

    def prepared(self, inputs: Sequence[Array | None], message: Any = None) -> Prepared:
        """Return the case of a call with the outputs of the reference.

        The outputs have the dtypes of the model, as far as they are floats; else those of op.yml.

        Args:
            inputs: the inputs of the node in the original model.
            message: the message whose inputs they are; None: the original.

        Raises:
            OpkitError: the reference fails, its arrays do not match op.yml, or a value does not fit
                the dtype of a Cast.
        """
        spec, helper = self.custom.spec, required("onnx.helper")
        given = {**self.added, **dict(zip((message or self.original).input, inputs, strict=True))}
        arrays = [
            given[name]
            if name in given
            else self._cast(self.casts[name], given[self.casts[name].name])
            for name in self.grafted.input
        ]
        attributes = {
            each.name: helper.get_attribute_value(each) for each in self.grafted.attribute
        }
        names = (each.name for each in self.custom.constants)
        constants = dict(zip(names, arrays[len(spec.inputs) :], strict=False))
        name = printable(shortened(self.node.name))
        case = Case(
            name,
            dict(zip((each.name for each in spec.inputs), arrays, strict=False)),
            {
                param.name: _param_value(param, {**attributes, **constants}[param.name])
                for param in spec.params
                if param.name in attributes or param.name in constants
            },
            _output_dtypes(self),
            origin=f"node {name!r}, {self.custom.operator.root}",
        )
        try:
            return self.custom.operator.prepare(case)
        except OpkitError as error:
            text = str(error)
            where = case.origin
            raise OpkitError(text if text.startswith(where) else f"{where}: {text}") from None

    def _cast(self, tensor: Tensor, array: Array) -> Array:
        """Return an array in the dtype of the tensor's Cast."""
        dtype = CASTS[tensor.dtype]
        with np.errstate(over="ignore"):
            result = array.astype(dtype)
        is_float = array.dtype.kind == "f"
        bad = np.isfinite(array) & ~np.isfinite(result) if is_float else array != result
        if bad.any():
            raise OpkitError(
                f"node {printable(shortened(self.node.name))!r}: tensor "
                f"{printable(shortened(tensor.name))!r} has the value {array[bad][0]} (expected "
                f"numbers of {dtype}, in which {self.custom.operator.root} gets it)"
            )
        return result


def _output_dtypes(node: GraftedNode) -> dict[str, str]:
    """Return the model's dtypes of floats, where the description has none or another float."""
    dtypes = {each.name: each.dtype for each in node.node.outputs if each is not None}
    return {
        output.name: dtypes[tensor]
        for output, tensor in zip(node.custom.spec.outputs, node.grafted.output, strict=True)
        if dtypes.get(tensor, "") in ("float16", "float32")
        and (output.dtype or "float").startswith("float")
    }


def _param_value(param: Param, value: Any) -> Any:
    """Return the value of an attribute or a constant as the reference gets it."""
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    items = np.ravel(value).astype(param.type.element.dtype)
    return items.tolist() if param.type.is_list else items[0].item()
