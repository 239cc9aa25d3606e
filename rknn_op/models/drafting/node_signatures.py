"""Nodes of one operator of a model -> their common inputs, outputs and attributes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

from opkit.common.errors import OpkitError
from opkit.common.text import printable
from opkit.description.types import ELEMENT_TYPES
from opkit.description.words import taken_by
from rknn_op.models.model_files import required, schema_of
from rknn_op.models.model_graph import (
    MAX_VALUES,
    Model,
    Node,
    Opaque,
    Tensor,
    TypeName,
    Value,
    at,
    plain,
)

_MAX_DOC = 90


@dataclass(frozen=True)
class Input:
    """An input of the nodes: a tensor, or a param with the value of a constant.

    Attributes:
        name: its name in op.yml.
        position: its position in the nodes.
        dtypes: the known dtypes in the model, sorted.
        doc: one sentence of the operator's schema.
        kind: for a param its word of op.yml, such as `ints`; empty for a tensor.
        rank: for a param the rank of the constant, 0 or 1.
        is_optional: whether some nodes leave it out.
        formal: its name in the schema; empty without one, and for a repeated input.
    """

    name: str
    position: int
    dtypes: tuple[str, ...]
    doc: str = ""
    kind: str = ""
    rank: int = 0
    is_optional: bool = False
    formal: str = ""


@dataclass(frozen=True)
class Output:
    """An output of the nodes.

    Attributes:
        name: its name in op.yml.
        position: its position in the nodes.
        dtypes: the known dtypes in the model, sorted.
        doc: one sentence of the operator's schema.
    """

    name: str
    position: int
    dtypes: tuple[str, ...]
    doc: str = ""


@dataclass(frozen=True)
class Attribute:
    """An attribute of the nodes.

    Attributes:
        name: its name.
        kind: its type, by op.yml's word.
        doc: one sentence of the operator's schema.
        default: the schema's default, or None.
    """

    name: str
    kind: str
    doc: str = ""
    default: Value | None = None


@dataclass(frozen=True)
class Signature:
    """The union of an operator's nodes.

    Attributes:
        op_type: the operator's name in the model.
        domain: its domain.
        opset: the version of the domain; 0 for TensorFlow.
        is_standard: whether onnx has the operator's schema.
        inputs: tensors and constants, in the order of the nodes.
        outputs: the outputs, in the order of the nodes.
        attributes: in the order of their names.
        fixed: attributes that are no params: each has this value in all nodes.
    """

    op_type: str
    domain: str
    opset: int
    is_standard: bool
    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    attributes: tuple[Attribute, ...]
    fixed: Mapping[str, Value] = field(default_factory=dict)

    @property
    def tensors(self) -> tuple[Input, ...]:
        """The inputs that are tensors."""
        return tuple(each for each in self.inputs if not each.kind)

    @property
    def constants(self) -> tuple[Input, ...]:
        """The inputs that are params."""
        return tuple(each for each in self.inputs if each.kind)


def signature(model: Model, nodes: Sequence[Node], has_texts: bool = True) -> Signature:
    """Return the union of nodes of one operator.

    Args:
        model: their model.
        nodes: one node or more.
        has_texts: whether the runtimes hand texts to an operator.

    Raises:
        OpkitError: the operator cannot be described: an attribute of a type that no runtime has,
            or inputs that differ from node to node.
    """
    first = nodes[0]
    opset = model.opsets.get(first.domain, 1 if model.framework == "onnx" else 0)
    schema = schema_of(first.op_type, first.domain, opset) if model.framework == "onnx" else None
    fixed = dict(_fixed(nodes, has_texts))
    attributes = tuple(_attributes(nodes, schema, fixed))
    names = _Names({each.name.lower() for each in attributes})
    inputs = tuple(_inputs(nodes, schema, names))
    outputs = tuple(_outputs(nodes, schema, names))
    found = Signature(
        first.op_type, first.domain, opset, bool(schema), inputs, outputs, attributes, fixed
    )
    if not found.tensors:
        raise OpkitError(
            f"{called(nodes)}: has no input tensor that changes; a custom operator needs one"
        )
    if not outputs:
        raise OpkitError(f"{called(nodes)}: has no output")
    return found


def called(nodes: Sequence[Node]) -> str:
    """Return the operator's name for messages."""
    return plain(nodes[0].op_type)


# ---- Names ---------------------------------------------------------------------------------------


@dataclass
class _Names:
    """Unique lower-case identifiers for inputs and outputs."""

    taken: set[str]

    def take(self, wanted: str) -> str:
        """Return a unique name similar to the wanted one."""
        base = re.sub(r"\W+", "_", wanted, flags=re.ASCII).strip("_").lower()[:40] or "tensor"
        base = f"tensor_{base}" if base[0].isdigit() else base
        candidates = [base, f"{base}_tensor", *(f"{base}_{index}" for index in range(2, 10000))]
        name = next(each for each in candidates if each not in self.taken and not taken_by(each))
        self.taken.add(name)
        return name


def _role(schema: Any, position: int, default: str, count: int) -> tuple[str, str]:
    """Return the name and the description of an input or output, by the schema."""
    formal = (schema.inputs if default == "input" else schema.outputs) if schema else ()
    if not formal:
        return (default if count == 1 else f"{default}_{position}"), ""
    parameter = formal[min(position, len(formal) - 1)]
    first = len(formal) - 1
    if position > first or _is_variadic(parameter):
        singular = parameter.name.removesuffix("_0").removesuffix("s")
        return f"{singular}_{position - first}", _sentence(parameter.description)
    return parameter.name, _sentence(parameter.description)


def _is_variadic(parameter: Any) -> bool:
    return str(parameter.option).endswith("Variadic")


def _sentence(text: str) -> str:
    """Return the first sentence of a text on one line, shortened."""
    line = " ".join(printable(text).split())
    sentence = re.split(r"(?<=[.;])\s", line)[0]
    if len(sentence) <= _MAX_DOC:
        return sentence
    return f"{sentence[: _MAX_DOC - 4].rpartition(' ')[0].rstrip(',;:')} ..."


# ---- Inputs and outputs --------------------------------------------------------------------------


def _inputs(nodes: Sequence[Node], schema: Any, names: _Names) -> Iterator[Input]:
    counts = sorted({len(node.inputs) for node in nodes})
    if schema and schema.inputs and _is_variadic(schema.inputs[-1]) and len(counts) > 1:
        listed = " and ".join(map(str, counts))
        raise OpkitError(
            f"{called(nodes)}: nodes have {listed} inputs, an operator has one count; choose one "
            "node with --node"
        )
    for position in range(counts[-1]):
        tensors = [at(node.inputs, position) for node in nodes]
        present = [tensor for tensor in tensors if tensor is not None]
        if not present or all(each.is_empty for each in present):
            continue
        role, doc = _role(schema, position, "input", counts[-1])
        kind = _constant_kind(present)
        if kind and not schema:
            last = {each.name.partition(":")[0].rpartition("/")[2] for each in present}
            role = last.pop() if len(last) == 1 and last != {""} else role
        yield Input(
            names.take(role),
            position,
            _dtypes(present),
            doc,
            kind,
            max(len(each.shape or ()) for each in present) if kind else 0,
            len(present) < len(tensors),
            schema.inputs[position].name if schema and position < len(schema.inputs) else "",
        )


def _constant_kind(tensors: Iterable[Tensor]) -> str:
    """Return op.yml's type for constant inputs as a param; empty for tensors."""
    kinds = set()
    for tensor in tensors:
        element = ELEMENT_TYPES.get(tensor.dtype)
        shape = tensor.shape
        is_small = shape is not None and len(shape) <= 1 and 1 <= _elements(tensor) <= MAX_VALUES
        if not tensor.constant or element is None or not is_small:
            return ""
        word = {"float": "float", "bool": "bool"}.get(element.kind, "int")
        kinds.add(word if _elements(tensor) == 1 else f"{word}s".replace("bools", "ints"))
    return kinds.pop() if len(kinds) == 1 else ("floats" if "floats" in kinds else "ints")


def _elements(tensor: Tensor) -> int:
    return prod(size if isinstance(size, int) else 0 for size in tensor.shape or ())


def _dtypes(tensors: Iterable[Tensor | None]) -> tuple[str, ...]:
    return tuple(sorted({each.dtype for each in tensors if each is not None and each.dtype}))


def _outputs(nodes: Sequence[Node], schema: Any, names: _Names) -> Iterator[Output]:
    count = max(len(node.outputs) for node in nodes)
    for position in range(count):
        tensors = [at(node.outputs, position) for node in nodes]
        if any(tensors):
            role, doc = _role(schema, position, "output", count)
            yield Output(names.take(role), position, _dtypes(tensors), doc)


# ---- Attributes ----------------------------------------------------------------------------------

_KINDS = {
    "FLOAT": "float",
    "INT": "int",
    "STRING": "string",
    "FLOATS": "floats",
    "INTS": "ints",
    "STRINGS": "string",
}
"""The name of an attribute type in ONNX -> op.yml's word; a list of texts is one, with commas."""


def _fixed(nodes: Sequence[Node], has_texts: bool) -> Iterator[tuple[str, Value]]:
    """Yield string attributes that the runtimes do not support, if all nodes agree."""
    for name in _used(nodes) if not has_texts else ():
        value = nodes[0].attributes.get(name)
        if value is not None and _kind(nodes, name) == "string":
            if any(node.attributes.get(name) != value for node in nodes):
                raise OpkitError(
                    f"{called(nodes)}: attribute '{plain(name)}' is a string, which the runtime "
                    "does not support, and differs between nodes; choose one node with --node"
                )
            yield name, value


def _used(nodes: Sequence[Node]) -> list[str]:
    """Return the names of the nodes' attributes, without TensorFlow's own and types."""
    names = dict.fromkeys(name for node in nodes for name in node.attributes)
    # An element type is that of a tensor, too; an empty list may be one of numbers.
    types = {
        name
        for name in names
        if (items := _items(nodes, name)) and all(isinstance(each, TypeName) for each in items)
    }
    return [name for name in names if not name.startswith("_") and name not in types]


def _items(nodes: Sequence[Node], name: str) -> list[Value]:
    """Return the values of an attribute, the items of lists one by one."""
    values = [node.attributes[name] for node in nodes if name in node.attributes]
    return [each for value in values for each in (value if isinstance(value, tuple) else (value,))]


def _attributes(
    nodes: Sequence[Node], schema: Any, fixed: Mapping[str, Value]
) -> Iterator[Attribute]:
    known = dict(schema.attributes) if schema else {}
    used = _used(nodes)
    for name in sorted({*known, *used} - {*fixed}):
        definition = known.get(name)
        default = _default(definition) if definition else None
        if name not in used and default is None:
            continue
        kind = _KINDS.get(definition.type.name, "") if definition else _kind(nodes, name)
        if name in used and definition and not _fits(nodes, name, kind):
            raise OpkitError(
                f"{called(nodes)}: attribute '{plain(name)}' is of another type in the model "
                f"(expected {definition.type.name})"
            )
        if not kind:
            raise OpkitError(
                f"{called(nodes)}: attribute '{plain(name)}' is a tensor or a graph, which no "
                "runtime supports; rewrite these nodes, for instance with the value as an input"
            )
        doc = _sentence(definition.description) if definition else ""
        yield Attribute(name, kind, doc, default)


def _kind(nodes: Sequence[Node], name: str) -> str:
    """Return op.yml's type for the values of an attribute; empty if unsupported."""
    items = _items(nodes, name)
    many = "s" if any(isinstance(node.attributes.get(name), tuple) for node in nodes) else ""
    if any(isinstance(item, (str, tuple)) for item in items):
        is_text = all(isinstance(item, str) and not isinstance(item, Opaque) for item in items)
        return "string" if is_text else ""
    if items and not many and all(isinstance(item, bool) for item in items):
        return "bool"
    return ("float" if any(isinstance(item, float) for item in items) else "int") + many


def _fits(nodes: Sequence[Node], name: str, kind: str) -> bool:
    """Whether the nodes' attribute has the type of its schema; empty lists have no type."""
    values = {node.attributes[name] for node in nodes if name in node.attributes}
    return values == {()} or _kind(nodes, name) in (kind, "ints" if kind == "floats" else kind)


def _default(definition: Any) -> Value | None:
    if definition.required or not definition.default_value.type:
        return None
    value = required("onnx.helper").get_attribute_value(definition.default_value)
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    items = value if isinstance(value, (list, tuple)) else ()
    texts = tuple(each.decode() if isinstance(each, bytes) else each for each in items)
    return texts if isinstance(value, (list, tuple)) else value


# ---- The params of a node ------------------------------------------------------------------------


def params_of(found: Signature, node: Node) -> dict[str, Any] | None:
    """Return the values of a node's params, without defaults; None if one is unknown."""
    values: dict[str, Any] = {}
    for attribute in found.attributes:
        if attribute.name in node.attributes:
            values[attribute.name] = converted(node.attributes[attribute.name], attribute.kind)
        elif attribute.default is None:
            return None
    for each in found.constants:
        tensor = at(node.inputs, each.position)
        if tensor is None or tensor.value is None:
            return None
        values[each.name] = converted(tensor.value, each.kind)
    return values


def converted(value: Value, kind: str) -> Any:
    """Return a value as a param of a kind: a number, a text, or a list of numbers."""
    if kind == "string":
        return ",".join(map(str, value)) if isinstance(value, tuple) else value
    items = value if isinstance(value, tuple) else (value,)
    numbers: list[Any] = [*items]
    if kind.startswith("float"):
        import numpy as np

        # The shortest decimals that round to the same float32.
        numbers = [float(str(np.float32(each))) for each in numbers]
    if kind.endswith("s"):
        return numbers
    return bool(numbers[0]) if kind == "bool" else numbers[0]
