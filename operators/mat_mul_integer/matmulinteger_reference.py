"""MatMulInteger in numpy: the reference for every kernel.

Sums of products of integers without their zero points, as in the ONNX specification of
MatMulInteger. Sums have 32 bits, and wrap around.
"""

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of the output, as of numpy's matmul.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value; MatMulInteger has none.
    """
    a, b = (tuple(input_shapes[name]) for name in ("a", "b"))
    if len(a) < 2 or len(b) < 2 or a[-1] != b[-2]:
        raise ValueError("MatMulInteger: a must be [..., M, K], b [..., K, N] and y [..., M, N]")
    for name, count in (("a_zero_point", a[-2]), ("b_zero_point", b[-1])):
        shape = tuple(input_shapes[name])
        if shape != (count,) and np.prod(shape) != 1:
            raise ValueError(
                "MatMulInteger: a_zero_point must be one number or [M], and b_zero_point one or [N]"
            )
    batch = np.broadcast(np.broadcast_to(0, a[:-2]), np.broadcast_to(0, b[:-2])).shape
    return {"y": (*batch, a[-2], b[-1])}


def reference(inputs, params):
    """Return the array of the output.

    inputs: dict of input name -> array.
    params: as above.
    """
    a, b, a_zero, b_zero = (inputs[name] for name in ("a", "b", "a_zero_point", "b_zero_point"))
    if not {a.dtype, b.dtype} <= {np.dtype(np.int8), np.dtype(np.uint8)}:
        raise ValueError("MatMulInteger: a and b must be int8 or uint8, and y int32")
    if (a_zero.dtype, b_zero.dtype) != (a.dtype, b.dtype):
        raise ValueError(
            "MatMulInteger: a_zero_point must be of the type of a, and b_zero_point of that of b"
        )
    left = a.astype(np.int64) - a_zero.reshape(-1, 1)
    right = b.astype(np.int64) - b_zero.ravel()
    return {"y": (left @ right).astype(np.int32)}
