/* The launch of the GPU kernel of RotaryEmbedding: work items, and arguments behind the tensors. */
#ifndef ROTARYEMBEDDING_GPU_H
#define ROTARYEMBEDDING_GPU_H

#include "../include/opkit/runtimes/rknn2/launch.h"
#include "../rotaryembedding_compute.h"

/* Whole numbers up to this one are floats, as position_ids is on the GPU. */
#define ROTARYEMBEDDING_MAX_ROWS (1 << 24)

/*
 * Describes the launch: one work item for each pair or copied feature, and each token. Returns
 * NULL, or the reason why the GPU cannot compute this.
 */
static const char *rotaryembedding_launch(const struct rotaryembedding_inputs *inputs,
                                          const struct rotaryembedding_params *params,
                                          const struct rotaryembedding_outputs *outputs,
                                          struct opkit_launch *launch)
{
    const struct opkit_tensor *x = &inputs->x, *cosines = &inputs->cos_cache;
    struct rotaryembedding_sizes sizes;

    const char *problem = rotaryembedding_read(x, params, &sizes);
    if (problem == NULL) {
        problem = rotaryembedding_check(inputs, &outputs->y, &sizes);
    }
    if (problem != NULL) {
        return problem;
    }
    if (x->size > INT32_MAX || cosines->size > INT32_MAX) {
        return "the GPU kernel counts elements in int";
    }
    if (rotaryembedding_rows(cosines) > ROTARYEMBEDDING_MAX_ROWS) {
        return "the GPU kernel gets position_ids as float32, exact up to 2^24";
    }
    const size_t tokens = sizes.batches * sizes.heads * sizes.positions;
    launch->global_size[0] = sizes.features - sizes.pairs;
    launch->global_size[1] = tokens;
    opkit_add_int(launch, (int32_t)tokens);
    opkit_add_int(launch, (int32_t)sizes.heads);
    opkit_add_int(launch, (int32_t)sizes.positions);
    opkit_add_int(launch, (int32_t)sizes.features);
    opkit_add_int(launch, (int32_t)sizes.pairs);
    opkit_add_int(launch, x->rank == 4);
    opkit_add_int(launch, cosines->rank == 2);
    opkit_add_int(launch, (int32_t)rotaryembedding_rows(cosines));
    opkit_add_int(launch, (int32_t)params->interleaved);
    return NULL;
}

#endif
