"""Nodes of one operator of an ONNX model -> its description, and its reference by onnx."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

from opkit.description.types import ELEMENT_TYPES
from opkit.errors import OpkitError
from opkit.models.extra import required
from opkit.models.model import STANDARD, Model, Node, Tensor, Value
from opkit.text import escape_comment, printable, shortened

MAX_CONSTANTS = 16
"""Maximum elements of a constant input that becomes a param; larger ones are tensors."""

_MAX_DOC = 90


@dataclass(frozen=True)
class Input:
    """An input of the nodes: a tensor, or a param with the value of a constant.

    Attributes:
        name: its name in op.yml.
        position: its position in the nodes.
        dtypes: the dtypes in the model.
        doc: one sentence of the operator's schema.
        kind: for a param its word of op.yml, such as `ints`; empty for a tensor.
    """

    name: str
    position: int
    dtypes: frozenset[str]
    doc: str = ""
    kind: str = ""


@dataclass(frozen=True)
class Attribute:
    """An attribute of the nodes.

    Attributes:
        name: its name.
        kind: its type, by op.yml's word.
        doc: one sentence of the operator's schema.
        default: the schema's default; None: nodes must have it.
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
        opset: the version of the domain.
        inputs: tensors and constants, in the order of the nodes.
        outputs: name -> dtypes in the model.
        attributes: in the order of the schema.
        assumptions: facts that the model does not say, as sentences.
    """

    op_type: str
    domain: str
    opset: int
    inputs: tuple[Input, ...]
    outputs: dict[str, frozenset[str]]
    attributes: tuple[Attribute, ...]
    assumptions: tuple[str, ...] = field(default=())


def signature(model: Model, nodes: Sequence[Node]) -> Signature:
    """Return the union of nodes of one operator.

    Raises:
        OpkitError: the operator cannot be described: an attribute of a type that no runtime has, a
            name that is not an identifier, or inputs that differ from node to node.
    """
    first = nodes[0]
    opset = model.opsets.get(first.domain, 1)
    schema = _schema(first.op_type, first.domain, opset)
    names = _Names(first.op_type)
    inputs = tuple(_inputs(nodes, schema, names))
    outputs = dict(_outputs(nodes, schema, names))
    attributes = tuple(_attributes(nodes, schema))
    assumptions = tuple(_assumptions(nodes, inputs, schema))
    return Signature(first.op_type, first.domain, opset, inputs, outputs, attributes, assumptions)


def _schema(op_type: str, domain: str, opset: int) -> Any:
    """Return the schema of a standard operator, or None."""
    defs = required("onnx").defs
    if domain != STANDARD or not defs.has(op_type):
        return None
    return defs.get_schema(op_type, opset, domain)


@dataclass
class _Names:
    """Names for inputs and outputs: identifiers in lower case, each of them once."""

    op_type: str
    taken: set[str] = field(default_factory=set)

    def take(self, wanted: str) -> str:
        """Return a free name like the wanted one."""
        base = re.sub(r"\W+", "_", wanted, flags=re.ASCII).strip("_").lower() or "tensor"
        base = f"tensor_{base}" if base[0].isdigit() else base
        candidates = [base, f"{base}_tensor", *(f"{base}_{index}" for index in range(2, 1000))]
        name = next(each for each in candidates if each not in self.taken)
        self.taken.add(name)
        return name


def _inputs(nodes: Sequence[Node], schema: Any, names: _Names) -> Iterator[Input]:
    count = max(len(node.inputs) for node in nodes)
    for position in range(count):
        tensors = [_at(node, position) for node in nodes]
        present = [tensor for tensor in tensors if tensor is not None]
        if not present:
            continue
        role, doc = _role(schema, position, "input", count)
        if len(present) < len(tensors):
            raise OpkitError(
                f"{nodes[0].op_type}: some nodes leave out the input '{role}', others have it; "
                "choose the nodes of one kind with --node"
            )
        kind = _constant_kind(present)
        yield Input(names.take(role), position, _dtypes(present), doc, kind)


def _at(node: Node, position: int) -> Tensor | None:
    return node.inputs[position] if position < len(node.inputs) else None


def _role(schema: Any, position: int, default: str, count: int) -> tuple[str, str]:
    """Return the name and the description of an input or output, by the schema."""
    formal = (schema.inputs if default == "input" else schema.outputs) if schema else ()
    if not formal:
        return (default if count == 1 else f"{default}{position}"), ""
    parameter = formal[min(position, len(formal) - 1)]
    is_repeated = position >= len(formal) or str(parameter.option).endswith("Variadic")
    name = f"{parameter.name}{position}" if is_repeated else parameter.name
    return name, _sentence(parameter.description)


def _sentence(text: str) -> str:
    """Return the first sentence of a text on one line, shortened."""
    line = " ".join(text.split())
    sentence = re.split(r"(?<=[.;])\s", line)[0]
    return sentence if len(sentence) <= _MAX_DOC else f"{sentence[: _MAX_DOC - 4].rstrip()} ..."


def _constant_kind(tensors: Iterable[Tensor]) -> str:
    """Return op.yml's word for a param with the value of constant inputs; empty for tensors."""
    kinds = set()
    for tensor in tensors:
        element = ELEMENT_TYPES.get(tensor.dtype)
        shape = tensor.shape
        is_small = shape is not None and len(shape) <= 1 and _elements(tensor) <= MAX_CONSTANTS
        if not tensor.constant or element is None or not is_small:
            return ""
        word = "float" if element.kind == "float" else "int"
        kinds.add(word if _elements(tensor) == 1 else f"{word}s")
    return kinds.pop() if len(kinds) == 1 else ("floats" if "floats" in kinds else "ints")


def _elements(tensor: Tensor) -> int:
    return prod(size for size in tensor.shape or () if isinstance(size, int))


def _dtypes(tensors: Iterable[Tensor | None]) -> frozenset[str]:
    return frozenset(tensor.dtype for tensor in tensors if tensor is not None)


def _outputs(
    nodes: Sequence[Node], schema: Any, names: _Names
) -> Iterator[tuple[str, frozenset[str]]]:
    count = max(len(node.outputs) for node in nodes)
    for position in range(count):
        tensors = [
            node.outputs[position] if position < len(node.outputs) else None for node in nodes
        ]
        role, _ = _role(schema, position, "output", count)
        yield names.take(role), _dtypes(tensors)


_KINDS = {"FLOAT": "float", "INT": "int", "STRING": "string", "FLOATS": "floats", "INTS": "ints"}
"""The name of an attribute type in ONNX -> op.yml's word."""


def _attributes(nodes: Sequence[Node], schema: Any) -> Iterator[Attribute]:
    known = dict(schema.attributes) if schema else {}
    used = dict.fromkeys(name for node in nodes for name in node.attributes)
    for name in dict.fromkeys([*sorted(known), *used]):
        definition = known.get(name)
        if name in used:
            kind = _kind_of([node.attributes[name] for node in nodes if name in node.attributes])
        else:
            kind = _KINDS.get(definition.type.name, "")
        default = _default(definition) if definition else None
        if name not in used and default is None:
            continue
        if not kind:
            raise OpkitError(
                f"{nodes[0].op_type}: attribute '{printable(name)}' is a tensor, a graph or a list "
                "of texts, which no runtime hands to a custom operator"
            )
        yield Attribute(
            name, kind, _sentence(definition.description) if definition else "", default
        )


def _kind_of(values: Sequence[Value]) -> str:
    """Return op.yml's word for values of an attribute; empty if there is none."""
    items = [item for value in values for item in (value if isinstance(value, tuple) else (value,))]
    many = "s" if any(isinstance(value, tuple) for value in values) else ""
    if any(isinstance(item, (str, tuple)) for item in items):
        is_text = not many and not any(str(item).startswith("<") for item in items)
        return "string" if is_text else ""
    return ("float" if any(isinstance(item, float) for item in items) else "int") + many


def _default(definition: Any) -> Value | None:
    helper = required("onnx.helper")
    if definition.required or not definition.default_value.type:
        return None
    value = helper.get_attribute_value(definition.default_value)
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return tuple(value) if isinstance(value, (list, tuple)) else value


def _assumptions(nodes: Sequence[Node], inputs: Iterable[Input], schema: Any) -> Iterator[str]:
    if schema is None:
        yield "The model has no definition of this operator: check inputs, outputs and params."
    for each in inputs:
        if each.kind:
            yield f"{each.name} is constant in all {len(nodes)} nodes: a param."
        elif len(each.dtypes) > 1:
            yield f"{each.name} has several dtypes in the model: {', '.join(sorted(each.dtypes))}."


# ---- Text ----------------------------------------------------------------------------------------


def description(found: Signature, model: Model, runtime: str, target: str, count: int) -> str:
    """Return the text of op.yml.

    Args:
        found: the union of the nodes.
        model: the model, for the first comment.
        runtime: the runtime.
        target: the default target.
        count: the count of nodes.
    """
    version = (
        f"opset {found.opset}" if found.domain == STANDARD else f"{found.domain} {found.opset}"
    )
    name = escape_comment(printable(model.file.name))
    nodes = f"{count} node{'s' * (count != 1)}"
    lines = [
        f"# {found.op_type} ({version}), from {nodes} of {name}.",
        *(f"# {line}" for line in found.assumptions),
        f"name: {found.op_type}",
        f"framework: {model.framework}",
        f"target_platform: {target.upper()}",
        f"runtimes: [{runtime}]",
        "inputs:",
        *(_tensor_line(each.name, each.dtypes, each.doc) for each in found.inputs if not each.kind),
        "outputs:",
        *(_tensor_line(name, dtypes, "") for name, dtypes in found.outputs.items()),
    ]
    params = [*map(_attribute_line, found.attributes)]
    params += [_constant_line(each) for each in found.inputs if each.kind]
    return "\n".join([*lines, "params:" if params else "params: {}", *params]) + "\n"


def _tensor_line(name: str, dtypes: frozenset[str], doc: str) -> str:
    keys = ["type: VX_TYPE_TENSOR"]
    known = dtypes & ELEMENT_TYPES.keys()
    if len(dtypes) == 1 and known:
        keys.append(f"dtype: {next(iter(known))}")
    return _line(name, keys, doc)


def _attribute_line(attribute: Attribute) -> str:
    keys = [f"type: {attribute.kind}"]
    if attribute.default is not None:
        default = attribute.default
        value = [*default] if isinstance(default, tuple) else default
        keys.append(f"default: {json.dumps(value)}")
    return _line(attribute.name, keys, attribute.doc)


def _constant_line(each: Input) -> str:
    return _line(each.name, [f"type: {each.kind}", f"source: const:{each.name}"], each.doc)


def _line(name: str, keys: Sequence[str], doc: str) -> str:
    more = [f"doc: {json.dumps(printable(shortened(doc, 200)), ensure_ascii=False)}"] if doc else []
    return f"  {name}: {{{', '.join([*keys, *more])}}}"
