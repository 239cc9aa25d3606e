"""${name} in numpy: the expected outputs for every kernel, by onnx's own reference evaluator.

RKNN-Toolkit2 runs this file while it converts a model; its environment has onnx, too. The evaluator
is exact and slow. Replace it by numpy where cases take too long.
"""

import numpy as np
from onnx import helper, numpy_helper, shape_inference
from onnx.reference import ReferenceEvaluator

OPSET = $opset
# Inputs of the node, in order: tensors with their dtypes, then constants with theirs.
INPUTS = $inputs
CONSTANTS = $constants
OUTPUTS = $outputs
ATTRIBUTES = $attributes


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value:
$param_values
    """
    dtypes = {name: dtype or "float32" for name, dtype in INPUTS.items()}
    model = shape_inference.infer_shapes(_model(input_shapes, dtypes, params), data_prop=True)
    shapes = {
        output.name: tuple(size.dim_value for size in output.type.tensor_type.shape.dim)
        for output in model.graph.output
    }
    return {name: shapes[name] for name in OUTPUTS}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    shapes = {name: array.shape for name, array in inputs.items()}
    dtypes = {name: array.dtype for name, array in inputs.items()}
    evaluator = ReferenceEvaluator(_model(shapes, dtypes, params))
    return dict(zip(OUTPUTS, evaluator.run(OUTPUTS, dict(inputs))))


def _model(shapes, dtypes, params):
    """Return an ONNX model of one node."""
    node = helper.make_node("$op_type", [*INPUTS, *CONSTANTS], OUTPUTS)
    node.attribute.extend(helper.make_attribute(name, params[name]) for name in ATTRIBUTES)
    constants = [
        numpy_helper.from_array(np.array(params[name], dtype).reshape(shape), name)
        for name, (dtype, shape) in CONSTANTS.items()
    ]
    inputs = [
        helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(np.dtype(dtypes[name])), shapes[name]
        )
        for name in INPUTS
    ]
    outputs = [helper.make_empty_tensor_value_info(name) for name in OUTPUTS]
    graph = helper.make_graph([node], "$op_type", inputs, outputs, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
