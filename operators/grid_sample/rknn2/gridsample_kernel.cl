/*
 * GridSample on the GPU, in OpenCL C 1.2: one work item for each location of an image, which
 * computes all channels there, since they have the same neighbors.
 *
 * The arguments are x, grid and y, then what gridsample_gpu.h adds. Images of 2 dimensions are those
 * of 3 dimensions with a single slice.
 */
#pragma OPENCL FP_CONTRACT OFF

#define NEAREST 1 /* the modes: neighbors of a location along an axis */
#define LINEAR 2
#define CUBIC 4
#define ZEROS 0 /* the padding */
#define REFLECTION 2

/* The neighbors along one axis. */
struct neighbors {
    int index[CUBIC];
    float weight[CUBIC];
};

/*
 * Returns the location, in pixels, of a normalized position. Each statement is one operation, in the
 * order of PyTorch and onnxruntime: in the nearest mode, another rounding is another pixel.
 */
float locate(float position, int length, int align_corners)
{
    const float offset = position + 1.0f;

    if (align_corners) {
        const float half_offset = offset / 2.0f;
        return half_offset * (float)(length - 1);
    }
    const float pixels = offset * (float)length;
    const float doubled = pixels - 1.0f;
    return doubled / 2.0f;
}

/* Returns the index of the pixel in the place of one outside of the image. */
int pad(int index, int length, int padding, int align_corners)
{
    const int period = align_corners ? 2 * (length - 1) : 2 * length;

    if (padding != REFLECTION) {
        return clamp(index, 0, length - 1);
    }
    if (period == 0) {
        return 0;
    }
    const int rest = index % period; /* from -period to period */
    const int first = rest < 0 ? rest + period : rest;
    return first < length ? first : period - first - (align_corners ? 0 : 1);
}

/* Writes the weights of neighbors. `after`: the location, from the neighbor at its left. */
void weigh(float after, int mode, float *weights)
{
    const float before = 1.0f - after;
    const float outer = -0.75f; /* the factor of the cubic kernel's outer parts */

    if (mode == NEAREST) {
        weights[0] = isnan(after) ? after : 1.0f;
    } else if (mode == LINEAR) {
        weights[0] = before;
        weights[1] = after;
    } else {
        weights[0] = outer * after * before * before;
        weights[1] = ((outer + 2.0f) * after - (outer + 3.0f)) * after * after + 1.0f;
        weights[2] = ((outer + 2.0f) * before - (outer + 3.0f)) * before * before + 1.0f;
        weights[3] = outer * before * after * after;
    }
}

/* Finds the neighbors of a normalized position along one axis. NaN gives weights of NaN. */
void find(float position, int length, int mode, int padding, int align_corners,
          struct neighbors *found)
{
    float location = locate(position, length, align_corners);
    int left = 0;

    /* Far outside, the nearer location of the same result, so that its index fits an int. */
    if (padding == REFLECTION) {
        const int period = align_corners ? 2 * (length - 1) : 2 * length;
        if (period != 0 && !(fabs(location) < (float)period)) {
            location = fmod(location, (float)period);
        } else if (isinf(location)) {
            location = NAN;
        }
    } else if (!isnan(location)) {
        location = clamp(location, -3.0f, (float)length + 2.0f);
    }
    if (!isnan(location) && !isinf(location)) {
        /* rint: ties to even, as the specification demands */
        left = (int)(mode == NEAREST ? rint(location) : floor(location));
    }
    weigh(location - (float)left, mode, found->weight);
    left -= mode == CUBIC;
    for (int i = 0; i < mode; i++) {
        const int index = left + i;

        found->index[i] = index;
        if (index < 0 || index >= length) {
            found->index[i] = pad(index, length, padding, align_corners);
            if (padding == ZEROS) {
                found->weight[i] = 0.0f;
            }
        }
    }
}

__kernel void gridsample_kernel(
    __global const float *x,
    __global const float *grid,
    __global float *y,
    const int mode,
    const int padding,
    const int align_corners,
    const int axes,
    const int channels,
    const int slices,
    const int rows,
    const int columns,
    const int locations,
    const int images)
{
    const int location = (int)get_global_id(0);
    const int image = (int)get_global_id(1);
    const int pixels = slices * rows * columns;
    struct neighbors in_slices, in_rows, in_columns;

    if (location >= locations || image >= images) {
        return;
    }
    grid += (image * locations + location) * axes;
    x += image * channels * pixels;
    y += image * channels * locations + location;
    find(grid[0], columns, mode, padding, align_corners, &in_columns);
    find(grid[1], rows, mode, padding, align_corners, &in_rows);
    in_slices.index[0] = 0;
    in_slices.weight[0] = 1.0f;
    if (axes == 3) {
        find(grid[2], slices, mode, padding, align_corners, &in_slices);
    }
    for (int channel = 0; channel < channels; channel++) {
        float sum = 0.0f;

        for (int i = 0; i < (axes == 3 ? mode : 1); i++) {
            for (int j = 0; j < mode; j++) {
                const float weight = in_slices.weight[i] * in_rows.weight[j];
                const int row = (in_slices.index[i] * rows + in_rows.index[j]) * columns;

                for (int k = 0; k < mode; k++) {
                    const float product = weight * in_columns.weight[k];
                    /* A pixel of weight 0 counts as 0, even infinity. */
                    if (product != 0.0f) {
                        sum += product * x[channel * pixels + row + in_columns.index[k]];
                    }
                }
            }
        }
        y[channel * locations] = sum;
    }
}
