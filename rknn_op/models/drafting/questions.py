"""The assumptions of a description from a model, and the facts that the model does not have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rknn_op.models.drafting.signatures import Attribute, Input, Output, Signature, at, converted
from rknn_op.models.model import Node, Tensor, Value
from rknn_op.models.optional_inputs import has_value
from rknn_op.models.text import plain, shape_text

_MAX_EXAMPLES = 4


@dataclass(frozen=True)
class Question:
    """An assumption of a description, or a fact that the model does not have.

    Attributes:
        field: its place in op.yml, such as `params.axis`; empty: the operator as a whole.
        text: a sentence.
    """

    field: str
    text: str


def questions(found: Signature, nodes: Sequence[Node]) -> tuple[Question, ...]:
    """Return the questions about an operator, in the order of op.yml."""
    return tuple(
        Question(field, text)
        for field, texts in (
            ("", _of_operator(found, nodes)),
            *((f"inputs.{each.name}", _of_tensor(each, found, nodes)) for each in found.tensors),
            *((f"outputs.{each.name}", _of_dtypes(each)) for each in found.outputs),
            *(
                (f"params.{each.name}", _of_attribute(each, found, nodes))
                for each in found.attributes
            ),
            *(
                (f"params.{each.name}", _of_constant(each, found, nodes))
                for each in found.constants
            ),
        )
        for text in texts
    )


def _of_operator(found: Signature, nodes: Sequence[Node]) -> Iterator[str]:
    if not found.is_standard:
        yield (
            "The model has no definition of this operator: are the names, dtypes and order of "
            "inputs, outputs and params right?"
        )
    dynamic = [tensor for node in nodes for tensor in node.inputs if tensor and tensor.is_dynamic]
    if dynamic and found.opset:
        shapes = dict.fromkeys(shape_text(each.shape) for each in dynamic)
        yield (
            f"The model has dynamic shapes, {plain(dynamic[0].name)}: {_some([*shapes])}; which "
            "sizes does the application use? The converter needs fixed ones."
        )
    elif dynamic:
        yield "The model has no shapes of inner tensors; the cases have shapes of their own."
    for name, value in found.fixed.items():
        yield (
            f"All nodes have {plain(name)} = {plain(str(value))}; it is no param, because the "
            "runtime hands no texts to operators. Is the math for this value only?"
        )


def _some(texts: Sequence[str]) -> str:
    more = len(texts) - _MAX_EXAMPLES
    listed = ", ".join(plain(each) for each in texts[:_MAX_EXAMPLES])
    return f"{listed} and {more} more" if more > 0 else listed


def _of_tensor(each: Input, found: Signature, nodes: Sequence[Node]) -> Iterator[str]:
    if each.is_optional:
        count = _lacking(each, nodes)
        remedy = (
            "`rknn-op graft` fills in its neutral value."
            if has_value(found.op_type, each.formal)
            else "it has no neutral value that is known; choose the nodes of one kind with --node."
        )
        yield (
            f"{count} of {len(nodes)} nodes leave{'s' * (count == 1)} out {each.name}, which an "
            f"operator always has: {remedy}"
        )
    yield from _of_dtypes(each)


def _lacking(each: Input, nodes: Iterable[Node]) -> int:
    return sum(at(node.inputs, each.position) is None for node in nodes)


def _of_dtypes(each: Input | Output) -> Iterator[str]:
    if not each.dtypes:
        yield f"The model does not say the dtype of {each.name}: which one is it?"
    elif len(each.dtypes) > 1:
        yield f"{each.name} is {' or '.join(each.dtypes)} in the model, so it has no dtype here."


def _of_attribute(each: Attribute, found: Signature, nodes: Sequence[Node]) -> Iterator[str]:
    values = [node.attributes[each.name] for node in nodes if each.name in node.attributes]
    lacking = len(nodes) - len(values)
    if lacking and each.default is None:
        yield (
            f"{lacking} of {len(nodes)} nodes lack{'s' * (lacking == 1)} {plain(each.name)}, and "
            "no default is known: write one here, or choose nodes with --node."
        )
    elif not found.is_standard:
        examples = _examples(values, each.kind)
        yield f"The nodes have {plain(each.name)} = {examples}; which values are legal?"
    elif each.kind == "string" and values:
        examples = _examples(values, each.kind)
        yield f"The nodes have {plain(each.name)} = {examples}; which others are used?"
    if () in values:
        yield f"Some nodes have an empty list as {plain(each.name)}, which no runtime hands over."


def _examples(values: Sequence[Value], kind: str) -> str:
    return _some([str(converted(each, kind)) for each in dict.fromkeys(values) if each != ()])


def _of_constant(each: Input, found: Signature, nodes: Sequence[Node]) -> Iterator[str]:
    tensors: list[Tensor] = [
        tensor for node in nodes if (tensor := at(node.inputs, each.position)) is not None
    ]
    where = "the only node" if len(nodes) == 1 else f"all {len(tensors)} nodes that have it"
    yield f"{each.name} is constant in {where}, so it is a param; is it constant in every model?"
    if found.opset and any(tensor.value is None for tensor in tensors):
        yield f"The model computes {each.name} from constants: its value shows when the model runs."
    if each.is_optional:
        count = _lacking(each, nodes)
        yield (
            f"{count} of {len(nodes)} nodes leave{'s' * (count == 1)} it out: write its default "
            "here, or choose nodes with --node."
        )
