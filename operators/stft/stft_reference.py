"""STFT in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

The Fourier transforms of the frames of a signal, as in the ONNX specification of STFT, in float64,
and rounded once.
"""

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: frame_step and frame_length, ints; onesided,
        0 or 1.
    """
    shape, window = tuple(input_shapes["signal"]), tuple(input_shapes["window"])
    if len(shape) != 3 or shape[2] not in (1, 2):
        raise ValueError("STFT: signal must be [N, length, 1] or [N, length, 2]")
    if params["frame_step"] < 1:
        raise ValueError("STFT: frame_step must be above 0, not {}".format(params["frame_step"]))
    if params["onesided"] not in (0, 1):
        raise ValueError("STFT: onesided must be 0 or 1, not {}".format(params["onesided"]))
    if params["onesided"] and shape[2] == 2:
        raise ValueError("STFT: signal must be real, [N, length, 1], with onesided")
    length = params["frame_length"] or window[0]
    if window != (length,) or length < 1:
        raise ValueError("STFT: window must be [frame_length]")
    if length > shape[1]:
        raise ValueError(f"STFT: a frame of {length} elements must fit into signal")
    frames = (shape[1] - length) // params["frame_step"] + 1
    bins = length // 2 + 1 if params["onesided"] else length
    return {"output": (shape[0], frames, bins, 2)}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    signal, window = inputs["signal"], inputs["window"]
    if signal.dtype.kind != "f" or window.dtype.kind != "f":
        raise ValueError("STFT: signal and window must be float16 or float32")
    shapes = {name: array.shape for name, array in inputs.items()}
    _, frames, bins, _ = output_shapes(shapes, params)["output"]
    wide = signal.astype(np.float64)
    numbers = wide[..., 0] + 1j * wide[..., 1] if signal.shape[2] == 2 else wide[..., 0]
    starts = params["frame_step"] * np.arange(frames)
    framed = numbers[:, starts[:, np.newaxis] + np.arange(window.size)]
    y = np.fft.fft(framed * window.astype(np.float64), axis=-1)[..., :bins]
    return {"output": np.stack([y.real, y.imag], axis=-1).astype(np.float32)}
