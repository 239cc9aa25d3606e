"""Einsum in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

Sums of products of two tensors, as in the ONNX specification of Einsum, in float64, and rounded
once.
"""

import numpy as np

MAX_INDICES = 16


def indices_of(term, rank):
    """Return the indices of a term: letters, and for `...` numbers, 0 for the last dimension."""
    before, dots, after = term.partition("...")
    letters = before + after
    if not all("A" <= each <= "Z" or "a" <= each <= "z" for each in letters):
        raise ValueError(f"Einsum: equation must have letters, commas, `...` and ->, not {term}")
    if not dots and len(letters) != rank:
        raise ValueError(f"Einsum: equation must have a letter for each dimension, not {term}")
    if len(letters) > rank:
        raise ValueError(f"Einsum: equation has more letters than dimensions, {term}")
    return [*before, *reversed(range(rank - len(letters))), *after]


def parsed(equation, ranks):
    """Return the indices of both inputs and of the output."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != 2:
        raise ValueError(f"Einsum: equation must have 2 inputs, not {len(terms)}")
    one, other = map(indices_of, terms, ranks)
    every = one + other
    dots = sorted({each for each in every if isinstance(each, int)}, reverse=True)
    letters = sorted({each for each in every if isinstance(each, str)})
    if len(dots) + len(letters) > MAX_INDICES:
        raise ValueError(f"Einsum: equation must have at most {MAX_INDICES} different indices")
    if not arrow:
        output = dots + [each for each in letters if every.count(each) == 1]
    elif "..." in right:
        output = indices_of(right, len(right) - 3 + len(dots))
    elif dots:
        raise ValueError("Einsum: equation must have the inputs' `...` in the output, too")
    else:
        output = indices_of(right, len(right))
    if len({*output}) != len(output) or not {*output} <= {*every}:
        raise ValueError("Einsum: equation must have letters of the output once, and in an input")
    if len(output) > 6:
        raise ValueError("Einsum: output must have at most 6 dimensions")
    return one, other, output


def planned(input_shapes, params):
    """Return the indices of both inputs and of the output, and index -> side; 1 repeats."""
    shapes = [input_shapes["input_0"], input_shapes["input_1"]]
    one, other, output = parsed(params["equation"], [len(shape) for shape in shapes])
    sides = {}
    every = [*shapes[0], *shapes[1]]
    for axis, index in enumerate(one + other):
        side = every[axis]
        known = sides.get(index, 1)
        if 1 not in (known, side) and known != side:
            raise ValueError(
                f"Einsum: dimensions of a letter must be equal, or 1, not {known} and {side}"
            )
        sides[index] = known if side == 1 else side
    return one, other, output, sides


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: equation, a str.
    """
    *_, output, sides = planned(input_shapes, params)
    return {"output": tuple(sides[index] for index in output) or (1,)}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    if any(array.dtype.kind != "f" for array in inputs.values()):
        raise ValueError("Einsum: inputs must be float16 or float32")
    shapes = {name: array.shape for name, array in inputs.items()}
    one, other, output, sides = planned(shapes, params)
    places = {index: place for place, index in enumerate(sides)}
    operands = []
    for name, indices in (("input_0", one), ("input_1", other)):
        array = inputs[name].astype(np.float64)
        operands.append(np.broadcast_to(array, [sides[index] for index in indices]))
        operands.append([places[index] for index in indices])
    sums = np.einsum(*operands, [places[index] for index in output], optimize=True)
    shape = output_shapes(shapes, params)["output"]
    return {"output": np.reshape(sums, shape).astype(np.float32)}
