"""Node tests of onnx for the forms of an operator."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import defs, helper, numpy_helper
from onnx.backend.test.case import node as node_cases

from opkit.common.errors import OpkitError
from rknn_op.models.onnx_model import as_model
from rknn_op.models.rewriting import half
from rknn_op.models.rewriting.body import body_of
from rknn_op.models.rewriting.body_proof import BodyProof, named, prove
from rknn_op.models.rewriting.form import ConditionError, Form
from rknn_op.models.rewriting.simulation import Trial
from rknn_op.models.running.stages import original
from rknn_op.models.running.weights import OpenModel

Array = Any
FILE = Path("model.onnx")
MAX_OPSET = 19
"""RKNN-Toolkit2's."""
INDICES = frozenset(("indices", "index"))
"""Inputs of integers that a network may compute."""


@dataclass(frozen=True)
class Case:
    """A node with its inputs.

    Attributes:
        name: its name.
        model: the model of the node alone; all its inputs change.
        inputs: the arrays by name.
        constants: the inputs that are constant in a trial.
    """

    name: str
    model: Any
    inputs: dict[str, Array]
    constants: frozenset[str] = frozenset()

    @property
    def node(self) -> Any:
        """The node."""
        return self.model.graph.node[0]


def case(
    op_type: str,
    inputs: Sequence[Array | None],
    opset: int = 19,
    outputs: int = 1,
    name: str = "case",
    constants: Sequence[int] = (),
    **attributes: Any,
) -> Case:
    """Return a node of an operator with inputs by position; None: left out."""
    arrays = {f"x{index}": each for index, each in enumerate(inputs) if each is not None}
    names = [f"x{index}" if each is not None else "" for index, each in enumerate(inputs)]
    made = helper.make_node(op_type, names, [f"y{i}" for i in range(outputs)], "it", **attributes)
    infos = [
        helper.make_tensor_value_info(
            key, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
        )
        for key, array in arrays.items()
    ]
    graph = helper.make_graph(
        [made], "case", infos, [onnx.ValueInfoProto(name=each) for each in made.output]
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    return Case(name, model, arrays, frozenset(f"x{index}" for index in constants))


@cache
def _all_tests() -> list[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # overflows and quotients of zero
        return [*node_cases.collect_testcases()]


def node_tests(op_type: str) -> Iterator[Case]:
    """Yield the node tests of an operator."""
    for each in _all_tests():
        nodes = each.model.graph.node if each.model else []
        if len(nodes) != 1 or nodes[0].op_type != op_type or nodes[0].domain:
            continue
        assert each.model
        for inputs, _ in each.data_sets or []:
            names = [info.name for info in each.model.graph.input]
            if all(isinstance(each, (np.ndarray, np.generic)) for each in inputs):
                arrays = dict(zip(names, map(np.asarray, inputs), strict=True))
                model = _for_toolkit(each.model, arrays) or each.model
                model.graph.node[0].name = "it"
                yield Case(each.name, model, arrays)


def _for_toolkit(model: Any, inputs: dict[str, Array]) -> Any | None:
    """Return a model at the toolkit's last opset; None: it is another one there, or none."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    [opset] = made.opset_import
    if opset.version <= MAX_OPSET:
        return made
    opset.version, made.ir_version = MAX_OPSET, 10
    try:
        half.run(onnx.shape_inference.infer_shapes(made, strict_mode=True), inputs)
    except Exception:  # of any type: onnxruntime has one for each status
        return None
    return made


def trial(form: Form, tried: Case, changing: Sequence[str] | None = None) -> Trial:
    """Apply a form to a node.

    Args:
        form: the form.
        tried: the node.
        changing: the inputs that are not constant; None: those of floats, booleans and indices, and
            the first one, but for those that the case makes constant.

    Raises:
        ConditionError: the form does not hold for the node.
    """
    proto = onnx.ModelProto()
    proto.CopyFrom(tried.model)
    opset = next(each.version for each in proto.opset_import if not each.domain)
    formal = defs.get_schema(tried.node.op_type, opset, "").inputs
    constants = {}
    for position, name in enumerate(tried.node.input):
        array = tried.inputs.get(name)
        if array is None:
            continue
        role = formal[min(position, len(formal) - 1)].name
        is_usual = position == 0 or array.dtype.kind in "fb" or role in INDICES
        is_usual = is_usual and name not in tried.constants
        if not (is_usual if changing is None else name in changing):
            constants[name] = numpy_helper.from_array(array, name)
    for position in reversed(range(len(proto.graph.input))):
        if proto.graph.input[position].name in constants:
            del proto.graph.input[position]
    proto.graph.initializer.extend(constants.values())
    proto = onnx.shape_inference.infer_shapes(proto, data_prop=True)
    model = as_model(FILE, proto)
    written = min(opset, MAX_OPSET) if form.function else opset
    body = body_of(form, model.nodes[0], proto.graph.node[0], constants, written)
    inputs = [tried.inputs.get(name) for name in tried.node.input]
    body = replace(body, model=_for_toolkit(body.model, {**named(body, inputs)}) or body.model)
    return Trial(body, original(OpenModel(FILE, proto, Path()), tried.node), inputs)


def outcomes(
    form: Form, constants: Sequence[int] = ()
) -> Iterator[tuple[str, str, BodyProof | None]]:
    """Yield for each node test of an operator its name, why it has no proof, and the proof.

    Args:
        form: the form.
        constants: the positions of inputs to make constant.
    """
    for each in node_tests(form.op_type):
        names = frozenset(name for i, name in enumerate(each.node.input) if i in constants)
        try:
            made = trial(form, replace(each, constants=names))
            yield each.name, "", prove(made.body, made.original, made.inputs)
        except (ConditionError, OpkitError) as error:
            yield each.name, str(error), None


def problem(forms: Sequence[Form], tried: Case) -> str:
    """Return why the first form that holds is wrong for a node; empty: it is not.

    Raises:
        ConditionError: none holds.
    """
    reasons = []
    for form in forms:
        try:
            made = trial(form, tried)
        except ConditionError as error:
            reasons.append(str(error))
            continue
        return prove(made.body, made.original, made.inputs).problem
    raise ConditionError("; ".join(reasons))
