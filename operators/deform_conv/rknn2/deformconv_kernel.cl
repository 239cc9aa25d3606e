/*
 * DeformConv on the GPU, in OpenCL C 1.2: one work item for each location of an image and each tile
 * of TILE channels of y, which have the samples of the location in common.
 *
 * The arguments are x, w, offset, b, mask and y, then what deformconv_gpu.h adds.
 */

#define TILE 8 /* channels of y, as in deformconv_gpu.h */

/* The two neighbors of a sample along one axis. Outside of the image, the weight is 0. */
struct neighbors {
    int index[2];
    float weight[2];
};

/* Finds the neighbors of a location, in pixels. NaN gives weights of NaN. */
void find(float location, int length, struct neighbors *found)
{
    const float end = (float)length;
    const float clipped = location < -1.0f ? -1.0f : location > end ? end : location;
    const float left = floor(clipped);
    const float after = clipped - left;
    const int first = isnan(location) ? 0 : (int)left;

    for (int i = 0; i < 2; i++) {
        const int index = first + i;

        found->index[i] = clamp(index, 0, length - 1);
        found->weight[i] = 0.0f;
        if (index == found->index[i]) {
            found->weight[i] = i == 0 ? 1.0f - after : after;
        }
    }
}

/* The four neighbors of a sample in an image. */
struct corners {
    int index[4];
    float weight[4];
};

/* Finds the neighbors of a sample. `factor`: the mask. */
void find_corners(float row, float column, int rows, int columns, float factor,
                  struct corners *found)
{
    struct neighbors down, across;

    find(row, rows, &down);
    find(column, columns, &across);
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) {
            found->index[2 * i + j] = down.index[i] * columns + across.index[j];
            found->weight[2 * i + j] = down.weight[i] * (across.weight[j] * factor);
        }
    }
}

/* Interpolates a sample of a channel. A pixel of weight 0 counts as 0, even infinity. */
float interpolate(__global const float *map, const struct corners *corners)
{
    float sum = 0.0f;

    for (int i = 0; i < 4; i++) {
        if (corners->weight[i] != 0.0f) {
            sum += map[corners->index[i]] * corners->weight[i];
        }
    }
    return sum;
}

__kernel void deformconv_kernel(
    __global const float *x,
    __global const float *w,
    __global const float *offset,
    __global const float *b,
    __global const float *mask,
    __global float *y,
    const int images,
    const int channels, /* of x */
    const int rows,
    const int columns,
    const int groups,
    const int group_channels, /* channels of x in a group */
    const int group_kernels, /* channels of y in a group */
    const int offset_groups,
    const int kernel_rows,
    const int kernel_columns,
    const int output_rows,
    const int output_columns,
    const int row_stride,
    const int column_stride,
    const int row_dilation,
    const int column_dilation,
    const int row_pad,
    const int column_pad)
{
    const int location = (int)get_global_id(0);
    const int tiles = (group_kernels + TILE - 1) / TILE; /* of a group */
    const int group = (int)get_global_id(1) / tiles;
    const int image = (int)get_global_id(2);
    const int locations = output_rows * output_columns;
    const int pixels = rows * columns;
    const int elements = kernel_rows * kernel_columns;

    if (location >= locations || group >= groups || image >= images) {
        return;
    }
    /* The first channel of y, and the count of those that exist: the last tile may have fewer. */
    const int in_group = (int)get_global_id(1) % tiles * TILE;
    const int kernel_count = min(TILE, group_kernels - in_group);
    const int first_kernel = group * group_kernels + in_group;
    /* The channels of x of the group, and the offset groups that have them. */
    const int begin = group * group_channels;
    const int end = begin + group_channels;
    const int offset_channels = channels / offset_groups;
    const int row = location / output_columns * row_stride - row_pad;
    const int column = location % output_columns * column_stride - column_pad;
    const int w_step = group_channels * elements; /* from a kernel to the next one */
    float sums[TILE];

    for (int k = 0; k < TILE; k++) {
        sums[k] = 0.0f;
    }
    x += image * channels * pixels;
    w += first_kernel * w_step;
    for (int channel = begin; channel < end;) {
        const int offset_group = channel / offset_channels;
        const int next = min(end, (offset_group + 1) * offset_channels);

        for (int element = 0; element < elements; element++) {
            const int sample = (image * offset_groups + offset_group) * elements + element;
            const int i = element / kernel_columns, j = element % kernel_columns;
            const float y_shift = offset[2 * sample * locations + location];
            const float x_shift = offset[(2 * sample + 1) * locations + location];
            struct corners corners;

            find_corners((float)(row + i * row_dilation) + y_shift,
                         (float)(column + j * column_dilation) + x_shift, rows, columns,
                         mask[sample * locations + location], &corners);
            for (int c = channel; c < next; c++) {
                __global const float *weight = w + (c - begin) * elements + element;
                const float value = interpolate(x + c * pixels, &corners);

                for (int k = 0; k < TILE; k++) {
                    if (k < kernel_count) {
                        sums[k] += value * weight[k * w_step];
                    }
                }
            }
        }
        channel = next;
    }
    for (int k = 0; k < TILE; k++) {
        if (k < kernel_count) {
            const int map = image * groups * group_kernels + first_kernel + k;

            y[map * locations + location] = sums[k] + b[first_kernel + k];
        }
    }
}
