"""AffineGrid in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

The locations of the pixels of images, transformed by matrices, as in the ONNX specification of
AffineGrid, in float64. With align_corners, an axis of a single pixel, which ONNX leaves open, has
it at 0, as in PyTorch, where the operator is from.
"""

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: size, a list of ints; align_corners, 0 or 1.
    """
    theta, size = tuple(input_shapes["theta"]), list(params["size"])
    if len(theta) != 3 or theta[1:] not in ((2, 3), (3, 4)):
        raise ValueError(f"AffineGrid: theta must be [N, 2, 3] or [N, 3, 4], not {list(theta)}")
    axes = theta[1]
    if len(size) != axes + 2:
        raise ValueError(
            "AffineGrid: size must be [N, C, H, W] for theta [N, 2, 3], and [N, C, D, H, W] for "
            f"[N, 3, 4], not {size}"
        )
    if min(size) < 0:
        raise ValueError(f"AffineGrid: size must not be negative, not {size}")
    if size[0] != theta[0]:
        raise ValueError(f"AffineGrid: size must have the N of theta, {theta[0]}, not {size[0]}")
    if params["align_corners"] not in (0, 1):
        raise ValueError(
            "AffineGrid: align_corners must be 0 or 1, not {}".format(params["align_corners"])
        )
    return {"grid": (theta[0], *size[2:], axes)}


def positions(length, align_corners):
    """Return the positions of pixels along an axis."""
    if not align_corners:
        return (2 * np.arange(length) + 1) / length - 1
    return np.linspace(-1, 1, length) if length > 1 else np.zeros(1)


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    theta = inputs["theta"]
    if theta.dtype.kind != "f":
        raise ValueError("AffineGrid: theta must be float16 or float32")
    output_shapes({"theta": theta.shape}, params)
    axes = [positions(length, params["align_corners"]) for length in params["size"][2:]]
    pixels = np.meshgrid(*axes, indexing="ij")
    points = np.stack([*pixels[::-1], np.ones_like(pixels[0])])  # x, y, z, 1
    with np.errstate(over="ignore", invalid="ignore"):
        grid = np.einsum("nij,j...->n...i", theta.astype(np.float64), points)
        return {"grid": grid.astype(theta.dtype)}
