"""${name} in numpy: $purpose"""

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: the name of each input -> its shape, slowest dimension first.
    params: the name of each param -> its value:
$param_values
    """
    # Write the real rule here. Until then, each output is as large as the first input.
    shape = tuple(input_shapes[$first])
$shapes


def reference(inputs, params):
    """Return the array of each output.

    inputs: the name of each input -> its array; half-precision tensors arrive as float32.
    params: as above.
    """
    # Write the real math here. Until then, $so_far.
$arrays
