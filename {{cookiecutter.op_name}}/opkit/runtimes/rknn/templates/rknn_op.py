from collections import OrderedDict

import numpy as np
import rknn.api.custom_op as toolkit


class ${name}(toolkit.RKNNCustomOP):
    """What RKNN-Toolkit calls; README.md says what is assumed of it."""

    _INPUTS = $inputs
    _OUTPUTS = $outputs
    _PARAMS = $params

    op = "${name}"
    def_input = [toolkit.IoMap(name, name, doc) for name, doc in _INPUTS]
    def_output = [toolkit.IoMap(name, name, doc) for name, doc in _OUTPUTS]

    def load_params_from_tf(self, node_def, tensor_data_map):
        constants = {name.split(":")[0]: value for name, value in (tensor_data_map or {}).items()}
        inputs = [name.split(":")[0] for name in node_def.input]
        last_parts = [name.split("/")[-1] for name in inputs]
        for name, last_part in zip(inputs, last_parts):
            if name in constants and last_parts.count(last_part) == 1:
                constants[last_part] = constants[name]
        found = $given
        params = OrderedDict()
        for name, facts in self._PARAMS:
            try:
                if name not in found:
                    found[name] = self._find(name, facts, node_def, constants)
                params[name] = self._convert(found[name], facts)
            except (OverflowError, TypeError, ValueError) as error:
                where = (self.op, node_def.name, name)
                raise ValueError("{}: node '{}': param '{}': {}".format(*where, error))
        return params

    def _find(self, name, facts, node_def, constants):
        if "source" in facts:
            if facts["source"] in constants:
                return constants[facts["source"]]
        elif name in node_def.attr:
            attribute = node_def.attr[name]
            kind = attribute.WhichOneof("value")
            if kind == "list":  # one of its fields is filled, or none
                return [item for _, items in attribute.list.ListFields() for item in items]
            return getattr(attribute, kind)
        if "default" in facts:
            return facts["default"]
        problem = "no default, and not found in attributes {} and inputs {}"
        raise ValueError(problem.format(sorted(node_def.attr), list(node_def.input)))

    def _convert(self, value, facts):
        items = np.ravel(value)
        result = items.astype(facts["type"])
        if "float" not in facts["type"] and not np.array_equal(result, items):
            raise ValueError("{} does not fit {}".format(items.tolist(), facts["type"]))
        if "lengths" not in facts:  # then it is one number
            return result.item()
        if len(result) not in facts["lengths"]:
            raise ValueError("{} items, not {}".format(len(result), facts["lengths"]))
        return result.tolist()

    def compute_output_shape(self, inputs_shape, params):
        shapes = self._shapes([shape.format("NHWC") for shape in inputs_shape], params)
        results = [toolkit.Shape() for _ in shapes]
        for result, shape in zip(results, shapes):
            result.set_shape(list(shape), "NHWC")
        return results

    def compute_output_tensor(self, const_tensor, inputs_tensor, params):
        import tensorflow as tf  # not above: all else runs without it

        tensors = [tf.convert_to_tensor(tensor) for tensor in inputs_tensor]
        dtype = tensors[0].dtype

        def run(*arrays):
            # Copies, as the memory is TensorFlow's; half as float, as in the kernel.
            types = ["float32" if array.dtype == "float16" else array.dtype for array in arrays]
            results = self._call(reference, list(map(np.array, arrays, types)), params)
            results = [np.array(result, dtype.as_numpy_dtype) for result in results]
            shapes = self._shapes([array.shape for array in arrays], params)
            if [result.shape for result in results] != shapes:
                raise ValueError("{}: reference has not the shapes {}".format(self.op, shapes))
            return results

        types = [dtype] * len(self._OUTPUTS)
        results = tf.compat.v1.py_func(run, tensors, types, stateful=False)
        results = results if isinstance(results, list) else [results]  # one, if eager
        if all(tensor.shape.is_fully_defined() for tensor in tensors):
            shapes = self._shapes([tensor.shape.as_list() for tensor in tensors], params)
            for result, shape in zip(results, shapes):
                result.set_shape(shape)
        return results

    def _shapes(self, shapes, params):
        shapes = self._call(output_shapes, [tuple(map(int, shape)) for shape in shapes], params)
        return [tuple(map(int, shape)) for shape in shapes]

    def _call(self, function, values, params):
        inputs = [name for name, _ in self._INPUTS]
        outputs = [name for name, _ in self._OUTPUTS]
        if len(values) != len(inputs):
            raise ValueError("{}: {} inputs, not {}".format(self.op, len(values), inputs))
        results = function(dict(zip(inputs, values)), params)
        if not isinstance(results, dict) or set(results) != set(outputs):
            problem = "{}: {} must return a dict with {}"
            raise ValueError(problem.format(self.op, function.__name__, outputs))
        return [results[name] for name in outputs]
