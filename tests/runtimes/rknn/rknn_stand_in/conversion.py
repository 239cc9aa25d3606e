"""Call an operator's class as RKNN-Toolkit does while it converts a TensorFlow model.

Derived from published operators and a converted model. Runs on Python 3.5, without TensorFlow
unless tensors are computed.
"""

from typing import Any

from rknn.api import IoMap, RKNNCustomOP, Shape


def check_class(operator: Any) -> None:
    """Check that the toolkit can register an object of an operator's class."""
    assert isinstance(operator, RKNNCustomOP)
    assert type(operator).__name__ == operator.op
    for direction, ports in (("in", operator.def_input), ("out", operator.def_output)):
        assert type(ports) is list
        assert ports
        for index, port in enumerate(ports):
            assert isinstance(port, IoMap)
            assert (port.port, port.direction) == (direction + str(index), direction)


def tensor_data_map(operator: Any, node_def: Any, constants: Any) -> Any:
    """Return the constants of a node as an operator's class gets them.

    Args:
        operator: an object of the class.
        node_def: the node.
        constants: name of each constant of the graph -> its value.

    Inputs that the class does not declare are named C:out0, C_1:out0, ... in the node's order.
    """
    inputs = [name for name in node_def.input if not name.startswith("^")]
    values = [constants[name.split(":")[0]] for name in inputs[len(operator.def_input) :]]
    return {
        ("C_" + str(index) if index else "C") + ":out0": value for index, value in enumerate(values)
    }


def load_params(operator: Any, node_def: Any, constants: Any) -> Any:
    """Return the params of a node; arguments as for tensor_data_map."""
    check_class(operator)
    params = operator.load_params_from_tf(node_def, tensor_data_map(operator, node_def, constants))
    assert type(params) is dict
    for value in params.values():
        for item in value if type(value) is list else [value]:
            assert type(item) in (bool, int, float), params  # the scalar types of JSON
    return params


def output_sizes(operator: Any, input_sizes: Any, params: Any) -> Any:
    """Return the size of each output, slowest dimension first."""
    shapes = operator.compute_output_shape([_shape(size) for size in input_sizes], params)
    assert type(shapes) is list
    assert len(shapes) == len(operator.def_output)
    assert all(isinstance(shape, Shape) for shape in shapes)
    return [shape.format("nhwc") for shape in shapes]


def output_tensors(operator: Any, tensors: Any, params: Any) -> Any:
    """Return the tensors that replace the node in a TensorFlow graph."""
    import tensorflow as tf

    results = operator.compute_output_tensor(None, tensors, params)
    assert type(results) is list
    assert len(results) == len(operator.def_output)
    assert all(isinstance(result, tf.Tensor) for result in results)
    return results


def _shape(size: Any) -> Any:
    shape = Shape()
    shape.set_shape(list(size), fmt="nhwc")
    return shape
