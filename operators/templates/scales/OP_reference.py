{% set scale, zero = spec.inputs[1].name, spec.inputs[2].name %}
{{ docstring }}

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of the output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value, all ints.
    """
    shapes = {name: tuple(shape) for name, shape in input_shapes.items()}
    if np.prod(shapes["{{ zero }}"]) != np.prod(shapes["{{ scale }}"]):
        raise ValueError(
            "{{ spec.name }}: y must have the shape of x, and {{ zero }} that of {{ scale }}"
        )
    spread(np.zeros(shapes["{{ scale }}"]), shapes["x"], params)
    return {"y": shapes["x"]}


def spread(scales, shape, params):
    """Return the scale of each element of a shape, or an array that is broadcast to it."""
    axis, block = params["axis"], params["block_size"]
    if block == 0 and scales.size == 1:
        return scales.reshape(())
    if not -len(shape) <= axis < len(shape):
        raise ValueError("{{ spec.name }}: axis must be a dimension of x")
    axis %= len(shape)
    if block == 0:
        if scales.shape != shape[axis : axis + 1]:
            raise ValueError(
                "{{ spec.name }}: scales must be one number, or one for each place along the axis"
            )
        return scales.reshape(-1, *[1] * (len(shape) - axis - 1))
    if scales.shape != (*shape[:axis], -(-shape[axis] // block), *shape[axis + 1 :]):
        raise ValueError("{{ spec.name }}: scales must be one for each block along the axis")
    return np.take(scales, np.arange(shape[axis]) // block, axis)


{{ own }}
