/*
 * ResizeArea on the GPU, in OpenCL C 1.2: one work item for each element of output.
 *
 * Images are NHWC. Those in NCHW are NHWC with one channel, and each of their channels is an image.
 * Sums are in TensorFlow's order: first along the columns, then along the rows.
 *
 * The arguments are input and output, then what resizearea_gpu.h adds.
 */
#pragma OPENCL FP_CONTRACT OFF

/* Returns the length of [cell, cell + 1) within [begin, end); `scale` is end - begin. */
float covered(int cell, float begin, float end, float scale)
{
    const float left = (float)cell;
    const float right = (float)(cell + 1);

    if (left < begin) {
        return right > end ? scale : right - begin;
    }
    return right > end ? end - left : 1.0f;
}

__kernel void resizearea_kernel(
    __global const float *input,
    __global float *output,
    const int images,
    const int channels,
    const int height,
    const int width,
    const int output_height,
    const int output_width,
    const float y_scale, /* source elements per output index */
    const float x_scale,
    const float mean) /* 1 / source area of an output pixel */
{
    const int column = (int)get_global_id(0) / channels;
    const int channel = (int)get_global_id(0) % channels;
    const int row = (int)get_global_id(1);
    const int image = (int)get_global_id(2);

    if (column >= output_width || row >= output_height || image >= images) {
        return;
    }
    /* The source area. Its border covers a part of a pixel. */
    const float top = (float)row * y_scale, bottom = (float)(row + 1) * y_scale;
    const float left = (float)column * x_scale, right = (float)(column + 1) * x_scale;
    float sum = 0.0f;

    input += image * height * width * channels + channel;
    for (int y = (int)top; (float)y < bottom; y++) {
        /* With align_corners, areas extend past the end: the last element repeats there. */
        __global const float *source = input + min(y, height - 1) * width * channels;
        float row_sum = 0.0f;

        for (int x = (int)left; (float)x < right; x++) {
            row_sum += source[min(x, width - 1) * channels] * covered(x, left, right, x_scale);
        }
        sum += row_sum * covered(y, top, bottom, y_scale);
    }
    output[((image * output_height + row) * output_width + column) * channels + channel] =
        sum * mean;
}
