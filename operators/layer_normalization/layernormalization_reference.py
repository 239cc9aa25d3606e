"""LayerNormalization in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

Mean 0 and variance 1 along the last dimensions, then a scale and a bias, as in the ONNX
specification of LayerNormalization, in float64.
"""

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: axis and stash_type, ints; epsilon, a float.
    """
    shape = tuple(input_shapes["x"])
    rank = len(shape)
    if params["stash_type"] != 1:
        raise ValueError(
            "LayerNormalization: stash_type must be 1: mean and invstddev are float32; "
            f"not {params['stash_type']}"
        )
    if not -rank <= params["axis"] < rank:
        raise ValueError(
            "LayerNormalization: axis must be a dimension of x: from -rank to rank - 1, "
            f"not {params['axis']}"
        )
    axis = params["axis"] % rank
    for name in ("scale", "b"):
        given = tuple(input_shapes[name])
        if (1,) * (rank - len(given)) + given != (1,) * axis + shape[axis:]:
            raise ValueError(
                "LayerNormalization: scale and b must have the dimensions of x from axis on; they "
                f"are not broadcast; not {list(given)}"
            )
    rows = shape[:axis] + (1,) * (rank - axis)
    return {"y": shape, "mean": rows, "invstddev": rows}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    x, scale, bias = inputs["x"], inputs["scale"], inputs["b"]
    if any(array.dtype.kind != "f" for array in (x, scale, bias)):
        raise ValueError("LayerNormalization: x, scale, b and y must be float16 or float32")
    output_shapes({name: array.shape for name, array in inputs.items()}, params)
    axes = tuple(range(params["axis"] % x.ndim, x.ndim))
    with np.errstate(over="ignore", invalid="ignore"):  # of no elements, they are NaN
        mean = np.sum(x, axis=axes, keepdims=True, dtype=np.float64) / scale.size
        variance = np.sum(np.square(x - mean), axis=axes, keepdims=True) / scale.size
        factor = 1 / np.sqrt(variance + np.float32(params["epsilon"]))
        y = (x - mean) * factor * scale + bias
        return {
            "y": y.astype(x.dtype),
            "mean": mean.astype(np.float32),
            "invstddev": factor.astype(np.float32),
        }
