"""${name} in numpy: the expected outputs for every kernel, by onnx's reference evaluator.

A converter that runs this file has onnx in its environment, too. The evaluator is exact but slow;
replace it by numpy where cases take too long.
"""

import functools

import numpy as np
from onnx import helper, numpy_helper, shape_inference
from onnx.reference import ReferenceEvaluator

OP_TYPE = $op_type
OPSET = $opset
# The node's inputs and outputs in order; "" is left out in the model.
INPUTS = $inputs
OUTPUTS = $outputs
# Input -> dtype in the model; None: any.
TENSORS = $tensors
# Input that is a param -> dtype and shape.
CONSTANTS = $constants
ATTRIBUTES = $attributes


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value:
$param_values
    """
    dtypes = {name: np.dtype(dtype or "float32") for name, dtype in TENSORS.items()}
    model = _model(_key(input_shapes), _key(dtypes), _key(params))
    inferred = shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
    shapes = {
        output.name: tuple(size.dim_value for size in output.type.tensor_type.shape.dim)
        for output in inferred.graph.output
        if output.type.tensor_type.HasField("shape")
    }
    if all(name in shapes and 0 not in shapes[name] for name in filter(None, OUTPUTS)):
        return shapes
    zeros = {name: np.zeros(input_shapes[name], dtypes[name]) for name in TENSORS}
    return {name: array.shape for name, array in reference(zeros, params).items()}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    shapes = {name: array.shape for name, array in inputs.items()}
    dtypes = {name: array.dtype for name, array in inputs.items()}
    evaluator = _evaluator(_key(shapes), _key(dtypes), _key(params))
    names = list(filter(None, OUTPUTS))
    with np.errstate(all="ignore"):
        return dict(zip(names, evaluator.run(names, dict(inputs))))


def _key(values):
    """Return a dict as a key of a cache."""
    return tuple(
        (name, tuple(value) if isinstance(value, (list, tuple)) else value)
        for name, value in values.items()
    )


@functools.lru_cache(maxsize=32)
def _evaluator(shapes, dtypes, params):
    return ReferenceEvaluator(_model(shapes, dtypes, params))


def _model(shapes, dtypes, params):
    """Return an ONNX model of one node; the arguments are keys of dicts."""
    shapes, dtypes, params = dict(shapes), dict(dtypes), dict(params)
    node = helper.make_node(OP_TYPE, INPUTS, OUTPUTS)
    node.attribute.extend(helper.make_attribute(name, params[name]) for name in ATTRIBUTES)
    constants = [
        numpy_helper.from_array(np.array(params[name], dtype).reshape(shape), name)
        for name, (dtype, shape) in CONSTANTS.items()
    ]
    inputs = [
        helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(dtypes[name]), shapes[name]
        )
        for name in TENSORS
    ]
    outputs = [helper.make_empty_tensor_value_info(name) for name in OUTPUTS if name]
    graph = helper.make_graph([node], "node", inputs, outputs, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
