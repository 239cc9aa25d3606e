"""The proof of a grafted model: its outputs are those of the original model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from opkit.errors import OpkitError
from opkit.text import printable, shortened
from rknn_op.models.grafting.custom_nodes import GraftedNode
from rknn_op.models.grafting.differences import Difference, difference
from rknn_op.models.grafting.grafted_model import Graft
from rknn_op.models.model_files import required
from rknn_op.models.model_graph import Model
from rknn_op.models.running.stages import Call, original, staged, tensor_types
from rknn_op.models.running.weights import OpenModel, first_line

Array = Any


@dataclass(frozen=True)
class Proof:
    """The comparison of a grafted model with the original.

    Attributes:
        outputs: the outputs that a converted model is compared with: those of the original, or
            else of the grafted model.
        differences: the difference of each output; empty: not compared.
        cause: why outputs differ; empty if they do not.
        not_compared: why there is nothing to compare with; empty if there is.
        shapes: tensor of a grafted node -> its shape and dtype in this run.
    """

    outputs: Mapping[str, Array]
    differences: tuple[Difference, ...] = ()
    cause: str = ""
    not_compared: str = ""
    shapes: Mapping[str, tuple[tuple[int, ...], np.dtype[Any]]] | None = None


def prove(
    opened: OpenModel, graft: Graft, inputs: Mapping[str, Array], max_error: float | None
) -> Proof:
    """Run a grafted model with the repositories' references, and compare it with the original.

    Args:
        opened: the original model.
        graft: the grafted model.
        inputs: the input arrays by name.
        max_error: the tolerated absolute difference; None: by the dtype, see differences.

    Raises:
        OpkitError: a reference fails, or onnxruntime cannot run the rest of the model.
    """
    types = _types(opened)
    shapes: dict[str, tuple[tuple[int, ...], np.dtype[Any]]] = {}
    names = [each.name for each in graft.model.proto.graph.output]
    by_message = {id(each.message): each for each in graft.nodes}

    def choose(message: Any, _: str) -> Call | None:
        node = by_message.get(id(message))
        return _observed(node, shapes) if node else None

    actual = staged(graft.model, choose, types).run(inputs)
    if foreign := _foreign(graft):
        reason = f"onnxruntime has no {foreign}, so that it cannot run the original model"
        return Proof({name: actual[name] for name in names}, not_compared=reason, shapes=shapes)
    expected = staged(opened, lambda *_: None, types).run(inputs)
    differences = tuple(difference(name, actual[name], expected[name], max_error) for name in names)
    wrong = [each for each in differences if not each.is_equal]
    cause = _cause(opened, graft, inputs, types, max_error) if wrong else ""
    return Proof(expected, differences, cause, shapes=shapes)


def _types(opened: OpenModel) -> dict[str, Any]:
    try:
        return tensor_types(opened.proto)
    except (ValueError, RuntimeError) as error:
        raise OpkitError(f"{opened.file}: is not a valid ONNX model: {first_line(error)}") from None


def _observed(node: GraftedNode, shapes: dict[str, tuple[tuple[int, ...], np.dtype[Any]]]) -> Call:
    """Return the function of a node that notes the shapes and dtypes of its outputs."""
    function = node.call

    def call(inputs: Sequence[Array | None]) -> Sequence[Array]:
        results = function(inputs)
        for name, array in zip(node.message.output, results, strict=True):
            if array is not None:
                shapes[name] = array.shape, array.dtype
        return results

    return call


def _foreign(graft: Graft) -> str:
    """Return the type of a grafted node that onnxruntime lacks; empty if it has all."""
    defs = required("onnx").defs
    known = {each.domain for each in defs.get_all_schemas()} | {"com.microsoft"}
    for each in graft.nodes:
        node = each.node
        if node.domain not in known or not (node.domain or defs.has(node.op_type)):
            return printable(shortened(f"{node.domain}.{node.op_type}".lstrip(".")))
    return ""


def _cause(
    opened: OpenModel,
    graft: Graft,
    inputs: Mapping[str, Array],
    types: Mapping[str, Any],
    max_error: float | None,
) -> str:
    """Return the cause of differences: the first wrong node, on the inputs of the original."""
    found: list[str] = []
    by_message = {id(each.original): each for each in graft.nodes}

    def choose(message: Any, _: str) -> Call | None:
        node = by_message.get(id(message))
        return _compared(opened, node, found, max_error) if node else None

    staged(opened, choose, types).run(inputs)
    return next(
        iter(found),
        "each node's reference agrees with the original on the original's inputs; small "
        "differences grow on the way to the outputs: pass --max-error to tolerate them",
    )


def _compared(
    opened: OpenModel, node: GraftedNode, found: list[str], max_error: float | None
) -> Call:
    """Return the function of an original node that compares the reference with it."""
    of_original, of_reference = original(opened, node.original), node.call_of_original()

    def call(inputs: Sequence[Array | None]) -> Sequence[Array]:
        results = of_original(inputs)
        if not found:
            for name, expected, actual in zip(
                node.original.output, results, of_reference(inputs), strict=True
            ):
                compared = difference(name, actual, expected, max_error) if name else None
                if compared and not compared.is_equal:
                    found.append(_wrong(node, compared))
                    break
        return results

    return call


def _wrong(node: GraftedNode, compared: Difference) -> str:
    position = [*node.grafted.output].index(compared.name)
    output = node.custom.spec.outputs[position].name
    return (
        f"node {printable(shortened(node.node.name))!r} is the first that differs: output "
        f"'{output}' of {node.custom.operator.root}: {compared}"
    )


def write_shapes(opened: OpenModel, graft: Graft, model: Model, proof: Proof) -> None:
    """Write shapes into the grafted model: of grafted nodes' outputs, and missing ones of outputs.

    Converters infer no shapes of custom operators.

    Args:
        opened: the original model.
        graft: the grafted model.
        model: the original model as values.
        proof: the run of both.
    """
    is_fixed = not any(each.is_dynamic for each in model.inputs)
    graph = graft.model.proto.graph
    infos = {each.name: each for each in (*graph.value_info, *graph.output)}
    make = required("onnx.helper").make_tensor_value_info
    element = required("onnx.helper").np_dtype_to_tensor_dtype
    for node in graft.nodes:
        known = {each.name: each for each in node.node.outputs if each is not None}
        for name in filter(None, node.message.output):
            inferred, observed = known.get(name), (proof.shapes or {}).get(name)
            if inferred and inferred.dtype and not inferred.is_dynamic:
                info = make(name, element(np.dtype(inferred.dtype)), inferred.shape)
            elif is_fixed and observed:
                info = make(name, element(observed[1]), observed[0])
            else:
                continue
            if name in infos:
                infos[name].type.CopyFrom(info.type)
            else:
                graph.value_info.append(info)
    _write_missing(graph.output, _types(opened), proof.outputs)


def _write_missing(
    outputs: Sequence[Any], types: Mapping[str, Any], arrays: Mapping[str, Array]
) -> None:
    """Write the shapes of a model's outputs without any; unknown sizes stay unknown."""
    for output in outputs:
        type_ = output.type.tensor_type
        if output.type.WhichOneof("value") != "tensor_type" or type_.HasField("shape"):
            continue
        inferred = types[output.name].tensor_type
        if inferred.HasField("shape"):
            type_.shape.CopyFrom(inferred.shape)
        else:
            type_.shape.SetInParent()
            for _ in arrays[output.name].shape:
                type_.shape.dim.add()
