"""Find the operator of the library that computes a model's nodes.

`name:` of an operator is its name in models of its framework; for ONNX that is an operator of
ONNX's own domain, or of the domain that the library names, and its inputs, outputs and params have
the names of that domain's schema, inputs and outputs in lower case.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from opkit.description.spec import OpSpec, Param, Tensor
from rknn_op.creation.operator_library import LibraryOperator, in_library
from rknn_op.models.drafting.node_signatures import Input, Output, Signature
from rknn_op.models.model_files import input_names, schema_of
from rknn_op.models.model_graph import STANDARD, Node, plain
from rknn_op.models.optional_inputs import has_value


def find(
    library: Path, found: Signature, nodes: Sequence[Node]
) -> tuple[LibraryOperator | None, str]:
    """Return the operator of a library for nodes; or None and the reason.

    Args:
        library: the folder of the library.
        found: the union of the nodes.
        nodes: the nodes.
    """
    operator = in_library(library, found.op_type)
    if operator is None or operator.spec.name != found.op_type:
        return None, ""
    if found.domain not in (STANDARD, operator.domain):
        if operator.onnx:
            return None, ""
        return None, (
            f"{found.domain} may mean another operator; if the nodes are the library's, delete "
            f"this repository and run: rknn-op create --library {found.op_type}"
        )
    operator = operator.with_inputs(min(len(found.inputs), operator.max_inputs))
    dtypes: dict[str, str] = {}
    tensors: list[Input | Output] = [*found.inputs, *found.outputs]
    for each in tensors:
        is_optional = isinstance(each, Input) and each.is_optional
        declared = {*operator.dtypes.get(each.name, ())}
        for dtype in sorted(declared.intersection(each.dtypes)):
            if is_optional or len(each.dtypes) > 1:
                problem = f"'{each.name}' is {dtype} in some nodes only; choose with --node"
                return None, f"its tensor {problem}"
            dtypes[each.name] = dtype
    operator = operator.with_dtypes(dtypes)
    problem = next(_problems(operator.spec, completed(found, operator.spec), nodes), "")
    return (None, problem) if problem else (operator, "")


def completed(found: Signature, spec: OpSpec) -> Signature:
    """Return the union of nodes with an operator's inputs that all of them leave out.

    Only inputs with a neutral value: cases have that, and `rknn-op graft` adds it to the model.

    Args:
        found: the union.
        spec: the operator.
    """
    if not found.is_standard:
        return found
    schema = schema_of(found.op_type, found.domain, found.opset)
    present = {each.formal for each in found.inputs}
    tensors = {each.name for each in spec.inputs} - {each.name for each in found.inputs}
    added = (
        Input(name.lower(), position, (), is_optional=True, formal=name)
        for position, name in enumerate(input_names(schema))
        if name not in present and name.lower() in tensors and has_value(found.op_type, name)
    )
    inputs = sorted((*found.inputs, *added), key=lambda each: each.position)
    return replace(found, inputs=tuple(inputs))


def _problems(spec: OpSpec, found: Signature, nodes: Sequence[Node]) -> Iterator[str]:
    """Yield the reasons why an operator does not match nodes."""
    yield from _named(spec, found) if found.is_standard else _ordered(spec, found)
    params = {param.name: param for param in spec.params}
    for attribute in found.attributes:
        values = {node.attributes.get(attribute.name, attribute.default) for node in nodes}
        if attribute.name not in params and values != {attribute.default}:
            yield f"it has no param '{plain(attribute.name)}'"
        elif None in values and params[attribute.name].default is None:
            yield f"some nodes lack its param '{plain(attribute.name)}'"
    known = {each.name for each in found.attributes} | {each.name for each in found.constants}
    for param in spec.params:
        if param.default is None and param.name not in known and not param.source:
            yield f"its param '{param.name}' is not in the model"


def _named(spec: OpSpec, found: Signature) -> Iterator[str]:
    """Yield the differences of inputs and outputs, matched by the schema's names."""
    tensors = {each.name: each for each in spec.inputs}
    constants = {each.name for each in spec.params if each.source}
    slots = {each.name: each for each in found.inputs}
    for each in found.inputs:
        if each.name in tensors:
            yield from _dtype_problem(tensors[each.name], each)
        elif each.name not in constants:
            yield f"it has no {'param' if each.kind else 'input'} '{each.name}'"
        elif not each.kind:
            yield f"its param '{each.name}' is not constant in the model"
    for name in tensors.keys() - slots.keys():
        yield f"its input '{name}' is left out in the model"
    for param in spec.params:
        if param.source and param.default is None and param.name not in slots:
            yield f"its param '{param.name}' is left out in the model"
    outputs = {each.name: each for each in spec.outputs}
    for output in found.outputs:
        if output.name not in outputs:
            yield f"it has no output '{output.name}'"
        else:
            yield from _dtype_problem(outputs[output.name], output)


def _ordered(spec: OpSpec, found: Signature) -> Iterator[str]:
    """Yield the differences of inputs and outputs, matched by order."""
    slots: list[Tensor | Param] = [*spec.inputs, *(each for each in spec.params if each.source)]
    if len(slots) != len(found.inputs) or len(spec.outputs) != len(found.outputs):
        yield "it has another count of inputs or outputs"
        return
    for slot, each in zip(slots, found.inputs, strict=True):
        if isinstance(slot, Tensor):
            yield from _dtype_problem(slot, each)
        elif not each.kind:
            yield f"its param '{slot.name}' is not constant in the model"
    for slot, output in zip(spec.outputs, found.outputs, strict=True):
        yield from _dtype_problem(slot, output)


def _dtype_problem(tensor: Tensor, each: Input | Output) -> Iterator[str]:
    """Yield a difference of dtypes; floats may differ in size."""
    for dtype in each.dtypes if tensor.dtype else ():
        kinds = np.dtype(tensor.dtype).kind, np.dtype(dtype).kind
        if dtype != tensor.dtype and kinds != ("f", "f"):
            yield f"its tensor '{tensor.name}' is {tensor.dtype}, in the model {dtype}"
