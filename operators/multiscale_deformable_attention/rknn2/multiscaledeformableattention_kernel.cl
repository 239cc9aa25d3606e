/*
 * MultiscaleDeformableAttention on the GPU, in OpenCL C 1.2: one work item for each query, head and
 * 4 neighboring channels, which have the samples in common. A float4 is a vector of 4 floats.
 *
 * The arguments are value, sampling_locations, attention_weights and output, then what
 * multiscaledeformableattention_gpu.h adds.
 */

/* The two neighbors of a sample along one axis. Outside of the feature map, the weight is 0. */
struct neighbors {
    int index[2];
    float weight[2];
};

/* Finds the neighbors of a location from 0 to 1, from edge to edge. NaN gives weights of NaN. */
void find(float location, int length, struct neighbors *found)
{
#pragma OPENCL FP_CONTRACT OFF /* no fused multiply-add: the place rounds as in the reference */
    const float end = (float)length;
    const float place = location * end - 0.5f;
    const float clipped = place < -1.0f ? -1.0f : place > end ? end : place;
    const float left = floor(clipped);
    const float after = clipped - left;
    const int first = isnan(place) ? 0 : (int)left;

    for (int i = 0; i < 2; i++) {
        const int index = first + i;

        found->index[i] = clamp(index, 0, length - 1);
        found->weight[i] = 0.0f;
        if (index == found->index[i]) {
            found->weight[i] = i == 0 ? 1.0f - after : after;
        }
    }
}

/* Returns neighboring channels of a pixel, of which `count` exist; the others are 0. */
float4 load(__global const float *pixel, int count)
{
    if (count == 4) {
        return vload4(0, pixel);
    }
    return (float4)(pixel[0], count > 1 ? pixel[1] : 0.0f, count > 2 ? pixel[2] : 0.0f, 0.0f);
}

/*
 * Returns a sample of a feature map. A pixel of weight 0 counts as 0, even infinity.
 *
 *   map       the channels in the first pixel
 *   pitch     the floats of a pixel
 *   factor    the attention weight
 *   count     the channels that exist
 */
float4 sample(__global const float *map, int columns, int pitch, const struct neighbors *down,
              const struct neighbors *across, float factor, int count)
{
    float4 sum = (float4)(0.0f);

    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) {
            const float weight = down->weight[i] * across->weight[j];
            const int pixel = down->index[i] * columns + across->index[j];

            if (weight != 0.0f) {
                sum += load(map + pixel * pitch, count) * (weight * factor);
            }
        }
    }
    return sum;
}

__kernel void multiscaledeformableattention_kernel(
    __global const float *value,
    __global const float *sampling_locations,
    __global const float *attention_weights,
    __global float *output,
    __global const int *sizes, /* rows and columns of each level */
    __global const int *starts, /* the first pixel of each level */
    const int images,
    const int keys, /* pixels of all levels */
    const int heads,
    const int channels,
    const int queries,
    const int levels,
    const int points)
{
    const int vectors = (channels + 3) / 4; /* of a head */
    const int head = (int)get_global_id(0) / vectors;
    const int channel = (int)get_global_id(0) % vectors * 4;
    const int query = (int)get_global_id(1);
    const int image = (int)get_global_id(2);
    const int pitch = heads * channels;

    if (head >= heads || query >= queries || image >= images) {
        return;
    }
    const int row = (image * queries + query) * heads + head; /* of the locations and the output */
    const int count = min(4, channels - channel);
    float4 sum = (float4)(0.0f);

    value += image * keys * pitch + head * channels + channel;
    for (int level = 0; level < levels; level++) {
        const int rows = sizes[2 * level], columns = sizes[2 * level + 1];
        __global const float *map = value + starts[level] * pitch;

        for (int point = 0; point < points; point++) {
            const int place = (row * levels + level) * points + point;
            struct neighbors down, across;

            find(sampling_locations[2 * place], columns, &across);
            find(sampling_locations[2 * place + 1], rows, &down);
            sum += sample(map, columns, pitch, &down, &across, attention_weights[place], count);
        }
    }
    output += row * channels + channel;
    if (count == 4) {
        vstore4(sum, 0, output);
        return;
    }
    output[0] = sum.x;
    if (count > 1) {
        output[1] = sum.y;
    }
    if (count > 2) {
        output[2] = sum.z;
    }
}
