"""Make nodes of a model those of operator repositories."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from opkit.check.cases import Case
from opkit.description.spec import Param, ParamValue
from opkit.errors import OpkitError
from opkit.models import optional_inputs
from opkit.models.custom_nodes import (
    Custom,
    MismatchError,
    check_types,
    custom_of,
    input_positions,
    output_positions,
    unique_names,
)
from opkit.models.extra import required
from opkit.models.model import STANDARD, Model, Node, Tensor
from opkit.models.onnx_model import subgraphs
from opkit.models.stages import Call
from opkit.models.weights import OpenModel
from opkit.text import printable, shortened

Array = Any


@dataclass(frozen=True)
class GraftedNode:
    """A node of a repository's operator.

    Attributes:
        node: the node in the model.
        custom: its operator.
        original: its message in the model.
        grafted: its message in the grafted model.
        added: the values of its added inputs, by tensor.
    """

    node: Node
    custom: Custom
    original: Any
    grafted: Any
    added: Mapping[str, Array]

    def call_of_original(self) -> Call:
        """Return the function of the reference for the inputs of the original node."""
        call = reference_call(self)

        def function(inputs: Sequence[Array | None]) -> Sequence[Array]:
            values = {**self.added, **dict(zip(self.original.input, inputs, strict=True))}
            results = call([values[name] for name in self.grafted.input])
            found = dict(zip(self.grafted.output, results, strict=True))
            return [found.get(name) for name in self.original.output]

        return function


@dataclass(frozen=True)
class Graft:
    """A model with the nodes of repositories.

    Attributes:
        model: the grafted model, with the weights of the original.
        nodes: the grafted nodes, in order.
    """

    model: OpenModel
    nodes: tuple[GraftedNode, ...]

    def choose(self, node: Any, _: str) -> Call | None:
        """Return the function of the reference for a node of the grafted model."""
        found = self._by_message().get(id(node))
        return reference_call(found) if found else None

    def _by_message(self) -> dict[int, GraftedNode]:
        return {id(each.grafted): each for each in self.nodes}


def graft(opened: OpenModel, model: Model, found: Sequence[Custom]) -> Graft:
    """Return a model with the nodes of operators in the form of their converter.

    Args:
        opened: the model.
        model: the same model as values.
        found: the operators.

    Raises:
        OpkitError: a node does not match the description of its operator, or an operator has none.
    """
    check_types(found, {(node.op_type, node.domain) for node in model.nodes})
    proto = required("onnx").ModelProto()
    proto.CopyFrom(opened.proto)
    messages = zip(_nodes(opened.proto.graph), _nodes(proto.graph), strict=True)
    groups: dict[int, list[tuple[Node, Any, Any]]] = {}
    for node, (original, grafted) in zip(model.nodes, messages, strict=True):
        if custom := custom_of(found, node.op_type, node.domain):
            groups.setdefault(id(custom), []).append((node, original, grafted))
    names = _Names({*_all_names(proto.graph)})
    constants = dict(_constants(opened.proto.graph))
    made = {}
    for custom in found:
        group = groups[id(custom)]
        rewriter = _rewriter(opened, model, custom, [node for node, *_ in group], constants)
        for node, original, grafted in group:
            made[id(node)] = rewriter.graft(node, original, grafted, names)
    nodes = tuple(made[id(node)] for node in model.nodes if id(node) in made)
    numpy_helper = required("onnx.numpy_helper")
    for each in nodes:
        for name, array in each.added.items():
            proto.graph.initializer.append(numpy_helper.from_array(array, name))
    _drop_unread(proto.graph, nodes)
    for custom in found:
        _import_domain(proto, custom, opened)
    return Graft(opened.changed(proto), nodes)


def _drop_unread(graph: Any, nodes: Sequence[GraftedNode]) -> None:
    """Drop the initializers that only the original nodes read."""
    before = {name for each in nodes for name in each.original.input}
    read = {each.name for each in (*graph.input, *graph.output)}
    for each in _graphs(graph):
        read.update(output.name for output in each.output)
        read.update(name for node in each.node for name in node.input)
    for position in reversed(range(len(graph.initializer))):
        if graph.initializer[position].name in before - read:
            del graph.initializer[position]


def _import_domain(proto: Any, custom: Custom, opened: OpenModel) -> None:
    """Import the domain of an operator's nodes.

    Raises:
        OpkitError: the model imports another version of it.
    """
    domain, versions = custom.form.domain, custom.form.versions
    if domain is None or versions is None:
        return
    imported = {each.domain: each.version for each in proto.opset_import}
    if domain not in imported:
        opset = required("onnx.helper").make_opsetid(domain, versions[0])
        proto.opset_import.append(opset)
    elif not versions[0] <= imported[domain] <= versions[1]:
        raise OpkitError(
            f"{opened.file}: imports version {imported[domain]} of the domain "
            f"{printable(domain) or 'of ONNX'}; {custom.operator.root} has the operator for "
            f"{versions[0]} to {versions[1]} (`opset` in its op.yml)"
        )


def _nodes(graph: Any) -> Iterator[Any]:
    """Yield the nodes of a graph and of its subgraphs, in the order of Model."""
    for node in graph.node:
        yield node
        for subgraph in subgraphs(node):
            yield from _nodes(subgraph)


def _graphs(graph: Any) -> Iterator[Any]:
    """Yield a graph and its subgraphs."""
    yield graph
    for node in graph.node:
        for subgraph in subgraphs(node):
            yield from _graphs(subgraph)


def _all_names(graph: Any) -> Iterator[str]:
    """Yield the names of all tensors."""
    for each in _graphs(graph):
        yield from (tensor.name for tensor in (*each.input, *each.initializer))
        for node in each.node:
            yield from (*node.input, *node.output)


def _constants(graph: Any) -> Iterator[tuple[str, Any]]:
    """Yield name and value of small tensors that the model holds."""
    onnx = required("onnx")
    for each in _graphs(graph):
        for tensor in each.initializer:
            if tensor.data_location != onnx.TensorProto.EXTERNAL:
                yield tensor.name, tensor
        for node in each.node:
            if node.op_type == "Constant" and node.attribute and node.attribute[0].HasField("t"):
                yield node.output[0], node.attribute[0].t


@dataclass
class _Names:
    """The names of all tensors."""

    taken: set[str] = field(default_factory=set)

    def take(self, wanted: str) -> str:
        """Return a free name like the wanted one."""
        name = next(unique_names(self.taken, wanted))
        self.taken.add(name)
        return name


# ---- One node ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Rewriter:
    """Rewrites the nodes of an operator.

    Attributes:
        where: the begin of messages.
        custom: the operator.
        schema: its schema in ONNX; None: it has none.
        inputs: name of an input or constant param -> its position in the original nodes.
        outputs: name of an output -> the same.
        constants: name of a constant tensor -> its value, as a message.
    """

    where: str
    custom: Custom
    schema: Any
    inputs: Mapping[str, int]
    outputs: Mapping[str, int]
    constants: Mapping[str, Any]

    def graft(self, node: Node, original: Any, grafted: Any, names: _Names) -> GraftedNode:
        """Rewrite the message of a node.

        Raises:
            OpkitError: it does not match the description.
        """
        added: dict[str, Array] = {}
        try:
            attributes = self._attributes(original)
            inputs = [
                self._tensor(node, each.name, added, names) for each in self.custom.spec.inputs
            ]
            tensors = len(inputs)
            inputs += self._constants(node, attributes, added, names)
            self._add_defaults(attributes, self.custom.constants[: len(inputs) - tensors])
            self._check_dtypes(node)
            if all(each is None or each.constant for each in node.inputs):
                raise MismatchError(
                    "all its inputs are constant, so that converters compute it once and remove "
                    "it; simplify the model, for instance with onnxsim"
                )
        except MismatchError as error:
            name = printable(shortened(node.name))
            raise OpkitError(f"{self.where}: node {name!r}: {error}") from None
        grafted.op_type = self.custom.form.op_type
        if self.custom.form.domain is not None:
            grafted.domain = self.custom.form.domain
        outputs = [
            self._output(node, original, each.name, names) for each in self.custom.spec.outputs
        ]
        for field_, values in (("input", inputs), ("output", outputs)):
            grafted.ClearField(field_)
            getattr(grafted, field_).extend(values)
        grafted.ClearField("attribute")
        grafted.attribute.extend(
            _attribute(param, attributes[param.name])
            for param in self.custom.spec.params
            if param.name in attributes
        )
        return GraftedNode(node, self.custom, original, grafted, added)

    # ---- Attributes ----

    def _attributes(self, original: Any) -> dict[str, ParamValue]:
        """Return the values of the node's attributes, in the order of op.yml."""
        params = {param.name: param for param in self.custom.spec.params}
        values: dict[str, ParamValue] = {}
        for attribute in original.attribute:
            if attribute.name in params:
                values[attribute.name] = _converted(params[attribute.name], attribute)
            elif not self._is_default(attribute):
                known = ", ".join(params) or "none"
                raise MismatchError(
                    f"attribute {_quoted(attribute.name)} is not in op.yml (expected {known})"
                )
        for name, value in values.items():
            if bad := self.custom.form.unreadable(value):
                readable = self.custom.form.readable
                raise MismatchError(f"attribute '{name}' is {bad[0]} (expected {readable})")
        return {name: values[name] for name in params if name in values}

    def _is_default(self, attribute: Any) -> bool:
        """Whether an attribute has the default of the operator in ONNX."""
        known = dict(self.schema.attributes) if self.schema else {}
        if attribute.name not in known:
            return False
        helper = required("onnx.helper")
        default = known[attribute.name].default_value
        return bool(default.type) and bool(
            helper.get_attribute_value(default) == helper.get_attribute_value(attribute)
        )

    def _add_defaults(self, values: dict[str, ParamValue], inputs: Iterable[Param]) -> None:
        """Add the omitted params with their defaults, but for inputs; unreadable ones are left."""
        given = {param.name for param in inputs}
        for param in self.custom.spec.params:
            if param.name in values or param.name in given:
                continue
            if param.default is None:
                raise MismatchError(
                    f"has no attribute '{param.name}', and params.{param.name} has no default in "
                    "op.yml; add one"
                )
            if not self.custom.form.unreadable(param.default) and _is_exact(param):
                values[param.name] = param.default

    # ---- Inputs and outputs ----

    def _at(self, node: Node, name: str) -> Tensor | None:
        position = self.inputs.get(name)
        is_there = position is not None and position < len(node.inputs)
        return node.inputs[position] if position is not None and is_there else None

    def _tensor(self, node: Node, name: str, added: dict[str, Array], names: _Names) -> str:
        """Return the tensor of an input; add a constant for an optional one."""
        tensor = self._at(node, name)
        if tensor is not None and not _is_empty(tensor):
            return tensor.name
        formal = [each.name for each in self.schema.inputs] if self.schema else []
        present = {
            formal[position]: each
            for position, each in enumerate(node.inputs)
            if each is not None and position < len(formal)
        }
        position = self.inputs.get(name, -1)
        own = formal[position] if 0 <= position < len(formal) else _same(formal, name)
        try:
            value = optional_inputs.value(node.op_type, own, present, node.attributes)
        except optional_inputs.UnknownShapeError as error:
            raise MismatchError(
                f"has no input '{name}', whose size depends on '{error}' of unknown size; export "
                "the model with fixed sizes"
            ) from None
        if value is None:
            raise MismatchError(
                f"has no input '{name}'; its converter wants all inputs (expected "
                f"{', '.join(each.name for each in self.custom.spec.inputs)})"
            )
        free = names.take(f"{node.name}_{name}")
        added[free] = value
        return free

    def _constants(
        self,
        node: Node,
        attributes: dict[str, ParamValue],
        added: dict[str, Array],
        names: _Names,
    ) -> list[str]:
        """Add the values of constant inputs to the attributes; return the inputs of others.

        RKNN-Toolkit2 has no values of inputs while it infers shapes, so that attributes are better.
        Where one cannot be an attribute, all are inputs: they are known by their order.
        """
        params = self.custom.constants
        values = {param.name: self._value(node, param, attributes) for param in params}
        known = {name: value for name, value in values.items() if value is not None}
        is_readable = not any(map(self.custom.form.unreadable, known.values()))
        if len(known) == len(values) and is_readable:
            attributes.update(known)
            return []
        if not self.custom.form.has_constants:
            name = next(name for name, value in values.items() if value is None)
            raise MismatchError(
                f"input '{name}' is not a small constant of the model; simplify the model, for "
                "instance with onnxsim"
            )
        inputs = []
        for param in params:
            attributes.pop(param.name, None)
            tensor = self._at(node, param.name)
            if tensor is None or _is_empty(tensor):
                name = names.take(f"{node.name}_{param.name}")
                kind = param.type.element.kind
                dtype = {"float": np.float32, "bool": np.bool_}.get(kind, np.int64)
                added[name] = np.atleast_1d(np.array(values[param.name], dtype))
            inputs.append(name if tensor is None or _is_empty(tensor) else tensor.name)
        return inputs

    def _value(
        self, node: Node, param: Param, attributes: Mapping[str, ParamValue]
    ) -> ParamValue | None:
        """Return the value of a constant input; None if only a run of the model computes it."""
        tensor = self._at(node, param.name)
        if tensor is None or _is_empty(tensor):
            value = attributes.get(param.name, param.default)
            if value is None:
                raise MismatchError(
                    f"has no input '{param.name}', and params.{param.name} has no default in "
                    "op.yml; add one"
                )
            return value
        if not tensor.constant:
            raise MismatchError(f"input '{param.name}' is not constant, as op.yml says")
        if tensor.name not in self.constants:
            return None
        array = required("onnx.numpy_helper").to_array(self.constants[tensor.name])
        items = array.ravel().tolist()
        if not param.type.is_list and len(items) != 1:
            raise MismatchError(f"input '{param.name}' has {len(items)} items (expected 1)")
        return tuple(items) if param.type.is_list else items[0]

    def _output(self, node: Node, original: Any, name: str, names: _Names) -> str:
        position = self.outputs[name]
        own = original.output[position] if position < len(original.output) else ""
        return own or names.take(f"{node.name}_{name}")

    def _check_dtypes(self, node: Node) -> None:
        """Refuse inputs of another kind than in op.yml; floats may differ in size."""
        for each in self.custom.spec.inputs:
            tensor = self._at(node, each.name)
            if tensor is None or not tensor.dtype or each.dtype is None:
                continue
            are_floats = "float" in tensor.dtype and "float" in each.dtype
            if tensor.dtype != each.dtype and not are_floats:
                raise MismatchError(
                    f"input '{each.name}' is {tensor.dtype} (expected {each.dtype}, "
                    f"inputs.{each.name}.dtype in op.yml)"
                )
        first = self._at(node, self.custom.spec.inputs[0].name)
        for each in self.custom.spec.outputs:
            position = self.outputs[each.name]
            tensor = node.outputs[position] if position < len(node.outputs) else None
            expected = each.dtype or (first.dtype if first else "")
            if tensor is None or not tensor.dtype or not expected:
                continue
            if tensor.dtype != expected and not ("float" in tensor.dtype and "float" in expected):
                source = "in op.yml" if each.dtype else "by the first input"
                raise MismatchError(
                    f"output '{each.name}' is {tensor.dtype} (expected {expected}, {source}); "
                    f"write outputs.{each.name}.dtype in op.yml"
                )


def _rewriter(
    opened: OpenModel,
    model: Model,
    custom: Custom,
    nodes: Sequence[Node],
    constants: Mapping[str, Any],
) -> _Rewriter:
    """Return the rewriter for all nodes of an operator."""
    schema = _schema(nodes[0], model)
    where = f"{opened.file}, {custom.operator.root}"
    count = max(len(node.inputs) for node in nodes)
    columns = [[_input(node, index) for node in nodes] for index in range(count)]
    used = [index for index, column in enumerate(columns) if any(map(_is_used, column))]
    constant = {
        index for index in used if all(each.constant for each in columns[index] if each is not None)
    }
    written = {
        index for node in nodes for index, each in enumerate(node.outputs) if each is not None
    }
    try:
        formal = _formal(schema.inputs) if schema else []
        inputs = input_positions(custom, used, constant, formal)
        formal = _formal(schema.outputs) if schema else []
        outputs = output_positions(custom, sorted(written), formal)
    except MismatchError as error:
        name = printable(shortened(nodes[0].name))
        raise OpkitError(f"{where}: node {name!r} has {error}") from None
    return _Rewriter(where, custom, schema, inputs, outputs, constants)


def _formal(parameters: Iterable[Any]) -> list[str]:
    """Return the names of a schema's inputs or outputs; none for a variable count."""
    found = [*parameters]
    is_variadic = bool(found) and str(found[-1].option).endswith("Variadic")
    return [] if is_variadic else [each.name for each in found]


def _schema(node: Node, model: Model) -> Any:
    """Return the schema of a standard operator, or None."""
    defs = required("onnx").defs
    if node.domain != STANDARD or not defs.has(node.op_type):
        return None
    try:
        return defs.get_schema(node.op_type, model.opsets.get(STANDARD, 1), STANDARD)
    except defs.SchemaError:
        return None


def _input(node: Node, index: int) -> Tensor | None:
    return node.inputs[index] if index < len(node.inputs) else None


def _is_used(tensor: Tensor | None) -> bool:
    return tensor is not None and not _is_empty(tensor)


def _is_empty(tensor: Tensor) -> bool:
    """Whether a tensor is a constant without elements: as good as left out."""
    return tensor.constant and tensor.shape is not None and 0 in tensor.shape


def _same(names: Iterable[str], name: str) -> str:
    return next((each for each in names if each.lower() == name.lower()), "")


def _quoted(name: str) -> str:
    return repr(printable(shortened(name)))


# ---- Params --------------------------------------------------------------------------------------

_TYPES = {"int": "INT", "float": "FLOAT", "ints": "INTS", "floats": "FLOATS", "string": "STRING"}
"""Kind of a param -> the type of its attribute."""
_FLOAT_FROM = {"FLOAT": "INT", "FLOATS": "INTS"}
"""Type of an attribute -> the other type with its values."""


def _converted(param: Param, attribute: Any) -> ParamValue:
    """Return an attribute as the value of a param."""
    onnx = required("onnx")
    kind = onnx.AttributeProto.AttributeType.Name(attribute.type)
    expected = _TYPES[param.type.onnx]
    if kind not in (expected, _FLOAT_FROM.get(expected)):
        raise MismatchError(
            f"attribute '{param.name}' has the type {kind} (expected {expected}, "
            f"params.{param.name} in op.yml)"
        )
    value = onnx.helper.get_attribute_value(attribute)
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    items = [*value] if param.type.is_list else [value]
    if param.length not in (None, len(items)):
        raise MismatchError(
            f"attribute '{param.name}' has {len(items)} items (expected {param.length})"
        )
    limits = param.type.element.limits
    for item in items if limits else ():
        low, high = limits or (item, item)
        if not low <= item <= high:
            raise MismatchError(f"attribute '{param.name}' is {item} (expected {low} to {high})")
    return tuple(items) if param.type.is_list else value


def _attribute(param: Param, value: ParamValue) -> Any:
    """Return a value as the attribute of a param."""
    onnx = required("onnx")
    type_ = _TYPES[param.type.onnx]
    convert = {"STRING": str}.get(type_, float if type_.startswith("FLOAT") else int)
    items = [convert(each) for each in value] if isinstance(value, tuple) else convert(value)
    return onnx.helper.make_attribute(
        param.name, items, attr_type=onnx.AttributeProto.AttributeType.Value(type_)
    )


def _is_exact(param: Param) -> bool:
    """Whether an attribute holds the default exactly: its floats are float32."""
    if param.type.element.name != "float64":
        return True
    items = param.default if isinstance(param.default, tuple) else (param.default,)
    return all(float(np.float32(each)) == each for each in items if isinstance(each, (int, float)))


def reference_call(node: GraftedNode) -> Call:
    """Return the function of the reference for the inputs of a grafted node.

    The outputs have the dtypes of the model, as far as they are floats; else those of op.yml.

    Raises:
        OpkitError: when called: the reference fails, or its arrays do not match op.yml.
    """
    custom, helper = node.custom, required("onnx.helper")
    attributes = {each.name: helper.get_attribute_value(each) for each in node.grafted.attribute}
    dtypes = _output_dtypes(node)
    tensors = len(custom.spec.inputs)
    name = printable(shortened(node.node.name))

    def call(inputs: Sequence[Array | None]) -> list[Array]:
        names = (each.name for each in custom.spec.inputs)
        arrays: dict[str, Any] = dict(zip(names, inputs, strict=False))
        constants = dict(
            zip((each.name for each in custom.constants), inputs[tensors:], strict=False)
        )
        case = Case(
            name,
            arrays,
            {
                param.name: _param_value(param, {**attributes, **constants}[param.name])
                for param in custom.spec.params
                if param.name in attributes or param.name in constants
            },
            dtypes,
            origin=f"node {name!r}, {custom.operator.root}",
        )
        try:
            expected = custom.operator.prepare(case).expected
        except OpkitError as error:
            text = str(error)
            where = case.origin
            raise OpkitError(text if text.startswith(where) else f"{where}: {text}") from None
        return [expected[each.name] for each in custom.spec.outputs]

    return call


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
