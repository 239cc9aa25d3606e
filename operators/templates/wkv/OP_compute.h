{% set keys = spec.inputs|map(attribute="name")|reject("in", ["v", "past_state"])|list %}
{% set inputs = "const struct " ~ lower ~ "_inputs *inputs" %}
{% set part = upper ~ "_GRAIN" %}
{% set shapes = {"u": "[heads, key size]"} %}
{% set call = "const struct " ~ lower ~ "_call *call" %}
/*
 * The math of {{ spec.name }}: time mixing by a matrix state for each head.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in {{ lower }}_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, also if the model has float16.
 *
 * A part of the work is some columns of one head: they stay in the cache for all positions.
 */
#ifndef {{ upper }}_COMPUTE_H
#define {{ upper }}_COMPUTE_H

#include <string.h>

#include "generated/{{ lower }}.h"
#include "include/opkit/compute/math.h"
#include "include/opkit/compute/matrix_state.h"
#include "include/opkit/compute/parallel.h"
#include "include/opkit/compute/processor.h"

enum {
    {{ upper }}_GRAIN = 65536 /* elements of states that are worth a thread */
};

/* A call: its tensors, and its sizes. */
struct {{ lower }}_call {
    const float *{{ keys|join(", *") }}, *v, *past;
    float *y, *present;
    size_t positions, heads;
    size_t keys, values; /* rows and columns of a state */
    size_t parts; /* of the columns of a state */
};

{{ own }}

/* Computes some columns of a head, from the column `first` on, for all positions. */
OPKIT_INLINE void {{ lower }}_run({{ call }}, size_t batch, size_t head, size_t first)
{
    const size_t values = call->values, width = opkit_state_width(values, first);
    const size_t matrix = (batch * call->heads + head) * call->keys * values + first;
    struct opkit_state_row state[OPKIT_STATE_ROWS];

    opkit_state_load(call->past + matrix, values, width, call->keys, state);
    for (size_t i = 0; i < call->positions; i++) {
        const size_t place = (batch * call->positions + i) * call->heads + head;
        const size_t column = place * values + first;
        const struct opkit_state_row value = opkit_state_load_row(call->v + column, width);
        const struct opkit_state_row found = {{ lower }}_step(call, place, head, &value, state);

        opkit_state_store_row(&found, call->y + column, width);
    }
    opkit_state_store(state, call->keys, call->present + matrix, values, width);
}
OPKIT_WIDEST({{ lower }}_run, ({{ call }}, size_t batch, size_t head, size_t first),
             (call, batch, head, first))

/* Computes parts of the columns of all states. */
static void {{ lower }}_part(const void *context, size_t begin, size_t end)
{
    const struct {{ lower }}_call *call = (const struct {{ lower }}_call *)context;

    for (size_t i = begin; i < end; i++) {
        const size_t head = i / call->parts % call->heads;
        const size_t batch = i / call->parts / call->heads;
        const size_t first = i % call->parts * OPKIT_STATE_COLUMNS;

        {{ lower }}_run_widest(call, batch, head, first);
    }
}

/* Whether a tensor of floats has `size` elements for each position. */
static bool {{ lower }}_is_rows(const struct opkit_tensor *tensor, size_t count, size_t positions,
                         size_t size)
{
    return tensor->type == OPKIT_FLOAT32 && tensor->rank == 3 && tensor->shape[0] == count &&
           tensor->shape[1] == positions && tensor->shape[2] == size;
}

/* Checks the tensors; computes the sizes. Returns NULL, or an error message. */
static const char *{{ lower }}_check({{ inputs }}, const struct {{ lower }}_outputs *outputs,
                              struct {{ lower }}_call *call)
{
    const struct opkit_tensor *past = &inputs->past_state, *present = &outputs->present_state;
    const size_t count = past->shape[0], heads = past->shape[1], positions = inputs->r.shape[1];
    const size_t keys = past->shape[2], values = past->shape[3];

    if (past->type != OPKIT_FLOAT32 || past->rank != 4 || keys < 1 || keys > OPKIT_STATE_ROWS) {
        return "past_state must be [N, heads, key size, value size], with keys of 1 to 512 "
               "elements";
    }
{% for name in keys %}
{% if name == "u" %}
    if (inputs->u.type != OPKIT_FLOAT32 || inputs->u.rank != 2 || inputs->u.shape[0] != heads ||
        inputs->u.shape[1] != keys) {
        return "u must be [heads, key size]";
    }
{% else %}
    if (!{{ lower }}_is_rows(&inputs->{{ name }}, count, positions, heads * keys)) {
        return "{{ name }} must be [N, S, heads * key size]";
    }
{% endif %}
{% endfor %}
    if (!{{ lower }}_is_rows(&inputs->v, count, positions, heads * values)) {
        return "v must be [N, S, heads * value size]";
    }
    if (!{{ lower }}_is_rows(&outputs->y, count, positions, heads * values) ||
        present->type != OPKIT_FLOAT32 || present->rank != past->rank ||
        memcmp(present->shape, past->shape, sizeof past->shape) != 0) {
        return "y must have the shape of v, and present_state that of past_state";
    }
    call->positions = positions;
    call->heads = heads;
    call->keys = keys;
    call->values = values;
    call->parts = opkit_state_parts(values);
    return NULL;
}

/*
 * Computes the outputs:
 *
{% for name in keys %}
 *   inputs->{{ name }}                 {{ shapes.get(name, "[N, S, heads * key size]") }}
{% endfor %}
 *   inputs->v                 [N, S, heads * value size]
 *   inputs->past_state        [N, heads, key size, value size]
 *   outputs->y                the shape of v
 *   outputs->present_state    the shape of past_state
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *{{ lower }}_compute({{ inputs }}, const struct {{ lower }}_params *params,
                                struct {{ lower }}_outputs *outputs)
{
    struct {{ lower }}_call call;

    (void)params;
    const char *problem = {{ lower }}_check(inputs, outputs, &call);
    if (problem != NULL) {
        return problem;
    }

{% for name in keys + ["v"] %}
    call.{{ name }} = inputs->{{ name }}.float32;
{% endfor %}
    call.past = inputs->past_state.float32;
    call.y = outputs->y.float32;
    call.present = outputs->present_state.float32;
    const size_t work = (call.positions + 1) * call.keys * OPKIT_STATE_COLUMNS;
    opkit_parallel_for(inputs->past_state.shape[0] * call.heads * call.parts, {{ part }} / work + 1,
                       {{ lower }}_part, &call);
    return NULL;
}

#endif
