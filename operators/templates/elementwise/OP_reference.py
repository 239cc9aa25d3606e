{% set names = spec.inputs|map(attribute="name")|list %}
{% set variables = ["x"] if names|length == 1 else names %}
{% set output = spec.outputs[0] %}
{% set is_bool = spec.inputs[0].dtype == "bool" %}
{{ docstring }}

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of the output{{ ", to which the inputs broadcast" if names|length > 1 }}.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value{{ "; " ~ spec.name ~ " has none" if not spec.params else ": " ~ spec.params|map(attribute="name")|join(", ") }}.
    """
{% if names|length == 1 %}
    return {"{{ output.name }}": tuple(input_shapes["{{ names[0] }}"])}
{% else %}
    arrays = [np.broadcast_to(0, input_shapes[name]) for name in ("{{ names|join('", "') }}")]
    return {"{{ output.name }}": np.broadcast(*arrays).shape}
{% endif %}


def reference(inputs, params):
    """Return the array of the output.

    inputs: dict of input name -> array{{ "; half-precision tensors arrive as float32" if not is_bool }}.
    params: as above.
    """
    {{ variables|join(", ") }} = inputs["{{ names|join('"], inputs["') }}"]
{% if is_bool %}
    if {% for each in variables %}{{ each }}.dtype != np.bool_{{ " or " if not loop.last }}{% endfor %}:
        raise ValueError("{{ spec.name }}: {{ names|join(" and ") }} must be bool")
{{ own|indent(4, true) }}
    return {"{{ output.name }}": y}
{% else %}
    if {% for each in variables %}{{ each }}.dtype.kind != "f"{{ " or " if not loop.last }}{% endfor %}:
        raise ValueError("{{ spec.name }}: {{ names|join(" and ") }} must be float16 or float32")
    with np.errstate(all="ignore"):
{{ own|indent(8, true) }}
        return {"{{ output.name }}": y{{ ".astype(" ~ variables[0] ~ ".dtype)" if not output.dtype }}}
{% endif %}
