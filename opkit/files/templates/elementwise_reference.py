"""${name} in numpy: $purpose"""

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of the output, to which the inputs broadcast.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value:
$param_values
    """
$shapes


def reference(inputs, params):
    """Return the array of the output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    # Write the real math here. Until then, $so_far.
$arrays
