# Generated from op.yml and ${lower}_reference.py by opkit. Do not edit: the next build writes it anew.
"""What RKNN-Toolkit calls when a model that it converts holds the operator ${name}.

RKNN-Toolkit is closed, so what it passes is assumed. The assumptions are these, and no others:
  * rknn.api.custom_op is where RKNNCustomOP, IoMap and Shape are;
  * IoMap takes a name, a label and a description;
  * Shape has format(layout), which returns the dimensions, and set_shape(dimensions, layout);
  * the class attributes, and the names, arguments and results of the class's three methods.
Should your version differ: the text of this file is in opkit/emit/templates/rknn_op.py.

This file is all Python that a package carries, so the reference is in it: at the end, as it is.
"""

import linecache
import types
from collections import OrderedDict

import numpy as np
import rknn.api.custom_op as toolkit

# How TensorFlow's tensors lie in memory, slowest dimension first: what the reference sees.
LAYOUT = "NHWC"

INPUTS = $inputs

OUTPUTS = $outputs

PARAMS = $params


class ${name}(toolkit.RKNNCustomOP):
    """The operator: what it is called, its tensors, its params, its shapes and its math."""

    op = "${name}"
    def_input = [toolkit.IoMap(name, name, doc) for name, doc in INPUTS]
    def_output = [toolkit.IoMap(name, name, doc) for name, doc in OUTPUTS]

    def load_params_from_tf(self, node_def, tensor_data_map):
        """Return the name of each param -> its value.

        node_def: TensorFlow's NodeDef of the operator.
        tensor_data_map: the name of each constant of the graph -> its value.
        """
        constants = _constants(node_def, tensor_data_map)
        given = {}
        if hasattr(_reference, "params_from_tf"):
            given = _reference.params_from_tf(node_def, constants)
        if not isinstance(given, dict):
            raise ValueError("{}: params_from_tf must return a dict".format(_FILE))
        unknown = sorted(set(given) - {param["name"] for param in PARAMS})
        if unknown:
            problem = "params_from_tf returns it, but op.yml has no such param"
            raise _error(node_def, unknown[0], problem)
        values = OrderedDict()
        for param in PARAMS:
            name = param["name"]
            value = given[name] if name in given else _found(param, node_def, constants)
            try:
                values[name] = _converted(param, value)
            except ValueError as error:
                hint = "Give it another type in op.yml, or compute it in params_from_tf of"
                raise _error(node_def, name, "{}. {} {}".format(error, hint, _FILE))
        return values

    def compute_output_shape(self, inputs_shape, params):
        """Return the Shape of each output.

        inputs_shape: the Shape of each input.
        params: what load_params_from_tf returned.
        """
        shapes = _output_shapes([shape.format(LAYOUT) for shape in inputs_shape], params)
        results = []
        for dimensions in shapes:
            result = toolkit.Shape()
            result.set_shape(list(dimensions), LAYOUT)
            results.append(result)
        return results

    def compute_output_tensor(self, const_tensor, inputs_tensor, params):
        """Return the tensor of each output: the reference, called from TensorFlow's graph.

        const_tensor: the constant inputs; not used, since load_params_from_tf has read them.
        inputs_tensor: the tensor of each input.
        params: what load_params_from_tf returned.
        """
        import tensorflow as tf  # not above: all else runs without it

        tensors = [tf.convert_to_tensor(tensor) for tensor in _expected_inputs(inputs_tensor)]
        dtype = tensors[0].dtype

        def run(*arrays):
            return _run(arrays, params, dtype.as_numpy_dtype)

        results = tf.compat.v1.py_func(run, tensors, [dtype] * len(OUTPUTS), stateful=False)
        if not isinstance(results, (list, tuple)):
            results = [results]  # so TensorFlow returns a single one when it runs eagerly
        if all(tensor.shape.is_fully_defined() for tensor in tensors):
            shapes = _output_shapes([tensor.shape.as_list() for tensor in tensors], params)
            for result, shape in zip(results, shapes):
                result.set_shape(shape)
        return list(results)


def _error(node_def, param_name, problem):
    where = "{}: node '{}': param '{}'".format(_NAME, node_def.name, param_name)
    return ValueError("{}: {}".format(where, problem))


def _constants(node_def, tensor_data_map):
    """Return the constants by all their names.

    An input of the node that is constant goes by its position ("1"), its name ("resize/size") and,
    if no other input has the same, the last part of its name ("size").
    """
    constants = dict(tensor_data_map or {})
    names = [name.split(":")[0] for name in node_def.input]
    last_parts = [name.split("/")[-1] for name in names]
    for position, name in enumerate(names):
        keys = [key for key in (node_def.input[position], name, name + ":0") if key in constants]
        if keys:
            value = tensor_data_map[keys[0]]
            constants[str(position)] = constants[name] = value
            if last_parts.count(last_parts[position]) == 1:
                constants[last_parts[position]] = value
    return constants


def _found(param, node_def, constants):
    """Return what the model has for a param, else its default."""
    if "source" in param:
        name = param["source"][len("const:") :]
        if name in constants:
            return constants[name]
        problem = "no constant is called '{}'".format(name)
    else:
        if param["name"] in node_def.attr:
            return _attribute(node_def.attr[param["name"]])
        problem = "the node has no attribute of this name"
    if "default" in param:
        return param["default"]
    inputs = [name.split(":")[0] for name in node_def.input]
    problem = (
        "{}, and it has no default. The node's attributes: {}; its constant inputs: {}. In op.yml, "
        "give the param a `default: VALUE`, or a `source: const:NAME` with the name of a constant "
        "input; or return it from params_from_tf of {}"
    ).format(
        problem,
        ", ".join(sorted(node_def.attr)) or "none",
        ", ".join(name for name in inputs if name in constants) or "none",
        _FILE,
    )
    raise _error(node_def, param["name"], problem)


def _attribute(attribute):
    """Return what an AttrValue of TensorFlow holds."""
    kind = attribute.WhichOneof("value")
    if kind == "list":  # one of its fields is filled, or none
        return [item for _, items in attribute.list.ListFields() for item in items]
    if kind == "shape":
        return [dimension.size for dimension in attribute.shape.dim]
    if kind == "tensor":
        import tensorflow as tf

        return tf.make_ndarray(attribute.tensor)
    return getattr(attribute, kind) if kind else None


def _converted(param, value):
    """Return a value in the type of its param: bool, int, float, or a list of int."""
    items = np.asarray(value, dtype=object).ravel().tolist()
    items = [item.item() if isinstance(item, np.generic) else item for item in items]
    if param["type"] == "VX_TYPE_ARRAY":
        lengths = [param["length"]] if "length" in param else range(1, 17)
        if len(items) not in lengths:
            wanted = param.get("length", "1 to 16")
            raise ValueError("has {} items, but must have {}".format(len(items), wanted))
        return [_number(param, item) for item in items]
    if len(items) != 1:
        raise ValueError("has {} items, but a {} is one".format(len(items), param["type"]))
    return _number(param, items[0])


def _number(param, value):
    is_whole = isinstance(value, int) or isinstance(value, float) and value.is_integer()
    if param["type"] == "VX_TYPE_BOOL":
        if not is_whole or value not in (0, 1):
            raise ValueError("is {!r}, but must be true or false".format(value))
        return bool(value)
    if "limits" in param:
        low, high = param["limits"]
        if not is_whole or not low <= value <= high:
            wanted = "a whole number from {} to {}".format(low, high)
            raise ValueError("is {!r}, but must be {}".format(value, wanted))
        return int(value)
    if not isinstance(value, (int, float)):
        raise ValueError("is {!r}, but must be a number".format(value))
    if param["type"] != "VX_TYPE_FLOAT32":
        return float(value)
    with np.errstate(over="ignore"):
        number = float(np.float32(value))  # what the board gets
    if np.isinf(number) and not np.isinf(value):
        raise ValueError("is {!r}, which a VX_TYPE_FLOAT32 cannot hold".format(value))
    return number


def _expected_inputs(inputs):
    inputs = list(inputs)
    if len(inputs) != len(INPUTS):
        names = ", ".join(name for name, _ in INPUTS)
        problem = "{} inputs, but op.yml has: {}".format(len(inputs), names)
        raise ValueError("{}: {}".format(_NAME, problem))
    return inputs


def _expected_outputs(function, outputs):
    """Return the values of a dict that the reference returned, in the order of the outputs."""
    names = [name for name, _ in OUTPUTS]
    if not isinstance(outputs, dict) or set(outputs) != set(names):
        returned = sorted(outputs) if isinstance(outputs, dict) else type(outputs).__name__
        problem = "{} returned {}, but must return a dict with the keys {}".format(
            function, returned, names
        )
        raise ValueError("{}: {}".format(_FILE, problem))
    return [outputs[name] for name in names]


def _output_shapes(shapes, params):
    """Return the shape of each output, given that of each input; all as tuples of int."""
    inputs = {}
    for (name, _), shape in zip(INPUTS, _expected_inputs(shapes)):
        inputs[name] = tuple(int(length) for length in shape)
    outputs = _expected_outputs("output_shapes", _reference.output_shapes(inputs, params))
    return [tuple(int(length) for length in shape) for shape in outputs]


def _run(arrays, params, dtype):
    """Return the array of each output, in the type of the first input."""
    inputs = {}
    for (name, _), array in zip(INPUTS, arrays):
        kind = np.float32 if array.dtype == np.float16 else array.dtype
        inputs[name] = np.array(array, kind)  # a copy: TensorFlow's memory is not the reference's
    shapes = _output_shapes([array.shape for array in arrays], params)
    outputs = _expected_outputs("reference", _reference.reference(inputs, params))
    results = [np.asarray(output) for output in outputs]
    for (name, _), result, shape in zip(OUTPUTS, results, shapes):
        if result.shape != shape:
            problem = "reference returned {} with shape {}, but output_shapes says {}".format(
                name, result.shape, shape
            )
            raise ValueError("{}: {}".format(_FILE, problem))
    with np.errstate(over="ignore"):
        return [result.astype(dtype) for result in results]


def _module(file, source):
    """Return a text as a module of its own, so that no name in it can meet one of this file."""
    module = types.ModuleType(file[: -len(".py")])
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)  # for tracebacks
    exec(compile(source, file, "exec"), module.__dict__)
    return module


_NAME = "${name}"
_FILE = "${lower}_reference.py"
_SOURCE = $source
_reference = _module(_FILE, _SOURCE[1:])
