/*
 * RotaryEmbedding on the GPU, in OpenCL C 1.2: one work item for each pair of features of a token,
 * and for each feature that is copied.
 *
 * A token has the features of one head at one position. The arguments are x, cos_cache, sin_cache,
 * position_ids (whole numbers, as floats) and y, then what rotaryembedding_gpu.h adds.
 */
__kernel void rotaryembedding_kernel(
    __global const float *x,
    __global const float *cos_cache,
    __global const float *sin_cache,
    __global const float *position_ids,
    __global float *y,
    const int tokens,
    const int heads,
    const int positions,
    const int features, /* of a token */
    const int pairs, /* of a token */
    const int is_by_head, /* 1: positions within heads; 0: heads within positions */
    const int has_rows, /* 1: position_ids are rows of the caches; 0: they are 0 */
    const int rows, /* position_ids are below */
    const int interleaved)
{
    const int item = (int)get_global_id(0);
    const int token = (int)get_global_id(1);

    if (item >= features - pairs || token >= tokens) {
        return;
    }
    x += token * features;
    y += token * features;
    if (item >= pairs) { /* behind the pairs */
        y[pairs + item] = x[pairs + item];
        return;
    }
    const int position = is_by_head ? token % positions : token / heads % positions;
    const int place = token / (heads * positions) * positions + position;
    const float id = position_ids[place];
    const int first = interleaved ? 2 * item : item;
    const int second = interleaved ? first + 1 : pairs + item;
    float cosine = NAN, sine = NAN; /* of an invalid row, which the CPU refuses */

    if (id >= 0.0f && id < (float)rows) {
        const int index = (has_rows ? (int)id : place) * pairs + item;

        cosine = cos_cache[index];
        sine = sin_cache[index];
    }
    y[first] = cosine * x[first] - sine * x[second];
    y[second] = sine * x[first] + cosine * x[second];
}
