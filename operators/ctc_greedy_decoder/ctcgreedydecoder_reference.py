"""CTCGreedyDecoder in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

Best path decoding: A. Graves et al., Connectionist Temporal Classification (ICML 2006), section
3.2. The best class of each position makes a path; its labels are those that are left without
repetitions and then without blanks.

Where the paper is open: of equal scores, the first class is the better one, and NaN is worse than
any number.
"""

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: blank_index and merge_repeated, ints.
    """
    data, lengths = tuple(input_shapes["data"]), tuple(input_shapes["sequence_length"])
    if len(data) != 3 or data[2] < 1:
        raise ValueError(f"CTCGreedyDecoder: data must be [N, T, classes], not {data}")
    if not -1 <= params["blank_index"] < data[2]:
        raise ValueError(
            "CTCGreedyDecoder: blank_index must be -1 or a class, not {}".format(
                params["blank_index"]
            )
        )
    if lengths != data[:1]:
        raise ValueError(f"CTCGreedyDecoder: sequence_length must be [N], not {lengths}")
    return {"classes_index": data[:2], "count": data[:1], "score": data[:1]}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    data, lengths = inputs["data"], inputs["sequence_length"]
    if data.dtype.kind != "f":
        raise ValueError("CTCGreedyDecoder: data must be float16 or float32")
    output_shapes({name: array.shape for name, array in inputs.items()}, params)
    if np.any((lengths < 0) | (lengths > data.shape[1])):
        raise ValueError(
            f"CTCGreedyDecoder: sequence_length must be from 0 to T, not {lengths.tolist()}"
        )
    blank = params["blank_index"] % data.shape[2]
    index = np.full(data.shape[:2], -1, np.int32)
    count = np.zeros(len(data), np.int32)
    score = np.zeros(len(data))
    for batch, length in enumerate(lengths):
        rows = data[batch, :length]
        path = np.where(np.isnan(rows), -np.inf, rows).argmax(axis=1)
        is_new = np.ones(length, bool)
        if params["merge_repeated"]:
            is_new[1:] = path[1:] != path[:-1]
        labels = path[is_new & (path != blank)]
        index[batch, : len(labels)] = labels
        count[batch] = len(labels)
        with np.errstate(invalid="ignore", over="ignore"):
            score[batch] = rows[np.arange(length), path].sum(dtype=np.float64)
    with np.errstate(over="ignore"):
        return {"classes_index": index, "count": count, "score": score.astype(np.float32)}
