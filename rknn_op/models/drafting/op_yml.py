"""The description of an operator from a model: the text of op.yml, and its open questions."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import yaml

from opkit import runtimes
from opkit.common.errors import OpkitError
from opkit.description.reader import DescriptionError
from opkit.description.types import PREFIX, TENSOR
from rknn_op.models.drafting.node_signatures import Attribute, Input, Output, Signature, converted
from rknn_op.models.model_graph import (
    STANDARD,
    Model,
    Node,
    Tensor,
    Value,
    at,
    identifier,
    plain,
    shape_text,
)
from rknn_op.models.optional_inputs import has_value
from rknn_op.runtimes.models import Renaming, models_of

# ---- Questions: assumptions, and facts that the model does not have ------------------------------

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
            else "no neutral value is known; choose nodes of one kind with --node."
        )
        yield (
            f"{count} of {len(nodes)} nodes leave{'s' * (count == 1)} out {each.name}, which an "
            f"operator requires: {remedy}"
        )
    yield from _of_dtypes(each)


def _lacking(each: Input, nodes: Iterable[Node]) -> int:
    return sum(at(node.inputs, each.position) is None for node in nodes)


def _of_dtypes(each: Input | Output) -> Iterator[str]:
    if not each.dtypes:
        yield f"The dtype of {each.name} is not in the model: which one is it?"
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
        yield f"Some nodes have an empty list as {plain(each.name)}, which no runtime supports."


def _examples(values: Sequence[Value], kind: str) -> str:
    return _some([str(converted(each, kind)) for each in dict.fromkeys(values) if each != ()])


def _of_constant(each: Input, found: Signature, nodes: Sequence[Node]) -> Iterator[str]:
    tensors: list[Tensor] = [
        tensor for node in nodes if (tensor := at(node.inputs, each.position)) is not None
    ]
    where = "the only node" if len(nodes) == 1 else f"all {len(tensors)} nodes that have it"
    yield f"{each.name} is constant in {where}, so it is a param; is it constant in every model?"
    if found.opset and any(tensor.value is None for tensor in tensors):
        yield f"The model computes {each.name} from constants, so its value is not in the model."
    if each.is_optional:
        count = _lacking(each, nodes)
        yield (
            f"{count} of {len(nodes)} nodes leave{'s' * (count == 1)} it out: write its default "
            "here, or choose nodes with --node."
        )


# ---- The text of op.yml --------------------------------------------------------------------------

_WIDTH = 100


def description(
    found: Signature,
    model: Model,
    nodes: Sequence[Node],
    questions: Sequence[Question],
    chosen: Sequence[str],
    target: str,
) -> str:
    """Return the text of op.yml, with a comment for each question at its line.

    Args:
        found: the union of the nodes.
        model: the model.
        nodes: the nodes.
        questions: the questions about the operator.
        chosen: the names of the runtimes.
        target: the default target.

    Raises:
        OpkitError: the operator's name is impossible for a runtime whose models keep it.
    """

    def comments(field: str, indent: int = 2) -> Iterator[str]:
        """Yield the questions about a field as lines of comments."""
        for each in questions:
            if each.field == field:
                yield from comment(each.text, indent)

    name = operator_name(found, chosen)
    domain = "" if found.domain == STANDARD else f"{plain(found.domain)} "
    version = f" ({domain}opset {found.opset})" if found.opset else ""
    count = f"{len(nodes)} node{'s' * (len(nodes) != 1)}"
    title = f"{plain(found.op_type)}{version}, from {count} of {plain(model.file.name)}."
    params = {each.name: _attribute(each) for each in found.attributes}
    params |= {each.name: _constant(each) for each in found.constants}
    lines = [
        *comment(title),
        *comments("", 0),
        f"name: {name}",
        *_keys_of_runtimes(found, name, chosen),
        f"framework: {model.framework}",
        f"target_platform: {target.upper()}",
        f"runtimes: [{', '.join(chosen)}]",
        "inputs:",
        *(
            line
            for each in found.tensors
            for line in (*comments(f"inputs.{each.name}"), _tensor(each))
        ),
        "outputs:",
        *(
            line
            for each in found.outputs
            for line in (*comments(f"outputs.{each.name}"), _tensor(each))
        ),
        "params:" if params else "params: {}",
        *(line for param, text in params.items() for line in (*comments(f"params.{param}"), text)),
    ]
    return "\n".join(lines) + "\n"


def refuse_dtypes(found: Signature, chosen: Sequence[str]) -> None:
    """Refuse dtypes that a runtime does not support.

    Raises:
        OpkitError: a tensor has such a dtype.
    """
    tensors: list[Input | Output] = [*found.tensors, *found.outputs]
    for describe in (runtimes.available()[name].describe for name in chosen):
        for each in tensors:
            unsupported = [dtype for dtype in each.dtypes if dtype not in describe.tensor_types]
            if unsupported:
                raise OpkitError(
                    f"{plain(found.op_type)}: tensor '{each.name}' is {unsupported[0]}: "
                    f"{describe.title} has no such tensors (expected "
                    f"{', '.join(describe.tensor_types)}); cast it in the model"
                )


def operator_name(found: Signature, chosen: Sequence[str]) -> str:
    """Return the operator's name in op.yml: the name in the model, if the runtimes allow it.

    Raises:
        OpkitError: a runtime that keeps names in models cannot have it.
    """
    wanted = found.op_type
    renaming = _renaming(chosen)
    if renaming and found.domain == renaming.domain:
        wanted = wanted.removeprefix(renaming.prefix)
    base = identifier(wanted)
    problem = ""
    head = f"runtimes: [{', '.join(chosen)}]\ninputs: {{a: {{type: {TENSOR}}}}}\n"
    for name in dict.fromkeys((wanted, base, f"{base}Op", f"Op{base}")):
        text = f"name: {json.dumps(name)}\n{head}outputs: {{b: {{type: {TENSOR}}}}}\n"
        try:
            runtimes.parse(text, "op.yml")
        except DescriptionError as error:
            problem = problem or error.complaint.message
            continue
        if name == found.op_type or renaming:
            return name
    raise OpkitError(
        f"operator '{plain(found.op_type)}': models for {' and '.join(chosen)} keep this name, "
        f"which is impossible: {problem or 'it is not an identifier'}; rename the nodes"
    )


def _renaming(chosen: Sequence[str]) -> Renaming | None:
    """Return the renaming of custom nodes, if there is a single runtime that has one."""
    found = [models_of(name).renaming for name in chosen]
    return found[0] if len(found) == 1 else None


def _keys_of_runtimes(found: Signature, name: str, chosen: Sequence[str]) -> Iterator[str]:
    """Yield the keys with the operator's name in models, where it is not the default."""
    op_type = found.op_type
    renaming = _renaming(chosen)
    if renaming and name not in (op_type, op_type.removeprefix(renaming.prefix)):
        yield f"# {plain(op_type)} in the model, a name that the generated code cannot have."
        if identifier(op_type) not in ("", name):
            yield f"{renaming.key}: {renaming.prefix}{identifier(op_type)}"
    for runtime in chosen:
        keys = models_of(runtime).keys(found.domain, found.opset)
        for key, value in keys.items():
            yield f"{key}: {json.dumps(value)}"


def comment(text: str, indent: int = 0) -> list[str]:
    """Return a sentence as lines of a comment."""
    start = f"{' ' * indent}# "
    return textwrap.wrap(
        text, _WIDTH, initial_indent=start, subsequent_indent=start, break_on_hyphens=False
    )


def _tensor(each: Input | Output) -> str:
    keys = {"type": TENSOR}
    if len(each.dtypes) == 1:
        keys["dtype"] = each.dtypes[0]
    return _line(each.name, keys, each.doc)


def _attribute(each: Attribute) -> str:
    keys = {"type": _TYPES.get(each.kind, each.kind)}
    if each.default is not None and each.default != ():
        keys["default"] = _default(converted(each.default, each.kind))
    return _line(each.name, keys, each.doc)


def _default(value: object) -> str:
    """Return a value in YAML; a text in quotes."""
    if isinstance(value, list):
        return f"[{', '.join(map(_default, value))}]"
    if isinstance(value, float):
        text: str = yaml.safe_dump(value).split()[0]  # JSON's 1e-05 is a text in YAML
        return text
    return json.dumps(value, ensure_ascii=False)


_TYPES = {"bool": f"{PREFIX}BOOL"}
"""A kind that is not a word of op.yml -> the type."""


def _constant(each: Input) -> str:
    type_ = _TYPES.get(each.kind, each.kind)
    return _line(each.name, {"type": type_, "source": f"const:{each.name}"}, each.doc)


def _line(name: str, keys: Mapping[str, str], doc: str) -> str:
    items = [f"{key}: {value}" for key, value in keys.items()]
    if doc:
        items.append(f"doc: {json.dumps(doc, ensure_ascii=False)}")
    line = f"  {_key(name)}: {{{', '.join(items)}}}"
    return line if len(line) <= _WIDTH else "\n    ".join([f"  {_key(name)}:", *items])


def _key(name: str) -> str:
    """Return a name as a key; quoted unless it is an identifier that YAML reads as a text."""
    is_plain = re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII)
    is_word = name.lower() in ("true", "false", "yes", "no", "on", "off", "null")
    return name if is_plain and not is_word else json.dumps(name, ensure_ascii=False)
