{% set has_integers = "_run_integers" in own %}
{% set run = lower ~ "_run" %}
/*
 * The math of {{ spec.name }}.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in {{ lower }}_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in
 * all. Floating-point tensors are arrays of float, also if the model has float16.
{% if has_integers %}
 * Integers are not converted; their results wrap around.
{% endif %}
 */
#ifndef {{ upper }}_COMPUTE_H
#define {{ upper }}_COMPUTE_H

{{ own }}
OPKIT_WIDEST({{ run }}, (const struct opkit_reduction *plan, const float *x, float *y),
             (plan, x, y))

/*
 * Computes the outputs:
 *
 *   inputs->data                    any shape
 *   params->axes                    the axes; OPKIT_NO_AXES: none are named
 *   params->keepdims                1: reduced has 1 along the axes; 0: it lacks them
 *   params->noop_with_empty_axes    without axes, 0: reduces all of them; 1: none
 *   outputs->reduced                the shape of data, with 1 along the axes, or without them
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *{{ lower }}_compute(const struct {{ lower }}_inputs *inputs,
{{ " " * (28 + lower|length) }}const struct {{ lower }}_params *params,
{{ " " * (28 + lower|length) }}struct {{ lower }}_outputs *outputs)
{
    const struct opkit_tensor *data = &inputs->data, *reduced = &outputs->reduced;
    struct opkit_reduction plan;

{% if has_integers %}
    if (!opkit_is_reducible(data->type) || reduced->type != data->type) {
        return "data must be float16, float32, int32, uint32 or int64, and reduced of its type";
    }
{% else %}
    if (data->type != OPKIT_FLOAT32 || reduced->type != OPKIT_FLOAT32) {
        return "data and reduced must be float16 or float32";
    }
{% endif %}
    const char *problem = opkit_check_reduced(data, params->axes, params->keepdims,
                                              params->noop_with_empty_axes, reduced, &plan);

    if (problem != NULL) {
        return problem;
    }
{% if has_integers %}
    if (data->type != OPKIT_FLOAT32) {
        {{ lower }}_run_integers(&plan, data, reduced);
        return NULL;
    }
{% endif %}
    {{ run }}_widest(&plan, data->float32, reduced->float32);
    return NULL;
}

#endif
