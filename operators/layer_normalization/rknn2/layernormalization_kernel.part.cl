/* A row has the dimensions from axis on; each of its elements has a scale and a bias. */
__kernel void layernormalization_kernel(
    __global const float *x,
    __global const float *scale,
    __global const float *b,
    __global float *y,
    __global float *mean,
    __global float *invstddev,
    const int count, /* elements of a row */
    const float epsilon,
    __local float *sums)
{
    const int row = (int)get_global_id(1);

    x += row * count;
    y += row * count;
    const float center = count > 0 && isfinite(x[0]) ? x[0] : 0.0f; /* near the mean */
    const float rest = mean_of(x, count, center, 0.0f, 0, sums);
    const float variance = mean_of(x, count, center, rest, 1, sums);
    const float factor = rsqrt(variance + epsilon);

    for (int i = (int)get_local_id(0); i < count; i += (int)get_local_size(0)) {
        y[i] = ((x[i] - center) - rest) * factor * scale[i] + b[i];
    }
    if (get_local_id(0) == 0) {
        mean[row] = center + rest;
        invstddev[row] = factor;
    }
}
