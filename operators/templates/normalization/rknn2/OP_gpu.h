{% set indent = " " * ("static const char *_launch(" ~ lower)|length %}
/* The launch of {{ spec.name }}'s GPU kernel: work items, and arguments behind tensors. */
#ifndef {{ upper }}_GPU_H
#define {{ upper }}_GPU_H

#include "../{{ lower }}_compute.h"
#include "../include/opkit/runtimes/rknn2/launch.h"

enum {
    {{ upper }}_ITEMS = 64 /* of a work group; the kernel is correct for any count */
};

{{ own }}

/*
 * Describes the launch: one work group for each row. Returns NULL, or the reason why the GPU cannot
 * compute this.
 */
static const char *{{ lower }}_launch(const struct {{ lower }}_inputs *inputs,
{{ indent }}const struct {{ lower }}_params *params,
{{ indent }}const struct {{ lower }}_outputs *outputs,
{{ indent }}struct opkit_launch *launch)
{
    const char *problem = {{ lower }}_add_rows(inputs, params, outputs, launch);
    if (problem != NULL) {
        return problem;
    }
    if (inputs->{{ spec.inputs[0].name }}.size > INT32_MAX || launch->global_size[1] > INT32_MAX) {
        return "the GPU kernel counts elements in int";
    }
    launch->global_size[0] = launch->local_size[0] = {{ upper }}_ITEMS;
    opkit_add_float(launch, params->epsilon);
    opkit_add_local(launch, {{ upper }}_ITEMS * sizeof(float));
    return NULL;
}

#endif
