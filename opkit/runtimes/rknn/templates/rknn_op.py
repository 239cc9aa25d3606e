import numpy as np
import tensorflow as tf
from rknn.api import RKNNCustomOP, IoMap, Shape


class ${name}(RKNNCustomOP):
    """The operator for RKNN-Toolkit, which calls it for each node of the type ${name}."""

    op = "${name}"
    def_input = $def_input
    def_output = $def_output

    _INPUTS = $inputs
    _OUTPUTS = $outputs
$params
    def compute_output_shape(self, inputs_shape, params):
        results = [Shape() for _ in self._OUTPUTS]
        shapes = self._shapes([shape.format("nhwc") for shape in inputs_shape], params)
        for result, shape in zip(results, shapes):
            result.set_shape(shape=list(shape), fmt="nhwc")
        return results

    def compute_output_tensor(self, const_tensor, inputs_tensor, params):
        dtypes = $dtypes
        self._check_outputs([np.dtype(dtype.as_numpy_dtype).name for dtype in dtypes])

        def run(*arrays):
            # Copy, because TensorFlow owns the memory; float16 as float32, like the kernel.
            copies = [a.astype("float32" if a.dtype == "float16" else a.dtype) for a in arrays]
            results = self._call(reference, copies, params)
            results = [np.array(a, dtype.as_numpy_dtype) for a, dtype in zip(results, dtypes)]
            shapes = self._shapes([array.shape for array in arrays], params)
            if [result.shape for result in results] != shapes:
                raise ValueError("{}: reference must return the shapes {}".format(self.op, shapes))
            return results

        py_func = tf.py_func if hasattr(tf, "py_func") else tf.compat.v1.py_func
        results = py_func(run, inputs_tensor, dtypes, stateful=False)
        results = results if isinstance(results, list) else [results]  # eager: one tensor
        if all(tensor.shape.is_fully_defined() for tensor in inputs_tensor):
            shapes = self._shapes([tensor.shape.as_list() for tensor in inputs_tensor], params)
            for result, shape in zip(results, shapes):
                result.set_shape(shape)
        return results

    def _check_outputs(self, dtypes):
        # On the board, outputs of other dtypes have the size 0, without an error.
        taken = $output_types
        for name, dtype in zip(self._OUTPUTS, dtypes):
            if dtype not in taken:
                problem = "{}: output '{}' is {}, which the board leaves empty; expected one of {}"
                raise ValueError(problem.format(self.op, name, dtype, ", ".join(taken)))

    def _shapes(self, shapes, params):
        shapes = self._call(output_shapes, [tuple(map(int, shape)) for shape in shapes], params)
        return [tuple(map(int, shape)) for shape in shapes]

    def _call(self, function, values, params):
        if len(values) != len(self._INPUTS):
            problem = "{}: {} inputs, expected {}"
            raise ValueError(problem.format(self.op, len(values), self._INPUTS))
        results = function(dict(zip(self._INPUTS, values)), params)
        return [results[name] for name in self._OUTPUTS]
