/*
 * The math of {{ spec.name }}.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in {{ lower }}_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in
 * all. Floating-point tensors are arrays of float, also if the model has float16.
 */
#ifndef {{ upper }}_COMPUTE_H
#define {{ upper }}_COMPUTE_H

{{ own }}

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
    struct opkit_reduction plan;
    const char *problem =
        opkit_check_reduced(&inputs->data, params->axes, params->keepdims,
                            params->noop_with_empty_axes, &outputs->reduced, &plan);

    if (problem == NULL) {
        {{ lower }}_run(&plan, inputs->data.float32, outputs->reduced.float32);
    }
    return problem;
}

#endif
