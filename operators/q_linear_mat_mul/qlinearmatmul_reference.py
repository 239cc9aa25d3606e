"""QLinearMatMul in numpy: the reference for every kernel.

Products of matrices of quantized numbers, quantized again, as in the ONNX specification of
QLinearMatMul. Sums of products are integers of 32 bits. A float32, a_scale * b_scale / y_scale,
scales them, as in onnxruntime; they are rounded half to even, and saturate.
"""

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of the output, as of numpy's matmul.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value; QLinearMatMul has none.
    """
    shapes = {name: tuple(shape) for name, shape in input_shapes.items()}
    a, b = shapes["a"], shapes["b"]
    if len(a) < 2 or len(b) < 2 or a[-1] != b[-2]:
        raise ValueError("QLinearMatMul: a must be [..., M, K], b [..., K, N] and y [..., M, N]")
    if any(np.prod(shapes[f"{name}_{what}"]) != 1 for name in "ay" for what in QUANTIZERS):
        raise ValueError("QLinearMatMul: scales and zero points of a and y must be one number")
    if any(
        shape != (b[-1],) and np.prod(shape) != 1
        for shape in (shapes[f"b_{what}"] for what in QUANTIZERS)
    ):
        raise ValueError("QLinearMatMul: b_scale and b_zero_point must be one number or [N]")
    batch = np.broadcast(np.broadcast_to(0, a[:-2]), np.broadcast_to(0, b[:-2])).shape
    return {"y": (*batch, a[-2], b[-1])}


QUANTIZERS = ("scale", "zero_point")


def reference(inputs, params):
    """Return the array of the output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    a, b = inputs["a"], inputs["b"]
    if not {a.dtype, b.dtype} <= {np.dtype(np.int8), np.dtype(np.uint8)}:
        raise ValueError("QLinearMatMul: a and b must be int8 or uint8, and y of the type of a")
    types = [inputs[f"{name}_zero_point"].dtype for name in "aby"]
    if types != [a.dtype, b.dtype, a.dtype]:
        raise ValueError("QLinearMatMul: zero points must be of the types of a, b and y")
    a_scale, b_scale, y_scale = (inputs[f"{name}_scale"].ravel() for name in "aby")
    if any(scale.dtype.kind != "f" for scale in (a_scale, b_scale, y_scale)):
        raise ValueError("QLinearMatMul: scales must be float16 or float32")
    left = a.astype(np.int64) - inputs["a_zero_point"].ravel()
    right = b.astype(np.int64) - inputs["b_zero_point"].ravel()
    sums = (left @ right).astype(np.int32)
    zero = np.float32(inputs["y_zero_point"].ravel()[0])
    limits = np.iinfo(a.dtype)
    with np.errstate(all="ignore"):
        x = sums.astype(np.float32) * (a_scale * b_scale / y_scale)
        low, high = np.float32(limits.min) - zero, np.float32(limits.max) - zero
        within = np.where(x > low, np.where(x < high, x, high), low)  # NaN is the lower limit
        return {"y": (np.rint(within) + zero).astype(a.dtype)}
