"""Calls of the library's operators: by their references and CPU kernels, and by other programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, defs, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from opkit.check.cases import Case
from opkit.check.mistakes import CheckError
from opkit.check.operators import Operator, unsupported_tensors
from opkit.description.spec import OpSpec
from opkit.description.types import ParamType
from opkit.runtimes.invocation import AT_FULL_SPEED, Array, Invocation, Kernel, RunOptions
from rknn_op.creation.operator_library import LibraryOperator
from rknn_op.models import optional_inputs
from rknn_op.models.model_files import required
from tests.models.models import model, value

Outputs = Mapping[str, Array]
"""Output -> its array."""


@dataclass(frozen=True)
class Call:
    """A call of a node of ONNX.

    Attributes:
        inputs: input of ONNX's schema -> array; without the omitted ones.
        attributes: its attributes.
    """

    inputs: Mapping[str, Array]
    attributes: Mapping[str, Any]

    def case(self, name: str, spec: OpSpec) -> Case:
        """Return the call as a case of an operator: some inputs are params, none is omitted.

        Args:
            name: the name of the case.
            spec: the operator.
        """
        inputs = {name.lower(): array for name, array in self._all_inputs(spec).items()}
        constants = {param.name: param.type for param in spec.params if param.source}
        params = {
            name: _constant(constants[name], array)
            for name, array in inputs.items()
            if name in constants and array.size > 0  # an empty one is like none
        }
        tensors = {
            name: array.reshape(array.shape or (1,))  # a scalar of ONNX has one element
            for name, array in inputs.items()
            if name not in constants
        }
        attributes = {key: _plain(each) for key, each in self.attributes.items()}
        return Case(name, tensors, attributes | params)

    def dtypes(
        self, operator: LibraryOperator, outputs: Sequence[Array]
    ) -> tuple[tuple[str, str], ...]:
        """Return tensors of the call, and their dtypes, that op.yml of an operator must declare.

        Args:
            operator: the operator.
            outputs: the outputs of the call.
        """
        names = [tensor.name for tensor in operator.spec.outputs]
        arrays = {name.lower(): array for name, array in self.inputs.items()}
        arrays |= zip(names, outputs, strict=False)
        found = {name: array.dtype.name for name, array in arrays.items()}
        declared = operator.dtypes.items()
        return tuple((name, found[name]) for name, each in declared if found.get(name) in each)

    def _all_inputs(self, spec: OpSpec) -> dict[str, Array]:
        """Return all inputs of an operator; omitted ones have the values of `rknn-op graft`."""
        given: dict[str, Any] = {**self.inputs}  # arrays have shape and dtype, as tensors
        wanted = {tensor.name for tensor in spec.inputs}
        for slot in defs.get_schema(spec.name).inputs:
            if slot.name.lower() in wanted and slot.name not in given:
                value = optional_inputs.value(spec.name, slot.name, given, self.attributes)
                given |= {} if value is None else {slot.name: value}
        return given


def _plain(value: Any) -> Any:
    """Return an attribute as the value of a param, as `rknn-op graft` does."""
    items = value if isinstance(value, list) else [value]
    texts = [each.decode() if isinstance(each, bytes) else each for each in items]
    return ",".join(texts) if texts and isinstance(texts[0], str) else value


def _constant(type_: ParamType, array: Array) -> Any:
    """Return a constant input as the value of a param."""
    numbers = array.ravel().tolist()
    if type_.element.kind != "float":
        numbers = [int(number) for number in numbers]
    return numbers if type_.is_list else numbers[0]


@dataclass(frozen=True)
class Built:
    """An operator of the library with its kernels.

    Attributes:
        operator: its repository, built.
        kernels: runtime -> its CPU kernel on this PC; each keeps a process.
    """

    operator: Operator
    kernels: Mapping[str, Kernel]

    def results(self, case: Case, options: RunOptions = AT_FULL_SPEED) -> dict[str, Outputs]:
        """Return the outputs of the reference and of the kernels, by name.

        A runtime without tensors of the case's dtypes is left out.

        Args:
            case: the call.
            options: how the kernels run.
        """
        prepared = self.operator.prepare(case)
        found: dict[str, Outputs] = {"reference": prepared.expected}
        for name in self._takers(case, prepared.output_dtypes):
            result = self.kernels[name].run(prepared.invocation, options)
            found_ = result.status, result.fault, result.printed, result.events
            assert found_ == (0, "", "", []), name
            found[name] = result.outputs
        return found

    def _takers(self, case: Case, dtypes: Mapping[str, np.dtype[Any]]) -> list[str]:
        """Return the runtimes with tensors of a case's dtypes and numbers, and outputs' dtypes."""
        return [
            runtime.name
            for runtime in self.operator.runtimes
            if not any(unsupported_tensors(runtime.check.convention, case, dtypes))
            and _are_exact(case, runtime.check.convention.tensor_types)
        ]

    def assert_refused(self, case: Case, shapes: Mapping[str, Any], problem: str) -> None:
        """Assert that the reference and every kernel refuse a call with a message.

        Args:
            case: the call.
            shapes: output -> shape and dtype, for the kernels.
            problem: a part of the message, the same in Python and in C.
        """
        operator = self.operator
        params = {param.name: param.default for param in operator.spec.params} | {**case.params}
        inputs = {name: array.shape for name, array in case.inputs.items()}
        with pytest.raises(ValueError, match=problem):
            _call_reference(operator, inputs, case, params)
        call = Invocation(case.inputs, params, shapes)
        takers = self._takers(case, {name: np.dtype(each[1]) for name, each in shapes.items()})
        assert takers
        for name in takers:
            result = self.kernels[name].run(call)
            assert (result.status != 0, result.fault) == (True, ""), name
            assert problem in "\n".join([result.printed, *result.log]), name

    def assert_invalid(self, case: Case, problem: str) -> None:
        """Assert that tensors of no runtime can hold a case, or not those of the description."""
        with pytest.raises(CheckError, match=problem):
            self.operator.prepare(case)


def _are_exact(case: Case, handed_over: Mapping[str, str]) -> bool:
    """Return whether a runtime that hands over integers as floats changes no number of a case."""
    integers = [
        array
        for array in case.inputs.values()
        if array.dtype.kind in "iu" and handed_over[array.dtype.name] == "float32"
    ]
    return all(np.abs(array.astype(np.float64)).max(initial=0) <= 2**24 for array in integers)


def _call_reference(
    operator: Operator, shapes: Mapping[str, Any], case: Case, params: Mapping[str, Any]
) -> None:
    """Call the shape rule and the math, which both may refuse a case."""
    operator.reference.module.output_shapes(shapes, params)
    operator.reference.module.reference(dict(case.inputs), params)


NOT_COMPUTED = {
    "Attention": {"qk_matmul_output"},
    "RNN": {"activation_alpha", "activation_beta"},
}
"""Operator -> outputs and attributes of ONNX's schema that the library does not compute."""


def built(operator: Operator) -> Built:
    """Return an operator with its kernels."""
    kernels = operator.cpu_kernels().values()
    names = (runtime.name for runtime in operator.runtimes)
    return Built(operator, dict(zip(names, kernels, strict=True)))


def input_names(op_type: str, count: int, opset: int | None = None) -> list[str]:
    """Return the names of an operator's inputs; a repeated one has an index at its end.

    Args:
        op_type: the operator.
        count: the count of a node's inputs.
        opset: the opset; None: the newest one.
    """
    schema = defs.get_schema(op_type) if opset is None else defs.get_schema(op_type, opset)
    names = [slot.name for slot in schema.inputs]
    if schema.max_input > len(names):
        stem = names.pop().removesuffix("_0").removesuffix("s")  # as in drafts of descriptions
        names += [f"{stem}_{index}" for index in range(count - len(names))]
    return names


def arrays_of(values: Sequence[Any]) -> list[Array]:
    """Return arrays; onnx keeps those of dtypes that numpy lacks as messages of its own."""
    return [
        numpy_helper.to_array(each) if isinstance(each, TensorProto) else each for each in values
    ]


def call_of(node: Any, inputs: Sequence[Array]) -> Call:
    """Return the call of a node; runtimes have no float64, so that its arrays are float32."""
    slots = input_names(node.op_type, len(node.input))
    names = [name for name, given in zip(slots, node.input, strict=False) if given]
    arrays = [each.astype(np.float32) if each.dtype == np.float64 else each for each in inputs]
    attributes = {each.name: helper.get_attribute_value(each) for each in node.attribute}
    return Call(dict(zip(names, arrays, strict=True)), attributes)


def node_model(op_type: str, call: Call, opset: int) -> Any:
    """Return a model of one node for a call."""
    types = [
        value(name, array.shape, helper.np_dtype_to_tensor_dtype(array.dtype))
        for name, array in call.inputs.items()
    ]
    given = {each.name: each.type.tensor_type.elem_type for each in types}
    schema = defs.get_schema(op_type, opset)
    slots = input_names(op_type, len(given), opset)
    count = 1 + max(slots.index(name) for name in given)
    inputs = [name if name in given else "" for name in slots[:count]]
    computed = [each for each in schema.outputs if each.name not in NOT_COMPUTED.get(op_type, ())]
    node = helper.make_node(op_type, inputs, [each.name for each in computed])
    node.attribute.extend(
        helper.make_attribute(name, each) for name, each in call.attributes.items()
    )
    outputs = [
        value(each.name, None, _element_type(schema, each, given, call.attributes))
        for each in computed
    ]
    return model([node], types, outputs, opset=opset)


_OWN_DTYPES = {
    "tensor(int64)": np.int64,
    "tensor(bool)": np.bool_,
    "tensor(float)": np.float32,
    "tensor(int32)": np.int32,
    "tensor(uint8)": np.uint8,
}
"""Type of ONNX -> the dtype of outputs without an input of their type, the first one that fits."""


def _element_type(
    schema: Any, output: Any, given: Mapping[str, int], attributes: Mapping[str, Any]
) -> int:
    """Return the element type of an output: that of an input with its type's letter, or its own."""
    letters = [each.type_str for each in schema.inputs]
    names = input_names(schema.name, len(given), schema.since_version)
    letters += letters[-1:] * (len(names) - len(letters))  # of a repeated input
    if "to" in schema.attributes:
        return int(attributes["to"])
    same = [
        given[name]
        for name, letter in zip(names, letters, strict=True)
        if name in given and letter == output.type_str
    ]
    own = next(dtype for name, dtype in _OWN_DTYPES.items() if name in output.types)
    return same[0] if same else int(helper.np_dtype_to_tensor_dtype(np.dtype(own)))


def run_by_onnxruntime(op_type: str, call: Call, opset: int) -> list[Array]:
    """Return the outputs of onnxruntime, on one thread."""
    return run_model(node_model(op_type, call, opset), call.inputs)


def run_model(proto: Any, inputs: Mapping[str, Array]) -> list[Array]:
    """Return the outputs of a model by onnxruntime, on one thread."""
    onnxruntime = required("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    found: list[Array] = session.run(None, {**inputs})
    return found


def run_by_onnx(op_type: str, call: Call, opset: int) -> list[Array]:
    """Return the outputs of onnx's reference evaluator."""
    evaluator: Any = ReferenceEvaluator(node_model(op_type, call, opset))
    found: list[Array] = evaluator.run(None, {**call.inputs})
    return found


def _expected(op_type: str, outputs: Outputs, expected: Sequence[Array]) -> list[Array]:
    """Return the expected arrays for an operator's outputs, which may differ from ONNX's.

    A scalar of ONNX is a tensor of one element. NonMaxSuppression has a fixed number of rows, and
    the number of the rows of ONNX's output as a second one.
    """
    if op_type != "NonMaxSuppression":
        return [array.reshape(array.shape or (1,)) for array in expected]
    [rows] = expected
    padding = len(outputs["selected_indices"]) - len(rows)
    padded = np.pad(rows, [(0, padding), (0, 0)], constant_values=-1)
    return [padded, np.array([len(rows)])]


def assert_all_close(
    op_type: str,
    found: Mapping[str, Outputs],
    expected: Sequence[Array],
    rtol: float = 0.0,
    atol: float = 0.0,
    message: str = "",
) -> None:
    """Compare the outputs of every program with those of ONNX's operator."""
    for name, outputs in found.items():
        arrays = _expected(op_type, outputs, expected)
        for array, right in zip(outputs.values(), arrays, strict=True):
            assert array.shape == right.shape, f"{name} {message}"
            np.testing.assert_allclose(array, right, rtol, atol, err_msg=f"{name} {message}")
