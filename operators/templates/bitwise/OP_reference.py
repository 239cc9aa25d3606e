{% set names = spec.inputs|map(attribute="name")|list %}
{% set output = spec.outputs[0].name %}
{{ docstring }}
{% if names|length == 2 %}

import numpy as np
{% endif %}


def output_shapes(input_shapes, params):
    """Return the shape of the output{{ ", to which the inputs broadcast" if names|length > 1 }}.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value; {{ spec.name }} has none.
    """
{% if names|length == 1 %}
    return {"{{ output }}": tuple(input_shapes["{{ names[0] }}"])}
{% else %}
    arrays = [np.broadcast_to(0, input_shapes[name]) for name in ("{{ names|join('", "') }}")]
    return {"{{ output }}": np.broadcast(*arrays).shape}
{% endif %}


def reference(inputs, params):
    """Return the array of the output.

    inputs: dict of input name -> array.
    params: as above.
    """
    {{ names|join(", ") }} = inputs["{{ names|join('"], inputs["') }}"]
    if {% for each in names %}{{ each }}.dtype.kind not in "iu"{{ " or " if not loop.last }}{% endfor %}:
        raise ValueError("{{ spec.name }}: {{ names|join(" and ") }} must be integers")
{% if names|length == 2 %}
    if a.dtype != b.dtype:
        raise ValueError("{{ spec.name }}: a, b and {{ output }} must be of one type")
{% endif %}
{{ own|indent(4, true) }}
    return {"{{ output }}": {{ output }}}
