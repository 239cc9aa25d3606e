/*
 * A row is a group of channels of an image. It has parts with a scale and a bias of their own: its
 * channels, or, before opset 21, the whole group.
 */
__kernel void groupnormalization_kernel(
    __global const float *x,
    __global const float *scale,
    __global const float *bias,
    __global float *y,
    const int count, /* elements of a row */
    const int size, /* elements of a part */
    const int scales,
    const float epsilon,
    __local float *sums)
{
    const int row = (int)get_global_id(1);
    const int first = row * (count / size) % scales; /* the scale of the row's first part */

    x += row * count;
    y += row * count;
    const float center = isfinite(x[0]) ? x[0] : 0.0f; /* near the mean */
    const float rest = mean_of(x, count, center, 0.0f, 0, sums);
    const float variance = mean_of(x, count, center, rest, 1, sums);
    const float factor = rsqrt(variance + epsilon);

    for (int i = (int)get_local_id(0); i < count; i += (int)get_local_size(0)) {
        const int part = first + i / size;

        y[i] = ((x[i] - center) - rest) * factor * scale[part] + bias[part];
    }
}
