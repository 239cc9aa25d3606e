"""CTCBeamSearchDecoder in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

Prefix beam search without a language model, in logarithms in float64: A. Graves, Supervised
Sequence Labelling with Recurrent Neural Networks (2012), section 7.5.3, and A. Hannun et al.,
First-Pass Large Vocabulary Continuous Speech Recognition using Bi-Directional Recurrent DNNs
(2014), algorithm 1. A prefix is the labels of many paths. It has two probabilities: of its paths
that end with a blank, and of the others. At each position, a prefix

* stays, by a blank, or by its last label again;
* is extended by a label; by its last one, only from the paths that end with a blank.

The beam_width most probable prefixes are kept.

Where the papers are open: of equally probable prefixes, the earlier one is better: those that stay
are before those that are new, in the order of the position before, and then of the classes. NaN is
the smallest number, and infinities are the largest numbers.
"""

import numpy as np

NONE = -np.inf


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: beam_width, top_paths and blank_index, ints.
    """
    data, lengths = tuple(input_shapes["data"]), tuple(input_shapes["sequence_length"])
    if len(data) != 3 or data[2] < 1:
        raise ValueError(f"CTCBeamSearchDecoder: data must be [N, T, classes], not {data}")
    if not -1 <= params["blank_index"] < data[2]:
        raise ValueError(
            "CTCBeamSearchDecoder: blank_index must be -1 or a class, not {}".format(
                params["blank_index"]
            )
        )
    if params["top_paths"] > params["beam_width"]:
        raise ValueError(
            "CTCBeamSearchDecoder: top_paths must be at most beam_width, not {}".format(
                params["top_paths"]
            )
        )
    if lengths != data[:1]:
        raise ValueError(f"CTCBeamSearchDecoder: sequence_length must be [N], not {lengths}")
    paths = (data[0], params["top_paths"])
    return {"classes_index": (*paths, data[1]), "count": paths, "log_probability": paths}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    data, lengths = inputs["data"], inputs["sequence_length"]
    if data.dtype.kind != "f":
        raise ValueError("CTCBeamSearchDecoder: data must be float16 or float32")
    shapes = output_shapes({name: array.shape for name, array in inputs.items()}, params)
    if np.any((lengths < 0) | (lengths > data.shape[1])):
        raise ValueError(
            f"CTCBeamSearchDecoder: sequence_length must be from 0 to T, not {lengths.tolist()}"
        )
    index = np.full(shapes["classes_index"], -1, np.int32)
    count = np.zeros(shapes["count"], np.int32)
    found = np.full(shapes["log_probability"], NONE)
    for batch, length in enumerate(lengths):
        beam = searched(data[batch, :length], params)
        for path, (prefix, ends) in enumerate(beam[: params["top_paths"]]):
            index[batch, path, : len(prefix)] = prefix
            count[batch, path] = len(prefix)
            found[batch, path] = np.logaddexp(*ends)
    with np.errstate(over="ignore"):
        return {
            "classes_index": index,
            "count": count,
            "log_probability": found.astype(np.float32),
        }


def searched(rows, params):
    """Return the prefixes of a sequence, with the logarithms of both probabilities, best first."""
    largest = np.finfo(np.float32).max
    blank = params["blank_index"] % rows.shape[1]
    beam = [((), (0.0, NONE))]
    for row in rows.astype(np.float64):
        row = np.clip(np.where(np.isnan(row), -largest, row), -largest, largest)
        row = row - row.max()
        row = row - np.log(np.exp(row).sum())
        place = {prefix: i for i, (prefix, _) in enumerate(beam)}
        totals = [np.logaddexp(*ends) for _, ends in beam]
        candidates = []
        for i, (prefix, ends) in enumerate(beam):
            again = NONE
            if prefix:
                again = ends[1] + row[prefix[-1]]
                parent = place.get(prefix[:-1])
                if parent is not None:
                    grown = extension(beam[parent], totals[parent], row, prefix[-1])
                    again = np.logaddexp(again, grown)
            candidates.append((prefix, (totals[i] + row[blank], again)))
        for i, (prefix, _) in enumerate(beam):
            for label in range(len(row)):
                grown = extension(beam[i], totals[i], row, label)
                if label != blank and grown > NONE and (*prefix, label) not in place:
                    candidates.append(((*prefix, label), (NONE, grown)))
        scores = np.array([np.logaddexp(*ends) for _, ends in candidates])
        order = np.argsort(-scores, kind="stable")[: params["beam_width"]]
        beam = [candidates[i] for i in order]
    return beam


def extension(entry, total, row, label):
    """Return the logarithm of the probability of a prefix that a label extends."""
    prefix, ends = entry
    return (ends[0] if prefix[-1:] == (label,) else total) + row[label]
