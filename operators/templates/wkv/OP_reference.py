{% set inputs = spec.inputs|map(attribute="name")|list %}
{% set others = inputs|reject("in", ["r", "u", "v", "past_state"])|list %}
{% set keys = '("' ~ others|join('", "') ~ '")' %}
{{ docstring }}

import numpy as np

MAX_KEYS = 512


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: an empty dict.
    """
    past, r, v = (tuple(input_shapes[name]) for name in ("past_state", "r", "v"))
    if len(past) != 4 or not 1 <= past[2] <= MAX_KEYS:
        raise ValueError(
            "{{ spec.name }}: past_state must be [N, heads, key size, value size], with keys of 1 to "
            f"{MAX_KEYS} elements, not {past}"
        )
    count, heads, keys, values = past
    if len(r) != 3 or (r[0], r[2]) != (count, heads * keys):
        raise ValueError(f"{{ spec.name }}: r must be [N, S, heads * key size], not {r}")
    for name in {{ keys }}:
        if tuple(input_shapes[name]) != r:
            raise ValueError(
                f"{{ spec.name }}: {name} must be [N, S, heads * key size], not {input_shapes[name]}"
            )
{% if "u" in inputs %}
    if tuple(input_shapes["u"]) != (heads, keys):
        raise ValueError(f"{{ spec.name }}: u must be [heads, key size], not {input_shapes['u']}")
{% endif %}
    if v != (*r[:2], heads * values):
        raise ValueError(f"{{ spec.name }}: v must be [N, S, heads * value size], not {v}")
    return {"y": v, "present_state": past}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    if any(array.dtype.kind != "f" for array in inputs.values()):
        raise ValueError("{{ spec.name }}: all tensors must be float16 or float32")
    output_shapes({name: array.shape for name, array in inputs.items()}, params)
    state = inputs["past_state"].astype(np.float64)
    heads, keys, values = state.shape[1:]
    count, length, _ = inputs["r"].shape

    def columns(name):  # of each position and head
        return inputs[name].astype(np.float64).reshape(count, length, heads, keys, 1)

    v = inputs["v"].astype(np.float64).reshape(count, length, heads, 1, values)
    y = np.zeros(v.shape)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
{{ own|indent(8, true) }}
    return {
        "y": y.reshape(inputs["v"].shape).astype(inputs["v"].dtype),
        "present_state": state.astype(inputs["past_state"].dtype),
    }
