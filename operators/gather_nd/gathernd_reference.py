"""GatherND in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

The elements or slices of data at indices, as in the ONNX specification of GatherND.
"""

import numpy as np

MAX_RANK = 6  # of tensors


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: batch_dims, an int.
    """
    shape, indices = tuple(input_shapes["data"]), tuple(input_shapes["indices"])
    batch = params["batch_dims"]
    if not 0 <= batch < min(len(shape), len(indices)):
        raise ValueError(
            "GatherND: batch_dims must be 0 or more, and less than the ranks of data and indices, "
            f"not {batch}"
        )
    if not 1 <= indices[-1] <= len(shape) - batch:
        problem = "GatherND: the last dimension of indices must be 1 to the rank of data minus "
        raise ValueError(f"{problem}batch_dims, not {indices[-1]}")
    if shape[:batch] != indices[:batch]:
        raise ValueError(
            "GatherND: data and indices must have the same first batch_dims dimensions"
        )
    found = indices[:-1] + shape[batch + indices[-1] :]
    if len(found) > MAX_RANK:
        raise ValueError("GatherND: output must have at most 6 dimensions")
    return {"output": found or (1,)}  # a tensor without dimensions is [1]


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    data, indices = inputs["data"], inputs["indices"]
    batch = params["batch_dims"]
    lengths = np.array(data.shape[batch : batch + indices.shape[-1]])
    if np.any(indices < -lengths) or np.any(indices >= lengths):
        raise ValueError("GatherND: indices must be within data: from -length to length - 1")
    # Each batch has indices of its own: along the dimensions of batches, all are taken.
    grid = np.indices(indices.shape[:-1])[:batch]
    found = data[tuple(grid) + tuple(np.moveaxis(indices % lengths, -1, 0))]
    shapes = {name: array.shape for name, array in inputs.items()}
    return {"output": found.reshape(output_shapes(shapes, params)["output"])}
