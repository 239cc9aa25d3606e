"""MatMulNBits in numpy: the reference for every kernel.

Products with a matrix of quantized numbers, as in the documentation of onnxruntime's operators
(com.microsoft.MatMulNBits): its columns are rows of b, in blocks with a scale and a zero point.
Two numbers of 4 bits are in a byte, the first one in the low bits. Sums are in float64, and rounded
once; all values of accuracy_level compute the same.
"""

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of the output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: K, N, bits, block_size and accuracy_level, ints.
    """
    if params["K"] < 1 or params["N"] < 1:
        raise ValueError("MatMulNBits: K and N must be above 0")
    shape = tuple(input_shapes["a"])
    blocks = -(-params["K"] // params["block_size"])
    if shape[-1] != params["K"]:
        raise ValueError("MatMulNBits: a must be [..., K]")
    count = params["N"] * blocks
    if np.prod(input_shapes["b"]) != count * params["block_size"] * params["bits"] // 8:
        raise ValueError("MatMulNBits: b must be [N, blocks, block_size * bits / 8]")
    if np.prod(input_shapes["scales"]) != count:
        raise ValueError("MatMulNBits: scales must be [N, blocks]")
    return {"y": (*shape[:-1], params["N"])}


def reference(inputs, params):
    """Return the array of the output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    a, b, scales, zeros = (inputs[name] for name in ("a", "b", "scales", "zero_points"))
    if a.dtype.kind != "f" or scales.dtype.kind != "f":
        raise ValueError("MatMulNBits: a, scales and y must be float16 or float32")
    if b.dtype != np.uint8 or (zeros.dtype.kind != "f" and zeros.dtype != np.uint8):
        raise ValueError("MatMulNBits: b must be uint8, and zero_points uint8, float16 or float32")
    columns, bits = params["N"], params["bits"]
    blocks = -(-params["K"] // params["block_size"])
    packed = zeros.dtype == np.uint8
    if zeros.size != columns * (-(-blocks * bits // 8) if packed else blocks):
        raise ValueError("MatMulNBits: zero_points must be packed as b, or floats, [N, blocks]")
    numbers = unpacked(b.reshape(columns, -1), bits).reshape(columns, blocks, -1)
    zeros = zeros.reshape(columns, -1)
    zeros = unpacked(zeros, bits)[:, :blocks] if packed else zeros.astype(np.float64)
    with np.errstate(all="ignore"):
        steps = numbers - zeros[..., np.newaxis]
        weights = steps * scales.astype(np.float64).reshape(columns, blocks, 1)
        matrix = weights.reshape(columns, -1)[:, : params["K"]]
        return {"y": (a.astype(np.float64) @ matrix.T).astype(a.dtype)}


def unpacked(rows, bits):
    """Return the numbers in rows of bytes, as float64."""
    if bits == 8:
        return rows.astype(np.float64)
    return np.stack([rows & 15, rows >> 4], -1).reshape(len(rows), -1).astype(np.float64)
