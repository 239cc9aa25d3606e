"""Models of an operator between two convolutions, for each version of the operator.

A converter treats a node in a network differently from a node alone, so that models of one node
tell little. The nodes are those of ONNX's own tests.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx import TensorProto, defs, helper, numpy_helper
from onnx.backend.test.loader import load_model_tests

OPSETS = range(12, 20)
IR_VERSION = 8
MAX_CASES = 6
"""Maximum cases of an operator and a version."""
OPERATOR = "operator"
"""The name of the operator's node."""
CONTEXT = ("context_", "in_", "out_")
"""The prefixes of the names of all other nodes, and of the model's inputs and outputs."""

_WEIGHTS = frozenset(
    "B K P R W bias Bias condition depth input_mean input_var max mean min roi scale Scale scales"
    " slope values var window a_scale b_scale w_scale x_scale y_scale".split()
)
"""Names of inputs, in ONNX's schemas, that are constant in models, if they are not the first."""
_INDICES = "indices"
"""The name of inputs of integers that models compute."""
QUANTIZATION = ("QuantizeLinear", "DequantizeLinear")
"""Operators that quantized models have in pairs."""
_MODES = {b"linear": b"bilinear", b"cubic": b"bicubic"}
"""Modes of GridSample in opset 20 -> before."""


@dataclass(frozen=True)
class Case:
    """A node with values of its inputs and outputs.

    Attributes:
        name: a name of its own.
        node: the node.
        opset: the version of ONNX that it is for.
        inputs: name -> value.
        outputs: name -> value; empty: unknown.
    """

    name: str
    node: Any
    opset: int
    inputs: dict[str, NDArray[Any]]
    outputs: dict[str, NDArray[Any]] = field(default_factory=dict)


def models(operators: Iterable[str] = ()) -> Iterator[tuple[str, Any]]:
    """Yield names `OPERATOR.OPSET.CASE` and models.

    In models of the last opset, `....inputN` and `....constantN`, input N is not as usual: not
    constant, or constant.

    Args:
        operators: the names of the operators; empty: all of ONNX's.
    """
    found: dict[str, list[Case]] = {}
    for case in _own():
        found.setdefault(case.node.op_type, []).append(case)
    own = {*found, *QUANTIZATION}
    for case in _tests():
        if case.node.op_type not in own and versions(case.node.op_type):
            found.setdefault(case.node.op_type, []).append(case)
    for op_type in sorted(set(operators) or {*found, *QUANTIZATION}):
        opsets = versions(op_type)
        for opset in opsets if op_type in QUANTIZATION else ():
            yield f"{op_type}.{opset}.pairs", _quantized(opset)
        for opset in opsets:
            adapted = filter(None, (_at_opset(case, opset) for case in found.get(op_type, ())))
            for case in _different(adapted):
                changing = _changing(case)
                variants = {"": changing}
                for position, name in enumerate(case.node.input if opset == opsets[-1] else ()):
                    if name in changing:
                        others = [each for each in changing if each != name]
                        variants[f".constant{position}"] = others
                    elif name:
                        variants[f".input{position}"] = [*changing, name]
                for suffix, names in variants.items():
                    if (made := in_context(case, names)) is not None:
                        yield f"{op_type}.{opset}.{case.name}{suffix}", made


def versions(op_type: str) -> list[int]:
    """Return the first and the last opset with an operator, and those at which it changes."""
    since = {
        opset: defs.get_schema(op_type, opset, "").since_version
        for opset in OPSETS
        if defs.has(op_type, opset, "") and not defs.get_schema(op_type, opset, "").deprecated
    }
    changes = {opset for opset, version in since.items() if since.get(opset - 1) != version}
    return sorted(changes | {max(since)}) if since else []


def _quantized(opset: int) -> Any:
    """Return a convolution between two others, with QuantizeLinear and its inverse behind each."""
    weights = ", ".join(str(value) for value in range(-8, 8))
    model = onnx.parser.parse_model(f"""
        <ir_version: {IR_VERSION}, opset_import: ["" : {opset}]>
        pairs (float[1, 4, 8, 8] in_x) => (float[1, 4, 8, 8] out_y)
        <float s = {{0.05}}, int8 z = {{0}}, int8[4, 4, 1, 1] w = {{{weights}}}> {{
            v = DequantizeLinear(w, s, z)
            a = Conv(in_x, v)
            b = QuantizeLinear(a, s, z)
            c = DequantizeLinear(b, s, z)
            d = Conv(c, v)
            e = Relu(d)
            f = QuantizeLinear(e, s, z)
            g = DequantizeLinear(f, s, z)
            out_y = Conv(g, v)
        }}""")
    for index, node in enumerate(model.graph.node):
        node.name = f"{OPERATOR}_{index}" if node.op_type in QUANTIZATION else f"context_{index}"
    onnx.checker.check_model(model, full_check=True)
    return model


# ---- Cases ---------------------------------------------------------------------------------------


def _tests() -> Iterator[Case]:
    """Yield the cases of ONNX's tests whose tensors are numbers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its tests divide by 0
        tests = load_model_tests(kind="node")
    for test in tests:
        assert test.model
        graph = test.model.graph
        if len(graph.node) != 1 or graph.node[0].domain:
            continue
        assert test.data_sets
        tensors = ((*graph.input, *graph.output), (*test.data_sets[0][0], *test.data_sets[0][1]))
        values = {each.name: _numbers(value) for each, value in zip(*tensors, strict=True)}
        known = {name: value for name, value in values.items() if value is not None}
        inputs = {each.name: known.pop(each.name) for each in graph.input if each.name in known}
        if len(inputs) == len(graph.input):
            opset = test.model.opset_import[0].version
            yield Case(test.name.removeprefix("test_"), graph.node[0], opset, inputs, known)


def _numbers(value: Any) -> NDArray[Any] | None:
    """Return a tensor of numbers, floats as float32; None for others."""
    if isinstance(value, TensorProto):
        value = numpy_helper.to_array(value)
    if not isinstance(value, (np.ndarray, np.generic)) or value.dtype.kind not in "biuf":
        return None
    return np.asarray(value, np.float32 if value.dtype.kind == "f" else None)


def _own() -> Iterator[Case]:
    """Yield the cases of operators whose tests are unlike models, or that have none."""
    random = np.random.default_rng(0)

    def normal(*shape: int) -> NDArray[Any]:
        return random.normal(size=shape).astype(np.float32)

    image, halves, rows = normal(1, 4, 8, 8), np.ones(2, np.float32), normal(5, 1, 4)
    ones = np.ones(8, np.float32)
    listed: list[tuple[str, int, dict[str, Any], tuple[NDArray[Any], ...]]] = [
        ("Cast", 12, {"to": TensorProto.FLOAT16}, (image,)),
        ("Cast", 12, {"to": TensorProto.INT32}, (image,)),
        ("GatherND", 12, {}, (image[0], np.array([[[0, 1]], [[3, 2]]]))),
        ("GatherND", 12, {}, (image.reshape(4, 64), np.array([[3], [1], [2]]))),
        ("GatherND", 12, {}, (image.reshape(2, 2, 8, 8), np.array([1]))),
        ("GatherND", 12, {"batch_dims": 1}, (image[0], np.array([[[3]], [[1]], [[0]], [[2]]]))),
        ("GlobalLpPool", 12, {}, (image,)),
        ("GroupNormalization", 18, {"num_groups": 2}, (image, halves, halves)),
        # As PyTorch exports it: without its attributes, the toolkit fails.
        ("LayerNormalization", 17, {"axis": -1, "epsilon": 1e-5}, (normal(1, 5, 8), ones, ones)),
        ("LayerNormalization", 17, {"axis": -1, "epsilon": 1e-6}, (image, ones, ones)),
        ("LayerNormalization", 17, {"axis": -1, "epsilon": 1e-6}, (normal(1, 5, 8), ones)),
        ("LpNormalization", 12, {"axis": 1}, (image,)),
        ("MaxRoiPool", 12, {"pooled_shape": [2, 2]}, (image, np.array([[0, 0, 0, 4, 4]], "f"))),
        ("Multinomial", 12, {"sample_size": 4}, (image[0, 0],)),
        ("RandomNormalLike", 12, {}, (image,)),
        ("RandomUniformLike", 12, {}, (image,)),
        # onnx and onnxruntime differ about the shape of half of the spectrum.
        (
            "STFT",
            17,
            {"onesided": 0},
            (image.reshape(1, -1, 1), np.asarray(8), np.ones(16, np.float32)),
        ),
    ]
    for gates, op_type in ((1, "RNN"), (3, "GRU"), (4, "LSTM")):
        for count, direction in ((1, "forward"), (2, "bidirectional")):
            attributes: dict[str, Any] = {"hidden_size": 6, "direction": direction}
            if op_type == "GRU":  # as PyTorch exports it
                attributes["linear_before_reset"] = 1
            shapes = (count, gates * 6, 4), (count, gates * 6, 6), (count, 2 * gates * 6)
            listed.append((op_type, 7, attributes, (rows, *(normal(*each) for each in shapes))))
    for equation, shapes_ in (
        ("bqc,bchw->bqhw", ((1, 6, 4), (1, 4, 8, 8))),
        ("bhid,bhjd->bhij", ((1, 2, 4, 8), (1, 2, 4, 8))),
        ("bhwc,hkc->bhwk", ((1, 4, 4, 8), (4, 4, 8))),
        ("i,j->ij", ((4,), (8,))),
        ("bhn->bnh", ((1, 4, 8),)),
    ):
        listed.append(("Einsum", 12, {"equation": equation}, tuple(normal(*s) for s in shapes_)))
    for index, (op_type, opset, attributes, values) in enumerate(listed):
        names = [f"x{index}" for index in range(len(values))]
        node = helper.make_node(op_type, names, ["y"], **attributes)
        yield Case(f"own_{index}", node, opset, dict(zip(names, values, strict=True)))


def _different(cases: Iterable[Case]) -> list[Case]:
    """Return the first cases with different attributes, inputs or ranks; floats first."""
    found: dict[str, Case] = {}
    for case in sorted(cases, key=lambda each: _first(each).dtype.kind != "f"):
        attributes = sorted(str(each) for each in case.node.attribute)
        key = f"{attributes} {[*map(bool, case.node.input)]} {_first(case).ndim}"
        found.setdefault(key, case)
    return [*found.values()][:MAX_CASES]


def _first(case: Case) -> NDArray[Any]:
    return next(iter(case.inputs.values()), np.zeros(0))


def _at_opset(case: Case, opset: int) -> Case | None:
    """Return the case of another opset; None if that has no such node."""
    node = onnx.NodeProto()
    node.CopyFrom(case.node)
    schema = defs.get_schema(node.op_type, opset, "")
    variadic = defs.OpSchema.FormalParameterOption.Variadic
    if len(node.input) == 1 and schema.inputs[0].option == variadic:
        return None  # a sum of one: no model has it
    inputs = dict(case.inputs)
    # Inputs were attributes before.
    own = defs.get_schema(node.op_type, case.opset, "")
    for formal, name in zip(own.inputs, case.node.input, strict=False):
        if name in inputs and formal.name in schema.attributes:
            del node.input[[*node.input].index(name) :]
            values = inputs.pop(name)
            if not values.size:
                return None
            node.attribute.append(helper.make_attribute(formal.name, values.tolist()))
    # Models use the first output, and those that every node has.
    optional = defs.OpSchema.FormalParameterOption.Optional
    more = [
        name
        for name, formal in zip(node.output[1:], schema.outputs[1:], strict=False)
        if formal.option != optional
    ]
    if len(schema.outputs) > 1:
        node.output[:] = [node.output[0] or "y", *more]
    for attribute in node.attribute:
        if node.op_type == "GridSample" and attribute.name == "mode":
            attribute.s = _MODES.get(attribute.s, attribute.s)
    adapted = Case(case.name, node, opset, inputs, case.outputs)
    return adapted if _outputs(adapted) else None


def _outputs(case: Case) -> list[Any]:
    """Return the types of the outputs; empty: the model is invalid."""
    graph = helper.make_graph(
        [case.node],
        OPERATOR,
        [],
        [onnx.ValueInfoProto(name=name) for name in case.node.output if name],
        [numpy_helper.from_array(value, name) for name, value in case.inputs.items()],
    )
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", case.opset)], ir_version=IR_VERSION
    )
    try:
        inferred = onnx.shape_inference.infer_shapes(model, check_type=True, data_prop=True)
        onnx.checker.check_model(inferred)
    except (onnx.shape_inference.InferenceError, onnx.checker.ValidationError):
        return []
    for each in inferred.graph.output:
        value = case.outputs.get(each.name)
        if value is not None and not each.type.tensor_type.HasField("shape"):
            dtype = helper.np_dtype_to_tensor_dtype(value.dtype)
            each.CopyFrom(helper.make_tensor_value_info(each.name, dtype, value.shape))
    return [*inferred.graph.output]


# ---- The context ---------------------------------------------------------------------------------


def _changing(case: Case) -> list[str]:
    """Return the inputs that a network usually computes."""
    formal = defs.get_schema(case.node.op_type, case.opset, "").inputs
    found = []
    for position, name in enumerate(case.node.input):
        role = formal[min(position, len(formal) - 1)].name
        is_number = name and (case.inputs[name].dtype.kind in "fb" or role == _INDICES)
        if position == 0 or (is_number and role not in _WEIGHTS and name not in found):
            found.append(name)
    return found


def in_context(case: Case, changing: Sequence[str]) -> Any | None:
    """Return the model, Conv before each changing input and behind the first output.

    Args:
        case: the operator's node.
        changing: the inputs that are not constant.

    Returns:
        The model; None if it is not valid.
    """
    context = _Context()
    for name, value in case.inputs.items():
        if name in changing and value.size:
            context.compute(name, value)
        else:
            context.constants.append(numpy_helper.from_array(value, name))
    node = onnx.NodeProto()
    node.CopyFrom(case.node)
    node.name = OPERATOR
    context.nodes.append(node)
    outputs = _outputs(case)
    for index, output in enumerate(outputs):
        context.finish(output, is_used=index == 0)
    graph = helper.make_graph(
        context.nodes, OPERATOR, context.inputs, context.outputs, context.constants
    )
    opset = helper.make_opsetid("", case.opset)
    model = helper.make_model(graph, opset_imports=[opset], ir_version=IR_VERSION)
    try:
        onnx.checker.check_model(model, full_check=True)
    except (onnx.shape_inference.InferenceError, onnx.checker.ValidationError):
        return None
    return model if context.inputs and _is_implemented(model) else None


def _is_implemented(model: Any) -> bool:
    """Whether onnxruntime, by which the toolkit computes constants, has the operator."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        onnxruntime.InferenceSession(model.SerializeToString(), options)
    except Exception:  # any type: onnxruntime has one for each status
        return False
    return True


@dataclass
class _Context:
    """The nodes around an operator."""

    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)
    inputs: list[Any] = field(default_factory=list)
    outputs: list[Any] = field(default_factory=list)

    def compute(self, name: str, value: NDArray[Any]) -> None:
        """Add an input of the model whose convolution computes a tensor."""
        shape = _image(value.shape)
        source = f"in_{name}"
        self.inputs.append(helper.make_tensor_value_info(source, TensorProto.FLOAT, shape))
        steps = [lambda x, y: self._convolve(x, y, shape[1])]
        if value.dtype == np.bool_:
            steps.append(lambda x, y: self._add("Greater", x, y, np.zeros((), np.float32)))
        elif value.dtype != np.float32:
            dtype = helper.np_dtype_to_tensor_dtype(value.dtype)
            steps.append(lambda x, y: self._add("Cast", x, y, to=dtype))
        if value.shape != shape:
            steps.append(lambda x, y: self._add("Reshape", x, y, np.array(value.shape, np.int64)))
        self._chain(steps, source, name)

    def finish(self, output: Any, is_used: bool) -> None:
        """Add an output of the operator, with a convolution of it if it has a known shape."""
        type_ = output.type.tensor_type
        shape = tuple(each.dim_value for each in type_.shape.dim)
        if not (is_used and type_.HasField("shape") and prod(shape)):
            self.outputs.append(output)
            return
        image = _image(shape)
        steps = [lambda x, y: self._convolve(x, y, image[1])]
        if shape != image:
            steps.insert(0, lambda x, y: self._add("Reshape", x, y, np.array(image, np.int64)))
        if type_.elem_type != TensorProto.FLOAT:
            steps.insert(0, lambda x, y: self._add("Cast", x, y, to=TensorProto.FLOAT))
        target = f"out_{output.name}"
        self.outputs.append(helper.make_tensor_value_info(target, TensorProto.FLOAT, image))
        self._chain(steps, output.name, target)

    def _chain(self, steps: Sequence[Any], source: str, target: str) -> None:
        for index, step in enumerate(steps):
            after = target if index == len(steps) - 1 else f"{source}_{index}"
            step(source, after)
            source = after

    def _convolve(self, source: str, target: str, channels: int) -> None:
        random = np.random.default_rng(len(self.nodes))
        weights = random.normal(size=(channels, channels, 1, 1)) / channels
        self._add("Conv", source, target, weights.astype(np.float32))

    def _add(
        self, op_type: str, source: str, target: str, *constants: NDArray[Any], **attributes: Any
    ) -> None:
        name = f"context_{len(self.nodes)}"
        names = [f"{name}_{index}" for index in range(len(constants))]
        self.constants += map(numpy_helper.from_array, constants, names)
        self.nodes.append(helper.make_node(op_type, [source, *names], [target], name, **attributes))


def _image(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the shape of four dimensions for a tensor's elements, as convolutions take it."""
    sizes = [*[1] * (4 - len(shape)), *shape]
    first = len(sizes) - 3
    return (prod(sizes[:first]), *sizes[first:])
