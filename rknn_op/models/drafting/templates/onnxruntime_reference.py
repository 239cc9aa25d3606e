"""${name} in numpy: the expected outputs for every kernel, by onnxruntime.

onnxruntime adds the operator to those of ONNX. A converter that runs this file has onnxruntime in
its environment, too.
"""

import functools

import numpy as np
import onnxruntime
from onnx import helper, numpy_helper

OP_TYPE = $op_type
DOMAIN = $domain
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
    inputs = {
        name: np.zeros(input_shapes[name], dtype or "float32") for name, dtype in TENSORS.items()
    }
    return {name: array.shape for name, array in reference(inputs, params).items()}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    shapes = {name: array.shape for name, array in inputs.items()}
    dtypes = {name: array.dtype for name, array in inputs.items()}
    session = _session(_key(shapes), _key(dtypes), _key(params))
    names = [name for name in OUTPUTS if name]
    return dict(zip(names, session.run(names, dict(inputs))))


def _key(values):
    """Return a dict as a key of a cache."""
    return tuple(
        (name, tuple(value) if isinstance(value, (list, tuple)) else value)
        for name, value in values.items()
    )


@functools.lru_cache(maxsize=32)
def _session(shapes, dtypes, params):
    """Return a session with a model of one node; the arguments are keys of dicts."""
    shapes, dtypes, params = dict(shapes), dict(dtypes), dict(params)
    node = helper.make_node(OP_TYPE, INPUTS, OUTPUTS, domain=DOMAIN)
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
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, OPSET)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # the errors are exceptions
    return onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
