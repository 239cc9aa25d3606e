{{ docstring }}

import numpy as np

NO_AXES = [-999]


def reduced_axes(rank, params):
    """Return the axes, from 0 on."""
    axes = list(params["axes"])
    for name in ("keepdims", "noop_with_empty_axes"):
        if params[name] not in (0, 1):
            raise ValueError(f"{{ spec.name }}: {name} must be 0 or 1, not {params[name]}")
    if axes == NO_AXES:
        return () if params["noop_with_empty_axes"] else tuple(range(rank))
    if not all(-rank <= axis < rank for axis in axes) or len({a % rank for a in axes}) < len(axes):
        raise ValueError(
            "{{ spec.name }}: axes must be different dimensions, from -rank to rank - 1, "
            f"{-rank} to {rank - 1}, not {axes}"
        )
    return tuple(axis % rank for axis in axes)


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: axes, a list of ints; keepdims and noop_with_empty_axes, 0
        or 1.
    """
    shape = input_shapes["data"]
    axes = reduced_axes(len(shape), params)
    if params["keepdims"]:
        return {"reduced": tuple(1 if i in axes else side for i, side in enumerate(shape))}
    kept = tuple(side for i, side in enumerate(shape) if i not in axes)
    return {"reduced": kept or (1,)}  # a tensor without dimensions is [1]


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    data = inputs["data"]
{% if "int64" in own %}
    if data.dtype.kind != "f" and data.dtype.name not in ("int32", "uint32", "int64"):
        raise ValueError(
            "{{ spec.name }}: data must be float16, float32, int32, uint32 or int64, and reduced "
            "of its type"
        )
{% else %}
    if data.dtype.kind != "f":
        raise ValueError("{{ spec.name }}: data and reduced must be float16 or float32")
{% endif %}
    axes = reduced_axes(data.ndim, params)
    shape = output_shapes({"data": data.shape}, params)["reduced"]
    with np.errstate(all="ignore"):
{{ own|indent(8, true) }}
        return {"reduced": np.asarray(reduced).astype(data.dtype).reshape(shape)}
